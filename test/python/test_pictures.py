"""The pictures and texts that notebooks show of graphs, plans, masks and reports."""

import io
import itertools
import xml.etree.ElementTree as ElementTree

import cudnn
import numpy as np
import pytest
from attention import Forward, qkv
from sdpa_graph.masks import mask
from sdpa_graph.tuning import Bar, Plans, watched

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    return [element.text for element in ElementTree.fromstring(picture).iter(SVG + "text")]


class Drawn:
    """The content of a graph's picture: boxes as (left, top, right, bottom), and paths as points from end to end."""

    def __init__(self, picture):
        group = ElementTree.fromstring(picture).find(SVG + "g")
        self.boxes = [self.corners(box) for box in group.iter(SVG + "rect")]
        self.words = [(float(text.get("x")), float(text.get("y")), text) for text in group.iter(SVG + "text")]
        self.paths = [list(self.points(path.get("d"))) for path in group.iter(SVG + "path")]
        self.heads = [head.get("points").split()[0] for head in group.iter(SVG + "polygon")]

    @staticmethod
    def corners(box):
        x, y, width, height = (float(box.get(name)) for name in ("x", "y", "width", "height"))
        return x, y, x + width, y + height

    @staticmethod
    def points(path):
        """M x y, then V y and C of six numbers, as graph pictures have them; curves by 20 points."""
        parts = iter(path.split())
        here = None
        for kind in parts:
            if kind == "M":
                here = float(next(parts)), float(next(parts))
            elif kind == "V":
                here = here[0], float(next(parts))
            else:
                p = np.array([here, *([float(next(parts)), float(next(parts))] for _ in range(3))])
                for t in np.linspace(0, 1, 20):
                    yield tuple(np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3]) @ p)
                here = tuple(p[3])
            yield here

    def check(self):
        for left, top, right, bottom in self.boxes:
            for x, y, text in self.words:
                if text.get("text-anchor") == "middle" and left < x < right and top < y < bottom:
                    half = len(text.text) * 0.6 * float(text.get("font-size")) / 2
                    assert left < x - half and x + half < right and y < bottom, text.text
            for path in self.paths:
                assert not any(left + 1 < x < right - 1 and top + 1 < y < bottom - 1 for x, y in path)
        for one, other in itertools.combinations(self.boxes, 2):
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert [f"{path[-1][0]:.1f},{path[-1][1]:.1f}" for path in self.paths] == self.heads


def test_a_graph_is_a_picture_and_a_table_of_plans(tmp_path):
    forward = Forward(*qkv(), stats=True, attn_scale=0.25, score_mod=lambda graph, score: graph.neg(score)).build()
    picture = forward.graph.plot()
    found = texts(picture)
    assert {"q", "k", "v", "SDPA_FORWARD", "NEG", "score_mod", "2 x 3 x 40 x 16 FLOAT"} <= set(found)
    drawn = Drawn(picture)
    drawn.check()
    # An arrow for each port; the modifier's result is the one that goes back up.
    assert len(drawn.paths) == 9 and sum(path[-1][1] < path[0][1] for path in drawn.paths) == 1
    picture.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text() == picture == picture._repr_svg_()
    assert forward.graph._repr_html_().startswith("<svg") and "<td" in forward.graph._repr_html_()


def test_a_picture_has_what_validation_infers_and_leaves_the_graph_as_it_was():
    forward = Forward(*qkv((2, 3, 40, 24)), stats=True, attn_scale=0.25)
    before = forward.graph.to_json()
    found = texts(forward.graph.plot())
    assert found.count("2 x 3 x 40 x 24 FLOAT") == 4  # q, k, v and O
    assert "2 x 3 x 40 x 1 FLOAT" in found
    assert forward.graph.to_json() == before and forward.o.get_dim() == []


