"""The plots of the report page (pages.py), by Matplotlib, as SVG.

A plot is narrow, so that its words can still be read on a phone; the page sets two side by side
where there is room. Inside the page the ink is the page's own (light or dark), in a file of its
own it is dark on white.

plots(result) returns [(name, caption, svg)]; which plots there are follows from the result:

a sweep (rungs that differ by a number)   rate against that number, a line for each size or kind
times in several parts                    stacked bars: against n where a rung has more sizes than
                                          there are rungs, else by rung
any other ladder                          time by rung, beside the time at the ceiling
several sizes                             rate against n
figures of a write-up's authors           speed-up over the first rung, theirs beside ours
"""
import io
import re
import zlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402

from pages import by_size, scaled, seconds, sound  # noqa: E402

INK = "#010203"  # replaced by the page's own colour
OURS, THEIRS, FAINT = "#d95f02", "#1b9e77", "#8c8c8c"
PARTS = {"read": "#8b6fd1", "upload": "#3b8ac4", "compute": "#1b9e77", "download": "#5bb5d5",
         "write": "#d95f02", "undivided": FAINT}
LINES = ["#d95f02", "#3b8ac4", "#1b9e77", "#c44e8a", "#8b6fd1", "#9a8400", "#d1495b", "#5bb5d5"]
MARKS = "osD^vPX*"
WIDTH = 4.7  # inches
MOST_LINES = len(LINES)

plt.rcParams.update({
    "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"], "text.color": INK, "axes.edgecolor": INK,
    "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.spines.top": False,
    "axes.spines.right": False, "axes.titlesize": 9, "legend.frameon": False,
    "legend.fontsize": 8})


# ---------------------------------------------------------------------------------------- drawing


def picture(figure, salt):
    """The figure as SVG text; ids are its own, since several stand in one page."""
    plt.rcParams["svg.hashsalt"] = salt
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.05,
                   metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(figure)
    text = out.getvalue()
    return slim(text[text.index("<svg"):]).replace(INK, "currentColor")


NAMESPACE = "http://www.w3.org/2000/svg"  # a page knows it, a file must say it
FONT = "font: 9px 'DejaVu Sans', sans-serif"


def without_bare_groups(text):
    """Groups that set nothing are left out; those that clip, place or blend stay."""
    kept, out = [], []
    for piece in re.split(r"(<g\b[^>]*>|</g>)", text):
        if piece == "</g>":
            piece = piece if kept.pop() else ""
        elif piece.startswith("<g"):
            kept.append(piece != "<g>")
            piece = piece if kept[-1] else ""
        out.append(piece)
    return "".join(out)


