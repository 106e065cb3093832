#!/usr/bin/env python3
"""tilewright beside its peers on this machine, on the same files, with the answers compared.

    bench/peers.py                      every case; a table a case, on standard output
    bench/peers.py --quick              the same at small sizes: does it run, do the answers agree
    bench/peers.py --case search        one case (--list names them); may be repeated
    bench/peers.py --out bench/results  also write peers.json and peers.md there

A case generates its graph with `tilewright generate`, lets every contestant solve it several times
in turn (so that a busy moment of the machine hits all of them) and gives the median. An answer
that differs from tilewright's is reported and fails the run. Peers that are not installed are
named and left out: SciPy, igraph and NetworkX are looked for in the Python of build/bench (made by
`make bench-setup`), else in this one; the programs in bench/peers are compiled here, Boost's if
its headers are there.

Two kinds of seconds, never mixed in one comparison:
    end to end   the whole process, reading the graph from a file and writing the matrix to one
    in memory    from the graph in memory to the matrix in memory; for tilewright the seconds of
                 plan and computation that its report gives
"""
import argparse
import array
import datetime
import filecmp
import json
import operator
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


class Unavailable(Exception):
    """A contestant that cannot run here, and why."""


class Stopped(Exception):
    """A run that went past its time."""


# ------------------------------------------------------------------------------- running programs


def run(command, limit=None):
    """Run to the end or to `limit` seconds; gives stdout, stderr and wall seconds."""
    with subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        begun = time.perf_counter()
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Stopped(f"stopped after {limit:.1f} s") from None
        wall = time.perf_counter() - begun
    if process.returncode == 3:
        raise Unavailable(err.strip().splitlines()[-1] if err.strip() else "not installed")
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {err.strip()}")
    return out, err, wall


def last_json(text):
    """The JSON object that ends `text`, or {}."""
    begin = text.find("{")
    try:
        return json.loads(text[begin:]) if begin >= 0 else {}
    except json.JSONDecodeError:
        return {}


class Tilewright:
    """The command under test. `options` force a method; a report gives the seconds inside."""

    def __init__(self, bench, name="tilewright", options=()):
        self.bench, self.name, self.options = bench, name, list(options)

    def solve(self, graph, out, limit=None):
        command = [self.bench.tilewright, "apsp", graph, *([out] if out else []), "--json"]
        command += ["--no-progress", *self.options]
        text, _, wall = run(command, limit)
        report = last_json(text)
        seconds = report["seconds"]
        return {
            "wall": wall,
            "memory": seconds["plan"] + seconds["compute"],
            "work": seconds["total"] - seconds["read"],
            "read": seconds["read"],
            "method": report.get("method"),
            "peak": report.get("peak_rss", report.get("memory_peak")),
        }


