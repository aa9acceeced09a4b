"""Bad input for every subcommand: the message, the exit code, the memory and the time, and that nothing is left."""

import json
import os
import pty
import re
import signal
import subprocess
import time

from support.command import COMMAND, USAGE, CommandTest, attention, main

GIBIBYTE = 1 << 30
MOST_BYTES = GIBIBYTE // 2  # of memory, for files of a gibibyte and more
MOST_SECONDS = 5  # of the processor
INTERRUPTED = 130

# Each place where a graph is read. {} is the file, and "out" must not be there afterwards.
READERS = (
    "show {}",
    "explain {} --target cpu",
    "plan good.json {} --for h100 --store out",
    "plan {} --for h100 --out out",
    "draw {}",
    "mask {}",
    "run {} --save out",
    "run good.json --against {}",
    "verify {} --got O=o.npy",
    "bench good.json {} --repeat 1",
    "tune good.json {} --target cpu --repeat 1 --out out",
    "matrix good.json {} --for h100 --json",
    "capsule {} --target cpu --out out",
    "store folder missing {} --for h100",
)
STORES = ("store {} list", "store {} missing good.json --for h100", "store folder merge {}", "store {} prune --most 1GB", "store {} freeze")
# Commands that work, for readers that go away.
WORKING = (
    "--help",
    "doctor --quick --json",
    "new",
    "convert theirs.json",
    "show good.json",
    "explain good.json --target cpu",
    "plan good.json --for cpu --out good.plan",
    "draw good.json",
    "mask good.json",
    "run good.json",
    "verify good.json --got O=tensors/O.npy",
    "bench good.json --repeat 1",
    "tune good.json --target cpu --repeat 1",
    "matrix --answers answers.json",
    "capsule good.json --target cpu",
    "store folder list",
    "completion bash",
    "man",
)