def test_a_faulty_graph_is_drawn_as_it_is_described():
    q, k, v = qkv()
    graph = Forward(q, k[..., :8].copy(), v, attn_scale=0.25).graph
    assert graph.check() != "" and "2 x 3 x 40 x 8 FLOAT" in texts(graph.plot())
    Drawn(graph.plot()).check()
    assert Drawn(cudnn.pygraph(target="cpu").plot()).boxes == []


def test_names_and_options_are_drawn_in_full():
    q, k, v = qkv()
    name = "attention of the layer with a name that is much longer than a box of usual width"
    graph = Forward(
        q,
        k,
        v,
        attn_scale=0.25,
        name=name,
        diagonal_alignment=cudnn.diagonal_alignment.BOTTOM_RIGHT,
        diagonal_band_left_bound=12345,
        diagonal_band_right_bound=0,
    ).graph
    found = texts(graph.plot())
    assert name in found and "SDPA_FORWARD" in found
    options = " ".join(text.replace("\N{NO-BREAK SPACE}", " ") for text in found)
    for option in ("attn_scale 0.25", "diagonal_alignment BOTTOM_RIGHT", "left_bound 12345", "right_bound 0"):
        assert option in options
    Drawn(graph.plot()).check()


def test_paths_cross_no_box_and_packed_tensors_have_their_offsets():
    graph = cudnn.pygraph(
        io_data_type=cudnn.data_type.HALF,
        intermediate_data_type=cudnn.data_type.FLOAT,
        compute_data_type=cudnn.data_type.FLOAT,
        target="cpu",
    )
    integers = [graph.tensor([n, 1, 1, 1], [1, 1, 1, 1], cudnn.data_type.INT32, name=name) for n, name in PACKED]
    offset, lengths = integers[0], integers[1:]
    q, k, v = (
        graph.tensor([2, 4, 64, 32], [8192, 32, 128, 1], name=name, ragged_offset=offset) for name in ("q", "k", "v")
    )
    bias = graph.tensor([1, 4, 64, 64], [16384, 4096, 64, 1], cudnn.data_type.FLOAT, name="bias")

    def modified(g, score):
        late = g.add(g.mul(g.neg(score), bias), score)  # bias and scores pass by the nodes between
        return g.add(late, bias)

    options = {"seq_len_q": lengths[0], "seq_len_kv": lengths[1], "use_padding_mask": True}
    o, _ = graph.sdpa(q, k, v, attn_scale=0.25, score_mod=modified, generate_stats=False, **options)
    o.set_output(True).set_ragged_offset(offset)
    drawn = Drawn(graph.plot())
    drawn.check()
    dashed = [path for path in ElementTree.fromstring(graph.plot()).iter(SVG + "path") if path.get("stroke-dasharray")]
    assert len(dashed) == 4  # from the offsets to q, k, v and O


def test_huge_graphs_are_drawn_in_reasonable_time_and_size():
    graph = cudnn.pygraph(io_data_type=cudnn.data_type.FLOAT, target="cpu")
    x = result = graph.tensor([4, 4], [4, 1], name="x")
    for _ in range(250):
        result = graph.add(graph.neg(result), x)
    picture = graph.plot()
    assert texts(picture).count("ADD") == 250 and len(picture) < 2_000_000


PACKED = [(3, "offsets"), (2, "seq_len_q"), (2, "seq_len_kv")]


def test_names_are_escaped():
    graph = cudnn.pygraph(target="cpu")
    graph.neg(graph.tensor([1], [1], name="<q> & co"))
    assert "<q> & co" in texts(graph.plot())


def test_plans():
    graph = Forward(*qkv(), attn_scale=0.25).build().graph
    plans = graph.plans()
    assert isinstance(plans, Plans) and [row.name for row in plans] == ["cpu"]
    assert plans[0].workspace_bytes == graph.get_workspace_size()
    assert repr(plans).splitlines()[0].split() == ["plan_index", "name", "workspace_bytes", "notes"]
    assert repr(plans).splitlines()[1].split() == ["0", "cpu", str(graph.get_workspace_size())]
    assert "<td" in plans._repr_html_() and graph.get_plan_name_at_index(0) in plans._repr_html_()


