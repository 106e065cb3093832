#!/usr/bin/env python3
"""What needs more than a command and its output: behaviour.py PROGRAM DOCS

Signals, terminals, reports that must parse, answers against an independent Floyd-Warshall, and the
manual page against the program.
"""
import contextlib
import errno
import json
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
DOCS = os.path.abspath(sys.argv[2])
INFINITY = 2**30 - 1
SMALL = "TW_TEST_SMALL" in os.environ  # without the sizes that a plain build has tested
# qemu-user gives its guest's signals the numbers two higher, and cannot deliver those below.
FIRST_FREE_SIGNAL = signal.SIGRTMIN + (2 if "/tests/emulated/" in PROGRAM else 0)
LIMIT = 1200  # seconds after which something hangs; a busy machine may need minutes
BY_KEY = -signal.SIGINT  # how Ctrl-C ends a program, after it has cleaned up
COMMANDS = ["apsp", "path", "summary", "reach", "entropy", "map", "convert", "compare", "generate", "devices", "selftest", "bench"]


def floyd_warshall(n, edges):
    d = [[INFINITY] * n for _ in range(n)]
    for source, target, weight in edges:
        d[source][target] = min(d[source][target], weight)
    for i in range(n):
        d[i][i] = 0
    for k in range(n):
        through = d[k]
        for row in d:
            first = row[k]
            if first < INFINITY:
                for j in range(n):
                    if first + through[j] < row[j]:
                        row[j] = first + through[j]
    return d


def triples(n, edges):
    data = struct.pack("<ii", n, len(edges))
    return data + b"".join(struct.pack("<iii", *edge) for edge in edges)


# Long runs that are interrupted, and what a machine is measured by: minutes under an emulator.
unless_emulated = unittest.skipIf(os.environ.get("TW_TEST_SMALL") == "emulated",
                                  "left out under the emulator")