def slim(text):
    """The same picture in fewer bytes: a page has some hundred of them."""
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"(?<=<g) id=\"[^\"]*\"", "", text)  # nothing refers to groups
    text = re.sub(r" transform=\"rotate\(-?0 [^)]*\)\"", "", text)
    text = re.sub(r"-?\d+\.\d{3,}",
                  lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), text)
    text = without_bare_groups(text)
    text = text.replace(f'<text style="fill: {INK}; {FONT}; ', '<text style="')
    text = text.replace("<svg", f'<svg style="fill: {INK}; {FONT}"', 1)
    text = re.sub(r"style=\"([^\"]*)\"", lambda style: style[0].replace(": ", ":").replace("; ", ";"),
                  text)
    text = re.sub(r"<path d=\"[^\"]*\" style=\"fill:none\"/>\s*", "", text)  # nothing to be seen
    # A tick's line has its own colour and width; a text has the picture's colour and typeface.
    text = re.sub(rf" style=\"fill:{INK};stroke:{INK};stroke-width:[\d.]*\"(?=/>)", "", text)
    text = re.sub(rf"(?<=<text style=\")fill:{INK};font:([\d.]+px) [^;]*;(text-anchor:start)?",
                  lambda text: f"font-size:{text[1]}" + (";" if text[2] is None else ""), text)
    text = re.sub(r"(?<= d=\")[^\"]*", lambda path: re.sub(r" ?([A-Za-z]) ?", r"\1",
                                                         " ".join(path[0].split())), text)
    text = text.replace("xlink:href=", "href=").replace(
        ' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    text = re.sub(r"(?<=[\"#])([mp][0-9a-f]{7})[0-9a-f]{3}(?=[\")])", r"\1", text)
    text = re.sub(r"(\d+\.\d)\d+", r"\1", text)
    text = text.replace(";stroke-linecap:square", "")
    text = re.sub(r"style=\"text-anchor:(\w+)\"", r'text-anchor="\1"', text)
    text = text.replace(' version="1.1"', "").replace(f' xmlns="{NAMESPACE}"', "")
    text = text.replace('<style type="text/css">', "<style>")
    return with_classes(re.sub(r"\s*\n\s*", "\n", text).replace(">\n<", "><")
                        .replace("</defs><defs>", ""))


def with_classes(text):
    """Styles that stand in a picture several times stand there once, under a name that is theirs in
    every picture."""
    styles = re.findall(r"(?<= style=\")[^\"]{16,}(?=\")", text.split(">", 1)[1])
    often = {style: f"k{zlib.crc32(style.encode()) >> 8:06x}" for style in dict.fromkeys(styles)
             if styles.count(style) > 2}
    for style, name in often.items():
        text = text.replace(f' style="{style}"', f' class="{name}"')
    rules = "".join(f".{name}{{{style}}}" for style, name in often.items())
    return text.replace("</style>", rules + "</style>", 1)


def letters(number):
    """0, 1, 2 ... as short names."""
    name = ""
    while True:
        name = chr(ord("a") + number % 26) + name
        number = number // 26 - 1
        if number < 0:
            return name


def share(drawn):
    """({place: plots}, svg, rules): the plots of a page with what several of them have, ticks, marks and styles,
    taken out of them into one invisible picture and one style sheet of that page."""
    marks, styles, seen = {}, {}, {}

    def name_mark(body):
        return marks.setdefault(body, "m-" + letters(len(marks)))

    def without_own(svg):
        classes = dict(re.findall(r"\.(k[0-9a-f]{6})\{([^}]*)\}", svg))
        svg = re.sub(r"<style>.*?</style>", "", svg, flags=re.S)
        svg = re.sub(r' class="(k[0-9a-f]{6})"', lambda found: f' style="{classes[found[1]]}"', svg)
        own = dict(re.findall(r'<path id="(m[0-9a-f]{7})"( [^>]*/>)', svg))
        svg = re.sub(r'<path id="m[0-9a-f]{7}" [^>]*/>', "", svg).replace("<defs></defs>", "")
        return re.sub(r'href="#(m[0-9a-f]{7})"', lambda found: f'href="#{name_mark(own[found[1]])}"', svg)

    def count(style):
        seen[style[1]] = seen.get(style[1], 0) + 1

    def with_class(style):
        if seen[style[1]] * len(style[1]) < 40:
            return style[0]
        return f' class="{styles.setdefault(style[1], "k-" + letters(len(styles)))}"'

    plain = {place: [(name, caption, without_own(svg)) for name, caption, svg in each] for place, each in drawn.items()}
    style = re.compile(r' style="([^"]*)"')
    defined = "".join(f'<path id="{name}"{body}' for body, name in marks.items())
    for text in [defined, *(svg for each in plain.values() for _, _, svg in each)]:
        re.sub(style, count, text)
    shared = {place: [(name, caption, re.sub(style, with_class, svg)) for name, caption, svg in each]
              for place, each in plain.items()}
    defined = f'<svg width="0" height="0" style="position:absolute"><defs>{re.sub(style, with_class, defined)}</defs></svg>\n'
    rules = "figure svg *, defs * { stroke-linejoin: round; stroke-linecap: butt }\n" + "\n".join(
        f".{name}{{{text}}}" for text, name in styles.items())
    return shared, defined, rules


def as_file(svg):
    """The same plot to stand alone: dark ink on white, whatever shows it."""
    head, rest = svg.split(">", 1)
    return ('<?xml version="1.0" encoding="utf-8"?>\n' + head
            + f' xmlns="{NAMESPACE}" color="#1f2328">'
            '\n <rect width="100%" height="100%" fill="#ffffff"/>' + rest)


def readable(axis, text):
    """Ticks in words of the reader ("10 ms", "2 G"), those of a log axis too."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value) if value > 0 else "0"))
    axis.set_minor_formatter(NullFormatter())


def log_axis(axes, axis, values, text):
    """A log axis that ends beyond its values and has at least two numbers on it."""
    low, high = min(values), max(values)
    (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
    wide = high / low > 30
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1,) if wide else (1, 2, 5)))
    axis.set_minor_locator(matplotlib.ticker.LogLocator(subs=(2, 5)))
    readable(axis, text)


def numbers_axis(axes, numbers):
    """A log axis whose ticks are the numbers themselves, unless they would touch."""
    axes.set_xscale("log")
    shown, last = [], 0
    apart = (max(numbers) / min(numbers)) ** 0.09  # of the axis: the width of four digits
    for number in sorted(numbers):
        if number > last * apart:
            shown.append(number)
            last = number
    axes.set_xticks(shown, [str(number) for number in shown])
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())


def legend_below(axes, handles=None, labels=None, columns=3):
    if handles is None:
        handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles, labels, ncol=min(columns, len(labels)), loc="upper left",
                bbox_to_anchor=(-0.12, -0.2), columnspacing=1.2, handlelength=1.5, borderaxespad=0)


def shown_time(case):
    return seconds(case["median"]) + (", WRONG" if case.get("flaw") else "")


def heights(count):
    return 0.75 + 0.21 * count


# ------------------------------------------------------------------------------------------ plots


def time_at_ceiling(result, cases):
    """What the work would take at the measured ceiling; None if none is known, or if it is so far
    from every rung (a size too small for the machine) that the rungs would be crowded."""
    ceiling = result["ceiling"].get("rate") or 0
    rated = [case for case in cases if case["rate"] > 0]
    if ceiling <= 0 or not rated:
        return None
    limit = rated[0]["rate"] * rated[0]["median"] / ceiling
    return limit if min(case["median"] for case in cases) < 30 * limit else None


def plot_times(result, n, cases):
    """A dot for each rung: on a log axis a bar would have no length to compare."""
    limit = time_at_ceiling(result, cases)
    figure, axes = plt.subplots(figsize=(WIDTH, heights(len(cases))))
    every = [t for case in cases for t in case["seconds"]] + ([limit] if limit else [])
    wide = max(every) > 8 * min(every)
    for place, case in enumerate(cases):
        colour = FAINT if case.get("flaw") else THEIRS if case.get("row") else OURS
        axes.plot([min(every) / 1.3 if wide else 0, case["median"]], [place, place], color=colour,
                  linewidth=1, alpha=0.35)
        axes.plot([min(case["seconds"]), max(case["seconds"])], [place, place], color=colour,
                  linewidth=3, alpha=0.5)
        axes.plot([case["median"]], [place], "x" if case.get("flaw") else "o", color=colour,
                  markersize=5)
        axes.annotate(shown_time(case), (max(case["seconds"]), place), xytext=(6, 0),
                      textcoords="offset points", va="center", color=INK, fontsize=8)
    if limit:
        axes.axvline(limit, color=INK, linestyle=":", linewidth=1)
        axes.annotate("ceiling", (limit, -0.9), color=INK, fontsize=8, ha="center", va="bottom",
                      annotation_clip=False)
    axes.set_yticks(range(len(cases)), [case["rung"] for case in cases])
    axes.set_ylim(len(cases) - 0.4, -0.8)
    if wide:
        log_axis(axes, axes.xaxis, every, seconds)
        axes.set_xlim(min(every) / 1.3, max(every) * 1.6)
    else:
        readable(axes.xaxis, seconds)
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4))
        axes.set_xlim(0, max(every) * 1.25)
    axes.set_xlabel("time: median, span of the repetitions" + (" (log)" if wide else ""))
    return (f"time-{n}", f"Time, n = {n}",
            picture(figure, f"{result['place']}-time-{n}"))


def highlighted(result):
    """The rungs worth a line of their own, at most as many as there are colours: the first and
    the fastest, at each size the fastest of the write-ups', then the next fastest."""
    cases = sound(result["cases"])
    rungs = list(dict.fromkeys(case["rung"] for case in cases))
    largest = sorted([case for case in cases if case["n"] == max(c["n"] for c in cases)],
                     key=lambda case: case["median"])
    wanted = [rungs[0], largest[0]["rung"]]
    for at in by_size(result).values():
        theirs = [case for case in sound(at) if case.get("row")]
        wanted += [min(theirs, key=lambda case: case["median"])["rung"]] if theirs else []
    wanted += [case["rung"] for case in largest]
    chosen = list(dict.fromkeys(wanted))[:MOST_LINES]
    return [rung for rung in rungs if rung in chosen]


def plot_rates(result):
    figure, axes = plt.subplots(figsize=(WIDTH, 3.1))
    chosen = highlighted(result)
    rates, others = [], False
    for rung in dict.fromkeys(case["rung"] for case in sound(result["cases"])):
        points = sorted((c["n"], c["rate"]) for c in result["cases"]
                        if c["rung"] == rung and c["rate"] > 0)
        if not points:
            continue
        rates += [rate for _, rate in points]
        if rung in chosen:
            place = chosen.index(rung)
            axes.plot(*zip(*points), marker=MARKS[place], markersize=4, linewidth=1.4,
                      label=rung, color=LINES[place], zorder=3)
        else:
            axes.plot(*zip(*points), linewidth=0.8, color=FAINT, alpha=0.5,
                      label=None if others else "other rungs")
            others = True
    ceiling = result["ceiling"].get("rate") or 0
    if ceiling > 0 and rates and ceiling < 50 * max(rates):
        axes.axhline(ceiling, color=INK, linestyle=":", label="ceiling")
        rates.append(ceiling)
    numbers_axis(axes, by_size(result))
    log_axis(axes, axes.yaxis, rates, scaled)
    axes.set_xlabel(f"n, {result.get('size', '')} (log)")
    axes.set_ylabel(f"{result.get('unit', 'units')} per second (log)")
    handles, labels = axes.get_legend_handles_labels()
    last = sorted(range(len(labels)), key=lambda i: labels[i] in ("other rungs", "ceiling"))
    legend_below(axes, [handles[i] for i in last], [labels[i] for i in last])
    return ("rate", "Rate against n", picture(figure, f"{result['place']}-rate"))


CALLED = {"global": "block", "v0": "threads a block", "counted": "side of the window"}  # what a number is, where the rungs' names say something else


def sweep_of(result):
    """What the numbers in the rungs' names are, if those are all that differs:
    {line: [(number, rate)]} and what the number is called; else None."""
    rungs = list(dict.fromkeys(case["rung"] for case in result["cases"]))
    lines = {}
    if len(rungs) > 2 and all(re.fullmatch(r"(\d+)x\1-\d+", rung) for rung in rungs):
        for case in result["cases"]:
            window, levels = re.fullmatch(r"(\d+)x\d+-(\d+)", case["rung"]).groups()
            n = f", n = {case['n']}" if len(by_size(result)) > 1 else ""
            lines.setdefault(f"{levels} levels{n}", []).append((int(window), case["rate"]))
        return lines, "side of the window"
    if len(rungs) > 2 and all(re.fullmatch(r"\d+-\d+x\d+", rung) for rung in rungs) and not any(
            case.get("parent") for case in result["cases"]):
        return fastest_shapes(result), "block"
    named = [re.fullmatch(r"([a-z][a-z0-9]*)-(\d+)", rung) for rung in rungs]
    if len(rungs) > 1 and all(named) and not any(case.get("parent") for case in result["cases"]):
        words = list(dict.fromkeys(found[1] for found in named))
        for case in result["cases"]:
            word, number = case["rung"].rsplit("-", 1)
            line = [word] if len(words) > 1 else []
            if len(by_size(result)) > 1 or not line:
                line.append(f"n = {case['n']}")
            lines.setdefault(", ".join(line), []).append((int(number), case["rate"]))
        return lines, CALLED.get(words[0], words[0])
    return None


def fastest_shapes(result):
    """Of rungs BLOCK-XxY a line of the fastest shape of threads at each block, for each size, and
    the others as points."""
    lines = {}
    for n, cases in by_size(result).items():
        best, others = {}, []
        for case in sorted(cases, key=lambda case: -case["rate"]):
            block = int(case["rung"].split("-")[0])
            if block in best:
                others.append((block, case["rate"]))
            best.setdefault(block, case["rate"])
        lines[f"n = {n}, its fastest threads"] = list(best.items())
        if others:
            lines[f"n = {n}, other threads"] = others
    return lines


def plot_sweep(result, lines, name):
    figure, axes = plt.subplots(figsize=(WIDTH, 2.9))
    for place, (label, points) in enumerate(lines.items()):
        axes.plot(*zip(*sorted(points)), label=label, marker=MARKS[place % len(MARKS)],
                  linestyle="none" if label.endswith("other threads") else "-", markersize=4,
                  linewidth=1.4, color=LINES[place % len(LINES)])
    numbers_axis(axes, {number for points in lines.values() for number, _ in points})
    readable(axes.yaxis, scaled)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"{name} (log)")
    axes.set_ylabel(f"{result.get('unit', 'units')} per second")
    legend_below(axes)
    return ("sweep", f"Rate against {name}", picture(figure, f"{result['place']}-sweep"))


