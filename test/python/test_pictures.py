"""What graphs, plans, masks and reports show of themselves."""

import io
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


def test_a_graph_is_a_picture_and_a_table_of_plans(tmp_path):
    forward = Forward(*qkv(), stats=True, attn_scale=0.25, score_mod=lambda graph, score: graph.neg(score)).build()
    picture = forward.graph.plot()
    found = texts(picture)
    assert {"q", "k", "v", "SDPA_FORWARD", "NEG", "score_mod", "2 x 3 x 40 x 16 FLOAT"} <= set(found)
    # The modifier's result is the one edge that goes back up; the others are straight.
    elements = list(ElementTree.fromstring(picture))
    assert sum(element.tag == SVG + "path" for element in elements) == 1
    assert sum(element.tag == SVG + "line" for element in elements) == 8
    picture.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text() == picture == picture._repr_svg_()
    assert forward.graph._repr_html_().startswith("<svg") and "<td" in forward.graph._repr_html_()


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
    assert lines[0] == f"12 queries, 16 keys, {expected.sum()} of 192 pairs are seen"
    assert [[cell == "█" for cell in line] for line in lines[1:]] == expected.tolist()
    dark = [x for x in ElementTree.fromstring(found.plot()).iter(SVG + "rect") if x.get("fill") == "#1d4ed8"]
    cell = float(dark[0].get("height"))
    assert round(sum(float(x.get("width")) for x in dark) / cell) == expected.sum()
    assert found._repr_svg_() == found.plot()


def test_large_masks_are_one_line():
    assert repr(mask(100, 100, is_causal=True)) == "100 queries, 100 keys, 5050 of 10000 pairs are seen"


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
