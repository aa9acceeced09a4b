"""Memory that careless or hostile objects describe. It lives as long as a run needs it, and faulty descriptions are
refused."""

import array
import mmap
import re
import weakref

import cudnn
import numpy as np
import pytest
from attention import Forward, attention, qkv, random, tolerance
from sdpa_graph._core import memory
from sdpa_graph.numpy import scaled_dot_product_attention

FLOAT = cudnn.data_type.FLOAT


@pytest.fixture
def forward():
    return Forward(*qkv(), attn_scale=0.25).build()


def check(result):
    np.testing.assert_allclose(result, attention(*qkv(), 0.25)[0], atol=tolerance(np.float32, 40))


class Asked:
    """An array that does something before it says where it is."""

    def __init__(self, given, action):
        self.given, self.action = given, action

    def __dlpack__(self, **options):
        self.action()
        return self.given.__dlpack__(**options)


class Temporary:
    """An object that exports a copy, which only the capsule keeps alive."""

    def __init__(self, given):
        self.given = given

    def __dlpack__(self, **options):
        copy = self.given.copy()
        self.copy = weakref.ref(copy)
        return copy.__dlpack__(**options)


def test_what_a_capsule_holds_stays_until_the_run_is_done(forward):
    q, k, v = qkv()
    result, temporary, alive = np.empty_like(q), Temporary(q), []
    asked = Asked(v, lambda: alive.append(temporary.copy() is not None))
    forward.graph.execute({forward.q: temporary, forward.k: k, forward.v: asked, forward.o: result})
    assert alive == [True] and temporary.copy() is None
    check(result)


def test_buffers_cannot_move_until_the_run_is_done(forward):
    q, k, v = qkv()
    result, buffer, refused = np.empty_like(q), array.array("f", q.ravel()), []

    def grow():
        with pytest.raises(BufferError):
            buffer.extend(range(100_000))
        refused.append(True)

    forward.graph.execute({forward.q: buffer, forward.k: k, forward.v: Asked(v, grow), forward.o: result})
    assert refused == [True]
    buffer.append(1.0)
    check(result)


def test_views_keep_what_they_describe():
    temporary = Temporary(np.ones((3, 4), np.float32))
    view = memory(temporary)
    assert temporary.copy() is not None and view.address == temporary.copy().ctypes.data
    del view
    assert temporary.copy() is None


def test_packs_and_graphs_that_change_while_they_are_read(forward):
    q, k, v = qkv()
    result, pack = np.empty_like(q), {}
    for action in (pack.clear, forward.graph.validate, lambda: forward.graph.build([cudnn.heur_mode.A])):
        result[:] = np.nan
        pack.update({forward.q: Asked(q.copy(), action), forward.k: k.copy(), forward.v: v.copy(), forward.o: result})
        forward.graph.execute(pack)
        check(result)


def test_capsules_of_both_forms(forward):
    class Versioned:
        def __init__(self, given):
            self.given = given

        def __dlpack__(self):
            return self.given.__dlpack__(max_version=(1, 0))

    q, k, v = qkv()
    result = np.empty_like(q)
    forward.graph.execute({forward.q: Versioned(q), forward.k: k, forward.v: v, forward.o: Versioned(result)})
    check(result)
    constant = q.copy()
    constant.flags.writeable = False
    assert memory(Versioned(constant)).is_read_only and not memory(Versioned(q)).is_read_only
    with pytest.raises(ValueError, match="memory that can only be read: the graph writes it"):
        forward.graph.execute({**forward.given, forward.o: Versioned(constant)})


def test_capsules_that_are_none(forward):
    class Odd:
        def __init__(self, capsule):
            self.capsule = capsule

        def __dlpack__(self):
            return self.capsule

    used = np.ones((2, 3), np.float32).__dlpack__()
    np.from_dlpack(type("", (), {"__dlpack__": lambda self, **_: used, "__dlpack_device__": lambda self: (1, 0)})())
    for capsule, name in ((3, "int"), (used, "PyCapsule"), (None, "NoneType")):
        with pytest.raises(ValueError, match=rf"the __dlpack__\(\) of a Odd gives a {name} that is no unused tensor"):
            forward.graph.execute({**forward.given, forward.q: Odd(capsule)})


