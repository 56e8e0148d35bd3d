# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tools as a user does: ToolsTest.py BIN SAMPLE_MODULE."""

import fcntl
import json
import os
import pty
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

BIN, SAMPLE = sys.argv[1:3]
GIVEN = ["--input=x=random:1", "--input=y=random:2"]


def run(tool, *arguments, **environment):
    done = subprocess.run([os.path.join(BIN, tool), *arguments],
                          env={**os.environ, **environment},
                          capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def tensor_proto(values, raw):
    data = struct.pack(f"<{len(values)}f", *values)
    # dims, data_type FLOAT, then raw_data (9) or packed float_data (4).
    return (b"\x08" + varint(len(values)) + b"\x10\x01" +
            (b"\x4a" if raw else b"\x22") + varint(len(data)) + data)


class Tools(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, contents):
        with open(self.path(name), "wb") as file:
            file.write(contents)
        return self.path(name)

    def test_output_equals_itself(self):
        code, out, err = run("ashlar-run", SAMPLE, *GIVEN, "--print",
                             f"--output-dir={self.folder.name}")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("z f32 256\n["))
        self.assertEqual(os.listdir(self.folder.name), ["z.npy"])
        code, out, _ = run("ashlar-run", SAMPLE, *GIVEN, "--rtol=0",
                           "--atol=0", f"--expect=z={self.path('z.npy')}")
        self.assertEqual(code, 0)
        self.assertIn("equal within tolerance", out)

    def test_difference_names_the_worst_element(self):
        y = self.path("z.npy")
        run("ashlar-run", SAMPLE, *GIVEN, f"--output=z={y}")
        with open(y, "r+b") as file:
            file.seek(-4, os.SEEK_END)
            file.write(struct.pack("<f", 7))
        code, out, err = run("ashlar-run", SAMPLE, *GIVEN, f"--expect=z={y}")
        self.assertEqual((code, err), (1, ""))
        self.assertIn("worst at [255]", out)
        self.assertIn("expected 7", out)

    def test_streams_are_printed_and_timed(self):
        module = self.path("systolic.ash")
        subprocess.run([os.path.join(BIN, "AshlarWriteSample"), "systolic",
                        module], check=True)
        code, out, err = run("ashlar-inspect", module,
                             "--disassemble=product.0")
        self.assertEqual((code, err), (0, ""))
        for line in ("mvin binding 0 + 0, accumulator 0, 8 x 8",
                     "sync vector after load",
                     "preload scratchpad 8, 8 x 8; c accumulator 32, 8 x 8",
                     "mvout binding 2 + 0, accumulator 32 at full width, 8"):
            self.assertIn(line, out)
        code, out, err = run("ashlar-inspect", module, "--utilisation")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"bound +dataflow +region\n")
        self.assertRegex(out, r"the product\n\d+ cycles on small, ")
        code, out, err = run("ashlar-inspect", module, "--utilisation",
                             "--json")
        self.assertEqual((code, err), (0, ""))
        for region in json.loads(out)[0]["streams"][0]["regions"]:
            # Its writer says none.
            self.assertEqual(region["dataflow"], "")
        code, _, err = run("ashlar-inspect", SAMPLE, "--utilisation")
        self.assertEqual(code, 1)
        self.assertIn("no program is for a systolic machine", err)
        z = self.path("z.npy")
        code, _, err = run("ashlar-run", module, "--device=systolic:0",
                           "--input=x=random:1", f"--output=z={z}",
                           f"--trace={self.path('trace.json')}")
        self.assertEqual((code, err), (0, ""))
        with open(self.path("trace.json")) as file:
            events = json.load(file)["traceEvents"]
        self.assertIn("execute 0", [event["args"].get("name")
                                    for event in events])

    def test_reads_tensor_protos(self):
        for raw in (True, False):
            x = self.write("x.pb", tensor_proto([1.0] * 256, raw))
            y = self.write("y.pb", tensor_proto([0.5] * 256, raw))
            want = self.write("z.pb", tensor_proto(
                [2 * (1 + i / 2) + 0.5 for i in range(256)], raw))
            code, out, err = run("ashlar-run", SAMPLE, f"--input=x={x}",
                                 f"--input=y={y}", f"--expect=z={want}")
            self.assertEqual(code, 0, out + err)

    def test_broken_tensor_files_are_refused(self):
        run("ashlar-run", SAMPLE, *GIVEN, f"--output=z={self.path('z.npy')}")
        with open(self.path("z.npy"), "rb") as file:
            npy = file.read()
        proto = tensor_proto([1.0] * 256, True)
        for name, contents in (("x.npy", npy), ("x.pb", proto)):
            step = 13 if name == "x.pb" else 29
            for size in range(0, len(contents), step):
                x = self.write(name, contents[:size])
                code, _, err = run("ashlar-run", SAMPLE, f"--input=x={x}",
                                   "--input=y=random")
                self.assertEqual(code, 1, err)

    def test_usage(self):
        for tool in ("ashlar-run", "ashlar-bench", "ashlar-inspect"):
            self.assertEqual(run(tool)[0], 2)
            self.assertEqual(run(tool, SAMPLE, "--nonsense")[0], 2)
            code, out, err = run(tool, "--help")
            self.assertEqual((code, err), (0, ""))
            self.assertTrue(out.startswith("Example:"))
            self.assertEqual(run(tool, "--version")[1].strip(),
                             f"{tool} 0.1.0")
            code, out, err = run(tool, self.path("absent.ash"))
            self.assertEqual((code, out), (1, ""))
            self.assertIn("absent.ash", err)
        self.assertEqual(run("ashlar-run", SAMPLE, "--memory-limit=x")[0], 2)
        self.assertEqual(run("ashlar-run", SAMPLE, "--stats=xml", *GIVEN)[0], 2)

    def test_refusals(self):
        for arguments, text in (
                ([], "--input=x=FILE.npy   (f32 256)"),
                (GIVEN + ["--input=q=random"], "no input named 'q'"),
                (GIVEN + ["--output=q=q.npy"], "no output named 'q'"),
                (GIVEN + ["--memory-limit=1KiB"], "lacks"),
                (GIVEN + ["--device=cuda:0"],
                 "no device cuda:0; there are cpu:0, systolic:0; it takes "
                 "NVIDIA's driver"),
                (GIVEN + ["--shape=q=3"], "no input named 'q'"),
                (GIVEN + ["--entry=other"], "no entry other"),
                (GIVEN + ["--output=z=/nonexistent/z.npy"], "cannot write"),
                (["--input=x=random", "--input=y=random", "--shape=x=255"],
                 "expected the shape 256, found 255")):
            code, out, err = run("ashlar-run", SAMPLE, *arguments)
            self.assertEqual((code, out), (1, ""), err)
            self.assertIn(text, err)

    def test_wrong_usage(self):
        """What no module and no file could make right."""
        for arguments, text in (
                (["--input=x=random", "--input=x=random:1"],
                 "--input gives 'x' twice"),
                (["--output=z=a.npy", "--output=z=b.npy"],
                 "--output gives 'z' twice"),
                (["--expect=z=a.npy", "--expect=z=b.npy"],
                 "--expect gives 'z' twice"),
                (["--shape=x=1", "--shape=x=2"], "--shape gives 'x' twice"),
                (["--input=x=random:"], "expected random:SEED"),
                (["--input=x=random:-1"], "expected random:SEED"),
                (["--input=x=random: 1"], "expected random:SEED"),
                (["--input=x=random:99999999999999999999"],
                 "expected random:SEED"),
                (["--output=z=-"], "--print"),
                (["--rtol=-1"], "--rtol"), (["--rtol=nan"], "--rtol"),
                (["--atol=inf"], "--atol"), (["--atol=x"], "--atol"),
                (["--placement=hard"], "--placement"),
                (["--device=,"], "expected DEVICE[,DEVICE...]"),
                (["--threads=1", "--threads=2"],
                 "ashlar-run: error: --threads is given 2 times; expected it "
                 "once at most"),
                (["--threads=0"], "--threads")):
            code, out, err = run("ashlar-run", SAMPLE, *arguments)
            self.assertEqual((code, out), (2, ""), (arguments, err))
            self.assertIn(text, err)
        for number in ("-1", "nan", "inf", "soon"):
            self.assertEqual(run("ashlar-bench", SAMPLE,
                                 f"--min-time={number}")[0], 2)

    def test_only_regular_files_are_inputs(self):
        fifo = self.path("x.npy")
        os.mkfifo(fifo)
        os.symlink("/dev/zero", self.path("zero.npy"))
        for name, found in (("x.npy", "a FIFO"), ("zero.npy", "a device")):
            code, out, err = run("ashlar-run", SAMPLE, "--input=y=random",
                                 f"--input=x={self.path(name)}")
            self.assertEqual((code, out), (1, ""), err)
            self.assertIn(f"{name}: cannot read: expected a regular file, "
                          f"found {found}", err)

    def test_a_shape_costs_no_memory_before_its_bytes_are_there(self):
        header = (b"{'descr': '<f4', 'fortran_order': False, "
                  b"'shape': (68719476736,), }").ljust(117) + b"\n"
        npy = self.write("large.npy", b"\x93NUMPY\x01\x00" +
                         struct.pack("<H", len(header)) + header)
        proto = self.write("large.pb",
                           b"\x08" + varint(1 << 36) + b"\x10\x01")
        for path in npy, proto:
            code, _, err = run("ashlar-run", SAMPLE, f"--input=x={path}",
                               "--input=y=random")
            self.assertEqual(code, 1)
            self.assertIn("needs 274877906944 bytes", err)

    def test_help_lists_the_devices(self):
        for tool in ("ashlar-run", "ashlar-bench"):
            out = run(tool, "--help")[1]
            self.assertIn("Devices: cpu:0, systolic:0\n", out)
            self.assertNotIn("cuda", out)

    def test_bench_counts_inputs(self):
        out = json.loads(run("ashlar-run", SAMPLE, *GIVEN, "--stats=json",
                             "--threads=1")[1])
        held = out["current_bytes"]
        # Two inputs of 1 KiB each.
        code, _, err = run("ashlar-bench", SAMPLE, "--min-time=0",
                           f"--memory-limit={held + 2048}B", "--threads=1")
        self.assertEqual(code, 0, err)
        code, out, err = run("ashlar-bench", SAMPLE, "--min-time=0",
                             f"--memory-limit={held + 2047}B", "--threads=1")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("input 'y' does not fit: inputs take 2.00 KiB", err)

    def test_makes_the_folder_of_outputs(self):
        folder = self.path("new/folder")
        code, _, err = run("ashlar-run", SAMPLE, *GIVEN,
                           f"--output-dir={folder}")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(os.listdir(folder), ["z.npy"])
        self.write("file", b"")
        code, _, err = run("ashlar-run", SAMPLE, *GIVEN,
                           f"--output-dir={self.path('file/below')}")
        self.assertEqual(code, 1)
        self.assertIn("cannot make the folder", err)

    def test_outputs_take_no_other_files_place(self):
        module = self.path("copy.ash")
        shutil.copy(SAMPLE, module)
        os.symlink("copy.ash", self.path("link.ash"))
        with open(module, "rb") as file:
            before = file.read()
        for flag, text in (
                (f"--output=z={module}", "is the module itself"),
                (f"--output=z={self.path('link.ash')}", "the module itself"),
                (f"--output=z={self.folder.name}/./copy.ash", "itself"),
                (f"--trace={module}", "is the module itself")):
            code, out, err = run("ashlar-run", module, *GIVEN, flag)
            self.assertEqual((code, out), (1, ""), err)
            self.assertIn(text, err)
            with open(module, "rb") as file:
                self.assertEqual(file.read(), before)
        code, _, err = run("ashlar-run", module, *GIVEN,
                           f"--output-dir={self.folder.name}",
                           f"--output=z={self.path('z.npy')}")
        self.assertEqual(code, 1)
        self.assertIn("two outputs would be written to", err)

    def test_outputs_go_where_links_and_pipes_lead(self):
        self.write("real.npy", b"old")
        os.symlink("real.npy", self.path("link.npy"))
        code, _, err = run("ashlar-run", SAMPLE, *GIVEN,
                           f"--output=z={self.path('link.npy')}")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(os.path.islink(self.path("link.npy")))
        with open(self.path("real.npy"), "rb") as file:
            self.assertTrue(file.read().startswith(b"\x93NUMPY"))
        # A device stays a device.
        for device, expected in (("/dev/null", 0), ("/dev/full", 1)):
            code, _, err = run("ashlar-run", SAMPLE, *GIVEN,
                               f"--output=z={device}")
            self.assertEqual(code, expected, err)
            self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode))
        self.assertIn("No space left", err)
        with open("/dev/full", "w") as full:
            self.assertEqual(
                subprocess.run([os.path.join(BIN, "ashlar-run"), "--help"],
                               stdout=full, stderr=subprocess.PIPE).returncode,
                1)
        self.assertEqual(sorted(os.listdir(self.folder.name)),
                         ["link.npy", "real.npy"])

    def test_json(self):
        out = json.loads(run("ashlar-inspect", SAMPLE, "--json")[1])
        self.assertEqual(out["entries"][0]["inputs"][0],
                         {"name": "x", "type": "f32", "shape": [256]})
        for key in ("weights_bytes", "code_bytes", "arena_bytes", "peak_bytes",
                    "arena_lower_bound_bytes", "outputs_bytes",
                    "staging_bytes", "devices"):
            self.assertIn(key, out["contract"])
        self.assertEqual(out["programs"][0]["kernels"][0]["nodes"],
                         ["node_of_add_f32"])
        self.assertIn("model_sha256", out["provenance"])
        bench = json.loads(run("ashlar-bench", SAMPLE, "--json",
                               "--min-time=0.01", "--threads=1")[1])
        self.assertEqual(set(bench), {
            "median_ms", "min_ms", "p99_ms", "runs", "load_us", "peak_bytes",
            "device", "threads"})
        stats = json.loads(run("ashlar-run", SAMPLE, *GIVEN,
                               "--stats=json")[1])
        self.assertEqual(stats["runs"], 1)

    def test_bench_measures_kernels(self):
        for threads in 1, 2:
            code, out, err = run("ashlar-bench", SAMPLE, "--json",
                                 "--min-time=0.01", f"--threads={threads}",
                                 "--kernels")
            self.assertEqual((code, err), (0, ""))
            out = json.loads(out)
            self.assertEqual(out["threads"], threads)
            self.assertEqual(
                {kernel["name"]: (kernel["launches"], kernel["nodes"])
                 for kernel in out["kernels"]},
                {"add_f32.0": (2, ["node_of_add_f32"]),
                 "double_f32.1": (1, ["node_of_double_f32"])})
            times = [kernel["median_us"] for kernel in out["kernels"]]
            self.assertEqual(times, sorted(times, reverse=True))
            self.assertGreater(times[-1], 0)
            self.assertLessEqual(times[0], out["traced_run_us"])
            # The sample has no machine that could predict.
            self.assertIsNone(out["kernels"][0]["predicted_us"])
        text = run("ashlar-bench", SAMPLE, "--min-time=0.01", "--kernels",
                   "--threads=1")[1]
        self.assertRegex(text, r"runs with 1 thread;\npredicted for one, at "
                               r"the largest sizes\n  kernel +us +share")
        self.assertRegex(text, r"\n  add_f32\.0 .*node_of_add_f32\n")
        self.assertRegex(text, r"\n  between them +[0-9.]+ +[0-9.]+ %\n$")

    def test_bench_compares_threads(self):
        code, out, err = run("ashlar-bench", SAMPLE, "--json",
                             "--min-time=0.01", "--threads=2,1")
        self.assertEqual((code, err), (0, ""))
        rows = json.loads(out)["by_threads"]
        self.assertEqual([row["threads"] for row in rows], [2, 1])
        self.assertEqual(rows[0]["speedup"], 1)
        self.assertAlmostEqual(
            rows[1]["speedup"], rows[0]["median_ms"] / rows[1]["median_ms"])
        text = run("ashlar-bench", SAMPLE, "--min-time=0.01",
                   "--threads=1,2")[1]
        self.assertRegex(text, r"^  threads +median ms .*times as fast\n"
                               r" +1 .* 1\.00\n +2 .*\n$")
        for value, said in (("0", "found '0'"), ("1,", "found ''"),
                            ("1,x", "found 'x'"), ("4097", "from 1 to 4096"),
                            ("1,2,1", "1 is given twice; expected it once")):
            code, out, err = run("ashlar-bench", SAMPLE, f"--threads={value}")
            self.assertEqual((code, out), (2, ""))
            self.assertIn(said, err)
        for flag in "--kernels", f"--trace={self.path('trace.json')}":
            code, _, err = run("ashlar-bench", SAMPLE, "--threads=1,2", flag)
            self.assertEqual(code, 2)
            self.assertIn("expected one number of threads beside it", err)

    def test_tables_fit_a_terminal(self):
        """In 80 columns, nodes stand below, in 20 they are cut as well."""
        nodes = {200: "0 B  node_of_double_f32", 80: "\n    node_of_double_f32",
                 20: "\n    node_of_doubl..."}
        for columns, expected in nodes.items():
            text = self.run_in_terminal(columns, "ashlar-inspect", SAMPLE,
                                        "--kernels")
            table = text[text.index("\nkernels of "):text.index("\nnodes of ")]
            self.assertIn(expected + "\n", table)
            if columns >= 80:
                self.assertLessEqual(
                    max(len(line) for line in table.split("\n")), columns)

    def run_in_terminal(self, columns, tool, *arguments):
        """What a tool prints to a terminal of so many columns."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen([os.path.join(BIN, tool), *arguments],
                              stdout=theirs) as process:
            os.close(theirs)
            text = b""
            while True:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                text += part
        os.close(ours)
        self.assertEqual(process.returncode, 0)
        return text.decode().replace("\r\n", "\n")

    def test_inspect_shows_files_without_a_machine(self):
        # As compilers wrote them before there was one.
        out = json.loads(run("ashlar-inspect", SAMPLE, "--json")[1])
        self.assertIsNone(out["programs"][0]["machine"])
        code, text, _ = run("ashlar-inspect", SAMPLE, "--machine")
        self.assertEqual(code, 0)
        self.assertIn("not in this file", text)

    def test_inspect_verifies_hashes(self):
        with open(SAMPLE, "rb") as file:
            contents = bytearray(file.read())
        contents[4096] ^= 1
        broken = self.write("broken.ash", contents)
        self.assertEqual(run("ashlar-inspect", broken)[0], 0)
        code, _, err = run("ashlar-inspect", broken, "--verify")
        self.assertEqual(code, 1)
        self.assertIn("weights", err)
        self.assertEqual(run("ashlar-inspect", SAMPLE, "--verify",
                             "--kernels")[0], 0)

    def test_inspect_disassembles_one_kernel(self):
        kernels = json.loads(run("ashlar-inspect", SAMPLE, "--json")[1])[
            "programs"][0]["kernels"]
        name = kernels[0]["name"]
        code, text, err = run("ashlar-inspect", SAMPLE,
                              f"--disassemble={name}")
        if code != 0:
            self.skipTest(err)
        self.assertRegex(text, f"{name} of .*\n[0-9a-f]+ <.*>:\n")
        self.assertIn("ret", text)
        self.assertEqual(text.count(">:\n"), 1)

    def test_inspect_refuses_to_disassemble_what_is_not_there(self):
        code, text, err = run("ashlar-inspect", SAMPLE, "--disassemble=none")
        self.assertEqual((code, text), (1, ""))
        self.assertIn("no program has a kernel 'none'", err)

    def test_inspect_says_when_there_is_no_disassembler(self):
        kernels = json.loads(run("ashlar-inspect", SAMPLE, "--json")[1])[
            "programs"][0]["kernels"]
        code, text, err = run("ashlar-inspect", SAMPLE,
                              f"--disassemble={kernels[0]['name']}",
                              PATH=self.folder.name)
        self.assertEqual((code, text), (1, ""))
        self.assertIn("no disassembler was found", err)

    def test_trace(self):
        trace = self.path("trace.json")
        run("ashlar-run", SAMPLE, *GIVEN, f"--trace={trace}")
        with open(trace, encoding="utf-8") as file:
            self.assertGreaterEqual(len(json.load(file)["traceEvents"]), 3)

    def test_driver_cache_is_for_those_who_compile(self):
        cache = self.path("cache")
        os.mkdir(cache)
        for folder in (cache, self.path("missing")):
            code, _, err = run("ashlar-run", SAMPLE, *GIVEN, "--device=cpu:0",
                               f"--driver-cache={folder}")
            self.assertEqual((code, err), (0, ""))
        self.assertEqual(os.listdir(cache), [])


unittest.main(argv=["ToolsTest.py"])
