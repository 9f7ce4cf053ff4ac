#!/usr/bin/env python3
"""Compares the marks in the drawn charts of a report with the data that they show.

usage: count_marks.py REPORT.html DOM.html     (the DOM as the browser has it after loading)
"""

import html.parser
import json
import re
import sys


class Marks(html.parser.HTMLParser):
    """Counts points, lines, bars and error bars in each figure."""

    def __init__(self):
        super().__init__()
        self.figures = {}
        self.current = None
        self.groups = []  # classes of the open <g>

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        names = (a.get("class") or "").split()
        if tag == "figure" and "chart" in names:
            self.current = self.figures.setdefault(
                a["id"], {"points": 0, "lines": 0, "bars": 0, "errors": 0}
            )
            self.groups = []
        if self.current is None:
            return
        if tag == "g":
            self.groups.append(names)
        if tag != "path" or any("legend" in g for g in self.groups):
            return
        if "point" in names:
            self.current["points"] += 1
        elif "js-line" in names:
            self.current["lines"] += 1
        elif self.groups and "point" in self.groups[-1]:
            self.current["bars"] += 1
        elif "xerror" in names or "yerror" in names:
            self.current["errors"] += 1

    def handle_endtag(self, tag):
        if tag == "g" and self.groups:
            self.groups.pop()
        if tag == "figure":
            self.current = None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    data = re.search(r'id="figures">(.*?)</script>', page, re.S).group(1)
    marks = Marks()
    with open(sys.argv[2], encoding="utf-8") as file:
        marks.feed(file.read())
    faults = []
    for figure in json.loads(data):
        shown = figure["choices"][0] if "choices" in figure else figure
        series = shown["series"]
        found = marks.figures.get(figure["id"])
        lines = sum(s["kind"] == "line" for s in series)
        # What lies outside of a given range need not be drawn.
        points = sum(len(s["x"]) for s in series if s["kind"] == "points")
        bars = sum(s["kind"] == "bars" and any(s["y"]) for s in series)
        errors = any(any(s.get(e, [])) for s in series for e in ("error_x", "error_y"))
        print(figure["id"], found)
        if found is None:
            faults.append(f"{figure['id']}: not on the page")
        elif found["lines"] < lines or found["points"] < points:
            faults.append(f"{figure['id']}: {found}, not {lines} lines and {points} points")
        elif (bars and not found["bars"]) or (errors and not found["errors"]):
            faults.append(f"{figure['id']}: {found}, without its bars or error bars")
        elif not lines + points + bars:
            faults.append(f"{figure['id']}: nothing to draw")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
