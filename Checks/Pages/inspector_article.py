"""Draws inspector-article.png. MiniRexInspector.docc has a copy, inspector.png."""

import pathlib
import shutil
import urllib.request

from browser import Keys
from inspector_commits import ROWS
from support import Program, post


def picture_of_inspector(browser, program):
    # The picture shows the path.
    notes = pathlib.Path("/tmp/Notes")
    notes.mkdir()
    try:
        (notes / "Engine.swift").write_text("// TODO: Measure the belt\n// FIXME: Too warm in the sun\n")
        with Program(program, "--port", "0", "--directory", notes, "--inspect", "0") as board:
            address = board.address()
            browser.open(board.address(), width=1400, height=900)
            browser.wait("the first search has ended", f"{ROWS}.length > 2")
            for command in ["add Order a belt", "add Paint the doors", "move 1 doing", "edit 3 Order two belts"]:
                post(address, command)
            with urllib.request.urlopen(f"{address}events", timeout=60):
                browser.wait("the inspector has a graph and commits for its article",
                             f"document.querySelectorAll('#picture .edge').length > 10 && {ROWS}.length > 6")
                browser.focus(".commits")
                browser.press(Keys.ARROW_DOWN)
                browser.wait("the inspector shows a state for its article",
                             "!!document.querySelector('.detail tbody')")
                browser.run("scrollTo(0, 0)")
                browser.picture("inspector-article")
    finally:
        shutil.rmtree(notes)
