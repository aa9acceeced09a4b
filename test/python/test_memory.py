"""Objects that are given as memory: kinds of objects, and what is wrong with them. Each fault is an exception, never a crash."""

import ctypes
import mmap

import cudnn
import numpy as np
import pytest
from attention import Forward, attention, qkv, tolerance
from sdpa_graph._core import memory


@pytest.fixture
def forward():
    return Forward(*qkv(), attn_scale=0.25).build()


class Interface:
    """An array that speaks one protocol alone."""

    def __init__(self, array, name):
        self.array, self.name = array, name

    def __getattr__(self, name):
        if name == self.name:
            return getattr(self.array, name)
        raise AttributeError(name)


def test_kinds_of_memory(forward):
    q, k, v = qkv()
    expected, _ = attention(q, k, v, 0.25)
    result = np.empty_like(q)
    kinds = [
        lambda x: x.ctypes.data,
        memoryview,
        lambda x: Interface(x, "__array_interface__"),
        lambda x: Interface(x, "__dlpack__"),
    ]
    for kind in kinds:
        result[:] = np.nan
        forward.graph.execute({forward.q: kind(q), forward.k: k, forward.v: v, forward.o: kind(result)})
        np.testing.assert_allclose(result, expected, atol=tolerance(np.float32, 40))


def test_views_of_memory():
    array = np.zeros((2, 5, 4), np.float16).transpose(1, 0, 2)
    view = memory(array)
    assert (view.dim, view.stride, view.data_type) == ([5, 2, 4], [4, 20, 1], cudnn.data_type.HALF)
    assert (view.address, view.bytes, view.is_on_gpu) == (array.ctypes.data, array.nbytes, False)


def test_gpu_memory_is_known_as_such():
    class OnGpu:
        __cuda_array_interface__ = {
            "data": (0x1000, True),
            "shape": (3, 4),
            "typestr": "<f4",
            "strides": None,
            "version": 3,
        }

    view = memory(OnGpu())
    assert (view.is_on_gpu, view.is_read_only, view.dim, view.stride) == (True, True, [3, 4], [4, 1])
    assert (view.data_type, view.bytes) == (cudnn.data_type.FLOAT, 48)


def refused(forward, text, **arrays):
    given = {forward.q: qkv()[0], forward.k: qkv()[1], forward.v: qkv()[2], forward.o: np.empty_like(qkv()[0])}
    for name, array in arrays.items():
        given[getattr(forward, name)] = array
    with pytest.raises(ValueError) as error:
        forward.graph.execute(given)
    assert text in str(error.value), str(error.value)


def test_wrong_type(forward):
    refused(forward, "tensor 'q' (uid ", q=qkv(dtype=np.float16)[0])
    refused(forward, "memory of type DOUBLE with 8 bytes an element: FLOAT is needed", q=qkv(dtype=np.float64)[0])


def test_bits_of_the_same_width_are_taken(forward):
    q, k, v = qkv()
    result = np.empty_like(q)
    forward.graph.execute({forward.q: q.view(np.int32), forward.k: k, forward.v: v, forward.o: result})
    np.testing.assert_allclose(result, attention(q, k, v, 0.25)[0], atol=tolerance(np.float32, 40))


def test_wrong_device(forward):
    class OnGpu:
        __cuda_array_interface__ = {"data": (0x1000, False), "shape": (2, 3, 40, 16), "typestr": "<f4", "version": 3}

    refused(forward, "memory of a GPU: the target reads host memory", q=OnGpu())


def test_too_short(forward):
    refused(forward, "bytes of memory: dims [2, 3, 40, 16] with strides", q=qkv()[0][:1])
    refused(forward, "bytes of memory", o=np.empty(3, np.float32))


def test_other_strides(forward):
    other = qkv((2, 40, 3, 16))[0].transpose(0, 2, 1, 3)
    refused(forward, "an array with strides [1920, 16, 48, 1]: the graph has [1920, 640, 16, 1]", q=other)


def test_read_only_results(forward):
    pages = mmap.mmap(-1, qkv()[0].nbytes, prot=mmap.PROT_READ)
    zeros = np.frombuffer(pages, np.float32).reshape(qkv()[0].shape)
    refused(forward, "memory that can only be read: the graph writes it", o=zeros)
    result = np.empty_like(zeros)
    forward.graph.execute({**forward.given, forward.q: zeros, forward.o: result})
    np.testing.assert_allclose(result, attention(zeros, *qkv()[1:], 0.25)[0], atol=tolerance(np.float32, 40))


def test_freed_memory(forward):
    gone = memoryview(qkv()[0])
    gone.release()
    refused(forward, "released memoryview", q=gone)


def test_missing_and_odd_values(forward):
    with pytest.raises(ValueError, match="uid"):
        forward.graph.execute({forward.q: qkv()[0]})
    refused(forward, "is a NoneType: an address, or an object with __dlpack__", k=None)
    refused(forward, "is a str: an address", k="memory")
    with pytest.raises(TypeError, match="a pack's key is a bytes"):
        forward.graph.execute({b"q": qkv()[0]})


def test_null_address(forward):
    refused(forward, "q", q=0)


def test_short_workspace():
    forward = Forward(*qkv(), target="reference").build()
    assert forward.graph.get_workspace_size() > 1
    with pytest.raises(ValueError, match="the workspace has 1 bytes: the plan needs"):
        forward.graph.execute({**forward.given, forward.o: np.empty_like(qkv()[0])}, np.empty(1, np.uint8))


def test_addresses_of_ctypes(forward):
    q, k, v = qkv()
    buffer = (ctypes.c_float * q.size)()
    forward.graph.execute({forward.q: q, forward.k: k, forward.v: v, forward.o: ctypes.addressof(buffer)})
    np.testing.assert_allclose(
        np.array(buffer).reshape(q.shape), attention(q, k, v, 0.25)[0], atol=tolerance(np.float32, 40)
    )


def test_tensor_like_needs_dlpack():
    with pytest.raises(ValueError, match="a list has no __dlpack__"):
        cudnn.pygraph(target="cpu").tensor_like([1.0])


def test_single_host_elements_are_by_value_only_beside_a_gpu():
    single = np.ones((1, 1, 1, 1), np.int64)
    assert not cudnn.pygraph(target="cpu").tensor_like(single).get_is_pass_by_value()
    assert cudnn.pygraph(target="cuda").tensor_like(single).get_is_pass_by_value()
    assert not cudnn.pygraph(target="cuda").tensor_like(qkv()[0]).get_is_pass_by_value()
