"""Counts with counter-server, from no counter on, and without a connection."""

import subprocess
import tempfile
import urllib.parse

from access import check_access
from browser import Keys
from support import Program, post, shapes


def look_at_counters(browser, program):
    with (tempfile.TemporaryDirectory() as folder,
          Program(program, "--port", "0", "--journal", f"{folder}/journal", stderr=subprocess.DEVNULL) as server):
        address = server.address()
        browser.open(address, width=1280, height=800)
        browser.wait("counter-server without counters shows the command that makes one",
                     "document.getElementById('curl').checkVisibility()"
                     " && document.getElementById('curl').innerText.includes(`curl -s ${location.host}/counters/`)")
        check_access(browser, "counters-empty")
        browser.picture("counters-empty")
        browser.focus("#name")
        browser.press("pears", Keys.ENTER)
        browser.wait("a name counts something", "document.querySelector('li .value')?.innerText == '1'")
        post(f"{address}counters/apples", '{"add": 1234}')
        browser.wait("a counter of another client is shown in order",
                     "document.querySelector('li .name').innerText == 'apples'"
                     " && document.querySelector('li .value').innerText == '1,234'")
        browser.run("document.querySelectorAll('li')[1].children[2].click()")
        browser.wait("a counter is not taken below 0", "document.querySelectorAll('li')[1].children[2].disabled")
        for name, options in shapes("counters", wide=(1280, 800), narrow=(390, 844)).items():
            browser.open(address, **options)
            browser.wait(f"{name} has its counters", "document.querySelectorAll('li').length == 2")
            browser.check_width(name)
            check_access(browser, name)
            browser.picture(name, "")
        server.stop("counter-server")
        browser.wait("counter-server reports the lost connection, and disables its controls",
                     "document.body.innerText.includes('connection lost')"
                     " && [...document.querySelectorAll('button, input')].every(control => control.disabled)")
        browser.picture("counters-lost")
        # The page continues after the last event that it has.
        port = urllib.parse.urlsplit(address).port
        with Program(program, "--port", str(port), "--journal", f"{folder}/journal",
                     stderr=subprocess.DEVNULL) as restarted:
            restarted.address()
            post(f"{address}counters/apples", '{"add": 1}')
            browser.wait("the page continues with the restarted server",
                         "document.querySelector('li .value').innerText == '1,235'"
                         " && document.getElementById('state').innerText == 'live'")
            browser.check_console("counter-server")
