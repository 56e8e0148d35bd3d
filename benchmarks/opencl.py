#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target opencl on a driver for processors, beside our own target cpu and
OpenVINO on the same core, one thread each.

In turns; the median of the turns' medians, the least time of all, and the
processor's time of a run, all threads together, which is what can be compared
on a machine that has other work. A load is one with nothing in the driver's
cache, which the turns then load from: most of it is what the driver compiles.
Writes opencl.md and opencl.json.
On a machine that is quiet for a minute at a time: `--modules=DIR --prepare`
compiles and loads what is missing in DIR, and `--modules=DIR --merge` measures
one model after the other; `launches` in place of a model is what a kernel's
launch costs.
`. scripts/opencl_env.sh` before it, so that there is a driver. Where ASHLAR_POCL
names the library of PoCL, and there is llvm-spirv-15, opencl:pocl runs there.
"""

import functools
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

import precision
from measure import machine
from measure.context import Context, Refused, first_error, only
from measure.contenders import Ours, OpenVINO

LAUNCHES_ALONE = "launches"  # in place of a model
NAMES = ["mobilenet_v2", "minilm_l6", "resnet50", "ppocr_det", "bert_base",
         LAUNCHES_ALONE]
PROGRAMS = {"cpu": ("cpu", "cpu:0"), "opencl:avx2": ("opencl:avx2", "opencl:0"),
            "opencl:generic": ("opencl:generic", "opencl:0")}
POCL = os.environ.get("ASHLAR_POCL")
if POCL:
    PROGRAMS["opencl:pocl"] = ("opencl:pocl", "opencl:0")
LICENCE = "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->\n"
TICKS = os.sysconf("SC_CLK_TCK")


class Watch:
    """The processor's time that a process has had, over time."""

    def __init__(self, command, environment):
        self.start = time.monotonic()
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **environment})
        self.samples = [(0.0, 0.0)]
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        file = pathlib.Path(f"/proc/{self.process.pid}/stat")
        while self.process.returncode is None:
            try:
                words = file.read_text().rpartition(")")[2].split()
            except OSError:
                return
            # Threads that have ended are in it.
            used = (int(words[11]) + int(words[12])) / TICKS
            self.samples.append((time.monotonic() - self.start, 1e3 * used))
            time.sleep(0.01)

    def end(self):
        out, err = self.process.communicate()
        self.thread.join()
        if self.process.returncode:
            raise Refused(first_error(err or out))
        return json.loads(out)

    def since(self, seconds):
        """What was had from then on, in ms."""
        before = max(s for s in self.samples if s[0] <= seconds)
        return self.samples[-1][1] - before[1]


class OnDevice(Ours):
    """Each turn is a process of its own, which loads what the driver compiled
    in front of the first; that and its time stay beside the module."""

    def __init__(self, context, module, feeds, device, environment):
        super().__init__(context, module, feeds, 1)
        self.environment = environment
        cache = module.with_suffix(".cache")
        cache.mkdir(exist_ok=True)
        self.command += [f"--device={device}", "--placement=strict",
                         f"--driver-cache={cache}"]
        first = module.with_suffix(".load.json")
        if not first.exists():
            told = self.watch("--min-time=0").end()
            first.write_text(json.dumps(told["load_us"] / 1e6))
        self.load = json.loads(first.read_text())
        self.least, self.used = [], []

    def watch(self, *more):
        return Watch([*self.command, *more], self.environment)

    def block(self, seconds):
        watch = self.watch(f"--min-time={seconds}")
        told = watch.end()
        self.least.append(told["min_ms"])
        # The run before those that are measured is one more.
        self.used.append(watch.since(told["load_us"] / 1e6) /
                         (told["runs"] + 1))
        return [told["median_ms"]]


class Peer(OpenVINO):
    def __init__(self, path, feeds):
        super().__init__(path, feeds, 1)
        self.load, self.least, self.used = self.open_s, [], []

    def block(self, seconds):
        before = time.process_time()
        times = super().block(seconds)
        self.least.append(min(times))
        self.used.append(
            1e3 * (time.process_time() - before) / (len(times) + 1))
        return times


