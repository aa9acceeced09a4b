"""sdpa verify, and the files of NumPy that it and sdpa run read and write"""

from support import npy
from support.command import NO, USAGE, YES, CommandTest, attention, backward_of, main, padded, tensor


class Verify(CommandTest):
    def saved(self, graph, *arguments):
        """The folder with the tensors of a run."""
        folder = self.folder / f"tensors{len(list(self.folder.iterdir()))}"
        self.expect(YES, "run", "-", "--save", folder, *arguments, input=graph)
        return folder

    def test_right_results(self):
        for graph in (attention(right_bound=0), padded(attention(batches=3)), attention(data_type="BFLOAT16")):
            folder = self.saved(graph)
            text = self.expect(YES, "verify", "-", "--got", f"O={folder / 'O.npy'}", input=graph)
            self.assertIn("\nright: all errors are within the allowed ones\n", text)

    def test_wrong_results_are_explained(self):
        right = attention(queries=20, keys=28, right_bound=0, diagonal_alignment="BOTTOM_RIGHT")
        folder = self.saved(attention(queries=20, keys=28, right_bound=0))
        verdict = self.expect_json(NO, "verify", "-", "--got", f"O={folder / 'O.npy'}", input=right)
        self.assertEqual([e["id"] for e in verdict["explanations"]], ["mask_corner"])
        verdict = self.expect_json(NO, "verify", "-", "--got", f"O={folder / 'O.npy'}", "--search-seconds", 0, input=right)
        self.assertEqual((verdict["explanations"], verdict["tried"]), ([], 0))
        text = self.expect(NO, "verify", "-", "--got", f"O={folder / 'O.npy'}", input=right)
        self.assertIn("explained by: the mask is aligned at the other corner: diagonal_alignment TOP_LEFT in place of "
                      "BOTTOM_RIGHT (mask_corner)", text)

    def test_gradients_with_results_of_forward(self):
        graph = backward_of(attention(queries=24, keys=24, heads=4, key_heads=2, right_bound=0))
        folder = self.saved(graph)
        wrong = self.saved(backward_of(attention(queries=24, keys=24, heads=4, key_heads=2, right_bound=0, attn_scale=1.0)),
                           *(f"--data={name}={folder / name}.npy" for name in ("O", "Stats")))
        got = [f"--got={name}={wrong / name}.npy" for name in ("dQ", "dK", "dV")]
        verdict = self.expect_json(NO, "verify", "-", *got, input=graph)
        self.assertEqual([e["id"] for e in verdict["explanations"]], ["scale_missing"])
        self.assertEqual(len(verdict["results"]), 3)
        self.expect(YES, "verify", "-", *(option.replace(str(wrong), str(folder)) for option in got), input=graph)

    def test_given_data_is_used(self):
        graph = attention(queries=4, keys=4, heads=1, depth=2)
        data = []
        for name, seed in (("Q", 3), ("K", 5), ("V", 7)):
            numbers = [(i * seed) % 8 / 4 - 1 for i in range(8)]
            data.append(f"--data={name}={npy.write(self.folder / f'{name}.npy', '<f4', (1, 1, 4, 2), numbers)}")
        folder = self.saved(graph, *data)
        self.assertEqual(npy.read(folder / "Q.npy"), ("<f4", (1, 1, 4, 2), [(i * 3) % 8 / 4 - 1 for i in range(8)]))
        got = f"--got=O={folder / 'O.npy'}"
        self.expect(YES, "verify", "-", got, *data, input=graph)
        self.expect(NO, "verify", "-", got, input=graph)

    def test_given_lengths_are_used(self):
        graph = padded(attention(queries=8, keys=8, batches=2))
        data = [f"--data=seq_len_{side}={npy.write(self.folder / f'{side}.npy', '<i4', (2,), lengths)}"
                for side, lengths in (("q", [8, 5]), ("kv", [3, 7]))]
        folder = self.saved(graph, *data)
        self.assertEqual(npy.read(folder / "seq_len_kv.npy"), ("<i4", (2, 1, 1, 1), [3, 7]))
        got = f"--got=O={folder / 'O.npy'}"
        self.expect(YES, "verify", "-", got, *data, input=graph)
        self.assertEqual(self.expect_json(NO, "verify", "-", got, data[0], input=graph)["right"], False)

    def test_given_offsets_are_used(self):
        graph = padded(attention(queries=8, keys=8, batches=2))
        graph["tensors"]["t6"] = tensor("offsets", 30, (3, 1, 1, 1), data_type="INT32")
        for place in ("t0", "t1", "t2", "t3"):
            graph["tensors"][place].update(stride=[128, 8, 16, 1], ragged_offset="t6")
        data = [f"--data={name}={npy.write(self.folder / f'{name}.npy', '<i4', (len(numbers),), numbers)}"
                for name, numbers in (("seq_len_q", [6, 3]), ("seq_len_kv", [6, 3]), ("offsets", [0, 112, 160]))]
        folder = self.saved(graph, *data)
        self.expect(YES, "verify", "-", f"--got=O={folder / 'O.npy'}", *data, input=graph)
        bad = npy.write(self.folder / "bad.npy", "<i4", (3,), [-16, 112, 160])
        self.assertIn("found a ragged offset below 0", self.expect(USAGE, "run", "-", *data[:2], f"--data=offsets={bad}", input=graph))

    def test_types(self):
        numbers = [0.5, -1.0, 2.0, 0.25] * 4
        for kind, data_type in (("<f2", "HALF"), ("<f8", "FLOAT"), ("<f4", "BFLOAT16"), ("<f2", "FLOAT")):
            path = npy.write(self.folder / "q.npy", kind, (2, 4, 2), numbers)
            folder = self.saved(attention(queries=4, keys=4, heads=2, depth=2, data_type=data_type), f"--data=Q={path}")
            written = npy.read(folder / "Q.npy")
            self.assertEqual(written[0], "<f2" if data_type == "HALF" else "<f4")
            self.assertEqual(written[2], numbers)
        path = npy.write(self.folder / "q.npy", "|V2", (1, 2, 4, 2), [0x3F80, 0xBF80] * 8)
        folder = self.saved(attention(queries=4, keys=4, heads=2, depth=2, data_type="BFLOAT16"), f"--data=Q={path}")
        self.assertEqual(npy.read(folder / "Q.npy")[2], [1.0, -1.0] * 8)


