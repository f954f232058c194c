#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What the guests measured, as one table, as JSON and as a plot.

usage: report.py DIR

Reads DIR/KERNEL.txt, lines "BENCH ROW WHO VALUE RUN", and writes DIR/bench.json and,
with gnuplot, DIR/bench.svg. A ratio above 1 is always good for rclink's side of
"at least", below 1 of "at most".
"""
import json
import os
import statistics
import subprocess
import sys

# row: words, what it is compared with, unit, "<=" or ">=", goal or None
ROWS = {
    "send-lat": ("SEND 64 B latency", "ib_send_lat", "us", "<=", 1.15),
    "write-lat": ("WRITE 64 B latency", "ib_write_lat", "us", "<=", 1.15),
    "read-lat": ("READ 64 B latency", "ib_read_lat", "us", "<=", 1.15),
    "fadd-lat": ("FADD 8 B latency", "ib_atomic_lat", "us", "<=", 1.15),
    "send-lat-typical": ("SEND 64 B, median", "ib_send_lat", "us", "<=", 1.15),
    "write-lat-typical": ("WRITE 64 B, median", "ib_write_lat", "us", "<=",
                          1.15),
    "read-lat-typical": ("READ 64 B, median", "ib_read_lat", "us", "<=", 1.15),
    "fadd-lat-typical": ("FADD 8 B, median", "ib_atomic_lat", "us", "<=", 1.15),
    "write-64k": ("WRITE 64 KiB", "ib_write_bw", "MB/s", ">=", 0.97),
    "read-64k": ("READ 64 KiB", "ib_read_bw", "MB/s", ">=", 0.97),
    "send-64k": ("SEND 64 KiB", "ib_send_bw", "MB/s", ">=", 0.97),
    "write-1m": ("WRITE 1 MiB", "ib_write_bw", "MB/s", ">=", 0.97),
    "read-1m": ("READ 1 MiB", "ib_read_bw", "MB/s", ">=", 0.97),
    "send-1m": ("SEND 1 MiB", "ib_send_bw", "MB/s", ">=", 0.97),
    "send-rate": ("SEND 64 B rate", "ib_send_bw", "k/s", ">=", 1.0),
    "write-rate": ("WRITE 64 B rate", "ib_write_bw", "k/s", ">=", 1.0),
    "attach": ("attach to first WRITE", "cmtime, 1", "us", "<=", 1 / 30),
    "kapi": ("kernel API, WRITE 64 B", "ib_post_send", "us", "<=", 1.05),
    "kapi-16": ("the same, 16 in flight", "ib_post_send", "us", "<=", 1.05),
    "sim": ("the same, simulated device", "ib_post_send", "us", "<=", None),
    "sim-16": ("the same, 16 in flight", "ib_post_send", "us", "<=", None),
    "idle-2": ("WRITE latency, 2 links", "1 link", "us", "<=", 1.1),
    "idle-100": ("WRITE latency, 100 links", "1 link", "us", "<=", 1.1),
    "idle-500": ("WRITE latency, 500 links", "1 link", "us", "<=", 1.1),
    "memory-link": ("idle link, 4 pooled QPs", None, "KiB", "<=", 64),
    "memory-channel": ("idle channel, one end", None, "KiB", "<=", None),
}


def read(path):
    """By row and who measured: pairs of run and value."""
    values = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if len(words) == 5 and words[0] == "BENCH":
                values.setdefault(words[1], {}).setdefault(
                    words[2], []).append((int(words[4]), float(words[3])))
    return values


def plain(values):
    return [value for _, value in values]


def best(ways, sense):
    """The way with the best median, and its values; none that has failed."""
    most = max((len(values) for values in ways.values()), default=0)
    whole = [way for way in ways if len(ways[way]) == most]
    pick = min if sense == "<=" else max
    way = pick(whole, key=lambda way: statistics.median(plain(ways[way])),
               default=None)
    return way, ways.get(way, [])


def pairs(mine, theirs):
    """Ratios of what was measured one after the other, in one run."""
    peer = dict(theirs)
    return sorted(value / peer[run] for run, value in mine
                  if run and peer.get(run))


def row(kernel, key, values):
    words, peer, unit, sense, goal = ROWS[key]
    measured = values.get(key, {})
    mine = measured.pop("rclink", [])
    way, theirs = best(measured, sense)
    result = {"kernel": kernel, "row": key, "what": words, "peer": peer,
              "unit": unit, "sense": sense, "goal": goal,
              "rclink_values": plain(mine), "peer_values": plain(theirs),
              "peer_way": way, "ratios": pairs(mine, theirs)}
    if mine:
        result["rclink"] = statistics.median(plain(mine))
    if theirs:
        result["peer_median"] = statistics.median(plain(theirs))
    if mine and (not peer or result.get("peer_median")):
        ratio = result["rclink"] / result.get("peer_median", 1)
        result["ratio"] = ratio
    if "ratio" in result and goal:
        result["met"] = ratio <= goal if sense == "<=" else ratio >= goal
    return result


def number(value):
    if value is None:
        return "-"
    return "%.4g" % value if value < 10000 else "%.0f" % value


def span(ratios):
    return "%.3g-%.3g" % (ratios[0], ratios[-1]) if ratios else ""


def table(results):
    print("%-7s %-26s %-14s %10s %10s %-5s %7s %-11s %9s" % (
        "kernel", "row", "against", "peer", "rclink", "unit", "ratio",
        "single runs", "goal"))
    for r in results:
        ratio = number(r.get("ratio")) if r["peer"] else ""
        verdict = {True: "met", False: "missed", None: ""}[r.get("met")]
        goal = "%3s%6s" % (r["sense"], number(r["goal"])) if r["goal"] else ""
        print("%-7s %-26s %-14s %10s %10s %-5s %7s %-11s %9s %s" % (
            r["kernel"], r["what"], r["peer"] or "",
            number(r.get("peer_median")) if r["peer"] else "",
            number(r.get("rclink")), r["unit"], ratio,
            span(r["ratios"]), goal,
            verdict if "ratio" in r else "not measured"))


def plot(directory, results):
    """Each ratio over its goal: beyond the line is better than the goal."""
    data = os.path.join(directory, "bench.dat")
    kernels = sorted({r["kernel"] for r in results})
    keys = [key for key in ROWS if ROWS[key][1] and ROWS[key][4]]
    at = {(r["kernel"], r["row"]): r for r in results}
    with open(data, "w", encoding="ascii") as file:
        for key in keys:
            cells = []
            for kernel in kernels:
                r = at.get((kernel, key), {})
                if "ratio" not in r:
                    cells.append("NaN")
                elif r["sense"] == "<=":
                    cells.append("%.4f" % (r["goal"] / r["ratio"]))
                else:
                    cells.append("%.4f" % (r["ratio"] / r["goal"]))
            file.write('"%s" %s\n' % (ROWS[key][0], " ".join(cells)))
    bars = ", ".join('"%s" using %d:xtic(1) title "%s"' % (data, i + 2, kernel)
                     for i, kernel in enumerate(kernels))
    script = """
set terminal svg size 1000,600 noenhanced
set output "%s"
set title "rclink over its goal (1: just met; higher is better)"
set style data histograms
set style fill solid 0.8
set xtics rotate by -35
set logscale y
set grid y
set key top left
plot %s, 1 title "goal" with lines lw 2
""" % (os.path.join(directory, "bench.svg"), bars)
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    directory = sys.argv[1]
    results = []
    for name in sorted(os.listdir(directory)):
        kernel, extension = os.path.splitext(name)
        if extension != ".txt":
            continue
        values = read(os.path.join(directory, name))
        results += [row(kernel, key, values) for key in ROWS]
    table(results)
    with open(os.path.join(directory, "bench.json"), "w",
              encoding="ascii") as file:
        json.dump(results, file, indent=1)
    plot(directory, results)


main()