def record(given):
    """The array as a field of packed records of 5 bytes."""
    records = np.zeros(given.shape, [("number", given.dtype), ("more", "u1")])
    records["number"] = given
    return records["number"]


def test_fields_of_packed_records_are_refused(forward):
    q, k, v = qkv()
    field = record(q)
    text = re.escape(f"strides of {field.strides} bytes: multiples of its elements' 4 bytes are needed")
    for call in (
        lambda: forward.graph.execute({**forward.given, forward.q: field, forward.o: np.empty_like(q)}),
        lambda: cudnn.pygraph(target="cpu").tensor_like(field),
        lambda: scaled_dot_product_attention(field, k, v),
        lambda: memory(field),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    aligned = np.zeros(q.shape, [("number", np.float32), ("more", np.float32)])["number"]
    assert memory(aligned).stride == [stride // 4 for stride in aligned.strides]


def swapped(given):
    return given.astype(given.dtype.newbyteorder())


class Interface:
    def __init__(self, interface):
        self.__array_interface__ = interface


@pytest.mark.parametrize("form", [lambda x: x, lambda x: Interface(x.__array_interface__), memoryview])
def test_big_endian_numbers_are_refused(forward, form):
    q, k, v = qkv()
    text = "an array of big-endian numbers .'>f4?'.: numbers in this machine's order are needed"
    with pytest.raises(ValueError, match=text):
        forward.graph.execute({**forward.given, forward.q: form(swapped(q)), forward.o: np.empty_like(q)})
    with pytest.raises(ValueError, match="big-endian"):
        scaled_dot_product_attention(swapped(q), k, v)
    assert memory(form(swapped(np.zeros(3, np.int8)))).data_type is cudnn.data_type.INT8


def interface(**changes):
    whole = {"data": (2**33, False), "shape": (3, 4), "typestr": "<f4", "strides": None, "version": 3, **changes}
    return {name: value for name, value in whole.items() if value != "left out"}


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"typestr": "|O"}, r"its 'typestr' is '\|O'"),
        ({"typestr": ""}, "its 'typestr' is ''"),
        ({"typestr": "<f"}, "its 'typestr' is '<f'"),
        ({"typestr": "<f-4"}, "its 'typestr' is '<f-4'"),
        ({"typestr": "<f99999999999999999999"}, "its 'typestr' is '<f9999"),
        ({"typestr": 4}, "its 'typestr' is 4"),
        ({"typestr": "left out"}, "it has no 'typestr'"),
        ({"data": None}, "it has no 'data'"),
        ({"data": (1,)}, r"its 'data' is \(1,\)"),
        ({"data": 7}, "its 'data' is 7"),
        ({"data": ("a", True)}, r"its 'data' is \('a', True\)"),
        ({"shape": (3, 2.5)}, "its 'shape' has entries that are no integers of 64 bits"),
        ({"shape": (3, 2**70)}, "its 'shape' has entries that are no integers of 64 bits"),
        ({"strides": (4,)}, "its 'strides' are not as many as its 'shape'"),
        ({"shape": (3, -4)}, r"an array of shape \(3, -4\) with strides .*: sizes from 0 on"),
        ({"shape": (2**40, 2**40)}, "an array of shape .*: sizes from 0 on, of memory within 64 bits, are needed"),
        ({"shape": (3, 4), "strides": (2**62, 4)}, "an array of shape .*: sizes from 0 on, of memory within 64 bits"),
    ],
)
@pytest.mark.parametrize("name", ["__array_interface__", "__cuda_array_interface__"])
def test_faulty_interfaces_are_refused(forward, name, changes, text):
    odd = type("Odd", (), {name: interface(**changes)})()
    with pytest.raises(ValueError, match=text):
        forward.graph.execute({**forward.given, forward.q: odd})


def test_interfaces_that_are_no_dictionaries():
    with pytest.raises(ValueError, match="the __array_interface__ of a Interface: it is no dictionary"):
        memory(Interface([1]))


