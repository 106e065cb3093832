"""The examples of README.md run as they stand there."""

import os
import re
import subprocess
import sys

import pytest

README = os.path.join(os.path.dirname(__file__), "../../README.md")

with open(README) as file:
    EXAMPLES = re.findall(r"```python\n(.*?)```", file.read(), re.S)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_of_the_readme_runs(example):
    for module, since in (("scipy", "1.15"), ("networkx", "3.4")):  # rng=, nx.config...algos
        if f"import {module}" in example or f", {module}" in example:
            pytest.importorskip(module, since)
    ran = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    for comment in re.findall(r"# (Path.*)", example):
        assert comment in ran.stdout
