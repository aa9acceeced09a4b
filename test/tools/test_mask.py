"""sdpa mask: pictures compared with the formula of the mask, from runs and from options."""

import copy
import re
import struct
import zlib
from typing import NamedTuple

from support.command import USAGE, YES, CommandTest, attention, backward_of, computed_queries, main, padded, tensor


def formula(queries, keys, fields, lengths=None):
    rows, columns = lengths or (queries, keys)
    shift = columns - rows if fields.get("diagonal_alignment") == "BOTTOM_RIGHT" else 0
    picture = []
    for i in range(queries):
        line = ""
        for j in range(keys):
            is_visible = i < rows and j < columns
            is_visible &= "right_bound" not in fields or j <= i + shift + fields["right_bound"]
            is_visible &= "left_bound" not in fields or j > i + shift - fields["left_bound"]
            line += "#" if is_visible else "."
        picture.append(line)
    return picture


def cells_of(svg):
    """The lines of a picture, with # in the rectangles of its path."""
    columns, rows = map(int, re.search(r"viewBox='0 0 (\d+) (\d+)'", svg).groups())
    cells = [["."] * columns for _ in range(rows)]
    for x, y, width, height, back in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)H(\d+)z", svg):
        assert x == back
        for row in cells[int(y) : int(y) + int(height)]:
            row[int(x) : int(x) + int(width)] = "#" * int(width)
    return ["".join(row) for row in cells]


class Png(NamedTuple):
    width: int
    height: int
    texts: list
    lines: list  # of indices into the palette


def read_png(data):
    """Reads a picture of 8 bits a pixel whose lines have no filter, and checks its sums."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = [], 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size]) == (zlib.crc32(kind + body),)
        chunks.append((kind, body))
        at += 12 + size
    assert [chunks[0][0], chunks[-1]] == [b"IHDR", (b"IEND", b"")]
    width, height, *format = struct.unpack(">IIBBBBB", chunks[0][1])
    assert format == [8, 3, 0, 0, 0]
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    lines = [pixels[y * (width + 1) : (y + 1) * (width + 1)] for y in range(height)]
    assert all(line[0] == 0 for line in lines) and len(pixels) == height * (width + 1)
    return Png(width, height, [body for kind, body in chunks if kind == b"tEXt"], [line[1:] for line in lines])


class Mask(CommandTest):
    def show(self, graph, *arguments):
        return self.expect_json(YES, "mask", "-", *arguments, input=graph)

    def test_masks_by_runs(self):
        for fields in (
            {},
            {"right_bound": 0},
            {"right_bound": 0, "left_bound": 3},
            {"right_bound": 2, "diagonal_alignment": "BOTTOM_RIGHT"},
            {"right_bound": 1, "left_bound": 4, "diagonal_alignment": "BOTTOM_RIGHT"},
        ):
            shown = self.show(attention(queries=9, keys=14, **fields))
            self.assertEqual(shown["source"], "from runs of the graph on the CPU")
            self.assertEqual(shown["visible"], formula(9, 14, fields), fields)

    def test_lengths(self):
        fields = {"right_bound": 0, "diagonal_alignment": "BOTTOM_RIGHT"}
        shown = self.show(padded(attention(queries=8, keys=12, **fields)), "--seq-len-q", 6, "--seq-len-kv", 7)
        self.assertEqual(shown["visible"], formula(8, 12, fields, (6, 7)))

    def test_large_graphs_by_options_agree_with_runs(self):
        fields = {"right_bound": 0, "left_bound": 100, "diagonal_alignment": "BOTTOM_RIGHT"}
        sizes = {"queries": 300, "keys": 400, "heads": 1}
        small = self.show(attention(**sizes, **fields))
        large = self.show(attention(**{**sizes, "heads": 64, "depth": 256}, batches=16, **fields))
        self.assertEqual(large["source"], "from the options of the mask")
        self.assertEqual(small["source"], "from runs of the graph on the CPU")
        self.assertEqual(small["visible"], large["visible"])
        self.assertEqual(small["rows"][:3], [0, 4, 9])

    def test_queries_that_another_node_computes(self):
        graph = attention(queries=8, keys=12, right_bound=0, diagonal_alignment="BOTTOM_RIGHT")
        shown = self.show(computed_queries(graph))
        self.assertEqual(shown["source"], "from the options of the mask")
        self.assertEqual(shown["visible"], self.show(graph)["visible"])
        shown = self.show(computed_queries(padded(graph)), "--seq-len-q", 6, "--seq-len-kv", 7)
        self.assertEqual(shown["visible"], formula(8, 12, graph["nodes"][0]["fields"], (6, 7)))

    def test_result_that_another_node_reads(self):
        graph = attention(queries=9, keys=9, right_bound=0)
        graph["tensors"]["t4"] = {**graph["tensors"]["t3"], "name": "Y", "uid": 5}
        graph["tensors"]["t3"] = {"name": "O", "is_virtual": True, "data_type": "FLOAT"}
        negative = {"tag": "POINTWISE", "name": "negative", "inputs": {"IN_0": "t3"}, "outputs": {"OUT_0": "t4"}, "fields": {"mode": "NEG"}}
        graph["nodes"].append(negative)
        self.assertEqual(self.show(graph)["visible"], formula(9, 9, {"right_bound": 0}))

    def test_backward(self):
        graph = backward_of(attention(queries=9, keys=9, right_bound=0))
        self.assertEqual(self.show(graph)["visible"], formula(9, 9, {"right_bound": 0}))

    def test_block_mask_needs_a_run(self):
        graph = attention(queries=256, keys=256, heads=1)
        graph["tensors"]["t4"] = tensor("block_mask", 5, (1, 1, 2, 1), data_type="UINT8")
        graph["nodes"][0]["inputs"]["block_mask"] = "t4"
        self.assertEqual(self.show(graph, "--rows", 4, "--columns", 4)["visible"], ["####"] * 4)
        large = copy.deepcopy(graph)
        for place, dims in (("t0", 2), ("t1", 2), ("t2", 2), ("t3", 2)):
            large["tensors"][place].update(dim=[1, 1, 65536, 8], stride=[524288, 524288, 8, 1])
        large["tensors"]["t4"].update(dim=[1, 1, 512, 64], stride=[32768, 32768, 64, 1])
        self.assertIn("found block_mask", self.expect(USAGE, "mask", "-", input=large))

    def test_text(self):
        text = self.expect(YES, "mask", "-", "--head", 1, input=attention(queries=3, keys=3, right_bound=0))
        header = """graph   standard input
