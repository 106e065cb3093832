#!/usr/bin/env python3
"""emulate.py SOURCE: the kernels of ladders apsp-gpu, entropy-gpu, entropy-multi and map-gpu, thread by thread on the
CPU, against plain loops; and each of their rungs held to what its row says of its kernel, its threads,
shared memory, barriers, bank conflicts, and the loads and stores of shared and of global memory. SOURCE is the
repository. Needs a C and a C++ compiler, and no GPU or toolkit of one.

emulate.py SOURCE planted: the same with kernels that were altered, in what they access or in the type of their counters,
tables, sums and vectors; each alteration must be found, and nothing else.

emulate.py SOURCE page: the same with the two rungs that docs/add-a-rung.md adds, entered as it says."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LAUNCH = re.compile(r"\b(\w+(?:<[\w, &|]*>)?)[\s\\]*<<<(.*?)>>>\s*\((.*?)\);", re.S)
SOURCE = pathlib.Path(sys.argv[1])
HERE = SOURCE / "tests" / "lab" / "emulated"
SEED = os.environ.get("TW_SEED", "20")
# Stacks are switched by longjmp, which a hardened C library takes for an error.
FLAGS = ["-O1", "-w", "-fwrapv", "-U_FORTIFY_SOURCE", f"-I{HERE}", f"-I{SOURCE}/lab", f"-I{SOURCE}/include"]


LADDERS = {"apsp": ["apsp-gpu", "apsp-gpu-blocks", "apsp-gpu-shapes", "apsp-gpu-global", "apsp-hip"],
           "entropy": ["entropy-gpu", "entropy-gpu-threads"], "map": ["map-gpu"]}


def as_cpp(text):
    """Launches become calls; shared memory of a function is static, the dynamic one the header's."""
    text, launches = LAUNCH.subn(r"emulate((const void *)(\1), [=] { \1(\3); }, \2);", text)
    assert launches > 0
    text = text.replace("extern __shared__", "extern").replace("__shared__", "static")
    assert "<<<" not in text
    return text


def kernels_of(ladders, kind="gpu"):
    return (SOURCE / "lab" / "ladders" / ladders / f"{kind}_kernels.cu").read_text()


def run(work, compiler, objects, words):
    subprocess.run([*compiler, *objects, "-o", work / "emulated"], check=True)
    done = subprocess.run([work / "emulated", *words], check=False, stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


def check_rungs(cc, cxx, name, ladders, kernels=None, pieces=None):
    """(exit status, output) of a program that has the rungs of these ladders, and what they run; with the text of other
    kernels than the laboratory's where it is given."""
    kernels = kernels or kernels_of(name)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "kernels.cpp").write_text(as_cpp(kernels))
        if name == "entropy":
            (work / "pieces.cpp").write_text(as_cpp(pieces or kernels_of(name, "multi")))
        write_recipes(work, kernels)
        of = ", ".join("&lab_" + ladder.replace("-", "_") for ladder in ladders)
        subprocess.run([cc, "-std=c11", *FLAGS, f"-I{SOURCE}/src", "-DLAB_LISTED_ONLY", "-DLAB_LISTED_WITH_CODE",
                        f'-DTABLES="ladders/{name}/gpu.c"', f"-DLADDERS={of}", "-include", "string.h", "-c",
                        HERE / "tables.c", "-o", work / "tables.o"], check=True)
        return run(work, [cxx, "-std=c++17", *FLAGS, f"-I{work}"], [HERE / f"{name}.cpp", work / "tables.o"], [SEED])


def write_recipes(work, kernels):
    """The names of all that the kernels' macros make, with where they are."""
    names = re.findall(r"^(?:RECIPE|PREPARED|THREE|PRODUCT)\((\w+),", kernels, re.M)
    names += ["shape_" + "_".join(numbers.split(", ")) for numbers in re.findall(r"^SHAPE\((.*)\)", kernels, re.M)]
    (work / "recipes.inc").write_text("".join(f'{{"{n}", &lab_{n}}},\n' for n in names if n != "name"))