class BadFiles(CommandTest):
    def refused(self, data=None, *arguments):
        path = self.folder / "q.npy"
        if data is not None:
            path.write_bytes(data)
        graph = attention(queries=4, keys=4, heads=1, depth=2)
        return self.expect(USAGE, "run", "-", *(arguments or (f"--data=Q={path}",)), input=graph)

    def test_files(self):
        good = npy.header("<f4", (1, 1, 4, 2)) + bytes(32)
        self.assertIn("q.npy: found no file that can be read (No such file", self.refused())
        self.assertIn("found a folder; expected a file that numpy.save() wrote (.npy)",
                      self.refused(None, f"--data=Q={self.folder}"))
        for data, message in (
            (good[:-1], "found 31 bytes of data; expected 32 for shape [1, 1, 4, 2] of <f4. Try: write the file again"),
            (good + b"1", "found 33 bytes of data; expected 32"),
            (good[:40], "found 40 bytes, which end within the header; expected 128 or more"),
            (b"", "found nothing in it; expected a file that numpy.save() wrote (.npy)"),
            (b"1", "found no array of NumPy; expected a file that numpy.save() wrote (.npy)"),
            (b"PK" + bytes(60), "found an archive of arrays (.npz); expected one array (.npy)"),
            (npy.header("<f4", (1, 1, 4, 2), True) + bytes(32), "found Fortran order; expected C order"),
            (npy.header(">f4", (1, 1, 4, 2)) + bytes(32), "Try: array.astype('<f4')"),
            (npy.header("<i4", (1, 1, 4, 2)) + bytes(32), "found elements of type <i4; expected <f4, <f2 or <f8 for Q of type FLOAT"),
            (npy.header("|S4", (1, 1, 4, 2)) + bytes(32), "found elements of type |S4; expected <f4"),
            (npy.header("<f4", (1, 1, 2, 4)) + bytes(32), "found an array of shape [1, 1, 2, 4]; expected [1, 1, 4, 2], the dims of Q"),
            (npy.header("<f4", (2**62, 8)), "expected fewer than 2^63 for shape"),
            (npy.header("<f4", (-1, 8)), "expected a tuple such as (2, 8, 512, 128)"),
            (npy.header([("a", "<f4")], (8,)) + bytes(32), "found elements with fields"),
            (good[:10] + b"{}" + good[12:], "found a header without descr"),
        ):
            self.assertIn(message, self.refused(data))

    def test_arguments(self):
        self.assertIn("--data: found 'Q'; expected NAME=file.npy", self.refused(None, "--data", "Q"))
        self.assertIn("--data: found no tensor 'X'; expected one of Q, K, V, O", self.refused(None, "--data", "X=x.npy"))
        graph, path = attention(), self.folder / "o.npy"
        npy.write(path, "<f4", (1, 2, 16, 8), [0.0] * 256)
        self.assertIn("--got: found no results; expected --got NAME=file.npy for one or more of O",
                      self.expect(USAGE, "verify", "-", input=graph))
        self.assertIn("--got: found 'Q', which is an input; expected one of O. Try: --data for inputs",
                      self.expect(USAGE, "verify", "-", "--got", f"Q={path}", input=graph))
        self.assertIn("--got: found two files for 'O'",
                      self.expect(USAGE, "verify", "-", f"--got=O={path}", f"--got=O={path}", input=graph))
        (self.folder / "file").write_text("")
        self.assertIn("--save: ", self.expect(USAGE, "run", "-", "--save", self.folder / "file", input=graph))


main()
