#!/usr/bin/env python3
"""resources.py SOURCE: bench/results/sm90-resources.md is of this library's kernels.

Every CUDA source of src/ has its rows, with all of its kernels; no other file has any, and no row has a kernel that
neither its source nor a header beside it defines. Figures are not compared: that takes nvcc and minutes
(tools/gpu-resources).
"""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])
ROW = re.compile(r"^\| (\w+\.cu) \|[^|]*\| `(\w+)", re.MULTILINE)
KERNEL = re.compile(r"__global__ void\s+(?:(?:__launch_bounds__|TWI_BOUNDS)\((?:[^()]|\([^()]*\))*\)\s*)?(\w+)\(")


def kernels_of(path):
    return set(KERNEL.findall(path.read_text(encoding="utf-8")))


class Resources(unittest.TestCase):
    def test_the_list_has_the_kernels_of_the_library(self):
        listed = {}
        for file, kernel in ROW.findall((SOURCE / "bench/results/sm90-resources.md").read_text(encoding="utf-8")):
            listed.setdefault(file, set()).add(kernel)
        sources = {path.name: path for path in (SOURCE / "src").rglob("*.cu")}
        self.assertGreater(len(sources), 10)
        self.assertEqual(sorted(listed), sorted(sources), "renew it with tools/gpu-resources")
        for name, path in sources.items():
            own = kernels_of(path)
            beside = set().union(*map(kernels_of, path.parent.glob("*.cuh")))
            self.assertEqual(own - listed[name], set(), f"{name}: renew it with tools/gpu-resources")
            self.assertEqual(listed[name] - own - beside, set(), f"{name}: renew it with tools/gpu-resources")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
