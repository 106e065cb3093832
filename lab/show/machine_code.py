#!/usr/bin/env python3
"""machine_code.py cpu PROGRAM ADDRESS FILE FUNCTION... | gpu PROGRAM ADDRESS

What `tilewright-lab show` prints below a rung's source. Of a rung on a CPU: the inner loop of its
functions in PROGRAM, those of the source FILE, by objdump; ADDRESS is where the rung begins. Of a rung
on a GPU: what the kernel whose host function lies at ADDRESS takes, and its inner loop, by cuobjdump,
which is looked for on the PATH, in /usr/local/cuda and among Python's packages.

A loop is what lies between a branch backwards and its target, unless the function ends in there. The
inner loop is one that holds no other: of those the one with the most arithmetic on vectors or, where
none has any, with the most arithmetic. What is missing is named in one line, and what a tool prints is
believed in nothing: the exit status is 0 whatever it says.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

SHOWN = 80  # instructions of a loop
MOST = 1 << 24  # bytes that are read of a tool
SECONDS = 120

# What is no arithmetic: memory accesses, moves, comparisons, branches.
ASIDE = re.compile(r"(v?mov|v?p?broadcast|dup|ld|st|lea|push|pop|nop|b$|b\.|bl|cb|tb|j|cmp|test|ret|call)")
ASIDE_ON_GPU = re.compile(r"(LD|ST|MOV|BRA|BAR|NOP|EXIT|CALL|RET|BSSY|BSYNC|WARPSYNC|S2)")
VECTORS = re.compile(r"%[xyz]mm\d|\b[vz]\d+\.")
ENDS = re.compile(r"ret|EXIT|RET")

# `arithmetic`: how much an instruction counts; `target`: where a branch goes.
Instruction = collections.namedtuple("Instruction", "address text arithmetic target")
ON_VECTORS = 1 << 20  # beyond any number of others


class Missing(Exception):
    """What cannot be shown, and why."""


def find(name, hint):
    places = os.environ.get("PATH", "").split(os.pathsep) + ["/usr/local/cuda/bin"]
    places += [str(pathlib.Path(path) / "nvidia" / "cu13" / "bin") for path in sys.path]
    path = os.pathsep.join(places)
    program = shutil.which(name, path=path)
    if program is None:
        raise Missing(f"no {name} here: {hint}")
    return program, {**os.environ, "PATH": path, "LC_ALL": "C"}


def ask(tool, *words):
    """The lines that a tool prints, at most MOST bytes of them, without what a terminal would take for
    a command."""
    program, environment = tool
    try:
        with subprocess.Popen([program, *words], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            clock = threading.Timer(SECONDS, child.kill)
            clock.start()
            text = child.stdout.read(MOST)
            clock.cancel()
            child.kill()
    except OSError as error:
        raise Missing(f"{program} cannot be run: {error.strerror}") from error
    return [re.sub(r"[^\t -~]", "?", line) for line in text.decode("utf-8", "replace").split("\n")]


def inner_loop(code):
    """Its instructions and their arithmetic; none where no branch goes backwards."""
    place = {each.address: i for i, each in enumerate(code)}
    loops = [(end, place[each.target]) for end, each in enumerate(code)
             if each.target is not None and place.get(each.target, end + 1) <= end]
    arithmetic, ends = [0], [0]  # of all the instructions before
    for each in code:
        arithmetic.append(arithmetic[-1] + each.arithmetic)
        ends.append(ends[-1] + bool(ENDS.match(each.text)))
    best, most, latest = [], 0, -1
    for end, first in sorted(loops, key=lambda loop: (loop[0], -loop[1])):
        if first > latest and ends[first] == ends[end + 1]:  # no loop that ends before it begins within it
            latest = first
            if arithmetic[end + 1] - arithmetic[first] > most:
                best, most = code[first:end + 1], arithmetic[end + 1] - arithmetic[first]
    return best, most


def print_loop(name, code):
    loop, _ = inner_loop(code)
    if not loop:
        print(f"{name}: {len(code)} instructions without a loop")
        return
    print(f"{name}: its inner loop, {len(loop)} of {len(code)} instructions")
    for each in loop[:SHOWN]:
        print(f"  {each.address:6x}  {each.text}")
    if len(loop) > SHOWN:
        print(f"  ... and {len(loop) - SHOWN} more")


# ------------------------------------------------------------------------------------------ a CPU

SYMBOL = re.compile(r"([0-9a-f]{1,16}) .{6}F \S+\t([0-9a-f]{1,16})\s+(?:\.hidden )?(\S+)$")
FROM = re.compile(r"[0-9a-f]{1,16} l    df \*ABS\*\t\S+\s*(.*)$")
LINE = re.compile(r"\s*([0-9a-f]{1,16}):\t(.*?)\s*(?:(?://|# ).*)?$")
BRANCH = re.compile(r"(?:b\.\w+|bc\.\w+|cbn?z|tbn?z|j(?!mp)\w+)\s.*?([0-9a-f]{1,16}) <")  # on a condition

Function = collections.namedtuple("Function", "name address size")


def files_of(program):
    """[(source file, [Function])] in the order of the linker, a file as often as there are files of that
    name; the last holds what is known beyond its file."""
    found = [("", [])]
    for line in ask(find("objdump", "it is part of GNU binutils"), "-t", program):
        if match := FROM.match(line):
            found.append((match[1], []))
        elif match := SYMBOL.match(line):
            found[-1][1].append(Function(match[3], int(match[1], 16), int(match[2], 16)))
    if not any(functions for _, functions in found):
        raise Missing("the program has no symbols: it was stripped")
    return found


def named(files, file, address, names):
    """What the compiler made of the functions: f, f.constprop.0, f._omp_fn.0. Of files of one name it is
    the one with the rung's beginning or, without it, with the most of them."""
    found = []
    for name, functions in files:
        if name in (file, ""):
            here = [each for each in functions
                    if each.name.split(".")[0] in names and not each.name.endswith(".cold")]
            begins = any(each.address == address for each in functions)
            found.append((bool(here) and begins, len(here), here))
    return max(found, key=lambda each: each[:2], default=(False, 0, []))[2]


