"""Stops and kills each process while the page of a fleet is open. The page recovers without a reload."""

import os
import signal
import threading
import time

from access import check_access
from browser import Keys
from support import Program, failures, shapes

TEXT = "document.body.innerText"


def look_at_fleet(browser, program):
    with Program(program, "--port", "0") as fleet:
        ids, address = read_output(fleet)
        if not address:
            failures.append("the fleet has no address")
            return
        time.sleep(0.5)
        browser.open(address)
        wait_until_live(browser, "the fleet is live")
        for name, options in shapes("fleet", wide=(1400, 420), narrow=(360, 1300)).items():
            browser.open(address, **options)
            wait_until_live(browser, name)
            browser.check_width(name)
            check_access(browser, name)
            browser.picture(name)
        browser.open(address, width=1400, height=420)
        wait_until_live(browser, "the page before anything is killed")
        inspect_process(browser)
        browser.open(address, width=1400, height=420)
        wait_until_live(browser, "the page after the inspector")
        browser.run("window.isTheSame = true")
        browser.focus("tbody a")
        stop_process(browser, ids)
        kill_each_process(browser, ids)
        browser.wait("the page was not reloaded", "window.isTheSame")
        falsify_process(browser, ids)
        browser.check_console("fleet")
        fleet.stop("the fleet")
        for name, id in ids.items():
            if not has_exited(id):
                failures.append(f"the process {name} of the fleet is still running")


def read_output(fleet):
    """Returns the present numbers of the processes by name, and the address of the page."""
    ids, addresses, has_address = {}, [], threading.Event()

    def read():
        for line in fleet.process.stdout:
            name, _, text = line.strip().partition(": ")
            if text.startswith("http"):
                addresses.append(text)
                has_address.set()
            elif text.startswith("process "):
                ids[name] = int(text.split()[-1])

    threading.Thread(target=read, daemon=True).start()
    has_address.wait(20)
    return ids, next(iter(addresses), None)


def wait_until_live(browser, what):
    browser.wait(what, "document.querySelectorAll('tbody tr').length == 3 && !document.body.matches('.faded')"
                 " && [...document.querySelectorAll('.word')].every(word => word.innerText == 'fine')"
                 f" && {TEXT}.includes('page is live') && {TEXT}.includes('NATS server answers')", 30)


def inspect_process(browser):
    """Opens the inspector of the first process, whose data its page gets over NATS."""
    browser.press(Keys.TAB)
    browser.focus("tbody a")
    browser.press(Keys.ENTER)
    browser.wait("the link opens an inspector", "document.title == 'MiniRex Inspector'")
    browser.wait("the inspector of a process is live", "document.getElementById('state')?.innerText == 'live'")
    browser.wait("it has the commits of the replica",
                 "document.querySelectorAll('.commits .row:not([hidden])').length > 2")
    browser.wait("it has a graph", "document.querySelectorAll('#picture .edge').length > 3")
    browser.picture("fleet-inspector")


def stop_process(browser, ids):
    os.kill(ids["mail"], signal.SIGSTOP)
    browser.wait("a stopped process is lost", f"/lost for \\d+ s/.test({TEXT})")
    browser.wait("the lost process is first", "document.querySelector('tbody tr').innerText.includes('mail')")
    if not browser.value("document.activeElement.matches('tbody a')"):
        failures.append("the focus is lost when rows move")
    check_access(browser, "fleet-lost")
    browser.picture("fleet-lost")
    os.kill(ids["mail"], signal.SIGCONT)
    wait_until_live(browser, "the process continues")


def kill_each_process(browser, ids):
    for name, report in {"mail": "", "billing": "", "search": "", "nats-server": "NATS server does not answer",
                         "page": "page is disconnected"}.items():
        old = ids[name]
        if name == "nats-server":
            wait_until_live(browser, "the fleet is live after its workers were killed")
        os.kill(old, signal.SIGKILL)
        if report:
            browser.wait(f"the page reports that {name} was killed", f"{TEXT}.includes('{report}')")
            browser.wait(f"every row is faded without {name}", "document.body.matches('.faded') &&"
                         " [...document.querySelectorAll('.word')].every(word => word.innerText.startsWith('was '))")
            check_access(browser, f"fleet-without-{name}")
            browser.picture(f"fleet-without-{name}")
        deadline = time.time() + 20
        while ids[name] == old and time.time() < deadline:
            time.sleep(0.1)
        if not report:
            browser.wait(f"the page shows the new process of {name}", f"{TEXT}.includes(', {ids[name]}')")
    wait_until_live(browser, "the fleet is live after all were killed")


def falsify_process(browser, ids):
    """Makes a process count wrong. The last check, because the wrong state may become a snapshot, which stops the other
    replicas."""
    os.kill(ids["mail"], signal.SIGUSR1)
    browser.wait("a process that counts wrong is named", f"{TEXT}.includes('work differs')", 40)
    browser.wait("it is the only one", "document.querySelectorAll('tbody tr.four').length == 1"
                 " && document.querySelector('tr.four th').innerText == 'mail'", 40)
    check_access(browser, "fleet-differs")
    browser.picture("fleet-differs")


def has_exited(id, seconds=5):
    deadline = time.time() + seconds
    while time.time() < deadline:
        try:
            os.kill(id, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False
