#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Which lines of kmod/ ran, by gcov: a table of files, and those that did not.

usage: report.py BUILT GCOV-JSON UNCOVERED

BUILT has kmod/ as it was built; the JSON is one document per object and line. A
line of a header is covered if it is in any object. UNCOVERED is written, as
FILE:LINE: TEXT, by file, then in order.
"""
import collections
import json
import os
import sys


def read(built, path):
    """file: {line: how often it ran}, of what is below BUILT/kmod"""
    files = collections.defaultdict(collections.Counter)
    with open(path, encoding="utf-8") as stream:
        for document in stream:
            for entry in json.loads(document)["files"]:
                name = os.path.relpath(entry["file"], built)
                if not name.startswith("kmod/"):
                    continue
                for line in entry["lines"]:
                    files[name][line["line_number"]] += line["count"]
    return files


def row(name, covered, lines):
    print(f"{name:<34} {lines:>6} {100 * covered / lines:>6.1f} %")


def main():
    built, path, uncovered = sys.argv[1:]
    files = read(built, path)
    if not files:
        sys.exit("report.py: nothing was counted")
    sums = [0, 0]
    print(f"{'file':<34} {'lines':>6} {'covered':>8}")
    with open(uncovered, "w", encoding="utf-8") as out:
        for name, lines in sorted(files.items()):
            covered = sum(count > 0 for count in lines.values())
            row(name, covered, len(lines))
            sums[0] += covered
            sums[1] += len(lines)
            with open(os.path.join(built, name), encoding="utf-8") as source:
                text = source.read().split("\n")
            for line in sorted(n for n, count in lines.items() if not count):
                out.write(f"{name}:{line}: {text[line - 1].strip()}\n")
    row("total", *sums)
    print(f"lines that did not run: {uncovered}")


main()
