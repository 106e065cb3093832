#!/usr/bin/env python3
"""What a refusal names is enough: caps.py PROGRAM

Runs commands under a memory that is too small for them, takes the limit that the sentence names, and runs
them with that: they must work, keep within 1.1 times the limit and 16 MB, take most of it, and not work with much less.
TW_TEST_ALL: every combination of inputs, outputs and limits, and windows that nobody has tried; else some of each.
"""
import filecmp
import importlib.util
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
import zlib
from random import Random

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PYTHON = os.environ.get("TW_PYTHON", os.path.join(TOP, "build", "python", "bin", "python"))
if os.access(PYTHON, os.X_OK) and os.path.realpath(sys.prefix) != os.path.realpath(os.path.dirname(os.path.dirname(PYTHON))):
    os.execv(PYTHON, [PYTHON, *sys.argv])  # which may have Pillow
PROGRAM = os.path.abspath(sys.argv[1])
FEATURES = subprocess.run([PROGRAM, "--version", "--verbose"], check=True, capture_output=True, text=True).stdout
PNG = "PNG images    yes" in FEATURES
TIFF = "TIFF images   yes" in FEATURES
JPEG = "JPEG images   yes" in FEATURES and importlib.util.find_spec("PIL") is not None
ZLIB = re.search(r"^zlib .* yes$", FEATURES, re.MULTILINE) is not None
PACKERS = {"gz": ("gzip", "-1"), "xz": ("xz", "-1"), "zst": ("zstd", "-q", "-1")}
PACKERS = {extension: words for extension, words in PACKERS.items()
           if re.search(rf"\.{extension} files +yes", FEATURES) and shutil.which(words[0])}
UNITS = {"": 1, "k": 10 ** 3, "M": 10 ** 6, "G": 10 ** 9}
# What starts a program counts until it has become the program: something small.
LAUNCHER = """import os, sys
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""
ALL = "TW_TEST_ALL" in os.environ
TIGHT = 1.5  # times the minimum that works, which a limit may be; rounding and small things are in it
TAKEN = 1.4  # times what is then occupied, which a limit may be
SIDE = 2400  # of images: 5.8 MB a plane of u8


def photograph(channels):
    """Rows that a codec finds neither empty nor random: some, which grow brighter."""
    rows = [bytes((x * x // 97 + y * (k + 1) // 3 + x * y // 511) % 251 for x in range(400) for k in range(channels)) * (SIDE // 400) for y in range(40)]
    brighter = [bytes((value + by) % 251 for value in range(256)) for by in range(251)]
    return [rows[y % len(rows)].translate(brighter[y // 3 % 251]) for y in range(SIDE)]


def some(cases, step):
    """All of them, or every one of so many."""
    return cases if ALL else cases[::step]


def write_tiff(name, rows, channels, side, packed):
    """Pixels with their channels side by side, in square tiles or, without a side, in one strip."""
    across = -(-SIDE // side) if side else 1
    wide = side or SIDE
    blocks = []
    for y in range(0, SIDE, wide):
        for x in range(across):
            part = [row[x * wide * channels:(x + 1) * wide * channels].ljust(wide * channels, b"\0") for row in rows[y:y + wide]]
            part += [b"\0" * (wide * channels)] * (wide - len(part) if side else 0)
            block = b"".join(part)
            blocks.append(zlib.compress(block, 1) if packed else block)
    tags = [(256, 4, [SIDE]), (257, 4, [SIDE]), (258, 3, [8] * channels), (259, 3, [8 if packed else 1]), (262, 3, [2 if channels == 3 else 1]),
            (277, 3, [channels]), (284, 3, [1])]
    places = []
    at = 8
    for block in blocks:
        places.append(at)
        at += len(block)
    sizes = [len(block) for block in blocks]
    tags += [(322, 4, [side]), (323, 4, [side]), (324, 4, places), (325, 4, sizes)] if side else [(278, 4, [SIDE]), (273, 4, places), (279, 4, sizes)]
    tags.sort()
    beside = at + 2 + 12 * len(tags) + 4
    entries, data = b"", b""
    for tag, kind, values in tags:
        raw = struct.pack("<%d%s" % (len(values), "H" if kind == 3 else "I"), *values)
        if len(raw) > 4:
            entries += struct.pack("<HHII", tag, kind, len(values), beside + len(data))
            data += raw
        else:
            entries += struct.pack("<HHI", tag, kind, len(values)) + raw.ljust(4, b"\0")
    with open(name, "wb") as file:
        file.write(b"II*\0" + struct.pack("<I", at) + b"".join(blocks) + struct.pack("<H", len(tags)) + entries + b"\0\0\0\0" + data)


def npy(description, shape, raw):
    header = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (description, shape)).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + raw


def write_npz(name, vertices, degree, kind, least=1.0):
    """As SciPy writes it."""
    count = vertices * degree
    targets = [(v * 7 + d * d * 31) % vertices for v in range(vertices) for d in range(degree)]
    first = [v * degree for v in range(vertices + 1)] if kind == "csr" else [v for v in range(vertices) for _ in range(degree)]
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("indptr.npy" if kind == "csr" else "row.npy", npy("<i4", (len(first),), struct.pack("<%di" % len(first), *first)))
        file.writestr("indices.npy" if kind == "csr" else "col.npy", npy("<i4", (count,), struct.pack("<%di" % count, *targets)))
        file.writestr("data.npy", npy("<f4", (count,), struct.pack("<%df" % count, *(t % 97 + least for t in targets))))
        file.writestr("shape.npy", npy("<i8", (2,), struct.pack("<2q", vertices, vertices)))
        file.writestr("format.npy", npy("|S3", (), kind.encode()))


def write_rasters(folder, tiffs):
    colours, grey = photograph(3), photograph(1)
    for name, magic, rows in (("c.ppm", b"P6", colours), ("g.pgm", b"P5", grey)):
        with open(folder + "/" + name, "wb") as file:
            file.write(magic + b" %d %d 255\n" % (SIDE, SIDE) + b"".join(rows))
    for name, channels, side, packed in tiffs:
        write_tiff(folder + "/" + name, colours if channels == 3 else grey, channels, side, packed)


def write_interlaced(name, rows, channels):
    """A PNG in seven passes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    raw = b""
    for x, y, across, down in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        for row in rows[y::down]:
            taken = bytearray(len(row[::channels][x::across]) * channels)
            for k in range(channels):
                taken[k::channels] = row[k::channels][x::across]
            raw += b"\0" + bytes(taken)
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2 if channels == 3 else 0, 0, 0, 1)
    with open(name, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 1)) + chunk(b"IEND", b""))


