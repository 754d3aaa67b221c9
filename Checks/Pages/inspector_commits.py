"""Filters, pauses, compares, and steps through the commits of an inspector."""

import json

from browser import Keys

ROWS = "[...document.querySelectorAll('.commits .row:not([hidden])')]"
TITLE = "document.querySelector('.detail h3').innerText"


def look_at_commits(browser, send):
    browser.focus(".by-action")
    browser.press("Card 12")
    browser.wait("a filter leaves the commits with an action",
                 f"{ROWS}.length == 1 && {ROWS}[0].innerText.includes('Card 12')")
    browser.focus(".commits")
    browser.press(Keys.ARROW_DOWN)
    browser.wait("arrow keys select a commit and show its state",
                 "document.querySelector('.commits .row[aria-selected=true] .cause')?.innerText"
                 ".includes('Card 12')"
                 " && document.querySelector('.detail').innerText.includes('Card 12')"
                 " && !document.querySelector('.detail').innerText.includes('onerror')")
    chosen = browser.value(TITLE)
    browser.focus(".by-action")
    browser.press(*[Keys.BACKSPACE] * 7)
    send("move 3 doing")
    browser.wait("a new commit keeps the selection and lists its changes",
                 f"{ROWS}.some(row => row.innerText.includes('\"todo\" → \"doing\"')) && {TITLE} == '{chosen}'")
    browser.click("[data-role=previous]")
    browser.wait("a button shows the commit before", f"{TITLE} != {json.dumps(chosen)}")
    browser.click("[data-role=next]")
    browser.wait("a button shows the next commit", f"{TITLE} == {json.dumps(chosen)}")
    browser.run("""
      const select = document.querySelector('[data-role=compare]');
      select.value = select.options[5].value;
      select.dispatchEvent(new Event('change'));""")
    browser.wait("a commit is compared with another",
                 "document.querySelector('.detail').innerText.includes('Changes since commit')")
    pause = ".store .tools button"
    browser.click(pause)
    send("add While the list is paused")
    browser.wait("a paused list counts new commits",
                 f"/Resume \\(\\d+ new\\)/.test(document.querySelector('{pause}').innerText)"
                 f" && !{ROWS}[0].innerText.includes('paused')")
    browser.click(pause)
    browser.wait("the list resumes", f"{ROWS}.some(row => row.innerText.includes('While the list is paused'))")
    browser.run("""
      const slider = document.querySelector('.slider input');
      slider.value = 1;
      slider.dispatchEvent(new Event('input'));""")
    browser.wait("the slider shows an earlier state", f"{TITLE} != {json.dumps(chosen)}")
    look_at_effects(browser)
    browser.run("document.querySelector('.scopes').open = true")
    browser.wait("the scopes in use are a tree",
                 "/Scopes: \\d/.test(document.querySelector('.scopes summary').innerText)"
                 " && !!document.querySelector('.scopes li code')?.innerText")


def look_at_effects(browser):
    browser.wait("the effect that follows the folder runs",
                 "/\\d s.*commit \\d/s.test(document.querySelector('.effects').innerText)")
    running = ".lanes .span.runs"
    browser.wait("the timeline shows an effect that runs, with its commit",
                 f"/commit \\d+, began at .*, runs/.test(document.querySelector('{running}')?.ariaLabel)")
    browser.wait("the timeline shows an effect that has ended",
                 "[...document.querySelectorAll('.lanes .span:not(.runs)')].some(span =>"
                 " /(finished|canceled) after/.test(span.ariaLabel))")
    browser.click(running)
    # The bar of a short effect has no text. The board has no earlier commits.
    commit = browser.value(f"document.querySelector('{running}').dataset.commit")
    browser.wait("an effect in the timeline selects the commit that began it",
                 f"{TITLE} == 'Commit {commit}'"
                 f" || document.querySelector('.detail').innerText.startsWith('Commit {commit} is no longer')")
