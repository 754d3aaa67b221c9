"""Opens each page of the built documentation."""

import functools
import http.server
import json
import threading
import time

from support import ROOT


def look_at_documentation(browser, reference):
    handler = functools.partial(QuietHandler, directory=reference)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for source in sorted(ROOT.glob("Sources/*/*.docc/*.md")):
            module = source.parent.stem
            path = f"documentation/{module.lower()}"
            if source.stem != module:
                path += f"/{source.stem.lower()}"
            if not (reference / path / "index.html").exists():
                continue
            title = source.read_text().splitlines()[0].strip("# `").replace("*", "").split("/")[-1]
            for dark in [False, True]:
                browser.open(f"http://127.0.0.1:{server.server_port}/{path}/", height=1400, dark=dark)
                browser.wait(f"the documentation of {module} has the page '{title}'",
                             f"document.querySelector('h1')?.innerText.includes({json.dumps(title)})")
                time.sleep(0.5)
                browser.picture(f"docs-{module}-{source.stem}-{'dark' if dark else 'light'}")
    finally:
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
