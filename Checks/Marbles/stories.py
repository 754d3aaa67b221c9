"""Reads the timelines of stories and of samples."""

import re
from pathlib import Path

root = Path(__file__).resolve().parent.parent.parent
stories = root / "Tests/MiniRexTests/Operators/Timelines"
samples = root / "Tests/SampleTests"


def scan(text, start=0):
    """Yields the index, the character and the depth of brackets, outside of string literals."""
    depth, index = 0, start
    while index < len(text):
        character = text[index]
        if character == '"':
            index = text.index('"', index + 1)
        elif character in "([{":
            yield index, character, depth
            depth += 1
        elif character in ")]}":
            depth -= 1
            yield index, character, depth
        else:
            yield index, character, depth
        index += 1


def closing(text, start):
    """The index of the bracket that closes the bracket at `start`."""
    return next(i for i, c, depth in scan(text, start) if depth == 0 and c in ")]}")


def split(text, separator):
    """The parts between separators outside of brackets."""
    parts, begin = [], 0
    for index, character, depth in scan(text):
        if character == separator and depth == 0:
            parts.append(text[begin:index].strip())
            begin = index + 1
    return [part for part in [*parts, text[begin:].strip()] if part]


def read_stories():
    """The body of each story and of each test with a timeline, by its sentence."""
    found = {}
    places = [(path, r'Story\(\s*"([^"]+)"\s*\)\s*\{', "") for path in sorted(stories.glob("Story+*.swift"))]
    places += [(samples / "StoriesSamples.swift", r"@Test func `([^`]+)`\(\) \{", "StoriesSamples: ")]
    for path, pattern, prefix in places:
        text = path.read_text()
        for match in re.finditer(pattern, text):
            body = text[match.end() : closing(text, match.end() - 1)]
            found[prefix + match.group(1)] = re.sub(r"\btimeline\.", "$0.", body)
    return found


def statements(body):
    """The definitions and expectations of a closure, each in one line."""
    lines = []
    for line in split(body, "\n"):
        if re.match(r"let |\$0\.expect\(", line):
            lines.append(line)
        elif lines and not line.startswith("#"):
            lines[-1] += " " + line
    return [" ".join(line.split()) for line in lines]


def tidy(code):
    """The call as a reader would write it: on one line, without the clock of the test."""
    code = re.sub(r",?\s*clock: (?:\$0\.)?clock", "", code)
    code = re.sub(r"\s+", " ", code).replace("( ", "(").replace(" )", ")")
    return code.replace("$0.clock", "clock").removeprefix("try ")


def table(text, tables):
    """The labels in a dictionary literal, each with a mark for a failure."""
    text = text.split(" as [")[0].strip()
    if text in tables:
        return tables[text]
    labels = {}
    for entry in split(text[1:-1], ","):
        key, value = (part.strip() for part in split(entry, ":"))
        fails = value.startswith(".failure")
        value = re.sub(r"^\.(?:success|failure)\((.*)\)$", r"\1", value)
        value = re.sub(r'^Trouble\(name: (.*)\)$', r"\1", value)
        labels[key[1]] = (re.sub(r'["\[\],.]', "", value), fails)
    return labels


def steps(line):
    """The characters of each step."""
    return [list(group or single.strip("-")) for group, single in re.findall(r"\((.*?)\)|([^ ])", line)]
