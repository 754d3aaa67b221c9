"""Edits of an issue-board by many clients, and its state after a kill."""

import http.client
import json
import pathlib
import random
import re
import socket
import subprocess
import threading
import time

from support import SCALE, build, expect, printed_port, wait
from board import ask_board, commit_of_board, last_commit_of_board


def edit_board(port, seed, count, refusals):
    words = random.Random(seed)
    for number in range(count):
        card = words.randint(1, 60)
        column = words.choice(["todo", "doing", "done"])
        commands = [f"edit {card} <b>é \\ / \"{number}\"", f"move {card} {column}", f"add {seed} {number}"]
        command = words.choice(commands + [f"close {card + 20}"])
        status, text = ask_board(port, "POST", "/", command.encode())
        if status not in [200, 204] and b"There is no card" not in text:
            refusals.append(f"the response to '{command}' is {text}")


def check_board_under_load(folder):
    """Four clients edit the board while 20 clients never read. PagesTests checks that the pages agree."""
    board = subprocess.Popen(
        [build("issue-board"), "--port", "0", "--directory", folder], stdout=subprocess.PIPE, text=True
    )
    try:
        port = printed_port(board)
        for number in range(60):
            ask_board(port, "POST", "/", f"add card {number}".encode())
        deaf = []
        for _ in range(min(200, int(20 * SCALE))):
            deaf.append(socket.socket())
            deaf[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf[-1].connect(("127.0.0.1", port))
            deaf[-1].send(b"GET /events HTTP/1.0\r\n\r\n")
        start = time.monotonic()
        edits = int(1_000 * SCALE)
        refusals = []
        writers = [
            threading.Thread(target=edit_board, args=[port, seed, edits // 4, refusals])
            for seed in range(4)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        expect(not refusals, f"{refusals[:3]}")
        passed = time.monotonic() - start
        print(f"issue-board: {edits} edits in {passed:.1f} s, {len(deaf)} clients that never read")
        status = pathlib.Path(f"/proc/{board.pid}/status")
        if status.exists():
            peak = int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1])
            print(f"issue-board: peak memory {peak} kB")
            expect(peak <= 100_000, "issue-board exceeds 100,000 kB")
        board.terminate()
        expect(board.wait(60) == 0, "issue-board does not exit with status 0")
    finally:
        board.kill()


def start_board(program, folder):
    command = [program, "--port", "0", "--directory", folder, "--journal", folder / "journal"]
    board = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    port = printed_port(board)

    def has_searched():
        last = last_commit_of_board(port)
        return last and commit_of_board(port, last)["board"]["folder"]

    expect(wait(has_searched, 60), "issue-board does not search the folder")
    return board, port


def check_killed_board(folder):
    program = build("issue-board")
    # The journal is in the watched folder.
    folder = folder / "kept"
    folder.mkdir()
    answered = []
    for kill in range(5):
        board, port = start_board(program, folder)
        try:
            cards = json.loads(ask_board(port, "GET", "/cards")[1])
            texts = [card["text"] for card in cards]
            # A card without a response may have been added.
            expect(texts[: len(answered)] == answered, f"issue-board has lost a card: {texts[-3:]}")
            answered = texts.copy()

            def add(start=len(texts)):
                for number in range(start, start + 10_000):
                    try:
                        ask_board(port, "POST", "/", f"add card {number}".encode())
                    except (OSError, http.client.HTTPException):
                        return
                    answered.append(f"card {number}")

            adding = threading.Thread(target=add, daemon=True)
            adding.start()
            enough = wait(lambda: len(answered) >= len(texts) + 10, 60)
            board.kill()
            adding.join()
            expect(enough, "issue-board does not add cards")
        finally:
            board.kill()
            board.wait()
    board, port = start_board(program, folder)
    try:
        texts = [card["text"] for card in json.loads(ask_board(port, "GET", "/cards")[1])]
        expect(texts[: len(answered)] == answered, f"issue-board has lost a card: {texts[-3:]}")
        last = last_commit_of_board(port)
        past = [commit_of_board(port, number) for number in range(max(1, last - 40), last + 1)]
        board_then = past[0]["board"]
        for commit in past[1:]:
            # A commit differs from its predecessor in the changes that it lists, and in nothing else. A restart
            # clears the folder, which is the start of a run and no commit.
            differs = {path for path, _ in commit["board"].items() ^ board_then.items()}
            cleared = {"folder"} if not commit["board"]["folder"] else set()
            expect(differs - cleared == set(commit["changes"]) - cleared, "the changes of a commit are incomplete")
            board_then = commit["board"]
        shown = [text for path, text in board_then.items() if path.endswith("/text")]
        expect(sorted(shown) == sorted(texts), "the last commit differs from the board")
    finally:
        board.kill()
        board.wait()
    print(f"issue-board: killed 5 times, {len(texts)} cards, {last} commits")
