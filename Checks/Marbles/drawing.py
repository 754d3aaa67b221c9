"""Draws a diagram as an SVG."""

import sys
from html import escape

from diagram import Diagram

# The x coordinate at which the lines begin.
left = 140


class Drawing(Diagram):
    """A diagram with its picture."""

    def svg(self):
        rows = self.inputs + [row for group in self.outputs.values() for row in group]
        self.place(rows)
        self.parts = []
        lines = wrapped(self.sentence, 92)
        for number, line in enumerate(lines):
            self.parts.append(f'<text x="24" y="{34 + 20 * number}" class="h">{escape(line)}</text>')
        top = y = 30 + 20 * len(lines)
        grid = len(self.parts)
        shades = {row.name: "abz"[min(number, 2)] for number, row in enumerate(self.inputs)}
        for row in self.inputs:
            self.draw(row, y, lambda label: shades.get(label, shades[row.name]))
            y += 50
        colors = {label: shades[row.name] for row in reversed(self.inputs) for label in row.labels()}
        for code, group in self.outputs.items():
            # Numbers that equal an input by chance are results, like those beside them.
            passes = all(label in colors for row in group for label in row.labels())
            size = min(14, 630 / (0.602 * len(code)))
            if size < 10:
                sys.exit(f"draw-marbles: '{code}' is too long for a picture.")
            self.parts.append(f'<rect x="16" y="{y + 2}" width="668" height="36" rx="8" class="o"/>')
            self.parts.append(
                f'<text x="350" y="{y + 25}" class="m c" font-size="{number_text(size)}">{escape(code)}</text>')
            y += 44
            for row in group:
                made = lambda label: label in row.made or label.isdigit() and not passes
                self.draw(row, y, lambda label: "d" if made(label) else colors.get(label, "d"))
                y += 50
        guides = "".join(f"M{number_text(x)} {top + 4}V{y + 2}" for x in self.columns)
        self.parts.insert(grid, f'<path d="{guides}" class="g"/>')
        for second, x in enumerate(self.columns):
            text = f"{second} s" if second == len(self.columns) - 1 else second
            self.parts.append(f'<text x="{number_text(x)}" y="{y + 18}" class="s c">{text}</text>')
        height = y + 32
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {height}" width="700" height="{height}" role="img">\n'
            f"<title>{escape(self.sentence)}</title>\n<desc>{escape(self.description())}</desc>\n"
            f"<style>{style}</style>\n"
            f'<rect x="0.5" y="0.5" width="699" height="{height - 1}" rx="12" class="k"/>\n'
            + "\n".join(self.parts) + "\n</svg>\n"
        )

    def place(self, rows):
        """Gives each step a column that is as wide as its widest group."""
        count = max(len(row.steps) for row in rows)
        widths = [
            max([34, *(total_width(row.steps[n]) + 6 for row in rows if n < len(row.steps))])
            for n in range(count)
        ]
        right = 672
        space = max(0, right - left - sum(widths)) / count
        self.columns, x = [], left
        for own in widths:
            self.columns.append(x + (own + space) / 2)
            x += own + space
        if x > right + 1:
            sys.exit(f"draw-marbles: '{self.sentence}' is too wide for a picture.")

    def draw(self, row, y, color):
        middle = y + 24
        parts = self.parts
        parts.append(f'<text x="24" y="{middle + (-1 if row.kind else 5)}" class="{"m" if row.kind else "n"}">{row.name}</text>')
        if row.kind:
            parts.append(f'<text x="24" y="{middle + 15}" class="s">{row.kind}</text>')
        first = row.steps[row.begin] if row.begin < len(row.steps) else []
        begin = left if row.begin == 0 else self.columns[row.begin] - max(25, total_width(first) / 2 + 10)
        ends = [n for n, step in enumerate(row.steps) if ("|", False) in step or step and row.kind == "task"]
        stop, marks = 680, []
        if ends:
            step = [label for label, _ in row.steps[ends[0]] if label != "|"]
            stop = self.columns[ends[0]] + (total_width(row.steps[ends[0]]) / 2 + 7 if step else 0)
            marks.append(f'<path d="M{number_text(stop)} {middle - 15}v30" class="e"/>')
        elif row.end is not None:
            stop = self.columns[row.end]
            marks.append(f'<path d="M{number_text(stop - 6)} {middle - 6}l12 12m0 -12l-12 12" class="x"/>')
        else:
            marks.append(f'<path d="M673 {middle - 5}l8 5l-8 5" class="l"/>')
        parts.append(f'<path d="M{number_text(begin)} {middle}H{number_text(stop)}" class="l"/>')
        if row.begin:
            marks.append(f'<circle cx="{number_text(begin)}" cy="{middle}" r="4" class="r"/>')
        parts += marks
        for n, step in enumerate(row.steps):
            total, step = total_width(step), [entry for entry in step if entry[0] != "|"]
            x = self.columns[n] - total / 2
            if len(step) > 1:
                parts.append(f'<rect x="{number_text(x - 4)}" y="{middle - 19}" width="{number_text(total + 8)}" height="38" rx="19" class="q"/>')
            for label, fails in step:
                own = width(label)
                center = number_text(x + own / 2)
                if fails and own == 30:
                    parts.append(f'<path d="M{number_text(x + 9)} {middle - 15}h12l9 9v12l-9 9h-12l-9 -9v-12z" class="f"/>')
                elif own == 30:
                    parts.append(f'<circle cx="{center}" cy="{middle}" r="15" class="{color(label)}"/>')
                else:
                    parts.append(f'<rect x="{number_text(x)}" y="{middle - 15}" width="{own}" height="30" rx="{4 if fails else 15}" class="{"f" if fails else color(label)}"/>')
                parts.append(f'<text x="{center}" y="{middle + 5}" class="w c">{escape(label)}</text>')
                x += own + 2

    def description(self):
        """The picture in words."""
        sentences = [f"{row.name}, a {row.kind}, emits {spoken(row)}." for row in self.inputs]
        for code, group in self.outputs.items():
            sentences += [f"A {row.name} of {code} receives {spoken(row)}." for row in group]
        return " ".join(sentences)


