#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tools as somebody meets them who has installed Ashlar.

A build is installed into an empty folder, which is then moved. The tools found
there on PATH compile a model and run it; each has a manual page that groff takes
without a warning, and completions that bash and zsh parse and that complete its
options and their values; documents and machine files are there. The part of the
runtime can be installed alone.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOLS = ["ashlar-bench", "ashlar-check", "ashlar-compile", "ashlar-inspect",
         "ashlar-opt", "ashlar-plan", "ashlar-run"]
# What a person types, and something that must be offered then: as readline
# takes it, which is without what stands before the last = or :.
COMPLETED = [
    ("ashlar-compile", "ashlar-compile --pre", "--precision="),
    ("ashlar-compile", "ashlar-compile m.onnx --until=sch", "schedule"),
    ("ashlar-compile", "ashlar-compile m.onnx --until fu", "fuse"),
    ("ashlar-compile", "ashlar-compile --target=cpu:zn", "znver4"),
    ("ashlar-compile", "ashlar-compile --target=cpu+sys", "cpu+systolic:gemmini"),
    ("ashlar-compile", "ashlar-compile --precision=b", "bf16"),
    ("ashlar-compile", "ashlar-compile --fuse=", "basic"),
    ("ashlar-check", "ashlar-check --bis", "--bisect="),
    ("ashlar-run", "ashlar-run --placement=s", "strict"),
    ("ashlar-inspect", "ashlar-inspect m.ash --mem", "--memory-map="),
    ("ashlar-bench", "ashlar-bench --min", "--min-time="),
    ("ashlar-plan", "ashlar-plan --gre", "--greedy"),
    ("ashlar-opt", "ashlar-opt --ashlar-fuse-pipe", "--ashlar-fuse-pipeline"),
]
COMPLETE = r"""
. "$1"; COMP_LINE=$2 COMP_POINT=${#2}; COMP_WORDS=($2); COMP_CWORD=1
"_${3//-/_}"; printf '%s\n' "${COMPREPLY[@]}"
"""


class Count:
    passed = failed = skipped = 0

    def expect(self, name, holds, why):
        if holds:
            self.passed += 1
        else:
            print(f"FAIL install {name}: {why}", flush=True)
            self.failed += 1
        return holds

    def skip(self, name, why):
        print(f"SKIP install {name}: {why}", flush=True)
        self.skipped += 1


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)


def check_tools(prefix, work, count):
    environment = {"PATH": f"{prefix / 'bin'}:/usr/bin:/bin",
                   "HOME": str(work)}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]

    def shell(line):
        done = run("bash", "-c", line, cwd=work, env=environment)
        count.expect(line.split()[0], done.returncode == 0,
                     f"`{line}` ended with {done.returncode}: "
                     f"{done.stdout.strip()[:300]}")
    shutil.copy(ROOT / "examples" / "digits" / "digits.onnx", work)
    for tool in TOOLS:
        shell(f"{tool} --version")
    shell("ashlar-compile digits.onnx --shape=image=1x1x8x8 -o digits.ash")
    shell("ashlar-run digits.ash --input=image=random:1 --print")
    shell("ashlar-inspect digits.ash")
    shell("ashlar-bench digits.ash --min-time=0.01")
    shell("ashlar-compile digits.onnx --shape=image=1x1x8x8 --until=import "
          "--until-locations | ashlar-opt --canonicalize")


def check_pages(prefix, count):
    if not shutil.which("groff"):
        count.skip("manual pages", "there is no groff that could read them")
        return
    for tool in TOOLS:
        page = prefix / "share" / "man" / "man1" / f"{tool}.1"
        if not count.expect(f"{tool}.1", page.exists(), "is not installed"):
            continue
        made = run("groff", "-man", "-Tutf8", "-ww", "-z", page)
        count.expect(f"{tool}.1", made.returncode == 0 and not made.stdout,
                     f"groff says: {made.stdout.strip()[:200]}")
        if shutil.which("mandoc"):
            made = run("mandoc", "-T", "lint", "-W", "warning", page)
            count.expect(f"{tool}.1", made.returncode == 0,
                         f"mandoc says: {made.stdout.strip()[:200]}")
        if shutil.which("man"):
            shown = run("man", "-E", "UTF-8", "-P", "cat", "-l", page)
            count.expect(f"{tool}.1", "NAME" in shown.stdout
                         and tool in shown.stdout, "man shows nothing of it")


def check_completions(prefix, count):
    bash = prefix / "share" / "bash-completion" / "completions"
    zsh = prefix / "share" / "zsh" / "site-functions"
    has_zsh = shutil.which("zsh")
    if not has_zsh:
        count.skip("zsh", "there is no zsh that could parse the completions")
    for tool in TOOLS:
        parsed = run("bash", "-n", bash / tool)
        count.expect(f"completion of {tool}", parsed.returncode == 0,
                     f"bash says: {parsed.stdout.strip()[:200]}")
        there = (zsh / f"_{tool}").exists()
        count.expect(f"zsh _{tool}", there, "is not installed")
        if has_zsh and there:
            parsed = run("zsh", "-n", zsh / f"_{tool}")
            count.expect(f"zsh _{tool}", parsed.returncode == 0,
                         parsed.stdout.strip()[:200])
    for tool, typed, offered in COMPLETED:
        made = run("bash", "-c", COMPLETE, "bash", bash / tool, typed, tool)
        count.expect(f"completion of `{typed}`",
                     offered in made.stdout.splitlines(),
                     f"expected {offered}, found {made.stdout.split()[:8]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    count = Count()
    work = arguments.work.resolve()
    work.mkdir(parents=True)
    first, prefix = work / "first", work / "prefix"

    def finish():
        print(f"{count.passed} passed, {count.failed} failed, "
              f"{count.skipped} skipped")
        return 1 if count.failed else 0
    done = run("cmake", "--install", arguments.build, "--prefix", first)
    if not count.expect("tools", done.returncode == 0,
                        f"cmake --install: {done.stdout[-300:]}"):
        return finish()
    first.rename(prefix)
    check_tools(prefix, work, count)
    check_pages(prefix, count)
    check_completions(prefix, count)
    for name in ("share/doc/ashlar/docs/stages.md",
                 "share/doc/ashlar/README.md", "share/doc/ashlar/LICENSE",
                 "share/ashlar/machines/cpu/znver4.json",
                 "share/ashlar/machines/systolic/gemmini.json"):
        count.expect(name, (prefix / name).exists(), "is not installed")
    done = run("cmake", "--install", arguments.build, "--prefix",
               work / "runtime", "--component", "AshlarRuntime")
    count.expect("the runtime alone", done.returncode == 0
                 and not (work / "runtime" / "bin").exists()
                 and not (work / "runtime" / "share").exists(),
                 f"brings more than the runtime: {done.stdout[-200:]}")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
