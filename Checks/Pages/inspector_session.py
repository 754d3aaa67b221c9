"""Opens an exported session in an inspector, and compares a state with the program."""

import json
import pathlib
import urllib.request

from inspector_commits import ROWS
from support import failures


def import_session(browser, inspector, folder):
    session = pathlib.Path(folder, "session.json")
    session.write_bytes(urllib.request.urlopen(f"{inspector}session", timeout=60).read())
    browser.open(inspector)
    browser.wait("the page is live before an import", "document.getElementById('state').innerText == 'live'")
    browser.run("document.getElementById('file').hidden = false")
    browser.find("#file").send_keys(str(session))
    browser.wait("an imported session shows its graph and its commits",
                 "document.getElementById('state').innerText.startsWith('session of')"
                 " && document.querySelectorAll('#picture .node').length > 5"
                 f" && {ROWS}.length > 5")
    number = json.loads(session.read_text())["stores"][0]["commits"][2]["commit"]["number"]
    state = json.loads(urllib.request.urlopen(f"{inspector}stores/0/commits/{number}", timeout=60).read())["state"]
    expected = {value["path"]: value["value"] for value in state}
    found = {value["path"]: value["value"] for value in browser.value(f"fromSession(stores.get(0), {number}).state")}
    if found != expected:
        failures.append("a state of an imported session differs from the state of the program")
    browser.picture("inspector-imported")
    browser.click("#live")
    browser.wait("the page returns to the program", "document.getElementById('state').innerText == 'live'")
