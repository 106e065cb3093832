#!/usr/bin/env python3
"""The report page and the comparison of laboratory results; `tilewright-lab` starts it.

report FOLDER        reads FOLDER/*.json, writes FOLDER/report.html and FOLDER/report.md
compare BEFORE AFTER tells which cases changed beyond noise

Exit status: 0 done; 1 done, but a file was left out or something became slower; 2 could not.
"""
import html
import importlib.util
import io
import json
import math
import os
import pathlib
import subprocess
import sys

FORMAT = "tilewright-lab 1"
CHANGE = 0.03  # medians nearer than this are the same


class Damaged(Exception):
    """A file that is no result; says what is wrong with it."""


def complain(text):
    print(f"tilewright-lab: {text}", file=sys.stderr)


# ------------------------------------------------------------------------------------- reading


def check_case(case):
    for key, kind in (("rung", str), ("n", int), ("median", (int, float)), ("seconds", list)):
        if not isinstance(case.get(key), kind):
            raise Damaged(f"a case has no {key}")
    times = case["seconds"]
    if not times or not all(isinstance(t, (int, float)) and t > 0 for t in times):
        raise Damaged(f"{case['rung']} has times that are none")
    if not case["median"] > 0:
        raise Damaged(f"{case['rung']} has a median that is none")


def read_result(path):
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise Damaged(str(error)) from error
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise Damaged(f'it does not begin with "format": "{FORMAT}"')
    if not isinstance(result.get("cases"), list) or not isinstance(result.get("ladder"), str):
        raise Damaged("it has no ladder or no cases")
    for case in result["cases"]:
        if not isinstance(case, dict):
            raise Damaged("a case is no object")
        check_case(case)
    result.setdefault("machine", {})
    result.setdefault("ceiling", {})
    return result


def read_results(place):
    """Every result of a folder, or of one file: (results, how many files were damaged)."""
    place = pathlib.Path(place)
    paths = sorted(place.glob("*.json")) if place.is_dir() else [place]
    results, damaged = [], 0
    for path in paths:
        try:
            results.append(read_result(path))
        except Damaged as why:
            complain(f"{path} is left out: {why}")
            damaged += 1
    if not results:
        complain(f"{place}: no results here; 'tilewright-lab run --out {place}' makes some")
        sys.exit(2)
    return results, damaged


# ------------------------------------------------------------------------------------- showing


def scaled(value, unit=""):
    for step in ("", "k", "M", "G", "T", "P"):
        if abs(value) < 999.5:
            return f"{value:.3g} {step}{unit}".rstrip()
        value /= 1000
    return f"{value:.3g} E{unit}"


def seconds(value):
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if value * factor >= 0.9995:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def by_size(result):
    sizes = {}
    for case in result["cases"]:
        sizes.setdefault(case["n"], []).append(case)
    return sizes


def columns(result, cases):
    """The table of one size: headings, then rows of text."""
    ceiling = result["ceiling"].get("rate") or 0
    gpu = any("registers" in case for case in cases)
    published = any("published_milliseconds" in case for case in cases)
    head = ["rung", "row", "time", "spread", "over the first", "over its parent",
            f"{result.get('unit', 'units')}/s", "of the ceiling", "bytes/s"]
    head += ["registers", "shared memory", "occupancy"] if gpu else []
    head += ["published"] if published else []
    median = {case["rung"]: case["median"] for case in cases}
    rows = []
    for case in cases:
        parent = median.get(case.get("parent"))
        row = [case["rung"], case.get("row") or "ours", seconds(case["median"]),
               f"{100 * case.get('spread', 0):.1f} %", f"{cases[0]['median'] / case['median']:.3g}×",
               f"{parent / case['median']:.3g}×" if parent else "–",
               scaled(case.get("rate", 0)),
               f"{100 * case.get('rate', 0) / ceiling:.3g} %" if ceiling else "–",
               scaled(case.get("bytes_per_second", 0), "B")]
        if gpu:
            row += [str(case.get("registers", "–")), str(case.get("shared", "–")),
                    f"{100 * case['occupancy']:.0f} %" if "occupancy" in case else "–"]
        if published:
            given = case.get("published_milliseconds")
            row.append(f"{given:.4g} ms" if given else "–")
        rows.append(row)
    return head, rows


