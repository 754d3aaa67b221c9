"""Parts that the checks of several pages use."""

import pathlib
import re
import signal
import subprocess
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PICTURES = ROOT / ".build-look"
HOSTILE = "<script>document.title = 'gone'</script><img src=x onerror=alert(1)> & \"quotes\""

failures = []


class Program:
    """A program that prints the address of each of its pages. The end of a `with` statement kills it."""

    def __init__(self, *command, **options):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def address(self):
        """Returns the address in the next line."""
        return re.search(r"http:\S+", self.process.stdout.readline())[0]

    def stop(self, name):
        """Sends SIGTERM. Fails unless the program exits with status 0."""
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(timeout=60) != 0:
            failures.append(f"{name} did not exit with status 0")


def add_engine(folder):
    """Adds a file whose comments issue-board shows."""
    (pathlib.Path(folder) / "Engine.swift").write_text(
        "// TODO: Say how long the belt lasts\n// FIXME: Too warm after an hour in the sun\n")


def post(address, text):
    urllib.request.urlopen(address, text.encode(), timeout=60).read()


def shapes(name, wide, narrow):
    """Returns the options of a page's screenshots by name: light and dark, each in a wide and in a narrow window."""
    wide, narrow = [dict(zip(["width", "height"], size)) for size in [wide, narrow]]
    return {
        f"{name}-light": wide,
        f"{name}-dark": wide | {"dark": True},
        f"{name}-narrow": narrow,
        f"{name}-narrow-dark": narrow | {"dark": True},
    }