class Program:
    """A program of bench/peers, compiled here on first use: PROGRAM IN OUT."""

    def __init__(self, bench, name, source, flags, shown=None, options=()):
        self.bench, self.source, self.flags = bench, HERE / "peers" / source, flags
        self.name, self.binary, self.options = shown or name, bench.work / name, options

    def build(self):
        if not self.source.exists():
            raise Unavailable(f"{self.source.name} is not in bench/peers")
        compiler = "c++" if self.source.suffix == ".cpp" else "cc"
        if shutil.which(compiler) is None:
            raise Unavailable(f"no {compiler}")
        if platform.machine() == "x86_64":
            self.flags = [*self.flags, "-msse4.1"]
        done = subprocess.run(
            [compiler, "-O3", str(self.source), *self.flags, "-o", str(self.binary)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Unavailable(f"{self.source.name} does not compile here (a library is missing?)")

    def solve(self, graph, out, limit=None):
        if not self.binary.exists() or self.binary.stat().st_mtime < self.source.stat().st_mtime:
            self.build()
        _, err, wall = run([self.binary, graph, out, *self.options], limit)
        parts = last_json(err)
        return {"wall": wall, "memory": parts.get("compute")}


class PythonLibrary:
    """A library of Python, in a process of its own; only its call is timed."""

    def __init__(self, bench, name, library, options=()):
        self.bench, self.name, self.library, self.options = bench, name, library, list(options)

    def solve(self, graph, out, limit=None):
        script = HERE / "peers" / "python_peer.py"
        command = [self.bench.python, script, self.library, graph, out, *self.options]
        text, _, _ = run(command, limit)
        report = last_json(text)
        return {"memory": report["seconds"], "version": report["version"]}


class TilewrightEntropy:
    """The command on an image: `threads` of them, 0 for all."""

    def __init__(self, bench, window, levels, threads):
        self.bench, self.name = bench, f"tilewright, {threads or 'all'} thread{'' if threads == 1 else 's'}"
        self.options = ["--window", window, "--levels", levels, "--threads", threads]

    def solve(self, image, out, limit=None):
        command = [self.bench.tilewright, "entropy", image, out, "--json", "--no-progress"]
        text, _, wall = run([*command, *self.options], limit)
        report = last_json(text)
        return {"wall": wall, "memory": report["seconds"]["compute"], "method": report["method"]}


class SkimageEntropy:
    """scikit-image in a process of its own; only its call is timed."""

    name = "scikit-image rank.entropy"

    def __init__(self, bench, window, levels):
        self.bench, self.options = bench, [window, levels]

    def solve(self, image, out, limit=None):
        script = HERE / "peers" / "skimage_entropy.py"
        text, _, _ = run([self.bench.python, script, image, out, *self.options], limit)
        report = last_json(text)
        return {"memory": report["seconds"], "version": report["version"]}


def same_files(one, other):
    return filecmp.cmp(one, other, shallow=False)


def close_floats(one, other):
    """Raw f32 that nowhere differ by more than 1e-5."""
    values = []
    for path in (one, other):
        numbers = array.array("f")
        numbers.frombytes(path.read_bytes())
        values.append(numbers)
    if len(values[0]) != len(values[1]):
        return False
    return max(map(abs, map(operator.sub, *values)), default=0) <= 1e-5


# -------------------------------------------------------------------------------------- the cases


class Bench:
    """Where things are, how long to measure, and what was found."""

    def __init__(self, args):
        self.args = args
        build = pathlib.Path(args.build).resolve()
        self.tilewright = next(
            (path for path in build.rglob("tilewright") if path.is_file()), build / "tilewright"
        )
        if not os.access(self.tilewright, os.X_OK):
            sys.exit(f"peers.py: no program 'tilewright' below {build}: run make first")
        self.work = ROOT / "build" / "bench-work"
        self.work.mkdir(parents=True, exist_ok=True)
        venv = ROOT / "build" / "bench" / "bin" / "python3"
        self.python = venv if venv.exists() else pathlib.Path(sys.executable)
        self.missing = {}
        self.disagreements = []

    def graph(self, kind, n, *options, form="bin"):
        """The generated file, kept for the next case that wants the same."""
        words = "-".join(str(word).strip("-").replace(":", "to") for word in options)
        path = self.work / f"{kind}-{n}{'-' if words else ''}{words}.{form}"
        if not path.exists():
            command = [self.tilewright, "generate", "graph", kind, path, "--vertices", n]
            run([*command, *options, "--quiet"])
        return path

    def image(self, side, levels):
        """A generated natural-like PGM, kept likewise."""
        path = self.work / f"natural-{side}-{levels}.pgm"
        if not path.exists():
            command = [self.tilewright, "generate", "image", "natural", path, "--rows", side]
            run([*command, "--cols", side, "--levels", levels, "--quiet"])
        return path

    def compare(self, graph, contestants, clock, repeat, limit=None, agree=same_files):
        """Every contestant `repeat` times in turn; rows of name, seconds, agreement."""
        rows = {who.name: {"times": []} for who in contestants}
        first = None
        for turn in range(repeat):
            for who in contestants:
                row = rows[who.name]
                if "note" in row:
                    continue
                out = self.work / f"{graph.stem}.{who.name.replace(' ', '-')}.raw"
                out.unlink(missing_ok=True)
                try:
                    result = who.solve(graph, out, limit)
                except Unavailable as error:
                    row["note"] = str(error)
                    self.missing[who.name] = str(error)
                    continue
                except Stopped as error:
                    row["note"] = str(error)
                    continue
                row["times"].append(result[clock])
                row.update({key: result[key] for key in ("method", "version", "peak") if key in result})
                if turn == 0:
                    first = first or out
                    row["agrees"] = agree(first, out)
                    if not row["agrees"]:
                        self.disagreements.append(f"{who.name} on {graph.name}")
                if out != first:
                    out.unlink()
        if first is not None:
            first.unlink(missing_ok=True)
        return finish(rows)


def finish(rows):
    """Median, spread and ratio to the first contestant."""
    ours = None
    table = []
    for name, row in rows.items():
        row = {"name": name, **row}
        if row["times"]:
            row["median"] = statistics.median(row["times"])
            row["minimum"] = min(row["times"])
            ours = ours or row["median"]
            row["ratio"] = row["median"] / ours
        table.append(row)
    return table


def dense_end_to_end(bench):
    """From file to file on dense graphs, against textbook Floyd-Warshall programs."""
    n = 700 if bench.args.quick else 4000
    programs = [
        Program(bench, "blocked_b1", "blocked_b1.c", ["-fopenmp"], "blocked OpenMP Floyd-Warshall"),
        Program(bench, "naive_a1", "naive_a1.c", ["-pthread"], "plain Floyd-Warshall, threads"),
    ]
    half = bench.graph("dense", n, "--density", 0.5, "--weights", "0:1000")
    thin = bench.graph("sparse", n, "--degree", min(280, n // 4), "--weights", "0:1000")
    for title, graph in (
        (f"n = {n}, half of all arcs, weights 0…1000", half),
        (f"n = {n}, {min(280, n // 4)} arcs per vertex, weights 0…1000", thin),
    ):
        rows = bench.compare(graph, [Tilewright(bench), *programs], "wall", bench.args.repeat, 600)
        yield {"title": title, "clock": "end to end", "rows": rows}


def dense_in_memory(bench):
    """The same graph for the Python libraries."""
    n = 300 if bench.args.quick else 2000
    graph = bench.graph("dense", n, "--density", 0.5, "--weights", "1:1000")
    peers = [
        Tilewright(bench),
        PythonLibrary(bench, "SciPy floyd_warshall", "scipy-floyd"),
        PythonLibrary(bench, "igraph distances", "igraph"),
    ]
    rows = bench.compare(graph, peers, "memory", bench.args.repeat, 300)
    yield {"title": f"n = {n}, half of all arcs", "clock": "in memory", "rows": rows}


def search(bench):
    """Sparse graphs, against one Dijkstra a source."""
    n = 500 if bench.args.quick else 4000
    graph = bench.graph("sparse", n, "--degree", 5, "--weights", "1:1000")
    boost = Program(bench, "boost_dijkstra", "boost_dijkstra.cpp", ["-pthread"], "Boost n × Dijkstra")
    tilewright = Tilewright(bench)
    title = f"sparse random, n = {n}, 5 arcs per vertex, weights 1…1000"
    rows = bench.compare(graph, [tilewright, boost], "wall", bench.args.repeat, 300)
    yield {"title": title, "clock": "end to end", "rows": rows}
    peers = [
        tilewright,
        boost,
        PythonLibrary(bench, "SciPy dijkstra", "scipy-dijkstra"),
        PythonLibrary(bench, "igraph distances", "igraph"),
    ]
    if bench.args.quick:
        peers.append(PythonLibrary(bench, "NetworkX all_pairs_dijkstra", "networkx"))
    rows = bench.compare(graph, peers, "memory", bench.args.repeat, 300)
    yield {"title": title, "clock": "in memory", "rows": rows}


def equal_weights(bench):
    """Equal weights, against one breadth-first search a source."""
    n = 500 if bench.args.quick else 4000
    graph = bench.graph("preferential", n, "--degree", 5, "--weights", "1:1")
    plain = Program(bench, "plain_bfs", "plain_bfs.c", ["-fopenmp"], "plain C BFS a source")
    tilewright = Tilewright(bench)
    title = f"preferential attachment, n = {n}, 5 edges per vertex, equal weights"
    rows = bench.compare(graph, [tilewright, plain], "wall", bench.args.repeat, 300)
    yield {"title": title, "clock": "end to end", "rows": rows}
    peers = [
        tilewright,
        plain,
        PythonLibrary(bench, "SciPy unweighted", "scipy-dijkstra", ["--unweighted"]),
        PythonLibrary(bench, "igraph distances", "igraph", ["--unweighted"]),
    ]
    if bench.args.quick:
        peers.append(PythonLibrary(bench, "NetworkX all_pairs_shortest", "networkx", ["--unweighted"]))
    rows = bench.compare(graph, peers, "memory", bench.args.repeat, 300)
    yield {"title": title, "clock": "in memory", "rows": rows}


# Every generator as the plan meets it: kind, options, and the form that keeps what it knows (a
# symmetric .mtx says that the graph is undirected, triples do not).
GENERATORS = [
    ("complete", ["--weights", "1:1000"], "bin"),
    ("dense", ["--density", 0.5, "--weights", "1:1000"], "bin"),
    ("sparse", ["--degree", 5, "--weights", "1:1000"], "bin"),
    ("sparse", ["--degree", 5, "--weights", "1:1"], "bin"),
    ("grid", ["--weights", "1:1000"], "mtx"),
    ("grid", ["--weights", "1:1"], "mtx"),
    ("preferential", ["--degree", 5, "--weights", "1:1000"], "mtx"),
    ("preferential", ["--degree", 5, "--weights", "1:1"], "mtx"),
    ("rmat", ["--degree", 16, "--weights", "1:1000"], "bin"),
    ("rmat", ["--degree", 16, "--weights", "1:1"], "bin"),
]


def choice_of_method(bench):
    """What auto chose, against each method forced by hand and stopped at three times the best."""
    rows = []
    for n in (300, 600) if bench.args.quick else (1000, 4000, 10000):
        for kind, options, form in GENERATORS:
            equal = options[-1] == "1:1"
            graph = bench.graph(kind, n, *options, form=form)
            methods = ["closure", "dijkstra", *(["bfs"] if equal else [])]
            rows.append(measure_choice(bench, graph, methods))
            rows[-1].update(kind=kind + (", equal weights" if equal else ""), n=n)
            show_choice(rows[-1])
    yield {"title": "auto against forced methods", "clock": "plan + computation + summary",
           "choice": rows}


def measure_choice(bench, graph, methods):
    auto = Tilewright(bench, "auto")
    warm = auto.solve(graph, None)
    best = warm["work"]
    times = {"auto": [warm["work"]]}
    stopped = {}
    repeat = 1 if bench.args.quick else max(2, min(7, int(10 / best)))
    for turn in range(repeat):
        for name in ("auto", *methods):
            if name in stopped:
                continue
            forced = [] if name == "auto" else ["--method", name]
            limit = None if name == "auto" else warm["read"] + 3 * best + 0.2
            try:
                took = Tilewright(bench, name, forced).solve(graph, None, limit)["work"]
            except Stopped:
                stopped[name] = True
                continue
            times.setdefault(name, []).append(took)
            best = min(best, took)
    medians = {name: statistics.median(values) for name, values in times.items()}
    forced = {name: value for name, value in medians.items() if name != "auto"}
    fastest = min(forced, key=forced.get) if forced else None
    return {
        "chosen": warm["method"],
        "median": medians,
        "stopped": sorted(stopped),
        "fastest": fastest,
        "ratio": medians["auto"] / forced[fastest] if fastest else None,
    }


def entropy(bench):
    """Local entropy of an image, against a sliding histogram in C and scikit-image."""
    side = 300 if bench.args.quick else 2560
    for window, levels in ((5, 16), (9, 256)):
        image = bench.image(side, levels)
        peers = [
            TilewrightEntropy(bench, window, levels, 1),
            TilewrightEntropy(bench, window, levels, 0),
            Program(bench, "sliding_entropy", "sliding_entropy.c", ["-lm"], "sliding histogram in C",
                    [window, levels]),
            SkimageEntropy(bench, window, levels),
        ]
        rows = bench.compare(image, peers, "memory", bench.args.repeat, 300, close_floats)
        for row in rows:
            if "minimum" in row:
                row["rate"] = side * side / row["minimum"]
        yield {"title": f"{side} × {side}, window {window} × {window}, {levels} levels",
               "clock": "in memory", "rows": rows}


CASES = {
    "dense": dense_end_to_end,
    "python": dense_in_memory,
    "search": search,
    "equal": equal_weights,
    "entropy": entropy,
    "method": choice_of_method,
}

# ------------------------------------------------------------------------------------- the report


def show_choice(row):
    print(f"   {row['kind']} n={row['n']}: auto took {row['chosen']}, ratio {row['ratio']}",
          file=sys.stderr)


def seconds(value):
    if value < 0.1:
        return f"{value * 1000:.2f} ms"
    return f"{value:.3f} s" if value < 10 else f"{value:.1f} s"


def markdown(part):
    lines = [f"### {part['title']} ({part['clock']})", ""]
    if "choice" in part:
        lines += ["| graph | n | auto took | auto | closure | dijkstra | bfs | auto / fastest |",
                  "|---|---|---|---|---|---|---|---|"]
        for row in part["choice"]:
            cells = [
                seconds(row["median"][name]) if name in row["median"]
                else "over 3×" if name in row["stopped"] else "–"
                for name in ("auto", "closure", "dijkstra", "bfs")
            ]
            ratio = f"{row['ratio']:.2f}" if row["ratio"] else "–"
            lines.append(f"| {row['kind']} | {row['n']} | {row['chosen']} | " + " | ".join(cells)
                         + f" | {ratio} |")
    else:
        lines += ["| | median | minimum | times ours | same answer |", "|---|---|---|---|---|"]
        for row in part["rows"]:
            if "median" not in row:
                lines.append(f"| {row['name']} | {row.get('note', 'did not run')} | | | |")
                continue
            name = row["name"] + (f" ({row['method']})" if row.get("method") else "")
            name += f" {row['version']}" if row.get("version") else ""
            lines.append(f"| {name} | {seconds(row['median'])} | {seconds(row['minimum'])} | "
                         f"{row['ratio']:.1f} | {'yes' if row['agrees'] else 'NO'} |")
    return "\n".join(lines) + "\n"


def describe_machine(bench):
    out, _, _ = run([bench.tilewright, "devices", "--json"])
    return {
        "date": datetime.date.today().isoformat(),
        "system": f"{platform.system()} {platform.machine()}",
        "load": os.getloadavg()[0],
        "tilewright": last_json(out),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build" / "release", help="a built preset")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one")
    parser.add_argument("--repeat", type=int, help="runs of each contestant; 5, or 1 with --quick")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--out", type=pathlib.Path, help="folder for peers.json and peers.md")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    args = parser.parse_args()
    if args.list:
        for name, case in CASES.items():
            print(f"{name:8} {case.__doc__}")
        return 0
    args.repeat = args.repeat or (1 if args.quick else 5)
    bench = Bench(args)
    report = {"machine": describe_machine(bench), "cases": {}}
    text = ""
    for name in args.case or CASES:
        print(f"-- {name}: {CASES[name].__doc__}", file=sys.stderr)
        report["cases"][name] = []
        for part in CASES[name](bench):
            report["cases"][name].append(part)
            text += markdown(part) + "\n"
            print(markdown(part), flush=True)
    for name, why in bench.missing.items():
        print(f"left out: {name}: {why}")
    report["left_out"] = bench.missing
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "peers.json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
        (args.out / "peers.md").write_text(text)
    for what in bench.disagreements:
        print(f"peers.py: another answer: {what}", file=sys.stderr)
    return 1 if bench.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
