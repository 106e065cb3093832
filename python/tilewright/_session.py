"""Contexts, threads and interrupts: how a call of the library is made.

Every Python thread has a session of its own: a context for what is large, with all processors, and
one for what is tiny, on one thread, where waking a team would cost more than the work. A session
goes with its thread.

A signal only becomes KeyboardInterrupt on the main thread, and only while that executes Python. So
the main thread gives a long call to a worker and waits; an interrupt, or any exception of a signal
handler, cancels the call, waits for it to end, which takes milliseconds, and is raised. Other
threads are never interrupted and make their calls themselves. ctypes releases the GIL meanwhile.

After fork the child has the forking thread alone. Its session stays, since no call of it was under
way; the worker is gone, and the next long call makes a new one.
"""

from __future__ import annotations

import operator
import os
import queue
import threading
from ctypes import byref, c_void_p
from typing import Any, Callable, Optional, TypeVar, Union

from . import _abi, _errors
from ._abi import lib

T = TypeVar("T")
ProgressFunction = Callable[[str, float, float, str], None]
ProgressOption = Union[bool, None, ProgressFunction]


class _Job:
    """One call, its result, and the event that it is over."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: Optional[BaseException] = None
        self.dropped = False  # nobody waits for it: not to be begun
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.result = None if self.dropped else self.work()
        except BaseException as error:  # it is the caller's, whatever it is
            self.error = error
        self.done.set()


def _serve(jobs: "queue.SimpleQueue[Optional[_Job]]") -> None:
    while True:
        job = jobs.get()
        if job is None:
            return
        job.run()
        del job  # its result is the caller's to keep or to free


class Session:
    """What one Python thread computes with."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.large = c_void_p()
        self.small = c_void_p()
        self.jobs: Optional["queue.SimpleQueue[Optional[_Job]]"] = None
        for ctx in (self.large, self.small):
            check(lib.tw_context_create(byref(ctx)), ctx)
        check(lib.tw_set_threads(self.small, 1), self.small)
        check(lib.tw_set_device(self.small, b"cpu"), self.small)

    def __del__(self, pid: Any = os.getpid, destroy: Any = lib.tw_context_destroy) -> None:
        if self.process != pid():  # names of this module may be gone at the end of Python
            return  # of a thread that fork left behind, perhaps in the middle of a call
        if self.jobs is not None:
            self.jobs.put(None)
        destroy(self.large)
        destroy(self.small)

    def call(self, work: Callable[[], T]) -> T:
        """Run ``work``, which makes calls on the large context, so that it can be interrupted."""
        if threading.current_thread() is not threading.main_thread():
            return work()
        if self.jobs is None:
            self.jobs = queue.SimpleQueue()
            threading.Thread(
                target=_serve, args=(self.jobs,), name="tilewright", daemon=True
            ).start()
        job = _Job(work)
        try:
            self.jobs.put(job)
            job.done.wait()
        except BaseException:
            self._stop(job)
            raise
        if job.error is not None:
            raise job.error
        return job.result

    def _stop(self, job: _Job) -> None:
        """Return when the worker has nothing to do with ``job`` any more. Whether it was given to the
        worker is not known, since the interrupt may have come just before, so what is waited for is a
        second job behind it, which also makes the context ready again."""
        job.dropped = True
        while True:
            try:
                lib.tw_cancel(self.large)
                last = _Job(lambda: lib.tw_clear_cancel(self.large))
                assert self.jobs is not None
                self.jobs.put(last)
                last.done.wait()
                return
            except BaseException:  # a second Ctrl-C: the first is being obeyed
                pass


_local = threading.local()


def session() -> Session:
    """The session of the calling thread."""
    try:
        return _local.session
    except AttributeError:
        _local.session = Session()
        return _local.session


def _forget_worker() -> None:
    mine = getattr(_local, "session", None)
    if mine is not None:
        mine.process = os.getpid()
        mine.jobs = None


os.register_at_fork(after_in_child=_forget_worker)


def check(status: int, ctx: c_void_p) -> None:
    """Raise what a status says, unless it is TW_OK."""
    if status:
        raise _errors.of_status(status, ctx)


def bytes_of(memory: Union[int, str, None]) -> int:
    """A number of bytes, from itself or from text as the command takes it.

    >>> bytes_of("8G") == 8 * 2**30
    True
    """
    if memory is None:
        return 0
    number: float = 0
    try:
        if isinstance(memory, str):
            text = memory.strip().upper()
            scale = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}.get(text[-1:], 1)
            number = float(text[:-1] if scale > 1 else text) * scale
        else:
            number = operator.index(memory)
    except ValueError:
        pass
    if not 1 <= number < 2**63:
        raise ValueError(f"memory={memory!r}: use a number of bytes, or text such as '8G'")
    return int(number)


