"""What the GPU rungs of the laboratory are said to access, by their rows: for a relaxation (RUNGS) and for
an element (OTHERS, by LADDER/RUNG). tools/gpu-accesses, which tells what the figures are, holds the
kernels to it. Which kernel a rung runs is not asked there: tests/lab/emulated has it from the ladders' own
tables, and on a card a rung that runs another is not seen.
"""
import collections

FIGURES = ("loads", "stores", "global", "barriers", "tiles")
CHOICE = 5000  # vertices from which on *chosen* takes another kernel: it is looked at no smaller

# A kernel and what it is said to access; block and threads are those of the kernel. `relaxed_by` is
# the instruction that stands for a relaxation where it is not an addition with a minimum.
Kernel = collections.namedtuple("Kernel", "name block threads loads stores global_ barriers tiles relaxed_by",
                                defaults=(None,))


def stage(name, loads, stores, barriers, tiles, relaxed_by=None):
    return Kernel(name, 32, 1024, loads, stores, 0, barriers, tiles, relaxed_by)


def owned(side):
    """Row C3: a block owns side x side tiles, each value read serves `side` sums. The left operand
    comes four depths at a time."""
    return Kernel(f"stage3_tiles<{side}>", 32, 1024, 1.5 / side, 0, 0, 0, 2 * side)


def three(block, threads, at_once, kernel="rest", tiles=4):
    """Rows A2, A4: three tiles filled once, one written back, or two in the second phase."""
    side = {64: 8, 256: 16, 1024: 32}[threads]
    each = block // side
    target = 1 / block if block < 64 else 0  # its one load is seen where the loop is unrolled whole
    return Kernel(f"three_tiles_{kernel}<{block}, {side}, {side}, {at_once}>", block, threads,
                  1.5 / each + target, 0, 0, 0, tiles)


def product(block, across, down, flags, loads=None, global_=0):
    """Rows B2, B4, B5: k outside, targets in registers. A depth reads a word for every row and for
    every column of a thread's results; rows come two depths to an access, unless told otherwise."""
    rows, cols = block // down, block // across
    shared = flags & 8
    if loads is None:
        loads = (rows / 2 + cols) / (rows * cols) if shared else 0
    return Kernel(f"rest<{block}, {across}, {down}, {flags}>", block, across * down, loads, 0, global_, 0,
                  2 if shared else 0)


def second(block, across, down, flags):
    """The second phase of the same: the code twice, for a row's tile and for a column's."""
    third = product(block, across, down, flags, global_=0 if flags & 8 else 1)
    return third._replace(name=third.name.replace("rest<", "panels<"), tiles=2 * third.tiles)


def wide(name, through_registers=True, barriers=0, lanes=1):
    """Ours: 8 x 8 results, 16 bytes at a time: 4 accesses of 16 for 64 relaxations, `lanes` in a word.
    A chunk of 16 depths is brought in the same loop; what the copy engine brings no thread stores."""
    stored = 16 / 1024 if through_registers else 0
    return Kernel(name, 128, 256, 0.125 / lanes, stored, stored / 4, barriers / 16, None)


WALKS, CHECKED, COALESCED, SHARED, CONFLICTS, UNROLLED, FUSED = (1 << i for i in range(7))
STRAIGHT = COALESCED | SHARED