def disassemble(program, function):
    code = []
    for line in ask(find("objdump", ""), "-d", "--no-show-raw-insn", f"--start-address={function.address:#x}",
                    f"--stop-address={function.address + function.size:#x}", program):
        if match := LINE.match(line):
            text = " ".join(match[2].split())
            branch = BRANCH.match(text)
            arithmetic = 0 if ASIDE.match(text) else ON_VECTORS if VECTORS.search(text) else 1
            code.append(Instruction(int(match[1], 16), text, arithmetic, int(branch[1], 16) if branch else None))
    return code


def show_cpu(program, address, file, *names):
    codes = [(each.name, disassemble(program, each))
             for each in named(files_of(program), os.path.basename(file), address, names)]
    if not codes:
        raise Missing(f"no function of the program is called {' or '.join(names)}: the compiler put them into others, "
                      "or a macro makes them")
    print("of the functions above (not of what they call):")
    print_loop(*max(codes, key=lambda each: inner_loop(each[1])[1]))


# ------------------------------------------------------------------------------------------ a GPU

SASS = re.compile(r"\s*/\*([0-9a-f]{4,16})\*/\s+((?:@!?\w+ )?([A-Z]\w*(?:\.\w+)*)([^;]*));")
TAKES = re.compile(r"\s*REG:(\d+) STACK:(\d+) SHARED:(\d+)")


def kernel_at(program, address):
    for _, functions in files_of(program):
        for each in functions:
            if each.address == address:
                return re.sub("^_ZL", "_Z", each.name)  # known to its file alone, which a card does not tell
    raise Missing("the program has no symbols of its kernels")


def kernels_of(program, tool, name):
    """[(architecture, code)] of every kernel of that name."""
    found, architecture, code = [], "", None
    for line in ask(tool, "-sass", "-fun", name, program):
        if "code for " in line:
            architecture = line.split("code for ")[1].strip()
        elif "Function :" in line:
            code = []
            found.append((architecture, code))
        elif code is not None and (match := SASS.match(line)):
            target = re.search(r"0x([0-9a-f]{1,16})\b", match[4]) if match[3].startswith("BRA") else None
            arithmetic = 0 if ASIDE_ON_GPU.match(match[3]) else 1
            code.append(Instruction(int(match[1], 16), " ".join(match[2].split()), arithmetic,
                                    int(target[1], 16) if target else None))
    return found


def takes(program, tool, name):
    """Registers, stack and shared memory of the kernel as cuobjdump tells them; None where it does not."""
    lines = ask(tool, "-res-usage", program)
    for title, line in zip(lines, lines[1:]):
        if title.strip() == f"Function {name}:" and (match := TAKES.match(line)):
            return match.groups()
    return None


def readable(name):
    done = shutil.which("c++filt")
    text = ask((done, dict(os.environ)), name)[0] if done else name
    return re.sub(r"^void |\(.*", "", text)


def show_gpu(program, address):
    tool = find("cuobjdump", "it is part of the CUDA toolkit, and of pip's nvidia-cuda-cuobjdump (with "
                "nvidia-cuda-nvdisasm)")
    name = kernel_at(program, address)
    found = kernels_of(program, tool, name)
    if not found:
        raise Missing(f"cuobjdump finds no kernel {readable(name)} in the program")
    architecture = found[-1][0]
    if sum(each == architecture for each, _ in found) > 1:
        raise Missing(f"several kernels of the program are called {readable(name)}; tools/gpu-accesses tells them apart")
    code = found[-1][1]
    spilled = [sum(bool(re.match(r"(@!?\w+ )?" + kind + r"\b", each.text)) for each in code) for kind in ("STL", "LDL")]
    used = takes(program, tool, name)
    if used:
        print(f"for {architecture}: {used[0]} registers, {used[2]} bytes of shared memory beside what a launch asks for, "
              f"{used[1]} bytes of stack, {spilled[0]} stores to it and {spilled[1]} loads")
    print_loop(readable(name), code)


def main():
    kind, program, address, *names = sys.argv[1:]
    try:
        print("\nmachine code ", end="")
        if kind == "cpu":
            show_cpu(program, int(address, 16), *names)
        else:
            show_gpu(program, int(address, 16))
    except Missing as missing:
        print(f"is not shown: {missing}")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read it has seen enough


if __name__ == "__main__":
    main()
