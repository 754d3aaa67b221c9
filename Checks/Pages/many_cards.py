"""Scrolls through 100,000 cards, while 1,000 changes arrive each second."""

import time

from support import Program, failures


def look_at_many_cards(browser, program):
    with Program(program, "--port", "0", "--cards", "100000", "--changes", "1000") as board:
        address = board.address()
        start = time.monotonic()
        browser.open(address, width=1280, height=860)
        browser.wait("the first of 100,000 cards are shown", "document.querySelectorAll('#todo li').length > 5", 60)
        first = time.monotonic() - start
        browser.wait("100,000 cards arrive", "live.rows.length > 50000 && !incoming", 60)
        print(f"look: the first cards after {first:.1f} s, all cards after {time.monotonic() - start:.1f} s")
        # The page still applies the changes that it received during the loading.
        time.sleep(5)
        check_frames(browser)
        if browser.value("document.querySelectorAll('li').length") > 100:
            failures.append("the page has an element for each card")
        browser.picture("issue-board-many")
        browser.focus("#search")
        browser.press("sensor 5000")
        browser.wait("a search in 100,000 cards is shown", "live.rows.length > 0 && live.rows.length < 500")
        browser.picture("issue-board-many-search")
        browser.check_console("the board with many cards")


def check_frames(browser):
    browser.run("""
      window.frames_ = []; let last = performance.now();
      const frame = now => { frames_.push(now - last); last = now; requestAnimationFrame(frame); };
      requestAnimationFrame(frame);
      Object.assign(stats, { events: 0, changes: 0, draws: 0, slowest: 0 }); window.from_ = performance.now();
      setInterval(() => { scroller('doing').scrollTop += 40; }, 30);
    """)
    time.sleep(10)
    passed, changes, slowest = browser.value("[performance.now() - from_, stats.changes, stats.slowest]")
    frames = sorted(browser.value("frames_"))
    rate = changes / passed * 1000
    print(f"look: {rate:.0f} changes a second in {browser.value('live.rows.length'):,} cards, frame times of"
          f" {frames[len(frames) // 2]:.0f} ms (median), {frames[len(frames) * 99 // 100]:.0f} ms (99 %),"
          f" {slowest:.1f} ms for the slowest drawing")
    if rate < 800:
        failures.append(f"the page receives {rate:.0f} changes a second of 1,000")
    if frames[len(frames) * 9 // 10] > 100:
        failures.append(f"a tenth of the frames takes more than {frames[len(frames) * 9 // 10]:.0f} ms")
