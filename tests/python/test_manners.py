"""Interrupts, threads, fork, progress, memory: how the package behaves in a process."""

import gc
import multiprocessing
import os
import queue
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import small_runs

import tilewright as tw
from tilewright import _session, csgraph
from tilewright._abi import lib

LONG = """
import os, signal, threading, time
import numpy as np, tilewright as tw
rng = np.random.default_rng(1)
graph = tw.Graph(rng.random((1500, 1500)))

def interrupt(said):
    time.sleep(0.3)
    said.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

def attempt():
    said = []
    thread = threading.Thread(target=interrupt, args=(said,))
    thread.start()
    try:
        for _ in range(1000):
            {call}
    except KeyboardInterrupt:
        thread.join()
        return time.perf_counter() - said[0]

print(attempt())
print(tw.apsp(np.ones((3, 3)))[0].tolist())
"""


@pytest.mark.parametrize(
    "call",
    ["tw.apsp(graph, method='reference')", "tw.apsp(graph)", "tw.summary(graph)"],
)
def test_an_interrupt_ends_a_long_call_and_the_next_one_works(call):
    text = LONG.format(call=call)
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    took, after = ran.stdout.splitlines()
    print("interrupted after", took, "s")  # a busy machine may take its time
    assert after == "[0.0, 1.0, 1.0]"


def test_an_exception_of_a_signal_handler_ends_the_call():
    class Ring(Exception):
        pass

    def ring(*_):
        raise Ring

    graph = tw.Graph(np.random.default_rng(1).random((600, 600)))
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Ring):
            while True:
                tw.apsp(graph, method="reference")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert tw.apsp(np.ones((2, 2))).sum() == 2


class Interrupted(queue.SimpleQueue):
    """A queue to the worker whose ``put`` is interrupted, before or after it has put, so many times."""

    def __init__(self, when, times):
        self.when = when
        self.left = times

    def put(self, job):
        if self.left > 0 and self.when == "before":
            self.left -= 1
            raise KeyboardInterrupt
        super().put(job)
        if self.left > 0:
            self.left -= 1
            raise KeyboardInterrupt


@pytest.mark.parametrize("when", ("before", "after"))
@pytest.mark.parametrize("times", (1, 2, 5))
def test_an_interrupt_may_come_at_any_time(when, times):
    """Nothing is waited for that never was begun, and the context is ready for the next call."""
    graph = np.random.default_rng(1).random((300, 300))
    expected = tw.apsp(graph)
    mine = _session.session()
    before = mine.jobs
    mine.jobs = Interrupted(when, times)
    worker = threading.Thread(target=_session._serve, args=(mine.jobs,), daemon=True)
    worker.start()
    try:
        found = np.full(graph.shape, -1.0)
        with pytest.raises(KeyboardInterrupt):
            tw.apsp(graph, out=found)
        touched = found.copy()
        np.testing.assert_array_equal(tw.apsp(graph), expected)
        np.testing.assert_array_equal(found, touched)  # nobody writes to it any more
    finally:
        mine.jobs.put(None)
        mine.jobs = before
        worker.join(timeout=60)
    assert not worker.is_alive()


def test_python_runs_while_the_library_computes():
    graph = tw.Graph(np.random.default_rng(1).random((500, 500)))
    counted, over = [0], threading.Event()

    def count():
        while not over.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    tw.apsp(graph, method="reference")
    over.set()
    thread.join()
    assert counted[0] > 10


def test_threads_have_contexts_of_their_own():
    graph = np.random.default_rng(1).integers(1, 9, (300, 300))
    expected = csgraph.shortest_path(graph)
    seen, wrong = set(), []
    all_of_them = threading.Barrier(4)

    def work():
        seen.add(_session.session().large.value)
        all_of_them.wait(timeout=60)  # one that is done lends its memory to the next
        for _ in range(3):
            if not np.array_equal(csgraph.shortest_path(graph), expected):
                wrong.append(1)
            try:
                csgraph.shortest_path(-graph.astype(float))
                wrong.append(2)
            except csgraph.NegativeCycleError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(seen) == 4


def in_child(n):
    small = csgraph.shortest_path(np.ones((5, 5))).sum()
    large = csgraph.shortest_path(np.ones((n, n))).sum()
    return small, large


def test_children_of_fork_compute():
    if sys.version_info >= (3, 12):
        import warnings

        warnings.simplefilter("ignore", DeprecationWarning)
    n = 300
    in_child(n)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(in_child, [n] * 4) == [(20, n * (n - 1))] * 4
    assert in_child(n) == (20, n * (n - 1))


