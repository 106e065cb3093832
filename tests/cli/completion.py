#!/usr/bin/env python3
"""Completion as a shell does it: completion.py PROGRAM SHELL

Each shell reads the script that the program prints for it, and is asked to complete lines: Bash by the
function that the script installs, fish by its own `complete -C`, zsh at a terminal, by the Tab key.
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
SHELL = sys.argv[2]
LIMIT = 300  # seconds after which something hangs
COMMANDS = ["apsp", "path", "summary", "reach", "entropy", "map", "convert", "compare", "generate", "devices", "selftest", "bench"]
METHODS = ["auto", "bfs", "closure", "dijkstra", "reference", "sweep"]


def says(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True,
                          timeout=LIMIT).stdout


def options_of(command):
    return spoken_of(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", says("help", command), re.MULTILINE))


def spoken_of(options):
    """Scripts are those of every build; help leaves this one out if there is no GPU code in its own."""
    return sorted(set(options) - {"--device-memory"})


class Zsh:
    """An interactive zsh: Tab completes, and Ctrl-T writes the line to a file and clears it."""

    def __init__(self, folder, script):
        self.line = os.path.join(folder, "line")
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "ZDOTDIR": folder,
                                                   "LC_ALL": "C"})
        self.shown = ""
        self.type("autoload -Uz compinit && compinit -u -D && source " + script + "\n"
                  "keep() { print -r -- \"$BUFFER\" >|" + self.line + ".part; "
                  "command mv " + self.line + ".part " + self.line + "; BUFFER=; }\n"
                  "zle -N keep; bindkey '^T' keep; bindkey '^I' expand-or-complete; unsetopt beep automenu\n")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def complete(self, line):
        """The line after the Tab key."""
        if os.path.exists(self.line):
            os.unlink(self.line)
        self.type(line + "\t\x14")
        until = time.monotonic() + LIMIT
        while not os.path.exists(self.line):
            if time.monotonic() > until:
                raise AssertionError("zsh does not answer: " + self.shown)
            if select.select([self.terminal], [], [], 0.02)[0]:
                self.shown += os.read(self.terminal, 4096).decode(errors="replace")
        with open(self.line, encoding="utf-8") as file:
            return file.read().rstrip("\n")

    def close(self):
        self.type("exit\n")
        os.close(self.terminal)
        os.waitpid(self.process, 0)


class Completion(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.script = os.path.join(self.folder, "script")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(says("--completion=" + SHELL))
        for name in ("roads.gr", "road map.gr", "apsp"):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8"):
                pass

    def run_shell(self, *arguments):
        done = subprocess.run([SHELL, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=LIMIT, check=False, env={**os.environ, "HOME": self.folder})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()


def choices():
    """What is offered as the value of each command's options, from the script for fish."""
    script = says("--completion=fish")
    found = re.findall(r"^complete -c \S+ -n '\S+_command (\S+)' -l (\S+)(?: -s \S)? -x -a '([^']*)'", script, re.MULTILINE)
    return {(command, option): values.split() for command, option, values in found}


class Bash(Completion):
    def test_what_is_offered_as_a_value_is_what_is_accepted(self):
        files = {"t.el": b"0 1 2\n1 2 2\n2 0 2\n", "i.pgm": b"P5 4 4 255\n0123456789abcdef", "zero.el": b"0 1 0\n1 2 0\n2 0 0\n"}
        for name, content in files.items():
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(content)
        subprocess.run([PROGRAM, "apsp", "t.el", "m.npy", "-q"], cwd=self.folder, check=True)
        subprocess.run([PROGRAM, "map", "x + 0.5", "m.npy", "f.npy", "-t", "f32", "-q"], cwd=self.folder, check=True)
        raw = {"u8": 1, "u16": 2, "i16": 2, "i32": 4, "auto": 4, "f32": 4, "f64": 8}
        for name, size in raw.items():  # zeros: all vertices at one place
            with open(os.path.join(self.folder, f"z.{name}.raw"), "wb") as file:
                file.write(bytes(9 * size))
        lines = {("apsp", "method"): "t.el out.npy", ("apsp", "type"): "t.el out.npy", ("apsp", "work-type"): "t.el out.npy --method closure",
                 ("path", "type"): "zero.el z.TYPE.raw 0 1", ("summary", "type"): "z.TYPE.raw", ("convert", "type"): "m.npy out.npy",
                 ("convert", "raw-type"): "z.TYPE.raw out.npy", ("compare", "type"): "z.TYPE.raw z.TYPE.raw",
                 ("generate", "weight-type"): "graph grid out.gr --vertices 9", ("map", "out-type"): "x i.pgm out.npy",
                 ("map", "compute"): "x i.pgm out.npy", ("entropy", "type"): "i.pgm out.npy --window 3",
                 ("entropy", "out-type"): "i.pgm out.npy --window 3"}
        offered = choices()
        self.assertEqual(sorted(offered), sorted(lines))
        for (command, option), line in lines.items():
            for value in METHODS if option == "method" else ("auto", "u8", "u16", "i16", "i32", "i64", "f16", "f32", "f64"):
                words = line.replace("TYPE", value).split()
                if (option, value) == ("work-type", "f32"):  # for neither whole weights nor f64
                    words[0] = "f.npy"
                done = subprocess.run([PROGRAM, command, *words, "--" + option, value, "-q"], cwd=self.folder, capture_output=True, text=True,
                                      timeout=LIMIT)
                for name in ("out.npy", "out.gr"):
                    if os.path.exists(os.path.join(self.folder, name)):
                        os.remove(os.path.join(self.folder, name))
                self.assertEqual(done.returncode == 0, value in offered[command, option], (command, option, value, done.stderr))

    def offers(self, *words):
        words = ["tilewright", *words]
        return sorted(self.run_shell("--norc", "-c", '. "$1"; shift; COMP_WORDS=("$@"); '
                                     'COMP_CWORD=$(($# - 1)); _tilewright; '
                                     'printf "%s\\n" "${COMPREPLY[@]}"', "bash", self.script, *words))

    def test_commands(self):
        self.assertEqual(self.offers(""), sorted([*COMMANDS, "help", "--help", "--version"]))
        self.assertEqual(self.offers("se"), ["selftest"])

    def test_the_options_of_every_command(self):
        for command in COMMANDS:
            self.assertEqual(spoken_of(self.offers(command, "--")), options_of(command))

    def test_files(self):
        self.assertEqual(self.offers("apsp", "roads"), ["roads.gr"])


