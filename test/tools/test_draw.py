"""sdpa draw"""

import itertools
import json
import re
from xml.etree import ElementTree

from support.command import GRAPHS, NO, USAGE, YES, CommandTest, attention, main


class Draw(CommandTest):
    def test_graph_as_text(self):
        text = self.expect(YES, "draw", "-", input=attention(right_bound=0))
        self.assertIn("node SDPA_FORWARD 'attention' (Q: %0 Q, K: %1 K, V: %2 V) -> (O: %3 O) attn_scale=0.25 right_bound=0", text)

    def test_graph_as_dot(self):
        graph = attention()
        graph["tensors"]["t0"]["name"] = 'the "Q"'
        text = self.expect(YES, "draw", "-", "--format", "dot", input=graph)
        self.assertTrue(text.startswith("digraph ") and text.endswith("}\n"))
        self.assertIn('t0 [label="the \\"Q\\" [1, 2, 16, 8]"];', text)
        self.assertIn('t0 -> n0 [label="Q"];', text)
        self.assertIn('n0 -> t3 [label="O"];', text)

    def test_operations(self):
        text = self.expect(YES, "draw", "-", "--what", "operations", input=attention())
        self.assertRegex(text, r"(?m)^%\d+ .*scores = MATMUL\(")
        self.assertTrue(self.expect(YES, "draw", "-", "--what", "operations", "--format", "dot", input=attention()).startswith("digraph"))

    def test_plan(self):
        for target in ("cpu", "reference"):
            text = self.expect(YES, "draw", "-", "--what", "plan", "--target", target, input=attention())
            self.assertRegex(text, rf"plan {target}\n(.*\n)*candidates:\n  {target} runs\n")
        text = self.expect_json(YES, "draw", "-", "--what", "plan", "--format", "svg", input=attention())["picture"]
        self.assertRegex(text, r"^<svg (.*\n)*</svg>\n$")

    def test_plan_for_a_gpu(self):
        self.need_cudnn()
        graph = attention(queries=128, keys=128, depth=64, data_type="HALF")
        self.assertRegex(self.expect(YES, "draw", "-", "--what", "plan", "--for", "h100", input=graph), r"^plan eng\d")
        odd = attention(queries=128, keys=128, depth=12, data_type="HALF")
        self.assertIn("[cudnn.s04]", self.expect(NO, "draw", "-", "--what", "plan", "--for", "h100", input=odd))

    def picture(self, graph, *arguments):
        """The boxes of an SVG as {label: (left, top, right, bottom)}, and its arrows as ((x, y), (x, y))."""
        root = ElementTree.fromstring(self.expect(YES, "draw", "-", "--format", "svg", *arguments, input=graph))
        name, size = "{http://www.w3.org/2000/svg}", [int(root.get(side)) for side in ("width", "height")]
        labels = [(text.text, int(text.get("x")), int(text.get("y"))) for text in root.iter(f"{name}text") if text.get("class") == "label"]
        boxes = {}
        for rect in root.iter(f"{name}rect"):
            left, top, width, height = (int(rect.get(member)) for member in ("x", "y", "width", "height"))
            inside = [label for label, x, y in labels if left < x < left + width and top < y < top + height]
            boxes[" ".join(inside)] = (left, top, left + width, top + height)
        for left, top, right, bottom in boxes.values():
            self.assertTrue(0 <= left < right <= size[0] and 0 <= top < bottom <= size[1])
        for one, other in itertools.combinations(boxes.values(), 2):
            self.assertTrue(one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1], boxes)
        curves = [[int(number) for number in re.findall(r"\d+", path.get("d"))] for path in root.findall(f"{name}path")]
        return boxes, [((curve[0], curve[1]), (curve[-2], curve[-1])) for curve in curves]

    def test_svg_of_a_graph(self):
        graph = attention()
        graph["tensors"]["t0"]["name"] = 'the "Q" & <Q>'
        boxes, arrows = self.picture(graph)
        self.assertEqual(set(boxes), {'the "Q" & <Q> [1, 2, 16, 8]', "K [1, 2, 16, 8]", "V [1, 2, 16, 8]", "O [1, 2, 16, 8]", "SDPA_FORWARD attention"})
        left, top, right, bottom = boxes["SDPA_FORWARD attention"]
        above = sorted((begin, end) for begin, end in arrows if end[1] == top)
        self.assertEqual(len(above), 3)
        self.assertTrue(left < above[0][1][0] < above[1][1][0] < above[2][1][0] < right)  # next to each other, without a crossing
        self.assertGreater(boxes["O [1, 2, 16, 8]"][1], bottom)

    def test_svg_of_a_circle(self):
        """A score modifier reads what its attention computes, and the attention reads its result."""
        graph = json.loads((GRAPHS / "gemma2-9b-softcap.json").read_text())
        boxes, arrows = self.picture(graph)
        (node,) = graph["nodes"]
        self.assertEqual(len(boxes), len(graph["tensors"]) + 1 + len(node["modifier"]))
        self.assertEqual(sum(begin[1] > end[1] for begin, end in arrows), 1)

    def test_svg_of_operations(self):
        boxes, arrows = self.picture(attention(), "--what", "operations")
        text = self.expect(YES, "draw", "-", "--what", "operations", "--format", "dot", input=attention())
        self.assertEqual((len(boxes), len(arrows)), (text.count("shape="), text.count("->")))
        for begin, end in arrows:
            self.assertLess(begin[1], end[1])  # all lead down

    def test_invalid_graph(self):
        self.assertIn("[sdpa_fwd.c04]", self.expect(USAGE, "draw", "-", input=attention(heads=8, key_heads=3)))


main()
