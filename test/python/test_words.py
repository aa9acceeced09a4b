"""Texts of the library name Python's methods and arguments."""

import ast
import inspect
import pathlib
import re

import cudnn
import pytest
import sdpa_graph
from attention import Forward, qkv
from sdpa_graph._core import Graph_base, _in_python

ROOT = pathlib.Path(__file__).parents[2]
TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def literals():
    """All of the library's texts, whole or in parts."""
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".cpp", ".h"):
            for text in TEXT.findall(path.read_text()):
                yield text.replace('\\"', '"')


def arguments():
    """The names of all arguments of Python's methods."""
    stub = ast.parse((pathlib.Path(sdpa_graph.__file__).parent / "_core.pyi").read_text())
    names = {argument.arg for node in ast.walk(stub) if isinstance(node, ast.arguments) for argument in node.args}
    for kind in ("sdpa", "sdpa_backward", "sdpa_fp8_backward"):
        names |= set(Graph_base._option_names(kind))
    return names | set(inspect.signature(cudnn.pygraph.__init__).parameters) | {"the steps of slices"}


def test_setters_that_python_does_not_have_become_arguments():
    setters = {name for text in literals() for name in re.findall(r"\bset_\w+(?=\()", text)}
    assert len(setters) > 40
    named = arguments()
    for setter in setters:
        if any(hasattr(place, setter) for place in (cudnn.tensor, cudnn.pygraph, sdpa_graph)):
            assert _in_python(f"call {setter}(x)") == f"call {setter}(x)"
        else:
            assert _in_python(f"call {setter}()") == "pass " + _in_python(setter)
            assert _in_python(setter) in named, setter


def test_no_scope_of_cpp_is_left():
    for text in literals():
        found = _in_python(text)
        left = re.findall(r"\b(?:\w+_t|Target|Graph|DeviceProperties|runtime)::\w+\b(?!\(?$)", found)
        assert not left, (text, found)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("call set_padding_mask(true)", "pass use_padding_mask=True"),
        ("call set_output(true) on it", "call set_output(True) on it"),
        ("call set_dropout(mask, scale)", "pass dropout=(mask, scale)"),
        ("leave out set_dbias()", "leave out dBias"),
        ("call set_dim({1, 1})", "call set_dim([1, 1])"),
        ("set_data_type(DataType_t::FLOAT)", "set_data_type(data_type.FLOAT)"),
        ("set_attn_scale(0.125)", "attn_scale=0.125"),
        ("use Target::cpu(), or Target::cpu(4)", "use target='cpu', or target='cpu:4'"),
        ('Target::offline("h200")', "target='offline:h200'"),
        ("Target::cuda(handle)", "target='cuda'"),
        ("the stream runtime::set_stream() sets", "the stream set_stream() sets"),
        ("the reset_bias() of set_", "the reset_bias() of set_"),
        ("call set_bias", "pass bias"),
        ("call set_bias(", "pass bias("),
        ("", ""),
    ],
)
def test_phrases(text, expected):
    assert _in_python(text) == expected


def test_errors_reports_and_advice_speak_python():
    q, k, v = qkv()
    forward = Forward(q, k, v, stats=True)
    forward.o.set_output(False)
    forward.stats.set_output(False)
    report, advice = forward.graph.check(), Forward(q, k, v).graph.advice()
    with pytest.raises(ValueError, match=r"call set_output\(True\)"):
        forward.graph.validate()
    for said in (report, report.findings[0]["fix"]):
        assert "call set_output(True)" in said
    for said in (advice, advice.findings[0]["fix"], advice._repr_html_()):
        assert "pass attn_scale=0.25" in said