RUNGS = {
    "naive": Kernel("relax_all", 1, 256, 0, 0, 3, 0, 0, "all"),
    "stages": stage("stage3_first", 3, 1, 1, None, "BAR"),
    "merged-branches": stage("stage3_merged", 3, 1, 1, None),
    "merged-unrolled": stage("stage3_unrolled", 3, 1, 1, None),
    "no-barrier": stage("stage3_no_barrier", 2, 1, 0, None),
    "registers": stage("stage3_register", 2, 0, 0, 3),
    "two-tiles": stage("stage3_two_tiles", 2, 0, 0, 2),
    "hoisted": stage("stage3_hoisted", 2, 0, 0, 2),
    "known-side": owned(1)._replace(name="stage3_known"),
    "tiles-1": owned(1),
    "tiles-2": owned(2),
    "tiles-4": owned(4),
    "tiles-6": owned(6),
    "chosen": owned(6),  # from n = CHOICE on
    "rolled-64": three(64, 1024, 0),
    "block-64": three(64, 1024, 32),
    "block-64, phase 2": three(64, 1024, 32, "pairs", 5),
    "apart": three(64, 1024, 32),
    "apart, phase 2": three(64, 1024, 32, "apart", 3),
    "pitched": three(64, 1024, 32),
    "block-8": three(8, 64, 32),
    "block-16": three(16, 256, 32),
    "block-32": three(32, 1024, 32),
    "two GPUs": Kernel("half_rest", 64, 1024, 0.75, 0, 0, 0, 4),
    # A block with a tile of both panels, or of one: the code of *block-64, phase 2* and of *apart, phase 2*.
    "two GPUs, phase 2": Kernel("half_panels", 64, 1024, 0.75, 0, 0, 0, 8),
    "grid-1d": product(32, 16, 16, WALKS | CHECKED, global_=1),
    "grid": product(32, 16, 16, CHECKED, global_=1),
    "padded": product(32, 16, 16, 0, global_=1),
    "coalesced": product(32, 16, 16, COALESCED, global_=1),
    "conflicts": product(32, 16, 16, STRAIGHT | CONFLICTS),
    "no-conflicts": product(32, 16, 16, STRAIGHT),
    "larger-block": product(64, 16, 16, STRAIGHT),
    "more-threads": product(64, 32, 32, STRAIGHT),
    "coarse": product(64, 32, 8, STRAIGHT),
    "unrolled": product(64, 32, 8, STRAIGHT | UNROLLED),
    "block-78": product(78, 39, 13, STRAIGHT | UNROLLED),
    "square-threads": product(64, 16, 16, STRAIGHT | UNROLLED),
    "fused": product(64, 16, 16, STRAIGHT | UNROLLED | FUSED),
    "conflicts, phase 2": second(32, 16, 16, STRAIGHT | CONFLICTS),
    "no-conflicts, phase 2": second(32, 16, 16, STRAIGHT),
    "larger-block, phase 2": second(64, 16, 16, STRAIGHT),
    "more-threads, phase 2": second(64, 32, 32, STRAIGHT),
    "coarse, phase 2": second(64, 32, 8, STRAIGHT),
    "unrolled, phase 2": second(64, 32, 8, STRAIGHT | UNROLLED),
    "eight-by-eight": wide("wide_rest", barriers=2),
    "pivot-registers": wide("wide_rest", barriers=2),
    "packed": wide("update_kernel@packed", barriers=2),
    "double-buffered": wide("update_kernel@buffered", barriers=1),
    "async-copies": wide("update_kernel@async", False, barriers=1),
    "bulk-copies": wide("update_kernel@bulk", False),
    "mixed-step": wide("update_kernel@i32_128", False),
    "engine": wide("update_kernel@i32_128", False),
    "engine-16": wide("update_kernel@u16_128", False, lanes=2),
    "global-16": product(16, 16, 16, COALESCED, global_=2),
    "global-32": product(32, 16, 16, COALESCED, global_=1),
    "global-64": product(64, 16, 16, COALESCED, global_=0.5),
    "global-128": product(128, 16, 16, COALESCED, global_=0.5),
    "global-256": product(256, 16, 16, COALESCED, global_=0.5),
    **{f"{b}-{x}x{y}": product(b, x, y, STRAIGHT | UNROLLED) for b, x, y in (
        (16, 16, 16), (32, 32, 32), (32, 8, 32), (32, 16, 16), (48, 16, 16), (64, 32, 32), (64, 16, 16), (64, 32, 8),
        (78, 39, 13), (80, 16, 40), (90, 45, 15), (128, 32, 32), (128, 16, 16))},
    # One column of a thread's results is one access for four depths, too: the lanes of a warp differ.
    "64-64x16": product(64, 64, 16, STRAIGHT | UNROLLED, loads=0.75),
}

# ------------------------------------------------------------------------------ kernels of elements

WINDOW, LEVELS = 25, 16  # of row D
EACH = ("loads", "stores", "reads", "writes", "local", "filled", "looked", "barriers")