class Fish(Completion):
    def offers(self, line):
        found = self.run_shell("--no-config", "-c", f"source {self.script}; complete -C '{line}'")
        return {name: what[0] if what else "" for name, *what in (entry.split("\t") for entry in found)}

    def test_commands(self):
        for line in ("tilewright ", "tilewright help "):
            offers = self.offers(line)
            self.assertLessEqual(set(COMMANDS), set(offers))
            self.assertNotIn("roads.gr", offers)
            for command in COMMANDS:
                self.assertRegex(says(), rf"(?m)^  {command} +{re.escape(offers[command])}")

    def test_the_options_of_every_command(self):
        for command in COMMANDS:
            offers = self.offers(f"tilewright {command} --")
            self.assertEqual(spoken_of(offers), options_of(command))
            text = " ".join(says("help", command).split())
            for option, what in offers.items():
                self.assertGreater(len(what), 3, option)
                self.assertTrue(what in text or option not in spoken_of(offers), what)
                self.assertEqual(what.count("("), what.count(")"), what)

    def test_a_file_named_like_a_command_is_none(self):
        self.assertEqual(sorted(self.offers("tilewright devices apsp --")), options_of("devices"))

    def test_values(self):
        self.assertEqual(sorted(self.offers("tilewright apsp --method ")), METHODS)
        self.assertEqual(sorted(self.offers("tilewright apsp --method=d")), ["--method=dijkstra"])
        self.assertEqual(self.offers("tilewright apsp --cutoff roa"), {})
        self.assertIn("roads.gr", self.offers("tilewright apsp --predecessors roa"))

    def test_files(self):
        self.assertEqual(sorted(self.offers("tilewright apsp roads")), ["roads.gr"])


class InZsh(Completion):
    def setUp(self):
        super().setUp()
        self.shell = Zsh(self.folder, self.script)
        self.addCleanup(self.shell.close)

    def check(self, line, wanted):
        self.assertEqual(self.shell.complete("tilewright " + line), "tilewright " + wanted)

    def test_commands(self):
        for command in COMMANDS:
            shortest = next(command[:k] for k in range(1, len(command) + 1)
                            if sum(other.startswith(command[:k]) for other in [*COMMANDS, "help"]) == 1)
            self.check(shortest, command + " ")
            self.check("help " + shortest if shortest != "h" else "help " + command, "help " + command + " ")
        self.check("--vers", "--version ")

    def test_the_options_of_every_command(self):
        for command in COMMANDS:
            self.check(command + " --hel", command + " --help ")
            for option in options_of(command):
                others = [other for other in options_of(command) if other.startswith(option)]
                if len(others) == 1:  # with a value, an equals sign follows
                    said = self.shell.complete(f"tilewright {command} {option}")
                    self.assertIn(said, [f"tilewright {command} {option}" + end for end in (" ", "=", "")])
                    self.assertNotIn("rror", self.shell.shown)

    def test_values(self):
        self.check("apsp --method dij", "apsp --method dijkstra ")
        self.check("apsp --method=dij", "apsp --method=dijkstra ")
        self.check("apsp --work-type i3", "apsp --work-type i32 ")
        self.check("apsp --cutoff roads", "apsp --cutoff roads")
        self.check("apsp --predecessors roads", "apsp --predecessors roads.gr ")
        self.check("apsp -o roads", "apsp -o roads.gr ")

    def test_files(self):
        self.check("apsp roads", "apsp roads.gr ")
        self.check("apsp 'road ", "apsp 'road map.gr' ")

    def test_found_in_fpath_it_works_the_first_time(self):
        place = os.path.join(self.folder, "functions")
        os.mkdir(place)
        shutil.copy(self.script, os.path.join(place, "_tilewright"))
        empty = os.path.join(self.folder, "empty")
        with open(empty, "w", encoding="utf-8"):
            pass
        shell = Zsh(self.folder, f"{empty} && fpath=({place} $fpath) && compinit -u -D")
        self.addCleanup(shell.close)
        for _ in range(2):
            self.assertEqual(shell.complete("tilewright sel"), "tilewright selftest ")


if __name__ == "__main__":
    if shutil.which(SHELL) is None:
        print(f"skipped: {SHELL} is not installed")
        sys.exit(77)
    case = {"bash": "Bash", "fish": "Fish", "zsh": "InZsh"}[SHELL]
    unittest.main(argv=[sys.argv[0], case])
