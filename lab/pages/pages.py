#!/usr/bin/env python3
"""The report page and the comparison of laboratory results; `tilewright-lab` starts it.

report PAGES PLOTS FOLDER...
                     reads the *.json of each FOLDER, writes report.html and report.md into the
                     folder PAGES ("": the first FOLDER) and, unless PLOTS is "", every plot as a
                     file of its own into that one
compare BEFORE AFTER tells which cases changed beyond noise

Exit status: 0 success; 1 something became slower; 2 error; 3 success, but files that are damaged or of
another version were left out.
"""
import html
import importlib.util
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

FORMAT = "tilewright-lab 1"
WITHOUT = 3  # exit status: done, but some files were left out
DRIFT = 0.01  # two runs of the same program differ by this much without any noise inside either

UNSTEADY = 0.2  # a spread beyond which a figure is marked
MARK = "⚠"

# The order of the page is that of the tour: by these beginnings of their names, then by name.
ORDER = ["apsp-cpu", "apsp-threads", "apsp-sweep", "apsp-hops", "apsp-gpu", "apsp-hip", "apsp-files", "apsp-scatter",
         "apsp-multi", "apsp-devices", "entropy-cpu", "entropy-threads", "entropy-windows",
         "entropy-gpu", "entropy-multi", "entropy-devices", "map-cpu", "map-threads", "map-gpu"]

WRITE_UPS = {
    "A": "“Parallel Programming – Hw3 Report”: shortest paths on a CPU, one GPU and two",
    "B": "“Parallel Programming, Homework 3: All-Pairs Shortest Path”: the same, with an AMD card",
    "C": "“全源最短路大作业 实验报告” (all-pairs shortest paths, lab report): one GPU",
    "D": "“使用 CUDA 优化二维信息熵求解” (optimising local entropy with CUDA)",
    "E": "“Nvidia Assignment01: 解题思路与优化过程” (approach and optimisation): one expression"}

GLOSSARY = {
    "rung": "one way to solve the ladder's problem, with one idea more than its parent",
    "ladder": "the rungs of one problem, from the plainest to the library's own",
    "relaxation": "one d = min(d, a + b); a closure of n vertices has n³ of them",
    "ceiling": "what this machine can do at best, measured in the same run: the same arithmetic in "
               "registers alone, a copy, or the link between host and card",
    "spread": "slowest less fastest repetition, by the median; “once” where there was one only, which says "
              "nothing of that",
    "bytes/s": "as if every element were read once and written once",
    "registers, shared memory": "of a thread, and bytes of a block: what limits how many fit",
    "local memory": "bytes that a thread has in memory: arrays it indexes, and registers spilled",
    "warp": "32 threads of an NVIDIA card that go in step (a wave of 64 on AMD's); memory serves them together",
    "tile": "a square block of the matrix that is worked on as one, small enough for a cache, for shared memory or for "
            "the registers of a block of threads",
    "pinned": "of memory of the host: its pages stay in place, so that the card copies from it and to it without the "
              "processor's help",
    "spill": "a value that a thread has no register left for lies in local memory, and is fetched anew for each use",
    "occupancy": "warps that fit on a processor of the card, of those it has places for",
    "bank conflict": "threads of a warp that want different rows of one of the 32 banks of shared "
                     "memory take turns",
    "local loads": "loads of a thread's local memory"}

# Whose figures "published" are, for results that do not say it themselves.
AUTHORS = {"A": "a card of the GTX 1080 class (row A)", "B": "a GTX 1080 or an MI210 (row B)",
           "C": "the card of row C's authors", "D": "one V100, or 28 cores, of row D's authors",
           "E": "the card of row E's author"}


class Damaged(Exception):
    """A file that is no result; says what is wrong with it."""


BUILT = ("version", "commit", "date")  # of a file, and of a case that another build measured
LONGEST_FILE, LONGEST_TEXT, LONGEST_NAME = 16 << 20, 4000, 60  # bytes and characters


def plain(text):
    """Text of a file as one line without control characters: it may come from anybody."""
    return "".join(c if c.isprintable() else "\ufffd" for c in str(text))


def short(text):
    if len(text) > LONGEST_TEXT:
        raise Damaged(f"a text has {len(text)} characters; the maximum is {LONGEST_TEXT}")
    return text


