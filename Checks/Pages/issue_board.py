"""Uses issue-board by mouse, touch, and keyboard, while other clients change it."""

import json
import pathlib
import tempfile
import time

from access import check_access, check_contrast
from browser import ActionChains, Keys
from past import look_at_past
from support import HOSTILE, Program, add_engine, post, shapes

# The elements whose content differs in each run.
MASKS = "header span, #time, .age"


def look_at_issues(browser, program):
    with tempfile.TemporaryDirectory() as folder:
        add_engine(folder)
        (pathlib.Path(folder) / "Wheels.swift").write_text(
            "\n// TODO(ada): " + "A word that has no end " * 6 + "x" * 120 + "\n")
        with Program(program, "--port", "0", "--directory", folder, "--journal", f"{folder}/.journal") as board:
            address = board.address()

            def send(command):
                post(address, command)

            browser.open(address)
            browser.wait("issue-board shows the comments, and a comment with an owner in the second column",
                         "document.querySelectorAll('#todo li').length == 2"
                         " && document.querySelector('#doing .owner')?.innerText == 'ada'")
            look_at_edits(browser, send)
            look_at_search(browser, send)
            for number in range(100):
                send(f"add Number {number}")
            look_at_shapes(browser, address)
            browser.open(address)
            look_at_past(browser, send)
            board.stop("issue-board")
            browser.wait("the board reports the lost connection, and disables its controls",
                         "document.body.innerText.includes('connection lost')"
                         " && [...document.querySelectorAll('#tools button, #tools input, #tools select')]"
                         ".every(control => control.disabled)")
            browser.picture("issue-board-lost")
            browser.check_console("issue-board")


def look_at_edits(browser, send):
    """Adds, moves, edits, closes, and drags cards."""
    browser.focus("#text")
    browser.press(HOSTILE, Keys.ENTER)
    browser.wait("a card named <script> is text",
                 f"{column('todo')}.includes({json.dumps(HOSTILE)})"
                 " && document.title == 'issue-board' && !document.querySelector('main script, main img')")
    browser.wait("an added card can be undone", "!document.getElementById('undo').disabled")
    browser.focus("#order")
    browser.press(Keys.TAB)
    browser.wait("Tab focuses a card", "document.activeElement.matches('#todo li')")
    browser.press(Keys.END)
    browser.wait("End focuses the last card", "document.activeElement.dataset.id == '1'")
    browser.press(Keys.ARROW_RIGHT, shift=True)
    browser.wait("Shift moves a card, which keeps the focus",
                 f"{column('doing')}.includes('belt') && document.activeElement.dataset.id == '1'")
    browser.press(Keys.ENTER)
    browser.wait("Enter opens the editor", "document.getElementById('editor').open")
    check_access(browser, "the editor")
    browser.press("Say how long the chain lasts", Keys.ENTER)
    browser.wait("Enter edits a card",
                 f"{column('doing')}.includes('chain') && document.activeElement.dataset.id == '1'")
    browser.press(Keys.ARROW_LEFT, Keys.HOME, Keys.ARROW_DOWN)
    browser.wait("arrow keys move the focus between cards", "document.activeElement.dataset.id == '2'")
    send("move 2 done")
    browser.wait("a card moved by another client is shown, and keeps the focus",
                 f"{column('done')}.includes('sun') && document.activeElement.dataset.id == '2'")
    browser.wait("the move is announced to a screen reader",
                 "document.getElementById('news').innerText.includes('sun: Done')")
    for number in range(3):
        send(f"add By another client, number {number + 1}")
    browser.wait("cards added by another client are at the top",
                 "document.querySelector('#todo li p').innerText.includes('number 3')")
    browser.press(Keys.DELETE)
    browser.wait("Delete closes a card", f"!{column('done')}.includes('sun')")
    for button, there in {"undo": "", "redo": "!"}.items():
        browser.click(f"#{button}")
        browser.wait(f"a button can {button} it", f"{there}{column('done')}.includes('sun')")
    drag_by_mouse(browser, "#todo li", "#done")
    browser.wait("a mouse drags a card", f"{column('done')}.includes('number 3')")


