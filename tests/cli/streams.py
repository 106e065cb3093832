#!/usr/bin/env python3
"""Graphs of text larger than --memory: streams.py PROGRAM

Every format of text, plain, compressed, and from a pipe, under a limit that the text alone exceeds:
the result is that of a run without one, byte by byte, and so is the sentence for a fault on a late line.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
FEATURES = subprocess.run([PROGRAM, "--version", "--verbose"], check=True, capture_output=True, text=True).stdout
PACKERS = {"gz": ("gzip", "-1", "-c"), "xz": ("xz", "-c", "--lzma2=preset=0,dict=64KiB"),
           "zst": ("zstd", "-q", "-1", "-c", "--zstd=wlog=16")}
PACKERS = {extension: words for extension, words in PACKERS.items()
           if re.search(rf"\.{extension} files +yes", FEATURES) and shutil.which(words[0])}
SMALL = "TW_TEST_SMALL" in os.environ
EMULATED = os.environ.get("TW_TEST_SMALL") == "emulated"
LIMIT = 3000000
EDGES = 40000
VERTICES = 500
REMARK = "a remark of the length that only machines write and again and again"


def edges():
    for i in range(EDGES):
        yield i * 7 % VERTICES, (i * i + i // VERTICES) % VERTICES, 1 + i * 31 % 9973


def lists(separator, end="\n"):
    yield "source%starget%skm%sremark%s" % (separator, separator, separator, end)
    for u, v, w in edges():
        yield separator.join((str(u), str(v), str(w), REMARK)) + end


def names():
    yield "from,to,remark,km\n"
    for u, v, w in edges():
        yield '"City of %d",town-%d,%s,%d.5\n' % (u, v, REMARK, w)


def remarks(first, mark, edge):
    yield first
    for u, v, w in edges():
        yield edge % (u + 1, v + 1, w)
        yield "%s %s\n" % (mark, REMARK)


def metis():
    lists_of = [[] for _ in range(VERTICES)]
    for u, v, w in list(edges())[:EDGES // 2]:
        if u != v:
            lists_of[u].append((v + 1, w))
            lists_of[v].append((u + 1, w))
    yield "%% %s\n%d %d 1\n" % (REMARK, VERTICES, sum(map(len, lists_of)) // 2)
    for pairs in lists_of:
        yield ("%% %s\n" % REMARK) * 100
        yield " ".join("%d %d" % pair for pair in pairs) + "\n"


COLUMNS = "--weight", "km", "--from", "1", "--to", "2"
FORMATS = {  # its lines, and what has to be said of it
    "a.csv": (lambda: lists(","), COLUMNS),
    "a.tsv": (lambda: lists("\t"), COLUMNS),
    "crlf.csv": (lambda: lists(";", "\r\n"), COLUMNS),
    "names.csv": (names, COLUMNS),
    "a.txt": (lambda: remarks("# %s\n" % REMARK, "#", "%d %d %d\n"), ()),
    "ids.el": (lambda: remarks("", "%", "v%d w%d %d.25\n"), ("--ids",)),
    "a.gr": (lambda: remarks("c x\np sp %d %d\n" % (VERTICES, EDGES), "c", "a %d %d %d\n"), ()),
    "a.mtx": (lambda: remarks("%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n" %
                              (VERTICES, VERTICES, EDGES), "%", "%d %d %d\n"), ()),
    "a.graph": (metis, ("--in-format", "metis")),
}


class Streams(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith("TW_")}
        cls.environment.update(LC_ALL="C", XDG_CACHE_HOME="/proc/none", TMPDIR="/proc/none")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def read(self, name, options, limit, standard=None):
        """The graph as a list of edges, or the sentence that says what is wrong."""
        words = [PROGRAM, "convert", "--graph", name, "-", "--out-format", "edges", "-q", *options]
        words += ["--memory", str(limit)] if limit else []
        done = subprocess.run(words, cwd=self.folder.name, env=self.environment, stdin=standard, check=False,
                              capture_output=True)
        return done.returncode, done.stdout, done.stderr.decode()

    def piped(self, name, options, limit):
        with subprocess.Popen(["cat", name], cwd=self.folder.name, stdout=subprocess.PIPE) as cat:
            return self.read("-", options, limit, cat.stdout)

    def redirected(self, name, options, limit):
        with open(self.path(name), "rb") as file:
            return self.read("-", options, limit, file)

    def write(self, name, lines):
        with open(self.path(name), "w", newline="") as file:
            file.writelines(lines)
        self.assertGreater(os.path.getsize(self.path(name)), LIMIT)

    def pack(self, name):
        for extension, words in PACKERS.items():
            with open(self.path(name + "." + extension), "wb") as file:
                subprocess.run([*words, name], cwd=self.folder.name, stdout=file, check=True)
            yield name + "." + extension

    def check(self, name, options, whole):
        """Every way under the limit gives that result; files are removed."""
        for packed in (name, *self.pack(name)):
            found = self.read(packed, options, LIMIT)
            self.assertEqual((*found[:2], found[2].replace(packed, name)), whole, packed)
            for way in (self.piped, self.redirected)[:1 if SMALL and packed != name else 2]:
                found = way(packed, options, LIMIT)
                said = found[2].replace("standard input", name)
                self.assertEqual((*found[:2], said), whole, (packed, way))
            os.remove(self.path(packed))

    def formats(self):
        return list(FORMATS.items())[::4 if EMULATED else 2 if SMALL else 1]

    def test_every_way_gives_the_graph_of_a_run_without_a_limit(self):
        for name, (lines, options) in self.formats():
            self.write(name, lines())
            whole = self.read(name, options, None)
            self.assertEqual((whole[0], whole[2]), (0, ""), name)
            self.assertGreater(whole[1].count(b"\n"), EDGES // 2)
            self.check(name, options, whole)

    def test_a_fault_on_a_late_line_is_told_with_it(self):
        for name, (lines, options) in self.formats():
            text = "".join(lines()).splitlines(keepends=True)
            late = len(text) - 7
            while text[late].startswith(("#", "%", "c ")):
                late -= 1
            text[late] = "-7\n"
            self.write(name, text)
            whole = self.read(name, options, None)
            self.assertEqual(whole[:2], (2, b""), name)
            self.assertIn("%s:%d: " % (name, late + 1), whole[2])
            self.check(name, options, whole)

    def test_a_line_longer_than_any_piece_and_a_last_one_that_does_not_end(self):
        text = list(lists(","))
        text[EDGES // 2] = "1,2,3," + "long " * 100000 + "\n"
        text[-1] = text[-1].rstrip("\n")
        self.write("a.csv", text)
        whole = self.read("a.csv", COLUMNS, None)
        self.assertEqual((whole[0], whole[2]), (0, ""))
        self.check("a.csv", COLUMNS, whole)

    def test_of_a_fault_and_a_file_cut_short_the_first_is_told(self):
        for fault in (EDGES // 20, None):
            text = list(lists(","))
            if fault is not None:
                text[fault] = "oops\n"
            self.write("a.csv", text)
            for packed in self.pack("a.csv"):
                os.truncate(self.path(packed), os.path.getsize(self.path(packed)) * 2 // 3)
                whole = self.read(packed, COLUMNS, None)
                self.assertEqual(whole[:2], (2, b""))
                self.assertIn("end too early" if fault is None else ":%d: " % (fault + 1), whole[2])
                self.assertEqual(self.read(packed, COLUMNS, LIMIT), whole)

    def test_edges_that_do_not_fit_are_told_with_numbers_and_the_option(self):
        count = 300000  # whose graph takes more than the 4 MB that are never refused
        self.write("a.txt", ("%d %d %d\n" % (i % 40009, i * i % 40009, i % 97 + 1) for i in range(count)))
        for way in (self.read, self.piped):
            for limit in (400000, 4500000):  # the list does not fit, or the graph beside it
                said = way("a.txt", (), limit)
                self.assertEqual(said[:2], (2, b""))
                self.assertRegex(said[2], r"^tilewright: .*: %d edges between 40009 vertices need \d\.\d MB of memory, but .* may be used; "
                                          r"use --memory \d+k or more\n$" % count)
                enough = int(re.search(r"--memory (\d+)k", said[2]).group(1))
                self.assertEqual(way("a.txt", (), 1000 * enough)[0], 0, said)
                self.assertEqual(way("a.txt", (), 1000 * enough * 2 // 3)[0], 2, said)

    def test_more_memory_never_fails_where_less_is_enough(self):
        self.write("a.csv", FORMATS["a.csv"][0]())
        for way in (self.read, self.piped):
            works = None
            for limit in range(600000, 2000001, 700000 if EMULATED else 200000 if SMALL else 50000):
                done = way("a.csv", COLUMNS, limit)[0] == 0
                self.assertTrue(done or works is None, (works, limit))
                works = limit if done and works is None else works
            self.assertLessEqual(works, 1300000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
