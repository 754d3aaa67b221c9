"""Measures the layout shift of an inspector's page, while 1,000 changes arrive each second."""

import time

from inspector_commits import ROWS
from support import Program, failures


def look_at_busy_inspector(browser, program):
    with Program(program, "--port", "0", "--cards", "40", "--changes", "1000", "--inspect", "0") as board:
        board.address()
        browser.open(board.address(), width=1280, height=1600)
        browser.wait("the busy inspector shows its commits", f"{ROWS}.length > 5")
        # The graph and the first states change the layout.
        time.sleep(2)
        browser.run("""
          window.shifts = [];
          // The bars of effects move with the time.
          const isBar = ({ node }) => !node || !!node.closest?.(".lanes");
          const read = entries => entries.filter(({ sources }) => !sources.every(isBar)).map(({ value }) => value);
          new PerformanceObserver(list => shifts.push(...read(list.getEntries())))
            .observe({ type: "layout-shift" });""")
        title = f"{ROWS}[0].innerText"
        before = browser.value(title)
        time.sleep(10)
        if browser.value(title) == before:
            failures.append("the busy inspector shows no new commit")
        shift = browser.value("shifts.reduce((sum, value) => sum + value, 0)")
        print(f"look: a layout shift of {shift:.4f} in 10 s with 1,000 changes a second")
        # A longer number of a commit moves the actions once.
        if shift > 0.001:
            failures.append(f"the busy inspector has a layout shift of {shift:.4f}")
        browser.check_console("the busy inspector")