def environment_of(who, context):
    """In which the loader finds PoCL alone, for its program."""
    if who != "opencl:pocl":
        return {}
    vendors = context.work / "pocl"
    vendors.mkdir(exist_ok=True)
    (vendors / "pocl.icd").write_text(f"{POCL}\n")
    return {"OCL_ICD_VENDORS": str(vendors)}


def open_ours(context, model, path, folder, programs, feeds):
    """What is known of each program of ours, and those that can run."""
    rows, opened = {}, {}
    for who in programs:
        target, device = PROGRAMS[who]
        module = folder / f"{model.name}.{target.replace(':', '-')}.ash"
        row = rows[who] = {}
        try:
            if not module.exists():
                context.compile(path, module, "--quiet", f"--target={target}",
                                *model.arguments())
            row["module_bytes"] = module.stat().st_size
            environment = environment_of(who, context)
            row["code_bytes"] = json.loads(context.run(
                context.bin / "ashlar-inspect", module, "--json",
                environment=environment))["contract"]["code_bytes"]
            opened[who] = OnDevice(context, module, feeds, device, environment)
        except Refused as why:
            row["refused"] = str(why)
    return rows, opened


def measure(context, model, path, folder, programs):
    feeds = model.cases(path)[0].feeds
    rows, opened = open_ours(context, model, path, folder, programs, feeds)
    try:
        opened["openvino"] = Peer(path, feeds)
    except (Refused, ImportError) as why:
        rows["openvino"] = {"refused": str(why)}
    for who, found in context.in_turns(opened).items():
        row = rows.setdefault(who, {})
        row.update(found)
        if "ms" in found:
            row["used_ms"] = min(opened[who].used)
            row["least_ms"] = min(opened[who].least)
            row["load_s"] = opened[who].load
    rows["load average"] = os.getloadavg()[1]
    return rows


