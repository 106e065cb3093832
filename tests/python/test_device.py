"""Arrays in GPU memory, without a GPU: made-up arrays of a made-up cupy, whose memory is the host's, and
a library whose *_device calls note what they get. So addresses, strides, streams, workspaces and the
order of calls are tested; what a card makes of them is not."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import tilewright as tw
from tilewright import _abi, _device

STREAM = 0x5EED


class FakeArray:
    """Behaves as cupy.ndarray does, as far as the package asks."""

    def __init__(self, host):
        self.host = host

    @property
    def __cuda_array_interface__(self):
        told = dict(self.host.__array_interface__)
        told.pop("descr", None)
        return told

    def copy(self):
        return FakeArray(self.host.copy())

    @property
    def T(self):
        return FakeArray(self.host.T)

    def __eq__(self, other):
        return FakeArray(self.host == other)

    def __lt__(self, other):
        return FakeArray(self.host < other)

    def any(self):
        return self.host.any()

    def __setitem__(self, key, value):
        at = key.host if isinstance(key, FakeArray) else key
        self.host[at] = value.host if isinstance(value, FakeArray) else value


FakeArray.__module__ = "cupy._core"


class FakeLibrary:
    """The real library, but for the calls that need a GPU."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        if "device" not in name or name == "tw_set_device":
            return getattr(_abi.lib, name)

        def call(*arguments):
            self.calls.append((name, [getattr(a, "_obj", a) for a in arguments]))
            if "workspace" in name:
                (out,) = (
                    a._obj for a in arguments if isinstance(getattr(a, "_obj", 0), _abi.c_uint64)
                )
                out.value = 4096
            return _abi.OK

        return call


@pytest.fixture
def gpu(monkeypatch):
    cupy = ModuleType("cupy")
    cupy.empty = lambda shape, dtype: FakeArray(np.zeros(shape, dtype))
    cupy.minimum = lambda a, b: FakeArray(np.minimum(a.host, b.host))
    waits = []
    stream = SimpleNamespace(ptr=STREAM, synchronize=lambda: waits.append(1))
    cupy.cuda = SimpleNamespace(get_current_stream=lambda: stream)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    library = FakeLibrary()
    library.waits = waits
    monkeypatch.setattr(_device, "lib", library)
    return library


def test_what_lies_on_a_gpu_says_so():
    class Capsule:
        def __init__(self, kind):
            self.kind = kind

        def __dlpack_device__(self):
            return self.kind, 0

    assert _device.is_device_array(FakeArray(np.zeros(1)))
    assert _device.is_device_array(Capsule(2)) and _device.is_device_array(Capsule(10))
    for other in (Capsule(1), np.zeros(3), 1.5, [1], "a", None):
        assert not _device.is_device_array(other)


@pytest.mark.parametrize("dtype", (np.int32, np.float32, np.float64))
def test_a_matrix_is_solved_where_it_lies(gpu, dtype):
    graph = FakeArray(np.array([[5, 2, 0], [3, 0, 1], [0, 4, 0]], dtype))
    before = graph.host.copy()
    found = tw.apsp(graph)
    assert found is not graph
    np.testing.assert_array_equal(graph.host, before)
    (asked, _), (name, (ctx, matrix, options, device)) = gpu.calls
    assert asked == "tw_apsp_device_workspace" and name == "tw_apsp_device"
    assert matrix.data == found.host.ctypes.data and (matrix.rows, matrix.cols) == (3, 3)
    types = {np.int32: _abi.I32, np.float32: _abi.F32, np.float64: _abi.F64}
    assert matrix.type == types[dtype]
    assert device.stream == STREAM and device.workspace_bytes == 4096 and device.workspace
    none = 2**30 - 1 if dtype is np.int32 else np.inf
    np.testing.assert_array_equal(found.host, np.where(before == 0, none, before))
    in_place = tw.apsp(graph, out=graph, no_edge=None)
    assert in_place is graph and gpu.calls[-1][1][1].data == graph.host.ctypes.data


def test_undirected_matrices_and_bad_ones(gpu):
    graph = FakeArray(np.array([[0, 2.0], [7, 0]]))
    found = tw.apsp(graph, directed=False)
    assert found.host[1, 0] == 2 and gpu.calls[-1][1][2].symmetric == 1
    with pytest.raises(ValueError, match="negative"):
        tw.apsp(FakeArray(np.array([[0, -2.0], [7, 0]])))
    with pytest.raises(ValueError, match="dimensions"):
        tw.apsp(FakeArray(np.zeros(3)))
    with pytest.raises(TypeError, match="i8"):
        tw.apsp(FakeArray(np.zeros((2, 2), np.int64)))
    with pytest.raises(ValueError, match="contiguous"):
        tw.apsp(FakeArray(np.zeros((4, 4), order="F")), out=FakeArray(np.zeros((4, 4), order="F")))