def is_divided(case):
    return len(case.get("parts", {})) > 1


def part_of(case, part):
    """Seconds; a case whose rung keeps no parts is one undivided piece."""
    if is_divided(case):
        return case["parts"].get(part, 0)
    return case["median"] if part == "undivided" else 0


def used_parts(cases):
    return [part for part in PARTS if any(part_of(case, part) > 0 for case in cases)]


def plot_parts_by_rung(result, n, cases):
    figure, axes = plt.subplots(figsize=(WIDTH, heights(len(cases))))
    left = [0.0] * len(cases)
    for part in used_parts(cases):
        values = [part_of(case, part) for case in cases]
        axes.barh(range(len(cases)), values, left=left, label=part, color=PARTS[part], height=0.7)
        left = [a + b for a, b in zip(left, values)]
    for place, (end, case) in enumerate(zip(left, cases)):
        axes.annotate(shown_time(case), (end, place), xytext=(4, 0),
                      textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(cases)), [case["rung"] for case in cases])
    axes.invert_yaxis()
    axes.set_xlim(0, max(left) * 1.2)
    axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4))
    readable(axes.xaxis, seconds)
    axes.set_xlabel("time; the number is the median of the whole")
    axes.legend(ncol=4, loc="lower left", bbox_to_anchor=(-0.12, 1), columnspacing=1.2,
                handlelength=1, borderaxespad=0)
    return (f"parts-{n}", f"Where the time goes, n = {n}",
            picture(figure, f"{result['place']}-parts-{n}"))


