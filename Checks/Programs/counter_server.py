"""Checks of counter-server."""

import http.client
import json
import random
import re
import socket
import subprocess
import threading
import time

from support import ROOT, SCALE, build, curl, expect, printed_port, wait
from board import ask_board


def start_counters(folder, *options):
    log = open(folder / "log", "a")
    command = [build("counter-server"), "--port", "0", "--journal", folder / "journal", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    return server, printed_port(server)


def check_counter_transcripts(folder):
    """Runs each command of the README, and compares its output."""
    readme = (ROOT / "Examples/counter-server/README.md").read_text()
    server, port = start_counters(folder)
    try:
        commands = 0
        for block in re.findall(r"^```console\n(.*?)^```$", readme, re.S | re.M):
            for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, expected = step.split("\n", 1)
                command = command.replace("localhost:8080", f"127.0.0.1:{port}")
                printed = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, text=True).stdout
                # The prompt of a shell begins on a new line.
                printed += "" if printed.endswith("\n") else "\n"
                expect(printed == expected, f"'{command}' prints {printed!r} instead of {expected!r}")
                commands += 1
        expect(commands >= 8, "the README of counter-server has no transcripts")
        server.terminate()
        expect(server.wait(60) == 0, "counter-server does not exit with status 0")
    finally:
        server.kill()
    for line in (folder / "log").read_text().splitlines():
        expect({"time", "event"} <= set(json.loads(line)), f"the log has the line {line}")


def check_killed_counters(folder):
    """Eight clients count up until the server is killed. The value that was answered last must be there."""
    answered, asked, wrong = [0] * 8, [0] * 8, []
    kills = max(2, int(5 * SCALE))
    for kill in range(kills + 1):
        server, port = start_counters(folder)
        try:
            kept = json.loads(ask_board(port, "GET", "/counters")[1])
            for client in range(8):
                value = kept.get(f"client{client}", 0)
                expect(answered[client] <= value <= asked[client], f"{value} of {answered[client]} changes are kept")
                answered[client] = asked[client] = value
            if kill == kills:
                break

            def count(client):
                while True:
                    try:
                        asked[client] += 1
                        answer = ask_board(port, "POST", f"/counters/client{client}", b'{"add": 1}')
                        # The answer is the state of the commit of this request.
                        if json.loads(answer[1]).get("value") != answered[client] + 1:
                            wrong.append(answer)
                        answered[client] += 1
                    except (OSError, http.client.HTTPException):
                        return

            clients = [threading.Thread(target=count, args=[client], daemon=True) for client in range(8)]
            before = sum(answered)
            for client in clients:
                client.start()
            enough = wait(lambda: sum(answered) >= before + 50, 60)
            time.sleep(random.random() / 5)
            server.kill()
            for client in clients:
                client.join()
            expect(enough and not wrong, f"counter-server does not count: {wrong[:3]}")
        finally:
            server.kill()
            server.wait()
    print(f"counter-server: killed {kills} times, {sum(answered)} answered changes, none lost")


def check_stopped_counters(folder):
    server, port = start_counters(folder, "--notice", "1")
    stream = subprocess.Popen(
        ["curl", "-sN", f"http://127.0.0.1:{port}/events"], stdout=subprocess.PIPE, text=True
    )
    try:
        first = "".join(stream.stdout.readline() for _ in range(4))
        # A request that is in progress while the server stops.
        late = socket.create_connection(("127.0.0.1", port))
        late.sendall(b"POST /counters/late HTTP/1.0\r\nContent-Length: 10\r\n\r\n")
        early = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        # The server accepts connections in order, so it has accepted all of these before this answer.
        expect(ask_board(port, "GET", "/ready")[0] == 200, "counter-server is not ready")
        server.terminate()

        def is_stopping(connection):
            time.sleep(0.05)
            connection.sendall(b"GET /ready HTTP/1.0\r\n\r\n")
            return b" 503 " in b"".join(iter(lambda: connection.recv(4096), b""))

        # The notice may be over already, and the server then refuses new connections.
        expect(any(map(is_stopping, early)), "counter-server stays ready")
        for connection in early:
            connection.close()
        rest = stream.communicate(timeout=60)[0]
        expect(first.startswith("event: state\n") and not rest.strip(), f"the stream is {first}{rest}")

        def is_refused():
            try:
                ask_board(port, "GET", "/ready")
            except OSError:
                return True

        expect(wait(is_refused, 60), "counter-server accepts connections after its notice")
        late.sendall(b'{"add": 7}')
        answer = b"".join(iter(lambda: late.recv(4096), b""))
        expect(b'"value":' in answer, f"the late request is answered by {answer}")
        late.close()
        expect(server.wait(60) == 0, "counter-server does not exit with status 0")
    finally:
        server.kill()
        stream.kill()
    events = [json.loads(line)["event"] for line in (folder / "log").read_text().splitlines()]
    expect(events[-1] == "stopped" and "stopping" in events, f"the log ends with {events[-3:]}")


def check_reconnecting_counters(folder):
    """A browser reconnects after one to three events, while the server counts and is killed. It must receive
    each change once."""
    reconnects, kills = max(100, int(200 * SCALE)), max(2, int(4 * SCALE))
    server, port = start_counters(folder)
    last, done = 0, threading.Event()

    def count(port):
        while not done.is_set():
            try:
                ask_board(port, "POST", "/counters/apples", b'{"add": 1}')
            except (OSError, http.client.HTTPException):
                return

    def start_counting():
        threads = [threading.Thread(target=count, args=[port], daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        return threads

    try:
        threads = start_counting()
        for reconnect in range(reconnects):
            if reconnect % (reconnects // kills) == reconnects // kills - 1:
                server.kill()
                server.wait()
                for thread in threads:
                    thread.join()
                server, port = start_counters(folder)
                threads = start_counting()
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/events", headers={"Last-Event-ID": str(last)})
            stream = connection.getresponse()
            for _ in range(random.randint(1, 3)):
                event = {}
                while line := stream.readline().decode().rstrip("\n"):
                    name, _, value = line.partition(": ")
                    event[name] = value
                change = event.get("event") == "action" and json.loads(event["data"]).get("added")
                expect(change == {"_0": 1, "to": "apples"} and event["id"] == str(last + 1),
                       f"{event} follows commit {last}")
                last += 1
            connection.close()
        done.set()
        for thread in threads:
            thread.join()
        value = json.loads(ask_board(port, "GET", "/counters")[1])["apples"]
        expect(value >= last, f"{last} changes of {value} arrived")
    finally:
        done.set()
        server.kill()
        server.wait()
    print(f"counter-server: {reconnects} reconnects and {kills} kills, {last} changes, each once")


def check_counter_server(folder):
    for name, check in [
        ("transcripts", check_counter_transcripts),
        ("kills", check_killed_counters),
        ("reconnects", check_reconnecting_counters),
        ("stop", check_stopped_counters),
    ]:
        (folder / name).mkdir()
        check(folder / name)