# `said` has a number for each of EACH that is judged. `read_by`: the instructions that read an element of
# the window; None: there is no window. `elements`: of a thread, in the code that is counted. `where`: "all"
# of the code, "outside" of loops, or the "straight" piece or the "loop" with the most shared loads; None:
# only the card can tell. `spread`: the most that the card may count, of what is said.
Element = collections.namedtuple("Element", "name said read_by elements where spread", defaults=(None, 1, "all", 1))


def element(name, read_by=None, elements=1, where="all", spread=1, **said):
    return Element(name, {**dict.fromkeys(EACH, 0), **said}, read_by, elements, where, spread)


def window(name, counters, table=None, filled=0, read_by="LDG"):
    """Row D: the elements of the window read one by one and each counted, in the thread's own memory;
    `counters` accesses clear the counters, and as many collect them. The table is looked up for every
    level and for all of the window; in the thread's own memory, it is `filled` by that many accesses."""
    lookups = LEVELS + 1 if table else 0
    in_shared = table == "shared"
    return element(
        name, read_by,
        loads=lookups * in_shared, stores=1 * in_shared, barriers=1 * in_shared,
        reads=WINDOW * (read_by == "LDG") + lookups * (table == "global") + (in_shared and name.startswith("v7")),
        writes=1, local=WINDOW + counters + lookups * (table == "own"), filled=WINDOW + counters + filled,
        looked=WINDOW * (read_by == "TEX") + lookups * (table in ("constant", "texture")))


# 26 doubles by 16 bytes are 13 accesses, and the compiler clears them first, 8 bytes of them twice; 26
# floats are 7. 16 counters of 4 bytes are 4, of 1 byte 1.
DOUBLES, FLOATS, WORDS, BYTES = 26, 7, 4, 1


def version(v, threads=1024):
    name = f"{v.replace('-', '_')}<{threads}>"
    return {
        "v0": window(name, WORDS), "v1": window(name, WORDS, "own", DOUBLES), "v2": window(name, WORDS, "shared"),
        "v3": window(name, WORDS, "constant"), "v4": window(name, WORDS, "global"),
        "v5": window(name, WORDS, "texture"), "v6": window(name, BYTES, "own", DOUBLES),
        "v7": window(name, BYTES, "own", FLOATS), "v7-held": window(name, BYTES, "own", FLOATS),
        "v7-shared": window(name, BYTES, "shared"), "v7-constant": window(name, BYTES, "constant"),
        "v7-texture": window(name, BYTES, "texture"), "v7-float": window(name, BYTES, "own", FLOATS),
        "v8": window(name, BYTES, "own", FLOATS, "TEX"),
        # A thread brings an element, and 28 x 28 of 32 x 32 have an output; what lies outside has a counter.
        "v9": element(name, loads=WINDOW, stores=1, reads=1, writes=1, barriers=1, local=WINDOW + 17 + 17,
                      filled=WINDOW + 17 + 13, spread=(32 / 28) ** 2),
        "bytes": window(name, BYTES, "own", FLOATS),
    }[v]


def pairs(rows):
    """The library, up to 16 levels: 4 outputs of a thread in each of a window's rows are straight code; 8
    look-ups for each. Arrays of the host come in pieces of 2 M outputs: bands of so few rows that each output
    also looks its window's sum and inverse up, and a table filled for every piece by every block, 2 loads for
    each of its (N + 1) N + 1 entries and lanes. That is 8 + 2 + 5 loads for 25 elements, 8 + 2 + 1 for 9."""
    return element(f"pairs_kernel<{rows}>", elements=4 * rows, where="straight", loads=8, reads=None, writes=None,
                   spread=15 / 8 if rows == 5 else 11 / 8)


def slide(side):
    """The library, up to 256 levels: the words of a histogram hold the counts of 4 neighbouring outputs, or
    of 2 from windows of 135 elements on. A row that enters and one that leaves: a word loaded and stored
    for each of the elements of all of the windows, and two steps looked up, one for each output's."""
    outputs = 4 if side * side <= 135 else 2
    return element(f"slide_kernel<{str(outputs == 2).lower()}, {side if side in (5, 7, 9, 11, 31) else 0}>",
                   elements=outputs, where="loop" if side in (5, 7, 9, 11, 31) else None, spread=1.6,
                   loads=(2 * outputs * side + 2 * (side + outputs - 1)) / outputs,
                   stores=2 * (side + outputs - 1) / outputs, reads=None, writes=None)


