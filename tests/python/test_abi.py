"""The ctypes structs are those of the header: sizes, offsets, types and defaults, as a C compiler
sees them, and every function has as many arguments."""

import ctypes
import os
import re
import shutil
import subprocess

import pytest

from tilewright import _abi

HEADER = os.path.join(os.path.dirname(__file__), "../../include/tilewright.h")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def members(struct):
    return [field[0] for field in struct._fields_]


def probe(tmp_path):
    """A program that prints "struct size", "struct.member offset size" and the initial bytes."""
    lines = ["#include <tilewright.h>", "#include <stdio.h>", "int main(void) {"]
    for name, struct in _abi.STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for member in members(struct):
            lines.append(
                f'printf("{name}.{member} %zu %zu\\n", offsetof({name}, {member}), '
                f"sizeof((({name} *)0)->{member}));"
            )
        if issubclass(struct, _abi.Sized):
            macro = name.upper() + "_INIT"
            lines += [f"{{ static const {name} v = {macro};"]
            for member, kind in struct._fields_:
                if kind in (ctypes.c_double,):
                    lines.append(f'printf("{name}.{member} = %a\\n", v.{member});')
                elif kind in (ctypes.c_char_p,):
                    lines.append(
                        f'printf("{name}.{member} = %s\\n", v.{member} ? "text" : "NULL");'
                        f'if (v.{member} && *v.{member}) printf("{name}.{member} is not empty\\n");'
                    )
                elif kind in (ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_size_t):
                    lines.append(f'printf("{name}.{member} = %lld\\n", (long long)v.{member});')
                elif kind is ctypes.c_void_p:
                    lines.append(f'printf("{name}.{member} = %d\\n", v.{member} != NULL);')
            lines += ["}"]
    lines += ["return 0; }"]
    source = tmp_path / "probe.c"
    source.write_text("\n".join(lines))
    program = tmp_path / "probe"
    include = os.path.dirname(os.path.abspath(HEADER))
    subprocess.run([COMPILER, "-I", include, str(source), "-o", str(program)], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_structs_lie_as_in_the_header(tmp_path):
    expected = []
    for name, struct in _abi.STRUCTS.items():
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for member in members(struct):
            field = getattr(struct, member)
            expected.append(f"{name}.{member} {field.offset} {field.size}")
        if not issubclass(struct, _abi.Sized):
            continue
        made = struct()
        for member, kind in struct._fields_:
            value = getattr(made, member)
            if kind is ctypes.c_double:
                expected.append(f"{name}.{member} = {value!r}")
            elif kind is ctypes.c_char_p:
                expected.append(f"{name}.{member} = {'NULL' if value is None else 'text'}")
            elif kind is ctypes.c_void_p:
                expected.append(f"{name}.{member} = {int(value is not None)}")
            elif kind in (ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_size_t):
                expected.append(f"{name}.{member} = {value}")
    seen = []
    for line in probe(tmp_path).splitlines():
        place, equals, value = line.partition(" = ")
        if equals and "0x" in value:
            line = f"{place} = {float.fromhex(value)!r}"
        seen.append(line)
    assert seen == expected


def header_text():
    with open(HEADER) as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def test_structs_have_all_members_of_the_header():
    text = header_text()
    for name, struct in _abi.STRUCTS.items():
        body = re.search(r"typedef struct %s \{(.*?)\n\} %s;" % (name, name), text, re.S).group(1)
        body = re.sub(r"\(\*(\w+)\)\([^;]*\)", r"\1", body)  # pointers to functions
        found = []
        for declaration in body.split(";"):
            for part in declaration.strip().split(","):
                if part.strip():
                    found.append(re.sub(r"\[\w+\]", "", part.split()[-1]).lstrip("*"))
        assert found == members(struct), name


def test_functions_have_the_arguments_of_the_header():
    text = header_text()
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        declared = re.search(r"TW_API[^;]*?\b%s\(([^;]*)\)" % name, text, re.S)
        assert declared, name
        listed = [part for part in declared.group(1).split(",") if part.strip() != "void"]
        assert len(listed) == len(arguments), name
        for part, kind in zip(listed, arguments):
            if "*" in part:
                assert kind in (ctypes.c_void_p, ctypes.c_char_p), (name, part)
                continue
            width = {"int64_t": 8, "uint64_t": 8, "int32_t": 4, "uint32_t": 4}
            word = part.split()[0]
            if word in width:
                assert ctypes.sizeof(kind) == width[word], (name, part)


def test_constants_are_those_of_the_header():
    text = header_text()
    constant = {m[0]: int(m[1]) for m in re.findall(r"\b(TW_[A-Z0-9_]+)\s*=\s*(-?\d+)", text)}
    for name in ("ARGUMENT", "MEMORY", "IO", "FORMAT", "RANGE", "UNSUPPORTED", "CANCELLED"):
        assert constant["TW_ERR_" + name] == getattr(_abi, "ERR_" + name)
    for name in ("NEGATIVE_CYCLE", "VERIFY", "DEVICE", "INTERNAL"):
        assert constant["TW_ERR_" + name] == getattr(_abi, "ERR_" + name)
    for name in ("AUTO", "U8", "U16", "I16", "I32", "F32", "F64", "F16", "I64"):
        assert constant["TW_" + name] == getattr(_abi, name)
    for prefix, known in (
        ("TW_APSP_METHOD_", _abi.METHODS),
        ("TW_ENTROPY_BORDER_", _abi.BORDERS),
        ("TW_APSP_CLOSENESS_", _abi.CLOSENESS),
    ):
        listed = {name: value for name, value in constant.items() if name.startswith(prefix)}
        assert listed == {prefix + name.upper(): value for name, value in known.items()}
    for name, value in _abi.BASES.items():
        assert constant["TW_ENTROPY_BASE_" + str(name).upper()] == value
    assert int(re.search(r"TW_APSP_INF_I32 (\d+)", text).group(1)) == _abi.INF_I32
    assert int(re.search(r"TW_APSP_NO_VERTEX \((-\d+)\)", text).group(1)) == _abi.NO_VERTEX
    version = re.search(r'TW_VERSION_STRING "(\d+\.\d+)\.\d+"', text).group(1)
    assert version == _abi.VERSION
