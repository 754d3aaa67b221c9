"""Checks of the programs that work on a terminal."""

import subprocess

from support import build, expect


def check_thermostat(folder):
    story = subprocess.check_output([build("thermostat")], text=True).splitlines()
    for line in [
        "17 °C, heating to 20 °C",
        "! Between 5 and 30 °C.",
        "22 °C",
        "! The sensor has been silent for 0.5 seconds.",
    ]:
        expect(line in story, f"thermostat does not print: {line}")


def check_spreadsheet(folder):
    program = build("spreadsheet", "release")

    def answers(lines):
        output = subprocess.run([program], input="\n".join(lines), check=True, stdout=subprocess.PIPE, text=True)
        return output.stdout.splitlines()

    edits = ["B2 0", "B2 5", "B3 =B4", "B4 =B3", "B4 2", "B3", "Z1001", "go CV1000"]
    shown = answers(edits)
    edited = [line for line in shown if line.startswith("3 formulas, ")]
    expect(len(edited) >= 2, f"an edit does not calculate three formulas: {shown}")
    print(f"spreadsheet: an edit below a sum of 100,000 cells: {edited[1]}")
    sums = [line.split()[1] for line in shown if line.startswith("          1 ")]
    # The sum, after each edit.
    expect(int(sums[2]) - int(sums[1]) == 5, f"the sum does not follow an edit: {sums}")
    expect("#CYCLE!" in sums and sums[-1].isdigit(), f"a cycle is not shown, or remains: {sums}")
    expect("=B4" in shown and shown.count("quit") == 2, f"spreadsheet shows {shown}")
    expect(shown[-1].split() == ["1000", "52"], f"the last row is {shown[-1]}")

    # The columns are continued one below the other.
    names = [f"{column}{row}" for column in "ABCDEFGHIJ" for row in range(1, 1001)]
    chain = ["A1 1"] + [f"{name} ={before}+1" for before, name in zip(names, names[1:])]
    shown = answers(["go L1", *chain, "go J1000", "A1 2"])
    expect(any(line.split()[:2] == ["1000", "10001"] for line in shown), f"a chain ends with {shown[-1]}")


def check_board_on_terminal(folder):
    board = subprocess.Popen(
        [build("issue-board"), "--terminal", "--directory", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        card = "  1  mend this  (a.swift:1)\n"
        expect(card in [board.stdout.readline() for _ in range(2)], "issue-board shows no card")
        shown, _ = board.communicate("move 1 doing\nfly\nquit\n", timeout=60)
        expect(f"doing\n{card}" in shown, "issue-board does not move a card")
        expect("move NUMBER todo|doing|done\n" in shown, "issue-board does not list the commands")
        expect(board.returncode == 0, "issue-board does not exit with status 0")
    finally:
        board.kill()