node    'attention', SDPA_FORWARD
sizes   3 queries down, 3 keys across, batch entry 0 of 1, head 1 of 2
legend  # visible, . hidden; from runs of the graph on the CPU
"""
        self.assertEqual(text, header + "  0 #..\n  1 ##.\n  2 ###\n")
        backward = backward_of(attention(batches=3, queries=40, keys=80, right_bound=0))
        lines = self.expect(YES, "mask", "-", "--rows", 2, "--columns", 4, "--batch", 2, input=backward).splitlines()
        self.assertEqual(lines[1:3], ["node    'attention', SDPA_BACKWARD", "sizes   40 queries (2 of them drawn) down, 80 keys (4 of them drawn) across, batch entry 2 of 3, head 0 of 2"])

    def test_svg(self):
        fields = {"right_bound": 1, "left_bound": 4}
        svg = self.expect(YES, "mask", "-", "--format", "svg", input=attention(queries=9, keys=14, **fields))
        self.assertRegex(svg, r"^<svg [^\n]* width='96' height='61' (.*\n)*</svg>\n$")
        self.assertIn("<title>9 queries down, 14 keys across</title>", svg)
        self.assertEqual(cells_of(svg), formula(9, 14, fields))
        self.assertIn("excludes", self.expect(USAGE, "mask", "-", "--format", "svg", "--json", input=attention()))

    def test_png(self):
        for fields, size in (({"right_bound": 1, "left_bound": 4}, (480, 308)), ({}, (480, 308))):
            done = self.run_command("mask", "-", "--format", "png", input=attention(queries=9, keys=14, **fields))
            picture = read_png(done.stdout)
            self.assertEqual((picture.width, picture.height), size)
            self.assertEqual(picture.texts, [b"Title\x009 queries down, 14 keys across"])
            cells = [[picture.lines[(2 * i + 1) * 308 // 18][(2 * j + 1) * 480 // 28] for j in range(14)] for i in range(9)]
            self.assertEqual(["".join(".#"[cell] for cell in line) for line in cells], formula(9, 14, fields))

    def test_png_with_more_than_one_block(self):
        done = self.run_command("mask", "-", "--format", "png", input=attention(queries=64, keys=64, right_bound=0))
        picture = read_png(done.stdout)
        self.assertEqual((picture.width, picture.height), (480, 480))
        for y, line in enumerate(picture.lines):
            self.assertEqual(list(line), [x * 64 // 480 <= y * 64 // 480 for x in range(480)])

    def test_soft_cap_hides_no_key(self):
        graph = attention(queries=5000, keys=5000, heads=4, depth=64, right_bound=0)
        graph["tensors"]["t4"] = {"name": "score", "is_virtual": True}
        graph["tensors"]["t5"] = tensor("cap", 10, (1, 1, 1, 1))
        graph["tensors"]["t6"] = {"name": "capped", "is_virtual": True}
        node = graph["nodes"][0]
        node["inputs"]["score_mod"], node["outputs"]["score"] = "t6", "t4"
        modifier = {"tag": "POINTWISE", "inputs": {"IN_0": "t4", "IN_1": "t5"}, "outputs": {"OUT_0": "t6"}}
        graph["nodes"].insert(0, {**modifier, "fields": {"mode": "MUL"}})
        shown = self.show(graph, "--rows", 5, "--columns", 5)
        self.assertEqual(shown["visible"], ["#....", "##...", "###..", "####.", "#####"])
        graph["nodes"][0]["fields"]["mode"] = "MIN"
        self.assertIn("found score_mod", self.expect(USAGE, "mask", "-", input=graph))

    def test_svg_of_windows(self):
        graph = attention()
        for place in ("t0", "t1", "t2", "t3"):
            graph["tensors"][place].update(dim=[1, 9, 12, 1, 8], stride=[864, 96, 8, 8, 1])
        for fields in (
            {"kernel_size": [3, 4]},
            {"kernel_size": [2, 3], "dilation": [4, 3]},
            {"kernel_size": [3, 4], "dilation": [2, 1], "is_causal": [True, False]},
        ):
            graph["nodes"][0].update(tag="NEIGHBORHOOD_FORWARD", fields=fields)
            for query in ("0,0", "4,6", "8,11", "1,10", "7,2"):
                text = self.expect(YES, "mask", "-", "--query", query, input=graph)
                lines = re.sub("[◆█]", "#", text.replace("·", ".")).splitlines()[6:]
                svg = self.expect(YES, "mask", "-", "--query", query, "--format", "svg", input=graph)
                self.assertEqual(cells_of(svg), [line.split()[1] for line in lines], (fields, query))
                row, column = query.split(",")
                self.assertIn(f"<rect x='{column}' y='{row}' width='1' height='1' class='query'/>", svg)
        errors = self.expect(USAGE, "mask", "-", "--query", "9,0", "--format", "svg", input=graph)
        self.assertIn("found [9, 0]; expected a place in the space [9, 12]", errors)

    def test_window_of_neighborhood_attention(self):
        graph = attention()
        for place in ("t0", "t1", "t2", "t3"):
            graph["tensors"][place].update(dim=[1, 6, 6, 1, 8], stride=[288, 48, 8, 8, 1])
        graph["nodes"][0].update(tag="NEIGHBORHOOD_FORWARD", fields={"kernel_size": [3, 3]})
        text = self.expect(YES, "mask", "-", "--query", "2,3", input=graph)
        header = "graph   standard input\nnode    'attention', NEIGHBORHOOD_FORWARD\nlegend  ◆ the query, █ visible, · hidden\n"
        self.assertTrue(text.startswith(header + "the query at [2, 3] sees 9 of 36 keys\nkernel_size [3, 3]\n"))
        self.assertEqual((text.count("◆"), text.count("█")), (2, 9))  # with those of the legend
        self.assertIn("--query: found '2;3'", self.expect(USAGE, "mask", "-", "--query", "2;3", input=graph))
        del graph["tensors"]["t0"]["dim"], graph["tensors"]["t0"]["stride"]
        self.assertRegex(self.expect(USAGE, "mask", "-", input=graph), r"\[[a-z_]+\.c\d+\]")

    def test_bad_lengths(self):
        path = self.write("graph.json", attention())
        self.assertIn("--seq-len-q: found a graph without seq_len_q", self.expect(USAGE, "mask", path, "--seq-len-q", 3))
        path = self.write("padded.json", padded(attention()))
        self.assertIn("--seq-len-kv: found 17; expected at most 16", self.expect(USAGE, "mask", path, "--seq-len-kv", 17))
        path = self.write("large.json", attention(queries=16384, keys=16384, heads=64))  # by options, without a run
        self.assertIn("--seq-len-q: found a graph without seq_len_q", self.expect(USAGE, "mask", path, "--seq-len-q", 3))

    def test_bad_places(self):
        self.assertIn("expected less than 1 and 2", self.expect(USAGE, "mask", "-", "--head", 2, input=attention()))
        self.assertIn("no node of neighborhood", self.expect(USAGE, "mask", "-", "--query", "1", input=attention()))
        self.expect(USAGE, "mask", "-", "--rows", 0, input=attention())


main()
