#!/usr/bin/env python3
"""Run the command-line cases of *.cases files: run.py PROGRAM [--unless COMMAND] FILE...

With --unless they are skipped (exit status 77) where COMMAND succeeds.

A file is a list of cases, each run by sh in an empty folder of its own:

    == a title that is a statement
    $ command      earlier commands prepare and must succeed; the last one is the case
    > line         expected on standard output
    ! line         expected on standard error
    ? 2            expected exit status; 0 if there is none
    - file         must not be there afterwards
    + file         must be there afterwards

Without '>' (or '!') lines that stream must stay empty. In an expected line '...' stands for any
text; a line of just '...' stands for any number of lines. '#' begins a comment. Nothing else may
remain in the folder that the commands before the last did not make: a failed command (status 2)
must leave no file behind, under any name.

With TW_TEST_SMALL=emulated a part of each file is run, spread over it, since an emulator takes
thirty times as long: every sixth case and no fewer than five. The last line says how many were left
out.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EMULATED_SHARE = 6  # one case in so many is run under an emulator
EMULATED_LEAST = 5  # of a file, if it has them
LIMIT = 1200  # seconds after which a command hangs; a busy machine may need minutes


class Case:
    def __init__(self, title, place):
        self.title, self.place = title, place
        self.commands, self.out, self.err = [], [], []
        self.status, self.absent, self.present = 0, [], []


def read_cases(path):
    cases = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            mark, text = line[:1], line[2:]
            if line.startswith("== "):
                cases.append(Case(line[3:], f"{path}:{number}"))
            elif mark == "$":
                cases[-1].commands.append(text)
            elif mark == ">":
                cases[-1].out.append(text)
            elif mark == "!":
                cases[-1].err.append(text)
            elif mark == "?":
                cases[-1].status = int(text)
            elif mark == "-":
                cases[-1].absent.append(text)
            elif mark == "+":
                cases[-1].present.append(text)
            else:
                sys.exit(f"{path}:{number}: a line begins with == $ > ! ? - + or #")
    return cases


def part_of(cases):
    """What an emulator runs of them."""
    if os.environ.get("TW_TEST_SMALL") != "emulated":
        return cases
    count = max(len(cases) // EMULATED_SHARE, min(len(cases), EMULATED_LEAST))
    return [cases[i * len(cases) // count] for i in range(count)]


def pattern(lines):
    """A regular expression for the whole of a stream."""
    parts = []
    for line in lines:
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*")
        else:
            parts.append("[^\n]*".join(re.escape(piece) for piece in line.split("...")) + r"\n")
    return re.compile("".join(parts))


def run(command, folder, environment):
    return subprocess.run(["sh", "-c", command], cwd=folder, env=environment, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def complaints(case, environment):
    with tempfile.TemporaryDirectory() as folder:
        for command in case.commands[:-1]:
            done = run(command, folder, environment)
            if done.returncode != 0:
                yield f"'{command}' ended with {done.returncode}: {done.stderr.decode()}"
                return
        before = set(os.listdir(folder))
        done = run(case.commands[-1], folder, environment)
        after = set(os.listdir(folder))
        if done.returncode != case.status:
            yield f"exit status {done.returncode}, expected {case.status}"
        for name, got, lines in (("stdout", done.stdout, case.out), ("stderr", done.stderr, case.err)):
            text = got.decode("utf-8", "replace")
            if not pattern(lines).fullmatch(text):
                yield f"{name} was\n{text}expected\n" + "".join(line + "\n" for line in lines)
        if case.status == 2 and after - before - set(case.present):
            yield f"left behind: {sorted(after - before)}"
        yield from (f"'{name}' should not be there" for name in case.absent if name in after)
        yield from (f"'{name}' should be there" for name in case.present if name not in after)


def main():
    program, files = os.path.abspath(sys.argv[1]), sys.argv[2:]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TW_")}
    environment["PATH"] = os.pathsep.join(
        [os.path.dirname(program), os.path.join(HERE, "bin"), environment.get("PATH", "")])
    environment["LC_ALL"] = "C"
    environment["XDG_CACHE_HOME"] = "/proc/none"  # no case depends on an earlier one, or on the user's
    if files[:1] == ["--unless"]:
        with tempfile.TemporaryDirectory() as folder:
            if run(files[1], folder, environment).returncode == 0:
                print(f"skipped: '{files[1]}' succeeds here")
                return 77
        files = files[2:]
    failed = count = left_out = 0
    for path in files:
        cases = read_cases(path)
        part = part_of(cases)
        left_out += len(cases) - len(part)
        for case in part:
            count += 1
            found = list(complaints(case, environment))
            failed += bool(found)
            for complaint in found:
                print(f"{case.place}: {case.title}\n  $ {case.commands[-1]}\n{complaint}")
    print(f"{count - failed} of {count} cases passed" +
          (f", {left_out} left out under the emulator" if left_out else ""))
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
