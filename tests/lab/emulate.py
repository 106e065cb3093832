#!/usr/bin/env python3
"""emulate.py SOURCE: the kernels of ladder apsp-gpu, thread by thread on the CPU, against a plain
closure. SOURCE is the repository. Needs a C++ compiler, and no GPU or toolkit of one."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LAUNCH = re.compile(r"\b(\w+(?:<[\w, &|]*>)?)\s*<<<(.*?)>>>\s*\((.*?)\);", re.S)


def as_cpp(text):
    """Launches become calls; shared memory of a function is static, the dynamic one the header's."""
    text, launches = LAUNCH.subn(r"emulate([=] { \1(\3); }, \2);", text)
    assert launches > 10, launches
    text = text.replace("extern __shared__", "extern").replace("__shared__", "static")
    assert "<<<" not in text
    return text


def main():
    source = pathlib.Path(sys.argv[1])
    here = source / "tests" / "lab" / "emulated"
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        print("skipped: no C++ compiler")
        return 77
    kernels = (source / "lab" / "ladders" / "apsp" / "gpu_kernels.cu").read_text()
    names = re.findall(r"^(?:RECIPE|PREPARED|THREE|PRODUCT)\((\w+),", kernels, re.M)
    names += ["shape_" + "_".join(numbers.split(", "))
              for numbers in re.findall(r"^SHAPE\((.*)\)", kernels, re.M)]
    seed = os.environ.get("TW_SEED", "20")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "kernels.cpp").write_text(as_cpp(kernels))
        (work / "recipes.inc").write_text("".join(f'{{"{n}", &lab_{n}}},\n' for n in names))
        # Stacks are switched by longjmp, which a hardened C library takes for an error.
        subprocess.run([compiler, "-std=c++17", "-O1", "-w", "-fwrapv", "-U_FORTIFY_SOURCE",
                        f"-I{here}", f"-I{work}",
                        f"-I{source}/lab", f"-I{source}/include", here / "main.cpp", "-o",
                        work / "emulated"], check=True)
        print(f"seed {seed}, {len(names)} recipes", flush=True)
        return subprocess.run([work / "emulated", seed], check=False).returncode


sys.exit(main())
