#!/usr/bin/env python3
"""lab.py PROGRAM: what tilewright-lab says, keeps and refuses."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

PROGRAM = os.path.abspath(sys.argv.pop(1))
LIMIT = 1200  # seconds after which something hangs; a busy machine may need minutes
SMALL = "TW_TEST_SMALL" in os.environ  # without the sizes that a plain build has tested
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def lab(*words, path=None):
    """The program with these words and, where a path is given, what lies there alone to be run by it."""
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, encoding="utf-8", timeout=LIMIT, check=False,
                          env=os.environ if path is None else {**os.environ, "PATH": str(path)})


def listed_ladders():
    return lab("list").stdout.split("\n\n")[0].splitlines()


def ladders():
    return [line.split()[0] for line in listed_ladders()]


def cpu_ladders():
    return [line.split()[0] for line in listed_ladders() if "(GPU)" not in line]


def gpu_ladders():
    return [line.split()[0] for line in listed_ladders() if "(GPU)" in line]


def module_of(tool):
    """A program of tools/ as a module of its own."""
    loader = importlib.machinery.SourceFileLoader(tool.replace("-", "_"), str(DOCS.parent / "tools" / tool))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    module.OTHERS = dict(module.OTHERS)
    return module


# What pages and scripts make of results is the same with any build: the presets of slower ones leave it out.
once = unittest.skipIf(os.environ.get("TW_TEST_SMALL"), "the same with any build; the plain one has tried it")


class Laboratory(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def refuses(self, words, *says):
        done = lab(*words)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)

    def result(self, name="apsp-cpu"):
        return json.loads((self.path / f"{name}.json").read_text())

    def test_every_rung_is_right_around_the_edges_of_tiles(self):
        for name in cpu_ladders():
            done = lab("run", name, "--n", "1,64,65" if SMALL else "1,63,64,65,130", "--repeat", "1")
            self.assertEqual(done.returncode, 0, f"{name}: {done.stderr}")

    def test_every_rung_has_an_idea_and_a_parent_that_exists(self):
        for name in ladders():
            done = lab("list", name)
            self.assertEqual(done.returncode, 0)
            lines = [line for line in done.stdout.splitlines() if line.startswith("  ")]
            rungs = [line.split()[0] for line in lines]
            self.assertEqual(len(rungs), len(set(rungs)))
            self.assertEqual(done.stdout.count("\nchecked against "), 1 if rungs else 0)
            for line in lines:
                self.assertGreater(len(line.split()), 3, line)
                if "(from " in line:
                    self.assertIn(line.rsplit("(from ", 1)[1].rstrip(")"), rungs)

    def test_rows_come_with_the_titles_of_their_write_ups(self):
        readme = (DOCS.parent / "lab" / "README.md").read_text(encoding="utf-8")
        titles = dict(re.findall(r"^\| ([A-E]) \| (“.*?”)", readme, re.MULTILINE))
        self.assertEqual("".join(titles), "ABCDE")
        tour = (DOCS / "tour.md").read_text(encoding="utf-8")
        self.assertEqual(dict(re.findall(r"^\| ([A-E]) \| (“.*?”)", tour, re.MULTILINE)), titles)
        manual = re.sub(r"\\\[u([0-9A-F]{4})\]", lambda code: chr(int(code[1], 16)),
                        lab("--man").stdout.replace("\\-", "-"))
        self.assertEqual(dict(re.findall(r"^([A-E]): (“.*?”)", manual, re.MULTILINE)), titles)

        def named(text):
            return dict(re.findall(r"^write-up (.): (“.*?”)", text, re.MULTILINE))
        seen = set()
        for name in ladders():
            told = lab("list", name).stdout
            letters = sorted(set(re.findall(r"^  \S+ +([A-E])\d ", told, re.MULTILINE)))
            self.assertEqual(named(told), {letter: titles[letter] for letter in letters}, name)
            seen |= set(letters)
        self.assertEqual(named(lab("list").stdout), {letter: titles[letter] for letter in sorted(seen)})
        self.assertEqual(named(lab("show", "pthreads").stdout), {"A": titles["A"]})
        self.assertEqual(named(lab("show", "min").stdout), {})
        climb = ["run", "apsp-cpu", "--n", "20", "--repeat", "1", "--rungs"]
        self.assertEqual(named(lab(*climb, "min,pthreads").stdout), {"A": titles["A"]})
        self.assertEqual(named(lab(*climb, "naive,min").stdout), {})

    def test_every_rung_shows_its_source_and_what_it_changes(self):
        shown = 0
        for name in ladders():
            rungs = re.findall(r"^  (\S+)", lab("list", name).stdout, re.MULTILINE)
            for rung in rungs:
                done = self.show(name, rung)
                self.assertEqual(done.returncode, 0, (name, rung, done.stderr))
                self.assertRegex(done.stdout, rf"^{re.escape(rung)} of {name} \(")
                self.assertRegex(done.stdout, r"}\n")
                shown += 1
                parent = re.search("^changes (.*)$", done.stdout, re.MULTILINE)
                if parent:
                    done = lab("diff", name, parent[1], rung)
                    self.assertEqual(done.returncode, 0, (name, rung, done.stderr))
                    changed = [line for line in done.stdout.splitlines()[2:] if line[:1] in "+-" and line[1:].strip()]
                    self.assertTrue(changed, (name, rung, done.stdout))
        self.assertGreater(shown, 100)
        self.assertIn("changes v6\n", lab("show", "v7").stdout)  # in a build without a GPU, too
        told = lab("diff", "v6", "v7").stdout
        self.assertIn("\n-    const double own[MOST + 1] = LAB_LOGARITHMS(double);\n"
                      "+    const float own[MOST + 1] = LAB_LOGARITHMS(float);\n", told)
        told = lab("diff", "apsp-gpu", "grid-1d", "grid").stdout
        self.assertIn("\n-PRODUCT(walk, 1, 32, 16, 16, WALKS | CHECKED)\n+PRODUCT(grid, 1, 32, 16, 16, CHECKED)\n", told)
        self.assertIn("\n static __device__ __forceinline__ void product(", told)
        told = lab("diff", "apsp-hip", "32-32x32", "32-8x32").stdout
        self.assertIn("\n-SHAPE(32, 32, 32)\n+SHAPE(32, 8, 32)\n", told)
        told = lab("diff", "apsp-multi", "engine", "one").stdout
        self.assertIn("\n-     .a = GPUS},\n", told)
        self.assertIn("\n+     .a = 1},\n", told)
        for rung, function in (("double-buffered", "put(const piece &p, int chunk)"), ("async-copies", "put(const piece &, int)"),
                               ("bulk-copies", "feed(pipeline *pipe"), ("mixed-step", "multiply_pair(")):
            if f"\n  {rung} " not in lab("list", "apsp-gpu").stdout:
                continue  # a build for AMD's cards does not have what only NVIDIA's can do
            told = lab("show", rung).stdout
            self.assertIn(function, told)
            self.assertNotIn("lab_bridge_solve", told)
        for rung, function in (("together", "run_together("), ("engine-pinned", "run_engine(")):
            told = lab("show", "entropy-multi", rung).stdout
            self.assertIn(function, told)
            self.assertNotIn("run_bands(", told)
        self.refuses(["show", "engine"], "several ladders have 'engine'; put one of ")
        self.refuses(["show", "v77"], "no ladder has a rung 'v77'")
        self.refuses(["diff", "v7", "min"], "no ladder has both 'v7' and 'min'")
        self.refuses(["show", "entropy-gpu", "v77"], "unknown rung 'v77' of entropy-gpu")

    SHOWN = {}

    def show(self, name, rung):
        """What `show` prints of a rung, without machine code, which takes its time."""
        if (name, rung) not in self.SHOWN:
            self.SHOWN[name, rung] = lab("show", name, rung, path=self.path)
        return self.SHOWN[name, rung]

    @staticmethod
    def definitions(path):
        """{name: line that defines it} of the device functions, kernels and structs of a file of kernels; None for
        those that it has twice, of which the preprocessor takes one."""
        found, twice = {}, set()
        for line in path.read_text().splitlines():
            name = (re.match(r"(?:template <.*> |typedef |static |)struct (?:__align__\(\d+\) )?(\w+)(?:<.*>)?(?: : \w+)?(?: {|$)",
                             line) or
                    re.match(r"(?:template <.*> |static |extern \"C\" |KERNEL |HELD_KERNEL |    )[^=;{]*?(\w+)\((?:const |int|float|word|"
                             r"pipeline|wide_chunk|piece|extent|Counter|bool|lab_|uint|void|close_|kernel_type).*[^;{]$", line))
            if name and not line.startswith(("    if", "    for", "    static __device__ ", "     ")) and "##" not in line:
                name = next(each for each in name.groups() if each)
                if name == "sizeof":
                    continue
                twice.update({name} & found.keys())
                found[name] = line
        return {name: None if name in twice else line for name, line in found.items()}

    @classmethod
    def with_headers(cls, path, seen=None):
        """A file of kernels, the ladders' headers that it includes and the library's, and those that these include; without
        HIP's names for CUDA's."""
        seen = {} if seen is None else seen
        seen[path] = None
        for header in re.findall(r'^#include "((?:ladders|apsp|gpu)/[\w./]+)"$', path.read_text(), re.M):
            header = DOCS.parent / ("lab" if header.startswith("ladders/") else "src") / header
            if header not in seen and header.name not in ("gpu_names.h", "hip_names.h"):
                cls.with_headers(header, seen)
        return list(seen)

    @classmethod
    def tables(cls, path):
        """{name: lines, one of which defines it} of the macros, the types, the constants and the variables of a file and
        of the headers that it includes."""
        found = {}
        for each in [file.read_text() for file in cls.with_headers(path)]:
            for line in each.splitlines():
                name = re.match(r"#define (\w+)(?!\w|$)", line) or re.match(r"typedef .*?(\w+)(?:\(.*\))?;", line) or \
                    re.match(r"(?:static|extern) [^()=]*?(?:__align__\(\d+\) [^()=]*?)?(\w+)(?:\[.*\])?(?: = .*)?;", line)
                if name and "lab_recipe" not in line and "LAB_ENTROPY_SWEPT" not in line:
                    found.setdefault(name[1], []).append(line)
            for constants in re.findall(r"^enum \{(.*?)\};", re.sub(r"/\*.*?\*/", "", each, flags=re.S), re.M | re.S):
                for constant in re.findall(r"(?:^|,)\s*(\w+)", constants):
                    found.setdefault(constant, []).append(re.search(rf"^.*\b{constant}\b.*$", constants, re.M)[0].strip())
        return found

    def test_a_shown_rung_has_the_macros_and_tables_that_its_kernels_use(self):
        used, tables = {}, {}
        for name in ladders():
            for rung in re.findall(r"^  (\S+)", lab("list", name).stdout, re.MULTILINE):
                told = self.show(name, rung).stdout
                text = re.sub(r'/\*.*?\*/|".*?"', "", told.split("\n\n", 1)[1], flags=re.S)
                text = text.split("\n", 1)[1] if name.startswith("apsp-gpu") else text
                text = re.sub(r"^struct step_i32 {.*?^};", "", text, flags=re.M | re.S)  # which has names of its own
                files = [DOCS.parent / file for file in re.search(r"^(?:lab/|src/).*$", told, re.MULTILINE)[0].split(", ")]
                host = "".join(file.read_text() for file in files if file.suffix == ".c")
                defined = {}  # a name may be another thing in another of its files
                for file in files if any(file.suffix != ".c" for file in files) else ():
                    for each, lines in tables.setdefault(file, self.tables(file)).items() if file.suffix != ".c" else ():
                        defined.setdefault(each, []).extend(lines)
                for each, lines in defined.items():
                    if each in ("product_begin", "product_run", "together") or re.search(rf"\b{each} =|#define {each}\b", host):
                        continue  # functions, by other names in one of the steps; and what the host calls by that name
                    if re.search(rf"(?<![\w.>:#]){each}\b(?!#)", text):
                        self.assertTrue(any(line in told for line in lines), (name, rung, each))
                        used.setdefault((name, rung), set()).add(each)
        shape = {"ROWS", "WORDS", "GROUP", "SIDE", "STAGES", "DEPTH", "step", "word", "TWI_WAVE"}
        listed = lab("list", "apsp-gpu").stdout  # AMD's cards do not have what only NVIDIA's can do
        bridges = [("apsp-gpu", rung, shape | more) for rung, more in (
            ("packed", {"LAB_STEP", "LAB_IS_packed", "A_GROUPS"}), ("double-buffered", {"TWI_BACKGROUND_COPY"}),
            ("async-copies", {"TWI_BACKGROUND_COPY", "LAB_IS_async"}), ("bulk-copies", {"TWI_COPY_ENGINE", "SPEAKERS"}),
            ("mixed-step", {"UNROLL"})) if f"\n  {rung} " in listed]
        for name, rung, wanted in (("apsp-gpu", "stages", {"STAGES", "tiles", "SIDE", "TILE_BYTES", "stage"}),
                                   ("apsp-gpu", "coarse", {"PRODUCT", "STRAIGHT", "COALESCED", "SHARED", "tiles"}),
                                   ("apsp-gpu", "eight-by-eight", {"WIDE", "LAB_WIDE_SIDE", "DEPTHS"}),
                                   ("entropy-gpu", "v3", {"constant_table", "PLACE", "KERNEL", "SOLVE", "LAUNCH"}),
                                   ("entropy-gpu", "v7", {"LAB_LOGARITHMS", "PLACE", "KERNEL", "MOST"}),
                                   ("entropy-gpu-threads", "v7-128-held", {"HELD_KERNEL", "SOLVE"}),
                                   ("entropy-multi", "v14", {"LAB_LOGARITHMS", "BOUNDS", "LAB_ENTROPY_PIECE_THREADS"}),
                                   ("map-gpu", "table", {"LAB_MAP_INPUTS"}), *bridges):
            self.assertEqual(wanted - used[name, rung], set(), (name, rung))
        told = self.show("apsp-gpu", "stages").stdout
        for function in ("static __global__ void stage1(", "static void solve_stages(", "extern __shared__ int tiles[];"):
            self.assertIn("\n" + function, told)
        told = lab("diff", "entropy-gpu", "v7", "v7-constant").stdout
        self.assertIn("\n+static __constant__ float constant_floats[MOST + 1];\n", told)
        self.assertIn("\n-#define LAB_LOGARITHMS(type)", told)
        # A name of a comment alone, or of a parameter, brings nothing.
        self.assertNotIn("constant_table", self.show("entropy-gpu", "v7").stdout)
        self.assertNotIn("lab_tiles_for", self.show("apsp-gpu", "stages").stdout)

    @once
    def test_a_shown_rung_has_all_that_its_kernels_call(self):
        folder, kernels = DOCS.parent / "lab" / "ladders", set()
        looked_up = {}
        for path in [*folder.glob("*/*_kernels.cu"), *(DOCS.parent / "src/apsp/gpu/kernels" / name for name in
                                                       ("kernel.cu", "product.cuh", "step.cuh"))]:
            looked_up[str(path.relative_to(DOCS.parent))] = all_of = {}
            for file in self.with_headers(path):
                for function, line in self.definitions(file).items():
                    all_of[function] = None if function in all_of else line
        self.assertGreater(len(looked_up["lab/ladders/apsp/gpu_kernels.cu"]), 40)
        for name in ladders():
            for rung in re.findall(r"^  (\S+)", lab("list", name).stdout, re.MULTILINE):
                told = self.show(name, rung).stdout
                files = re.search(r"^(?:lab/|src/).*$", told, re.MULTILINE)[0].split(", ")
                text = re.sub(r"/\*.*?\*/", "", told.split("\n\n", 1)[1], flags=re.S)
                for file in files:
                    for function in looked_up.get(file, {}):
                        if re.search(rf"(?<![\w.>:]){function}(?:<[^;()]*>)?(?:<<<|\()", text) or \
                                re.search(rf"\b{function}<", text):
                            lines = [looked_up[each][function] for each in files if function in looked_up.get(each, {})]
                            self.assertTrue(None in lines or any(each in told for each in lines),
                                            (name, rung, function))
                            kernels.add(function)
        wanted = ["shared_tile", "relaxed", "stage2_branches", "solve_piece", "half_rest", "put_edges", "one_branch",
                  "is_fused", "load_once", "close_registers", "shape"]
        if "\n  bulk-copies " in lab("list", "apsp-gpu").stdout:  # AMD's cards do not have what only NVIDIA's can do
            wanted += ["barrier_wait", "copy_block", "copy16"]
        for function in wanted:
            self.assertIn(function, kernels)
        self.assertIn("    static __device__ __forceinline__ void relax(", lab("show", "apsp-gpu", "block-64").stdout)
        told = lab("diff", "stages", "merged-branches").stdout
        self.assertIn("\n-static __global__ void stage2_branches(", told)
        self.assertIn("\n+static __global__ void stage2(", told)

    def test_what_fills_a_table_and_launches_a_kernel_is_shown(self):
        for name, rung, *lines in (
                ("entropy-gpu", "v3", "cudaMemcpyToSymbol(constant_table,"), ("entropy-gpu", "v7-constant", "constant_floats,"),
                ("entropy-multi", "v14", 'extern "C" int lab_entropy_launch(', "solve_piece<float>\n            <<<"),
                ("entropy-multi", "together", 'extern "C" int lab_entropy_launch('),
                ("map-gpu", "table", "static __global__ void fill_table(", "    fill_table<<<"),
                ("apsp-gpu", "pivot-registers", "close_in_registers<<<", "void lab_wide_products(int *d"),
                ("apsp-gpu", "mixed-step", "update_kernel<<<")):
            for line in lines:
                self.assertIn(line, self.show(name, rung).stdout)

    def test_the_bridges_show_the_library_under_its_conditions(self):
        told = {rung: self.show("apsp-gpu", rung).stdout
                for rung in ("pivot-registers", "packed", "double-buffered", "async-copies", "bulk-copies", "mixed-step")}
        for rung, text in told.items():
            if "unknown rung" in text or not text:
                continue
            for line in ("struct step_i32 {", "    enum { LANES = 1, FUSED = 3, SKEW = 0 };",
                         "        return __vimin3_s32(c, a0 * one + b0, a1 * one + b1);", "        return __viaddmin_s32(a, b, c);",
                         "static __host__ __device__ constexpr bool is_fused(int at, int i)",
                         "    ROWS = shape<sizeof(word), SIDE>::ROWS,", "template <> struct shape<4, 128> {"):
                self.assertIn(f"\n{line}\n", text, rung)
            self.assertEqual("    enum { FUSED = 8 };\n" in text, rung != "mixed-step")
            opened = len(re.findall(r"^#if", text, re.M))
            self.assertEqual(opened, len(re.findall(r"^#endif", text, re.M)))
        self.assertIn("\ncompiled with -DTWI_GPU_TYPE=packed -DTWI_GPU_SIDE=128\n", told["packed"])
        self.assertIn("\n#if !TWI_COPY_ENGINE && !TWI_BACKGROUND_COPY\nstruct piece { /* in registers", told["double-buffered"])
        self.assertIn("\n#if LAB_STEP(TWI_GPU_TYPE) == LAB_IS_packed\n#undef product_begin\n", told["packed"])
        if told["bulk-copies"]:
            for barrier in ("init", "init_done", "arrive", "arrive_and_expect", "wait"):
                self.assertIn(f"void barrier_{barrier}(", told["bulk-copies"])
            self.assertIn("&& TWI_COMPUTE >= 900\n/* Barriers", told["bulk-copies"])
            self.assertIn("void copy_block(void *shared", told["bulk-copies"])
            changes = lab("diff", "bulk-copies", "mixed-step").stdout
            for line in ("-compiled with -DTWI_GPU_TYPE=bulk -DTWI_GPU_SIDE=128", "+compiled with -DTWI_GPU_TYPE=i32 -DTWI_GPU_SIDE=128",
                         "-    enum { FUSED = 8 };", "     enum { LANES = 1, FUSED = 3, SKEW = 0 };",
                         "                 c[i][j] = step::pair(c[i][j], a0[i], b0[j], a1[i], b1[j], one);"):
                self.assertIn(f"\n{line}\n", changes)

    def kernels_of(self, told):
        """What `show` prints of kernels as C++, and what they are compiled with."""
        text = told.split("\n\n", 1)[1].split("\nmachine code")[0]
        made = re.search(r"^compiled with (.*)\n", text, re.M)
        recipe = re.match(r"\w+\(.*\)\n(?=\n)", text)
        if made or re.match(r"    \S", text):  # the rung's entry in its table
            text = text.split(made[0] if made else "\n\n", 1)[1]
        elif recipe:  # which stands before what it is made of
            text = text[recipe.end():] + recipe[0]
        text = re.sub(r"\b(\w+(?:<[\w, &|]*>)?)[\s\\]*<<<(.*?)>>>\s*\((.*?)\);", r"(void)(\2), \1(\3);", text, flags=re.S)
        text = re.sub(r"asm volatile\(.*?\);", "", text, flags=re.S).replace("extern __shared__", "extern")
        return '#include "shown.h"\n' + text, made[1].split() if made else []

    @once
    def test_what_is_shown_of_kernels_is_all_that_a_compiler_asks_for(self):
        compiler = shutil.which(os.environ.get("CXX", "c++"))
        if compiler is None or SMALL:
            self.skipTest("no C++ compiler" if compiler is None else "a plain build has tested it")
        if "\n  bulk-copies " not in lab("list", "apsp-gpu").stdout:
            self.skipTest("a build for AMD's cards shows what is compiled for those; a plain build has tested it")
        compiled = 0
        for name in ("apsp-gpu", "apsp-gpu-blocks", "apsp-scatter", "entropy-gpu", "map-gpu"):
            for rung in re.findall(r"^  (\S+)", lab("list", name).stdout, re.MULTILINE):
                told = self.show(name, rung).stdout
                files = re.search(r"^(?:lab/|src/).*$", told, re.MULTILINE)[0]
                # Of two files at once, and by the names of other rungs' recipes.
                if re.search(r"\.c(,|$)", files) or (name, rung) in (("apsp-gpu", "pivot-registers"), ("apsp-gpu", "chosen")):
                    continue
                text, made_with = self.kernels_of(told)
                source = self.path / "shown.cpp"
                source.write_text(text)
                done = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", "-w", f"-I{pathlib.Path(__file__).parent}",
                                       "-D__CUDACC__", "-D__CUDA_ARCH__=900", *made_with, source], capture_output=True,
                                      text=True, timeout=LIMIT, check=False)
                self.assertEqual(done.returncode, 0, (name, rung, done.stderr))
                compiled += 1
        self.assertGreater(compiled, 50)

    def stand_in(self, name, answers):
        """A tool on a path of its own, with python3 beside it; it answers by its first word."""
        for each, text in answers.items():
            (self.path / f"{name}{each}").write_text(text, errors="surrogateescape")
        tool = self.path / name
        tool.write_text(f'#!/bin/sh\nexec {shutil.which("cat")} "$0$1"\n')
        tool.chmod(0o755)
        if not (self.path / "python3").exists():
            (self.path / "python3").symlink_to(sys.executable)

    SYMBOLS = ("0000000000000000 l    df *ABS*\t0000000000000000              cpu.c\n"
               "0000000000000100 l     F .text\t0000000000000040              run_naive\n"
               "0000000000000000 l    df *ABS*\t0000000000000000              other.c\n"
               "0000000000000200 l     F .text\t0000000000000040              run_naive\n")

    def test_the_inner_loop_of_a_rung_is_shown(self):
        self.stand_in("objdump", {"-t": self.SYMBOLS, "-d": """
 100:\tmov\tx0, #0x0                   \t// #0
 104:\tadd\tx1, x1, x0
 108:\tmul\tx1, x1, x2
 10c:\tadd\tx1, x1, x0
 110:\tb.ne\t104 <run_naive+0x4>  // b.any
 114:\tldr\tq0, [x1, #16]
 118:\tadd\tv0.4s, v0.4s, v1.4s
 11c:\tb.ne\t114 <run_naive+0x14>
 120:\tb.lt\t100 <run_naive>
 124:\tret
"""})
        done = lab("show", "apsp-cpu", "naive", path=self.path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.endswith("""}

