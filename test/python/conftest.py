"""Fixtures that all tests of the Python packages share."""

import os
import sys

import pytest

# A small budget lets tests of memory fill it with few graphs. The library reads it when it builds the first one.
os.environ.setdefault("SDPA_GRAPH_KEPT_BYTES", str(16 << 20))


def pytest_configure(config):
    config.addinivalue_line("markers", "torch: needs torch, and is skipped where that cannot be imported")
    config.addinivalue_line("markers", "gpu: needs a GPU, and is skipped where there is none")


@pytest.fixture(autouse=True)
def forget_compiled_functions():
    """torch compiles a function for a few kinds of arguments alone, which the tests together exceed."""
    yield
    if dynamo := sys.modules.get("torch._dynamo"):
        dynamo.reset()
