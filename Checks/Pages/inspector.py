"""Uses the inspector of issue-board with the keyboard, while other clients change the board."""

import tempfile
import urllib.request

from access import check_access, check_contrast
from browser import Keys
from inspector_commits import ROWS, look_at_commits
from inspector_graph import LABELS_ARE_READABLE, look_at_graph
from inspector_session import import_session
from support import HOSTILE, Program, add_engine, post, shapes

# The elements whose content differs in each run.
MASKS = ("#picture text, #tree, .counts, .effects, .lanes, .slider, .commits, .detail, #trouble, #state,"
         " .scopes")
IS_FILLED = f"{ROWS}.length > 5 && document.querySelectorAll('#picture .edge').length > 10"


def look_at_inspector(browser, program):
    with tempfile.TemporaryDirectory() as folder:
        add_engine(folder)
        with Program(program, "--port", "0", "--directory", folder, "--inspect", "0") as board:
            address, inspector = board.address(), board.address()

            def send(command):
                post(address, command)

            for number in range(12):
                send(f"add Card {number + 1}")
            send(f"add {HOSTILE}")
            # A connected client, so that an edge of the graph is in use.
            with urllib.request.urlopen(f"{address}events", timeout=60):
                browser.open(inspector)
                browser.wait("the inspector shows the graph and the commits", IS_FILLED)
                browser.wait("the graph is readable on arrival", LABELS_ARE_READABLE)
                browser.picture("inspector-arrival")
                browser.wait("a card named <script> is text",
                             "document.body.innerText.includes('<script>document.title')"
                             " && document.title == 'MiniRex Inspector'"
                             " && !document.querySelector('main script, main img')")
                look_at_graph(browser, address)
                look_at_commits(browser, send)
                browser.wait("all buttons, fields, lists and regions have names",
                             "[...document.querySelectorAll("
                             "'button, input, select, [role=listbox], [role=region], section')].every("
                             "element => element.ariaLabel || element.innerText || element.labels?.length"
                             " || element.ariaLabelledByElements?.length)")
                check_access(browser, "inspector-light")
                browser.run("scrollTo(0, 0)")
                browser.picture("inspector-light", MASKS)
                look_at_shapes(browser, inspector)
                import_session(browser, inspector, folder)
            board.stop("issue-board with an inspector")
            browser.wait("the inspector reports the lost connection",
                         "document.body.innerText.includes('connection lost')")
            browser.check_console("the inspector")


def look_at_shapes(browser, inspector):
    """Shows the inspector in each shape except for the first, and ends on a phone in dark colors."""
    for name, options in shapes("inspector", wide=(1100, 1080), narrow=(390, 1700)).items():
        if name == "inspector-light":
            continue
        browser.open(inspector, **options)
        browser.wait(f"{name} has its commits", IS_FILLED)
        browser.focus(".commits")
        browser.press(Keys.ARROW_DOWN)
        browser.wait(f"{name} shows a state", "!!document.querySelector('.detail tbody')")
        browser.check_width(name)
        check_access(browser, name)
        browser.run("scrollTo(0, 0)")
        browser.picture(name, MASKS)
    browser.wait("a phone begins with text and the legend",
                 "document.getElementById('text').checkVisibility()"
                 " && document.getElementById('legend').checkVisibility()")
    browser.click("#as-text")
    browser.wait("a label on a phone has at least 11 pixels", LABELS_ARE_READABLE)
    check_contrast(browser, "inspector-narrow-graph")
    browser.picture("inspector-narrow-graph")