COUNTERS = {  # name in the results: heading, how it is shown
    "cores_busy": ("cores busy", "{:.3g}".format),
    "clock": ("cycles/s", scaled),
    "instructions_per_cycle": ("instructions/cycle", "{:.3g}".format),
    "instructions_per_unit": ("instructions/unit", "{:.3g}".format),
    "branches_missed": ("branches missed", "{:.2%}".format),
    "l1_misses_per_unit": ("L1 misses/unit", "{:.3g}".format),
    "last_level_misses_per_unit": ("last-level misses/unit", "{:.3g}".format),
    "page_faults": ("page faults", scaled),
    "context_switches": ("context switches", scaled),
}


def counter_columns(cases):
    """What a processor or profiler counted, as the table of one size; no rows where nothing is."""
    counted = [case.get("counters") if isinstance(case.get("counters"), dict) else {}
               for case in cases]
    known = [name for name in COUNTERS
             if any(isinstance(c.get(name), (int, float)) for c in counted)]
    rows = [[case["rung"]] + [COUNTERS[name][1](c[name]) if isinstance(c.get(name), (int, float))
                              else "–" for name in known] for case, c in zip(cases, counted)]
    return ["rung"] + [COUNTERS[name][0] for name in known], rows if known else []


def machine_line(result):
    machine = result["machine"]
    parts = [machine.get("gpu"), machine.get("processor"),
             f"{result.get('threads', '?')} threads", machine.get("isa"),
             f"compiler {result.get('compiler', '?')}",
             f"tilewright {result.get('version', '?')} ({result.get('commit', '?')})",
             result.get("date"), f"seed {result.get('seed', '?')}"]
    load = machine.get("load")
    if isinstance(load, (int, float)) and load > machine.get("processors", math.inf):
        parts.append(f"a busy machine (load {load:.1f}): figures are low")
    return ", ".join(str(part) for part in parts if part)


# -------------------------------------------------------------------------------------- plotting

INK = "#010203"  # replaced by the page's own colour


def picture(figure, salt):
    """An SVG to stand inside the page: its ink follows the page, its ids are its own."""
    import matplotlib

    matplotlib.rcParams["svg.hashsalt"] = salt
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, bbox_inches="tight",
                   metadata={"Date": None})
    text = out.getvalue()
    text = text[text.index("<svg"):]
    return text.replace(INK, "currentColor")


