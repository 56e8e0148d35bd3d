#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Open sizes of the real models of test/Integration/model_list.py that have
some: a table.

Each model is compiled for ranges of all its open dims, and for each of five
sizes alone. The table says whether the ranges compile, in how many pieces, the
largest difference between the two relative to the largest result, and how long
a call takes in the module of open sizes beside the other: the least of several
turns of both, in time of the process, on one thread, so that other work on the
machine counts for little.

  .deps/venv/bin/python benchmarks/open_models.py --build build [NAME...]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import time

import numpy as np

from open_rows import compare_times, five_sizes, print_rows

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ROOT / ".deps" / "models"

# Ranges, dims of inputs where the model's own names do not open them, values
# below which integers are, inputs that are given.
TABLE = {
    "ppocr_cls": ("N=1..4,W=32..192", {"x": "Nx3x48xW"}),
    "ppocr_rec": ("N=1..4,W=32..320", {"x": "Nx3x48xW"}),
    "ppocr_det": ("H=64..640:32,W=64..640:32", {"x": "1x3xHxW"}),
    "resnet50": ("batch=1..4", {}),
    "bert_base": ("batch=1..2,sequence=8..128", {}, {
        "input_ids": 30000, "attention_mask": -1, "token_type_ids": 2}),
    "silero_vad": ("B=1..4", {"input": "Bx576", "state": "2xBx128"}, {}, {
        "sr": np.array(16000, np.int64)}),
    "silero_vad_half": ("B=1..4", {"input": "Bx576", "state": "2xBx128"}),
    "silero_vad_v3": ("B=1..4", {"input": "Bx1536", "h": "2xBx64",
                                 "c": "2xBx64"}, {}, {
        "sr": np.array(16000, np.int64)}),
    "silero_vad_v6": ("seq_len=1..16", {}),
    "speech_mel": ("S=4800..16000:160", {"input": "1xS"}),
    "speech_embedding": ("B=1..4", {"input_1": "Bx76x32x1"}),
    "basic_pitch": ("B=1..2", {"serving_default_input_2:0": "Bx43844x1"}),
    "audio_resample": ("N=4410..15876:441", {"waveforms": "1xN"}, {
        "waveforms_lens": -2}),
    "audio_kaldi": ("N=4000..16000:160", {"waveforms": "1xN"}, {
        "waveforms_lens": -2}),
    "audio_nemo": ("N=4000..16000:160", {"waveforms": "1xN"}, {
        "waveforms_lens": -2}),
    "audio_speaker": ("N=4000..16000:160", {"waveforms": "1xN"}, {
        "waveforms_lens": -2}),
    "pitch": ("samples=4096..15360:1024", {}, {}, {
        "fmin": np.array(60, np.float32), "fmax": np.array(1000, np.float32)}),
    "sleep_spindles": ("batch_size=1..2", {}),
    "seizures": ("batch=1..4,time=20..100", {}),
    "turn_end": ("s6=1..2", {}),
    "captcha": ("image_width=64..256", {}),
    "captcha_crnn": ("batch=1..4", {}),
    "bodies": ("height=64..320:32,width=64..320:32", {
        "images": "1x3xheightxwidth"}),
    "orientation": ("B=1..4", {"x": "Bx3x224x224"}),
    "watermark_hide": ("height=32..128:8,width=32..128:8", {
        "frame": "1x3x1xheightxwidth", "data": "1x32"}),
    "watermark_read": ("height=32..128:8,width=32..128:8", {
        "frame": "1x3x1xheightxwidth"}),
    "magika": ("B=1..4", {"bytes": "Bx2048"}, {"bytes": 256}),
    "thai_words": ("seq_len=4..100", {}, {"input": 60}),
    "thai_words_lstm": ("B=1..16", {f"input{k}": "Bx21" for k in (1, 2, 3)}),
    "names_encode": ("batch=1..4,src_len=2..24", {}, {"src": 40}),
    "names_decode": ("batch=1..2,tgt_len=1..8,src_len=2..16", {}, {
        "prefix": 40}),
    "chinese_words": ("B=1..4,T=4..32", {"token_ids": "BxT", "length": "B"}, {
        "token_ids": 20000, "length": 4}),
    "secrets": ("B=1..4,T=4..32", {
        "feature_input": "Bx529",
        **{f"{k}_input": "BxTx101" for k in ("line", "value", "variable")}}),
}
LIMIT = 400  # seconds of a compile


def read_ranges(text):
    found = {}
    for part in text.split(","):
        symbol, low, high, step = re.fullmatch(
            r"(\w+)=(\d+)\.\.(\d+)(?::(\d+))?", part).groups()
        found[symbol] = int(low), int(high), int(step or 1)
    return found


