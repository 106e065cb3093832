"""What the tests share. The library under test is that of $TW_LIBRARY, the package that of this
checkout, unless PYTHONPATH says otherwise (tests/python/run sets both)."""

import os

import numpy as np
import pytest


@pytest.fixture
def rng(request):
    """Random numbers of a seed that depends on the test's name alone."""
    seed = sum(ord(c) * (i + 1) for i, c in enumerate(request.node.name))
    print("seed", seed)
    return np.random.default_rng(seed)


def small_runs() -> bool:
    """Whether this is one more build, whose large sizes another one has run."""
    return bool(os.environ.get("TW_TEST_SMALL"))