class BadInput(CommandTest):
    def setUp(self):
        super().setUp()
        self.text = json.dumps(attention())
        self.write("good.json", self.text)
        rows = {"dim": [1, 1, 4, 8], "stride": [32, 32, 8, 1]}
        node = {"tag": "SDPA", "inputs": {port: "X" for port in "QKV"}, "outputs": {"O": "O"}}
        self.write("theirs.json", {"context": {}, "nodes": [node], "tensors": {"X": rows, "O": rows}})
        (self.folder / "folder").mkdir()

    def write_huge(self, name, start):
        """A file of a gibibyte, which takes no room."""
        path = self.folder / name
        with open(path, "wb") as file:
            file.write(start)
            file.truncate(GIBIBYTE)
        return name

    def write_bytes(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def files_of_no_kind(self):
        """Files that no command can read, and what it says of them."""
        return {
            "missing.json": r"found no file that can be read \(No such file or directory\); expected ",
            "/proc/self/mem": r"found no file that can be read \(Input/output error\); expected ",
            "folder": "found (a folder|no file with the ending .json in this folder); expected ",
            self.write_bytes("empty.json", b""): "found nothing in it; expected ",
        }

    def run_limited(self, words):
        """The exit code, the output and the errors of a process that stays within its memory and time."""
        with open(self.folder / "stdout", "w+b") as output, open(self.folder / "stderr", "w+b") as errors:
            process = subprocess.Popen(
                [COMMAND, *words],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            errors.seek(0)
            texts = output.read(), errors.read().decode()
        self.assertLess(used.ru_maxrss * 1024, MOST_BYTES, words)
        self.assertLess(used.ru_utime + used.ru_stime, MOST_SECONDS, words)
        return process.returncode, *texts

    def expect_refusal(self, command, file, message):
        words = [word.replace("{}", str(file)) for word in command.split()]
        status, output, errors = self.run_limited(words)
        self.assertEqual((status, output), (USAGE, b""), f"{words}: {errors}")
        self.assertRegex(errors, r"^sdpa: [^\0]+\n$", words)
        self.assertRegex(errors, message, words)
        self.assertIn("standard input" if file == "-" else str(file), errors)
        self.assertLess(len(errors), 2000, words)
        self.assertFalse((self.folder / "out").exists(), f"{words} left something")

    def test_files_without_text(self):
        for file, message in self.files_of_no_kind().items():
            for command in READERS:
                self.expect_refusal(command, file, message + r".*docs/json\.md")

    def test_empty_standard_input(self):
        for command in READERS:
            self.expect_refusal(command, "-", "standard input: found nothing in it; expected a graph")

    def test_files_without_end(self):
        message = r"found more than 64\.0 MiB; expected a graph as JSON, docs/json\.md\. Try: sdpa new"
        for file in (self.write_huge("zeros.json", b""), self.write_huge("long.json", self.text.encode())):
            for command in READERS:
                self.expect_refusal(command, file, message)
        self.expect_refusal("show {}", "/dev/zero", message)

    def test_text_that_is_no_graph(self):
        garbage = bytes(i * 7919 % 256 for i in range(1, 4096))
        files = {
            self.write_bytes("garbage.json", garbage): r"line \d+, column \d+: found .*; expected JSON text|nor a stored plan: ",
            self.write_bytes("cut.json", self.text[:-40].encode()): r"line 1, column \d+ .*: found unexpected end of input.*; expected JSON text",
            self.write_bytes("lists.json", b"[" * 1_000_000): "found nesting deeper than 64 levels; expected at most 64|nor a stored plan: ",
            self.write_bytes("objects.json", b'{"a":' * 300_000): "found nesting deeper than 64 levels; expected at most 64",
            self.write_bytes("many.json", b'{"a":[' + b"1," * 2_000_000 + b"1]}"): "found more than 1000000 members",
            self.write_bytes("other.json", b'{"format": "onnx"}'): '/format: found "onnx"; expected "sdpa-graph"',
        }
        for file, message in files.items():
            for command in READERS:
                self.expect_refusal(command, file, message)

    def test_other_kinds_of_files(self):
        kinds = {
            "run good.json --data Q={}": ("a file that numpy.save", "found no array of NumPy; expected "),
            "verify good.json --got O={}": ("a file that numpy.save", "found no array of NumPy; expected "),
            "explain good.json --target {}": ("a description of a GPU", r"the device description: found .*; expected .* Try: a description of a GPU, docs/offline\.md"),
            "convert {} --out out": ("a graph that cudnn-frontend printed", "found no graph; expected a graph that cudnn-frontend printed"),
            "matrix --answers {}": ("the output of sdpa matrix --json", "found other text; expected the output of sdpa matrix --json"),
        }
        nested = self.write_bytes("nested.json", b'{"a":' * 100_000 + b"1" + b"}" * 100_000)
        texts = (nested, self.write_bytes("deep.json", b"[" * 1_000_000), self.write_bytes("list.json", b"[1]"), self.write_huge("zeros", b""), "/dev/zero")
        for command, (kind, message) in kinds.items():
            for file, found in self.files_of_no_kind().items():
                self.expect_refusal(command, self.folder / file, found + ".*" + kind)
            for file in texts:
                self.expect_refusal(command, self.folder / file, message + "|found more than 64.0 MiB; expected " + kind)

    def test_libraries(self):
        files = ("missing.so", "folder", "/dev/zero", self.write_bytes("garbage.so", b"\x7fELF" + bytes(4096)), self.write_huge("huge.so", b"\x7fELF"))
        for file in files:
            self.expect_refusal("explain good.json --cudnn {}", file, "--cudnn: found no usable cuDNN in .*; expected a libcudnn.so.9.* Try: ")
            self.expect_refusal("plan good.json --for h100 --out out --cudnn {}", file, "--cudnn: found no usable cuDNN in ")
            self.expect_refusal("matrix good.json --for h100 --cudnn {}", file, "--cudnn.*( Try: |does not exist)")

    def test_stores(self):
        for command in STORES:
            self.expect_refusal(command, "nowhere", "found no such folder; expected that of a plan store")
            self.expect_refusal(command, "good.json", "found a file; expected the folder of a plan store")

    def test_arguments(self):
        self.expect_refusal("{} good.json", "explian", "found the subcommand 'explian'; expected one of doctor, new, convert, show, .*man. Try: sdpa --help")
        for command in WORKING[1:]:
            self.expect_refusal(command + " {}", "--no-such-option", f"Try: sdpa {command.split()[0]} --help")
        self.expect_refusal("new --tokens {}", "many", "--queries: found 'many'; expected a number of 1 or more")
        self.expect_refusal("mask good.json --head {}", "-1", "--head: found '-1'; expected a number of 0 or more")

    def expect_missing(self, command, message):
        status, output, errors = self.run_limited(command.split())
        self.assertEqual((status, output), (USAGE, b""), command)
        self.assertRegex(errors, rf"^sdpa: {message}\.\n$", command)

    def test_no_graph(self):
        """Each command that reads graphs says where they come from."""
        sources = r"sdpa new > graph\.json, which makes a graph, or one of graphs/ in the sources, docs/json\.md"
        standard_input = r"(, [a-z ]+)?, or - for standard input"
        for command in ("show", "explain", "draw", "mask", "run", "verify", "capsule"):
            self.expect_missing(command, rf"{command}: found no file; expected a graph as JSON{standard_input}\. Try: {sources}; sdpa {command} --help")
        for command, name in (("bench", "bench"), ("tune", "tune"), ("plan --for h100", "plan"), ("store folder missing --for h100", "store missing")):
            self.expect_missing(command, rf"{name}: found no files; expected graphs as JSON{standard_input}\. Try: {sources}; sdpa {command.split()[0]} --help")
        self.expect_missing("matrix", rf"matrix: found no files; expected graphs as JSON, folders of them, or answers\. Try: {sources}")

    def test_no_argument_of_another_kind(self):
        self.expect_missing("convert", r"convert: found no file; expected a log of cudnn-frontend, .*, or - for standard input\. Try: sdpa convert --help")
        self.expect_missing("plan good.json", r"plan: found no --for; expected a GPU that need not be here, .*\. Try: sdpa plan --help")
        self.expect_missing("store folder prune", r"store prune: found no --most; expected the size to keep, .*\. Try: sdpa store --help")

    def test_closed_pipe(self):
        matrix = {"cudnn": "9.14.0", "devices": ["h100"], "rows": [{"graph": "g", "answers": {"h100": {"rule": ""}}}]}
        self.write("answers.json", {"matrices": [matrix]})
        self.assertEqual(self.run_limited(["run", "good.json", "--save", "tensors"])[0], 0)
        for command in WORKING:
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([COMMAND, *command.split()], cwd=self.folder, stdout=writer, stderr=subprocess.PIPE)
            os.close(writer)
            self.assertIn((done.returncode, done.stderr), ((0, b""), (1, b"")), command)

    def test_full_disk(self):
        for command in ("plan good.json --for cpu --out {}", "capsule good.json --target cpu --out {}"):
            self.expect_refusal(command, "/dev/full", "it cannot be written: No space left on device")

    def test_interrupt_leaves_nothing(self):
        self.write("large.json", attention(queries=2048, keys=2048, heads=16, depth=128))
        for command in ("bench large.json", "tune large.json --target cpu --out out"):
            terminal, theirs = pty.openpty()
            words = [*command.split(), "--repeat", "1000000", "--seconds", "600"]
            process = subprocess.Popen([COMMAND, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=theirs)
            os.close(theirs)
            shown = b""
            while not re.search(rb"\brun \d", shown):
                shown += os.read(terminal, 4096)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), INTERRUPTED)
            self.assertLess(time.monotonic() - begin, MOST_SECONDS)
            while not shown.endswith(b"\r\x1b[K"):
                shown += os.read(terminal, 4096)
            os.close(terminal)
            self.assertEqual(process.stdout.read(), b"")
            process.stdout.close()
            self.assertFalse((self.folder / "out").exists())


main()