def test_plans_that_are_not_built():
    graph = Forward(*qkv(), attn_scale=0.25).graph
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A])
    plans = graph.plans()
    assert plans[0].workspace_bytes is None
    assert repr(plans).splitlines()[1].split() == ["0", "cpu", "not", "built"]
    assert '<td style="text-align:left">not built</td>' in plans._repr_html_()
    graph.build_plans()
    assert graph.plans()[0].workspace_bytes == graph.get_workspace_size()


def test_the_plan_is_a_picture():
    graph = Forward(*qkv(), attn_scale=0.25).build().graph
    picture = graph.draw_plan()
    assert {"1. the graph as given", "reads  q, Q: [2, 3, 40, 16] FLOAT"} <= set(texts(picture))
    assert picture._repr_svg_() == picture and graph.draw_plan("dot").startswith("digraph")
    with pytest.raises(ValueError, match="format is 'text': 'svg' or 'dot' is needed"):
        graph.draw_plan("text")
    with pytest.raises(RuntimeError, match="build"):
        Forward(*qkv()).graph.draw_plan()


def test_candidates_are_printed():
    graph = Forward(*qkv(), attn_scale=0.25).build().graph
    assert graph.print_candidates().split() == ["candidates:", "cpu", "runs"]


def test_the_wrapper_shows_its_graph():
    with cudnn.Graph(
        io_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT, target="cpu"
    ) as graph:
        o, _ = graph.sdpa(*qkv(), is_inference=True, attn_scale=0.25)
        o.set_output(True)
    assert graph._repr_html_() == graph._graph._repr_html_()
    assert graph.plans() == graph._graph.plans() and graph.check() == "" and graph.plot().startswith("<svg")


def test_reports_are_texts_and_tables():
    q, k, v = qkv()
    report = Forward(q, k[..., :8].copy(), v, attn_scale=0.25).graph.check()
    assert "[sdpa_fwd.c05]" in report and report.findings[0]["rule"] == "sdpa_fwd.c05"
    assert "<td" in report._repr_html_() and "head dim 16" in report._repr_html_()
    advice = Forward(q, k, v).graph.advice()
    assert advice.findings[0]["rule"] == "advice.a01" and "effect</th>" in advice._repr_html_()
    good = Forward(q, k, v, attn_scale=0.25).graph.check()
    assert good == "" and good._repr_html_() == "<p>Nothing was found.</p>"


def band(rows, columns, left, right, shift=0):
    i, j = np.mgrid[:rows, :columns]
    return (i + shift - left < j) & (j <= i + shift + right)


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"left_bound": 5, "right_bound": 2}, band(12, 16, 5, 2)),
        ({"is_causal": True, "bottom_right": True}, band(12, 16, 99, 0, 4)),
        ({"attn_mask": band(12, 16, 3, 3)}, band(12, 16, 3, 3)),
        ({"seq_len_kv": np.array([9, 4]), "entry": 1}, np.arange(16) < np.full((12, 1), 4)),
        ({"attn_mask": np.stack([band(12, 16, 2, 2), band(12, 16, 4, 4)]), "head": 1}, band(12, 16, 4, 4)),
    ],
)
def test_masks_are_what_attention_computes(options, expected):
    found = mask(12, 16, **options)
    np.testing.assert_array_equal(found.keep, expected)
    lines = repr(found).splitlines()
    assert lines[0].startswith("12 queries, 16 keys, ")
    assert lines[0].endswith(f": {expected.sum()} of 192 pairs are visible")
    assert lines[1] == "   0    5    10   15"
    assert [line[:3] for line in lines[2:]] == [f"{query:2} " for query in range(12)]
    assert [[cell == "█" for cell in line[3:]] for line in lines[2:]] == expected.tolist()
    dark = [x for x in ElementTree.fromstring(found.plot()).iter(SVG + "rect") if x.get("fill") == "#1d4ed8"]
    cell = float(dark[0].get("height"))
    assert round(sum(float(x.get("width")) for x in dark) / cell) == expected.sum()
    assert found._repr_svg_() == found.plot()


