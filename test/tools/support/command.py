"""Runs the command sdpa, and makes small graphs for it."""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[3]
COMMAND = os.environ.get("SDPA_COMMAND") or str(ROOT / "build/dev/tools/sdpa/sdpa")
GRAPHS = pathlib.Path(os.environ.get("SDPA_GRAPHS") or ROOT / "graphs")
DEVICES = ROOT / "devices"
YES, NO, USAGE = 0, 1, 2


def tensor(name, uid, dim, **members):
    stride = [1] * len(dim)
    for i in reversed(range(len(dim) - 1)):
        stride[i] = stride[i + 1] * dim[i + 1]
    return {"name": name, "uid": uid, "dim": list(dim), "stride": stride, **members}


def attention(queries=16, keys=16, heads=2, key_heads=None, depth=8, value_depth=None, data_type="FLOAT", batches=1, **fields):
    """A graph of one node of forward attention."""
    key_heads, value_depth = key_heads or heads, value_depth or depth
    return {
        "format": "sdpa-graph",
        "version": 1,
        "context": {"io_data_type": data_type, "intermediate_data_type": "FLOAT", "compute_data_type": "FLOAT"},
        "tensors": {
            "t0": tensor("Q", 1, (batches, heads, queries, depth)),
            "t1": tensor("K", 2, (batches, key_heads, keys, depth)),
            "t2": tensor("V", 3, (batches, key_heads, keys, value_depth)),
            "t3": tensor("O", 4, (batches, heads, queries, value_depth)),
        },
        "nodes": [
            {
                "tag": "SDPA_FORWARD",
                "name": "attention",
                "inputs": {"Q": "t0", "K": "t1", "V": "t2"},
                "outputs": {"O": "t3"},
                "fields": {"attn_scale": 0.25, **fields},
            }
        ],
    }


def backward_of(graph):
    """The graph of attention() as backward, whose gradients are its results."""
    graph = copy.deepcopy(graph)
    tensors, node = graph["tensors"], graph["nodes"][0]
    tensors["t4"] = tensor("Stats", 5, (*tensors["t0"]["dim"][:3], 1), data_type="FLOAT")
    node["tag"] = "SDPA_BACKWARD"
    for i, (name, like) in enumerate((("dO", "t3"), ("dQ", "t0"), ("dK", "t1"), ("dV", "t2"))):
        tensors[f"t{5 + i}"] = {**tensors[like], "name": name, "uid": 6 + i}
    node["inputs"].update(O="t3", dO="t5", Stats="t4")
    node["outputs"] = {"dQ": "t6", "dK": "t7", "dV": "t8"}
    return graph


def computed_queries(graph):
    """The graph with the negative of another tensor as Q, whose sizes are not described."""
    graph = copy.deepcopy(graph)
    tensors, place = graph["tensors"], f"t{len(graph['tensors'])}"
    tensors[place] = {**tensors["t0"], "name": "X", "uid": len(tensors) + 1}
    tensors["t0"] = {"name": "Q", "is_virtual": True, "data_type": "FLOAT"}
    negative = {"tag": "POINTWISE", "name": "negative", "inputs": {"IN_0": place}, "outputs": {"OUT_0": "t0"}, "fields": {"mode": "NEG"}}
    graph["nodes"].insert(0, negative)
    return graph


def padded(graph):
    """The graph with a padding mask and lengths."""
    graph = copy.deepcopy(graph)
    batches = graph["tensors"]["t0"]["dim"][0]
    node = graph["nodes"][0]
    for name in ("seq_len_q", "seq_len_kv"):
        place = f"t{len(graph['tensors'])}"
        graph["tensors"][place] = tensor(name, len(graph["tensors"]) + 1, (batches, 1, 1, 1), data_type="INT32")
        node["inputs"][name] = place
    node["fields"]["padding_mask"] = True
    return graph


def paged(graph, keys):
    """The padded graph of two batch entries with K and V in 10 pages of 16 rows, 4 for each entry."""
    graph = padded(graph)
    for place in ("t1", "t2"):
        graph["tensors"][place].update(tensor(graph["tensors"][place]["name"], None, (10, 2, 16, 8)), uid=int(place[1]) + 20)
    for name, place in (("page_table_k", "t6"), ("page_table_v", "t7")):
        graph["tensors"][place] = tensor(name, 30 + int(place[1]), (2, 1, 4, 1), data_type="INT32")
        graph["nodes"][0]["inputs"][name] = place
    graph["nodes"][0]["fields"]["max_seq_len_kv"] = keys
    return graph


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, graph):
        path = self.folder / name
        path.write_text(graph if isinstance(graph, str) else json.dumps(graph))
        return path

    def run_command(self, *arguments, input=None, environment=None):
        if isinstance(input, dict):
            input = json.dumps(input)
        return subprocess.run(
            [COMMAND, *map(str, arguments)],
            input=input if input is None or isinstance(input, bytes) else input.encode(),
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            env={**os.environ, **(environment or {})},
            timeout=1200,  # a command that hangs; on a busy machine matrices of all graphs need minutes
        )

    def expect(self, status, *arguments, input=None, environment=None):
        """Runs the command, which must exit so, and returns its standard output; its errors where it is USAGE."""
        done = self.run_command(*arguments, input=input, environment=environment)
        output, errors = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, status, f"{arguments}: {output}{errors}")
        if status == USAGE:
            self.assertEqual(output, "")
            self.assertRegex(errors, r"^sdpa: ")
            return errors
        return output

    def expect_json(self, status, *arguments, **keywords):
        return json.loads(self.expect(status, *arguments, "--json", **keywords))

    def cudnn_version(self):
        """The version of the library that plans here, such as 91900; 0 where there is none."""
        report = json.loads(self.run_command("doctor", "--json").stdout)
        return report["cudnn_version"] if report.get("offline", report["gpu"])["usable"] else 0

    def need_cudnn(self):
        version = self.cudnn_version()
        if version == 0:
            self.skipTest("there is no cuDNN library here")
        return version


def main():
    """Runs the tests; reports skipped ones, as ctest looks for it, unless others failed."""
    result = unittest.main(argv=[sys.argv[0]], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    for _, reason in result.skipped:
        print("this test is skipped:", reason)
