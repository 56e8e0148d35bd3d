# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What phases of devices share: operator tests, graphs at the edges and real
models, compiled for a target and run on a device."""

import collections
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

import operators

ROOT = operators.ROOT
# What threads share is a contraction's accumulator.
CONTRACTION = re.compile(
    "matmul|gemm|conv|einsum|lstm|gru|rnn|attention|linear|dft|affine")


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def must(self, name, why):
        """Counts a test, which failed if there is a reason."""
        if why:
            print(f"FAIL {name}: {why}", flush=True)
            self.failed += 1
        else:
            self.passed += 1

    def skip(self, name, why):
        print(f"SKIP {name}: {why}", flush=True)
        self.skipped += 1


def first_error(text):
    lines = [l.strip() for l in text.splitlines() if l.strip()]
    errors = [l for l in lines if "error" in l] or lines or ["said nothing"]
    return errors[0][:300]


def call(*command):
    """Output and error of a program, and whether it ended with 0."""
    done = subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace")
    return done.returncode == 0, done.stdout


@contextlib.contextmanager
def environment(**values):
    """That of the programs that are called meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def find_driver():
    """The environment in which OpenCL's loader finds the driver of setup.sh."""
    said = subprocess.run(
        ["bash", "-c", '. "$0" && printf %s "${OCL_ICD_VENDORS:-}"',
         ROOT / "scripts/opencl_env.sh"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        check=True).stdout
    if said:
        os.environ["OCL_ICD_VENDORS"] = said


def why_not_built(tools):
    """Nothing, or which of the tools that a device's phase needs is missing."""
    for tool in ("ashlar-compile", "ashlar-run", "ashlar-check"):
        if not (tools / tool).exists():
            return f"{tool} is not built"
    return ""


def choose(names, every, always=None):
    """The sample of the operator tests, which is the same each time: one of so
    many of those with contractions and of the others, and what `always`
    finds."""
    with_products, others = every
    chosen = [[n for n in names if bool(CONTRACTION.search(n)) == is_product]
              for is_product in (True, False)]
    return sorted({*chosen[0][::with_products], *chosen[1][::others],
                   *(filter(always.search, names) if always else ())})


def check_operators(arguments, tools, target, every, work, counts,
                    always=None, refused=None, refusal=None):
    """Operator tests that pass on cpu. `refused`: those that the target does
    not take, by name, and why; `refusal`: a pattern of reasons for others."""
    listed = sorted(operators.read_list())
    refused = refused or {}
    unsupported = collections.defaultdict(list)
    chosen = collections.defaultdict(list)
    for key in choose(listed, every, always):
        kind, name = key.split("/", 1)
        chosen[kind].append(name)
    sets = operators.find_sets(operators.DATA)
    for kind, names in chosen.items():
        verdicts, status = operators.check_set(
            tools / "ashlar-check", sets[kind], names, arguments.jobs, work,
            target)
        if status not in (0, 1):
            counts.must(f"{kind} on {target}",
                        f"ashlar-check ended with {status}")
        for name in names:
            key = f"{kind}/{name}"
            verdict, why = verdicts.get(
                name, ("failed", "ashlar-check said nothing of it"))
            if verdict == "unsupported" and key in refused:
                unsupported[refused[key]].append(key)
                continue
            if verdict != "passed" and refusal and refusal.search(why):
                unsupported[refusal.search(why)[0]].append(key)
                continue
            if verdict == "passed" and key in refused:
                print(f"NOTE {key} on {target} passes by now: take it "
                      "out of REFUSED")
            if verdict == "unsupported":
                why = f"passes on cpu, refused here: {why}"
            counts.must(f"{key} on {target}",
                        "" if verdict == "passed" else why)
    counts.skipped += operators.show_unsupported(unsupported)


def check_models(tools, target, device, names, work, counts, kernels,
                 like=None):
    """Models by name, all where that is None, on a device, or where its loader
    puts them if that is None; beside the device `like`, if the target has a
    program for it. Returns the folder with what the compiler left, in which
    each model that ran has a file `kernels`; or None."""
    if names == []:
        return None
    temps = work / f"temps-{target}"
    command = [sys.executable, ROOT / "test/Integration/compare_models.py",
               "--bin", tools, "--work", work / "models",
               f"--compile-flag=--target={target}",
               f"--save-temps={temps}", *(names or [])]
    if device:
        command.append(f"--device={device}")
    if like:
        command.append(f"--like={like}")
    last = ""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True,
                          errors="replace") as child:
        for line in child.stdout:
            last = line.strip()
            if re.match(r"^\d+ passed, ", last):
                continue
            # Which target is not in its words.
            print(re.sub(r"^(FAIL|NOTE) ", rf"\1 {target}, ", line),
                  end="", flush=True)
    found = re.match(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", last)
    if not found:
        counts.must(f"models on {target}",
                    f"compare_models.py ended with {child.returncode}")
        return None
    counts.passed += int(found[1])
    counts.failed += int(found[2])
    counts.skipped += int(found[3])
    # A model that brings no kernels was not compiled for the device.
    if not list(temps.glob(f"**/{kernels}")):
        counts.must(f"models on {target}", f"no {kernels} was left")
    return temps


def why_not_held(tools, module, device, inputs):
    """Nothing, or how a run takes other memory than the contract says: so much
    is enough, a byte less is refused."""
    done, said = call(tools / "ashlar-inspect", module, "--json")
    if not done:
        return first_error(said)
    peak = json.loads(said)["contract"]["peak_bytes"]
    for limit in (peak, peak - 1):
        done, said = call(tools / "ashlar-run", module, f"--device={device}",
                          "--placement=strict", f"--memory-limit={limit}",
                          *inputs)
        if limit == peak and not done:
            return f"{peak} bytes are not enough: {first_error(said)}"
        if limit < peak and (done or "OUT_OF_BUDGET" not in said):
            return f"expected a refusal of {limit} bytes, one less than the " \
                f"contract says, found {first_error(said)}"
    return ""


def check_edges(tools, target, device, counts):
    _, said = call(sys.executable, ROOT / "test/Integration/device_edges.py",
                   "--bin", tools, f"--target={target}",
                   f"--device={device}")
    count_said(counts, f"edges on {target}", said)


def count_said(counts, name, said):
    """Adds what a script of tests says at its end."""
    print(said, end="", flush=True)
    found = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", said,
                      re.M)
    if not found:
        counts.must(name, first_error(said))
        return
    counts.passed += int(found[1])
    counts.failed += int(found[2])
    counts.skipped += int(found[3])