def write_photographs(folder):
    from PIL import Image
    image = Image.frombytes("RGB", (SIDE, SIDE), b"".join(photograph(3)))
    image.save(folder + "/b.jpg", quality=85)
    image.save(folder + "/p.jpg", quality=85, progressive=True)
    image.convert("L").save(folder + "/l.jpg", quality=85, progressive=True)


class Caps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith("TW_")}
        cls.environment.update(LC_ALL="C", XDG_CACHE_HOME="/proc/none", TMPDIR=cls.folder.name)
        # What it occupies before it does anything, which a runtime of GPUs that it is linked with doubles.
        cls.idle = cls.measured(("--version",), subprocess.DEVNULL)[2] if "no GPU code" not in FEATURES else 5e6

    @classmethod
    def measured(cls, words, standard_input):
        """The exit status, what was said, and the bytes that were occupied at most."""
        done = subprocess.run([sys.executable, "-I", "-S", "-c", LAUNCHER, PROGRAM, *words], cwd=cls.folder.name, env=cls.environment,
                              stdin=standard_input, capture_output=True, text=True, check=True)
        status, most = done.stdout.split()[-2:]
        return int(status), done.stderr, int(most) * 1024

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def remove_results(self):
        for name in os.listdir(self.folder.name):
            if name.startswith("o."):
                os.remove(self.path(name))

    def make(self, *words):
        self.remove_results()
        subprocess.run([PROGRAM, *words, "-q"], cwd=self.folder.name, env=self.environment, check=True)

    def once(self, words, limit, piped):
        """Like `measured`, with a memory limit and input from a pipe."""
        self.remove_results()
        words = (*words, *(() if "--threads" in words else ("--threads", "2")), "--memory", limit, "-q")
        if words[0] in ("apsp", "reach", "entropy", "map"):
            words = (*words, "--device", "cpu")  # the driver of a GPU takes what it likes
        feeder = subprocess.Popen(["cat", self.path(piped)], stdout=subprocess.PIPE) if piped else None
        result = self.measured(words, feeder.stdout if feeder else subprocess.DEVNULL)
        if feeder:
            feeder.stdout.close()
            feeder.wait()
        return result

    def bounded(self, words, limit, piped=None, taken=None):
        status, said, most = self.once(words, limit, piped)
        number, unit = re.fullmatch(r"(\d+)([kMG]?)", limit).groups()
        cap = int(number) * UNITS[unit]
        self.assertLessEqual(most, 1.1 * cap + self.idle + 11e6, (words, limit))
        self.assertTrue(taken is None or cap <= taken * most, (words, limit, most))
        return status, said

    def told(self, words, piped=None, limits=("100k",), tight=TIGHT, refused=True, taken=TAKEN):
        """Where a limit is refused, the one that is named works, and much less does not. `refused`: whether the first of
        them is, if that is known."""
        for limit in limits:
            status, said = self.bounded(words, limit, piped)
            if refused is False or status == 0:
                self.assertEqual((status, refused is True and limit == limits[0]), (0, False), (words, limit, said))
                continue
            self.assertEqual(status, 2, (words, limit, said))
            found = re.search(r"; use --memory (\d+)([kMG]?) or more", said)
            self.assertIsNotNone(found, (words, limit, said))
            named = found.group(1) + found.group(2)
            self.assertEqual(self.bounded(words, named, piped, taken), (0, ""), (words, limit, said))
            if limit == limits[0]:
                less = int(int(found.group(1)) * UNITS[found.group(2)] / tight)
                self.assertEqual(self.once(words, str(less), piped)[0], 2, "%s: %s is named, and %d is enough" % (words, named, less))

    def walked(self, words, steps=2, taken=TAKEN):
        """The same where what is needed shows only on the way: the limit that is named works, or the one after it."""
        cap, unit = 1, "k"
        for step in range(steps + 1):
            status, said, most = self.once(words, "%d%s" % (cap, unit), None)
            self.assertLessEqual(most, 1.1 * cap * UNITS[unit] + self.idle + 11e6, (words, cap, unit))
            if status == 0:
                self.assertTrue(step == 0 or cap * UNITS[unit] <= taken * most, (words, cap, unit, most))
                return
            found = re.search(r"; use --memory (\d+)([kMG]?) or more", said)
            self.assertIsNotNone(found, (words, cap, unit, said))
            cap, unit = int(found.group(1)), found.group(2)
        self.fail("%s is refused %d times: %s" % (" ".join(words), steps + 1, said))

    def test_sweeps(self):
        """Room for the order, before there is one; then what it says of the run."""
        self.make("generate", "graph", "grid", "large.gr", "--vertices", "40000")
        self.make("generate", "graph", "grid", "roads.gr", "--vertices", "22500", "--density", "0.62", "--weights", "1:9000")
        with open(self.path("star.el"), "w") as file:
            file.writelines("0 %d %d\n" % (i, 1 + i % 99) for i in range(1, 30000))
        with open(self.path("path.el"), "w") as file:
            file.writelines("%d %d %d\n" % (i, i + 1, 1 + i % 99) for i in range(30000))
        with open(self.path("rings.el"), "w") as file:
            file.writelines("%d %d %d\n" % (i, i - i % 10 + (i + 1) % 10, 1 + i % 99) for i in range(25000))
        rows = "--sources", "1-8", "-o", "o.npy"
        before = "--sources", "1-300", "-o", "o.csv", "--predecessors", "o.before.npy"
        cases = [("large.gr", *rows), ("star.el", "--closeness", "o.csv"), ("roads.gr", *before), ("path.el", "--undirected", "--summary"),
                 ("rings.el", *rows), ("large.gr", "--summary"), ("star.el", "--undirected", *before), ("path.el", *rows),
                 ("rings.el", "--undirected", "--closeness", "o.csv"), ("roads.gr", "--closeness", "o.csv"), ("large.gr", *before)]
        for words in cases if ALL else cases[:6]:
            self.walked(("apsp", *words, "--method", "sweep"))
            # Where a faster method takes less, which threads and wide vectors add to.
            self.walked(("apsp", *words, "--threads", "2"), steps=1, taken=4)

    def test_lists(self):
        self.make("generate", "graph", "grid", "g.gr", "--vertices", "60000")
        names = ["g.gr"]
        for name in ("g.csv", "g.mtx", "g.bin"):
            self.make("convert", "g.gr", name)
            names.append(name)
        self.make("convert", "g.gr", "g.graph", "--undirected")
        names.append("g.graph")
        with open(self.path("n.csv"), "w") as file:
            file.write("from,to,km\n")
            file.writelines('"City of %d",town-%d,%d\n' % (i, (i * 7 + k * k) % 20000, 1 + i % 99) for i in range(20000) for k in range(9))
        with open(self.path("r.el"), "w") as file:  # the last weight makes all of them real
            file.writelines("%d %d %s\n" % (i % 50021, i * i % 50021, "2.5" if i == 249999 else "7") for i in range(250000))
        names += ["n.csv", "r.el"]
        for name in names:
            self.told(("convert", "--graph", name, "o.el"), limits=some(("100k", "5M"), 2))
        self.told(("convert", "--graph", "-", "o.el"), piped="g.csv", limits=("100k", "5M"))  # of which a part is kept, too
        for name in ("g.gr", "n.csv", "g.bin", "r.el"):
            self.told(("convert", "--graph", "-", "o.el"), piped=name)
            for words in PACKERS.values():
                subprocess.run([*words, "-k", name], cwd=self.folder.name, check=True)
        packed = [name + "." + extension for name in ("g.gr", "n.csv", "g.bin", "r.el") for extension in PACKERS]
        for name in some(packed, 4):  # of three packers each with another list
            self.told(("convert", "--graph", name, "o.el"))
        for name in ("g.gr", "g.bin"):
            self.told(("apsp", name, "--sources", "1-8", "-o", "o.csv"), limits=("1M", "8M"))
            self.told(("reach", name, "--sources", "1-8", "-o", "o.csv"))
            self.told(("path", name, "1", "500"))
        self.told(("reach", "n.csv", "--sources", "City of 1", "-o", "o.csv"))
        self.told(("reach", "n.csv"))
        self.told(("apsp", "n.csv", "--sources", "City of 1", "-o", "o.csv"))
        self.told(("generate", "graph", "grid", "o.gr", "--vertices", "100000"), limits=("1M", "5M"))

    def test_names_that_do_not_fit_are_estimated(self):
        """However long they are, and however far the memory goes."""
        long = "a place whose name goes on and on " * 4
        with open(self.path("long.csv"), "w") as file:
            file.writelines("%s%d,%s%d,%d\n" % (long, i, long[::-1], i * 7 % 20000, 1 + i % 9) for i in range(20000))
        with open(self.path("short.csv"), "w") as file:
            file.writelines("a%d,b%d,%d\n" % (i, i * 7 % 90001, 1 + i % 9) for i in range(90000))
        self.told(("convert", "--graph", "long.csv", "o.el"), limits=some(("1M", "8M", "12M"), 2))
        self.told(("convert", "--graph", "short.csv", "o.el"))
        if ALL:
            self.told(("convert", "--graph", "-", "o.el"), piped="short.csv", limits=("1M", "6M"))
            self.told(("apsp", "long.csv", "--sources", long + "1", "-o", "o.csv"))
            self.told(("reach", "long.csv", "--sources", long + "1", "-o", "o.csv"), limits=("1M", "20M"))

    def test_many_vertices_and_few_sources(self):
        """Where nothing but what is asked for grows with the graph."""
        vertices = 400000
        with open(self.path("cycle.el"), "w") as file:
            file.writelines("%d %d\n" % (i, (i + 1) % vertices) for i in range(vertices))
        with open(self.path("chain.el"), "w") as file:
            file.writelines("%d %d\n%d %d\n" % (i, i + 1, i // 3, i + 1) for i in range(60000))
        with open(self.path("named.csv"), "w") as file:
            file.writelines("v%d,v%d,%d\n" % (i, (i * 7 + 1) % vertices, 1 + i % 9) for i in range(vertices))
        with open(self.path("path.csv"), "w") as file:
            file.writelines("v%d,v%d,%d\n" % (i, i + 1, 1 + i % 9) for i in range(vertices))
        for words in some([("reach", "cycle.el"), ("reach", "chain.el"),
                           ("reach", "chain.el", "--counts", "o.csv", "-o", "o.npy", "--sources", "1-900"),
                           ("reach", "cycle.el", "--undirected")], 2):
            self.told(words, tight=2)  # who has not read the graph does not know that it is one component
        self.told(("reach", "path.csv", "--sources", "v1", "-o", "o.npy"))  # where every vertex is one, as is then expected
        # a queue for each thread is allocated, and what the searches do not reach of it stays unoccupied; with folds,
        # also what delivery needs for the search that names a distance which the result cannot hold
        self.told(("apsp", "cycle.el", "--sources", "1-8", "--summary"), taken=1.9)
        for words in some([("apsp", "named.csv", "--sources", "v1", "-o", "o.csv"), ("apsp", "chain.el", "--sources", "5", "-o", "o.npy")], 2):
            self.told(words, taken=1.7)
        self.told(("apsp", "named.csv", "--sources", "v1,v2,v3,v4,v5", "--nearest", "o.csv"), taken=2)

    def test_predecessors_are_in_the_limit(self):
        self.make("generate", "graph", "grid", "g.gr", "--vertices", "1225")
        self.make("apsp", "g.gr", "d.npy")
        for name in some(("g.gr", "d.npy"), 2):
            self.told(("apsp", name, "o.npy", "--predecessors", "o.before.npy"), limits=some(("1M", "8M"), 2))

    def test_lists_of_vertices_are_in_the_limit(self):
        """At once, for one list and for two, whoever refuses."""
        self.make("generate", "graph", "grid", "g.gr", "--vertices", "900", "--weights", "1:1")
        with open(self.path("named.csv"), "w") as file:
            file.writelines('"City of %d",town-%d,%d\n' % (i, (i * 7 + k * k) % 450, 1 + i % 99) for i in range(450) for k in range(5))
        self.make("apsp", "named.csv", "d.csv")
        self.make("apsp", "g.gr", "d.npy")
        near, far = ("--nearest", "o.csv"), ("--farthest", "o.2.csv")
        methods = [("apsp", name, "--method", method) for name in ("g.gr", "named.csv") for method in ("auto", "dijkstra", "sweep", "closure", "reference")]
        methods += [("apsp", "g.gr", "--method", "bfs"), ("apsp", "g.gr", "o.npy", "--summary", "--histogram=8"), ("summary", "d.npy"), ("summary", "d.csv")]
        lists = (near + far, near, far)
        for i, words in enumerate(methods):
            for which in lists if ALL or words[0] == "summary" else lists[:1 if i % 3 else 2]:
                # more of the memory is asked for than touched where types and queues turn out small
                self.told((*words, *which, "--count", "700"), limits=some(("1M", "16M"), 2), tight=1.8, taken=2.2)

    def test_matrices(self):
        self.make("generate", "graph", "grid", "g.gr", "--vertices", "1600")
        self.make("apsp", "g.gr", "d.npy")
        self.make("convert", "d.npy", "d.csv")
        self.make("map", "x", "d.npy", "w.npy", "-t", "f64")
        self.make("map", "x", "d.npy", "h.npy", "-t", "u16")
        for name in some(("d", "w", "h"), 2):
            self.told(("apsp", name + ".npy", "o.npy"), limits=("1M", "20M"), tight=1.7)
            self.told(("apsp", "-", "o.npy"), piped=name + ".npy", tight=1.7)
            self.told(("path", name + ".npy", "1", "1500"))
            self.told(("reach", name + ".npy", "o.npy"), tight=1.7)
        self.told(("apsp", "g.gr", "o.npy"), limits=("1M", "10M"))
        self.told(("apsp", "g.gr", "--summary"), refused=False)
        for words in PACKERS.values():
            subprocess.run([*words, "-k", "d.csv"], cwd=self.folder.name, check=True)
        for name in some(["d.npy", "d.csv", "w.npy"] + ["d.csv." + extension for extension in PACKERS], 2):
            # by rows, whatever the memory, and whether it has a name or comes from a pipe
            self.told(("summary", name), refused=False)
            self.told(("summary", "-"), piped=name, refused=False)
            self.told(("convert", "-", "o.npy"), piped=name, refused=False)
            self.told(("compare", "-", "d.npy"), piped=name, refused=False)

    def test_rows_that_nobody_wants_take_nothing(self):
        """Neither a block of them nor a buffer, where folds are all that is asked for."""
        self.make("generate", "graph", "grid", "g.gr", "--vertices", "8000")
        self.make("generate", "graph", "grid", "u.gr", "--vertices", "8000", "--weights", "1:1")
        for method in ("auto", "dijkstra", "sweep"):
            self.told(("apsp", "g.gr", "--method", method, "--summary"), limits=some(("1M", "8M"), 2))
        self.told(("apsp", "g.gr", "--method", "dijkstra", "--closeness", "o.csv", "--eccentricity", "o.2.csv"))
        self.told(("apsp", "u.gr", "--method", "bfs", "--summary"))

    def test_names_far_down_a_pipe_are_read_again(self):
        with open(self.path("late.csv"), "w") as file:
            file.writelines("%d,%d,1\n" % (i % 50, i * 7 % 50) for i in range(60000))
            file.write("north,1,2\n")
        for limit in ("1G", "20M"):
            self.assertEqual(self.bounded(("apsp", "-", "o.csv"), limit, "late.csv"), (0, ""))

    def test_a_matrix_from_a_pipe_is_what_it_is_in_a_file(self):
        with open(self.path("m.csv"), "w") as file:
            file.writelines(",".join(str(i * j % 999) for j in range(900)) + "\n" for i in range(700))
        self.make("convert", "m.csv", "m.npy")
        with open(self.path("m.csv")) as file:
            done = subprocess.run([PROGRAM, "compare", "-", "m.npy", "--memory", "1M"], cwd=self.folder.name, env=self.environment, stdin=file,
                                  capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "equal: 700 x 900\n"), done.stderr)

    def test_sparse_matrices_of_scipy(self):
        if not ZLIB:
            return
        for kind in ("csr", "coo"):
            write_npz(self.path(kind + ".npz"), 60000, 4, kind)
            self.told(("convert", "--graph", kind + ".npz", "o.gr"), limits=("1M", "5M"), tight=1.7)
            self.told(("convert", "--graph", "-", "o.gr"), piped=kind + ".npz", tight=1.7)
        write_npz(self.path("real.npz"), 60000, 4, "csr", 1.5)
        for name in ("csr.npz", "real.npz"):  # whole weights have other queues than real ones, and nobody knows before which they are
            self.told(("apsp", name, "--sources", "1-8", "-o", "o.csv"), tight=2, taken=1.7 if name == "real.npz" else TAKEN)

    def test_images(self):
        tiffs = (("tiles.tif", 3, 1024, True), ("large.tif", 3, 2048, True), ("plain.tif", 3, 2048, False), ("strip.tif", 3, 0, False),
                 ("packed.tif", 1, 0, True), ("grey.tif", 1, 1024, True))
        write_rasters(self.folder.name, tiffs)
        self.make("map", "x", "g.pgm", "f.npy", "-t", "f64")
        inputs, outputs = ["c.ppm", "g.pgm", "f.npy"], [("o.npy",)]
        if PNG:
            self.make("map", "x", "c.ppm", "c.png")
            inputs, outputs = inputs + ["c.png"], outputs + [("o.png", "-t", "u8")]
        for name, words in some([(name, words) for words in outputs for name in inputs], 3):
            self.told(("map", "2 * x", name, *words), refused=False)
        if not TIFF:
            return
        outputs += [("o.tif", "-t", "u8", "--tiff", "tiles=512,lzw")]
        for name, channels, side, packed in tiffs:
            large = channels == 3 and side > 0 and packed  # a row of tiles takes more than 4 MB
            for words in some(outputs, 2):
                self.told(("map", "2 * x", name, *words), refused=large or None)
            for limit in some(("5M", "16M", "24M", "40M"), 2):
                self.bounded(("map", "2 * x", name, "o.npy"), limit)
            self.told(("entropy", name, "o.npy"), refused=large or None)
        self.make("map", "x", "c.ppm", "whole.npy", "-t", "u8")
        for name in ("tiles.tif", "plain.tif", "strip.tif"):  # the same elements, however they are read
            self.make("map", "x", name, "o.npy", "-t", "u8", "--memory", "30M")
            self.assertTrue(filecmp.cmp(self.path("o.npy"), self.path("whole.npy"), shallow=False), name)

    @unittest.skipUnless(PNG and TIFF, "this build has no PNG or no TIFF")
    def test_interlaced_images(self):
        write_interlaced(self.path("one.png"), photograph(1), 1)
        write_interlaced(self.path("three.png"), photograph(3), 3)
        for name in ("one.png", "three.png"):
            for words in some([("entropy", name), ("map", "2 * x", name)], 2):
                self.told((*words, "o.tif", "--tiff", "tiles=512,lzw"), limits=some(("1M", "8M", "12M", "20M"), 2), tight=1.7)
        self.make("entropy", "one.png", "w.npy")
        self.assertEqual(self.bounded(("entropy", "one.png", "o.npy"), "8M"), (0, ""))
        self.assertTrue(filecmp.cmp(self.path("o.npy"), self.path("w.npy"), shallow=False))

    def test_large_windows(self):
        """Whatever is refused names more than it was given, and that is enough."""
        seed = int(os.environ.get("TW_CAPS_SEED", time.time_ns() % 10 ** 6 if ALL else 1))
        random = Random(seed)
        inputs = []
        for i in range(4):
            rows, cols = random.randint(20, 50), random.randint(1000, 9000)
            with open(self.path("i%d.pgm" % i), "wb") as file:
                file.write(b"P5 %d %d 255\n" % (cols, rows) + random.randbytes(rows * cols))
            for name in ["i%d.npy"] + ["i%d.png"] * PNG + ["i%d.tif"] * TIFF:
                self.make("map", "x", "i%d.pgm" % i, name % i, "-t", "u8")
                inputs.append(name % i)
        outputs = ["o.npy"] + ["o.png"] * PNG + ["o.tif"] * TIFF
        refused = 0
        for i in range(60 if ALL else 15):
            window = "%dx%d" % (2 * random.randint(1, 450) + 1, 2 * int(10 ** random.uniform(0, 2.654)) + 1)
            words = ("entropy", random.choice(inputs), random.choice(outputs), "--window", window, "--type", "f32", "--threads", random.choice("12"))
            limit = "%dk" % 10 ** random.uniform(3.61, 4)
            case = "TW_CAPS_SEED=%d: %s --memory %s" % (seed, " ".join(words), limit)
            status, said = self.bounded(words, limit)
            if status != 0:
                found = re.search(r"; use --memory (\d+)([kMG]?) or more", said)
                self.assertIsNotNone(found, (case, said))
                self.assertGreater(int(found.group(1)) * UNITS[found.group(2)], int(limit[:-1]) * 1000, (case, said))
                self.assertEqual(self.bounded(words, found.group(1) + found.group(2)), (0, ""), (case, said))
                refused += 1
        self.assertGreater(refused, 0, seed)

    @unittest.skipUnless(JPEG, "this build, or this Python, has no JPEG")
    def test_photographs(self):
        write_photographs(self.folder.name)
        outputs = [("o.npy",)] + [("o.png",)] * PNG + [("o.tif", "--tiff", "tiles=512,lzw")] * TIFF
        for words in some(outputs, 2):
            self.told(("map", "2 * x", "b.jpg", *words), refused="--tiff" in words)
        commands = [(*command, name, *words) for words in outputs for command in (("map", "2 * x"), ("entropy",)) for name in ("p.jpg", "l.jpg")]
        for words in some(commands, 3):
            self.told(words, limits=some(("1M", "10M", "20M"), 2))
        for words in (("map", "x", "x=l.jpg[1]", "-o", "o.npy"), ("entropy", "l.jpg", "o.npy", "--plane", "1")):
            self.assertIn("l.jpg has no plane 1; it has only plane 0", self.bounded(words, "5M")[1])
        for name in ("p.jpg", "l.jpg"):  # whatever is read before, and as a whole where that fits
            for limit in some(("30M", "40M", "60M", "90M"), 3):
                self.assertEqual(self.bounded(("entropy", name, "o.npy"), limit), (0, ""))
                self.assertEqual(self.bounded(("map", "x + 1", name, "o.npy"), limit), (0, ""))
        self.told(("map", "x + 1", "-", "o.npy"), piped="p.jpg", limits=("1M", "20M"))
        for name in some(("b.jpg", "p.jpg", "l.jpg"), 3):  # whose bytes are kept in memory only where there is plenty
            self.told(("entropy", "-", "o.npy"), piped=name, limits=("1M",))

    def test_less_than_four_megabytes_are_not_refused(self):
        with open(self.path("g.el"), "w") as file:
            file.writelines("%d %d %d\n" % (i, i * 7 % 300, i % 9 + 1) for i in range(300))
        for words in (("apsp", "g.el", "o.npy"), ("apsp", "g.el", "--summary"), ("reach", "g.el"), ("convert", "g.el", "o.gr")):
            self.assertEqual(self.bounded(words, "1k"), (0, ""))
        report = subprocess.run([PROGRAM, "apsp", "g.el", "--summary", "--memory", "1k", "--json", "-q"], cwd=self.folder.name, check=True, capture_output=True)
        self.assertLess(json.loads(report.stdout)["memory_peak"], 4e6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
