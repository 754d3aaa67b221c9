"""Moves the slider of issue-board to its earlier commits."""

import tempfile
import time

from access import check_contrast
from browser import Keys
from support import Program


def look_at_past(browser, send):
    browser.wait("the slider has a position for each commit", "document.getElementById('commit').max > 115")
    browser.focus("#commit")
    number = int(browser.value("document.getElementById('commit').max")) - 100
    browser.run(f"commit.value = {number}; commit.oninput()")
    browser.wait("the board shows its earlier state",
                 "!document.getElementById('todo').innerText.includes('Number 9')"
                 " && document.querySelector('main').inert")
    changed = "document.getElementById('changes').innerText.includes('→')"
    for _ in range(20):
        if browser.value(changed):
            break
        go_back(browser)
    browser.wait("the commit lists its changes", changed)
    for _ in range(3):
        go_back(browser)
    time.sleep(0.3)
    browser.wait("the past says its time of day, and has its own count and no other controls",
                 "/at \\d\\d:\\d\\d:\\d\\d/.test(document.getElementById('moment').innerText)"
                 " && document.getElementById('total').innerText.startsWith(`${past.rows.length} `)"
                 " && !document.getElementById('tools').checkVisibility()")
    check_contrast(browser, "issue-board-past")
    browser.picture("issue-board-past")
    send("add Meanwhile")
    browser.click("#now")
    browser.wait("the board returns to its present state",
                 "document.getElementById('todo').innerText.includes('Meanwhile')")


def go_back(browser):
    """Selects an earlier commit, and waits until the page shows it."""
    before = browser.value("at")
    browser.press(Keys.ARROW_LEFT)
    browser.wait("the slider skips commits that change nothing",
                 f"at < {before} && commit.value == at && !!document.querySelector('#changes li')")


def look_at_kept_commits(browser, program):
    """Moves the slider of a board whose journal has deleted its first commits."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--port", "0", "--cards", "40", "--journal", f"{folder}/journal", "--keep", "5"]
        for changes in ["20000", "0"]:
            with Program(*command, "--changes", changes) as board:
                browser.open(board.address())
                browser.wait("the slider begins after the deleted commits", "Number(commit.min) > 1", 60)
                if changes != "0":
                    continue
                browser.run("commit.value = commit.min; commit.oninput()")
                browser.wait("the first position of the slider is the first kept commit that changes a card",
                             "past && commit.value == at"
                             " && document.getElementById('when').textContent == `${at} of ${commit.max}`"
                             " && !!document.querySelector('#changes li')")
                browser.check_console("the kept commits")