def look_at_search(browser, send):
    browser.focus("#search")
    browser.press("CLIENT")
    browser.wait("a search shows the cards that contain its words",
                 "document.querySelectorAll('main li').length == 3")
    send("add Another client")
    browser.wait("a new card appears in the search", "document.querySelectorAll('main li').length == 4")
    check_contrast(browser, "issue-board-search")
    browser.picture("issue-board-search", MASKS)
    # The last card of a column becomes the first card of the next column, so its place in all cards stays.
    last = browser.value("[...document.querySelectorAll('#todo li')].at(-1).dataset.id")
    for name, counts in {"doing": "2,1,1", "todo": "3,0,1"}.items():
        send(f"move {last} {name}")
        browser.wait("a card that keeps its place in another column is counted there",
                     "[...document.querySelectorAll('main h2 span')].map(count => count.textContent).join()"
                     f" == '{counts}' && !!document.querySelector('#{name} li[data-id=\"{last}\"]')")
    browser.focus("#text")
    browser.press("A card for someone else", Keys.ENTER)
    browser.wait("an added card is in view, although the search would hide it",
                 f"{column('todo')}.includes('someone else') && !document.getElementById('search').value")
    browser.run("order.value = 'text'; order.onchange()")
    browser.wait("the cards have the chosen order",
                 "document.querySelector('#todo li p').innerText.startsWith('<script>')")
    browser.wait("all buttons and fields have names",
                 "[...document.querySelectorAll('button, input, select')].every(element =>"
                 " element.ariaLabel || element.innerText || element.labels?.length)")
    browser.wait("the board is live", "document.getElementById('state').className == 'live'")


def look_at_shapes(browser, address):
    """Shows the board in each shape, and ends on a phone with a touch screen."""
    for name, options in shapes("issue-board", wide=(1280, 860), narrow=(360, 780)).items():
        browser.open(address, **options)
        browser.wait(f"{name} has its cards", "document.querySelectorAll('#todo li').length > 5")
        browser.wait(f"the slider of {name} is in view with 100 cards",
                     "document.getElementById('when').getBoundingClientRect().bottom < innerHeight"
                     " && document.getElementById('time').checkVisibility()")
        browser.check_width(name)
        check_access(browser, name)
        browser.picture(name, MASKS)
    drag_by_touch(browser, "#todo li", "nav button:last-child")
    browser.wait("a finger drags a card to the name of a column", f"{column('done')}.includes('Number 99')")
    browser.click("nav button:last-child")
    browser.wait("the name of a column shows the column",
                 "document.getElementById('done').getBoundingClientRect().right <= innerWidth"
                 " && !document.getElementById('help').checkVisibility()")
    browser.picture("issue-board-narrow-done")
    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    browser.open(address, width=390, height=844)
    browser.wait("each control has 40 pixels on a touch screen",
                 "document.querySelectorAll('#todo li').length > 5 && matchMedia('(pointer: coarse)').matches"
                 " && [...document.querySelectorAll('button, input, select')]"
                 ".filter(control => control.checkVisibility())"
                 ".every(control => Math.min(control.offsetWidth, control.offsetHeight) >= 40)")
    browser.picture("issue-board-finger")
    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def column(name):
    return f"document.getElementById('{name}').innerText"


def drag_by_mouse(browser, start, end):
    """Drags the first element of a selector to the center of another element."""
    start, end = [browser.find(selector) for selector in [start, end]]
    actions = ActionChains(browser.driver).move_to_element(start).click_and_hold().move_by_offset(20, 10)
    actions.move_to_element(end).perform()
    browser.picture("issue-board-drag")
    ActionChains(browser.driver).release().perform()


def drag_by_touch(browser, start, end):
    """Presses the first element of a selector, and moves the finger to another element."""
    places = [browser.value(f"(box => [box.x + 40, box.y + 16])(document.querySelector('{selector}')"
                            ".getBoundingClientRect())") for selector in [start, end]]

    def touch(kind, *points):
        points = [{"x": x, "y": y} for x, y in points]
        browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", places[0])
    time.sleep(0.6)
    for step in range(1, 11):
        touch("touchMove", [a + (b - a) * step / 10 for a, b in zip(*places)])
    browser.picture("issue-board-touch")
    touch("touchEnd")
