"""A pytest plugin for the suites of others: tilewright in place of their solvers, SciPy's blocked, and
the calls counted that reached the library (counting.c).

At the end a line says how many tests made such calls, and how many calls there were. The run fails if
fewer tests did than $TW_LEAST_TESTS.
"""

import os

import pytest

from tilewright import csgraph
from tilewright._abi import lib

NAMES = ("shortest_path", "floyd_warshall", "dijkstra", "bellman_ford", "johnson")
reached = {"tests": 0}


def blocked(*_, **__):
    raise AssertionError("SciPy's own solver was called")


def replace_scipys():
    try:
        import scipy.sparse.csgraph as public
        from scipy.sparse.csgraph import _shortest_path as inner
    except ImportError:
        return
    for name in NAMES:
        setattr(inner, name, blocked)
        setattr(public, name, getattr(csgraph, name))


replace_scipys()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    before = lib.counted_calls()
    result = yield
    reached["tests"] += lib.counted_calls() > before
    return result


def pytest_sessionfinish(session, exitstatus):
    if reached["tests"] < int(os.environ.get("TW_LEAST_TESTS", "1")):
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(
        f"{reached['tests']} tests reached libtilewright, in {lib.counted_calls()} calls"
    )