@pytest.mark.parametrize(
    "typestr, kind",
    [("<f2", "HALF"), ("<f4", "FLOAT"), ("<f8", "DOUBLE"), ("<f16", "NOT_SET"), ("|b1", "BOOLEAN"), ("|i1", "INT8")]
    + [
        ("|u1", "UINT8"),
        ("<i4", "INT32"),
        ("<i8", "INT64"),
        ("<u4", "NOT_SET"),
        ("<V2", "NOT_SET"),
        ("<c8", "NOT_SET"),
    ],
)
def test_types_of_interfaces(typestr, kind):
    view = memory(Interface(interface(typestr=typestr)))
    assert view.data_type is cudnn.data_type[kind]
    assert view.bytes == 12 * int(typestr[2:])


def packed_graph(rows, ends, target="cpu"):
    """A graph of packed sequences, whose ends no function checks before the run."""
    dim, stride = [len(ends) - 1, 2, 12, 16], [12 * 32, 16, 32, 1]
    graph = cudnn.pygraph("packed", FLOAT, FLOAT, FLOAT, target=target)
    starts = graph.tensor([len(ends), 1, 1, 1], [1, 1, 1, 1], cudnn.data_type.INT32, name="starts")
    inputs = [graph.tensor(dim, stride, name=name).set_ragged_offset(starts) for name in "qkv"]
    lengths = [graph.tensor([dim[0], 1, 1, 1], [1, 1, 1, 1], cudnn.data_type.INT32) for _ in range(2)]
    o, _ = graph.sdpa(*inputs, generate_stats=False, use_padding_mask=True, seq_len_q=lengths[0], seq_len_kv=lengths[1])
    o.set_output(True).set_dim(dim).set_stride(stride).set_ragged_offset(starts)
    graph.build([cudnn.heur_mode.A])
    counts = np.diff(ends).astype(np.int32)
    given = {starts: np.array(ends, np.int32) * 32, lengths[0]: counts, lengths[1]: counts}
    arrays = [random((rows, 2, 16), seed=seed) for seed in (1, 2, 3)]
    return graph, {**given, **dict(zip(inputs, arrays))}, o


def test_packed_sequences_end_within_their_memory():
    graph, pack, o = packed_graph(20, [0, 8, 20])
    whole = np.full((25, 2, 16), 7.0, np.float32)
    graph.execute({**pack, o: whole[:20]})
    assert (whole[20:] == 7.0).all() and np.abs(whole[:20]).max() < 6
    with pytest.raises(ValueError, match="2432 bytes of memory: its ragged offset 'starts' ends at 640"):
        graph.execute({**pack, o: whole[:19]})
    assert (whole[20:] == 7.0).all()
    q = next(tensor for tensor in pack if tensor.get_name() == "q")
    with pytest.raises(ValueError, match="tensor 'q' .*: its ragged offset 'starts' ends at 640"):
        graph.execute({**pack, q: pack[q][:19], o: whole[:20]})


def test_packed_rows_that_are_parts_of_wider_ones():
    """Rows of a fused projection hold q, k and v, so that the last row of q ends before the last row of the memory."""
    fused = random((20, 3, 2, 16), seed=4)
    o = scaled_dot_product_attention(
        *(fused[:, part] for part in range(3)), cu_seqlens_q=[0, 20], cu_seqlens_kv=[0, 20]
    )
    plain = [np.ascontiguousarray(fused[:, part].transpose(1, 0, 2))[None] for part in range(3)]
    expected = scaled_dot_product_attention(*plain)[0].transpose(1, 0, 2)
    np.testing.assert_allclose(o, expected, atol=tolerance(np.float32, 20))


def test_other_shapes_stay_within_their_memory():
    q, k, v = qkv()
    forward = Forward(q, k, v, settings={"is_override_shape_enabled": True}, attn_scale=0.25).build()
    tensors = (forward.q, forward.k, forward.v, forward.o)
    uids, shape, strides = [tensor.get_uid() for tensor in tensors], [2, 3, 48, 16], [[2304, 768, 16, 1]] * 4
    whole = np.full((3, 3, 40, 16), 7.0, np.float32)
    arrays = [random(shape, seed=seed) for seed in (1, 2, 3)]
    with pytest.raises(ValueError, match="15360 bytes of memory: dims .2, 3, 48, 16. with strides"):
        forward.graph.execute(dict(zip(tensors, (*arrays, whole[:2]))), None, None, uids, [shape] * 4, strides)
    assert (whole == 7.0).all()
    result = np.empty(shape, np.float32)
    forward.graph.execute(dict(zip(tensors, (*arrays, result))), None, None, uids, [shape] * 4, strides)
    np.testing.assert_allclose(result, attention(*arrays, 0.25)[0], atol=tolerance(np.float32, 48))


