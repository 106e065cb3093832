"""Expressions evaluated at every element of arrays, in numexpr's manner.

numexpr's expressions are Python's, the library's are C's: the text is read by Python's own parser and
written again, names becoming inputs (arrays) or constants (numbers). Arrays are broadcast as NumPy
does. Arrays that lie alike are taken as one long one, in rows that threads can share.
"""

from __future__ import annotations

import ast
import sys
from ctypes import byref, c_char_p, c_void_p
from typing import Any, Collection, Optional

import numpy as np

from . import _abi
from ._abi import lib
from ._apsp import Memory
from ._entropy import _lies_in_rows, _matrix
from ._session import ProgressOption, Settings, check, session

_INPUTS = {
    np.dtype(np.uint8): _abi.U8,
    np.dtype(np.uint16): _abi.U16,
    np.dtype(np.int16): _abi.I16,
    np.dtype(np.int32): _abi.I32,
    np.dtype(np.float32): _abi.F32,
    np.dtype(np.float64): _abi.F64,
}
_WIDER: dict[str, Any] = {
    "b1": np.uint8,
    "i1": np.int16,
    "u4": np.float64,
    "i8": np.float64,
    "u8": np.float64,
    "f2": np.float32,
}
_OWN_NAMES = ("row", "col", "rows", "cols")
_LINE = 4096  # elements of a row, where we cut rows ourselves
_SMALL = 1 << 15  # elements that one thread has done before a team is awake

_FUNCTIONS = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "maximum": "max",
    "minimum": "min",
    "absolute": "abs",
    "round": "rint",  # halves to even, as NumPy, numexpr and Python have it
    "signbit": "signbit",  # written out below
}
_FUNCTIONS.update(
    (name, name)
    for name in (
        "abs sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh "
        "asinh acosh atanh floor ceil rint trunc sign isnan isinf isfinite fmod pow atan2 hypot "
        "copysign nextafter min max clamp where"
    ).split()
)
_TRUTHS = ("isnan", "isinf", "isfinite", "signbit")
_OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&&",
    ast.BitOr: "||",
    ast.And: "&&",
    ast.Or: "||",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


