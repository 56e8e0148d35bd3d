#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds broken models to ashlar-compile and broken modules to ashlar-run.

Each must be refused: exit code 1, a short message that names what is at fault,
no crash, no file left behind, no memory or time out of proportion.
"""

import argparse
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np

import broken_models
import mutations
import streams

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "scripts"))
import limit_cpu  # noqa: E402

DIGITS = HERE.parents[2] / "examples" / "digits"
SECONDS = 60
MEMORY = 2 << 30
MESSAGE_LINES = 30
CRASH_WORDS = ("Stack dump", "PLEASE submit a bug report", "Assertion",
               "AddressSanitizer", "runtime error:", "terminate called",
               "LLVM ERROR")


class Suite:
    def __init__(self, arguments):
        self.bin = arguments.bin.resolve()
        self.every = arguments.every
        self.only = arguments.only
        self.keep = arguments.keep
        self.seen = self.passed = self.failed = self.skipped = 0
        # Under a sanitizer memory is no measure, and all takes longer.
        self.sanitized = arguments.sanitized

    def wanted(self, name):
        self.seen += 1
        if self.only:
            return any(word in name for word in self.only)
        return (self.seen - 1) % self.every == 0

    def skip(self, name, why):
        print(f"SKIP {name}: {why}", flush=True)
        self.skipped += 1

    def verdict(self, name, faults, said, work):
        if not faults:
            self.passed += 1
            return
        self.failed += 1
        first = next((l for l in said.splitlines() if l.strip()), "no word")
        print(f"FAIL {name}: {'; '.join(faults)}; it said: {first[:200]}",
              flush=True)
        if self.keep:
            target = self.keep / name
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(work, target, symlinks=True)

    def run(self, command, cwd, before=None):
        """Runs a tool: exit code, what it said, faults found at once."""
        with tempfile.TemporaryFile() as said:
            child = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL,
                stdout=said, stderr=subprocess.STDOUT, cwd=cwd,
                preexec_fn=before)
            # Of two cores; a busy machine is nobody's fault.
            most = SECONDS * (5 if self.sanitized else 1)
            limit = limit_cpu.Limit(2 * most, 60, 20 * most)
            faults = []
            while True:
                pid, status, usage = os.wait4(child.pid, os.WNOHANG)
                if pid:
                    break
                if limit.why(limit_cpu.read_stat(child.pid)[1]):
                    child.kill()
                    pid, status, usage = os.wait4(child.pid, 0)
                    faults.append("took too long")
                    break
                time.sleep(0.002)
            child.returncode = code = os.waitstatus_to_exitcode(status)
            said.seek(0)
            text = said.read().decode(errors="replace")
        if code < 0:
            faults.append(f"crashed with {signal.Signals(-code).name}")
        for word in CRASH_WORDS:
            if word in text:
                faults.append(f"said {word!r}")
        if not self.sanitized and usage.ru_maxrss << 10 > MEMORY:
            faults.append(f"took {usage.ru_maxrss >> 10} MiB")
        return code, text, faults

    def expect_refusal(self, code, text, faults, names=(), usage=False,
                       may_succeed=False, lines=MESSAGE_LINES):
        expected = 2 if usage else 1
        if code >= 0 and code != expected and not (may_succeed and code == 0):
            faults.append(f"ended with {code}, not {expected}")
        if code == 0:
            return
        if not text.strip():
            faults.append("said nothing")
        if text.count("\n") > lines:
            faults.append(f"said {text.count(chr(10))} lines")
        for word in names:
            if word not in text:
                faults.append(f"does not name {word!r}")

    def refuse_model(self, refusal):
        if not self.wanted(refusal.name):
            return
        with tempfile.TemporaryDirectory() as temporary:
            work = pathlib.Path(temporary) / "folder"
            work.mkdir()
            model = refusal.model
            if not isinstance(model, bytes):
                model = model.SerializeToString()
            path = work / f"{refusal.name}{refusal.suffix}"
            path.write_bytes(model)
            for name, content in refusal.files.items():
                if isinstance(content, pathlib.Path):
                    (work / name).symlink_to(content)
                else:
                    (work / name).write_bytes(content)
            out = work / "out"
            out.mkdir()
            code, text, faults = self.run(
                [self.bin / "ashlar-compile", path, "-o", out / "m.ash",
                 *refusal.arguments], work)
            self.expect_refusal(code, text, faults, refusal.names,
                                refusal.usage, refusal.may_succeed,
                                refusal.lines)
            left = sorted(p.name for p in out.iterdir())
            if code != 0 and left:
                faults.append(f"left {', '.join(left)} behind")
            self.verdict(refusal.name, faults, text, work)

    def refuse_output(self, name, make_output, names=(), before=None):
        """A good model whose module cannot be written."""
        if not self.wanted(name):
            return
        with tempfile.TemporaryDirectory() as temporary:
            work = pathlib.Path(temporary)
            output = make_output(work)
            there = sorted(work.rglob("*"))
            code, text, faults = self.run(
                [self.bin / "ashlar-compile", DIGITS / "digits.onnx",
                 "--shape=image=1x1x8x8", "-o", output], work, before)
            self.expect_refusal(code, text, faults, names)
            left = [str(p.relative_to(work)) for p in sorted(work.rglob("*"))
                    if p not in there]
            if left:
                faults.append(f"left {', '.join(left)} behind")
            self.verdict(name, faults, text, work)

    def refuse_run(self, name, work, module, arguments, names=(),
                   may_succeed=False, tool="ashlar-run", usage=False):
        if not self.wanted(name):
            return
        code, text, faults = self.run(
            [self.bin / tool, module, *arguments], work)
        self.expect_refusal(code, text, faults, names, usage, may_succeed)
        self.verdict(name, faults, text, work)


def outputs(suite):
    suite.refuse_output("output-folder-missing",
                        lambda work: work / "gone" / "m.ash", ["gone"])

    def below_a_file(work):
        (work / "file").write_text("")
        return work / "file" / "m.ash"
    suite.refuse_output("output-below-a-file", below_a_file, ["file"])

    def a_folder(work):
        (work / "m.ash").mkdir()
        (work / "m.ash" / "inside").write_text("")
        return work / "m.ash"
    suite.refuse_output("output-is-a-folder", a_folder, ["m.ash"])

    def small_files():
        # As a full disk does: a write fails, here with EFBIG.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    suite.refuse_output("output-too-large", lambda work: work / "m.ash",
                        ["cannot write"], small_files)
    full_disk(suite)


def full_disk(suite):
    """A disk of 16 KiB, where one may be mounted."""
    if not suite.wanted("output-disk-full"):
        return
    with tempfile.TemporaryDirectory() as temporary:
        disk = pathlib.Path(temporary)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk],
            capture_output=True, text=True)
        if mounted.returncode:
            suite.skip("output-disk-full", "may not mount a small disk here")
            return
        try:
            code, text, faults = suite.run(
                [suite.bin / "ashlar-compile", DIGITS / "digits.onnx",
                 "--shape=image=1x1x8x8", "-o", disk / "m.ash"], "/")
            suite.expect_refusal(code, text, faults, ["m.ash"])
            if list(disk.iterdir()):
                faults.append("left something behind")
            suite.verdict("output-disk-full", faults, text, disk)
        finally:
            subprocess.run(["umount", disk], check=True)


def modules(suite, places):
    """Broken modules and wrong inputs, given to ashlar-run."""
    if not (suite.bin / "ashlar-run").exists():
        suite.skip("modules", "ashlar-run is not built")
        return
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        good = work / "good.ash"
        code, text, faults = suite.run(
            [suite.bin / "ashlar-compile", DIGITS / "digits.onnx",
             "--shape=image=1x1x8x8", "-o", good], work)
        if code or faults:
            suite.verdict("control: the digits example compiles",
                          [f"ended with {code}", *faults], text, work)
            return
        suite.passed += 1
        image = np.load(DIGITS / "test_images.npy")[:1]
        np.save(work / "image.npy", image)
        right = [f"--input=image={work / 'image.npy'}"]

        for name, values in {
                "rank": image[0], "size": np.zeros((1, 1, 8, 9), np.float32),
                "type": image.astype(np.float64),
                "batch": np.zeros((2, 1, 8, 8), np.float32)}.items():
            np.save(work / f"{name}.npy", values)
            suite.refuse_run(f"input-{name}", work, good,
                             [f"--input=image={work / f'{name}.npy'}"],
                             ["image"])
        (work / "junk.npy").write_bytes(b"\x93NUMPY\x01\x00\xff\xff{")
        (work / "short.npy").write_bytes(
            (work / "image.npy").read_bytes()[:-5])
        (work / "empty.npy").write_bytes(b"")
        for name in ("junk", "short", "empty", "gone"):
            suite.refuse_run(f"input-file-{name}", work, good,
                             [f"--input=image={work / f'{name}.npy'}"],
                             [f"{name}.npy"])
        suite.refuse_run("input-missing", work, good, [], ["image"])
        suite.refuse_run("input-unknown", work, good,
                         [*right, f"--input=picture={work / 'image.npy'}"],
                         ["picture"])
        suite.refuse_run("run-output-unknown", work, good,
                         [*right, f"--output=guess={work / 'o.npy'}"],
                         ["guess"])
        suite.refuse_run("run-output-unwritable", work, good,
                         [*right, f"--output=probabilities={work}/no/o.npy"],
                         ["o.npy"])
        suite.refuse_run("device-unknown", work, good,
                         [*right, "--device=toaster:0"], ["toaster"])
        suite.refuse_run("input-twice", work, good, [*right, *right],
                         ["image"], usage=True)
        suite.refuse_run("seed-negative", work, good,
                         ["--input=image=random:-1"], ["random:-1"],
                         usage=True)
        suite.refuse_run("run-output-is-the-module", work, good,
                         [*right, f"--output=probabilities={good}"],
                         ["good.ash"])
        suite.refuse_run("memory-limit", work, good,
                         [*right, "--memory-limit=1KiB"], [])

        for name, content in {
                "empty": b"", "text": b"no module\n", "zeros": bytes(65536),
                "onnx": (DIGITS / "digits.onnx").read_bytes()}.items():
            path = work / f"bad-{name}.ash"
            path.write_bytes(content)
            suite.refuse_run(f"module-{name}", work, path, right,
                             [path.name])
        suite.refuse_run("module-gone", work, work / "gone.ash", right,
                         ["gone.ash"])
        content = good.read_bytes()
        random = np.random.default_rng(3)
        bad = work / "bad.ash"
        # The header and the index stand first: look there most closely.
        cuts = {int(c) for c in np.linspace(0, len(content) - 1, places)}
        for place in sorted(cuts | set(range(0, 64, 7))):
            bad.write_bytes(content[:place])
            # Cut behind its last section, a file is whole.
            suite.refuse_run(f"module-cut-at-{place}", work, bad, right, [],
                             may_succeed=place > len(content) - 4096)
        flips = {int(c) for c in random.integers(0, len(content), places)}
        flips |= {int(c) for c in random.integers(
            0, min(len(content), 4096), places)}
        for place in sorted(flips):
            changed = bytearray(content)
            changed[place] ^= int(random.integers(1, 256))
            bad.write_bytes(changed)
            suite.refuse_run(f"module-changed-at-{place}", work, bad, right,
                             [], may_succeed=True)


def signed_modules(suite, places):
    """Modules that are not what somebody trusted has signed."""
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        for name in ("mine", "other"):
            for command in (
                    ["genpkey", "-algorithm", "ed25519", "-out", f"{name}.pem"],
                    ["pkey", "-in", f"{name}.pem", "-pubout", "-out",
                     f"{name}.pub"]):
                subprocess.run(["openssl", *command], cwd=work, check=True,
                               capture_output=True)
        right = ["--input=image=random", f"--signature-key={work}/mine.pub"]
        modules = {}
        for name, flags in {
                "plain": [], "good": [f"--sign-key={work}/mine.pem"],
                "strange": [f"--sign-key={work}/other.pem"]}.items():
            modules[name] = work / f"{name}.ash"
            suite.run([suite.bin / "ashlar-compile", DIGITS / "digits.onnx",
                       "--shape=image=1x1x8x8", "-o", modules[name], *flags],
                      work)
        code, text, faults = suite.run(
            [suite.bin / "ashlar-run", modules["good"], *right], work)
        suite.verdict("control: the signed example runs",
                      faults + ([f"ended with {code}"] if code else []), text,
                      work)
        suite.refuse_run("signed-not", work, modules["plain"], right,
                         ["--sign-key", "[UNSUPPORTED]"])
        suite.refuse_run("signed-by-another", work, modules["strange"], right,
                         ["add it if you trust", "[UNSUPPORTED]"])
        for name, key, words in (
                ("gone", work / "gone.pub", ["gone.pub"]),
                ("private", work / "mine.pem", ["mine.pem", "-pubout"]),
                ("module", modules["good"], ["good.ash"])):
            suite.refuse_run(f"signed-key-{name}", work, modules["good"],
                             ["--input=image=random",
                              f"--signature-key={key}"], words)
        content = modules["good"].read_bytes()
        random = np.random.default_rng(4)
        bad = work / "bad.ash"
        size = len(content)
        for cut in (1, 64, 111, 112, 113, size // 2):
            # A header that says so, too, as one who cuts can write it.
            short = bytearray(content[:size - cut])
            short[40:48] = (size - cut).to_bytes(8, "little")
            bad.write_bytes(short)
            suite.refuse_run(f"signed-cut-{cut}", work, bad, right,
                             ["signature"])
        flips = set(range(0, 64, 5)) | set(range(size - 112, size, 5))
        flips |= {int(c) for c in random.integers(0, size, places)}
        for place in sorted(flips):
            changed = bytearray(content)
            changed[place] ^= int(random.integers(1, 256))
            bad.write_bytes(changed)
            suite.refuse_run(f"signed-changed-at-{place}", work, bad, right)


def strange_files(suite):
    """FIFOs, sockets, devices and folders wherever a tool reads a file."""
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        good = work / "good.ash"
        made = suite.run([suite.bin / "ashlar-compile", DIGITS / "digits.onnx",
                          "--shape=image=1x1x8x8", "-o", good, "--quiet"], work)
        if made[0]:
            suite.verdict("control: the digits example compiles",
                          [f"ended with {made[0]}"], made[1], work)
            return
        kinds = {"fifo": "a FIFO", "device": "a device", "folder": "a folder",
                 "socket": "a socket"}
        os.mkfifo(work / "fifo")
        (work / "device").symlink_to("/dev/zero")
        (work / "folder").mkdir()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(work / "socket"))
        compiled = [DIGITS / "digits.onnx", "--shape=image=1x1x8x8", "-o",
                    work / "m.ash"]
        for kind, words in kinds.items():
            path = work / kind
            for ending in (".npy", ".pb", ".onnx", ".mlir"):
                (work / (kind + ending)).symlink_to(path)
            for name, tool, arguments in (
                    ("run", "ashlar-run", [path]),
                    ("inspect", "ashlar-inspect", [path]),
                    ("bench", "ashlar-bench", [path]),
                    ("input-npy", "ashlar-run",
                     [good, f"--input=image={path}.npy"]),
                    ("input-pb", "ashlar-run",
                     [good, f"--input=image={path}.pb"]),
                    ("model", "ashlar-compile", [path, "-o", work / "m.ash"]),
                    ("onnx", "ashlar-compile",
                     [f"{path}.onnx", "-o", work / "m.ash"]),
                    ("mlir", "ashlar-compile",
                     [f"{path}.mlir", "-o", work / "m.ash"]),
                    ("machine", "ashlar-compile",
                     [*compiled, f"--machine={path}"]),
                    ("tuning", "ashlar-compile",
                     [*compiled, f"--tuning={path}"]),
                    ("plan", "ashlar-compile",
                     [*compiled, f"--precision-plan={path}"]),
                    ("buffers", "ashlar-plan", [path]),
                    ("opt", "ashlar-opt", [path])):
                if not (suite.bin / tool).exists():
                    suite.skip(f"{name}-{kind}", f"{tool} is not built")
                    continue
                suite.refuse_run(f"{name}-{kind}", work, arguments[0],
                                 arguments[1:], [kind, words], tool=tool)
        listener.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True,
                        help="the folder of ashlar-compile and ashlar-run")
    parser.add_argument("--every", type=int, default=1, metavar="N",
                        help="only every Nth case")
    parser.add_argument("--only", action="append", metavar="WORD",
                        help="only cases whose name holds WORD; repeatable")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR",
                        help="keep the files of failed cases there")
    parser.add_argument("--sanitized", action="store_true",
                        help="the tools run under a sanitizer")
    arguments = parser.parse_args()

    suite = Suite(arguments)
    for refusal in broken_models.all_refusals(DIGITS / "digits.onnx"):
        suite.refuse_model(refusal)
    outputs(suite)
    modules(suite, places=60)
    if not (suite.bin / "ashlar-run").exists():
        suite.skip("signed", "ashlar-run is not built")
    elif not shutil.which("openssl"):
        suite.skip("signed", "openssl, which makes keys, is not installed")
    else:
        signed_modules(suite, places=60)
    strange_files(suite)
    if not arguments.only:
        verdicts, faults = mutations.run(
            suite.bin, 500 // arguments.every, 0, arguments.sanitized,
            arguments.keep)
        suite.failed += len(faults)
        suite.passed += sum(verdicts.values()) - len(faults)
        total, faults = streams.run(suite.bin, max(2, 20 // arguments.every))
        suite.failed += len(faults)
        suite.passed += total
    print(f"{suite.passed} passed, {suite.failed} failed, "
          f"{suite.skipped} skipped")
    return 1 if suite.failed or not suite.passed else 0


if __name__ == "__main__":
    sys.exit(main())