def compile_for(build, model, module, *flags):
    """What the compiler said, and whether it wrote a module."""
    try:
        done = subprocess.run(
            [build / "bin" / "ashlar-compile", model, "-o", module, *flags],
            capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"takes more than {LIMIT} s", False
    return done.stderr.strip(), done.returncode == 0


def values_at(inputs, point, below, given, random):
    made = {}
    for one in inputs:
        if one.name in given:
            made[one.name] = given[one.name]
            continue
        shape = tuple(point[d] if isinstance(d, str) else d
                      for d in one.dims)
        high = below.get(one.name, 2)
        if one.dtype == np.bool_:
            value = np.ones(shape, bool)
        elif np.issubdtype(one.dtype, np.floating):
            value = random.standard_normal(shape).astype(one.dtype)
        elif high == -1:
            value = np.ones(shape, one.dtype)
        elif high == -2:
            value = np.full(shape, min(point.values()), one.dtype)
        else:
            value = random.integers(1, high, shape).astype(one.dtype)
        made[one.name] = value
    return made


class Input:
    def __init__(self, info, shapes):
        dims = [int(d.dim_value) or d.dim_param
                for d in info.type.tensor_type.shape.dim]
        if info.name in shapes:
            dims = [int(d) if d.isdigit() else d
                    for d in shapes[info.name].split("x")]
        import onnx
        self.name, self.dims = info.name, dims
        self.dtype = onnx.helper.tensor_dtype_to_np_dtype(
            info.type.tensor_type.elem_type)


def open_inputs(model, shapes, ranges):
    """The model's inputs, and the flags that give their shapes."""
    import onnx
    graph = onnx.load(model, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    inputs = [Input(i, shapes) for i in graph.input if i.name not in constants]
    # What is open in the model and is not asked for is one.
    for one in inputs:
        one.dims = [d if isinstance(d, int) or d in ranges else 1
                    for d in one.dims]
    return inputs, [f"--shape={one.name}=" + ",".join(map(str, one.dims))
                    for one in inputs if one.dims]


def measure(ashlar, build, work, name, ranges_text, shapes, below=(), given=()):
    below, given = dict(below), dict(given)
    model, module = MODELS / f"{name}.onnx", work / "open.ash"
    ranges = read_ranges(ranges_text)
    inputs, flags = open_inputs(model, shapes, ranges)
    begin = time.monotonic()
    said, works = compile_for(build, model, module, f"--dim={ranges_text}",
                              *flags)
    row = {"name": name, "dims": ranges_text,
           "seconds": time.monotonic() - begin}
    if not works:
        return row | {"why": said}
    pieces = re.search(r"(\d+) programs do", said)
    row |= {"pieces": int(pieces[1]) if pieces else 1}
    opened = ashlar.Session(ashlar.load(str(module), allow_native_code=True), threads=1)
    random = np.random.default_rng(1)
    errors, times = [], []
    for point in five_sizes(ranges):
        values = values_at(inputs, point, below, given, random)
        fixed = work / "fixed.ash"
        said, works = compile_for(build, model, fixed, *(
            f"--shape={n}=" + "x".join(map(str, v.shape))
            for n, v in values.items() if v.shape))
        if not works:
            return row | {"why": f"static at {point}: {said}"}
        static = ashlar.Session(ashlar.load(str(fixed), allow_native_code=True), threads=1)
        ours, theirs = opened.run(values), static.run(values)
        for key, value in theirs.items():
            x = np.asarray(ours[key], np.float64)
            y = np.asarray(value, np.float64)
            if x.shape != y.shape:
                return row | {"why": f"at {point}: shape {x.shape}, {y.shape}"}
            if x.size:
                errors.append(np.abs(x - y).max() / max(np.abs(y).max(), 1e-9))
        times.append(compare_times([lambda: opened.run(values),
                                    lambda: static.run(values)]))
    return row | {"error": max(errors), "times": times}


def line(row):
    if "why" in row:
        why = row["why"].splitlines()[0].replace("|", "/") if row["why"] else ""
        return (f"| {row['name']} | {row['dims']} | no: {why[:200]} | | | |"
                f" {row['seconds']:.0f} |")
    ratios = " ".join(f"{a / b:.2f}" for a, b in row["times"])
    static = " ".join(f"{b:.3g}" for _, b in row["times"])
    return (f"| {row['name']} | {row['dims']} | {row['pieces']} |"
            f" {row['error']:.1e} | {ratios} | {static} |"
            f" {row['seconds']:.0f} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="*", help="default: all")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    sys.path.insert(0, str(build / "python" / "site"))
    import ashlar
    print("| model | open | pieces | error | open over static time | static ms"
          " | compile s |\n|---|---|---|---|---|---|---|")
    rows = print_rows(
        arguments.names or TABLE,
        lambda name, work: measure(ashlar, build, work, name, *TABLE[name]),
        line)
    return 1 if any(row.get("error", 0) > 1e-5 for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