class _Writer:
    """An expression of Python's written in the library's language. ``names`` are those it uses;
    ``truth`` of a node tells whether its values are true or false."""

    def __init__(self, text: str, own: Collection[str] = ()) -> None:
        self.own = own  # names that are the library's: row, col, ...
        try:
            self.tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError as error:
            where = f", column {error.offset}" if error.offset else ""
            raise SyntaxError(f"invalid expression {text!r}{where}: {error.msg}") from None
        self.names: list[str] = []
        self.text = self._write(self.tree)
        self.is_truth = self._truth(self.tree)

    def _truth(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Compare):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
            return True
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, (ast.Not, ast.Invert))
        if isinstance(node, ast.Call):
            return getattr(node.func, "id", "") in _TRUTHS
        return isinstance(node, ast.BoolOp)

    def _write(self, node: ast.AST) -> str:
        if isinstance(node, ast.Constant):
            return self._constant(node.value)
        if isinstance(node, ast.Name):
            if node.id not in self.names:
                self.names.append(node.id)
            return f"\x00{self.names.index(node.id)}\x00"
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.BoolOp):
            joint = f" {_OPERATORS[type(node.op)]} "
            return "(" + joint.join(self._write(value) for value in node.values) + ")"
        if isinstance(node, ast.UnaryOp):
            sign = "!" if isinstance(node.op, (ast.Not, ast.Invert)) else "-"
            if isinstance(node.op, ast.UAdd):
                return self._write(node.operand)
            return f"({sign}{self._write(node.operand)})"
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.IfExp):
            parts = (node.test, node.body, node.orelse)
            return "where({}, {}, {})".format(*(self._write(part) for part in parts))
        if isinstance(node, ast.Call):
            return self._call(node)
        raise TypeError(f"{ast.unparse(node)!r} is not supported in expressions")

    @staticmethod
    def _constant(value: Any) -> str:
        if isinstance(value, bool):
            return "1" if value else "0"
        if isinstance(value, (int, float)):
            return repr(float(value)) if np.isfinite(value) else "(1 / 0)"
        raise TypeError(f"the constant {value!r} is not supported; use real numbers")

    def _binary(self, node: ast.BinOp) -> str:
        operator = _OPERATORS.get(type(node.op))
        if operator is None:
            raise TypeError(f"the operator in {ast.unparse(node)!r} is not supported")
        if operator in ("&&", "||") and not (self._truth(node.left) and self._truth(node.right)):
            if not any(isinstance(side, ast.Name) for side in (node.left, node.right)):
                raise TypeError(f"{ast.unparse(node)!r}: & and | are for comparisons")
        left, right = self._write(node.left), self._write(node.right)
        if operator == "%" and getattr(node.left, "id", None) not in self.own:
            return self._modulo(left, right)
        return f"({left} {operator} {right})"

    @staticmethod
    def _modulo(left: str, right: str) -> str:
        """Python's remainder, which takes the sign of its right side, from C's."""
        rest = f"({left} % {right})"
        return f"where({rest} != 0 && ({rest} < 0) != ({right} < 0), {rest} + {right}, {rest})"

    def _comparison(self, node: ast.Compare) -> str:
        sides = [self._write(side) for side in (node.left, *node.comparators)]
        found = []
        for left, operator, right in zip(sides, node.ops, sides[1:]):
            if type(operator) not in _OPERATORS:
                raise TypeError(f"the comparison in {ast.unparse(node)!r} is not supported")
            found.append(f"({left} {_OPERATORS[type(operator)]} {right})")
        return "(" + " && ".join(found) + ")"

    def _call(self, node: ast.Call) -> str:
        name = getattr(node.func, "id", None)
        if name in _FUNCTIONS and node.keywords:
            raise TypeError(f"{name!r} takes no keyword arguments")
        if name not in _FUNCTIONS:
            known = ", ".join(sorted(_FUNCTIONS))
            raise TypeError(f"unknown function {ast.unparse(node.func)!r}; use {known}")
        arguments = ", ".join(self._write(argument) for argument in node.args)
        if name == "signbit":
            return f"(copysign(1, {arguments}) < 0)"
        return f"{_FUNCTIONS[name]}({arguments})"


def _values(
    names: list[str], local: Any, scope: Any, depth: int
) -> tuple[dict[str, Any], set[str]]:
    """What the names stand for: of the dictionaries, or of the caller's variables. Those that are
    nothing but the library's own (row, col, ...) come second."""
    if local is None or scope is None:
        frame = sys._getframe(depth)
        local = frame.f_locals if local is None else local
        scope = frame.f_globals if scope is None else scope
    found, own = {}, set()
    for name in names:
        if name in local:
            found[name] = local[name]
        elif name in scope:
            found[name] = scope[name]
        elif name in _OWN_NAMES:
            own.add(name)
        else:
            raise KeyError(name)
    return found, own


