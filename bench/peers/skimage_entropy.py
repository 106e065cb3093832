#!/usr/bin/env python3
"""scikit-image on one image: skimage_entropy.py PGM RAW WINDOW LEVELS.

Only the call of skimage.filters.rank.entropy is timed. Its bits become natural logarithms and are
written as raw f32 for comparison; one JSON line says the seconds and the version. Exit 3: the
library is not installed.
"""
import json
import sys
import time


def main():
    source, raw, window = sys.argv[1], sys.argv[2], int(sys.argv[3])
    try:
        import numpy
        import skimage
        from skimage.filters import rank
    except ImportError as error:
        print(error, file=sys.stderr)
        return 3
    with open(source, "rb") as file:
        bytes_ = file.read()
    head = bytes_.split(None, 4)[:4]
    cols, rows = int(head[1]), int(head[2])
    image = numpy.frombuffer(bytes_[-rows * cols:], dtype=numpy.uint8)
    image = image.reshape(rows, cols).copy()
    footprint = numpy.ones((window, window), dtype=numpy.uint8)
    rank.entropy(image[:32, :32], footprint)
    begun = time.perf_counter()
    result = rank.entropy(image, footprint)
    seconds = time.perf_counter() - begun
    (result * numpy.log(2)).astype("<f4").tofile(raw)
    print(json.dumps({"seconds": seconds, "version": skimage.__version__}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