def c_whole(name: str, number: Any, bits: int = 32) -> int:
    """A number that C has room for; ctypes would cut it.

    >>> c_whole("bins", 2**32 + 5)
    Traceback (most recent call last):
    ValueError: bins=4294967301 is too large
    """
    found = operator.index(number)
    if not -(2 ** (bits - 1)) <= found < 2 ** (bits - 1):
        raise ValueError(f"{name}={found} is too {'large' if found > 0 else 'small'}")
    return found


def c_text(name: str, text: bytes) -> bytes:
    """Text that C can read to its end."""
    if b"\0" in text:
        raise ValueError(f"{name}: embedded null character in {os.fsdecode(text)!r}")
    return text


def file_name(path: Any) -> bytes:
    """The name of a file, as C has it."""
    return c_text("file", os.fsencode(path))


class _Line:
    """``progress=True`` without tqdm: one line on standard error, written again and again."""

    def __init__(self) -> None:
        self.written = False

    def __call__(self, stage: str, done: float, total: float, unit: str) -> None:
        import sys

        share = f"{100 * done / total:3.0f} %" if total > 0 else f"{done:.3g} {unit}"
        sys.stderr.write(f"\r{stage}: {share}\x1b[K")
        sys.stderr.flush()
        self.written = True

    def close(self) -> None:
        import sys

        if self.written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class _Bar:
    """``progress=True`` with tqdm."""

    def __init__(self, tqdm: Any) -> None:
        self.tqdm = tqdm
        self.bar: Any = None
        self.stage = ""

    def __call__(self, stage: str, done: float, total: float, unit: str) -> None:
        if self.bar is None or stage != self.stage:
            self.close()
            self.bar = self.tqdm(total=total or None, desc=stage, unit=f" {unit}", unit_scale=True)
            self.stage = stage
        self.bar.n = done
        self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


def _default_progress() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Bar(tqdm)


class Settings:
    """The context of a large call, set up as its caller asked and put back afterwards.

    ``device``, ``memory`` and ``threads`` are those of tw_set_*; ``progress`` is a function of
    (stage, done, total, unit), which is called on the thread that computes, or True for a line. An
    exception that it raises stops the call and is raised from it.
    """

    def __init__(
        self,
        ctx: c_void_p,
        device: str = "auto",
        memory: Union[int, str, None] = None,
        threads: int = 0,
        progress: ProgressOption = None,
    ) -> None:
        if not isinstance(device, str):
            raise TypeError(f"device must be a string such as 'cpu' or 'cuda', not {device!r}")
        if progress and progress is not True and not callable(progress):
            raise TypeError(f"progress must be True or a function, not {progress!r}")
        self.ctx = ctx
        self.device = c_text("device", device.encode())
        self.memory = bytes_of(memory)
        self.threads = operator.index(threads)
        if not 0 <= self.threads < 2**31:
            raise ValueError(f"threads={threads}: use 1 or more, or 0 for all processors")
        self.progress: Any = _default_progress() if progress is True else progress or None
        self.raised: Optional[BaseException] = None
        self.callback: Any = None

    def _report(self, _: Any, stage: bytes, done: float, total: float, unit: bytes) -> None:
        if self.raised is not None:
            return
        try:
            self.progress(stage.decode(), done, total, unit.decode())
        except BaseException as error:
            self.raised = error
            lib.tw_cancel(self.ctx)

    def __enter__(self) -> "Settings":
        try:
            check(lib.tw_set_device(self.ctx, self.device), self.ctx)
            check(lib.tw_set_memory(self.ctx, self.memory), self.ctx)
            check(lib.tw_set_threads(self.ctx, self.threads), self.ctx)
        except BaseException:
            self._reset()
            raise
        if self.progress is not None:
            self.callback = _abi.Progress(self._report)
            lib.tw_set_progress(self.ctx, self.callback, None)
        return self

    def _reset(self) -> None:
        check(lib.tw_set_device(self.ctx, b"auto"), self.ctx)
        check(lib.tw_set_memory(self.ctx, 0), self.ctx)
        check(lib.tw_set_threads(self.ctx, 0), self.ctx)

    def __exit__(self, *_: Any) -> None:
        if self.progress is not None:
            lib.tw_set_progress(self.ctx, _abi.Progress(), None)
            if isinstance(self.progress, (_Line, _Bar)):
                self.progress.close()
        self._reset()
        if self.raised is not None:
            lib.tw_clear_cancel(self.ctx)
            raise self.raised