def test_large_masks_are_one_line():
    caption = "100 queries, 100 keys, is_causal=True: 5050 of 10000 pairs are visible"
    assert repr(mask(100, 100, is_causal=True)) == caption


@pytest.mark.parametrize(
    "options, caption",
    [
        ({}, "12 queries, 16 keys: 192 of 192 pairs are visible"),
        ({"left_bound": 5, "is_causal": True}, "12 queries, 16 keys, left_bound=5, is_causal=True: "),
        ({"seq_len_kv": np.array([9, 4]), "entry": 1}, "12 queries, 16 keys, seq_len_kv=[9, 4], entry=1: "),
        ({"attn_mask": band(12, 16, 3, 3)}, "12 queries, 16 keys, attn_mask=array of 12 x 16: "),
    ],
)
def test_a_mask_says_its_options(options, caption):
    found = mask(12, 16, **options)
    assert found.caption().startswith(caption)
    assert " ".join(texts(found.plot())).startswith(found.caption() + " keys queries ")


@pytest.mark.parametrize(
    "rows, columns, ticks",
    [
        (12, 16, [*range(0, 16, 2), *range(0, 12, 2)]),
        (512, 512, [*range(0, 512, 100), *range(0, 512, 100)]),
        (1, 7, [*range(7), 0]),
    ],
)
def test_a_mask_has_ticks_in_the_middle_of_cells(rows, columns, ticks):
    picture = mask(rows, columns, is_causal=True).plot()
    root = ElementTree.fromstring(picture)
    lines = list(root.iter(SVG + "line"))
    numbers = [int(text) for text in texts(picture) if text.isdigit()]
    assert numbers == ticks and len(lines) == len(ticks)
    frame = next(x for x in root.iter(SVG + "rect") if x.get("fill") == "#f4f4f5")
    cell = float(frame.get("width")) / columns
    assert float(lines[1].get("x1")) == pytest.approx(float(frame.get("x")) + (numbers[1] + 0.5) * cell)
    # All of it is within the picture.
    width, height = (float(root.get(name)) for name in ("width", "height"))
    for text in root.iter(SVG + "text"):
        length = len(text.text) * 0.6 * float(text.get("font-size") or 12)
        left = float(text.get("x")) - {"middle": length / 2, "end": length}.get(text.get("text-anchor"), 0)
        assert 0 <= left and left + length <= width and 8 <= float(text.get("y")) <= height


def test_all_plans_are_built_while_one_watches():
    forward = Forward(*qkv(), attn_scale=0.25)
    forward.graph.validate()
    forward.graph.build_operation_graph()
    forward.graph.create_execution_plans([cudnn.heur_mode.A])
    seen = []
    assert forward.graph.build_all_plans(lambda *step: seen.append(step)) == {}
    assert seen == [(0, 1, "building plans"), (1, 1, "building plans")]
    expected = forward.run()
    forward.graph.autotune({**forward.given, forward.o: np.empty_like(expected)})
    np.testing.assert_array_equal(forward.run(), expected)
    assert forward.graph.get_autotune_workspace_size() == forward.graph.get_workspace_size()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_shows_what_takes_long(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    terminal, pipe = Terminal(), io.StringIO()
    bars = [Bar(terminal), Bar(pipe)]
    for done in range(4):
        for bar in bars:
            bar(done, 3, "building plans")
        now[0] += 0.6
    assert pipe.getvalue() == ""
    shown = terminal.getvalue().split("\r")
    assert shown[1] == f"building plans [{'#' * 20}{' ' * 10}] 2 of 3, 1 s"
    assert shown[2] == f"building plans [{'#' * 30}] 3 of 3, 2 s\n" and len(shown) == 3
    assert list(watched(range(2), "x", lambda *step: None)) == [0, 1]
