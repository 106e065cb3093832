#!/usr/bin/env python3
"""emulate.py SOURCE: the kernels of ladders apsp-gpu, entropy-gpu, entropy-multi and map-gpu, thread by thread on the
CPU, against plain loops; and each of their rungs held to what its row says of its kernel, its threads,
shared memory, barriers and bank conflicts. SOURCE is the repository. Needs a C and a C++ compiler, and no
GPU or toolkit of one."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LAUNCH = re.compile(r"\b(\w+(?:<[\w, &|]*>)?)\s*<<<(.*?)>>>\s*\((.*?)\);", re.S)
SOURCE = pathlib.Path(sys.argv[1])
HERE = SOURCE / "tests" / "lab" / "emulated"
SEED = os.environ.get("TW_SEED", "20")
# Stacks are switched by longjmp, which a hardened C library takes for an error.
FLAGS = ["-O1", "-w", "-fwrapv", "-U_FORTIFY_SOURCE", f"-I{HERE}", f"-I{SOURCE}/lab", f"-I{SOURCE}/include"]


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
    return subprocess.run([work / "emulated", *words], check=False).returncode


def check_rungs(cc, cxx, name, ladders):
    """A program that has the rungs of these ladders, and what they run."""
    kernels = kernels_of(name)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "kernels.cpp").write_text(as_cpp(kernels))
        if name == "entropy":
            (work / "pieces.cpp").write_text(as_cpp(kernels_of(name, "multi")))
        names = re.findall(r"^(?:RECIPE|PREPARED|THREE|PRODUCT)\((\w+),", kernels, re.M)
        names += ["shape_" + "_".join(numbers.split(", ")) for numbers in re.findall(r"^SHAPE\((.*)\)", kernels, re.M)]
        (work / "recipes.inc").write_text("".join(f'{{"{n}", &lab_{n}}},\n' for n in names))
        of = ", ".join("&lab_" + ladder.replace("-", "_") for ladder in ladders)
        subprocess.run([cc, "-std=c11", *FLAGS, f"-I{SOURCE}/src", "-DLAB_LISTED_ONLY", "-DLAB_LISTED_WITH_CODE",
                        f'-DTABLES="ladders/{name}/gpu.c"', f"-DLADDERS={of}", "-include", "string.h", "-c",
                        HERE / "tables.c", "-o", work / "tables.o"], check=True)
        return run(work, [cxx, "-std=c++17", *FLAGS, f"-I{work}"], [HERE / f"{name}.cpp", work / "tables.o"], [SEED])


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
    print(f"seed {SEED}", flush=True)
    failed = check_rungs(cc, cxx, "apsp", ["apsp-gpu", "apsp-gpu-blocks", "apsp-gpu-shapes", "apsp-gpu-global",
                                           "apsp-hip"])
    failed |= check_rungs(cc, cxx, "entropy", ["entropy-gpu", "entropy-gpu-threads"])
    failed |= check_rungs(cc, cxx, "map", ["map-gpu"])
    failed |= check_banks(cxx)
    return 1 if failed else 0


sys.exit(main())