def all_plain(value):
    if isinstance(value, dict):
        return {plain(short(key)): all_plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [all_plain(each) for each in value]
    return plain(short(value)) if isinstance(value, str) else value


def complain(text):
    print(f"tilewright-lab: {plain(text)}", file=sys.stderr)


# ------------------------------------------------------------------------------------- reading


def is_number(value):
    """A number that nothing here overflows with."""
    return (isinstance(value, (int, float)) and not isinstance(value, bool)
            and -1e30 < value < 1e30)


def is_time(value):
    return is_number(value) and value > 1e-12


def check_rung(case):
    if not isinstance(case, dict):
        raise Damaged("a case is not an object")
    for key, kind in (("rung", str), ("n", int)):
        if not isinstance(case.get(key), kind):
            raise Damaged(f"a case has no {key}")
    if len(case["rung"]) > LONGEST_NAME:
        raise Damaged(f"a rung has a name of {len(case['rung'])} characters")
    if not 0 < case["n"] < 10**9:
        raise Damaged(f"{case['rung']} has an invalid size")
    for key in ("parent", "row", "idea", "against", "flaw", "outcome", "why", *BUILT):
        if not isinstance(case.get(key), (str, type(None))):
            raise Damaged(f"{case['rung']} has a {key} that is not text")


def check_case(case):
    check_rung(case)
    times = case.get("seconds")
    if not isinstance(times, list):
        raise Damaged("a case has no seconds")
    if not times or not all(map(is_time, times)):
        raise Damaged(f"{case['rung']} has invalid times")
    if not is_time(case.get("median")):
        raise Damaged(f"{case['rung']} has an invalid median")
    case["spread"] = spread_of(case)
    for key in ("rate", "bytes_per_second", "occupancy"):
        if not is_number(case.setdefault(key, 0)) or case[key] < 0:
            raise Damaged(f"{case['rung']} has an invalid {key}")
    parts = case.setdefault("parts", {})
    if not isinstance(parts, dict) or not all(is_number(t) and t >= 0 for t in parts.values()):
        raise Damaged(f"{case['rung']} has invalid parts")
    each = case.setdefault("parts_of_each", {})
    if not isinstance(each, dict) or not all(isinstance(some, list) and all(map(is_number, some)) for some in each.values()):
        raise Damaged(f"{case['rung']} has invalid parts of its repetitions")
    load = case.get("load")
    if load is not None and not is_number(load):
        raise Damaged(f"{case['rung']} has an invalid load")
    published = case.get("published_milliseconds")
    if published is not None and not is_time(published):
        raise Damaged(f"{case['rung']} has an invalid published time")


def check_format(result):
    written = result.get("format") if isinstance(result, dict) else None
    if written == FORMAT:
        return
    if isinstance(written, str) and written.startswith("tilewright-lab "):
        raise Damaged(f'its format is "{written}", but this version reads "{FORMAT}"; use the '
                      "version that wrote it, or measure again")
    raise Damaged(f'it does not say "format": "{FORMAT}"')


def read_result(path):
    try:
        if not path.is_file() or path.stat().st_size > LONGEST_FILE:
            raise Damaged("not a file" if not path.is_file() else
                          f"larger than {LONGEST_FILE >> 20} MiB")
        result = all_plain(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise Damaged(error.strerror) from error
    except UnicodeDecodeError as error:
        raise Damaged(f"not UTF-8 at byte {error.start}") from error
    except (ValueError, RecursionError) as error:
        raise Damaged(f"not JSON: {error}") from error
    check_format(result)
    if not isinstance(result.get("cases"), list) or not isinstance(result.get("ladder"), str):
        raise Damaged("it has no ladder or no cases")
    if not isinstance(result.setdefault("failed", []), list):
        raise Damaged("its rungs without a time are not a list")
    if not re.fullmatch(r"[a-z0-9-]{1,60}", result["ladder"]):
        raise Damaged("its ladder has no name")
    for key in ("machine", "ceiling"):
        if not isinstance(result.setdefault(key, {}), dict):
            raise Damaged(f"its {key} is not an object")
    if not all(is_number(value) for key, value in result["ceiling"].items() if key != "of"):
        raise Damaged("its ceiling is not a number")
    if not is_number(result["machine"].get("processors", 1)):
        raise Damaged("its machine has an invalid number of processors")
    for case in result["cases"]:
        check_case(case)
    for case in result["failed"]:
        check_rung(case)
    result["cases"] = join_counted(result["cases"])
    return result


def join_counted(cases):
    """One case of each rung and size: what was counted in a run of its own joins the times of the
    run without counters."""
    joined = {}
    for case in cases:
        plain = joined.setdefault((case["n"], case["rung"]), case)
        if plain is not case and "counters" in case and "counters" not in plain:
            plain["counters"] = case["counters"]
            plain["counted"] = {key: case.get(key) for key in BUILT}
    return list(joined.values())


def build_of(case):
    """The build of a case that is not the file's, as text; "": the file's."""
    if not case.get("version") and not case.get("commit"):
        return ""
    date = f", {case['date']}" if case.get("date") else ""
    return f"tilewright {case.get('version') or '?'} ({case.get('commit') or '?'}){date}"


def other_builds(result):
    """{build: the cases that it measured, in words}, of those that are not the file's."""
    found = {}
    for case in result["cases"] + result["failed"]:
        named = f"{case['rung']}, n = {case['n']}"
        if build_of(case):
            found.setdefault(build_of(case), []).append(named)
        counted = build_of(case.get("counted", {}))
        if counted and counted != build_of(case):
            found.setdefault(counted, []).append(f"the counters of {named}")
    return found


def read_results(place):
    """Every result of a folder, or of one file: (results, how many files were damaged)."""
    place = pathlib.Path(place)
    paths = sorted(place.glob("*.json")) if place.is_dir() else [place]
    results, damaged = [], 0
    for path in paths:
        try:
            results.append(read_result(path) | {"path": path})
        except Damaged as why:
            complain(f"{path} skipped: {why}")
            damaged += 1
    for result in results:
        if not result["cases"] and result["failed"]:
            complain(f"{place}: no rung of {result['ladder']} has a time: "
                     f"{result['failed'][0].get('why')}")
    if not any(result["cases"] for result in results):
        complain(f"{place}: no results here; create some with 'tilewright-lab run --out {place}'")
        sys.exit(2)
    return [result for result in results if result["cases"]], damaged


# -------------------------------------------------------------------------------------- tables


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


def share(part, whole):
    return f"{100 * part / whole:.3g} %" if whole else NOTHING


def times(before, now):
    return f"{before / now:.3g}×" if before else NOTHING


NOTHING = "–"
ONCE = "once"  # instead of a spread
PARTS = ("read", "upload", "compute", "download", "write")


def by_size(result):
    sizes = {}
    for case in result["cases"]:
        sizes.setdefault(case["n"], []).append(case)
    return sizes


def sound(cases):
    """Those whose answer is right: a flawed rung is timed, but compared with nothing."""
    return [case for case in cases if not case.get("flaw")]


def first_of(cases):
    """The rung that the others of a size are compared with."""
    return (sound(cases) or cases)[0]


def failed_at(result, n):
    return [case for case in result["failed"] if case["n"] == n]


def failed_row(case):
    """A rung without a time, as {heading: text}."""
    return {"rung": case["rung"], "n": str(case["n"]), "row": case.get("row") or "ours",
            "time": "WRONG" if case.get("outcome") == "wrong" else "skipped"}


def spread_of(case, part=None):
    """How far the repetitions of a case lie apart, or one part of them; 0 where nobody can tell."""
    each, middle = case["seconds"], case["median"]
    if part is not None:
        each, middle = case.get("parts_of_each", {}).get(part) or [0], case["parts"].get(part)
    return (max(each) - min(each)) / middle if middle else 0.0


def mark_of(*cases, part=None):
    """What stands beside a figure of cases one of which is unsteady."""
    return f" {MARK}" if any(spread_of(case, part) > UNSTEADY for case in cases) else ""


def gain(before, now):
    """How many times faster a case is than another, marked if either of them is unsteady."""
    if before is None:
        return NOTHING
    return times(before["median"], now["median"]) + ("" if before is now else mark_of(before, now))


def row_of(result, case, cases):
    """One case as {heading: text}, beside the other cases of its size."""
    by_name = {other["rung"]: other for other in sound(cases)}
    given = case.get("published_milliseconds")
    first = next((c for c in sound(cases) if c.get("published_milliseconds")), None)
    row = {"rung": case["rung"], "n": str(case["n"]), "row": case.get("row") or "ours",
           "time": seconds(case["median"]) + mark_of(case),
           "spread": f"{100 * case['spread']:.1f} %" if len(case["seconds"]) > 1 else ONCE,
           "over the first": "WRONG"}
    if not case.get("flaw"):
        row |= {"over the first": gain(first_of(cases), case),
                "over its parent": gain(by_name.get(case.get("parent")), case),
                f"{result.get('unit', 'units')}/s": scaled(case["rate"]),
                "of the ceiling": share(case["rate"], result["ceiling"].get("rate") or 0),
                "bytes/s": scaled(case["bytes_per_second"], "B")}
    if given:
        row["published"] = f"{given:.4g} ms"
        if first and not case.get("flaw"):
            row["theirs over the first"] = times(first["published_milliseconds"], given)
    return row


HEADINGS = ["rung", "n", "row", "time", "spread", "over the first", "over its parent",
            "published", "theirs over the first", "/s", "of the ceiling", "bytes/s"]


def inside_of(case):
    """Where the time of a case goes and what its kernel takes, as {heading: text}: a table of its
    own, so that both fit a page."""
    row = {"rung": case["rung"], "n": str(case["n"])}
    for part in PARTS if len(case["parts"]) > 1 else ():
        row[part] = seconds(case["parts"][part]) + mark_of(case, part=part) if case["parts"].get(part) else NOTHING
    if "registers" in case:
        row["registers"] = str(case["registers"])
        row["shared memory"] = str(case.get("shared", NOTHING))
        row["local memory"] = str(case.get("local", case.get("spilled")) or NOTHING)  # as 0.2.0 called it
        row["occupancy"] = f"{100 * case['occupancy']:.0f} %"
    return row


def inside(cases, names):
    """Headings and rows of inside_of, by these names; no rows where nothing is known."""
    rows = [row for row in map(inside_of, cases) if len(row) > 2]
    head = [heading for heading in (*names, *PARTS, "registers", "shared memory", "local memory",
                                    "occupancy")
            if any(row.get(heading, NOTHING) != NOTHING for row in rows)]
    return head, [[row.get(heading, NOTHING) for heading in head] for row in rows]


def name_first(head, firsts):
    """Say in the headings which rung is the first, where it is the same one in all rows."""
    for place, heading in enumerate(head):
        names = firsts.get(heading, set())
        if len(names) == 1:
            head[place] = heading.replace("the first", next(iter(names)))


def fill(rows, without, firsts):
    """Headings and rows of text: no column in which nothing stands."""
    present = list(dict.fromkeys(heading for row in rows for heading in row))
    rank = {heading: place for place, heading in enumerate(HEADINGS)}
    present.sort(key=lambda heading: rank.get(heading, rank["/s"]))
    kept = [heading for heading in present if heading not in without
            and any(row.get(heading, NOTHING) != NOTHING for row in rows)]
    texts = [[row.get(heading, NOTHING) for heading in kept] for row in rows]
    name_first(kept, firsts)
    return kept, texts


def firsts_of(sizes):
    """{heading: the rungs that its figures are compared with}, of these sizes."""
    published = [next((c["rung"] for c in sound(cases) if c.get("published_milliseconds")), None)
                 for cases in sizes]
    return {"over the first": {first_of(cases)["rung"] for cases in sizes},
            "theirs over the first": {rung for rung in published if rung}}


def tables(result):
    """[(caption, headings, rows)]: a table for each size, or one of all where a size has few; then
    what was counted while they ran."""
    sizes = by_size(result)
    rungs = {case["rung"] for case in result["cases"]}
    unit = str(result.get("size", ""))
    if len(rungs) < max(4, len(sizes)) and len(sizes) > 1:
        rows = [row for n, cases in sizes.items()
                for row in [row_of(result, case, cases) for case in cases]
                + list(map(failed_row, failed_at(result, n)))]
        out = [(f"All sizes, n in {unit}", *fill(rows, (), firsts_of(sizes.values())))]
        within = [(f"All sizes, n in {unit}: inside", *inside(result["cases"], ("rung", "n")))]
    else:
        out = [(f"n = {n} {unit}{of}", *fill([row_of(result, case, cases) for case in some]
                                             + list(map(failed_row, failed)),
                                             ("n",), firsts_of([cases])))
               for n, cases in sizes.items()
               for of, some, failed in by_write_up(cases, failed_at(result, n))]
        within = [(f"n = {n} {unit}: inside", *inside(cases, ("rung",)))
                  for n, cases in sizes.items()]
    counted = [(f"n = {n} {unit}: what was counted", head, rows)
               for n, cases in sizes.items() for head, rows in counter_tables(cases)]
    return out + [table for table in within + counted if table[2]]


LONG = 12  # rungs of a table that is divided


def by_write_up(cases, failed):
    """[(words for the caption, cases, failed)]: a long ladder divided by the write-ups that its
    rungs are of, in the order in which they begin; ours last."""
    def letter(case):
        return str(case.get("row") or "")[:1]

    letters = list(dict.fromkeys(map(letter, cases + failed)))
    if len(cases) + len(failed) <= LONG or len(letters) < 2:
        return [("", cases, failed)]
    letters.sort(key=lambda each: each == "")
    return [(f"; rows {each} of the write-ups" if each else "; ours",
             [case for case in cases if letter(case) == each],
             [case for case in failed if letter(case) == each]) for each in letters]


def percent(value):
    return share(value, 1)


def percent_of_some(value):
    """A share that is never zero in truth: zero is what a profiler makes of none at all."""
    return percent(value) if value else NOTHING


COUNTERS = {  # name in the results: heading, how it is shown
    "cores_busy": ("cores busy", "{:.3g}".format),
    "clock": ("cycles/s", scaled),
    "instructions_per_cycle": ("instructions/cycle", "{:.3g}".format),
    "instructions_per_unit": ("instructions/unit", "{:.3g}".format),
    "branches_missed": ("branches missed", percent),
    "l1_misses_per_unit": ("L1 misses/unit", "{:.3g}".format),
    "last_level_misses_per_unit": ("last-level misses/unit", "{:.3g}".format),
    "page_faults": ("page faults", scaled),
    "context_switches": ("context switches", scaled),
    "integer_operations_per_second": ("integer operations/s", scaled),
    "sm_active": ("SMs active", percent),
    "warps_active": ("warps active", percent),
    "branches_uniform": ("branches uniform", percent_of_some),
    "threads_per_instruction": ("threads/instruction", "{:.3g}".format),
    "shared_efficiency": ("shared memory useful", percent_of_some),
    "bank_conflicts": ("bank conflicts", percent),
    "bank_conflict_count": ("bank conflicts, in all", scaled),
    "shared_accesses_per_second": ("shared accesses/s", scaled),
    "load_bytes_per_second": ("loads/s", lambda value: scaled(value, "B")),
    "l2_read_bytes_per_second": ("from L2/s", lambda value: scaled(value, "B")),
    "store_bytes_per_second": ("stores/s", lambda value: scaled(value, "B")),
    "local_load_bytes_per_second": ("local loads/s", lambda value: scaled(value, "B")),
    "dram_read_bytes_per_second": ("DRAM read/s", lambda value: scaled(value, "B")),
    "dram_write_bytes_per_second": ("DRAM written/s", lambda value: scaled(value, "B")),
    "kernel": ("longest kernel", str),
}


def counter_columns(cases):
    """What a processor or profiler counted, as the table of one size; no rows where nothing is."""
    counted, named = [], []
    for case in cases:
        counters = case.get("counters") if isinstance(case.get("counters"), dict) else {}
        counted.append(counters)
        named.append(case["rung"])
        if counters.get("of_kernel") and isinstance(counters["of_kernel"], dict):  # what a mean over all kernels may hide
            counted.append(counters["of_kernel"])
            named.append(f"{case['rung']}: longest kernel")

    def is_known(counters, name):
        value = counters.get(name)
        return isinstance(value, str) if name == "kernel" else is_number(value)

    known = [name for name in COUNTERS if any(is_known(c, name) for c in counted)]
    rows = [[who] + [COUNTERS[name][1](c[name]) if is_known(c, name) else NOTHING
                       for name in known] for who, c in zip(named, counted)]
    return ["rung"] + [COUNTERS[name][0] for name in known], rows if known else []


COLUMNS = 8  # of counters in one table


def counter_tables(cases):
    """The same in tables that fit a page."""
    head, rows = counter_columns(cases)
    for first in range(1, len(head), COLUMNS):
        end = first + COLUMNS
        yield head[:1] + head[first:end], [row[:1] + row[first:end] for row in rows]


def machine_name(result):
    machine = result["machine"]
    processor = re.sub(r"\(R\)|\(TM\)| Processor", "", str(machine.get("processor", "?")))
    return str(machine.get("gpu") or f"{processor}, {result.get('threads', '?')} threads")


def glance(results):
    """The table of contents: what the whole ladder gained, at the largest of the sizes that most of its
    rungs were run at; a size of the write-ups may have some of them only. A time whose repetitions spread
    far is marked as in its table, and so is what is compared with it."""
    head = ["ladder", "gain", "first rung", "fastest rung", "n", "machine", "problem"]
    rows = []
    for result in results:
        sizes = by_size(result)
        most = max(len(cases) for cases in sizes.values())
        n = max(size for size, cases in sizes.items() if len(cases) == most)
        cases = sound(sizes[n]) or sizes[n]
        best = min(cases, key=lambda case: case["median"])
        first = cases[0]
        rows.append([result["place"],
                     NOTHING if best is first else times(first["median"], best["median"]) + mark_of(first, best),
                     f"{first['rung']}, {seconds(first['median'])}{mark_of(first)}",
                     f"{best['rung']}, {seconds(best['median'])}{mark_of(best)}", str(n), machine_name(result),
                     str(result.get("title", ""))])
    return head, rows


def machine_line(result):
    machine = result["machine"]
    compiler = str(result.get("compiler", "?"))
    parts = [machine.get("gpu"), machine.get("gpu_driver") and f"driver {machine['gpu_driver']}",
             machine.get("gpu_runtime") and f"runtime {machine['gpu_runtime']}",
             machine.get("gpu_compiler"), machine.get("processor"),
             f"{result.get('threads', '?')} threads", machine.get("isa"),
             compiler if " " in compiler else f"compiler {compiler}",
             f"tilewright {result.get('version', '?')} ({result.get('commit', '?')})",
             result.get("date"), f"seed {result.get('seed', '?')}"]
    loads = [load for load in (machine.get("load"), *(case.get("load") for case in result["cases"]))
             if is_number(load) and load >= 0]
    if loads:
        low, high = f"{min(loads):.1f}", f"{max(loads):.1f}"
        busy = max(loads) > machine.get("processors", math.inf)
        parts.append(f"load {low}" + (f" to {high}" if high != low else "")
                     + (": a busy machine, figures are low" if busy else ""))
    return ", ".join(str(part) for part in parts if part)


def notes(result):
    """What is to be known of the figures, as sentences."""
    lines = []
    if isinstance(result.get("against"), str):
        lines.append(f"Checked against {result['against']}.")
    apart = {case["rung"]: case["against"] for case in result["cases"] if case.get("against")}
    lines += [f"Except {rung}: against {against}." for rung, against in apart.items()]
    flaws = {case["rung"]: case["flaw"] for case in result["cases"] if case.get("flaw")}
    lines += [f"The answer of {rung} is wrong: {flaw}." for rung, flaw in flaws.items()]
    if result["ceiling"].get("of") and result["ceiling"].get("rate"):
        lines.append(f"The ceiling is {scaled(result['ceiling']['rate'])} "
                     f"{result.get('unit', 'units')}/s: {result['ceiling']['of']}.")
    if published_line(result):
        lines.append(published_line(result))
    lines += [f"By another build, {build}: {'; '.join(cases)}."
              for build, cases in other_builds(result).items()]
    lines += [f"{case['rung']}, n = {case['n']}: {case.get('why') or 'no reason is known'}."
              for case in result["failed"]]
    return lines


def published_line(result):
    """Where the authors' figures were taken; "" if there are none."""
    rows = [case.get("row") for case in result["cases"] if case.get("published_milliseconds")]
    if not rows:
        return ""
    place = result.get("published_on") or AUTHORS.get(str(rows[0])[:1], "its authors' machine")
    return f"Published figures: on {place}."


# ---------------------------------------------------------------------------------------- report

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --paper: Canvas; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 72rem;
       overflow-wrap: break-word; }
h1, h2 { line-height: 1.15; } h3 { margin: 1.4rem 0 .4rem; font-size: 1rem; }
section { margin-top: 2.5rem; border-top: 1px solid var(--line); }
small { opacity: .75; } .up { float: right; font-size: .85rem; margin: 1.4rem 0 0 1rem; }
.wide { overflow-x: auto; background:
       linear-gradient(90deg, var(--paper) 30%, transparent) left / 2rem 100% no-repeat local,
       linear-gradient(270deg, var(--paper) 30%, transparent) right / 2rem 100% no-repeat local,
       linear-gradient(90deg, #8886, transparent) left / .7rem 100% no-repeat scroll,
       linear-gradient(270deg, #8886, transparent) right / .7rem 100% no-repeat scroll; }
@media (max-width: 40rem) { .wide::after { content: "wide tables scroll sideways →";
       display: block; position: sticky; left: 0; font-size: .7rem; opacity: .7; } } table { border-collapse: collapse; font-size: .85rem; }
td, th { padding: .2rem .4rem; text-align: right; white-space: nowrap; }
thead th { white-space: normal; vertical-align: bottom; border-bottom: 1px solid var(--line); }
thead th span { white-space: nowrap; }
td:first-child, th:first-child { text-align: left; position: sticky; left: 0;
       background: var(--paper); }
tbody tr:nth-child(odd) td { background: color-mix(in srgb, CanvasText 6%, Canvas); }
.words td, .words th { text-align: left; }
@media (min-width: 60rem) { .words td:last-child { white-space: normal; } }
.plots { display: grid; gap: 1rem 2rem; align-items: start;
       grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
figure { margin: 1rem 0 0; } svg { display: block; max-width: 100%; height: auto; }
figcaption { font-size: .85rem; font-weight: 600; margin-bottom: .3rem; }
details { margin: 1rem 0; } summary { cursor: pointer; }
dt { font-weight: 600; } dd { margin: 0 0 .3rem 1rem; }
@media (min-width: 60rem) { details dl, .terms { columns: 2; } dt { break-after: avoid; }
       dd { break-inside: avoid; } }
"""


def html_heading(text):
    """May be broken before a word after a slash, but not within the name of a rung."""
    text = re.sub(r"/(?=\w\w)", "/<wbr>", html.escape(text))
    return "<th>" + re.sub(r"[^\s<>]*-[^\s<>]*", r"<span>\g<0></span>", text) + "</th>"


def html_table(head, rows, links=False, kind=""):
    def cell(place, text):
        text = html.escape(text)
        return f'<a href="#{text}">{text}</a>' if links and place == 0 else text

    cells = "".join(map(html_heading, head))
    lines = "".join("<tr>" + "".join(f"<td>{cell(i, c)}</td>" for i, c in enumerate(row))
                    + "</tr>\n" for row in rows)
    return (f'<div class="wide"><table class="{kind}"><thead><tr>{cells}</tr></thead>\n<tbody>\n'
            f"{lines}</tbody></table></div>\n")


def idea_of(case):
    parent = f" (from {case['parent']})" if case.get("parent") else ""
    return f"{case.get('idea') or ''}{parent}"


def html_section(result, drawn):
    parts = [f'<section id="{html.escape(result["place"])}">\n<a class="up" href="#top">contents'
             f"</a>\n<h2>{html.escape(str(result.get('title', result['ladder'])))}</h2>\n"
             f"<p><small>{html.escape(machine_line(result))}</small></p>\n"]
    ideas = {case["rung"]: idea_of(case) for case in result["cases"] + result["failed"]}
    parts.append("<details open><summary>What each rung changes</summary><dl>"
                 + "".join(f"<dt>{html.escape(r)}</dt><dd>{html.escape(i)}</dd>"
                           for r, i in ideas.items()) + "</dl></details>\n")
    for caption, head, rows in tables(result):
        parts.append(f"<h3>{html.escape(caption)}</h3>\n" + html_table(head, rows))
    if notes(result):
        parts.append("<p><small>" + "<br>\n".join(map(html.escape, notes(result)))
                     + "</small></p>\n")
    parts.append('<div class="plots">\n')
    for _, caption, svg in drawn:
        parts.append(f"<figure><figcaption>{html.escape(caption)}</figcaption>{svg}</figure>\n")
    parts.append("</div>\n</section>\n")
    return "".join(parts)


LEGEND = ("Every rung was checked before it was timed; what against stands below its table. A rung "
          "that fails its check has no time; one whose idea cannot give the right answer is marked "
          "WRONG, and its time is compared with none. Rows A to E are "
          "those of the write-ups; \u201cours\u201d is this project's. " + MARK + " marks a time whose "
          "repetitions spread by more than 20 % of it, a part of one, and a speed-up with such a time in it. A ceiling is of 32-bit arithmetic, or of a copy: narrower "
          "numbers, and passes that need not leave the registers, may exceed it.")


def html_terms(title, terms):
    return (f"<h3>{title}</h3>\n<dl class=\"terms\">"
            + "".join(f"<dt>{html.escape(term)}</dt><dd>{html.escape(text)}</dd>"
                      for term, text in terms.items()) + "</dl>\n")


def page_of(results, drawn, marks="", rules=""):
    """`drawn` has the plots of each result; `marks` and `rules` are what they share."""
    return ('<!doctype html>\n<html lang="en" id="top">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>tilewright-lab</title>\n<style>{STYLE}{rules}\n</style>\n</head>\n<body>\n{marks}"
            f"<h1>From naive to the limit</h1>\n<p>{LEGEND} In the plots rungs of the write-ups are "
            "green, ours orange.</p>\n<nav>\n"
            + html_table(*glance(results), links=True, kind="words") + "</nav>\n"
            + html_terms("The write-ups", WRITE_UPS) + html_terms("Words", GLOSSARY)
            + "".join(html_section(result, drawn[result["place"]]) for result in results)
            + "</body>\n</html>\n")


def markdown_text(text):
    """Text of a file as text: no tag, link, picture or emphasis of its own."""
    return re.sub(r"[\\`*\[\]<>|]|(?<!\w)_|_(?!\w)", r"\\\g<0>", str(text))


def markdown_table(head, rows):
    def line(cells):
        return "| " + " | ".join(map(markdown_text, cells)) + " |"

    return [line(head), "|" + "---|" * len(head), *map(line, rows), ""]


def markdown(results):
    lines = ["# From naive to the limit", "", LEGEND, "", *markdown_table(*glance(results))]
    for terms in (WRITE_UPS, GLOSSARY):
        lines += [f"- {term}: {text}" for term, text in terms.items()] + [""]
    for result in results:
        lines += [f"## {markdown_text(result.get('title', result['ladder']))}", "",
                  markdown_text(machine_line(result)), ""]
        for caption, head, rows in tables(result):
            lines += [markdown_text(caption), "", *markdown_table(head, rows)]
        for line in notes(result):
            lines += [markdown_text(line), ""]
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


def place_on_page(result):
    ladder = result["ladder"]
    found = [at for at, begin in enumerate(ORDER)
             if ladder == begin or ladder.startswith(begin + "-")]
    return (found[0] if found else len(ORDER), ladder)


def name_places(results):
    """A name for each result on the page: the same ladder may come from several machines."""
    seen = {}
    for result in results:
        seen[result["ladder"]] = seen.get(result["ladder"], 0) + 1
        count = seen[result["ladder"]]
        result["place"] = result["ladder"] + (f"-{count}" if count > 1 else "")


def creation_mask():
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def write_all(folder, files):
    """{name: text} into a folder, each whole or not at all."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        handle, beside = tempfile.mkstemp(dir=folder, prefix=f".{name}-")  # new, through no link
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(beside, 0o666 & ~creation_mask())
            os.replace(beside, folder / name)
        except BaseException:
            os.unlink(beside)
            raise
        print(folder / name)


def report(pages, plot_files, folders):
    results, damaged = [], 0
    first = pathlib.Path(folders[0])
    pages = pages or (first if first.is_dir() else first.parent)
    for folder in folders:
        found, bad = read_results(folder)
        results += found
        damaged += bad
    results.sort(key=place_on_page)
    name_places(results)
    if not find_matplotlib():
        complain("Matplotlib is missing; install python3-matplotlib, or pip install matplotlib")
        return 2
    sys.dont_write_bytecode = True  # the folder of this script is not ours to write into
    import plots  # after Matplotlib was found, perhaps by another Python

    drawn, shown = {}, []
    for result in results:
        try:  # a file may be hostile in ways that its checks do not know
            drawn[result["place"]] = plots.plots(result)
            html_section(result, drawn[result["place"]])
            markdown([result])
            shown.append(result)
        except Exception as error:  # pylint: disable=broad-except
            complain(f"{result['path']} skipped: {type(error).__name__}: {error}")
            damaged += 1
    if not shown:
        return 2
    results = shown
    try:
        write_all(pages, {"report.html": page_of(results, *plots.share(drawn)),
                          "report.md": markdown(results)})
        if plot_files:
            write_all(plot_files, {f"{place}-{name}.svg": plots.as_file(svg)
                                   for place, each in drawn.items() for name, _, svg in each})
    except OSError as error:
        complain(f"cannot write {error.filename}: {error.strerror}")
        return 2
    return WITHOUT if damaged else 0


# --------------------------------------------------------------------------------------- compare


def usual_spread(results):
    """{ladder: the middle of its cases' spreads}: for cases that ran only once."""
    spreads = {}
    for result in results:
        for case in result["cases"]:
            if len(case["seconds"]) > 1:
                spreads.setdefault(result["ladder"], []).append(case["spread"])
    return {ladder: statistics.median(each) for ladder, each in spreads.items()}


def noise_of(was, case, usual):
    """By how much two medians may differ without meaning anything: the spreads of the two runs
    together, so that neither's repetitions reach the other's. None: nobody can tell."""
    noise = 0.0
    for one in (was, case):
        spread = one["spread"] if len(one["seconds"]) > 1 else usual
        if spread is None:
            return None
        noise += spread * one["median"] / min(was["median"], case["median"])
    return max(noise, DRIFT)


def between_builds(was, case):
    """Which of the two is of another build than its file says."""
    told = [f"{when} by {build_of(one)}" for when, one in (("before", was), ("after", case)) if build_of(one)]
    return f" [{'; '.join(told)}]" if told else ""


def compare(before, after):
    old, damaged_old = read_results(before)
    new, damaged_new = read_results(after)
    past = {(r["ladder"], c["n"], c["rung"]): c for r in old for c in r["cases"]}
    usual = usual_spread(old + new)
    slower = changed = common = single = wrong = 0
    for result in new:
        for case in result["failed"]:
            if (result["ladder"], case["n"], case["rung"]) in past:
                wrong += 1
                print(f"{result['ladder']:20} n={case['n']:<8} {case['rung']:22} "
                      f"was right and fails now: {case.get('why') or 'it does not say why'}")
        for case in result["cases"]:
            was = past.get((result["ladder"], case["n"], case["rung"]))
            if was is None:
                continue
            common += 1
            noise = noise_of(was, case, usual.get(result["ladder"]))
            single += noise is None
            ratio = case["median"] / was["median"]
            factor = max(ratio, 1 / ratio)
            if noise is None or factor - 1 <= noise:
                continue
            changed += 1
            slower += ratio > 1
            print(f"{result['ladder']:20} n={case['n']:<8} {case['rung']:22} "
                  f"{seconds(was['median']):>9} -> {seconds(case['median']):>9}  "
                  f"{'slower' if ratio > 1 else 'faster'} {factor:.3g}× "
                  f"(noise up to {1 + noise:.3g}×)" + between_builds(was, case))
    print(f"{common} case{'' if common == 1 else 's'} in both, "
          + (f"{changed} changed beyond noise, {slower} of them slower" if changed
             else "nothing changed beyond noise")
          + (f"; {wrong} fail that did not before" if wrong else "")
          + (f"; {single} ran once each and cannot be judged" if single else ""))
    if common == 0 and not wrong:
        complain("the two results have no case in common")
        return 2
    if damaged_old or damaged_new:
        return WITHOUT
    return 1 if slower or wrong else 0


def main(words):
    if len(words) >= 4 and words[0] == "report":
        return report(words[1], words[2], words[3:])
    if len(words) == 3 and words[0] == "compare":
        return compare(words[1], words[2])
    complain("usage: pages.py report PAGES PLOTS FOLDER... | compare BEFORE AFTER")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
