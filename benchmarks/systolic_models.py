#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real models on the systolic machines: simulated cycles, use of the arrays,
and errors beside the processor's.

Cycles do not depend on the computer that runs this. Errors are max |difference|
over max |f32| of the outputs, of the machine and of the processor in the same
low type, as means over a few inputs. Models of bytes are compared with the target `reference`, to the bit.
SCALE-Sim's figure is that of its best dataflow for each layer of the
model's contractions, without depthwise ones, at batch 1 on 128 x 128; ours
beside it is the cycles that contractions take which are not depthwise.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "models"))
import write_models  # noqa: E402

MODELS = ROOT / ".deps" / "models"
TEXT = {"input_ids": (1, 128), "attention_mask": (1, 128),
        "token_type_ids": (1, 128)}
# Inputs' shapes, SCALE-Sim's cycles.
KNOWN = {
    "resnet50": ({"input": (1, 3, 224, 224)}, 508_000),
    "mobilenet_v2": ({"input": (1, 3, 224, 224)}, 134_000),
    "bert_base": (TEXT, 883_000),
    "minilm_l6": (TEXT, None),
    "ppocr_det": ({"x": (1, 3, 640, 640)}, 979_000),
    "ppocr_rec": ({"x": (1, 3, 48, 320)}, None),
    "ppocr_cls": ({"x": (1, 3, 48, 192)}, None),
}
PRESETS = ["tpu-128", "tpu-v5e"]
# Models of bytes, their inputs' shapes; written where they are not there.
BYTES = {"resnet50_int8": {"input": (1, 3, 224, 224)}}
BYTE_PRESETS = ["gemmini", "gemmini-ws"]
INPUTS = 5


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True,
                          capture_output=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def inputs_of(shapes, work, seed):
    random = np.random.default_rng(seed)
    arguments = []
    for name, shape in shapes.items():
        if name == "attention_mask":
            value = np.ones(shape, np.int64)
        elif name == "token_type_ids":
            value = np.zeros(shape, np.int64)
        elif name == "input_ids":
            value = random.integers(1000, 20000, shape)
        else:
            value = random.standard_normal(shape).astype(np.float32)
        path = work / f"{name}-{seed}.npy"
        np.save(path, value)
        arguments.append(f"--input={name}={path}")
    return arguments


def outputs(bin_, model, shapes, feeds, work, *flags):
    """What the model computes with these flags of each input, and the
    module."""
    module, folder = work / "model.ash", work / "outputs"
    run(bin_ / "ashlar-compile", MODELS / f"{model}.onnx", "-o", module,
        "--quiet", *flags,
        *(f"--shape={n}=" + "x".join(map(str, s)) for n, s in shapes.items()))
    all_values = []
    for feed in feeds:
        run(bin_ / "ashlar-run", module, f"--output-dir={folder}", *feed)
        all_values.append({file.name: np.load(file)
                           for file in folder.glob("**/*.npy")})
    return all_values, module


def error(found, expected):
    return np.mean([max(np.abs(one[name] - value).max() / np.abs(value).max()
                        for name, value in other.items())
                    for one, other in zip(found, expected)])


def measure(bin_, model, preset, work):
    shapes, scale_sim = KNOWN[model]
    feeds = [inputs_of(shapes, work, seed) for seed in range(INPUTS)]
    exact, _ = outputs(bin_, model, shapes, feeds, work)
    plain, _ = outputs(bin_, model, shapes, feeds, work, "--precision=bf16")
    ours, module = outputs(bin_, model, shapes, feeds, work,
                           "--precision=bf16", f"--target=systolic:{preset}")
    use = json.loads(run(bin_ / "ashlar-inspect", module, "--utilisation",
                         "--json"))[0]
    ratio = f"{scale_sim / use['contraction_cycles']:.2f}" \
        if scale_sim and preset == "tpu-128" else ""
    return (f"| {model} | {use['cycles']:,} | {use['contraction_cycles']:,} | "
            f"{use['depthwise_cycles']:,} | {use['utilisation']:.1%} | "
            f"{use['multiply_adds'] / 1e6:,.0f} | {ratio} | "
            f"{error(ours, exact):.1e} | {error(plain, exact):.1e} |")


def roof_of(use):
    """Cycles that streams cannot be less than, as they are: what the array
    takes, or the port with the requests that may be in flight."""
    return sum(round(max(sum(region[kind] * region["cycles"]
                             for region in stream["regions"])
                         for kind in ("array_busy", "port_busy"))
                     * stream["launches"]) for stream in use["streams"])


def core_instructions(bin_, path, preset):
    """Of the core beside the array; and of them, those for sums of residuals:
    kernels that bear the name of the QuantizeLinear before the sum."""
    if not shutil.which("qemu-riscv64"):
        return "", ""
    said = run(sys.executable, ROOT / "test/Integration/bare_metal/bare_metal.py",
               path, "--count", f"--compile={bin_ / 'ashlar-compile'}",
               f"--run={bin_ / 'ashlar-run'}", f"--target=systolic:{preset}")
    total = int(re.search(r"(\d+) instructions of the core", said)[1])
    sums = sum(int(count) for count, name in
               re.findall(r"(\d+) in (\w+)", said)
               if re.search(r"layer.*_QuantizeLinear", name))
    return f"{total / 1e6:,.1f}", f"{sums / 1e6:,.1f}"