@pytest.mark.parametrize(
    "shapes, strides",
    [
        ([[2]], [[1]]),
        ([[2, 3, 40, 16]], [[1]]),
        ([[2]], [[1920, 640, 16, 1]]),
        ([[2, 3, -40, 16]], [[1920, 640, 16, 1]]),
        ([[2, 3, 40, 16]], [[1920, 640, -16, 1]]),
        ([[2**62] * 4], [[2**62] * 4]),
    ],
)
def test_shapes_that_make_no_sense(shapes, strides):
    q, k, v = qkv()
    forward = Forward(q, k, v, settings={"is_override_shape_enabled": True}, attn_scale=0.25).build()
    result = np.full(q.shape, 7.0, np.float32)
    for tensor in (forward.q, forward.o):
        with pytest.raises((ValueError, RuntimeError, cudnn.cudnnGraphNotSupportedError)):
            pack = {**forward.given, forward.o: result}
            forward.graph.execute(pack, None, None, [tensor.get_uid()], shapes, strides)
    assert (result == 7.0).all()
    with pytest.raises(ValueError, match="7680 bytes of memory"):  # empty lists are no other shapes
        forward.graph.execute({**forward.given, forward.o: result[:1]}, None, None, [forward.o.get_uid()], [[]], [[]])
    assert (result == 7.0).all()


def constant(shape):
    return np.frombuffer(mmap.mmap(-1, 4 * int(np.prod(shape)), prot=mmap.PROT_READ), np.float32).reshape(shape)


@pytest.mark.parametrize("form", ["plan", "text"])
def test_results_of_graphs_that_were_read_are_not_written_where_they_cannot_be(forward, form):
    restored = cudnn.pygraph(target="cpu")
    for tensor, uid in zip((forward.q, forward.k, forward.v, forward.o), (1, 2, 3, 4)):
        tensor.set_uid(uid)
    forward.build()
    restored.deserialize(bytes(forward.graph.serialize()) if form == "plan" else forward.graph.to_json())
    if form == "text":
        restored.build([cudnn.heur_mode.A])
    q, k, v = qkv()
    with pytest.raises(ValueError, match="memory that can only be read: the graph writes it"):
        restored.execute({1: q, 2: k, 3: v, 4: constant(q.shape)})
    result = np.empty_like(q)
    restored.execute({1: constant(q.shape), 2: k, 3: v, 4: result})
    np.testing.assert_allclose(result, attention(np.zeros_like(q), k, v, 0.25)[0], atol=tolerance(np.float32, 40))


def test_workspaces_are_writable():
    forward = Forward(*qkv(), target="reference", attn_scale=0.25).build()
    workspace = constant(((forward.graph.get_workspace_size() + 3) // 4,))
    with pytest.raises(ValueError, match="the workspace can only be read: a plan writes it"):
        forward.graph.execute({**forward.given, forward.o: np.empty_like(qkv()[0])}, workspace)


@pytest.mark.parametrize("address", [8, 4095, -1, True])
def test_addresses_that_no_memory_has(forward, address):
    with pytest.raises(ValueError, match=f"the pack gives {address} for uid [0-9]+: the address of memory is needed"):
        forward.graph.execute({**forward.given, forward.q: address, forward.o: np.empty_like(qkv()[0])})


def test_uids_have_64_bits(forward):
    with pytest.raises(ValueError, match="a pack's key is 1180591620717411303424: a uid has 64 bits"):
        forward.graph.execute({2**70: qkv()[0]})


@pytest.mark.parametrize("handle", [3, -1])
def test_numbers_that_are_no_handles(forward, handle):
    for call in (
        lambda: forward.graph.execute({}, handle=handle),
        lambda: cudnn.pygraph(target="cuda", handle=handle),
        lambda: cudnn._core.set_stream(handle, 0),
        lambda: cudnn._core.get_stream(handle),
        lambda: cudnn._core.destroy_handle(handle),
    ):
        with pytest.raises(ValueError, match=rf"{handle} is no handle: one of create_handle\(\) is needed"):
            call()
