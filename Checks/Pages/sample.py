"""Shows the board that starts without arguments. Examples/issue-board.png is a copy of the picture."""

import time

from access import check_access
from issue_board import MASKS
from support import ROOT, Program


def look_at_sample(browser, program):
    with Program(program, "--port", "0", cwd=ROOT) as board:
        address = board.address()
        start = time.monotonic()
        browser.open(address, width=1280, height=860)
        browser.wait("the sample has forty cards", "document.getElementById('total').innerText == '40 cards'"
                     " && document.querySelectorAll('#doing li').length == 8")
        print(f"look: the first cards are shown after {time.monotonic() - start:.2f} s")
        browser.picture("issue-board-sample", MASKS)
        check_access(browser, "issue-board-sample")
        browser.check_console("the sample")