def plot_parts_by_size(result, rung, cases):
    """Shares of the time, since times over such sizes differ a hundredfold."""
    cases = sorted(cases, key=lambda case: case["n"])
    figure, axes = plt.subplots(figsize=(WIDTH, 2.6))
    bottom = [0.0] * len(cases)
    for part in used_parts(cases):
        values = [100 * part_of(case, part) / sum(part_of(case, p) for p in PARTS)
                  for case in cases]
        axes.bar(range(len(cases)), values, bottom=bottom, label=part, color=PARTS[part],
                 width=0.7)
        bottom = [a + b for a, b in zip(bottom, values)]
    for place, case in enumerate(cases):
        axes.annotate(seconds(case["median"]), (place, 100), xytext=(0, 3), ha="center",
                      textcoords="offset points", fontsize=8, annotation_clip=False)
    axes.set_xticks(range(len(cases)), [str(case["n"]) for case in cases])
    axes.set_ylim(0, 100)
    axes.set_ylabel("% of the time")
    axes.set_xlabel(f"n, {result.get('size', '')}; above each bar the whole")
    legend_below(axes, columns=5)
    return (f"parts-{rung}", f"Where the time goes against n: {rung}",
            picture(figure, f"{result['place']}-parts-{rung}"))


def plot_published(result, n, cases):
    """Speed-up over the first rung that has both, theirs beside ours: the machines differ, so
    times would compare machines."""
    both = [case for case in cases if case.get("published_milliseconds")]
    right = sound(both)
    if len(right) < 2:
        return None
    none = float("nan")  # of a wrong answer
    ours = [none if case.get("flaw") else right[0]["median"] / case["median"] for case in both]
    theirs = [none if case.get("flaw")
              else right[0]["published_milliseconds"] / case["published_milliseconds"]
              for case in both]
    known = [value for value in ours + theirs if value == value]
    figure, axes = plt.subplots(figsize=(WIDTH, 0.85 + 0.36 * len(both)))
    wide = max(known) > 10 * min(known)
    least = min(known) / 1.3 if wide else 0
    for shift, values, colour, label in ((-0.19, ours, OURS, "this machine"),
                                         (0.19, theirs, THEIRS, "published")):
        bars = [(place, value) for place, value in enumerate(values) if value == value]
        axes.barh([place + shift for place, _ in bars], [value - least for _, value in bars], 0.36,
                  left=least, color=colour, label=label)
        for place, value in bars:
            axes.annotate(f"{value:.3g}×", (value, place + shift), xytext=(3, 0), fontsize=7.5,
                          textcoords="offset points", va="center")
    for place, case in enumerate(both):
        if case.get("flaw"):
            axes.annotate("WRONG", (least, place), xytext=(3, 0), fontsize=7.5,
                          textcoords="offset points", va="center", color=FAINT)
    axes.set_yticks(range(len(both)), [case["rung"] for case in both])
    axes.invert_yaxis()
    if wide:
        log_axis(axes, axes.xaxis, known, lambda value: f"{value:g}×")
        axes.set_xlim(least, max(known) * 1.5)
    else:
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(5))
        readable(axes.xaxis, lambda value: f"{value:g}×")
        axes.set_xlim(0, max(known) * 1.18)
    axes.set_xlabel(f"speed-up over {right[0]['rung']}" + (" (log)" if wide else ""))
    axes.legend(ncol=2, loc="lower left", bbox_to_anchor=(-0.12, 1), handlelength=1,
                borderaxespad=0)
    return (f"published-{n}", f"Beside the authors' figures, n = {n}",
            picture(figure, f"{result['place']}-published-{n}"))


def plots(result):
    """[(name, caption, svg)] of one result; result["place"] is its name on the page."""
    out = []
    sizes = by_size(result)
    rungs = {case["rung"] for case in result["cases"]}
    sweep = sweep_of(result)
    divided = any(is_divided(case) for case in result["cases"])
    if sweep is not None:
        out.append(plot_sweep(result, *sweep))
    elif divided and len(result["cases"]) > len(rungs) ** 2:  # a rung has more sizes than a size has rungs
        for rung in dict.fromkeys(case["rung"] for case in result["cases"]):
            out.append(plot_parts_by_size(
                result, rung, [case for case in result["cases"] if case["rung"] == rung]))
    else:
        for n, cases in sizes.items():
            out.append(plot_parts_by_rung(result, n, cases) if divided
                       else plot_times(result, n, cases))
    if len({case["n"] for case in sound(result["cases"])}) > 1 and sweep is None:
        out.append(plot_rates(result))
    for n, cases in sizes.items():
        out.append(plot_published(result, n, cases))
    return [plot for plot in out if plot is not None]