def launch_costs(program, **environment):
    """[[kernels before the host waits, costs...]], us a kernel by each column
    of the program's, the least of RUNS; None where it was not built."""
    if not program.exists():
        return None
    least = {}
    for _ in range(RUNS):
        said = subprocess.run([str(program)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, check=True,
                              env={**os.environ, **environment})
        for line in said.stdout.splitlines():
            words = line.split()
            if len(words) >= 3 and words[0].isdigit():
                found = [float(word) for word in words[1:]]
                least[int(words[0])] = [
                    min(pair) for pair in zip(found, least.get(int(words[0]),
                                                               found))]
    return [[count, *costs] for count, costs in least.items()]


def all_launch_costs(tools):
    """Those of the device as it is, and as it says by the shim of the runtime's
    tests that it is a GPU, which then records what repeats."""
    program = tools / "AshlarOpenCLLaunches"
    found = {"launches": launch_costs(program)}
    shim = tools.parent / "runtime/test/shim"
    if (shim / "libOpenCL.so.1").exists():
        found["launches_as_gpu"] = launch_costs(
            program, LD_LIBRARY_PATH=str(shim), ASHLAR_SHIM_GPU="1")
    return {name: costs for name, costs in found.items() if costs}


RUNS = 18  # of the program that measures launches: the machine is busy
LAUNCHES = {
    "launches": (
        "A kernel's launch",
        f"Microseconds a kernel that adds 16 floats, the least of {RUNS} runs "
        "of `AshlarOpenCLLaunches`; the host waits behind so\nmany.\n"),
    "launches_as_gpu": (
        "The same with shared memory and command buffers",
        "The device that says it is a GPU: unified shared memory in place of "
        "buffers, and so many kernels recorded as a command\nbuffer that is "
        "given to the queue again and again. What is slower here is not used "
        "on processors.\n")}
COLUMNS = ["OpenCL's functions alone", "the runtime's queue",
           "recorded, OpenCL's functions alone", "recorded, the runtime"]


def launches_table(name, rows):
    title, about = LAUNCHES[name]
    columns = COLUMNS[:max(map(len, rows)) - 1]
    lines = [f"\n## {title}\n", about,
             f"| kernels | {' | '.join(columns)} |",
             "|---" * (1 + len(columns)) + "|"]
    for count, *costs in rows:
        cells = [f"{cost:.2f}" for cost in costs]
        cells += [""] * (len(columns) - len(cells))
        lines.append(f"| {count} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def table(results):
    lines = ["| model | who | median, ms | least, ms | processor's time of a "
             "run, ms | of cpu's | load, s | module, MiB | code, KiB |",
             "|---" * 9 + "|"]
    for model, rows in results.items():
        cpu = rows["cpu"]
        for who, row in rows.items():
            if not isinstance(row, dict):
                continue
            if "refused" in row:
                cells = [f"refused: {row['refused']}"] + [""] * 6
            else:
                beside = row["used_ms"] / cpu["used_ms"] \
                    if "used_ms" in cpu and who != "cpu" else None
                size = row.get("module_bytes")
                cells = [f"{row['ms']:.2f}", f"{row['least_ms']:.2f}",
                         f"{row['used_ms']:.2f}",
                         f"{beside:.2f}" if beside else "",
                         f"{row['load_s']:.2f}",
                         f"{size / 2**20:.1f}" if size else "",
                         f"{row['code_bytes'] / 2**10:.0f}" if size else ""]
            lines.append(f"| {' | '.join([model, who, *cells])} |")
    return "\n".join(lines) + "\n"


ABOUT = ["# The target opencl on a driver for processors\n",
         "- {about}; one thread on one core, in turns",
         "- the machine had other work, its load was {low:.0f} to {high:.0f}: "
         "medians and least times hold some of it, the\n"
         "  processor's time of a run (of all its threads, the least of the "
         "turns) less",
         "- of cpu's: the processor's time beside that of our own target "
         "`cpu`; it must be at most 1.5 on Intel's driver, the goal\n  is 1.25, "
         "and at most 3 on PoCL (`opencl:pocl`)",
         "- a load of opencl is the driver's compile of all kernels; OpenVINO "
         "runs without OpenCL\n\n"]


def report(about, results):
    models = {name: rows for name, rows in results.items()
              if name not in LAUNCHES}
    loads = [rows["load average"] for rows in models.values()] or [0]
    told = "\n".join(ABOUT).format(about=about, low=min(loads),
                                   high=max(loads))
    return LICENCE + told + table(models) + "".join(
        launches_table(name, results[name]) for name in LAUNCHES
        if name in results)


def run(arguments, context):
    """{model or kind of launches: what was measured}; nothing with --prepare."""
    models = {m.name: m for m in precision.model_list.all_models()}
    modules, results = arguments.modules or context.work, {}
    modules.mkdir(parents=True, exist_ok=True)
    for name in arguments.names:
        if name == LAUNCHES_ALONE:
            if not arguments.prepare:
                results.update(all_launch_costs(context.bin))
            continue
        with models[name].prepare(context.work) as path:
            if arguments.prepare:
                open_ours(context, models[name], path, modules,
                          arguments.programs, models[name].cases(path)[0].feeds)
                continue
            results[name] = measure(context, models[name], path, modules,
                                    arguments.programs)
        print(table({name: results[name]}), flush=True)
    return results


def main():
    parser = precision.parser_of(__doc__, NAMES)
    parser.add_argument("--rounds", type=int, default=5)
    name, features = machine.processor()
    parser.add_argument("--about", default=", ".join([name, *features]),
                        help="what the report says of the machine")
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS),
                        choices=PROGRAMS, help="only these of ours")
    parser.add_argument("--prepare", action="store_true",
                        help="fill --modules, and measure nothing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, only(1):
        results = run(arguments, Context(
            arguments.bin.resolve(), None, pathlib.Path(folder),
            arguments.seconds, arguments.rounds))
    if not arguments.prepare:
        precision.write(arguments, "opencl",
                        functools.partial(report, arguments.about), results)


if __name__ == "__main__":
    main()
