"""Watches the charts of live-board move, while files change."""

import json
import pathlib
import tempfile
import threading
import time

from support import PICTURES, Program, failures


def look_at_board(browser, program):
    with (tempfile.TemporaryDirectory() as folder,
          Program(program, "--port", "0", "--directory", folder, "--every", "0.2") as board):
        address = board.address()
        stop = threading.Event()
        threading.Thread(target=write_files, args=[folder, stop], daemon=True).start()
        browser.open(address)
        browser.wait("live-board shows that it is live",
                     "document.body?.innerText.includes('live in 1 browser')")
        look_at_charts(browser)
        for name, options in {"live-board-dark": {"dark": True},
                              "live-board-narrow": {"width": 400, "height": 1300}}.items():
            browser.open(address, **options)
            browser.wait(f"{name} is live", "document.getElementById('state').className == 'live'")
            time.sleep(1)
            browser.check_width(name)
            browser.picture(name)
        browser.open("about:blank")
        browser.open(address)
        for way in ["reopened", "reached with Back", "reached with Forward"]:
            if way != "reopened":
                for _ in range(2):
                    browser.driver.back() if "Back" in way else browser.driver.forward()
            browser.wait(f"a page that is {way} counts once",
                         "document.getElementById('state')?.innerText == 'live in 1 browser'")
        stop.set()
        board.stop("live-board")
        browser.wait("the page reports the lost connection", "document.body.innerText.includes('connection lost')")
        browser.picture("live-board-lost")
        browser.check_console("live-board")


def look_at_charts(browser):
    count = "(document.querySelector('#load polyline')?.getAttribute('points') ?? '').split(' ').length"
    first = browser.value(count) or 0
    browser.wait("the load chart grows", f"{count} > {first + 20}")
    browser.wait("the memory chart is shown",
                 "!document.getElementById('memory-now').innerText"
                 " || document.querySelectorAll('#memory polyline').length == 1")
    browser.wait("changes are bars", "document.querySelectorAll('#changes g rect').length > 5")
    browser.wait("changes are listed by name",
                 "/file-\\d+\\.txt/.test(document.querySelector('tbody').innerText)")
    time.sleep(3)
    browser.picture("live-board-light-before")
    before = browser.value("document.getElementById('changes').outerHTML")
    browser.wait("the charts move", "document.getElementById('changes').outerHTML != " + json.dumps(before))
    time.sleep(1)
    pair = [browser.picture("live-board-light"), PICTURES / "live-board-light-before.png"]
    if pair[0].read_bytes() == pair[1].read_bytes():
        failures.append("two screenshots of live-board are equal")


def write_files(folder, stop):
    number = 0
    while not stop.wait(0.15 + number % 7 * 0.1):
        for _ in range(number % 4 + 1):
            number += 1
            (pathlib.Path(folder) / f"file-{number % 9}.txt").write_text("text")