class Behaviour(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("TW_")}
        self.environment.update(LC_ALL="C", TERM="xterm", XDG_CACHE_HOME="/proc/none")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def start(self, *words, ignored=False, **more):
        def prepare():
            # A test that runs in the background has SIGINT ignored, and its children inherit that.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)

        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder.name, env=self.environment,
                                   preexec_fn=prepare, restore_signals=False, **more)
        self.addCleanup(process.kill)
        return process

    def tilewright(self, *words, status=0, **more):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder.name, env=self.environment,
                              timeout=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, **more)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stdout

    def random_edges(self, n, count, seed):
        """Unique edges without self loops."""
        print(f"seed {seed}", file=sys.stderr)
        chance = random.Random(seed)
        pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
        return [(i, j, chance.randint(0, 1000)) for i, j in chance.sample(pairs, count)]

    # ------------------------------------------------------------------------------- answers

    def test_a_triples_file_gives_the_answer_file_byte_for_byte(self):
        for n, count, seed in ((90, 6000, 1), (97, 300, 2), (1, 0, 3), (2, 1, 4), (64, 4032, 5)):
            edges = self.random_edges(n, count, seed)
            self.write("p11k1", triples(n, edges))
            self.tilewright("apsp", "p11k1", "answer", "-q")
            want = b"".join(struct.pack(f"<{n}i", *row) for row in floyd_warshall(n, edges))
            self.assertEqual(self.read("answer"), want)

    def test_predecessors_lead_back_along_tight_edges(self):
        n = 40
        edges = self.random_edges(n, 120, 6)
        weight = {(i, j): w for i, j, w in edges}
        self.write("g.bin", triples(n, edges))
        self.tilewright("apsp", "g.bin", "d", "--predecessors", "p", "-q")
        d = struct.unpack(f"<{n * n}i", self.read("d"))
        p = struct.unpack(f"<{n * n}i", self.read("p"))
        for s in range(n):
            for t in range(n):
                if s == t or d[s * n + t] == INFINITY:
                    self.assertEqual(p[s * n + t], -9999)
                    continue
                steps, v = 0, t
                while v != s and steps <= n:
                    u = p[s * n + v]
                    self.assertEqual(d[s * n + u] + weight[u, v], d[s * n + v])
                    steps, v = steps + 1, u
                self.assertEqual(v, s, "the predecessors go round in a circle")

    # ------------------------------------------------------------------------------- signals

    def long_graph(self):
        """A graph whose closure in plain C takes much longer than a test may."""
        self.tilewright("generate", "graph", "preferential", "long.bin", "-n", "6000", "-q")

    LONG_RUN = ("--method", "closure", "--work-type", "i32", "--isa", "scalar", "--threads", "1",
                "--device", "cpu")

    def interrupt_run(self, number, *more):
        """Signal a long run once it has begun; its exit status and the last of its stderr."""
        process = self.start("apsp", "long.bin", *more, *self.LONG_RUN, stderr=subprocess.PIPE)
        said = b""
        for line in process.stderr:
            said += line
            if line.startswith(b"plan:"):
                break
        process.send_signal(number)
        _, rest = process.communicate(timeout=LIMIT)
        return process.returncode, said + rest

    @unless_emulated
    def test_an_interrupted_run_leaves_no_file(self):
        self.long_graph()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                       signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF,
                       signal.SIGXCPU, signal.SIGIO, signal.SIGPWR, FIRST_FREE_SIGNAL,
                       signal.SIGRTMAX):
            status, said = self.interrupt_run(number, "out.npy", "--predecessors", "p.npy")
            by_it = number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            self.assertEqual(status, -number if by_it else 2, said)
            self.assertTrue(said.endswith(b"tilewright: interrupted\n"), said)
            self.assertEqual(os.listdir(self.folder.name), ["long.bin"])

    @unless_emulated
    def test_an_existing_output_survives_an_interrupted_run(self):
        self.long_graph()
        self.write("out.npy", b"precious")
        status, said = self.interrupt_run(signal.SIGINT, "out.npy")
        self.assertEqual(status, BY_KEY, said)
        self.assertEqual(self.read("out.npy"), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["long.bin", "out.npy"])

    @unless_emulated
    def test_nothing_of_a_killed_run_stays_for_long(self):
        self.long_graph()
        self.interrupt_run(signal.SIGKILL, "out.npy", "--predecessors", "p.npy")
        self.write("g.el", b"0 1 5\n")
        self.tilewright("apsp", "g.el", "small.npy", "-q")
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["g.el", "long.bin", "small.npy"])

    def test_a_closed_standard_stream_is_an_error_where_it_is_needed(self):
        self.write("g.el", b"0 1 5\n")
        for stream, words in ((1, ("g.el", "-")), (1, ("g.el",)), (0, ("-",))):
            done = subprocess.run([PROGRAM, "apsp", *words, "-q"], cwd=self.folder.name,
                                  env=self.environment, timeout=LIMIT, stderr=subprocess.PIPE,
                                  preexec_fn=lambda stream=stream: os.close(stream), check=False)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertIn(b"standard input" if stream == 0 else b"standard output", done.stderr)
        self.tilewright("apsp", "g.el", "out.npy", preexec_fn=lambda: os.close(2))

    @unless_emulated
    def test_endless_passes_of_a_map_can_be_interrupted(self):
        self.write("in.pgm", b"P5 16 16 255\n" + bytes(range(256)))
        process = self.start("map", "sin(x) + 1", "in.pgm", "out.npy", "--repeat", "100000000000",
                             "--no-progress", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + LIMIT
        ticks = 0
        while ticks < 20 and time.monotonic() < deadline:  # until it has computed for a while
            with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
                ticks = int(file.read().rsplit(")", 1)[1].split()[11])
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, BY_KEY, said)
        self.assertEqual(os.listdir(self.folder.name), ["in.pgm"])

    @unless_emulated
    def test_an_input_of_a_map_cut_during_the_run_is_an_error(self):
        size = 8 << 20
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2048, 1024), }".ljust(117) + "\n"
        self.write("in.npy", b"\x93NUMPY\x01\x00\x76\x00" + head.encode() + bytes(size))
        process = self.start("map", "x + row", "in.npy", "-", "--out-format", "raw", "--threads", "1",
                             "--memory", "3M", "-q", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(4096)  # the first band is computed, and the pipe is full
        os.truncate(os.path.join(self.folder.name, "in.npy"), 1 << 20)
        out, said = process.communicate(timeout=LIMIT)
        self.assertLess(len(out), size)
        self.assertEqual(process.returncode, 2, said)
        self.assertEqual(
            said, b"tilewright: cannot read 'in.npy': it was cut short while it was being read\n")

    def rewrite_during(self, ticks, name, content, *words):
        """Write to a file once the command has computed for so many ticks; its status and stderr."""
        process = self.start(*words, "--threads", "1", "--isa", "scalar", "-q",
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            self.assertIsNone(process.poll(), "it was done before the file could be written to")
            with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
                if int(file.read().rsplit(")", 1)[1].split()[11]) >= ticks:
                    break
            time.sleep(0.005)
        process.send_signal(signal.SIGSTOP)
        with open(os.path.join(self.folder.name, name), "r+b") as file:
            file.write(content)
        process.send_signal(signal.SIGCONT)
        _, said = process.communicate(timeout=LIMIT)
        return process.returncode, said

    @unless_emulated
    def test_an_input_rewritten_during_the_run_is_not_called_a_wrong_result(self):
        side = 1024
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({side}, {side}), }}"
        head = b"\x93NUMPY\x01\x00\x76\x00" + head.ljust(117).encode() + b"\n"
        self.write("in.npy", head + bytes(4 * side * side))
        slow = " + ".join(f"sin(x + {i})" for i in range(150))
        status, said = self.rewrite_during(
            10, "in.npy", head + struct.pack("<f", 0.5) * (side * side), "map", slow, "in.npy",
            "--verify")
        self.assertEqual((status, said), (2, b"tilewright: in.npy changed while it was being "
                                             b"read; do not write to it during a run\n"))

    def test_waiting_for_standard_input_can_be_interrupted(self):
        process = self.start("apsp", "-", "out", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + LIMIT
        state = ""
        while state != "S" and time.monotonic() < deadline:
            with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=LIMIT), BY_KEY)
        self.assertEqual(process.stderr.read(), b"tilewright: interrupted\n")
        process.stdin.close()
        process.stderr.close()

    @unless_emulated
    def test_an_interrupted_bench_keeps_what_it_has(self):
        process = self.start("bench", "--n", "64,3000", "--types", "i32", "--threads", "1",
                             "--isa", "scalar", "-q", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        head, row = process.stdout.readline(), process.stdout.readline()
        self.assertRegex(head, rb"^ +n +type +threads")
        self.assertRegex(row, rb"^ +64 +i32 +1 +directed ")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, out), (BY_KEY, b""))
        self.assertEqual(err, b"tilewright: interrupted\n")

    # -------------------------------------------------------------------------------- batches
    #
    # The second of three files is a pipe. Who has opened it for writing knows that the program has
    # come so far and no further: nothing here depends on time.

    def open_pipe(self, name, process):
        """The writing end of a pipe, once the program reads it."""
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            self.assertIsNone(process.poll(), "it has ended without reading " + name)
            try:
                writer = os.open(self.path(name), os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                self.assertEqual(error.errno, errno.ENXIO)
                time.sleep(0.005)
                continue
            os.set_blocking(writer, True)
            return writer
        self.fail("it does not read " + name)

    def three_files(self):
        self.write("a.pgm", b"P5 2 1 255\n\x01\x02")
        os.mkfifo(self.path("b.pgm"))
        self.write("c.pgm", b"P5 2 1 255\n\x03\x04")

    def test_an_interrupted_batch_keeps_whole_files_and_begins_no_other(self):
        for command in (("map", "x + 1"), ("entropy",)):
            with self.subTest(command=command):
                self.three_files()
                process = self.start(*command, "a.pgm", "b.pgm", "c.pgm", "--out-dir", "out", "--json",
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                writer = self.open_pipe("b.pgm", process)
                os.write(writer, b"P5 2 1 255\n\x01")
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(BrokenPipeError):  # the signal came before the last byte
                    os.write(writer, b"\x02")
                os.close(writer)
                out, said = process.communicate(timeout=LIMIT)
                self.assertEqual(process.returncode, BY_KEY, said)
                self.assertEqual(said, b"1 of 3 files done before the interrupt\ntilewright: interrupted\n")
                self.assertEqual(os.listdir(self.path("out")), ["a.pgm"])
                report = json.loads(out)
                self.assertEqual([file["input"] for file in report["files"]], ["a.pgm", "b.pgm"])
                self.assertEqual((report["done"], report["failed"], report["interrupted"]), (1, 0, True))
                for name in ("a.pgm", "b.pgm", "c.pgm", "out/a.pgm"):
                    os.remove(self.path(name))

    def test_an_interrupted_batch_leaves_no_new_folder_without_files(self):
        os.mkdir(self.path("there"))
        os.mkfifo(self.path("b.pgm"))
        for folder in ("out", "there"):
            process = self.start("map", "x + 1", "b.pgm", "--out-dir", folder, stderr=subprocess.PIPE)
            writer = self.open_pipe("b.pgm", process)
            os.write(writer, b"P5 2 1 255\n\x01")
            self.assertTrue(os.path.isdir(self.path(folder)))
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(BrokenPipeError):  # the signal came before the last byte
                os.write(writer, b"\x02")
            os.close(writer)
            _, said = process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, BY_KEY, said)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["b.pgm", "there"])

    def read_terminal(self, master):
        """What has been written to it, as far as it is there."""
        said = b""
        while select.select([master], [], [], 0)[0]:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            said += piece
        return said

    def test_a_batch_has_one_progress_line_and_a_summary(self):
        for command in (("map", "x + 1"), ("entropy",)):
            with self.subTest(command=command):
                self.three_files()
                try:
                    master, slave = pty.openpty()
                except OSError as error:  # a bare container may have none
                    self.skipTest(f"no terminal to test with: {error}")
                process = self.start(*command, "a.pgm", "b.pgm", "c.pgm", "--out-dir", "out", stderr=slave)
                writer = self.open_pipe("b.pgm", process)
                said = self.read_terminal(master)
                self.assertIn(b"\r\x1b[K1/3 a.pgm: ", said)
                self.assertEqual(said.rsplit(b"\r\x1b[K", 1)[-1], b"2/3 b.pgm: ")
                self.assertNotIn(b"\n", said)
                os.write(writer, b"P5 2 1 255\n\x01\x02")
                os.close(writer)
                self.assertEqual(process.wait(timeout=LIMIT), 0)
                os.close(slave)
                said += self.read_terminal(master)
                os.close(master)
                self.assertIn(b"\r\x1b[K3/3 c.pgm: ", said)
                self.assertEqual(said.count(b"\n"), 1, said)
                self.assertRegex(said, rb"\r\x1b\[K3 of 3 files done in [0-9.]+ [mu]?s\r\n$")
                for name in ("a.pgm", "b.pgm", "c.pgm"):
                    os.remove(self.path(name))

    @unless_emulated
    def test_a_file_of_many_passes_shows_that_it_has_begun(self):
        self.write("a.pgm", b"P5 16 16 255\n" + bytes(range(256)))
        said = self.run_on_terminal("map", "sin(x) + 1", "a.pgm", "--out-dir", "out", "--out-format", "npy",
                                    "--out-type", "f32", "--repeat", "100000000000",
                                    until=rb"\x1b\[K1/1 a\.pgm: map +0 %")
        self.assertTrue(said.endswith(b"tilewright: interrupted\r\n"), said)
        self.assertFalse(os.path.exists(self.path("out")))

    # ------------------------------------------------------------------------------ terminals

    def run_on_terminal(self, *words, until):
        """Everything a long run writes to a terminal until `until` has been seen, and its end."""
        try:
            master, slave = pty.openpty()
        except OSError as error:  # a bare container may have none
            self.skipTest(f"no terminal to test with: {error}")
        process = self.start(*words, stderr=slave, stdout=subprocess.DEVNULL)
        os.close(slave)
        said, sent = b"", False
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the terminal's other side is closed
                break
            if not piece:
                break
            said += piece
            if not sent and re.search(until, said):
                process.send_signal(signal.SIGINT)
                sent = True
        os.close(master)
        self.assertEqual(process.wait(timeout=LIMIT), BY_KEY)
        return said

    @unless_emulated
    def test_a_terminal_sees_progress_that_is_cleared_at_the_end(self):
        self.long_graph()
        said = self.run_on_terminal("apsp", "long.bin", *self.LONG_RUN,
                                    until=rb"\d %  [0-9.]+ [kMGT] relaxations/s  [^\r]+ left")
        self.assertTrue(said.endswith(b"\r\x1b[Ktilewright: interrupted\r\n"),
                        said[-200:])

    @unless_emulated
    def test_a_result_on_a_terminal_begins_on_a_clear_line(self):
        self.tilewright("generate", "graph", "sparse", "g.bin", "-n", "700", "-q")
        self.tilewright("generate", "image", "natural", "i.pgm", "--rows", "700", "-q")
        self.tilewright("apsp", "g.bin", "d.npy", "-q")
        cleared = 0
        for words in (("apsp", "g.bin"), ("apsp", "g.bin", "--json"), ("summary", "d.npy"),
                      ("reach", "g.bin"), ("path", "g.bin", "0", "1"), ("entropy", "i.pgm"),
                      ("map", "sin(x)", "i.pgm"), ("bench", "--n", "64", "--types", "i32")):
            status, said = self.on_terminal(*words)
            self.assertIn(status, (0, 1))
            cleared += b"\x1b[K" in said  # else it was done before there was any progress to show
            for line in said.split(b"\r\n"):  # what a terminal shows, after the last erasure
                self.assertNotRegex(line.rsplit(b"\r\x1b[K", 1)[-1], rb"^[a-z ]+  +(\d+ %|[0-9.]+ [kMG]? ?\w+/s)",
                                    (words, said))
        if cleared == 0:
            self.skipTest("every command was done before it showed any progress")

    def on_terminal(self, *words, stdout=None):
        """Status and all that a command writes to a terminal, which has its standard output unless that is given."""
        try:
            master, slave = pty.openpty()
        except OSError as error:  # a bare container may have none
            self.skipTest(f"no terminal to test with: {error}")
        process = self.start(*words, stdout=slave if stdout is None else stdout, stderr=slave)
        os.close(slave)
        said = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the terminal's other side is closed
                break
            if not piece:
                break
            said += piece
        os.close(master)
        return process.wait(timeout=LIMIT), said

    def test_names_from_files_cannot_steer_a_terminal(self):
        self.write("e.csv", b'"a\x1b]0;x\x07",b\xc2\x9b31m,1\n')
        for words in (("apsp", "e.csv"), ("apsp", "e.csv", "--json"), ("path", "e.csv", "a\x1b]0;x\x07", "b\u009b31m"),
                      ("convert", "e.csv", "y\x1b[31m.bin")):
            status, said = self.on_terminal(*words)
            self.assertEqual(status, 0, (words, said))
            shown = said.replace(b"\r\x1b[K", b"")  # what clears the line of progress
            self.assertNotRegex(shown, rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]", (words, said))
        status, said = self.on_terminal("apsp", "e.csv")
        self.assertIn(b"a?]0;x?", said)

    def test_there_is_no_progress_beside_a_result_that_may_come_out_on_the_same_terminal(self):
        self.tilewright("generate", "graph", "sparse", "g.bin", "-n", "60", "-q")
        self.tilewright("apsp", "g.bin", "d.npy", "-q")
        self.write("a.pgm", b"P5 1 1 255\n\x07")
        for words in (("apsp", "g.bin", "--long", "-o", "-"), ("convert", "d.npy", "-", "--out-format", "csv"),
                      ("reach", "g.bin", "-", "--out-format", "csv"), ("map", "x", "a.pgm", "-", "--out-format", "csv"),
                      ("generate", "graph", "grid", "-", "--out-format", "gr")):
            status, said = self.on_terminal(*words)
            self.assertEqual((status, said.count(b"\x1b")), (0, 0), (words, said))
            with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as cat:
                status, said = self.on_terminal(*words, stdout=cat.stdin)
                cat.stdin.close()
            self.assertEqual((status, said.count(b"\x1b")), (0, 0), (words, said))

    def test_every_line_of_news_is_written_in_one_piece(self):
        self.tilewright("generate", "graph", "sparse", "g.bin", "-n", "60", "-q")
        for words, status in (("apsp", "g.bin"), 0), (("apsp", "absent.bin"), 2):
            reader, writer = os.pipe2(os.O_DIRECT)  # which keeps writes apart
            process = self.start(*words, stdout=subprocess.DEVNULL, stderr=writer)
            os.close(writer)
            pieces = list(iter(lambda: os.read(reader, 4096), b""))  # pylint: disable=cell-var-from-loop
            os.close(reader)
            self.assertEqual(process.wait(timeout=LIMIT), status)
            self.assertEqual([piece for piece in pieces if not piece.endswith(b"\n")], [], pieces)

    def test_a_terminal_gets_no_binary_data(self):
        self.tilewright("generate", "graph", "sparse", "g.bin", "-n", "60", "-q")
        for words, what in ((("apsp", "g.bin", "-"), b"OUT"), (("apsp", "g.bin", "--predecessors", "-"), b"--predecessors"),
                            (("reach", "g.bin", "-"), b"OUT"), (("convert", "g.bin", "-"), b"OUT"),
                            (("generate", "graph", "grid", "-", "--out-format", "triples"), b"OUT"),
                            (("generate", "image", "noise", "-", "--out-format", "npy"), b"OUT")):
            status, said = self.on_terminal(*words)
            self.assertEqual(status, 2, (words, said))
            self.assertTrue(said.startswith(b"tilewright: " + what + b": refusing to write binary data to the terminal"),
                            (words, said))

    @unless_emulated
    def test_no_progress_means_none(self):
        self.long_graph()
        said = self.run_on_terminal("apsp", "long.bin", "--no-progress", *self.LONG_RUN,
                                    until=rb"plan:[^\n]*\n")
        self.assertNotIn(b"\x1b", said)

    # -------------------------------------------------------------------------------- reports

    def test_the_report_of_a_run_is_complete(self):
        self.tilewright("generate", "graph", "dense", "g.bin", "-n", "200", "-q")
        report = json.loads(self.tilewright("apsp", "g.bin", "out.npy", "--json", "-q", "--verify",
                                            "--method", "closure", "--threads", "2"))
        self.assertEqual(report["command"], "apsp")
        self.assertEqual(report["graph"]["vertices"], 200)
        self.assertEqual(report["graph"]["weight_type"], "i32")
        self.assertEqual((report["method"], report["type"]), ("closure", "i32"))
        self.assertIn(report["working_type"], ("u8", "u16", "i32"))
        self.assertIn(report["threads"], (1, 2))  # 1 in a build without threads
        self.assertGreaterEqual(report["attempts"], 1)
        self.assertEqual(report["relaxations"], 200**3)
        self.assertGreater(report["ceiling"], 0)
        self.assertAlmostEqual(report["ratio"], report["rate"] / report["ceiling"])
        self.assertEqual((report["verified"], report["verified_rows"]), (True, 16))
        self.assertGreater(report["peak_rss"], 200 * 200)
        self.assertGreater(report["memory_peak"], 200 * 200)
        self.assertEqual(report["output"], "out.npy")
        self.assertEqual(set(report["seconds"]),
                         {"read", "startup", "wait", "plan", "upload", "compute", "device", "download", "output",
                          "verify", "total"})
        self.assertLessEqual(report["seconds"]["compute"], report["seconds"]["total"])

    def test_a_report_without_output_holds_the_summary(self):
        self.write("g.bin", triples(3, [(0, 1, 5), (1, 2, 2)]))
        report = json.loads(self.tilewright("apsp", "g.bin", "--json", "-q"))
        self.assertIsNone(report["verified"])
        self.assertIsNone(report["output"])
        self.assertEqual(report["summary"]["diameter"], 7)

    def test_a_report_goes_to_standard_error_when_the_matrix_takes_standard_output(self):
        self.write("g.bin", triples(2, [(0, 1, 5)]))
        done = subprocess.run([PROGRAM, "apsp", "g.bin", "-", "--json", "-q"], check=True,
                              cwd=self.folder.name, env=self.environment, capture_output=True)
        self.assertEqual(done.stdout, struct.pack("<4i", 0, 5, INFINITY, 0))
        self.assertEqual(json.loads(done.stderr)["output"], "-")

    def test_a_report_is_not_lost_when_the_output_is_what_standard_output_was_redirected_to(self):
        self.write("g.bin", triples(2, [(0, 1, 5)]))
        self.write("a.pgm", b"P5 1 1 255\n\x07")
        for words in (("apsp", "g.bin"), ("reach", "g.bin"), ("entropy", "a.pgm"),
                      ("map", "x", "a.pgm"), ("generate", "image", "noise")):
            with open(self.path("out.npy"), "wb") as file:
                done = subprocess.run([PROGRAM, *words, "out.npy", "--json", "-q"], check=True, stdout=file,
                                      stderr=subprocess.PIPE, cwd=self.folder.name, env=self.environment)
            self.assertTrue(self.read("out.npy").startswith(b"\x93NUMPY"), words)
            self.assertEqual(json.loads(done.stderr)["output"], "out.npy", words)

    def test_strange_names_are_escaped(self):
        name = b'a "quoted" \\ name\n\xff\xc3\xa9.bin'
        with open(os.path.join(self.folder.name.encode(), name), "wb") as file:
            file.write(triples(1, []))
        report = json.loads(self.tilewright("apsp", name, "--json", "-q"))
        self.assertEqual(report["graph"]["input"], 'a "quoted" \\ name\n\ufffd\u00e9.bin')

    def test_an_order_is_not_left_out_for_what_takes_longer(self):
        """Searches may turn out slower than usual: then what was dear beside a guess is cheap beside them."""
        draw = random.Random(9)
        n = 60000
        self.write("tree.bin", triples(n, [(v, max(0, v - draw.randrange(1, 21)), draw.randrange(1, 1000)) for v in range(1, n)]))
        seconds = {"us": 1e-6, "ms": 1e-3, "s": 1}
        for sources in ("0-99", "0-299", "0-599"):
            said = self.tilewright("apsp", "tree.bin", "--undirected", "--sources", sources, "--no-cache", "--explain").decode()
            choice = re.search(r"choice: .*, about ([0-9.]+) (us|ms|s) ", said)
            self.assertIsNotNone(choice, said)
            order = re.search(r"sweep +left out: computing its order alone would take about ([0-9.]+) (us|ms|s)$", said, re.M)
            if order is not None:
                limit = float(order[1]) * seconds[order[2]] / 0.4
                self.assertLessEqual(float(choice[1]) * seconds[choice[2]], 1.05 * limit, said)

    def test_the_plan_alone_is_reported(self):
        self.write("g.bin", triples(3, [(0, 1, 5), (1, 2, 2)]))
        report = json.loads(self.tilewright("apsp", "g.bin", "--explain", "--json"))
        self.assertIn("explanation", report)
        self.assertNotIn("rate", report)

    def test_devices_are_reported(self):
        report = json.loads(self.tilewright("devices", "--json"))
        self.assertIn("scalar", report["isas"].split())
        self.assertEqual([c["type"] for c in report["ceilings"]],
                         ["u8", "u16", "i32", "f32", "f64"])
        for ceiling in report["ceilings"]:
            self.assertGreater(ceiling["one_thread"], 0)
            self.assertIsNone(ceiling["gpu"])  # none is named

    @unless_emulated
    def test_a_bench_is_reported_and_checked(self):
        report = json.loads(self.tilewright("bench", "apsp", "--n", "65,100", "--types",
                                            "u8,u16,i32,f32,f64", "--threads", "1", "--repeat", "2",
                                            "--json"))
        self.assertTrue(report["complete"])
        self.assertEqual(len(report["cases"]), 10)
        for case in report["cases"]:
            self.assertGreater(case["ratio"], 0)
            self.assertEqual(case["checked_rows"], 3)
            self.assertLessEqual(case["fastest"], case["seconds"])

    @unless_emulated
    def test_an_undirected_bench_needs_half_of_the_work(self):
        report = json.loads(self.tilewright("bench", "--n", "64", "--types", "i32", "--threads",
                                            "1", "--undirected", "--json"))
        self.assertEqual([case["symmetric"] for case in report["cases"]], [True])

    @unless_emulated
    def test_the_selftest_passes_and_counts(self):
        wing = ["map"] if SMALL else []  # a unit test has the largest, that of apsp, in every build
        last = self.tilewright("selftest", *wing).decode().splitlines()[-1]
        self.assertRegex(last, r"^[1-9]\d* passed, 0 failed, \d+ skipped$")

    # ------------------------------------------------------------------------- other manners

    def test_a_closed_standard_output_is_not_the_output_file(self):
        self.write("g.bin", triples(2, [(0, 1, 5)]))
        subprocess.run(["sh", "-c", '"$0" apsp g.bin out -q <&- >&- 2>&-', PROGRAM], check=True,
                       cwd=self.folder.name, env=self.environment)
        self.assertEqual(self.read("out"), struct.pack("<4i", 0, 5, INFINITY, 0))

    def run_unread(self, *words, ignored=False):
        """Status and stderr of a command whose standard output has lost its reader."""
        reader, writer = os.pipe()
        os.close(reader)
        process = self.start(*words, stdout=writer, stderr=subprocess.PIPE, ignored=ignored)
        os.close(writer)
        _, said = process.communicate(timeout=LIMIT)
        return process.returncode, said

    def test_a_reader_that_goes_away_ends_a_run_quietly(self):
        self.tilewright("generate", "graph", "grid", "g.bin", "-n", "400", "-q")
        self.tilewright("apsp", "g.bin", "d.npy", "-q")
        self.tilewright("generate", "image", "natural", "i.pgm", "--rows", "300", "-q")
        for words in (("apsp", "g.bin", "-"), ("apsp", "g.bin", "-", "--predecessors", "p.npy"),
                      ("apsp", "g.bin"), ("summary", "d.npy"), ("path", "g.bin", "0", "399"),
                      ("apsp", "g.bin", "--json"), ("compare", "d.npy", "d.npy"),
                      ("convert", "d.npy", "-", "--out-format", "csv"), ("apsp", "g.bin", "--long", "-o", "-"),
                      ("generate", "graph", "grid", "-", "--out-format", "gr"), ("entropy", "i.pgm"),
                      ("entropy", "i.pgm", "-", "--out-format", "csv"), ("map", "x", "i.pgm"),
                      ("map", "x", "i.pgm", "-", "--out-format", "pnm"), ("map", "x", "i.pgm", "--explain"),
                      ("map", "x", "i.pgm", "--json")):
            self.assertEqual(self.run_unread(*words, "-q"), (-signal.SIGPIPE, b""), words)
            self.assertEqual(sorted(os.listdir(self.folder.name)), ["d.npy", "g.bin", "i.pgm"], words)
        self.assertEqual(self.run_unread("help", "apsp"), (-signal.SIGPIPE, b""))

    def test_a_reader_that_goes_away_hides_no_other_error(self):
        status, said = self.run_unread("apsp", "absent.bin", "-q")
        self.assertEqual(status, 2)
        self.assertIn(b"absent.bin", said)

    def test_where_a_closed_pipe_is_ignored_it_is_an_error(self):
        self.tilewright("generate", "graph", "grid", "g.bin", "-n", "400", "-q")
        for words in (("apsp", "g.bin", "-"), ("apsp", "g.bin")):
            status, said = self.run_unread(*words, "-q", ignored=True)
            self.assertEqual(status, 2, said)
            self.assertRegex(said, rb"^tilewright: cannot write [^\n]+\n$")

    @unless_emulated
    def test_a_note_that_a_killed_process_left_under_our_number_does_no_harm(self):
        def leave_note():
            with open(f"/dev/shm/__KMP_REGISTERED_LIB_{os.getpid()}_{os.getuid()}", "wb"):
                pass

        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("/dev/shm cannot be written")
        self.tilewright("generate", "graph", "sparse", "g.bin", "-n", "50", "-q")
        process = subprocess.Popen([PROGRAM, "apsp", "g.bin", "d", "-q"], cwd=self.folder.name,
                                   env=self.environment, preexec_fn=leave_note)
        note = f"/dev/shm/__KMP_REGISTERED_LIB_{process.pid}_{os.getuid()}"
        try:
            self.assertEqual(process.wait(timeout=LIMIT), 0)
        finally:
            if os.path.exists(note):
                os.unlink(note)

    # ---------------------------------------------------------------------------------- texts

    @unless_emulated
    def test_the_manual_and_the_completions_are_those_of_the_program(self):
        for option, name in (("--man", "tilewright.1"), ("--completion", "tilewright.bash"),
                             ("--completion=bash", "tilewright.bash"),
                             ("--completion=zsh", "tilewright.zsh"),
                             ("--completion=fish", "tilewright.fish")):
            with open(os.path.join(DOCS, name), "rb") as file:
                self.assertEqual(file.read(), self.tilewright(option),
                                 f"renew docs/{name} with 'tilewright {option}'")

    def test_the_manual_has_every_option_of_every_command(self):
        manual = self.tilewright("--man").decode().replace("\\-", "-")
        for command in COMMANDS:
            section = manual.split(f".SS tilewright {command}\n")[1].split("\n.SS ")[0]
            text = self.tilewright("help", command).decode()
            options = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)
            self.assertGreater(len(options), 3)
            for option in options:
                if option != "--help":
                    self.assertRegex(section, rf"(?m)^\.B .*{option}\b")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
