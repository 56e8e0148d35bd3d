#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/gpu on the driver double, in tiny sizes: what prepare.py writes is
checked and timed by one call of run.sh, which prints a table, writes JSON, and
fails where a number is wrong or was not looked at.

Everything with --all; without, some of each part, in well under a minute.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHELL = ROOT / "benchmarks/gpu/run.sh"
# Of what --quick makes: a product and rows, an edge of sizes, a whole model.
SOME = (r"^(matmul-1000x1000x1000|softmax-1024x65536|minilm|"
        r"edge (f32|bytes|open rows)$|node/)")
OPERATORS = {True: 60, False: 5}
counts = {"passed": 0, "failed": 0}


def must(name, why):
    counts["failed" if why else "passed"] += 1
    if why:
        print(f"FAIL benchmarks/gpu, {name}: {why}", flush=True)


def call(*command):
    done = subprocess.run([str(word) for word in command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    return done.returncode, done.stdout


def last(said):
    return (said.strip().splitlines() or ["said nothing"])[-1][:300]


def prepare(build, folder, everything):
    parts = ("table", "edges", "large", "operators")
    code, said = call(
        sys.executable, ROOT / "benchmarks/gpu/prepare.py", "--build", build,
        "--out", folder, "--quick", "--here",
        f"--operators={OPERATORS[everything]}",
        *(f"--part={part}" for part in parts),
        *([] if everything else [f"--only={SOME}"]))
    missing = [part for part in parts
               if not re.search(rf"^{part}: [1-9]", said, re.M)]
    must("prepare.py", last(said) if code or missing else "")
    return not code


def check_all(folder):
    """One call does all of it."""
    out = folder / "out"
    out.mkdir()
    code, said = call(folder / "run.sh", f"--write={out}", "--seconds=500")
    for line in said.splitlines():
        if line.startswith("FAIL "):
            print(f"FAIL benchmarks/gpu, {line[5:]}", flush=True)
    found = re.search(r"^(\d+) passed, (\d+) failed$", said, re.M)
    if not found:
        must("run.sh", last(said))
        return
    counts["passed"] += int(found[1])
    counts["failed"] += int(found[2])
    must("run.sh ends with 0 if nothing failed",
         "" if code == (found[2] != "0") else f"ended with {code}")
    must("run.sh prints a table",
         "" if re.search(r"^case +ours, us", said, re.M) else last(said))
    cases = json.loads((folder / "run.json").read_text())["cases"]
    timed = [name for name, case in cases.items() if "time" in case]
    missing = [name for name, case in cases.items()
               if case["part"] in ("table", "large") and name not in timed
               and "refused" not in case]
    must("run.sh measures", f"not {missing}" if missing or not timed else "")
    written = json.loads((out / "gpu.json").read_text())["cases"]
    must("gpu.json has what was timed",
         "" if set(written) == set(timed) else f"has {sorted(written)}")
    text = (out / "gpu.md").read_text()
    must("gpu.md has what was timed",
         next((f"not {name}" for name in timed if f"| {name} |" not in text),
              ""))


def check_faults(folder):
    """A wrong number, and one that was not looked at, are failures."""
    path = folder / "cases.json"
    told = json.loads(path.read_text())
    case = next(c for c in told["cases"] if c["part"] == "table"
                and "refused" not in c)
    right, case["tolerance"] = case["tolerance"], [0, 0]
    path.write_text(json.dumps(told))
    only = f"--only=^{re.escape(case['name'])}$"
    code, said = call(folder / "run.sh", only, "--numbers-only")
    must("a wrong number ends with 1",
         "" if code == 1 and f"FAIL {case['name']}: differs by" in said
         else f"{code}, {last(said)}")
    case["tolerance"] = right
    path.write_text(json.dumps(told))
    code, said = call(sys.executable, folder / "run.py", "--dir", folder,
                      only, "--numbers-only", "--seconds=0")
    must("what is not looked at ends with 1",
         "" if code == 1 and "no time was left" in said
         else f"{code}, {last(said)}")


def check_usage(folder):
    code, said = call(SHELL, "--help")
    must("run.sh --help", "" if code == 0 and said.startswith("Usage:")
         else last(said))
    code, said = call(SHELL, f"--dir={folder}/none")
    must("run.sh without modules ends with 2",
         "" if code == 2 and "prepare.py" in said else f"{code}, {last(said)}")
    code, said = call(SHELL, f"--dir={folder}", "--seconds=soon")
    must("run.sh with a wrong limit ends with 2",
         "" if code == 2 and "--seconds=soon" in said
         else f"{code}, {last(said)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    os.environ["PYTHON"] = sys.executable
    # A chip of its own, as one of those that are measured.
    os.environ.update(ASHLAR_CUDA_DOUBLE_CC="9.0",
                      ASHLAR_CUDA_DOUBLE_DRIVER="12040")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "gpu"
        check_usage(folder.parent)
        if prepare(arguments.build.resolve(), folder, arguments.all):
            check_all(folder)
            check_faults(folder)
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return int(bool(counts["failed"]))


if __name__ == "__main__":
    sys.exit(main())
