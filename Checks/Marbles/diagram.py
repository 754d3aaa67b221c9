"""The inputs and outputs of a story."""

import re
import sys

from stories import closing, split, statements, steps, table, tidy

kinds = {
    "broadcaster": "broadcaster", "numbers": "broadcaster", "value": "published value",
    "number": "published value", "task": "task",
}


class Row:
    """A line of a timeline, with the label of each update."""

    def __init__(self, name, kind, line, labels, begin=0, end=None):
        self.name, self.kind, self.begin, self.end = name, kind, begin, end
        self.steps = [[labels.get(letter, (letter, False)) for letter in step] for step in steps(line)]

        # An update that a table replaces by something else, such as an array.
        self.made = {label for letter, (label, _) in labels.items() if label != letter and not label.isdigit()}

    def labels(self):
        return [label for step in self.steps for label, _ in step if label != "|"]


class Diagram:
    """The inputs of a story, and the outputs of each operator call."""

    def __init__(self, name, story, body):
        self.name, self.sentence = name, story.split(": ")[-1]
        self.inputs, self.outputs = [], {}
        numbers = {letter: (str(n), False) for n, letter in enumerate("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")}
        failures = {letter: (letter, True) for letter in "XYZ"}
        self.tables = {"digits": numbers, "results": failures, "neverFailing": {}}
        self.derived, self.plain = {}, {}
        for statement in statements(body):
            if match := re.match(r"let (\w+)(?:: [^=]+)? = (.*)", statement):
                self.define(*match.groups())
            elif statement.startswith("$0.expect("):
                self.expect(split(statement[len("$0.expect(") : -1], ","))
        for code in self.outputs:
            if re.search(r"\$0\.(%s)\(" % "|".join(kinds), code):
                sys.exit(f"draw-marbles: '{self.sentence}' has an input without a name.")

    def define(self, name, value):
        match = re.match(r"\$0\.(\w+)\(", value)
        if match and match.group(1) in kinds:
            kind = kinds[match.group(1)]
            if "number" in match.group(1):
                self.plain = self.tables["digits"]
            elif kind == "task":
                self.plain = self.tables["results"]
            end = closing(value, match.end() - 1)
            line, *rest = split(value[match.end() : end], ",")
            labels = table(rest[0], self.tables) if rest else self.plain
            self.inputs.append(Row(name, kind, line.strip('"'), labels))
            if value[end + 1 :]:
                self.derived[name] = name + value[end + 1 :]
        elif value.startswith("["):
            self.tables[name] = table(value, self.tables)
        elif value not in ["Timeline()", "$0.clock"]:
            self.derived[name] = self.expanded(value)

    def expect(self, arguments):
        line, *rest = arguments
        named = dict(part.split(": ", 1) for part in rest if re.match("(during|from): ", part))
        values = [part for part in rest if not re.match("(during|from): ", part)]
        period = steps(named.get("during", "^").strip('"'))
        begin = period.index(["^"])
        end = period.index(["!"]) if ["!"] in period else None
        labels = table(values[0], self.tables) if values else self.plain
        row = Row("late subscriber" if begin else "subscriber", "", line.strip('"'), labels, begin, end)
        self.outputs.setdefault(tidy(self.expanded(named["from"])), []).append(row)

    def expanded(self, code):
        """The code with the definition of each name that is not an input."""
        return re.sub(r"(?<![.\w$])\w+\b(?!:)", lambda match: self.derived.get(match[0], match[0]), code)