def test_an_image_is_filtered_where_it_lies(gpu):
    wide = np.zeros((6, 20), np.uint8)
    image = FakeArray(wide[:, 2:9])
    found = tw.entropy(image, 3, levels=16, border="valid")
    assert found.host.shape == (4, 5) and found.host.dtype == np.float32
    name, (ctx, plan, target, source, device) = gpu.calls[-1]
    assert name == "tw_entropy_plan_apply_device" and device.stream == STREAM
    assert source.stride == 20 and source.data == wide.ctypes.data + 2 and source.cols == 7
    assert target.data == found.host.ctypes.data


def test_options_that_a_gpu_does_not_have_are_refused(gpu):
    graph = FakeArray(np.ones((3, 3), np.float32))
    for options in ({"sources": [0]}, {"cutoff": 3}, {"predecessors": True}, {"dtype": "f8"}):
        with pytest.raises(ValueError, match="GPU memory"):
            tw.apsp(graph, **options)
    for options in ({"mask": np.ones((3, 3))}, {"no_data": 1}, {"skip_nan": True}):
        with pytest.raises(ValueError, match="GPU memory"):
            tw.entropy(graph, **options)
    assert not gpu.calls


class NumbaArray:
    """As Numba's: an address and a shape, and no arithmetic."""

    def __init__(self, host):
        self.host = host

    @property
    def __cuda_array_interface__(self):
        return FakeArray(self.host).__cuda_array_interface__


NumbaArray.__module__ = "numba.cuda.cudadrv.devicearray"


@pytest.fixture
def numba(gpu, monkeypatch):
    module = ModuleType("numba")
    module.cuda = SimpleNamespace(as_cuda_array=lambda array: NumbaArray(array.host))
    monkeypatch.setitem(sys.modules, "numba", module)
    sys.modules["cupy"].asarray = lambda array: FakeArray(array.host)  # the same memory
    return gpu


def test_arrays_of_numba_are_worked_on_where_they_lie(numba, monkeypatch):
    graph = NumbaArray(np.array([[0, 2, 0], [3, 0, 1], [0, 4, 0]], np.float32))
    found = tw.apsp(graph)
    assert isinstance(found, NumbaArray)
    assert numba.calls[-1][1][1].data == found.host.ctypes.data != graph.host.ctypes.data
    assert tw.apsp(graph, out=graph) is graph
    assert numba.calls[-1][1][1].data == graph.host.ctypes.data
    other = NumbaArray(np.zeros((3, 3), np.float32))
    assert tw.apsp(graph, out=other) is other
    np.testing.assert_array_equal(other.host, graph.host)
    image = NumbaArray(np.zeros((6, 20), np.uint8))
    assert isinstance(tw.entropy(image, 3, levels=16), NumbaArray)
    assert numba.calls[-1][1][3].data == image.host.ctypes.data
    for name in ("tw_map_plan_create", "tw_set_device"):
        monkeypatch.setattr(numba, name, lambda *arguments: _abi.OK, raising=False)
    assert isinstance(tw.evaluate("g + 1", {"g": graph}), NumbaArray)
    assert tw.evaluate("g + 1", {"g": graph}, out=other) is other
    assert numba.calls[-1][1][2].data == other.host.ctypes.data


def test_arrays_that_nothing_here_can_work_on_are_refused_with_a_way_out(numba, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(NotImplementedError, match="install"):
        tw.apsp(NumbaArray(np.zeros((2, 2))))


def test_expressions_of_arrays_on_a_gpu(gpu, monkeypatch):
    for name in ("tw_map_plan_create", "tw_set_device"):
        monkeypatch.setattr(gpu, name, lambda *arguments: _abi.OK, raising=False)
    a = FakeArray(np.ones((3, 4), np.float32))
    b = FakeArray(np.ones((3, 1), np.float32))
    found = tw.evaluate("a * k + b", {"a": a, "b": b, "k": 2})
    assert found.host.shape == (3, 4) and found.host.dtype == np.float32
    name, (ctx, plan, target, inputs, count, device) = gpu.calls[-1]
    assert name == "tw_map_plan_apply_device" and count == 2 and device.stream == STREAM
    assert inputs[0].data == a.host.ctypes.data and inputs[1].cols == 1
    assert gpu.waits, "the plan must stay until the work is done"
    with pytest.raises(ValueError, match="host memory"):
        tw.evaluate("a + h", {"a": a, "h": np.ones((3, 4))})
