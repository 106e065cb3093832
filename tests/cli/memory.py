#!/usr/bin/env python3
"""--memory bounds the whole process: memory.py PROGRAM

Runs commands whose data is larger than the memory they may take, and asks the system for the most
that each occupied: no more than 1.1 times the limit and 16 MB, pages of mapped files aside. None may
refuse what it can do in bands of rows, and the result is that of a run without a limit.
"""
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
FEATURES = subprocess.run([PROGRAM, "--version", "--verbose"], check=True, capture_output=True, text=True).stdout
PNG = "PNG images    yes" in FEATURES
ZLIB = re.search(r"^zlib .* yes$", FEATURES, re.MULTILINE) is not None
TIFF = "TIFF images   yes" in FEATURES
PACKERS = {"gz": ("gzip", "-1"), "xz": ("xz", "-1"), "zst": ("zstd", "-q", "-1", "--long=23")}
PACKERS = {extension: words for extension, words in PACKERS.items()
           if re.search(rf"\.{extension} files +yes", FEATURES) and shutil.which(words[0])}
SIDE = 3600  # of an array of 13 MB in u8 and 52 MB in f32
VERTICES = 2400  # whose distances are 23 MB


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith("TW_")}
        cls.environment.update(LC_ALL="C", XDG_CACHE_HOME="/proc/none")
        cls.plain("generate", "graph", "grid", "roads.gr", "--vertices", str(VERTICES))
        cls.plain("generate", "graph", "grid", "large.gr", "--vertices", "40000")
        cls.plain("apsp", "roads.gr", "d.npy")
        cls.plain("convert", "d.npy", "d.csv")
        cls.plain("generate", "image", "noise", "i.npy", "--rows", str(SIDE), "--cols", str(SIDE), "--levels", "200")
        cls.plain("convert", "large.gr", "large.csv")
        with open(cls.folder.name + "/names.csv", "w") as file:  # of 30000 vertices
            file.write("from,to,km\n")
            file.writelines('"City of %d",town-%d,%d\n' % (i, (i * 7 + k * k) % 30000, 1 + i % 99)
                            for i in range(30000) for k in range(5))
        with open(cls.folder.name + "/c.ppm", "wb") as file:  # of 39 MB
            file.write(b"P6\n%d %d\n255\n" % (SIDE, SIDE))
            for row in range(SIDE):
                file.write(bytes((row + i * i // 7) % 256 for i in range(100)) * (3 * SIDE // 100))
        for extension in ["pgm"] + ["png"] * PNG + ["tif"] * TIFF:
            cls.plain("map", "x", "i.npy", "i." + extension, "-t", "u8")

    @classmethod
    def start(cls, *words, standard=None):
        if words[0] in ("apsp", "reach", "entropy", "map"):
            words = (*words, "--device", "cpu")  # the driver of a GPU takes what it likes
        if words[0] in ("entropy", "map"):  # results of earlier runs are replaced
            words = [word for given in words for word in (("-o", given) if given.startswith("o.") else (given,))]
        return subprocess.Popen([PROGRAM, *words, "-q"], cwd=cls.folder.name, env=cls.environment,
                                stdin=standard, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    @classmethod
    def plain(cls, *words):
        process = cls.start(*words)
        words_said = process.communicate()[1]
        if process.returncode != 0:
            raise AssertionError(words_said)

    @classmethod
    def pack(cls, name):
        """The file compressed in every way that is read; by others, for what Python holds counts."""
        for words in PACKERS.values():
            subprocess.run([*words, "-k", name], cwd=cls.folder.name, check=True)
        return [name + "." + extension for extension in PACKERS]

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def bounded(self, megabytes, *words, standard=None):
        """Run it, and return the bytes it occupied at most."""
        # As many threads everywhere: each has memory of its own.
        with self.start(*words, "--threads", "2", "--memory", "%dM" % megabytes, standard=standard) as process:
            said = process.stderr.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual((process.returncode, said), (0, ""), words)
        most = usage.ru_maxrss * 1024
        # What Python occupied before it became the program counts, too; it has to be less.
        self.assertLessEqual(most, 1.1e6 * megabytes + 16e6, "%s --memory %dM" % (" ".join(words), megabytes))
        return most

    def same(self, name, *words):
        """The result is what it is without a limit."""
        self.plain(*words[:-1], "whole-" + name)
        self.assertTrue(filecmp.cmp(self.path(name), self.path("whole-" + name), shallow=False), words)
        os.remove(self.path("whole-" + name))

    def writes(self, megabytes, *words):
        """A command whose last word is OUT."""
        self.bounded(megabytes, *words)
        self.same(words[-1], *words)
        os.remove(self.path(words[-1]))

    def test_a_graph_of_text(self):
        for megabytes in 30, 100:
            self.bounded(megabytes, "apsp", "roads.gr", "o.npy")
            self.bounded(megabytes, "apsp", "roads.gr", "o.csv")
            self.bounded(megabytes, "apsp", "roads.gr", "--long", "-o", "o.csv")
            self.bounded(megabytes, "reach", "large.gr", "--sources", "1-8", "-o", "o.csv")
        for megabytes in 40, 100:
            self.bounded(megabytes, "apsp", "large.gr", "--sources", "1-8", "-o", "o.csv")
            self.bounded(megabytes, "convert", "large.gr", "o.csv")
            self.bounded(megabytes, "apsp", "large.csv", "--sources", "1-8", "-o", "o.csv")
            self.bounded(megabytes, "convert", "large.csv", "o.gr")
            self.bounded(megabytes, "convert", "--graph", "names.csv", "o.csv")

    def test_lists_of_little_more_than_their_edges(self):
        self.bounded(8, "convert", "large.gr", "o.el")
        self.bounded(8, "convert", "large.csv", "o.gr")

    def test_lists_whose_text_is_larger_than_the_memory(self):
        """42 MB of text whose 100000 edges take 2; the window of one decoder takes 8."""
        remark = "x" * 400
        for name, line in (("wide.csv", "%d,%d,%d," + remark + "\n"), ("town.csv", "town-%d,town-%d,%d," + remark + "\n")):
            with open(self.path(name), "w") as file:
                file.write("source,target,weight,remark\n")
                file.writelines(line % (i % 3001, i % 3011, i % 99) for i in range(100000))
            options = "--from", "source", "--to", "target", "--weight", "weight"
            for packed in (name, *self.pack(name)):
                self.bounded(14, "convert", "--graph", packed, "o.el", *options)
                with open(self.path(packed), "rb") as file:
                    self.bounded(14, "convert", "--graph", "-", "o.el", *options, standard=file)
                os.remove(self.path(packed))

    def test_a_matrix_of_text(self):
        for megabytes in 20, 60:
            self.bounded(megabytes, "summary", "d.csv")
            self.bounded(megabytes, "compare", "d.csv", "d.npy")
            self.bounded(megabytes, "path", "roads.gr", "d.csv", "1", str(VERTICES))
        self.writes(20, "summary", "d.csv", "--closeness", "c.csv")
        self.writes(20, "convert", "d.csv", "again.npy")
        self.writes(20, "convert", "d.npy", "again.csv")

    def test_compressed_text(self):
        for name in self.pack("d.csv"):  # 31 MB when it is unpacked
            self.bounded(14, "compare", name, "d.npy")
        for name in self.pack("large.csv"):
            for megabytes in 14, 40:
                self.bounded(megabytes, "convert", name, "o.el")

    def test_the_memory_of_a_decoder_counts(self):
        if "xz" not in PACKERS:
            return
        with open(self.path("dictionary.csv.xz"), "wb") as file:
            subprocess.run(["xz", "-c", "--lzma2=preset=0,dict=64MiB", self.path("large.csv")], stdout=file, check=True)
        with self.start("convert", "dictionary.csv.xz", "o.el", "--memory", "60M") as process:
            said = process.stderr.read().decode()
        self.assertEqual(process.returncode, 2)
        self.assertRegex(said, r"^tilewright: unpacking dictionary.csv.xz and what it may hold needs \d+ MB of memory, but only \d+ MB is left; use --memory \d+[kM] or more\n$")
        self.bounded(80, "convert", "dictionary.csv.xz", "o.el")

    def test_entropy_of_files_larger_than_the_memory(self):
        self.writes(20, "entropy", "i.npy", "o.npy")
        self.writes(20, "entropy", "i.pgm", "o.pgm")
        self.bounded(20, "entropy", "i.npy", "o.csv")
        if PNG:
            self.writes(20, "entropy", "i.png", "o.png")
        if TIFF:
            self.writes(20, "entropy", "i.tif", "o.tif")

    def test_planes_of_colours_larger_than_the_memory(self):
        for extension in ["ppm", "npy", "tif"] + ["png"] * PNG:
            self.writes(20, "entropy", "c.ppm", "o." + extension)
            self.writes(20, "map", "x + 1", "c.ppm", "o." + extension)

    def test_map_of_files_larger_than_the_memory(self):
        for megabytes in 20, 50:
            self.bounded(megabytes, "map", "x + 1", "i.npy")
        self.writes(20, "map", "x + 1", "i.npy", "o.npy")
        self.bounded(20, "map", "x + 1", "i.npy", "o.csv")
        if PNG:
            self.writes(20, "map", "x + 1", "i.png", "o.png")
            self.bounded(20, "map", "x + 1", "i.png", "o.csv")
        if TIFF:
            self.writes(20, "map", "x + 1", "-t", "u8", "i.tif", "o.tif")

    def enough(self, caps, *words):
        """The first of the caps, in kilobytes, that a command works with: it must with all that follow."""
        works = None
        for kilobytes in caps:
            with self.start(*words, "--threads", "2", "--memory", "%dk" % kilobytes) as process:
                said = process.stderr.read().decode()
            works = kilobytes if works is None and process.returncode == 0 else works
            self.assertTrue(works is None or process.returncode == 0,
                            "%s: %sk is enough and %dk is not: %s" % (words, works, kilobytes, said))
        return works

    @unittest.skipUnless(PNG and TIFF, "this build does not have both PNG and TIFF")
    def test_more_memory_never_fails_where_less_is_enough(self):
        self.plain("generate", "image", "noise", "wide.png", "--rows", "600", "--cols", "2000")
        self.plain("generate", "image", "noise", "high.png", "--rows", "3000", "--cols", "1200")
        self.plain("map", "x", "wide.png", "wide.tif", "-t", "f32", "--tiff", "lzw,tiles=512")
        with open(self.path("colours.ppm"), "wb") as file:
            file.write(b"P6\n500 600\n255\n" + bytes(range(250)) * 3600)
        self.plain("map", "x", "colours.ppm", "colours.png")
        tiles = "--tiff", "lzw,tiles"
        high = "--tiff", ("deflate" if ZLIB else "lzw") + ",tiles=512"
        for caps, most, words in (
                (range(1500, 9000, 500), 6000, ("map", "2 * x", "wide.png", "o.tif", *tiles)),
                (range(1500, 9000, 500), 6000, ("map", "x + y", "wide.png", "y=wide.png", "o.tif", *tiles)),
                # one of two images fits into half of the memory, and then what writes does not
                (range(7000, 7700, 100), 7000, ("map", "x + y", "high.png", "y=high.png", "o.tif", *high)),
                # three decoders take their memory when rows are read
                (range(1200, 1600, 25), 1500, ("entropy", "colours.png", "o.png", "--grey")),
                # a whole image fits, but not beside the tiles it is decoded from
                (range(6000, 16000, 500), 9000, ("entropy", "wide.tif", "o.npy", "--range", "auto"))):
            works = self.enough(caps, *words)
            self.assertTrue(works is not None and works <= most, (words, works))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
