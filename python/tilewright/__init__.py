"""tilewright: all-pairs shortest paths, local entropy and expression maps at the speed of the
hardware.

>>> import numpy as np, tilewright
>>> tilewright.apsp(np.array([[0, 1, 5], [0, 0, 2], [0, 0, 0]]))
array([[ 0.,  1.,  3.],
       [inf,  0.,  2.],
       [inf, inf,  0.]])

``tilewright.csgraph`` has SciPy's shortest paths with SciPy's arguments; NetworkX finds the backend
``tilewright`` by itself.
"""

from ._abi import lib as _lib
from ._apsp import Nearest, Path, Plan, Summary, apsp, apsp_rows, nearest, no_path, path, summary
from ._apsp import make_plan as plan
from ._entropy import entropy
from ._errors import (
    ArgumentError,
    CancelledError,
    DeviceError,
    Error,
    FormatError,
    InputOutputError,
    InternalError,
    NegativeCycleError,
    OutOfMemoryError,
    RangeError,
    UnsupportedError,
    VerifyError,
)
from ._graph import Graph
from ._map import evaluate
from ._order import Order
from ._reach import reach, reach_counts

__version__: str = _lib.tw_version().decode()

__all__ = [
    "ArgumentError",
    "CancelledError",
    "DeviceError",
    "Error",
    "FormatError",
    "Graph",
    "InputOutputError",
    "InternalError",
    "Nearest",
    "NegativeCycleError",
    "Order",
    "OutOfMemoryError",
    "Path",
    "Plan",
    "RangeError",
    "Summary",
    "UnsupportedError",
    "VerifyError",
    "apsp",
    "apsp_rows",
    "entropy",
    "evaluate",
    "nearest",
    "no_path",
    "path",
    "plan",
    "reach",
    "reach_counts",
    "summary",
]
