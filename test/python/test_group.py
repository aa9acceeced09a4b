"""Groups of ranks: threads of this process on the CPU targets, held against one process."""

import threading

import cudnn
import numpy as np
import pytest
import sdpa_graph
from attention import Forward, attention, causal, gradients, qkv, random, tolerance
from sdpa_graph import Group, Layout, group_way
from sdpa_graph._core import shape_policy

TOKENS, SCALE = 61, 0.25  # no number of ranks divides the tokens


def on_all(members, body):
    """The results of body(member) for each member, each in a thread of its own; the exception that it raised instead."""
    outcomes = [None] * len(members)

    def run(index):
        try:
            outcomes[index] = body(members[index])
        except Exception as error:
            outcomes[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(members))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def shard(layout, whole, rank):
    dim = list(whole.shape)
    dim[2] = layout.count_of(rank)
    part = np.empty(dim, whole.dtype)
    layout.shard(whole, 2, rank, part)
    return part


def unshard(layout, parts):
    dim = list(parts[0].shape)
    dim[2] = layout.length
    whole = np.full(dim, np.nan, parts[0].dtype)
    for rank, part in enumerate(parts):
        layout.unshard(part, 2, rank, whole)
    return whole


def run_forward(whole, members, layout, way=group_way.AUTO, stages=0, **options):
    def run(member):
        q, k, v = (shard(layout, x, member.rank) for x in whole)
        forward = Forward(q, k, v, stats=True, attn_scale=SCALE, **options)
        forward.graph.set_group(member, layout, way, stages)
        return forward.build().run()

    outcomes = on_all(members, run)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
    return [unshard(layout, parts) for parts in zip(*outcomes)]


@pytest.mark.parametrize("make", [Layout.contiguous, Layout.head_tail])
@pytest.mark.parametrize(
    "way, stages", [(group_way.GATHER, 1), (group_way.GATHER, 2), (group_way.ALL_TO_ALL, 0), (group_way.RING, 0)]
)
def test_forward_is_that_of_one_process(make, way, stages):
    q, (k, v) = random((2, 4, TOKENS, 16)), (random((2, 2, TOKENS, 16), seed=seed) for seed in (1, 2))
    members = Group.of_threads(2)
    found = run_forward((q, k, v), members, make(TOKENS, 2), way, stages, use_causal_mask=True)
    for result, expected in zip(found, attention(q, k, v, SCALE, causal(TOKENS, TOKENS))):
        assert np.abs(result - expected).max() < tolerance(np.float32, TOKENS)


def test_a_group_changes_what_a_graph_computes():
    """A rank's part alone has other keys."""
    q, k, v = (x[:, :, :TOKENS] for x in qkv((1, 2, TOKENS, 16)))
    layout = Layout.contiguous(TOKENS, 3)
    alone = [Forward(*(shard(layout, x, r) for x in (q, k, v)), attn_scale=SCALE).build().run() for r in range(3)]
    whole = run_forward((q, k, v), Group.of_threads(3), layout)[0]
    assert np.abs(unshard(layout, alone) - whole).max() > 0.1


def test_backward_is_that_of_one_process():
    q, k, v = qkv((1, 2, TOKENS, 16))
    dO, layout, members = random(q.shape, seed=9), Layout.head_tail(TOKENS, 3), Group.of_threads(3)
    o, stats = (x.astype(np.float32) for x in attention(q, k, v, SCALE, causal(TOKENS, TOKENS)))

    def run(member):
        graph = cudnn.pygraph(
            io_data_type=cudnn.data_type.FLOAT,
            intermediate_data_type=cudnn.data_type.FLOAT,
            compute_data_type=cudnn.data_type.FLOAT,
            target="cpu",
        )
        arrays = [shard(layout, x, member.rank) for x in (q, k, v, o, dO, stats)]
        inputs = [graph.tensor_like(array) for array in arrays]
        results = graph.sdpa_backward(*inputs, attn_scale=SCALE, use_causal_mask=True)
        for result in results:
            result.set_output(True).set_data_type(cudnn.data_type.FLOAT)
        graph.set_group(member, layout)
        graph.build([cudnn.heur_mode.A])
        made = [np.full(result.get_dim(), np.nan, np.float32) for result in results]
        graph.execute({**dict(zip(inputs, arrays)), **dict(zip(results, made))})
        return made

    first, again = on_all(members, run), on_all(members, run)
    for a, b in zip(first, again):
        assert all((x == y).all() for x, y in zip(a, b))
    expected = gradients(q, k, v, dO, SCALE, causal(TOKENS, TOKENS))
    for parts, gradient in zip(zip(*first), expected):
        assert np.abs(unshard(layout, parts) - gradient).max() < 10 * tolerance(np.float32, TOKENS)