def plots(result):
    """[(title, svg)]: time by rung for each size; rate over sizes; where the time goes."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "text.color": INK, "axes.edgecolor": INK,
                         "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
                         "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    out = []
    name = result["place"]
    sizes = by_size(result)
    for n, cases in sizes.items():
        figure, axes = plt.subplots(figsize=(6.4, 0.6 + 0.28 * len(cases)))
        labels = [case["rung"] for case in cases]
        times = [case["median"] * 1e3 for case in cases]
        ours = ["#d95f02" if not case.get("row") else "#1b9e77" for case in cases]
        axes.barh(labels, times, color=ours)
        axes.invert_yaxis()
        if max(times) > 10 * min(times):
            axes.set_xscale("log")
        axes.set_xlabel("milliseconds, median")
        for place, value in enumerate(times):
            axes.annotate(f" {value:.3g}", (value, place), va="center", color=INK)
        out.append((f"Time, n = {n}", picture(figure, f"{name}-{n}")))
        plt.close(figure)
    if len(sizes) > 1:
        figure, axes = plt.subplots(figsize=(6.4, 3.6))
        rungs = list(dict.fromkeys(case["rung"] for case in result["cases"]))
        for rung in rungs:
            points = [(c["n"], c["rate"]) for c in result["cases"] if c["rung"] == rung]
            axes.plot(*zip(*sorted(points)), marker="o", markersize=3, label=rung)
        if result["ceiling"].get("rate"):
            axes.axhline(result["ceiling"]["rate"], color=INK, linestyle=":", label="ceiling")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(list(sizes), [str(n) for n in sizes])
        axes.minorticks_off()
        axes.set_xlabel(result.get("size", "n"))
        axes.set_ylabel(f"{result.get('unit', 'units')} a second")
        axes.legend(fontsize=8, frameon=False, ncol=3, loc="upper left",
                    bbox_to_anchor=(0, -0.18))
        out.append(("Rate over sizes", picture(figure, f"{name}-rate")))
        plt.close(figure)
    divided = [c for c in result["cases"] if len(c.get("parts", {})) > 1]
    if divided:
        figure, axes = plt.subplots(figsize=(6.4, 0.6 + 0.28 * len(divided)))
        labels = [f"{c['rung']}, {c['n']}" for c in divided]
        left = [0.0] * len(divided)
        for part in ("read", "upload", "compute", "download", "write"):
            values = [c["parts"].get(part, 0) * 1e3 for c in divided]
            axes.barh(labels, values, left=left, label=part)
            left = [a + b for a, b in zip(left, values)]
        axes.invert_yaxis()
        axes.set_xlabel("milliseconds")
        axes.legend(fontsize=7, frameon=False, ncol=5, loc="lower left", bbox_to_anchor=(0, 1))
        out.append(("Where the time goes", picture(figure, f"{name}-parts")))
        plt.close(figure)
    return out


# ---------------------------------------------------------------------------------------- report

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 60rem; }
h1 { line-height: 1.15; } section { margin-top: 2.5rem; border-top: 1px solid var(--line); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; }
td, th { padding: .2rem .6rem; text-align: right; white-space: nowrap; }
td:nth-child(-n+2), th:nth-child(-n+2) { text-align: left; }
tbody tr:nth-child(odd) { background: var(--soft); } small, figcaption { opacity: .75; }
figure { margin: 1rem 0; overflow-x: auto; } svg { max-width: 100%; height: auto; }
dt { font-weight: 600; } dd { margin: 0 0 .3rem 1rem; }
"""


def html_table(head, rows):
    cells = "".join(f"<th>{html.escape(h)}</th>" for h in head)
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>\n"
                    for row in rows)
    return (f'<div class="wide"><table><thead><tr>{cells}</tr></thead>\n<tbody>\n{lines}'
            "</tbody></table></div>\n")


def html_section(result):
    parts = [f'<section id="{html.escape(result["place"])}">\n'
             f"<h2>{html.escape(result.get('title', result['ladder']))}</h2>\n"
             f"<p><small>{html.escape(machine_line(result))}</small></p>\n"]
    for n, cases in by_size(result).items():
        parts.append(f"<h3>n = {n} {html.escape(str(result.get('size', '')))}</h3>\n")
        parts.append(html_table(*columns(result, cases)))
        head, rows = counter_columns(cases)
        parts.append(html_table(head, rows) if rows else "")
    for title, svg in plots(result):
        parts.append(f"<figure>{svg}<figcaption>{html.escape(title)}</figcaption></figure>\n")
    ideas = dict((case["rung"], case.get("idea") or "") for case in result["cases"])
    parts.append("<dl>" + "".join(f"<dt>{html.escape(r)}</dt><dd>{html.escape(i)}</dd>"
                                  for r, i in ideas.items()) + "</dl>\n")
    if result.get("published_on"):
        parts.append(f"<p><small>Published: {html.escape(result['published_on'])}.</small></p>\n")
    parts.append("</section>\n")
    return "".join(parts)


