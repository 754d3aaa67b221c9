"""Parts that the checks of several programs use."""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCALE = float(os.environ.get("MINIREX_SCALE", "1"))
RUNS = int(os.environ.get("MINIREX_RUNS", "1"))


def build(program, configuration="debug"):
    package = ROOT if program == "minirex-tail" else ROOT / "Examples"
    command = ["swift", "build", "-c", configuration, "--product", program]
    subprocess.run(command, cwd=package, check=True, stdout=sys.stderr)
    folder = subprocess.check_output([*command, "--show-bin-path"], cwd=package, text=True)
    return os.path.join(folder.strip(), program)


def expect(condition, failure):
    if not condition:
        sys.exit(f"check-programs: {failure}")


def figures(values, scale=1000, unit="ms"):
    """Returns the minimum, and with several values the median, as text."""
    least, median = (value * scale for value in [min(values), statistics.median(values)])
    digits = 0 if least >= 10 else 1
    rest = f" (median {median:.{digits}f} {unit}, {len(values)} runs)" if len(values) > 1 else ""
    return f"{least:.{digits}f} {unit}{rest}"


def wait(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not (result := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return result


def printed_port(board):
    """Returns the port of the address in the first line of a program's output."""
    return int(board.stdout.readline().rsplit(":", 1)[1].strip().strip("/"))


def curl(*words):
    return subprocess.run(["curl", "-s", *words], check=True, stdout=subprocess.PIPE, text=True).stdout
