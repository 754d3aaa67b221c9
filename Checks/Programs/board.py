"""Requests of an issue-board, and the check of its sample project."""

import http.client
import json
import re
import selectors
import socket
import subprocess
import time
import urllib.request

from support import ROOT, build, expect, figures, printed_port, wait


def ask_board(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, body)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


def last_commit_of_board(port):
    return int(ask_board(port, "GET", "/commits")[1])


def commit_of_board(port, number):
    status, text = ask_board(port, "GET", f"/commits/{number}")
    expect(status == 200, f"issue-board has no commit {number}: {text}")
    return json.loads(text)


def first_cards(program):
    """Returns the time from the start of the program until a browser has the sample project's cards."""
    start = time.monotonic()
    board = subprocess.Popen([program, "--port", "0"], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        for line in urllib.request.urlopen(f"http://127.0.0.1:{printed_port(board)}/events", timeout=60):
            if re.search(rb'"cards":40\b', line):
                return time.monotonic() - start
    finally:
        board.kill()
        board.wait()


def check_sample_of_board():
    """The command of the README, then a hundred browsers that receive each change."""
    program = build("issue-board")
    print(f"issue-board: a browser has forty cards {figures([first_cards(program) for _ in range(5)])} after the start")
    board = subprocess.Popen([program, "--port", "0"], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    received = {}
    try:
        port = printed_port(board)
        with selectors.DefaultSelector() as browsers:

            def receive(is_enough):
                """Returns `True` if each browser has received enough within a minute."""
                end = time.monotonic() + 60
                while time.monotonic() < end and not all(map(is_enough, received.values())):
                    for key, _ in browsers.select(0.05):
                        received[key.fileobj] += key.fileobj.recv(1 << 16)
                return all(map(is_enough, received.values()))

            def open_browser():
                browser = socket.create_connection(("127.0.0.1", port), timeout=60)
                browser.sendall(b"GET /events HTTP/1.0\r\n\r\n")
                received[browser] = b""
                browsers.register(browser, selectors.EVENT_READ)

            open_browser()
            expect(receive(lambda text: re.search(rb'"cards":40\b', text)), f"the sample has other cards: {received}")
            for _ in range(99):
                open_browser()
            expect(receive(lambda text: b'"browsers":100' in text), "the board does not count a hundred browsers")
            times = []
            for number in range(30):
                text = b"Number %d of the hundred browsers" % number
                start = time.monotonic()
                ask_board(port, "POST", "/", b"add " + text)
                expect(receive(lambda received: text in received), "not all of a hundred browsers receive a card")
                times.append(time.monotonic() - start)
            print(f"issue-board: a hundred browsers have a card after {figures(times)}")
    finally:
        board.kill()
        board.wait()
        for browser in received:
            browser.close()