def windows(side, levels):
    if side <= 5 and levels <= 16:
        return pairs(side)
    # Of three columns there are not the four that share a word; a thread then goes down one column.
    unknown = dict.fromkeys(EACH)
    return slide(side) if side > 3 else element("list_kernel<narrow_sum>", where=None, **{**unknown, "writes": 1})


PIECE = window("solve_piece<unsigned char>", BYTES, "own", FLOATS)
FLOAT_PIECE = window("solve_piece<float>", BYTES, "own", FLOATS)
PUT = element("put_edges", reads=3, writes=1)  # of an edge
HERE = "no kernel: the host makes the matrix"

# Where a row says nothing of a kernel because it runs another rung's, that one is named: the same code.
OTHERS = {
    **{f"apsp-gpu-copies/{name}": RUNGS["block-64"] for name in ("pageable", "pinned")},
    "apsp-gpu-copies/engine": RUNGS["engine"],
    **{f"apsp-multi/{name}": RUNGS["two GPUs"] for name in ("single", "staged", "peer", "zero-copy")},
    **{f"apsp-multi/{name}": RUNGS["engine"] for name in ("engine", "one")},
    **{f"apsp-devices{weak}/devices-{count}": RUNGS["engine"] for weak in ("", "-weak") for count in (1, 2, 3, 4)},
    "apsp-files/gpu": RUNGS["engine-16"],
    "apsp-scatter/host": HERE,
    **{f"apsp-scatter/{name}": PUT for name in ("card", "pack", "copy-2d")},
    # An arc's target and weight, and once more the end of its row.
    "apsp-scatter/engine": element("scatter_kernel<int>", where=None, reads=3, writes=1, spread=1.5),
    **{f"entropy-gpu/{v}": version(v) for v in ("v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v7-shared",
                                                "v7-constant", "v7-texture", "v7-float", "v8", "v9", "bytes")},
    "entropy-gpu/engine": pairs(5),
    **{f"entropy-gpu-threads/{v}-{count}": version(v, count) for v in ("v0", "v1", "v7")
       for count in (128, 256, 512, 1024)},
    **{f"entropy-gpu-threads/v7-{count}-held": version("v7-held", count) for count in (128, 256)},
    **{f"entropy-gpu-windows/{side}x{side}-{levels}": windows(side, levels) for side in (3, 5, 9, 15, 31)
       for levels in (4, 16, 64, 256)},
    **{f"entropy-multi/{name}": FLOAT_PIECE for name in ("one", "v14")},
    **{f"entropy-multi/{name}": PIECE for name in ("one-bytes", "v14-bytes", "columns", "pinned", "together")},
    **{f"entropy-multi/{name}": pairs(5) for name in ("engine", "engine-pinned")},
    **{f"entropy-multi-flat/{name}": PIECE for name in ("one-bytes", "v14-bytes", "columns")},
    "entropy-multi-flat/engine": pairs(5),
    **{f"entropy-devices{weak}/devices-{count}": pairs(5) for weak in ("", "-weak") for count in (1, 2, 3, 4)},
    **{f"map-gpu/{name}": element("original", where="outside", reads=1, writes=1, local=None, filled=None)
       for name in ("original", "coalesced")},
    "map-gpu/divided": element("divided<0>", where="outside", reads=1, writes=1),
    "map-gpu/table": element("looked_up", reads=2, writes=1),
    "map-gpu/vectors": element("vectors", elements=4, where="outside", reads=1 / 2, writes=1 / 2, local=None,
                               filled=None),
    # Compiled when it runs, 16 bytes an access; ten passes are one.
    **{f"map-gpu/{name}": element("tilewright_map", where=None, reads=1 / 4, writes=1 / 4, local=None, filled=None)
       for name in ("engine", "composed")},
}
# The code of a rung besides its main kernel.
MORE = {
    "apsp-multi, phase 2": RUNGS["two GPUs, phase 2"],
    "apsp-scatter, emptied": element("empty", writes=1),
    "map-gpu/divided, odd": element("divided<1>", where="outside", reads=1, writes=1),
}