machine code of the functions above (not of what they call):
run_naive: its inner loop, 3 of 10 instructions
     114  ldr q0, [x1, #16]
     118  add v0.4s, v0.4s, v1.4s
     11c  b.ne 114 <run_naive+0x14>
"""), done.stdout)

    def test_what_is_missing_for_machine_code_is_named_in_a_line(self):
        done = lab("show", "apsp-cpu", "naive", path=self.path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("}\n\nmachine code is not shown: cannot run python3; install Python 3\n", done.stdout)
        (self.path / "python3").symlink_to(sys.executable)
        done = lab("show", "apsp-cpu", "naive", path=self.path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("machine code is not shown: no objdump here: it is part of GNU binutils\n", done.stdout)
        self.stand_in("objdump", {"-t": "SYMBOL TABLE:\nno symbols\n"})
        done = lab("show", "apsp-cpu", "naive", path=self.path)
        self.assertIn("machine code is not shown: the program has no symbols: it was stripped\n", done.stdout)
        self.assertIn("machine code is not shown: ", lab("show", "v7", path=self.path).stdout)

    @once
    def test_what_a_tool_prints_cannot_harm_the_shown_rung(self):
        noise = random.Random(17)
        backwards = "".join(f" {0x100 + 4 * i:x}:\tb.ne\t100 <run_naive>\n" for i in range(20000))
        hostile = ["", "\n" * 1000, " 100:\n", " 100:\tadd\tv0.4s\x1b[2J\udcff\n 104:\tb.ne\t100 <run_naive>\n",
                   " 104:\tb.ne\t104 <x>\n 104:\tadd\tx0\n", " " + "f" * 40 + ":\tadd\tx0\n", backwards,
                   " 100:\tadd " + "x" * 100000 + "\n 104:\tb.ne\t100 <run_naive>\n",
                   "".join(chr(noise.randrange(1, 256)) for _ in range(20000))]
        for text in hostile:
            self.stand_in("objdump", {"-t": self.SYMBOLS, "-d": text})
            done = lab("show", "apsp-cpu", "naive", path=self.path)
            self.assertEqual((done.returncode, done.stderr), (0, ""), text[:80])
            self.assertNotIn("\x1b", done.stdout)
            self.stand_in("objdump", {"-t": text, "-d": text})
            done = lab("show", "apsp-cpu", "naive", path=self.path)
            self.assertEqual((done.returncode, done.stderr), (0, ""), text[:80])
        (self.path / "objdump").write_text(f'#!/bin/sh\nexec {shutil.which("yes")} "{" " * 60}"\n')  # for ever
        done = lab("show", "apsp-cpu", "naive", path=self.path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def kernel(self):
        """What machine_code.py says of the kernel at 0x100."""
        done = subprocess.run([sys.executable, DOCS.parent / "lab" / "show" / "machine_code.py", "gpu", PROGRAM, "100"],
                              capture_output=True, text=True, timeout=LIMIT, check=False,
                              env={**os.environ, "PATH": str(self.path)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_what_a_kernel_takes_is_shown_with_its_inner_loop(self):
        code = """
\tcode for sm_90
\t\tFunction : run_naive
        /*0000*/                   LDC R1, c[0x0][0x28] ;                    /* 0x00000a00ff017b82 */
        /*0010*/                   LDS R4, [R2] ;
        /*0020*/                   VIADDMNMX R3, R4, R5, R3, PT ;
        /*0030*/                   STL [R1], R3 ;
        /*0040*/              @!P0 BRA 0x10 ;
        /*0050*/                   EXIT ;
        /*0060*/                   BRA 0x60;
"""
        takes = " Function run_naive:\n  REG:40 STACK:8 SHARED:1024 LOCAL:0 CONSTANT[0]:548\n"
        self.stand_in("objdump", {"-t": self.SYMBOLS})
        self.stand_in("cuobjdump", {"-sass": code, "-res-usage": takes})
        self.assertEqual(self.kernel(), """
machine code for sm_90: 40 registers, 1024 bytes of shared memory beside what a launch asks for, 8 bytes of stack, 1 stores to it and 0 loads
run_naive: its inner loop, 4 of 7 instructions
      10  LDS R4, [R2]
      20  VIADDMNMX R3, R4, R5, R3, PT
      30  STL [R1], R3
      40  @!P0 BRA 0x10
""")
        self.stand_in("cuobjdump", {"-sass": code + code, "-res-usage": takes})
        self.assertIn("is not shown: several kernels of the program are called run_naive", self.kernel())
        for text in ("", "Function :\n", "\tcode for \n\t\tFunction : x\n  /*0000*/ BRA 0x0 ;\n",
                     code.replace("0x10", "0x" + "9" * 60), "\xff" * 1000):
            self.stand_in("cuobjdump", {"-sass": text, "-res-usage": text})
            self.assertIn("machine code", self.kernel())

    def test_results_hold_every_repetition_and_the_machine(self):
        done = lab("run", "apsp-cpu", "--n", "40", "--repeat", "3", "--rungs", "min,engine-i32",
                   "--out", str(self.path), "--seed", "7")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = self.result()
        self.assertEqual([case["rung"] for case in result["cases"]], ["min", "engine-i32"])
        self.assertEqual([len(case["seconds"]) for case in result["cases"]], [3, 3])
        self.assertTrue(all(case["checked"] for case in result["cases"]))
        self.assertEqual(result["seed"], "7")
        for key in ("compiler", "commit", "version", "date"):
            self.assertTrue(result[key])
        self.assertGreater(result["ceiling"]["rate"], 0)
        self.assertEqual([path.name for path in self.path.iterdir()], ["apsp-cpu.json"])

    @once
    def test_a_later_run_keeps_what_the_folder_has(self):
        words = ["run", "map-cpu", "--repeat", "1", "--out", str(self.path)]
        self.assertEqual(lab(*words, "--n", "64,32").returncode, 0)
        first = self.result("map-cpu")["cases"]
        self.assertEqual([case["n"] for case in first], [32] * 5 + [64] * 5)
        self.assertEqual(lab(*words, "--n", "48,64", "--rungs", "fast,branch").returncode, 0)
        now = self.result("map-cpu")["cases"]
        self.assertEqual([case["rung"] for case in now],
                         [case["rung"] for case in first[:5]] + ["branch", "fast"]
                         + [case["rung"] for case in first[5:]])
        self.assertEqual(now[:5], first[:5])
        self.assertEqual(now[8:11], first[6:9])
        self.refuses([*words, "--n", "16", "--seed", "2"], "another seed", "--out")
        self.assertEqual(self.result("map-cpu")["cases"], now)
        (self.path / "map-cpu.json").write_text("{")
        self.refuses(["run", "--out", str(self.path)], "map-cpu.json is damaged", "--out")

    @once
    def test_a_rung_that_ran_once_has_no_spread(self):
        told = lab("run", "map-cpu", "--n", "16", "--repeat", "1", "--rungs", "branch", "--out", str(self.path)).stdout
        self.assertRegex(told, r"\nbranch +ours +\S+ \S+    once +1x ")
        self.assertIsNone(self.result("map-cpu")["cases"][0]["spread"])
        lab("run", "map-cpu", "--n", "16", "--repeat", "2", "--rungs", "branch", "--out", str(self.path))
        self.assertGreaterEqual(self.result("map-cpu")["cases"][0]["spread"], 0)
        for path in (DOCS.parent / "bench" / "results").glob("*lab*/*.json"):
            for case in json.loads(path.read_text())["cases"]:
                self.assertEqual(case["spread"] is None, len(case["seconds"]) == 1, (path, case["n"], case["rung"]))

    def test_what_stands_in_a_table_of_the_write_ups_was_not_run_once(self):
        for path in (DOCS.parent / "bench" / "results").glob("*lab*/*.json"):
            once = [(case["n"], case["rung"]) for case in json.loads(path.read_text())["cases"]
                    if len(case["seconds"]) == 1 and "counters" not in case]
            self.assertEqual(once, [], path)

    @once
    def test_each_case_says_how_loaded_the_machine_was(self):
        words = ["run", "map-cpu", "--repeat", "1", "--rungs", "branch", "--out", str(self.path)]
        lab(*words, "--n", "16")
        result = self.result("map-cpu")
        self.assertGreaterEqual(result["cases"][0]["load"], 0)
        del result["cases"][0]["load"]  # as results were that had one load in all
        result["machine"]["load"] = 12.5
        (self.path / "map-cpu.json").write_text(json.dumps(result))
        lab(*words, "--n", "17")
        result = self.result("map-cpu")
        self.assertEqual(result["cases"][0]["load"], 12.5)
        self.assertLess(result["machine"]["load"], 1e4)
        self.assertEqual(result["cases"][1]["load"] >= 0, True)
        result["cases"][0] |= {"version": "0.0.1", "commit": "1234567", "date": "then"}
        del result["cases"][0]["load"]  # another run's: nobody knows
        (self.path / "map-cpu.json").write_text(json.dumps(result))
        lab(*words, "--n", "18")
        self.assertNotIn("load", self.result("map-cpu")["cases"][0])

    @once
    def test_a_part_that_spreads_far_is_marked(self):
        case = {"rung": "r", "n": 5, "median": 3.0, "seconds": [3.0, 3.0], "rate": 1.0, "load": 1.0,
                "parts": {"upload": 1.0, "compute": 2.0}, "parts_of_each": {"upload": [1.0, 1.3], "compute": [2.0, 1.7]}}
        self.page_of({"format": "tilewright-lab 1", "ladder": "x", "machine": {"processors": 2, "load": 0.5},
                      "cases": [case, case | {"rung": "s", "load": 3.0}]})
        told = (self.path / "report.md").read_text()
        self.assertIn("| r | 1 s ⚠ | 2 s |", told)
        self.assertIn("load 0.5 to 3.0: a busy machine, figures are low", told)

    def test_a_default_run_takes_less_than_five_minutes_without_a_gpu(self):
        told = (DOCS.parent / "bench/results/neoverse-n1-lab-default.txt").read_text()
        minutes, seconds = re.search(r"Elapsed .*: (\d+):(\d+)", told).groups()
        took = 60 * int(minutes) + int(seconds)
        self.assertLess(took, 300)
        quoted = re.search(r"\s(\d+) s on two cores of a Neoverse N1 ", (DOCS.parent / "lab" / "README.md").read_text())
        self.assertEqual(int(quoted[1]), took)
        run = set(re.findall(r"^(.*), n = \d+", told, re.M))  # every ladder that it had then
        titles = {re.match(r"\S+: (.*)", lab("list", name).stdout)[1] for name in cpu_ladders()}
        self.assertEqual(titles - run, set())

    def test_every_row_of_the_write_ups_has_a_command_that_exists(self):
        rows, known = set(), ladders()
        text = (DOCS.parent / "lab" / "README.md").read_text()
        for line in text.split("\n## Where our order differs")[0].splitlines():
            if not re.match(r"\| [A-E][0-9,]", line):  # not the titles, which have a letter alone
                continue
            of, _, commands = line.strip("| ").split(" | ")
            for first, last in re.findall(r"([A-E]\d)(?:\u2013([A-E]\d))?", of):
                rows |= {first[0] + str(i) for i in range(int(first[1]), int((last or first)[1]) + 1)}
            for name, rest in re.findall(r"`run ([a-z-]+)([^`]*)`", commands):
                self.assertIn(name, known, line)
                rungs = re.findall(r"^  (\S+)", lab("list", name).stdout, re.MULTILINE)
                for rung in (re.findall(r"--rungs (\S+)", rest) or [""])[0].split(","):
                    self.assertTrue(not rungs or not rung or rung in rungs, (rung, line))
        counts = {"A": 4, "B": 5, "C": 3, "D": 4, "E": 5}
        self.assertEqual(rows, {r + str(i) for r, n in counts.items() for i in range(1, n + 1)})

    def test_the_list_says_what_rungs_are_checked_against(self):
        self.assertIn("\nchecked against three plain loops, every distance\n",
                      lab("list", "apsp-cpu").stdout)

    def test_results_name_their_compiler_and_what_was_checked(self):
        lab("run", "map-cpu", "--n", "16", "--repeat", "1", "--out", str(self.path))
        result = self.result("map-cpu")
        self.assertRegex(result["compiler"], r"^(gcc|clang) \d+\.\d+")
        self.assertIn("double precision", result["against"])
        self.assertIn("copy", result["ceiling"]["of"])
        self.assertEqual(result["failed"], [])

    @once
    def test_the_page_tells_rungs_apart_from_their_parents_and_from_wrong_ones(self):
        self.page_of({
            "format": "tilewright-lab 1", "ladder": "x", "against": "a <table>",
            "ceiling": {"rate": 4.0, "of": "a copy"}, "unit": "units",
            "machine": {"gpu": "H200", "gpu_driver": "CUDA 13", "gpu_compiler": "nvcc 12"},
            "compiler": "gcc 12.2.0",
            "failed": [{"rung": "bad", "n": 5, "outcome": "wrong", "why": "1 is 2", "row": "A1"},
                       {"rung": "big", "n": 5, "outcome": "skipped", "why": "no memory"}],
            "cases": [{"rung": "r", "n": 5, "median": 1.0, "seconds": [1.0], "rate": 1.0,
                       "idea": "plain"},
                      {"rung": "s", "n": 5, "median": 0.5, "seconds": [0.5], "rate": 2.0,
                       "idea": "quick", "parent": "r", "against": "itself"},
                      {"rung": "s", "n": 5, "median": 0.6, "seconds": [0.6], "rate": 2.0,
                       "counters": {"clock": 3e9}}]})
        told = (self.path / "report.md").read_text()
        self.assertIn("| rung | row | time | spread | over r | over its parent | units/s | of the ceiling |",
                      told)
        self.assertIn("| s | ours | 500 ms | once | 2× | 2× | 2 | 50 % |", told)
        self.assertEqual(told.count("| s | ours |"), 1)
        self.assertIn("| bad | A1 | WRONG | – |", told)
        self.assertIn("| big | ours | skipped | – |", told)
        self.assertIn("| s | 3 G |", told)
        for line in ("Checked against a \\<table\\>.", "Except s: against itself.", "bad, n = 5: 1 is 2.",
                     "The ceiling is 4 units/s: a copy.",
                     "H200, driver CUDA 13, nvcc 12, ? threads, gcc 12.2.0"):
            self.assertIn(line, told)
        page = (self.path / "report.html").read_text()
        self.assertIn("<dt>s</dt><dd>quick (from r)</dd>", page)
        self.assertIn("Checked against a &lt;table&gt;.", page)

    @once
    def test_the_contents_mark_a_figure_whose_repetitions_spread_far(self):
        def ladder(name, first, best):
            return {"format": "tilewright-lab 1", "ladder": name, "cases": [
                {"rung": "a", "n": 5, "median": 4.0, "seconds": [4.0 - first, 4.0, 4.0], "rate": 1.0},
                {"rung": "b", "n": 5, "median": 1.0, "seconds": [1.0 - best, 1.0, 1.0], "rate": 1.0}]}
        for name, first, best, line in (("x", 0.1, 0.1, "| 4× | a, 4 s | b, 1 s |"), ("x", 1.0, 0.1, "| 4× ⚠ | a, 4 s ⚠ | b, 1 s |"),
                                        ("x", 0.1, 0.3, "| 4× ⚠ | a, 4 s | b, 1 s ⚠ |")):
            self.page_of(ladder(name, first, best))
            self.assertIn(line, (self.path / "report.md").read_text())
            row = re.search(r"^\| b \| ours \|.*$", (self.path / "report.md").read_text(), re.M)[0]
            self.assertIn(line.split(" | ")[0] + " |", row)  # over the first, in the table of its size
            contents = (self.path / "report.html").read_text().split("</nav>")[0]
            for cell in line.strip("| ").split(" | "):
                self.assertIn(f"<td>{cell}</td>", contents)

    @once
    def test_plots_of_a_page_share_what_they_have_in_common(self):
        cases = [{"rung": rung, "n": n, "median": 1.0 / n, "seconds": [1.0 / n, 1.1 / n], "rate": 1.0 * n * n}
                 for rung in ("a", "b") for n in (5, 50, 500)]
        self.page_of({"format": "tilewright-lab 1", "ladder": "x", "cases": cases})
        page = (self.path / "report.html").read_text()
        self.check_plots(page)
        self.assertGreater(page.count("<use "), 10)
        self.assertEqual(lab("report", str(self.path), "--plots", str(self.path / "plots")).returncode, 0)
        for plot in (self.path / "plots").glob("*.svg"):  # which stand alone
            text = plot.read_text()
            self.check_plots(text)
            self.assertNotIn('"k-', text)

    @once
    def test_parts_are_drawn_by_rung_where_few_rungs_have_the_larger_sizes(self):
        def part(rung, n):
            return {"rung": rung, "n": n, "median": 2.0, "seconds": [2.0], "rate": 1.0, "parts": {"read": 1.0, "compute": 1.0}}
        for cases, caption in (([part(r, n) for n in (1, 2) for r in "abc"] + [part("a", n) for n in (3, 4)], "Where the time goes, n = 2"),
                               ([part("a", n) for n in (1, 2, 3)], "Where the time goes against n: a")):
            self.page_of({"format": "tilewright-lab 1", "ladder": "x", "cases": cases})
            self.assertIn(caption, (self.path / "report.html").read_text())

    def check_plots(self, page):
        """What plots refer to is there, once: marks and clips by their ids, styles by their classes."""
        for name in set(re.findall(r'href="#(m[^"]*)"|url\(#([^)]*)\)', page)):
            self.assertEqual(page.count(f' id="{name[0] or name[1]}"'), 1, name)
        for name in set(re.findall(r' class="(k[^"]*)"', page)):
            self.assertGreaterEqual(page.count(f".{name}{{"), 1, name)
        self.assertNotRegex(page, r'<use (?!href)')

    def test_the_page_on_adding_a_rung_compares_what_it_has_made(self):
        commands = re.findall("^    build/release/lab/tilewright-lab (.*)$", (DOCS / "add-a-rung.md").read_text(),
                              re.MULTILINE)
        made, compared = set(), 0
        for words in map(str.split, commands):
            self.assertIn(words[0], ("list", "show", "run", "diff", "compare"))
            made |= {words[words.index("--out") + 1]} if "--out" in words else set()
            if words[0] == "compare":
                self.assertLessEqual(set(words[1:]), made)
                compared += 1
        self.assertEqual(compared, 1)

    @once
    def test_the_longest_kernel_is_counted_by_itself(self):
        self.page_of({"format": "tilewright-lab 1", "ladder": "x", "cases": [
            {"rung": "r", "n": 5, "median": 1.0, "seconds": [1.0], "rate": 1.0,
             "counters": {"bank_conflicts": 0.25, "kernel": "rest", "of_kernel": {"bank_conflicts": 0.5}}}]})
        told = (self.path / "report.md").read_text()
        self.assertIn("| r | 25 % | rest |\n| r: longest kernel | 50 % | – |", told)

    @once
    def test_local_memory_is_called_that(self):
        case = {"rung": "r", "n": 5, "median": 1.0, "seconds": [1.0], "rate": 1.0, "registers": 31, "occupancy": 1}
        self.page_of({"format": "tilewright-lab 1", "ladder": "x", "cases": [
            case | {"spilled": 64}, case | {"rung": "s", "local": 272}]})  # an earlier version's name, and ours
        told = (self.path / "report.md").read_text()
        self.assertIn("| rung | registers | local memory | occupancy |", told)
        self.assertIn("| r | 31 | 64 | 100 % |", told)
        self.assertIn("| s | 31 | 272 | 100 % |", told)
        self.assertNotIn("| spilled |", told)

    def test_the_rungs_that_are_wrong_by_their_idea_are_marked(self):
        wrong = {(name, rung) for name in ladders()
                 for rung in re.findall("^  (\\S+) .*; WRONG: ", lab("list", name).stdout, re.MULTILINE)}
        self.assertEqual(wrong, {("map-gpu", "table"), ("entropy-gpu", "v7-float")})  # rows E4 and D1

    @once
    def test_cases_of_another_build_are_named(self):
        built = {"version": "0.9.9", "commit": "abc1234", "date": "2031-01-02"}
        case = {"n": 5, "median": 1.0, "seconds": [1.0, 1.0], "rate": 1.0}
        self.page_of({
            "format": "tilewright-lab 1", "ladder": "x", "version": "0.0.1", "commit": "0000000",
            "cases": [case | {"rung": "r"}, case | built | {"rung": "s"}, case | built | {"rung": "s", "n": 6},
                      case | built | {"rung": "r", "counters": {"clock": 3e9}}]})
        told = (self.path / "report.md").read_text()
        self.assertIn("tilewright 0.0.1 (0000000)", told)
        line = ("By another build, tilewright 0.9.9 (abc1234), 2031-01-02: the counters of r, n = 5; "
                "s, n = 5; s, n = 6.")
        self.assertIn(line, told)
        self.assertIn(line, (self.path / "report.html").read_text())
        self.keep("before", {"s": [1.0, 1.0]})
        self.keep("after", {"s": [2.0, 2.0]})
        after = self.path / "after" / "x.json"
        result = json.loads(after.read_text())
        result["cases"][0] |= built
        after.write_text(json.dumps(result))
        done = lab("compare", str(self.path / "before"), str(self.path / "after"))
        self.assertIn(" [after by tilewright 0.9.9 (abc1234), 2031-01-02]\n", done.stdout)
        result["cases"][0]["version"] = 3
        after.write_text(json.dumps(result))
        done = lab("compare", str(self.path / "before"), str(self.path / "after"))
        self.assertIn("s has a version that is not text", done.stderr)

    def test_the_kept_results_of_two_builds_say_which(self):
        kept = DOCS.parent / "bench" / "results"
        later = {"apsp-gpu": {"chosen", "merged-unrolled", "known-side", "square-threads"}, "entropy-multi": {"v14-bytes"},
                 "apsp-cpu": {"blocked-static"}}  # rungs that no earlier version had
        for path in (path for folder in ("lab-h200", "xeon-lab") for path in (kept / folder).glob("*.json")):
            result = json.loads(path.read_text())
            for case in result["cases"]:
                self.assertRegex(case.get("commit", result["commit"]), "^[0-9a-f]{7}$", (path, case["rung"]))
                self.assertEqual("version" in case, "commit" in case)
                if case["rung"] in later.get(path.stem, ()):
                    self.assertEqual(case.get("version", result["version"]), "0.2.0", (path, case["rung"]))

    @once
    def test_a_rung_with_a_flaw_is_marked_everywhere_and_compared_with_nothing(self):
        self.page_of({
            "format": "tilewright-lab 1", "ladder": "x", "ceiling": {"rate": 4.0, "of": "a copy"},
            "unit": "units", "published_on": "a card",
            "cases": [{"rung": rung, "n": n, "median": time * n, "seconds": [time * n],
                       "rate": 1 / time, "published_milliseconds": 8 * time,
                       **({"flaw": "rounded too often"} if rung == "bad" else {}),
                       **({"parent": "bad"} if rung == "child" else {})}
                      for n in (5, 10)
                      for rung, time in (("bad", 0.1), ("plain", 1.0), ("child", 0.5))]})
        told = (self.path / "report.md").read_text()
        self.assertIn("| bad | 5 | ours | 500 ms | once | WRONG | 0.8 ms | – | – | – | – |", told)
        self.assertIn("| child | 5 | ours | 2.5 s | once | 2× | 4 ms | 2× | 2 | 50 % |", told)
        self.assertIn("The answer of bad is wrong: rounded too often.", told)
        self.assertIn("| x | 2× | plain, 10 s | child, 5 s |", told)
        page = (self.path / "report.html").read_text()
        self.assertNotRegex(page, ">(10|50|0.1|5)×<")
        self.assertEqual(page.count(">500 ms, WRONG<"), 1)  # times at each size
        self.assertEqual(page.count(">WRONG</text>"), 2)  # beside the authors' at each size
        self.assertIn("Rate against n", page)

    def test_the_builds_of_kept_results_are_in_the_history(self):
        git = ["git", "-C", str(DOCS.parent)]
        shallow = subprocess.run([*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True, check=False) \
            if shutil.which("git") else None
        if shallow is None or shallow.stdout != "false\n":
            self.skipTest("no history here")
        commits = set()
        for path in (DOCS.parent / "bench" / "results").glob("*lab*/*.json"):
            result = json.loads(path.read_text())
            commits |= {result["commit"], *(case.get("commit", result["commit"]) for case in result["cases"])}
        for commit in commits:
            done = subprocess.run([*git, "merge-base", "--is-ancestor", commit, "HEAD"], capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, commit)

    @once
    def test_the_page_follows_the_tour_and_names_its_sources(self):
        for name in ("map-gpu", "entropy-cpu", "apsp-multi", "apsp-gpu-shapes", "apsp-cpu"):
            self.keep(".", {"r": [1.0, 1.3], "s": [1.0, 1.1]}, ladder=name, title=name,
                      machine={"load": 0.25})
            (self.path / "x.json").rename(self.path / f"{name}.json")
        done = lab("report", str(self.path))
        if "Matplotlib is missing" in done.stderr:
            self.skipTest("no Matplotlib")
        told = (self.path / "report.md").read_text()
        self.assertEqual(re.findall("^## (.*)$", told, re.MULTILINE),
                         ["apsp-cpu", "apsp-gpu-shapes", "apsp-multi", "entropy-cpu", "map-gpu"])
        self.assertIn("| r | ours | 1.15 s ⚠ | 26.1 % |", told)  # its repetitions differ by more
        self.assertIn("| s | ours | 1.05 s | 9.5 % |", told)
        self.assertIn(", load 0.2", told)
        for text in ("Hw3 Report", "Homework 3", "全源最短路", "二维信息熵", "Assignment01",
                     "bank conflict", "32 threads of an NVIDIA card", "its pages stay in place", "no register left"):
            self.assertIn(text, told)
            self.assertIn(text, (self.path / "report.html").read_text())

    @once
    def test_a_long_ladder_is_divided_by_write_ups(self):
        rows = ["C1", "C2", "C2", "A2", "A2", "B5", "B5", "B5", None, "B2", "B2", "C3", "C3"]
        self.page_of({"format": "tilewright-lab 1", "ladder": "x", "size": "vertices", "cases": [
            {"rung": f"r{i}", "n": 5, "median": 1.0 + i, "seconds": [1.0 + i], "rate": 1.0,
             "row": row} for i, row in enumerate(rows)]})
        told = (self.path / "report.md").read_text()
        self.assertEqual(re.findall("^n = 5 vertices(.*)$", told, re.MULTILINE),
                         ["; rows C of the write-ups", "; rows A of the write-ups",
                          "; rows B of the write-ups", "; ours"])
        self.assertIn("| r3 | A2 | 4 s | once | 0.25× |", told)  # over r0 of another table

    @once
    def test_a_sweep_of_blocks_and_threads_has_its_curve(self):
        self.page_of({
            "format": "tilewright-lab 1", "ladder": "x", "cases": [
                {"rung": rung, "n": 5, "median": 1.0, "seconds": [1.0], "rate": rate}
                for rung, rate in (("8-8x8", 1.0), ("32-8x32", 2.0), ("32-16x16", 3.0))]})
        page = (self.path / "report.html").read_text()
        self.assertIn("Rate against block", page)
        self.assertIn("its fastest threads", page)
        self.assertIn("other threads", page)

    def page_of(self, result):
        (self.path / "x.json").write_text(json.dumps(result))
        done = lab("report", str(self.path))
        if "Matplotlib is missing" in done.stderr:
            self.skipTest("no Matplotlib")
        self.assertEqual(done.returncode, 0, done.stderr)

    @once
    def test_published_figures_stand_beside_ours(self):
        words = ["run", "entropy-cpu", "--published", "--repeat", "1", "--rungs", "mixed,engine",
                 "--out", str(self.path)]
        said = self.said_until_two_sizes_are_done(words)  # the third takes a minute
        kept = self.result("entropy-cpu")
        self.assertIn("28 cores", kept["published_on"])
        self.assertEqual([case.get("published_milliseconds") for case in kept["cases"]][:4],
                         [1.71, None, 18.5, None])
        self.assertIn("published", said)
        self.assertIn("1.71 ms", said)

    def said_until_two_sizes_are_done(self, words):
        """Interrupts the third."""
        said, done = "", 0
        with subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as process:
            for line in process.stdout:
                said += line
                done += line.startswith("engine ")
                if done == 2:
                    process.send_signal(signal.SIGINT)
                    break
            process.communicate(timeout=LIMIT)
        self.assertEqual(done, 2, said)
        return said

    def test_counters_tell_what_the_processor_did_and_what_is_not_counted(self):
        words = ["run", "apsp-cpu", "--n", "100", "--repeat", "2", "--rungs", "min,engine-i32"]
        plain = lab(*words, "--out", str(self.path))
        self.assertNotIn("cores", plain.stdout)
        first = self.result()["cases"]
        self.assertTrue(all("counters" not in case for case in first))
        done = lab(*words, "--out", str(self.path), "--counters")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([case for case in self.result()["cases"] if "counters" not in case], first)
        for text in ("cores", "busy", "faults", "switches"):
            self.assertIn(text, done.stdout)
        counted = [case["counters"] for case in self.result()["cases"] if "counters" in case]
        self.assertEqual(len(counted), 2)
        for each in counted:
            self.assertGreaterEqual(each["cores_busy"], 0)
            self.assertGreaterEqual(each["page_faults"], 0)
        if all("instructions_per_unit" not in each for each in counted):
            self.assertIn("no hardware counters", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        else:
            self.assertGreater(counted[0]["instructions_per_unit"], 0.1)
        table = done.stdout[done.stdout.index("cores"):].splitlines()
        self.assertTrue(all(len(line) <= 100 for line in table), table)
        self.assertEqual(lab(*words, "--counters", "--quiet").stderr, "")

    def test_once_runs_for_a_profiler_and_times_nothing(self):
        done = lab("run", "apsp-cpu", "--n", "30", "--rungs", "min,engine-i32", "--once")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "min, n = 30: checked, and run once\n"
                                      "engine-i32, n = 30: checked, and run once\n")
        self.refuses(["run", "apsp-cpu", "--once", "--out", str(self.path)], "--once")
        self.refuses(["run", "apsp-cpu", "--once", "--counters"], "--counters")

    @once
    def test_counters_are_on_the_page(self):
        (self.path / "x.json").write_text(json.dumps({
            "format": "tilewright-lab 1", "ladder": "x", "cases": [
                {"rung": "r", "n": 5, "median": 1.0, "seconds": [1.0], "rate": 1.0,
                 "counters": {"bank_conflicts": 0.25, "shared_efficiency": 0.5,
                              "load_bytes_per_second": 1.5e12,
                              "kernel": "a<b>", "page_faults": "many", "other": 3}},
                {"rung": "s", "n": 5, "median": 1.0, "seconds": [1.0], "rate": 1.0,
                 "counters": 7},
                {"rung": "t", "n": 5, "median": 1.0, "seconds": [1.0], "rate": 1.0,
                 "counters": {"bank_conflicts": 0, "shared_efficiency": 0.0}}]}))
        done = lab("report", str(self.path))
        if "Matplotlib is missing" in done.stderr:
            self.skipTest("no Matplotlib")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = (self.path / "report.md").read_text()
        self.assertIn("| rung | shared memory useful | bank conflicts | loads/s | longest kernel |",
                      told)
        self.assertIn("| r | 50 % | 25 % | 1.5 TB | a\\<b\\> |", told)
        self.assertIn("| s | – | – | – | – |", told)
        self.assertIn("| t | – | 0 % | – | – |", told)
        page = (self.path / "report.html").read_text()
        self.assertIn("<td>a&lt;b&gt;</td>", page)
        self.assertIn("<th>loads/s</th><th>longest kernel</th>", page)

    @once
    def test_a_sweep_names_every_number_that_has_room(self):
        (self.path / "x.json").write_text(json.dumps({
            "format": "tilewright-lab 1", "ladder": "x", "cases": [
                {"rung": f"devices-{count}", "n": 5, "median": 1.0, "seconds": [1.0],
                 "rate": float(count)} for count in (1, 2, 3, 4)]}))
        done = lab("report", str(self.path))
        if "Matplotlib is missing" in done.stderr:
            self.skipTest("no Matplotlib")
        page = (self.path / "report.html").read_text()
        self.assertIn("<th>over <span>devices-1</span></th>", page)
        self.assertIn("Rate against devices", page)
        for count in (1, 2, 3, 4):
            self.assertRegex(page, f"<text[^>]*>{count}</text>")

    def test_slips_get_the_nearest_name(self):
        self.refuses(["run", "apsp-cpv"], "did you mean 'apsp-cpu'?")
        self.refuses(["run", "nothing-like-it"], "tilewright-lab list")
        self.refuses(["run", "apsp-cpu", "--rungs", "naive,engine-i33"], "engine-i32")
        self.refuses(["rum"], "did you mean 'run'?")

    def test_turns_are_measured_as_often_as_other_repetitions(self):
        done = lab("run", "map-cpu", "--n", "64", "--turns", "--repeat", "3", "-o", str(self.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        for case in self.result("map-cpu")["cases"]:
            self.assertEqual(len(case["seconds"]), 3, case)
        for other in ("--counters", "--once"):
            self.refuses(["run", "map-cpu", "--turns", other], f"--turns cannot be combined with {other}")

    def test_impossible_requests_are_refused(self):
        self.refuses(["run", "apsp-cpu", "--n", "0"], "--n '0'")
        self.refuses(["run", "apsp-cpu", "--n", "5,x"], "--n 'x'")
        self.refuses(["run", "apsp-cpu", "--n", ",".join(["5"] * 17)], "more than 16")
        self.refuses(["run", "apsp-cpu", "--repeat", "0"], "--repeat 0")
        self.refuses(["run", "apsp-cpu", "--rungs", "naive,min,naive"], "--rungs names 'naive' twice")
        self.refuses(["run", "--rungs", "naive"], "needs a ladder")
        self.refuses(["run", "apsp-cpu", "--n", "100000", "--memory", "1M"], "memory")
        self.refuses(["run", "apsp-cpu-blocks", "--published"], "no published figures")
        self.refuses(["run", "entropy-cpu", "--published", "--n", "400,401"],
                     "--n 401: entropy-cpu has no published figure at that size")
        done = lab("run", "entropy-cpu", "--published", "--n", "400", "--rungs", "mixed")
        self.assertEqual(re.findall(r", n = (\d+)", done.stdout), ["400"])
        self.assertIn("1.71 ms", done.stdout)
        self.refuses(["run", "apsp-cpu", "--n", "5", "--out", "/dev/null/x"], "/dev/null/x")

    def test_ladders_of_gpus_are_listed_everywhere_and_refused_without_one(self):
        names = gpu_ladders()
        for name in ("apsp-gpu", "apsp-gpu-global", "apsp-hip", "apsp-scatter", "apsp-multi",
                     "apsp-devices", "apsp-devices-weak", "entropy-gpu", "entropy-multi",
                     "entropy-multi-flat", "entropy-devices", "entropy-devices-weak", "map-gpu"):
            self.assertIn(name, names)
        if lab("run", "apsp-gpu", "--n", "64", "--repeat", "1").returncode == 0:
            self.skipTest("there is a GPU here")
        for name in names:
            self.refuses(["run", name], f"{name} needs a GPU: ")
            self.refuses(["run", name, "--published"], f"{name} needs a GPU: ")

    def test_interrupting_keeps_what_is_done(self):
        with subprocess.Popen([PROGRAM, "run", "apsp-cpu", "--n", "10,1500", "--out",
                               str(self.path)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            deadline = time.monotonic() + LIMIT
            while not (self.path / "apsp-cpu.json").exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        self.assertIn("interrupted", said)
        self.assertGreaterEqual(len(self.result()["cases"]), 1)

    def keep(self, name, cases, **more):
        """A folder with one result: {rung: repetitions}."""
        folder = self.path / name
        folder.mkdir(exist_ok=True)
        (folder / "x.json").write_text(json.dumps({
            "format": "tilewright-lab 1", "ladder": "x", "cases": [
                {"rung": rung, "n": 5, "median": statistics.median(times), "seconds": times}
                for rung, times in cases.items()], **more}))
        return str(folder)

    def test_compare_tells_a_change_from_noise(self):
        base = [1.0, 1.001, 1.002]
        before = self.keep("a", {"r": base})
        after = self.keep("b", {"r": [1.3 * t for t in base]})
        near = self.keep("c", {"r": [1.009 * t for t in base]})
        slower = lab("compare", before, after)
        self.assertEqual(slower.returncode, 1, slower.stderr)
        self.assertIn("slower 1.3", slower.stdout)
        faster = lab("compare", after, before)
        self.assertEqual(faster.returncode, 0, faster.stderr)
        self.assertIn("faster 1.3", faster.stdout)
        for same in (before, near):
            done = lab("compare", before, same)
            self.assertEqual(done.returncode, 0)
            self.assertIn("1 case in both, nothing changed beyond noise", done.stdout)

    def test_compare_tells_what_fails_now(self):
        before = self.keep("a", {"r": [1.0, 1.001], "s": [1.0, 1.001]})
        after = self.keep("b", {"s": [1.0, 1.001]},
                          failed=[{"rung": "r", "n": 5, "why": "the answer is wrong"}])
        done = lab("compare", before, after)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"x +n=5 +r +was right and fails now: the answer is wrong")
        self.assertIn("1 fail that did not before", done.stdout)

    @once
    def test_compare_measures_noise_by_the_repetitions(self):
        # 8 % apart: noise where the repetitions spread by 5 %, a change where they do not.
        for spread, changed in ((0.05, False), (0.005, True)):
            times = [1 - spread / 2, 1.0, 1 + spread / 2]
            done = lab("compare", self.keep("a", {"r": times}),
                       self.keep("b", {"r": [1.08 * t for t in times]}))
            self.assertEqual(done.returncode, int(changed), done.stdout)
        # The same program run twice: of 400 cases with 3 % of noise, next to none may be called
        # changed, and all of those that became half as slow again.
        draw = random.Random(5)

        def measured(factor, repeat):
            return {f"r{i}": [factor * draw.gauss(1, 0.03) for _ in range(repeat)]
                    for i in range(400)}

        for repeat in (3, 5):
            first = self.keep("a", measured(1, repeat))
            same = lab("compare", first, self.keep("b", measured(1, repeat)))
            self.assertLessEqual(same.stdout.count(" -> "), 8, same.stdout)
            real = lab("compare", first, self.keep("c", measured(1.5, repeat)))
            self.assertGreaterEqual(real.stdout.count("slower 1."), 392)

    def test_compare_judges_a_single_run_by_its_ladder(self):
        steady = {"s": [1.0, 1.001, 1.002]}
        shaky = {"s": [1.0, 1.1, 1.2]}
        for others, changed in ((steady, 1), (shaky, 0)):
            done = lab("compare", self.keep("a", {"r": [1.0], **others}),
                       self.keep("b", {"r": [1.1], **others}))
            self.assertEqual(done.stdout.count(" -> "), changed, done.stdout)
        alone = lab("compare", self.keep("a", {"r": [1.0]}), self.keep("b", {"r": [9.0]}))
        self.assertEqual(alone.returncode, 0)
        self.assertIn("1 ran once each and cannot be judged", alone.stdout)

    DAMAGED = ("", "{", "[]", "[" * 100000, '{"format": "tilewright-lab 1"}', '{"format": "other"}',
               '{"format": "tilewright-lab 1", "ladder": "../x", "cases": []}',
               '{"format": "tilewright-lab 1", "ladder": "x", "cases": [{"rung": "r"}]}',
               '{"format": "tilewright-lab 1", "ladder": "x", "cases": [{"rung": "r", "n": 1,'
               ' "median": 0, "seconds": [0]}]}',
               '{"format": "tilewright-lab 1", "ladder": "x", "cases": [{"rung": "r", "n": 1,'
               ' "median": NaN, "seconds": [1]}]}',
               '{"format": "tilewright-lab 1", "ladder": "x", "ceiling": {"rate": "high"},'
               ' "cases": []}')

    @once
    def test_damaged_results_are_named(self):
        for text in self.DAMAGED:
            (self.path / "bad.json").write_text(text)
            for command in (["compare", str(self.path), str(self.path)],
                            ["report", str(self.path)]):
                done = lab(*command)
                self.assertEqual(done.returncode, 2, text[:80])
                self.assertIn("bad.json skipped", done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    @once
    def test_other_results_are_kept_beside_a_damaged_one(self):
        good = self.keep("a", {"r": [1.0, 1.001]})
        for text, says in (("{", "bad.json skipped"),
                           ('{"format": "tilewright-lab 2"}', 'reads "tilewright-lab 1"')):
            (self.path / "a" / "bad.json").write_text(text)
            done = lab("compare", good, good)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)
            self.assertIn("compare finished without", done.stderr)
            self.assertIn("1 case in both", done.stdout)
            page = lab("report", good)
            if "Matplotlib is missing" not in page.stderr:
                self.assertEqual(page.returncode, 2)
                self.assertIn(says, page.stderr)
                self.assertIn("| r |", (self.path / "a" / "report.md").read_text())

    @once
    def test_hostile_results_leave_the_others_their_page(self):
        good = {"format": "tilewright-lab 1", "ladder": "x", "title": "T", "unit": "u", "size": "s",
                "machine": {"processor": "P", "processors": 2, "load": 1.0}, "threads": 2,
                "ceiling": {"rate": 4.0, "of": "a copy"}, "against": "a",
                "failed": [{"rung": "f", "n": 5, "outcome": "wrong", "why": "w"}],
                "cases": [{"rung": "r", "n": 5, "median": 1.0, "seconds": [1.0], "rate": 1.0,
                           "bytes_per_second": 1.0, "parts": {"read": 0.5, "write": 0.5},
                           "registers": 3, "shared": 4, "occupancy": 0.5, "parent": "r",
                           "published_milliseconds": 2.0, "counters": {"clock": 1.0}}]}
        words = ["\x1b[31m red", "<script>alert(1)</script>", "[a](http://b.example)", "|", "*" * 9]
        odd = [None, True, -1, 0, 1e308, 10**400, [], {}, [[]], {"a": {}}, "x", *words]

        def places(value, path=()):
            if isinstance(value, dict):
                for key in value:
                    yield from places(value[key], path + (key,))
            elif isinstance(value, list):
                for at, each in enumerate(value):
                    yield from places(each, path + (at,))
            yield path

        made = 0
        for place in places(good):
            for turn in range(2):  # two of the odd values at each place
                hostile = json.loads(json.dumps(good))
                within = hostile
                for key in place[:-1]:
                    within = within[key]
                if place:
                    within[place[-1]] = odd[made % len(odd)]
                else:
                    hostile = odd[made % len(odd)]
                (self.path / f"h{made}.json").write_text(json.dumps(hostile))
                made += 1
        self.assertGreater(made, 60)
        for many in (61, 5000, 100000):
            long = json.loads(json.dumps(good))
            long["cases"][0]["rung"] = "r" * many
            (self.path / f"long{many}.json").write_text(json.dumps(long))
        os.mkfifo(self.path / "pipe.json")
        (self.path / "good.json").write_text(json.dumps(good | {"title": "The good one"}))
        done = lab("report", str(self.path))
        if "Matplotlib is missing" in done.stderr:
            self.skipTest("no Matplotlib")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertNotIn("\x1b", done.stderr + done.stdout)
        for name in ("long61", "long5000", "long100000", "pipe"):
            self.assertIn(f"{name}.json skipped", done.stderr)
        page = (self.path / "report.html").read_text()
        told = (self.path / "report.md").read_text()
        for text in (page, told):
            self.assertIn("The good one", text)
            self.assertFalse("<script" in text.replace("\\<script", ""))
            self.assertFalse("\x1b" in text)
        self.assertNotIn("[a](", told)

    @once
    def test_pages_are_not_written_through_links(self):
        self.keep(".", {"r": [1.0]})
        victim = self.path / "victim"
        victim.write_text("mine")
        for name in ("report.md", "report.html"):
            (self.path / (name + ".new")).symlink_to(victim)
            (self.path / name).symlink_to(victim)
        (self.path / "map-cpu.json.new").symlink_to(victim)
        done = lab("report", str(self.path))
        if "Matplotlib is missing" in done.stderr:
            self.skipTest("no Matplotlib")
        lab("run", "map-cpu", "--n", "16", "--repeat", "1", "--out", str(self.path))
        self.assertEqual(victim.read_text(), "mine")
        self.assertIn("map-cpu", self.result("map-cpu")["ladder"])
        self.assertFalse((self.path / "report.md").is_symlink())

    def test_the_program_takes_no_scripts_but_those_installed_with_it(self):
        folder = self.path / "elsewhere" / "bin"
        folder.mkdir(parents=True)
        alone = folder / "tilewright-lab"
        shutil.copy(PROGRAM, alone)
        done = subprocess.run([alone, "compare", "a", "b"], capture_output=True, text=True,
                              check=False, timeout=LIMIT)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("pages.py is missing", done.stderr)

    def test_a_folder_without_results_is_refused(self):
        for place in (self.path, self.path / "nowhere"):
            done = lab("report", str(place))
            self.assertEqual(done.returncode, 2)
            self.assertIn("no results here", done.stderr)

    @once
    def test_the_texts_quote_the_results(self):
        done = subprocess.run([sys.executable, DOCS.parent / "tools" / "quote-lab-figures", "--check",
                               DOCS / "tour.md", DOCS.parent / "lab" / "README.md"], capture_output=True, text=True, timeout=LIMIT,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        differs = (DOCS.parent / "lab" / "README.md").read_text().split("Where our order differs")[1]
        rows = [line.strip("| ").split(" | ") for line in differs.splitlines() if line[:3] in
                ("| A", "| B", "| C", "| D", "| E")]
        self.assertEqual({len(row) for row in rows}, {5})
        ours = differs
        for theirs in [f"| {row[2]} |" for row in rows] + ["1.17× there"]:
            self.assertIn(theirs, differs)
            ours = ours.replace(theirs, "")
        self.assertEqual(re.findall(r"\d×(?!(?: ⚠)?<!--)", ours), [])
        text = (DOCS / "tour.md").read_text()
        shown = set(re.findall(r"\]\(tour/(.*?)\)", text))
        self.assertEqual(shown, {path.name for path in (DOCS / "tour").iterdir()})

    @once
    def test_every_step_of_row_c_stands_beside_its_authors_time_at_all_six_sizes(self):
        results = json.loads((DOCS.parent / "bench/results/lab-h200/apsp-gpu.json").read_text())
        theirs = {(case["rung"], case["n"]): case.get("published_milliseconds")
                  for case in results["cases"] if (case["row"] or "").startswith("C")}
        steps = {rung for rung, n in theirs}
        listed = re.findall(r"^  (\S+) +C\d ", lab("list", "apsp-gpu").stdout, re.M)
        self.assertEqual(listed, ["naive", "stages", "merged-branches", "merged-unrolled", "no-barrier", "registers",
                                  "two-tiles", "hoisted", "known-side", "tiles-1", "tiles-2", "tiles-4", "tiles-6", "chosen"])
        self.assertLessEqual(set(listed), steps)
        for rung in steps - {"merged-branches"}:  # the authors took that step together with the next
            for n in (100, 1000, 2500, 5000, 7500, 10000):
                self.assertGreater(theirs[rung, n] or 0, 0, f"{rung}, n = {n}")

    @once
    def test_the_page_that_is_kept(self):
        page = (DOCS / "lab-report.html").read_text()
        self.assertLess(len(page.encode()), 1 << 20)
        for rung in ("wide-avx512", "blocked-static", "known-side", "v14-bytes"):
            self.assertIn(f">{rung}<", page)
        self.assertEqual(re.findall(r"[^\n\x20-\x7e\xa0-\U0010ffff]", page), [])
        self.check_plots(page)
        self.assertIn("⚠", page.split("</nav>")[0])
        contents = page.split("</table>")[0]
        self.assertRegex(contents, r"apsp-gpu</a>(.|\n)*?naive, (.|\n)*?engine-16, (.|\n)*?5000<")

    @once
    def test_a_figure_that_is_not_the_results_is_found_and_mended(self):
        text = self.path / "text.md"
        wrong = "about 7 s<!--h200/apsp-gpu 5000 naive-->, 1 %<!--h200/apsp-gpu 2500 conflicts bank_conflicts-->"
        text.write_text(wrong)
        quote = [sys.executable, DOCS.parent / "tools" / "quote-lab-figures"]
        done = subprocess.run(quote + ["--check", text], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual((done.returncode, done.stdout.count("text.md: "), text.read_text()), (1, 2, wrong))
        subprocess.run(quote + [text], timeout=LIMIT, check=True)
        self.assertRegex(text.read_text(), r"^about [\d.]+ ms<.*>, [\d.]{2,} %<.*>$")
        subprocess.run(quote + ["--check", text], stdout=subprocess.DEVNULL, timeout=LIMIT, check=True)
        done = subprocess.run(quote + ["--check"], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("[--check] FILE...", done.stderr)
        text.write_text("1 %<!--h200/apsp-gpu 1000 pitched bank_conflicts-->")
        done = subprocess.run(quote + ["--check", text], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertIn("apsp-gpu.json has no bank_conflicts of pitched at n = 1000", done.stderr)

    @once
    def test_a_quoted_figure_that_is_unsteady_is_marked(self):
        text = self.path / "text.md"
        quote = [sys.executable, DOCS.parent / "tools" / "quote-lab-figures"]
        results = DOCS.parent / "bench" / "results"
        lines, far = [], []
        for short, folder, name in (("xeon", "xeon-lab", "map-cpu"), ("v1", "lab-neoverse-v1", "apsp-cpu")):
            for case in json.loads((results / folder / f"{name}.json").read_text())["cases"]:
                where = f"<!--{short}/{name} {case['n']} {case['rung']}-->"
                lines.append(f"1 s{where}, 2 s ⚠{where}")
                far.append(max(case["seconds"]) - min(case["seconds"]) > 0.2 * case["median"])
        text.write_text("\n".join(lines))
        subprocess.run(quote + [text], timeout=LIMIT, check=True)
        self.assertEqual([line.count("⚠<!--") for line in text.read_text().splitlines()], [2 * each for each in far])
        self.assertEqual(set(far), {False, True})
        quoted = (DOCS / "tour.md").read_text()
        self.assertIn(" ⚠<!--", quoted)
        text.write_text(quoted.replace(" ⚠<!--", "<!--", 1))
        done = subprocess.run(quote + ["--check", text], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 1)

    @once
    def test_what_the_card_counted_is_held_to_what_rungs_are_said_to_access(self):
        results = DOCS.parent / "bench" / "results"
        tool = [sys.executable, DOCS.parent / "tools" / "gpu-accesses", "--kept"]
        for kept, rung, column, figure, told in (
                ("h200-lab-accesses.txt", "block-64", 0, "3.1000", "block-64: loads 3.100, not "),
                ("h200-lab-accesses.txt", "more-threads", 0, "0.2500", "more-threads: loads 0.250, not "),
                ("h200-lab-elements.txt", "entropy-multi/one-bytes", 2, "51.250", "entropy-multi/one-bytes: reads 51.250, not "),
                ("h200-lab-elements.txt", "map-gpu/coalesced", 7, "1.000",
                 "map-gpu/coalesced: sectors_read 1.000, not 0.125")):
            text = (results / kept).read_text()
            done = subprocess.run([*tool, results / kept], capture_output=True, text=True, timeout=LIMIT, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertRegex(done.stdout, r"^\d\d rungs, 0 figures other than said; not there: none\n$")
            other = self.path / "table.txt"
            other.write_text(re.sub(rf"^({rung}(?: +\S+){{{column}}} +)\S+", rf"\g<1>{figure}", text, flags=re.MULTILINE))
            self.assertNotEqual(other.read_text(), text)
            done = subprocess.run([*tool, other], capture_output=True, text=True, timeout=LIMIT, check=False)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(told, done.stdout)

    @once
    def test_machine_code_that_was_kept_is_as_rungs_are_said_to_be(self):
        kept = DOCS.parent / "bench" / "results" / "sm90-lab-accesses.txt"
        tool = [sys.executable, DOCS.parent / "tools" / "gpu-accesses", "--kept"]
        done = subprocess.run([*tool, kept], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        for rung, told in (("entropy-gpu/v7 ", "entropy-gpu/v7: loads 1.000, not 0.000"),
                           ("block-64 ", "block-64: loads 1.000, not 0.750")):
            other = self.path / "table.txt"
            other.write_text(re.sub(rf"^({rung} +)\S+", r"\g<1>1.000", kept.read_text(), flags=re.MULTILINE))
            done = subprocess.run([*tool, other], capture_output=True, text=True, timeout=LIMIT, check=False)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(told, done.stdout)

    def test_something_is_said_of_what_every_rung_on_a_gpu_accesses(self):
        tool = module_of("gpu-accesses")
        self.assertEqual(tool.unsaid(pathlib.Path(PROGRAM).parents[1]), [])
        del tool.OTHERS["map-gpu/vectors"]
        self.assertEqual(tool.unsaid(pathlib.Path(PROGRAM).parents[1]), ["nothing is said of map-gpu/vectors"])

    @once
    def test_accesses_for_an_element_are_counted_in_machine_code(self):
        tool = module_of("gpu-accesses")
        # Counters cleared and collected, a register spilled, a window read and counted three at a time, one
        # look-up in constant memory, an argument, and the result.
        code = ["STL.128 [R1], RZ", "STL.64 [R1+0x20], R4", *["LDG.E R2, [R4.64]", "LDL R3, [R5]", "STL [R5], R3"] * 3,
                "@P0 BRA 0x20", "LDL.128 R8, [R1]", "LDL.LU.64 R4, [R1+0x20]", "LDC.64 R6, c[0x3][R8]",
                "LDC R7, c[0x0][0x28]", "STG.E [R4.64], R2", "EXIT"]
        text = "".join(f"        /*{16 * at:04x}*/   {line} ;  /* 0x00 */\n" for at, line in enumerate(code))
        parsed = [(int(match[1], 16), match[2], match[3])
                  for match in map(tool.INSTRUCTION.match, text.splitlines()) if match]
        self.assertEqual(len(parsed), len(code))
        kernel = tool.Element("window", {}, "LDG")
        self.assertEqual(tool.measure_each(parsed, kernel),
                         {"loads": 0, "stores": 0, "reads": 25, "writes": 1, "local": 26, "filled": 26, "looked": 1,
                          "barriers": 0})
        self.assertEqual(tool.measure_each(parsed, kernel._replace(read_by=None, where="outside"))["reads"], 0)

    @once
    def test_accesses_that_cannot_be_counted_are_skipped_with_the_reason(self):
        # A folder with an object, a machine without the tool that reads it, and one whose tool finds other code in it.
        build, empty = self.path / "build", self.path / "bin"
        empty.mkdir()
        kernels = build / "lab" / "CMakeFiles" / "tw_gpu_lab_map.dir" / "gpu_kernels.cu.o"
        kernels.parent.mkdir(parents=True)
        kernels.write_bytes(b"")
        tool = module_of("gpu-accesses")
        for answer, why in ((None, "no cuobjdump"), ("#!/bin/sh\necho 'arch = sm_80'\n", "is for other architectures than 90")):
            if answer is not None:
                (empty / "cuobjdump").write_text(answer)
                (empty / "cuobjdump").chmod(0o755)
            said, status = io.StringIO(), None
            with contextlib.redirect_stdout(said), unittest.mock.patch.object(
                    tool.shutil, "which", lambda _, path, had=answer: had and str(empty / "cuobjdump")):
                try:
                    status = tool.check_code(build)
                except SystemExit as end:
                    status = end.code
            self.assertEqual(status, 77, said.getvalue())
            self.assertRegex(said.getvalue(), rf"^skipped: .*{why}")

    def test_the_manual_and_the_completions_are_those_of_the_program(self):
        for option, name in (("--man", "tilewright-lab.1"), ("--completion", "tilewright-lab.bash"),
                             ("--completion=zsh", "tilewright-lab.zsh"),
                             ("--completion=fish", "tilewright-lab.fish")):
            self.assertEqual((DOCS / name).read_text(), lab(option).stdout,
                             f"renew docs/{name} with 'tilewright-lab {option}'")

    def test_help_ends_with_what_the_exit_status_means_here(self):
        self.assertTrue(lab("help", "compare").stdout.endswith("\nExit status: 0 success; 1 wrong answer or slowdown; 2 error.\n"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