def test_layouts():
    layout = Layout.head_tail(10, 2)
    assert layout == Layout.of([[(0, 3), (8, 2)], [(3, 5)]]) and hash(layout) == hash(Layout.head_tail(10, 2))
    assert layout != Layout.contiguous(10, 2)
    assert Layout.balanced(10, 2) == Layout.contiguous(10, 2) == Layout.balanced([10], 2)
    assert Layout.balanced([2, 8], 2, left_bound=3, right_bound=0) == Layout.of([[(0, 6)], [(6, 4)]])
    assert (layout.ranks, layout.length, layout.count_of(0)) == (2, 10, 5)
    assert layout.ranges_of(1) == [(3, 5)]
    assert layout.positions_of(0) == [0, 1, 2, 8, 9]
    whole = np.arange(30.0).reshape(1, 1, 10, 3)
    assert (shard(layout, whole, 0)[0, 0, :, 0] == whole[0, 0, layout.positions_of(0), 0]).all()
    assert (unshard(layout, [shard(layout, whole, rank) for rank in (0, 1)]) == whole).all()
    with pytest.raises(RuntimeError, match=r"\[group.c20\]"):
        layout.shard(whole, 1, 0, whole)
    fixed = np.zeros((1, 1, 5, 3))
    fixed.setflags(write=False)
    with pytest.raises(ValueError, match="can only be read"):
        layout.shard(whole, 2, 0, fixed)


def test_refusals_name_rules_in_words_of_python():
    q, k, v = qkv((1, 2, TOKENS, 16))
    forward = Forward(q, k, v)
    forward.graph.set_group(Group.described(0, 2), Layout.contiguous(TOKENS, 2))
    with pytest.raises(RuntimeError, match=r"\[group.c04\]") as raised:
        forward.build()
    assert raised.value.rule == "group.c04"
    forward.graph.set_shape_policy(shape_policy.CLASSES)
    with pytest.raises(RuntimeError, match=r"\[group.c13\]: found set_shape_policy\(shape_policy.CLASSES\)"):
        forward.build()
    with pytest.raises(RuntimeError, match=r"\[group.c18\]"):
        Group.described(2, 2)
    with pytest.raises(ValueError, match="found an id of 3 bytes; expected the 128 bytes"):
        Group.of_nccl(b"abc", 0, 2)
    with pytest.raises(ValueError, match="expected the address"):
        Group.adopt_nccl(7)


def test_a_rank_that_never_comes_is_an_error_within_the_deadline():
    q, k, v = qkv((1, 2, TOKENS, 16))
    layout, members = Layout.contiguous(TOKENS, 2), Group.of_threads(2, deadline_milliseconds=100)
    forward = Forward(*(shard(layout, x, 0) for x in (q, k, v)))
    forward.graph.set_group(members[0], layout)
    forward.build()
    with pytest.raises(RuntimeError, match=r"\[group.c14\].*rank 1"):
        forward.run()
    with pytest.raises(RuntimeError, match=r"\[group.c16\]"):
        members[1].check()


def test_a_member_that_gives_up_ends_the_group():
    members = Group.of_threads(2)
    members[0].check()
    members[0].give_up("the loader failed")
    with pytest.raises(RuntimeError, match="the loader failed"):
        members[1].check()
    assert (members[1].rank, members[1].size) == (1, 2)


def test_exchanges_that_hold_a_rank_up():
    q, k, v = qkv((1, 2, TOKENS, 16))
    layout, members = Layout.contiguous(TOKENS, 2), Group.of_threads(2)
    members[0].measure()
    run_forward((q, k, v), members, layout, group_way.GATHER, 2)
    times = members[0].exchange_times()
    assert [content for content, _, _ in times] == [f"keys and values of query heads {i} to {i}" for i in (0, 1)]
    assert all(exposed > 0 for _, exposed, _ in times)
    assert [received for _, _, received in times] == [2 * layout.count_of(1) * 16 * 4] * 2
    assert members[1].exchange_times() == []


def test_plans_of_a_rank_that_is_not_here():
    layout = Layout.head_tail(TOKENS, 4)
    forward = Forward(*(shard(layout, x, 3) for x in qkv((1, 2, TOKENS, 16))), use_causal_mask=True)
    forward.graph.set_group(Group.described(3, 4), layout, group_way.GATHER)
    assert "gather(1)" in str(forward.build().graph.draw_plan())


def test_the_package_shows_groups():
    for name in ("Group", "Layout", "group_way"):
        assert name in sdpa_graph.__all__