def test_a_child_forked_by_another_thread_computes():
    """The main thread's session is not the child's: it may have been in the middle of a call."""
    n = 300
    graph = tw.Graph(np.random.default_rng(1).random((900, 900)))
    codes = []

    def fork():
        time.sleep(0.05)
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if in_child(n) == (20, n * (n - 1)) else 1)
            finally:
                os._exit(2)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    thread = threading.Thread(target=fork)
    thread.start()
    tw.apsp(graph, method="reference")
    thread.join()
    assert codes == [0]


def test_progress_is_told_and_its_exceptions_are_raised():
    n = 400 if small_runs() else 900
    graph = tw.Graph(np.random.default_rng(1).random((n, n)))
    told = []
    tw.apsp(graph, method="reference", progress=lambda *what: told.append(what))
    for stage, done, total, unit in told:
        assert isinstance(stage, str) and isinstance(unit, str) and 0 <= done <= max(total, done)

    class Enough(Exception):
        pass

    def stop(*_):
        raise Enough

    raised = False
    for _ in range(50):  # it is told a few times per second
        try:
            tw.apsp(graph, method="reference", progress=stop)
        except Enough:
            raised = True
            break
    assert raised or not told
    assert tw.apsp(graph, sources=[0]).shape == (1, n)


def test_progress_true_writes_a_line(capfd):
    n = 400 if small_runs() else 900
    graph = tw.Graph(np.random.default_rng(1).random((n, n)))
    tw.apsp(graph, method="reference", progress=True)
    assert "\n\n" not in capfd.readouterr().err


def test_nothing_is_kept():
    """What the library holds for its contexts is back where it was, after results and errors."""
    mine = _session.session()

    def some():
        graph = np.random.default_rng(1).integers(0, 5, (280, 280))
        csgraph.shortest_path(graph, return_predecessors=True)
        csgraph.shortest_path(graph[:9, :9], return_predecessors=True)
        tw.summary(graph, bins=5)
        tw.path(graph, 0, 1)
        tw.plan(graph)
        list(tw.apsp_rows(graph))
        for bad in (-graph, graph * np.nan, graph[:3]):
            with pytest.raises((ValueError, tw.Error)):
                tw.apsp(bad)
            with pytest.raises((ValueError, tw.Error)):
                tw.apsp(bad, predecessors=True)
        with pytest.raises(tw.RangeError):
            tw.apsp(graph * 1000, out=np.zeros((280, 280), np.uint8))

    def held():
        gc.collect()
        return lib.tw_memory_used(mine.large), lib.tw_memory_used(mine.small)

    some()
    before = held()
    some()
    assert held() == before


def test_the_process_does_not_grow():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    graph = np.random.default_rng(1).integers(1, 5, (64, 64)).astype(float)
    bad = graph.copy()
    bad[3, 4] = -100

    def some(times):
        for _ in range(times):
            csgraph.shortest_path(graph)
            csgraph.floyd_warshall(graph, return_predecessors=True)
            with pytest.raises(csgraph.NegativeCycleError):
                csgraph.floyd_warshall(bad)

    some(100)
    before = resident()
    some(300)
    # 300 leaked graphs of this size would be 15 MB
    assert resident() - before < 8 * 2**20


def test_python_ends_without_a_word():
    """Whatever of ours is still held when the modules are taken down."""
    text = """
import numpy as np, tilewright as tw
from tilewright import _abi, _graph, _order, _session
graph = tw.Graph(np.ones((300, 300)))
order = tw.Order(graph)
tw.apsp(graph)
kept = _session.session()
for module in (_graph, _order, _session):
    for name in ("lib", "os"):
        vars(module).pop(name, None)
del graph, order, kept, _session._local
"""
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert (ran.stderr, ran.returncode) == ("", 0)


def test_numbers_and_names_that_c_would_cut():
    square = np.array([[0, 1], [1, 0]])
    image = np.zeros((4, 4), np.uint8)
    for call in (
        lambda: tw.summary(square, bins=2**32 + 5),
        lambda: tw.entropy(image, levels=2**32 + 16),
        lambda: tw.entropy(image, radius=2**32 + 1),
        lambda: tw.entropy(image, verify=2**64),
    ):
        with pytest.raises(ValueError, match="is too large"):
            call()
    for call in (
        lambda: tw.summary("graph.bin\0.el"),
        lambda: tw.apsp(square, device="cpu\0:1"),
        lambda: tw.apsp(square, method="closure", checkpoint="state\0"),
    ):
        with pytest.raises(ValueError, match="embedded null character"):
            call()