def with_pointers(text):
    """Something points at every array of a thread: without that its accesses are not seen."""
    text, arrays = re.subn(r"^( +(?:const )?\w+ (\w+)\[[^]\n]*\](?: = [^;]*)?;)$", r"\1 point_at(\2);", text, flags=re.M)
    assert arrays > 0
    return text


def count_accesses(cxx, kernels, program="counts", pieces=None):
    """(exit status, output) of a program that counts what the kernels of this text access. Without optimisation:
    what the source has is what is counted."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "kernels.cpp").write_text(as_cpp(kernels))
        write_recipes(work, kernels)
        if program == "count_entropy":
            (work / "pieces.cpp").write_text(with_pointers(as_cpp(pieces or kernels_of("entropy", "multi"))))
        command = [cxx, "-std=c++17", *FLAGS, "-O0", f"-I{work}"]
        subprocess.run([*command, "-fsanitize=thread", "-c", HERE / f"{program}.cpp", "-o", work / "counts.o"], check=True)
        subprocess.run([*command, "-O1", HERE / "trace.cpp", work / "counts.o", "-o", work / "counts"], check=True)
        done = subprocess.run([work / "counts"], check=False, capture_output=True, text=True)
        return done.returncode, done.stdout


# Alterations that leave every answer right: (function, what stands there, what comes in its place), and the recipes that
# no longer access what their row says.
PLANTED = (
    # The running minimum in shared memory instead of a register.
    ("stage3_register", "least = min(least,", "mine[y * b + x] = least = min(least,", {"in_register"}),
    # The target of row A2 in its tile at every depth.
    ("three_tiles_product", "tile::relax(least, left, right, p);",
     "tile::relax(least, left, right, p); tile::write(mine, least);",
     {"large_rolled", "large", "large_apart", "three_8", "three_16", "three_32"}),
    # An operand read again for every sum.
    ("relax_elements", "relaxed<F>(least[i][j], from[i], to[j])",
     "relaxed<F>(least[i][j], B == 78 ? left[my::row(i) * B + p] : from[i], to[j])", {"block_78", "shape_78_39_13"}),
    # An operand from global memory instead of shared memory.
    ("relax_elements", "(F & SHARED)                     ? left", "(F & SHARED) && !(B == 48)       ? left",
     {"shape_48_16_16"}),
    # A column of operands brought anew for every row.
    ("multiply_wide_chunk", "for (int j = 0; j < RESULTS; j++) {",
     "for (int j = 0; j < RESULTS; j++) { if (j == 0) take_eight(to, chunk->right[q], threadIdx.x);", {"wide"}),
    # A word read where the row has a word read, but half of it at a time.
    ("stage3_two_tiles", "int least = *element(d, ld, b, ti, tj);",
     "short *halves = (short *)element(d, ld, b, ti, tj); int least = (unsigned short)halves[0] | halves[1] * 65536;",
     {"two_tiles"}),
)


def plant(text, function, old, new):
    """The text with what stands in the body of a function replaced."""
    begin = re.search(rf"^[^\n;=]*\b{function}\([^;]*?\n{{", text, re.M).start()
    end = text.index("\n}\n", begin)
    body = re.sub(r" +", " ", text[begin:end]), re.sub(r" +", " ", old)
    assert body[1] in body[0], f"{function} has no {old}"
    return text[:begin] + body[0].replace(body[1], new) + text[end:]


# The same of elements, by what is counted: (function, what stands there, what comes in its place), and the rungs. Those of
# one group are altered together. A function of multi_kernels.cu is one of the pieces of row D3.
V7 = {"v7-128", "v7-256", "v7-512", "v7-1024"}
PIECES = {"v14", "v14-bytes"}
INTS, FLOATS, DOUBLES = "int counts", "const float own[MOST + 1] = LAB_LOGARITHMS(float)", \
    "const double own[MOST + 1] = LAB_LOGARITHMS(double)"
PLANTED_ELEMENTS = (
    ("entropy", "count_entropy", (
        # A table that is brought to shared memory and looked up where it was.
        ("v7_shared", "total, shared)", "total, table)", {"v7_shared"}),
        # Counters of four bytes where the row has them of one, and the other way round.
        ("v6", "int8_t counts", INTS, {"v6-1024"}),
        ("v3", INTS, "int8_t counts", {"v3"}),
        # A table of doubles where the row has floats.
        ("v7", FLOATS, DOUBLES, V7),
        ("v9", FLOATS, DOUBLES, {"v9"}),
        ("solve_piece", FLOATS, DOUBLES, PIECES))),
    ("entropy", "count_entropy", (
        ("v8", "tex2D<float>((cudaTextureObject_t)texture, j, i)",
         "((const emulated_texture *)texture)->data[i * n + j]", {"v8-1024"}),)),
    ("entropy", "count_entropy", (
        ("v6", DOUBLES, FLOATS, {"v6-1024"}),
        ("v7", "int8_t counts", INTS, V7),
        ("v8", FLOATS, DOUBLES, {"v8-1024"}),
        # Twice the counters' width is found as well as four times.
        ("v7_float", "int8_t counts", "int16_t counts", {"v7_float-1024"}),
        # What a texture was made of, read without it.
        ("v7_texture", "texture_table table = {(cudaTextureObject_t)texture};",
         "const float *table = ((const emulated_texture *)texture)->data;", {"v7_texture"}),
        ("solve_piece", "int8_t counts", INTS, PIECES))),
    ("map", "count_map", (
        # An element read twice.
        ("divided", "*at = one_branch", "*at = *at, *at = one_branch", {"divided"}),
        # Two loads of a float for one of two.
        ("vectors", "float2 both = *at;", "float2 both = {at->x, at->y};", {"vectors"}))),
    ("map", "count_map", (
        ("vectors", "*at = both;", "at->x = both.x; at->y = both.y;", {"vectors"}),)),
)
# Sums of another type, which no access tells: found by how wrong the answers are.
PLANTED_SUMS = (
    ("v7_float", "finish<float>", "finish<double>", {"v7-float"}),
    ("v7", "finish<double>", "finish<float>", {"v7", *V7}),
    ("v5", "finish<double>", "finish<float>", {"v5"}),
    ("solve_piece", "double sum = own[total], inverse = 1.0 / total", "float sum = own[total], inverse = 1.0F / total",
     {"pieces"}),
)


# What no access and no answer tells: (ladder, what stands in its kernels, what comes in its place), and what is found.
PLANTED_SHAPES = (
    # Two elements for each thread of row E5 instead of four.
    ("map", (("row = 2 * blockIdx.y;", "row = blockIdx.y;"), ("for (int i = 0; i < 2; i++)", "for (int i = 0; i < 1; i++)"),
             ("dim3((n / 2 + 255) / 256, (n + 1) / 2), 256", "dim3((n / 2 + 255) / 256, n), 256")),
     "vectors: elements for each thread: 2, not 4"),
    # The side of known-side's tiles as a launch says, not as the compiler knows it.
    ("apsp", (("int *left = tiles + y * SIDE, *right = tiles + SIDE * SIDE + x;\n    int *own = element(d, ld, SIDE, ti, tj);\n"
               "    left[x] = *element(d, ld, SIDE, ti, k);\n    right[y * SIDE] = *element(d, ld, SIDE, k, tj);\n"
               "    int least = *own;\n    __syncthreads();\n#pragma unroll\n"
               "    for (int p = 0; p < SIDE; p++, right += SIDE) {",
               "int *left = tiles + y * b, *right = tiles + b * b + x;\n    int *own = element(d, ld, b, ti, tj);\n"
               "    left[x] = *element(d, ld, b, ti, k);\n    right[y * b] = *element(d, ld, b, k, tj);\n"
               "    int least = *own;\n    __syncthreads();\n    for (int p = 0; p < b; p++, right += b) {"),),
     "known-side: its tiles' side is a launch's, not the compiler's"),
)


def alter(ladders, altered):
    """The kernels and, of row D, those of pieces with these alterations, and the names that must be found."""
    text, pieces, wanted = kernels_of(ladders), None, set()
    for function, old, new, found in altered:
        if function == "solve_piece":
            pieces = plant(kernels_of(ladders, "multi"), function, old, new)
            if "float sum" in new:
                pieces = pieces.replace("(double)own[counts[level]]", "own[counts[level]]")
        else:
            text = plant(text, function, old, new)
        wanted |= found
    return text, pieces, wanted


def check_planted_elements(cxx):
    failed = 0
    for ladders, program, altered in PLANTED_ELEMENTS:
        text, pieces, wanted = alter(ladders, altered)
        status, told = count_accesses(cxx, text, program, pieces)
        named = set(re.findall(r"^([\w-]+): ", told, re.M))
        if status == 0 or named != wanted:
            print(told, f"altered kernels that were not found: {sorted(wanted - named)}; others: {sorted(named - wanted)}", sep="")
            failed = 1
    print(f"{sum(len(altered) for *_, altered in PLANTED_ELEMENTS)} altered kernels of elements")
    return failed


def check_planted_sums(cc, cxx):
    text, pieces, wanted = alter("entropy", PLANTED_SUMS)
    status, told = check_rungs(cc, cxx, "entropy", LADDERS["entropy"], text, pieces)
    named = set(re.findall(r"^([\w-]+): off by ", told, re.M)) | set(re.findall(r"^(pieces) of rows, ", told, re.M))
    if status == 0 or named != wanted:
        print(told, f"altered sums that were not found: {sorted(wanted - named)}; others: {sorted(named - wanted)}", sep="")
        return 1
    print(f"{len(PLANTED_SUMS)} altered sums, all found")
    return 0


def check_planted_shapes(cc, cxx):
    failed = 0
    for name, altered, wanted in PLANTED_SHAPES:
        text = kernels_of(name)
        for old, new in altered:
            assert old in text, f"{name} has no {old}"
            text = text.replace(old, new)
        status, told = check_rungs(cc, cxx, name, LADDERS[name], text)
        if status == 0 or told.splitlines()[:1] != [wanted]:
            print(told, f"not found: {wanted}", sep="")
            failed = 1
    print(f"{len(PLANTED_SHAPES)} altered shapes")
    return failed


def check_planted(cc, cxx):
    text, wanted = kernels_of("apsp"), set()
    for function, old, new, found in PLANTED:
        text = plant(text, function, old, new)
        wanted |= found
    text = text.replace("    /* Back into the tile, and from there", """    static void write(int *tile, const int (&least)[ROWS][COLS])
    {
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLS; j++) {
                tile[(threadIdx.y + i * Y) * B + threadIdx.x + j * X] = least[i][j];
            }
        }
    }
    /* Back into the tile, and from there""")
    status, told = count_accesses(cxx, text)
    named = set(re.findall(r"^(\w+), phase \d: .* for a relaxation: ", told, re.M))
    if status == 0 or named != wanted:
        print(told, f"altered kernels that were not found: {sorted(wanted - named)}; others: {sorted(named - wanted)}", sep="")
        return 1
    print(f"{len(PLANTED)} altered loops, all found")
    return check_planted_elements(cxx) | check_planted_sums(cc, cxx) | check_planted_shapes(cc, cxx)


# Where docs/add-a-rung.md says that its pieces go: (file, what stands after them, how they begin). Fenced code begins
# with its first line.
ADDED = (
    ("lab/ladders/entropy/gpu_kernels.cu", "/* v7 with its table in constant memory. */", "/* v7 with its table in global memory"),
    ("lab/ladders/entropy/gpu_kernels.cu", "SOLVE(v7_constant,", "SOLVE(v7_global,"),
    ("lab/ladders/entropy/gpu_kernels.h", "extern const lab_entropy_recipe LAB_ENTROPY_SWEPT(v0)", "extern const lab_entropy_recipe"),
    ("lab/ladders/entropy/gpu.c", '    {VERSION_IN("v7_constant', '{VERSION("v7-global"'),
    ("tests/lab/emulated/entropy.cpp", '    D1("v7-constant"', 'D1("v7-global"'),
    ("tests/lab/emulated/count_entropy.cpp", "TABLE(v7_constant,", "TABLE(v7_global,"),
    ("lab/ladders/map/gpu_kernels.cu", "/* Neighbouring threads lie in neighbouring rows", "static __global__ void paired("),
    ("lab/ladders/map/gpu_kernels.cu", "static void pass_original(", "static void pass_paired("),
    ("lab/ladders/map/gpu_kernels.cu", "const lab_map_recipe lab_map_original =", "const lab_map_recipe lab_map_paired"),
    ("lab/ladders/map/gpu_kernels.h", "extern const lab_map_recipe lab_map_original,", "extern const lab_map_recipe"),
    ("lab/ladders/map/gpu.c", "    RUNG(vectors,", "RUNG(paired,"),
    ("tests/lab/emulated/map.cpp", '    E("vectors",', 'E("paired"'),
    ("tests/lab/emulated/map.cpp", '    {"vectors", 4},', '{"paired", 2}'),
    ("tests/lab/emulated/count_map.cpp", '{"vectors", &lab_map_vectors', '{"paired", &lab_map_paired'),
)


def check_page(cc, cxx):
    global SOURCE, HERE
    page = (SOURCE / "docs" / "add-a-rung.md").read_text()
    pieces = re.findall(r"^```c\n(.*?)^```$", page, re.M | re.S) + [text + "\n" for text in re.findall(r"`([^`\n]+)`", page)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for part in ("lab/ladders", "tests/lab/emulated", "include", "src"):
            shutil.copytree(SOURCE / part, pathlib.Path(folder, part))
        SOURCE, HERE = pathlib.Path(folder), pathlib.Path(folder, "tests/lab/emulated")
        FLAGS[-3:] = [f"-I{HERE}", f"-I{SOURCE}/lab", f"-I{SOURCE}/include"]
        for file, before, begins in ADDED:
            piece = [each for each in pieces if each.startswith(begins)]
            assert len(piece) == 1, f"the page has {len(piece)} pieces that begin with {begins}"
            text = (SOURCE / file).read_text()
            assert text.count(before) == 1, f"{file} has {text.count(before)} times {before}"
            (SOURCE / file).write_text(text.replace(before, piece[0] + before))
        for status, told in (*(check_rungs(cc, cxx, name, LADDERS[name]) for name in ("entropy", "map")),
                             count_accesses(cxx, kernels_of("entropy"), "count_entropy"),
                             count_accesses(cxx, kernels_of("map"), "count_map")):
            print(told, end="")
            failed |= status != 0
    return 1 if failed else 0


def check_counts(cxx):
    failed = 0
    for ladders, program in (("apsp", "counts"), ("entropy", "count_entropy"), ("map", "count_map")):
        status, told = count_accesses(cxx, kernels_of(ladders), program)
        print(told, end="")
        failed |= status
    return failed


def check_banks(cxx):
    kernels = re.sub(r"^(?:THREE|SHAPE|PRODUCT)\((?!name|b,|conflicts,|straight,).*\n", "", kernels_of("apsp"),
                     flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "kernels.cpp").write_text(as_cpp(kernels))
        command = [cxx, "-std=c++17", *FLAGS, f"-I{work}"]
        subprocess.run([*command, "-fsanitize=thread", "-c", HERE / "banks.cpp", "-o", work / "banks.o"], check=True)
        return run(work, command, [HERE / "trace.cpp", work / "banks.o"], [])


def main():
    cc, cxx = (shutil.which(os.environ.get(*each)) for each in (("CC", "cc"), ("CXX", "c++")))
    if cc is None or cxx is None:
        print("skipped: no C or C++ compiler")
        return 77
    if sys.argv[2:] == ["planted"]:
        return check_planted(cc, cxx)
    if sys.argv[2:] == ["page"]:
        return check_page(cc, cxx)
    print(f"seed {SEED}", flush=True)
    failed = 0
    for status, told in (*(check_rungs(cc, cxx, name, ladders) for name, ladders in LADDERS.items()), check_banks(cxx)):
        print(told, end="")
        failed |= status != 0
    failed |= check_counts(cxx) != 0
    return 1 if failed else 0


sys.exit(main())
