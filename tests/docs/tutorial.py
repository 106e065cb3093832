#!/usr/bin/env python3
"""tutorial.py PAGE INCLUDE LIBRARY COMPILER...: the programs of a page do what the page says.

Each block of C is a program: it is compiled with warnings as errors against the installed header's
source and the shared library, and run in a folder of its own; it must succeed, print nothing on standard
error, and print what the block of text after it holds.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PAGE, INCLUDE, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:4])
COMPILER = sys.argv[4:]
LIMIT = 600  # seconds after which something hangs
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Tutorial(unittest.TestCase):
    def test_every_program_prints_what_the_page_says(self):
        blocks = BLOCK.findall(pathlib.Path(PAGE).read_text(encoding="utf-8"))
        programs = [i for i, (kind, _) in enumerate(blocks) if kind == "c"]
        self.assertGreaterEqual(len(programs), 5)
        for number, i in enumerate(programs, 1):
            with self.subTest(program=number), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(blocks[i + 1][0], "text", "no output follows the program")
                source = os.path.join(folder, "program.c")
                program = os.path.join(folder, "program")
                pathlib.Path(source).write_text(blocks[i][1], encoding="utf-8")
                place = os.path.dirname(LIBRARY)
                done = subprocess.run([*COMPILER, "-std=c17", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-O1",
                                       "-I", INCLUDE, source, "-o", program, LIBRARY, "-Wl,-rpath," + place],
                                      capture_output=True, text=True, timeout=LIMIT, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                done = subprocess.run([program], cwd=folder, capture_output=True, text=True, timeout=LIMIT,
                                      check=False)
                self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", blocks[i + 1][1]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