def markdown(results):
    lines = ["# Laboratory report", ""]
    for result in results:
        lines += [f"## {result.get('title', result['ladder'])}", "", machine_line(result), ""]
        for n, cases in by_size(result).items():
            head, rows = columns(result, cases)
            lines += [f"n = {n} {result.get('size', '')}", "", "| " + " | ".join(head) + " |",
                      "|" + "---|" * len(head)]
            lines += ["| " + " | ".join(row) + " |" for row in rows] + [""]
            head, rows = counter_columns(cases)
            if rows:
                lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
                lines += ["| " + " | ".join(row) + " |" for row in rows] + [""]
    return "\n".join(lines)


def find_matplotlib():
    """Whether it can be imported. The system's Python may have it where a user's own has not: then
    this script starts anew under that one."""
    system = "/usr/bin/python3"
    if importlib.util.find_spec("matplotlib") is not None:
        return True
    asked = [system, "-c", "import matplotlib"]
    if (os.path.exists(system) and not os.path.samefile(system, sys.executable)
            and subprocess.run(asked, stderr=subprocess.DEVNULL, check=False).returncode == 0):
        os.execv(system, [system, *sys.argv])
    return False


def report(folder):
    results, damaged = read_results(folder)
    results = [result for result in results if result["cases"]]
    seen = {}
    for result in results:  # the same ladder may come from several machines
        seen[result["ladder"]] = seen.get(result["ladder"], 0) + 1
        count = seen[result["ladder"]]
        result["place"] = result["ladder"] + (f"-{count}" if count > 1 else "")
    if not find_matplotlib():
        complain("Matplotlib is missing: install python3-matplotlib, or pip install matplotlib")
        return 2
    links = " · ".join(f'<a href="#{html.escape(r["place"])}">{html.escape(r["place"])}</a>'
                       for r in results)
    page = ('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>tilewright-lab</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
            "<h1>From naive to the limit</h1>\n"
            "<p>Every rung was checked against the right answer before it was timed. Green rungs "
            f"come from the write-ups, orange ones are ours.</p>\n<p>{links}</p>\n"
            + "".join(html_section(result) for result in results) + "</body>\n</html>\n")
    folder = pathlib.Path(folder)
    folder = folder if folder.is_dir() else folder.parent
    for name, text in (("report.html", page), ("report.md", markdown(results))):
        beside = folder / (name + ".new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(folder / name)
        print(folder / name)
    return 1 if damaged else 0


# --------------------------------------------------------------------------------------- compare


def compare(before, after):
    old, damaged_old = read_results(before)
    new, damaged_new = read_results(after)
    times = {(r["ladder"], c["n"], c["rung"]): c for r in old for c in r["cases"]}
    slower = changed = common = 0
    for result in new:
        for case in result["cases"]:
            was = times.get((result["ladder"], case["n"], case["rung"]))
            if was is None:
                continue
            common += 1
            ratio = case["median"] / was["median"]
            apart = (min(case["seconds"]) > max(was["seconds"])
                     or max(case["seconds"]) < min(was["seconds"]))
            if not apart or abs(ratio - 1) <= CHANGE:
                continue
            changed += 1
            slower += ratio > 1
            print(f"{result['ladder']:20} n={case['n']:<8} {case['rung']:22} "
                  f"{seconds(was['median']):>9} -> {seconds(case['median']):>9}  "
                  f"{'slower' if ratio > 1 else 'faster'} "
                  f"{ratio if ratio > 1 else 1 / ratio:.3g}×")
    print(f"{common} cases in both, {changed} changed beyond noise, {slower} of them slower")
    if common == 0:
        complain("the two have no case in common")
        return 2
    return 1 if slower or damaged_old or damaged_new else 0


def main(words):
    if len(words) == 2 and words[0] == "report":
        return report(words[1])
    if len(words) == 3 and words[0] == "compare":
        return compare(words[1], words[2])
    complain("usage: pages.py report FOLDER | compare BEFORE AFTER")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