def _input(name: str, value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype in _INPUTS:
        return array
    plain = array.dtype.newbyteorder("=")
    if plain in _INPUTS:
        return array.astype(plain)
    wider = _WIDER.get(plain.str.lstrip("<>|="))
    if wider is None:
        raise TypeError(f"{name}: {array.dtype} is not supported; use real numbers")
    return array.astype(wider)


class _Program:
    """An expression, its inputs, and the types of its arithmetic and result."""

    def __init__(self, writer: _Writer, values: dict[str, Any], own: set[str]) -> None:
        self.arrays: list[np.ndarray] = []
        self.constants: list[tuple[bytes, float]] = []
        self.own = own
        floats = False
        wide = False
        words = {}
        for index, name in enumerate(writer.names):
            if name in own:
                words[index] = name
                continue
            value = values[name]
            array = _input(name, value)
            words[index] = f"v{index}"
            if array.ndim == 0:
                self.constants.append((f"v{index}".encode(), float(array)))
                number = isinstance(value, (int, float, bool))  # Python's take the others' type
                wide = wide or (not number and array.dtype in (np.float64, np.int32))
                floats = floats or (not number and array.dtype == np.float32)
                continue
            self.arrays.append(array)
            floats = floats or array.dtype == np.float32
            wide = wide or array.dtype in (np.float64, np.int32)
        self.inputs = [f"v{i}" for i, n in enumerate(writer.names) if self._is_array(n, values)]
        text = writer.text
        for index, word in words.items():
            text = text.replace(f"\x00{index}\x00", word)
        self.text = text.encode()
        self.single = floats and not wide
        self.is_truth = writer.is_truth
        self.shape = np.broadcast_shapes(*(a.shape for a in self.arrays)) if self.arrays else ()

    @staticmethod
    def _is_array(name: str, values: dict[str, Any]) -> bool:
        return name in values and np.ndim(values[name]) > 0

    @property
    def dtype(self) -> Any:
        if self.is_truth:
            return np.dtype(np.bool_)
        return np.dtype(np.float32 if self.single else np.float64)

    def expression(self, ctx: c_void_p) -> c_void_p:
        handle = c_void_p()
        names = (c_char_p * max(1, len(self.inputs)))(*(name.encode() for name in self.inputs))
        constants = (_abi.Constant * max(1, len(self.constants)))(
            *(_abi.Constant(*pair) for pair in self.constants)
        )
        options = _abi.ExprOptions(
            inputs=names,
            input_count=len(self.inputs),
            constants=constants,
            constant_count=len(self.constants),
        )
        check(lib.tw_expr_create(ctx, byref(handle), self.text, byref(options)), ctx)
        return handle

    def options(self, fast: bool) -> _abi.MapOptions:
        compute = _abi.F32 if self.single else _abi.F64
        kind = _abi.U8 if self.is_truth else compute
        return _abi.MapOptions(compute=compute, type=kind, fast=int(fast))

    def pieces(self, out: np.ndarray) -> list[tuple[np.ndarray, list[np.ndarray]]]:
        """The result and the inputs as matrices: what C computes, one after the other. ``out`` is
        C-contiguous."""
        arrays = self.arrays
        shape = self.shape
        together = all(
            a.shape == shape and a.flags.c_contiguous and a.flags.aligned for a in arrays
        )
        if together and not self.own and not (len(shape) == 2 and shape[1] >= _LINE // 8):
            flat = [a.reshape(-1) for a in (out, *arrays)]
            whole = out.size // _LINE * _LINE if out.size > _SMALL else 0
            cut = [[f[:whole].reshape(-1, _LINE) for f in flat], [f[None, whole:] for f in flat]]
            return [(part[0], part[1:]) for part in cut if part[0].size]
        if len(shape) > 2:
            if self.own:
                raise ValueError("row and col are those of arrays of one or two dimensions")
            rows = (-1, shape[-1])
            wide = [np.ascontiguousarray(np.broadcast_to(a, shape)).reshape(rows) for a in arrays]
            return [(out.reshape(rows), wide)]
        flat = [a if _lies_in_rows(a) else np.ascontiguousarray(a) for a in map(_two, arrays)]
        return [(_two(out), flat)]


def _two(array: np.ndarray) -> np.ndarray:
    return array.reshape(1, -1) if array.ndim == 1 else array


def _run(ctx: c_void_p, program: _Program, out: np.ndarray, fast: bool) -> None:
    expression = program.expression(ctx)
    options = program.options(fast)
    try:
        for result, inputs in program.pieces(out):
            _apply(ctx, expression, options, result, inputs)
    finally:
        lib.tw_expr_destroy(expression)


def _apply(
    ctx: c_void_p,
    expression: c_void_p,
    options: _abi.MapOptions,
    result: np.ndarray,
    inputs: list[np.ndarray],
) -> None:
    count = len(inputs)
    plan = c_void_p()
    views = (_abi.Matrix * max(1, count))(*(_matrix(a, _INPUTS[a.dtype]) for a in inputs))
    shapes = (_abi.Shape * max(1, count))(*(_abi.Shape(v.rows, v.cols, v.type) for v in views))
    target = _matrix(result, options.type)
    check(
        lib.tw_map_plan_create(ctx, byref(plan), expression, shapes, count, byref(options)),
        ctx,
    )
    try:
        check(lib.tw_map_plan_apply(ctx, plan, byref(target), views, count, None), ctx)
    finally:
        lib.tw_map_plan_destroy(plan)


def evaluate(
    ex: str,
    local_dict: Any = None,
    global_dict: Any = None,
    out: Optional[np.ndarray] = None,
    order: str = "K",
    casting: Any = "safe",
    *,
    fast: bool = False,
    device: str = "auto",
    memory: Memory = None,
    threads: int = 0,
    progress: ProgressOption = None,
    _frame_depth: int = 2,
) -> Any:
    """An expression evaluated at every element of arrays, as ``numexpr.evaluate`` has it.

    Names are those of ``local_dict`` and ``global_dict``, or else of the caller's variables; arrays
    are broadcast. ``row`` and ``col`` (``rows``, ``cols``), unless they are variables, are the place of
    an element. The arithmetic is float32 if an array of float32 (or float16) is there and every other
    one is that or an integer of up to 16 bits; else it is float64, of integers too, whose results are
    floats here and exact below 2^53. Comparisons, ``&``, ``|`` and ``~`` of them give bool. ``%`` takes
    the sign of its right side, as Python's. Functions are within 1 ulp, or 3.5 with ``fast``.

    ``out`` receives the result if ``casting`` allows its type. It may be one of the arrays.

    >>> a = np.arange(3, dtype=np.float32); b = np.float32(2) + a
    >>> evaluate("a * b + sqrt(where(a > 1, 16, 4))")
    array([ 2.,  5., 12.], dtype=float32)
    >>> evaluate("(a > 0) & (b < 4)")
    array([False,  True, False])
    """
    from . import _device

    writer = _Writer(ex)
    values, own = _values(writer.names, local_dict, global_dict, _frame_depth)
    if own:
        writer = _Writer(ex, own)
    if any(_device.is_device_array(value) for value in values.values()):
        return _device.evaluate(writer, values, out, fast)
    program = _Program(writer, values, own)
    if order not in ("K", "C", "A", "F"):
        raise ValueError(f"unknown order {order!r}; use 'K', 'C', 'A' or 'F'")
    if out is not None and not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    direct = _fits(out, program)
    if out is not None and out.shape != program.shape:
        raise ValueError(f"out has shape {out.shape}; the result has {program.shape}")
    if out is not None and not np.can_cast(program.dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast the result from {program.dtype!r} to {out.dtype!r} according to the rule "
            f"{casting!r}"
        )
    if out is not None and not out.flags.writeable:
        raise ValueError("out is read-only")
    found = out if direct else np.empty(program.shape, program.dtype)
    assert found is not None
    if found.size:
        _compute(program, found, fast, (device, memory, threads, progress))
    if out is not None and not direct:
        np.copyto(out, found, casting=casting)
        return out
    fortran = order == "F" or (order in "KA" and _all_fortran(program.arrays))
    return np.asfortranarray(found) if out is None and fortran else found


def _all_fortran(arrays: list[np.ndarray]) -> bool:
    return bool(arrays) and all(
        a.ndim > 1 and a.flags.f_contiguous and not a.flags.c_contiguous for a in arrays
    )


def _fits(out: Optional[np.ndarray], program: _Program) -> bool:
    """Whether C may write where the caller wants the result: nothing that is still to be read lies
    there, but for an array that is the result itself."""
    if out is None or out.dtype != program.dtype or not out.flags.c_contiguous:
        return False
    if not out.flags.aligned or not out.flags.writeable:
        return False
    return all(not np.may_share_memory(out, a) for a in program.arrays)


def _compute(
    program: _Program, found: np.ndarray, fast: bool, asked: tuple[Any, Any, Any, Any]
) -> None:
    mine = session()
    if found.ndim == 0:  # constants alone
        found = found.reshape(1, 1)
        program.shape = (1, 1)
        program.arrays = [np.zeros((1, 1), np.float32)]
        program.inputs = ["nothing"]
    plain = asked == ("auto", None, 0, None)
    if plain and found.size <= _SMALL:
        _run(mine.small, program, found, fast)
        return

    def work() -> None:
        with Settings(mine.large, *asked):
            _run(mine.large, program, found, fast)

    mine.call(work)


__all__ = ["evaluate"]