def spoken(row):
    events = []
    for second, step in enumerate(row.steps):
        for label, fails in step:
            what = "the end" if label == "|" else f"the failure {label}" if fails else label
            events.append(f"{what} at {second} s")
    if row.end is not None:
        events.append(f"nothing after it cancels at {row.end} s")
    return ", ".join(events) or "nothing"


def width(label):
    return 30 if len(label) < 3 else 18 + 8 * len(label)


def total_width(step):
    return sum(width(label) + 2 for label, _ in step if label != "|") - 2


def number_text(value):
    return f"{value:.1f}".removesuffix(".0")


def wrapped(sentence, limit):
    lines = [""]
    for word in sentence.split():
        if len(lines[-1]) + len(word) >= limit:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


style = (
    "text{font:13px -apple-system,'Segoe UI','Helvetica Neue',Arial,sans-serif;fill:#1f2328}"
    ".m{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    ".h{font-size:14px;font-weight:600}.n{fill:#59636e}.s{font-size:11.5px;fill:#59636e}"
    ".w{font-weight:600;font-size:14px;fill:#fff}.c{text-anchor:middle}"
    ".k{fill:#fff;stroke:#d1d9e0}.o{fill:#eef4ff;stroke:#b6cdf5}"
    ".l{fill:none;stroke:#818b98;stroke-width:2}.e{stroke:#1f2328;stroke-width:3}"
    ".x{stroke:#59636e;stroke-width:3}.r{fill:#fff;stroke:#818b98;stroke-width:2}"
    ".g{stroke:#e7ebef}.q{fill:#e7ebef;stroke:#818b98}"
    ".a{fill:#1f6feb}.b{fill:#8250df}.z{fill:#0f766e}.d{fill:#bc4c00}.f{fill:#cf222e}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.n,.s{fill:#9198a1}.w{fill:#fff}"
    ".k{fill:#151b23;stroke:#3d444d}.o{fill:#12233f;stroke:#2f4a7a}.e{stroke:#e6edf3}.x{stroke:#9198a1}"
    ".r{fill:#151b23}.g{stroke:#262c36}.q{fill:#262c36}}"
)
