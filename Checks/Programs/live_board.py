"""The check of live-board."""

import subprocess
import urllib.request

from support import build, expect, wait


def check_live_board(folder):
    program = build("live-board")
    watched = folder / "watched"
    watched.mkdir()
    board = subprocess.Popen(
        [program, "--port", "0", "--directory", watched, "--every", "0.1"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = board.stdout.readline().split()[1]
        page = urllib.request.urlopen(address, timeout=60).read().decode()
        expect("<title>live-board</title>" in page, "live-board has no page")
        # Both browsers receive the later changes.
        browsers = [urllib.request.urlopen(f"{address}events", timeout=60) for _ in range(2)]
        (watched / "hello").write_text("text\n")
        for browser in browsers:
            events = 0
            for line in browser:
                events += line.startswith(b"data: {")
                if b'"name":"hello"' in line:
                    break
            while events < 10 and (line := browser.readline()):
                events += line.startswith(b"data: {")
            expect(events >= 10, "live-board stops sending events")
        board.terminate()
        expect(board.wait(60) == 0, "live-board does not exit with status 0")
    finally:
        board.kill()
