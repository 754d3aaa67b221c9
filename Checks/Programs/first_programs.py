"""The check of the first programs."""

import functools
import http.server
import socket
import subprocess
import threading

from support import build, expect


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def check_first_programs(folder):
    program = build("first-programs")

    def start(*arguments):
        return subprocess.Popen(
            [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def address(running):
        host, port = running.stdout.readline().removeprefix("listening on ").split(":")
        return host, int(port)

    def connect(address):
        return socket.create_connection(address, timeout=60).makefile("rw")

    story = subprocess.check_output([program, "bridge"], text=True)
    expect(story == "title: none\ntitle: Overture\ntitle: Aria\n", f"bridge prints {story}")

    settings, beasts, copies = folder / "settings", folder / "beasts", folder / "copies"
    settings.write_text('{"host": "127.0.0.1", "port": 0, "greeting": "Hello"}')
    beasts.write_text("Tyrannosaurus rex\nTriceratops\n")
    copies.mkdir()
    running = [start("greet", settings), start("chat", "0"), start("search", beasts)]
    greeting, chat, search = running
    try:
        expect(connect(address(greeting)).readline() == "Hello\n", "greet sends no greeting")
        hub = address(chat)
        guests = [connect(hub) for _ in range(2)]
        for guest, name in zip(guests, ["guest 1", "guest 2"]):
            expect(guest.readline() == f"{name} comes\n", "chat does not announce a guest")
        guests[1].write("Hello\n")
        guests[1].flush()
        received = [guests[0].readline() for _ in range(2)]
        expect(received == ["guest 2 comes\n", "guest 2: Hello\n"], f"chat sends {received}")
        search.stdin.write("rex\n")
        search.stdin.flush()
        shown = [search.stdout.readline() for _ in range(3)]
        expect("Tyrannosaurus rex" in shown[2], f"search shows {shown}")
    finally:
        for process in running:
            process.kill()

    handler = functools.partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        urls = [f"http://127.0.0.1:{server.server_port}/{name}" for name in ["beasts", "settings"]]
        command = [program, "download", copies, *urls]
        shown = subprocess.check_output(command, text=True)
        server.shutdown()
    expect("100 %" in shown, f"download shows {shown}")
    for file in [beasts, settings]:
        expect((copies / file.name).read_text() == file.read_text(), "download changes a file")
