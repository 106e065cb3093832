"""What can go wrong, as exceptions. Each carries the library's sentence, and is also the exception
that Python or NumPy would raise in its place, so that ``except ValueError`` keeps working."""

from __future__ import annotations

import re

from . import _abi


class Error(Exception):
    """The base of all errors of tilewright. ``status`` is the name that C has for it."""

    status = "TW_ERR_INTERNAL"


class ArgumentError(Error, ValueError):
    """The call itself is wrong: a size, an index, an option."""

    status = "TW_ERR_ARGUMENT"


class OutOfMemoryError(Error, MemoryError):
    """More memory than there is, or than ``memory=`` allows."""

    status = "TW_ERR_MEMORY"


class InputOutputError(Error, OSError):
    """A file could not be opened, read or written."""

    status = "TW_ERR_IO"


class FormatError(Error, ValueError):
    """A file or an expression does not say what its format promises."""

    status = "TW_ERR_FORMAT"


class RangeError(Error, ValueError):
    """A value that the asked-for type, or the levels of an image, cannot hold."""

    status = "TW_ERR_RANGE"


class UnsupportedError(Error, NotImplementedError):
    """This build or this machine cannot do it."""

    status = "TW_ERR_UNSUPPORTED"


class CancelledError(Error):
    """The call was stopped."""

    status = "TW_ERR_CANCELLED"


class NegativeCycleError(Error):
    """No shortest paths exist. ``cycle`` lists the vertices of a cycle of negative length in order;
    the last leads back to the first."""

    status = "TW_ERR_NEGATIVE_CYCLE"

    def __init__(self, message: str = "", cycle: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.cycle = cycle


class VerifyError(Error):
    """A check of a result failed."""

    status = "TW_ERR_VERIFY"


class DeviceError(Error, RuntimeError):
    """An accelerator or its driver reported an error."""

    status = "TW_ERR_DEVICE"


class InternalError(Error, RuntimeError):
    """A fault of the library; please report it."""


_BY_STATUS: dict[int, type[Error]] = {
    _abi.ERR_ARGUMENT: ArgumentError,
    _abi.ERR_MEMORY: OutOfMemoryError,
    _abi.ERR_IO: InputOutputError,
    _abi.ERR_FORMAT: FormatError,
    _abi.ERR_RANGE: RangeError,
    _abi.ERR_UNSUPPORTED: UnsupportedError,
    _abi.ERR_CANCELLED: CancelledError,
    _abi.ERR_NEGATIVE_CYCLE: NegativeCycleError,
    _abi.ERR_VERIFY: VerifyError,
    _abi.ERR_DEVICE: DeviceError,
    _abi.ERR_INTERNAL: InternalError,
}


def _cycle(ctx: _abi.c_void_p) -> tuple[int, ...]:
    vertices = _abi.POINTER(_abi.c_int32)()
    count = _abi.lib.tw_apsp_negative_cycle(ctx, _abi.ctypes.byref(vertices))
    return tuple(vertices[:count])


# Options of the command that the library's sentences name, and that are arguments here.
_FLAGS = ("skip-nan", "directed", "unweighted")
_VALUES = ("levels", "range", "mask", "no-data", "no-edge", "memory", "threads")
_OPTION = re.compile(rf"--({'|'.join(_FLAGS + _VALUES)})\b(?:=([^\s;,]+)| (\d+)| auto)?")


def _argument(option: "re.Match[str]") -> str:
    value = option[2] or option[3] or ("True" if option[1] in _FLAGS else "")
    if ":" in value:
        value = "({}, {})".format(*value.split(":"))
    return f"{option[1].replace('-', '_')}={value}"


def in_python(sentence: str) -> str:
    """A sentence of the library with its options written as arguments.

    >>> in_python("use --levels 65536, --range=0:1, --mask or --skip-nan")
    'use levels=65536, range=(0, 1), mask= or skip_nan=True'
    >>> in_python("use --range auto")  # which is the command's alone
    'use range='
    >>> in_python("use --type i32 or f64")  # NumPy has other names for these
    'use a wider dtype: i32 or f64'
    """
    return _OPTION.sub(_argument, sentence.replace("use --type ", "use a wider dtype: "))


def of_status(status: int, ctx: _abi.c_void_p) -> Error:
    """The exception of a status that the last call on this context returned."""
    said = in_python(_abi.lib.tw_last_error(ctx).decode(errors="replace"))
    if status == _abi.ERR_NEGATIVE_CYCLE:
        return NegativeCycleError(said, _cycle(ctx))
    name = _abi.lib.tw_status_name(status).decode()
    return _BY_STATUS.get(status, InternalError)(said or name)
