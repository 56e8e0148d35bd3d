# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Those who run models: ours and the peers, each with the same few methods.

A contender is opened for one model, a set of inputs and a number of threads;
`block(seconds)` runs it for that long and returns the times in ms.
"""

import json
import time

import numpy as np
import onnx

from measure.context import Refused

# A run that takes very long is still measured, a few times.
FEWEST_RUNS = 3


def timed_block(call, seconds):
    times, end = [], time.perf_counter() + seconds
    call()
    while len(times) < FEWEST_RUNS or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return times


class Ours:
    name = "ours"

    def __init__(self, context, module, feeds, threads):
        self.command = [context.bin / "ashlar-bench", module, "--json",
                        f"--threads={threads}", "--warmup=1"]
        self.context = context
        for index, (name, values) in enumerate(feeds.items()):
            file = context.work / f"ours-{index}.npy"
            np.save(file, values)
            self.command.append(f"--input={name}={file}")

    def block(self, seconds):
        told = json.loads(self.context.run(
            *self.command, f"--min-time={seconds}"))
        return [told["median_ms"]]


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, path, feeds, threads):
        import onnxruntime
        onnxruntime.set_default_logger_severity(3)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        start = time.perf_counter()
        try:
            self.session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"])
        except Exception as why:  # its own classes differ by version
            raise Refused(str(why).splitlines()[0][:200]) from None
        self.open_s = time.perf_counter() - start
        self.names = [o.name for o in self.session.get_outputs()]
        self.feeds = feeds

    def outputs(self):
        return self.session.run(self.names, self.feeds)

    def block(self, seconds):
        return timed_block(self.outputs, seconds)


class OpenVINO:
    name = "openvino"

    def __init__(self, path, feeds, threads, precision="f32"):
        import openvino
        core = openvino.Core()
        start = time.perf_counter()
        try:
            model = core.read_model(str(path))
            model.reshape({name: list(values.shape)
                           for name, values in feeds.items()})
            self.compiled = core.compile_model(model, "CPU", {
                "INFERENCE_PRECISION_HINT": precision,
                "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1})
        except RuntimeError as why:
            raise Refused(str(why).splitlines()[-1][:200]) from None
        self.open_s = time.perf_counter() - start
        self.request = self.compiled.create_infer_request()
        self.feeds = feeds

    def outputs(self):
        self.request.infer(self.feeds)
        return [self.request.get_tensor(o).data for o in self.compiled.outputs]

    def block(self, seconds):
        call = lambda: self.request.infer(self.feeds)  # noqa: E731
        return timed_block(call, seconds)


class IREE:
    """One thread only: its driver local-sync."""
    name = "iree"

    def __init__(self, context, path, feeds, _threads=1):
        import iree.runtime
        self.feeds = [feeds[i.name] for i in static_copy(path, feeds, None)]
        vmfb = context.work / f"{path.stem}.vmfb"
        if not vmfb.exists():
            compile_iree(context, path, feeds, vmfb)
        loaded = iree.runtime.load_vm_flatbuffer_file(
            str(vmfb), driver="local-sync")
        names = [n for n in loaded.vm_module.function_names
                 if not n.startswith("__") and not n.endswith("$async")]
        self.function = loaded[names[0]]

    def outputs(self):
        found = self.function(*self.feeds)
        found = found if isinstance(found, (tuple, list)) else [found]
        return [f.to_host() for f in found]

    def block(self, seconds):
        return timed_block(self.outputs, seconds)


def static_copy(path, feeds, target):
    """The model's own inputs in order; written with the feeds' sizes to
    `target`, for those who want them fixed."""
    model = onnx.load(path)
    constants = {t.name for t in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in constants]
    if target:
        for value in inputs:
            shape = value.type.tensor_type.shape
            shape.ClearField("dim")
            for size in feeds[value.name].shape:
                shape.dim.add().dim_value = size
        del model.graph.value_info[:]
        onnx.save(model, target)
    return inputs


def import_iree(context, path, feeds):
    """ONNX to IREE's MLIR; not part of what its compile time means."""
    import sys
    static, mlir = (context.work / f"{path.stem}.static.onnx",
                    context.work / f"{path.stem}.iree.mlir")
    static_copy(path, feeds, static)
    context.run(sys.executable, "-m", "iree.compiler.tools.import_onnx",
                static, "-o", mlir, "--opset-version", "17")
    static.unlink()
    return mlir


def iree_command(mlir, vmfb):
    import pathlib
    import sys
    tool = pathlib.Path(sys.executable).parent / "iree-compile"
    return [tool, mlir, "-o", vmfb, "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"]


def compile_iree(context, path, feeds, vmfb):
    mlir = import_iree(context, path, feeds)
    try:
        context.run(*iree_command(mlir, vmfb), timeout=300)
    finally:
        mlir.unlink(missing_ok=True)
