#!/usr/bin/env python3
"""emulate.py FROM.cu TO.cpp: device code as C++ for the header emulated/gpu/compat.h: launches become
jobs of the runtime without a GPU, shared memory of a function is static."""
import pathlib
import re
import sys

LAUNCH = re.compile(r"\b(\w+(?:<[\w, ]*>)?)\s*<<<(.*?)>>>\s*\((.*?)\);", re.S)

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
# What launches pass on is copied; of a pointer to a struct that is what it points to.
text, launches = LAUNCH.subn(
    lambda m: f"{{ auto job_ = [=](auto... with) {{ {m.group(1)}(with...); }}; "
    f"emulate(job_, {m.group(2)}, {m.group(3)}); }}",
    text,
)
assert launches > 0 and "<<<" not in text, sys.argv[1]
text = text.replace("__shared__", "static")
pathlib.Path(sys.argv[2]).write_text(f'#line 1 "{sys.argv[1]}"\n{text}', encoding="utf-8")