def measure_bytes(bin_, model, preset, work):
    path = MODELS / f"{model}.onnx"
    if not path.exists():
        path = work / path.name
        write_models.WRITERS[model](path)
    random = np.random.default_rng(0)
    feeds = []
    for name, shape in BYTES[model].items():
        value = np.rint(32 * random.standard_normal(shape)).clip(-128, 127)
        np.save(work / f"{name}.npy", value.astype(np.int8))
        feeds.append(f"--input={name}={work / name}.npy")
    found, remarks = {}, work / "remarks.txt"
    for target in "reference", f"systolic:{preset}":
        module, folder = work / "model.ash", work / target.replace(":", "-")
        run(bin_ / "ashlar-compile", path, "-o", module, "--quiet",
            f"--target={target}", f"--remarks={remarks}")
        run(bin_ / "ashlar-run", module, f"--output-dir={folder}", *feeds)
        found[target] = {file.name: np.load(file)
                         for file in folder.glob("**/*.npy")}
    expected, ours = found.values()
    different = sum(np.count_nonzero(ours[name] != value)
                    for name, value in expected.items())
    use = json.loads(run(bin_ / "ashlar-inspect", module, "--utilisation",
                         "--json"))[0]
    # Chains of other ops are not what this counts.
    text = "\n".join(line for line in remarks.read_text().splitlines()
                     if "it is no chain" not in line)
    roof = roof_of(use)
    added = text.count("passed: place: is added in accumulators")
    core, sums = core_instructions(bin_, path, preset)
    return (f"| {model} | {use['cycles']:,} | {use['utilisation']:.1%} | "
            f"{roof:,} | {use['utilisation'] * use['contraction_cycles'] / roof:.1%} | "
            f"{use['multiply_adds'] / 1e6:,.0f} | {core} | {sums} | "
            f"{text.count('passed: place: runs on') - added} | {added} | "
            f"{text.count('missed: place: stays on the host')} | "
            f"{different} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--out", type=pathlib.Path,
                        default=ROOT / "benchmarks/results/systolic.md")
    parser.add_argument("--models", default=",".join(KNOWN))
    parser.add_argument("--presets", default=",".join(PRESETS))
    parser.add_argument("--byte-presets", default=",".join(BYTE_PRESETS))
    arguments = parser.parse_args()
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->",
             "# Models on the systolic machines", "",
             "By `benchmarks/systolic_models.py`: bf16, batch 1. Cycles are of "
             "all streams one after the other, each from an idle machine. "
             "Contractions: the union of the intervals of those that are not "
             "depthwise, from the first command of each to its last, whatever "
             "they wait for, without the cycles in which only depthwise ones "
             "had a command at work. Depthwise: the same the other way round; "
             "where both are at work, both count. Utilisation is of the arrays "
             "while there are contractions, which run there or not as remarks "
             "say. SCALE-Sim's cycles, its best dataflow for each layer that is "
             "not depthwise, are divided by ours of contractions. Errors are "
             f"of the outputs, beside f32 on the processor, as means over "
             f"{INPUTS} inputs; in bf16 the processor keeps first convolutions "
             "in f32, which gain nothing there."]
    for preset in filter(None, arguments.presets.split(",")):
        lines += ["", f"## `{preset}`", "",
                  "| model | cycles | contractions | depthwise | utilisation | "
                  "M multiply-adds | SCALE-Sim | error | "
                  "processor's in bf16 |",
                  "|---|---|---|---|---|---|---|---|---|"]
        for model in arguments.models.split(","):
            with tempfile.TemporaryDirectory() as work:
                lines.append(measure(arguments.bin.resolve(), model, preset,
                                     pathlib.Path(work)))
            print(lines[-1], flush=True)
    for preset in filter(None, arguments.byte_presets.split(",")):
        lines += ["", f"## `{preset}`, bytes", "",
                  "The models are of `benchmarks/models`: one scale for each "
                  "tensor, a power of two. Elements of the outputs that differ "
                  "are counted beside the target `reference`. The roof: "
                  "cycles that these streams cannot take less than, whatever "
                  "waits for what, each the array's or those of the requests "
                  "that may be in flight. Beside the array the core executes "
                  "so many million instructions for an inference, commands "
                  "among them, of which so many are for sums of residuals, "
                  "which the accumulator adds (counted by QEMU, without what "
                  "`memcpy` takes for transfers).", "",
                  "| model | cycles | utilisation | roof | utilisation there | "
                  "M multiply-adds | M core instructions | of residual sums | "
                  "contractions there | sums there | on the host | "
                  "different |",
                  "|---|---|---|---|---|---|---|---|---|---|---|---|"]
        for model in BYTES:
            with tempfile.TemporaryDirectory() as work:
                lines.append(measure_bytes(arguments.bin.resolve(), model,
                                           preset, pathlib.Path(work)))
            print(lines[-1], flush=True)
    arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
