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


class Bash(Completion):
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
