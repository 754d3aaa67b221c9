"""Searches, zooms, folds, and reads the graph of an inspector with the keyboard."""

import json
import urllib.request

from browser import Keys

LABELS_ARE_READABLE = ("!!document.querySelector('#picture text') && [...document.querySelectorAll('#picture text')]"
                       ".every(text => parseFloat(getComputedStyle(text).fontSize) * view.scale >= 11)")


def look_at_graph(browser, board):
    picture = "document.getElementById('picture')"
    browser.focus("#search")
    browser.press("signals")
    browser.wait("a search dims the rest", f"{picture}.querySelectorAll('.node:not(.dim)').length == 1"
                 f" && {picture}.querySelectorAll('.node.dim').length > 5")
    browser.press(*[Keys.BACKSPACE] * 7)
    browser.wait("without a search, no node is dim", f"!{picture}.querySelector('.dim')")
    place = "document.getElementById('content').getAttribute('transform')"
    before = browser.value(place)
    browser.focus("#picture")
    browser.press("+", Keys.ARROW_LEFT)
    browser.wait("keys zoom and move the graph", f"{place} != {json.dumps(before)}")
    browser.press("0")
    browser.focus("#as-text")
    browser.press(Keys.ENTER)
    browser.wait("a key shows the graph as text",
                 f"document.getElementById('tree').innerText.includes('board, ') && {picture}.hidden")
    browser.press(Keys.ENTER)
    nodes = f"{picture}.querySelectorAll('.node').length"
    streams = [urllib.request.urlopen(f"{board}events", timeout=60) for _ in range(60)]
    browser.wait("sixty clients are one branch",
                 f"[...{picture}.querySelectorAll('.count')].some(count => count.textContent == ' × 61')", 30)
    folded = browser.value(nodes)
    browser.picture("inspector-folded")
    # The board may have smaller groups as well.
    browser.run(f"[...{picture}.querySelectorAll('.group')].find(group => group.textContent.includes('× 61')).focus()")
    browser.press(Keys.ENTER)
    browser.wait("Enter unfolds equal branches, and keeps the focus",
                 f"{nodes} > {folded + 60} && document.activeElement.getAttribute('aria-expanded') == 'true'")
    browser.picture("inspector-unfolded")
    browser.press(Keys.ENTER)
    browser.wait("Enter folds them again", f"{nodes} == {folded}")
    for stream in streams:
        stream.close()
