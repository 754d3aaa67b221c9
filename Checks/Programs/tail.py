"""Checks of minirex-tail."""

import os
import re
import shutil
import subprocess
import time

from support import build, expect, wait


def check_tail(folder):
    """A log of 1,000,000 lines, and a file of a gigabyte without a newline, in 64 MB."""
    program = build("minirex-tail", "release")
    log = folder / "log"
    levels = "INFO INFO DEBUG INFO WARN INFO INFO ERROR INFO INFO".split()
    with open(log, "w") as file:
        for number in range(1_000_000):
            line = f"2025-11-21T02:10:{number % 60:02}Z worker[{number % 97}] {levels[number % 10]} "
            file.write(line.ljust(99, ".") + "\n")
    hole = folder / "hole"
    hole.touch()
    os.truncate(hole, 1 << 30)

    expected = subprocess.check_output(["grep", "ERROR", log])
    counts = b"lines: 1000000\nbytes: 100000000\nmatches: 100000\nupdates: 1000000\n"
    output, memory = run_and_measure([program, "--once", "--match", "ERROR", log], folder)
    expect(output == expected + counts, "the output of minirex-tail differs from grep and wc")
    print(f"minirex-tail: peak memory {memory} kB for a log of 100 MB")
    expect(memory <= 64_000, "minirex-tail exceeds 64,000 kB")
    output, memory = run_and_measure([program, "--once", hole], folder)
    expect(b"lines: 1\n" in output, f"minirex-tail prints {output} for a line of 1 GiB")
    print(f"minirex-tail: peak memory {memory} kB for a line of 1 GiB")
    expect(memory <= 64_000, "minirex-tail exceeds 64,000 kB")


def run_and_measure(command, folder):
    """Returns the output and the peak memory in kB."""
    with open(folder / "output", "w+b") as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        expect(process.returncode == 0, f"minirex-tail exits with {process.returncode}")
        output.seek(0)
        return output.read(), usage.ru_maxrss


class Log:
    """A writer that rotates its log in one of four ways."""

    def __init__(self, path):
        self.path = path
        self.count = 0
        self.open(path)

    def open(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(self, count):
        for _ in range(count):
            self.count += 1
            os.write(self.file, b"line %08d of the log\n" % self.count)

    def rename(self):
        os.rename(self.path, f"{self.path}.1")
        os.close(self.file)
        self.open(self.path)

    def replace(self):
        os.close(self.file)
        self.open(f"{self.path}.new")
        os.rename(f"{self.path}.new", self.path)

    def unlink(self):
        os.unlink(self.path)
        os.close(self.file)
        self.open(self.path)

    def copytruncate(self):
        shutil.copyfile(self.path, f"{self.path}.1")
        os.truncate(self.path, 0)


def check_rotation(folder):
    program = build("minirex-tail", "release")
    followers = {"minirex-tail": [program, "--match", ""], "tail -F": ["tail", "-F", "-n", "+1"]}
    print(f"{'':35}{''.join(f'{name:>30}' for name in followers)}")
    print(f"{'':35}{'lost  repeated  reordered'.rjust(30) * len(followers)}")
    for rotations, pause in [(1000, 0), (400, 0.005)]:
        for way in ["rename", "replace", "unlink", "copytruncate"]:
            place = folder / f"{way} {rotations}"
            place.mkdir()
            written, seen = rotate(followers, way, rotations, pause, place)
            row = f"{rotations:5} by {way:13} of {written} lines".ljust(35)
            for numbers in seen:
                distinct = len(set(numbers))
                disordered = sum(a > b for a, b in zip(numbers, numbers[1:]))
                row += f"{written - distinct:11}{len(numbers) - distinct:9}{disordered:10}"
            print(row, flush=True)
            own = seen[0]
            expect(own == sorted(set(own)), "minirex-tail has repeated or reordered lines")


def rotate(followers, way, rotations, pause, folder):
    """Returns the number of lines written, and the line numbers that each follower printed."""
    log = Log(folder / "log")
    outputs = [folder / name for name in followers]
    running = []
    for command, output in zip(followers.values(), outputs):
        with open(output, "w") as file:
            command = [*command, log.path]
            running.append(subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL))
    log.write(1)
    wait(lambda: all(numbers(output) for output in outputs))
    for _ in range(rotations):
        log.write(20)
        if pause:
            time.sleep(pause)
        getattr(log, way)()
    log.write(1)
    wait(lambda: all(log.count in numbers(output) for output in outputs))
    for follower in running:
        follower.terminate()
        follower.wait()
    return log.count, [numbers(output) for output in outputs]


def numbers(output):
    return [int(number) for number in re.findall(r"^line (\d{8}) of the log$", output.read_text(), re.M)]
