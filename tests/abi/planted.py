#!/usr/bin/env python3
"""planted.py CHECK LIBRARY DUMP HEADERS: check.sh must find what is planted into a copy of the dump: a member
of another name, in each struct of the header in turn. And the dump must have the types of every function,
or else a change of them is none to find."""
import os
import re
import subprocess
import sys
import tempfile

check, library, dump, headers = sys.argv[1:]
with open(dump, encoding="utf-8") as opened:
    text = opened.read()
with open(os.path.join(headers, "tilewright.h"), encoding="utf-8") as opened:
    header = opened.read()


def is_found(planted):
    """Whether the check fails, and because of a difference."""
    with tempfile.NamedTemporaryFile("w", suffix=".abi") as copy:
        copy.write(planted)
        copy.flush()
        run = subprocess.run([check, library, copy.name, headers], capture_output=True, text=True, check=False)
    return run.returncode != 0 and "the interface differs" in run.stderr


clean = subprocess.run([check, library, dump, headers], capture_output=True, text=True, check=False)
if clean.returncode != 0 or clean.stdout.startswith("skipped"):
    print(clean.stdout or clean.stderr)
    sys.exit(clean.returncode)
missed = []
structs = re.findall(r"^typedef struct (tw_\w+) \{", header, re.M)
assert len(structs) >= 30
for name in structs:
    body = re.search(rf"<class-decl name='{name}' size-in-bits.*?</class-decl>", text, re.S)
    member = body and re.findall(r"<var-decl name='(\w+)'", body.group())[-1]
    changed = body and body.group().replace(f"<var-decl name='{member}'", "<var-decl name='another'")
    if body is None or not is_found(text.replace(body.group(), changed)):
        missed.append(name)
functions = re.findall(r"<elf-symbol name='(tw_\w+)'", text)
assert len(functions) >= 100
for name in functions:
    if re.search(rf"<function-decl name='{name}'[^>]* elf-symbol-id='{name}'", text) is None:
        missed.append(f"{name}: its parameters")
print("not compared:" if missed else f"{len(structs)} structs and {len(functions)} functions are compared", *missed)
sys.exit(1 if missed else 0)
