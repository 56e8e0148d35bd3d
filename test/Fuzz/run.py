# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs graphs on two targets, and judges what came out."""

import json
import pathlib
import subprocess

import onnx
import onnx.numpy_helper

from graph import ROUNDING, make_model, write_test
from machine import machine_model

# Of what rounding the inputs otherwise would do, this many times as much.
NOISE = 12
# Roundings that results may be off by, relative to the largest: chains of
# them, in another order. f32 has the errors of Winograd's transforms, too.
ROUNDINGS = {"f64": 4096, "f32": 500, "f16": 12, "bf16": 10}


class Case:
    """A graph to run: its parts, and how it is compiled."""

    def __init__(self, nodes, inputs, initializers, outputs, values, flags,
                 opened=None):
        self.nodes = nodes
        self.inputs = inputs
        self.initializers = initializers
        self.outputs = outputs
        self.values = values  # name -> Value
        self.flags = flags
        self.opened = opened  # sizes that a call chooses, or None

    @classmethod
    def of(cls, graph, outputs, flags, opened=None):
        values = {v.name: v for v in graph.values}
        return cls(graph.nodes, graph.inputs, graph.initializers, outputs,
                   values, flags, opened)

    def changed(self, **parts):
        return Case(**{**vars(self), **parts})

    def with_outputs(self, outputs):
        return self.changed(outputs=outputs)

    def model(self):
        return make_model(self.nodes, self.inputs, self.initializers,
                          self.outputs, self.opened)

    def all_flags(self):
        return self.flags + (self.opened.flags(self.inputs)
                             if self.opened else [])

    def tolerance(self):
        """Relative to the largest result."""
        floats = {v.dtype for v in self.values.values() if v.is_float}
        return max((ROUNDINGS[d] * ROUNDING[d] for d in floats), default=0)


def onnxruntime_results(model, inputs):
    """What ONNX Runtime computes; nothing where it lacks an operator."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options,
            providers=["CPUExecutionProvider"])
        return session.run(None, inputs)
    except Exception:
        return ()


def has_bfloat(case):
    return any(v.dtype == "bf16" for v in case.values.values())


class Runner:
    def __init__(self, program, work, jobs=2):
        self.program = str(program)
        self.work = pathlib.Path(work)
        self.jobs = jobs
        self.count = 0

    def write(self, case, oracle):
        self.count += 1
        folder = self.work / f"graph-{self.count}"
        model = case.model()
        results = ()
        # It has few kernels of bf16, and NumPy's arrays of it are no inputs.
        if oracle and not has_bfloat(case) and not case.opened:
            results = onnxruntime_results(model, case.inputs)
        write_test(folder, model, case.inputs.values(), results)
        return folder

    def write_machine(self, folder, flags):
        """The flags with a machine's file in place of its preset and seed."""
        target, threads, *rest = flags
        for i, flag in enumerate(rest):
            if flag.startswith("--machine="):
                preset, seed = flag.removeprefix("--machine=").split(":")
                file = folder / "machine.json"
                file.write_text(machine_model(preset, int(seed)))
                rest[i] = f"--machine={file}"
                target = "cpu"
        return [target, threads, *rest]

    def run(self, cases, oracle=False, keep_reference=False):
        """For each case its folder and its answer."""
        folders = [self.write(case, oracle) for case in cases]
        lines = "".join(
            " ".join([str(folder),
                      *self.write_machine(folder, case.all_flags())])
            + "\n" for folder, case in zip(folders, cases))
        command = [self.program, f"--jobs={self.jobs}"]
        if keep_reference:
            command.append("--write-reference")
        done = subprocess.run(command, input=lines, text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) != len(cases):
            raise RuntimeError(f"{self.program} ended with {done.returncode} "
                               f"after {len(answers)} of {len(cases)} graphs")
        return list(zip(folders, answers))

    def reference_values(self, case, wanted):
        """What the reference computes for these values, in their order."""
        if case.opened:
            return None
        [(folder, answer)] = self.run([case.with_outputs(wanted)],
                                      keep_reference=True)
        arrays = []
        for i in range(len(wanted)):
            file = folder / "reference" / f"output_{i}.pb"
            if not file.exists():
                return None
            tensor = onnx.TensorProto.FromString(file.read_bytes())
            arrays.append(onnx.numpy_helper.to_array(tensor))
        return arrays


def far(measured, noise, tolerance):
    """Whether one result is too far from another."""
    if measured["other_type"]:
        return True
    if noise["apart"]:  # on the edge of what is finite
        return False
    if measured["apart"] or measured["largest"] is None:
        return True
    slack = tolerance * max(measured["scale"], 1)
    return measured["largest"] > slack + NOISE * noise["largest"]


def judge_sizes(case, answer):
    """Each size that is served is as a compile for it alone has it."""
    tolerance = case.tolerance()
    for at in answer["sizes"]:
        where = f"at {case.opened.names()} {at['at']}: "
        if at["status"] in ("served", "failed"):
            return at["status"], None, where + at["why"]
        if at["status"] == "refused" and case.opened.holds(
                at["at"], case.inputs):
            return "refused", None, where + at["why"]
        for output in at.get("outputs", ()):
            measured = output["target"]
            if not far(measured, output["noise"], tolerance):
                continue
            why = (f"is {output['found_type']}" if measured["other_type"] else
                   f"{measured['unequal']} elements differ, most at "
                   f"{measured['at']}: {measured['found']} for "
                   f"{measured['expected']}")
            return ("wrong", case.outputs[output["index"]],
                    f"{where}{output['name']} ({output['type']}): {why}")
    return None


def judge(case, answer):
    """None where all is well, or (kind, output, why)."""
    if case.opened:
        if answer["status"] == "refused":
            return "unsupported", None, "open sizes: " + answer["why"]
        if "sizes" in answer:
            return judge_sizes(case, answer)
    status = answer["status"]
    if status == "unsupported":
        return "unsupported", None, answer["why"]
    if status != "ran":
        side = answer["target"]
        return status, None, f"{side}: {answer['why']}" if side else (
            answer["why"])
    tolerance = case.tolerance()
    for name, which in (("wrong", "target"), ("oracle", "oracle")):
        for i, output in enumerate(answer["outputs"]):
            measured = output.get(which)
            if measured and far(measured, output["noise"], tolerance):
                sides = ("the target", "the reference") if (
                    which == "target") else ("the reference", "ONNX Runtime")
                why = (f"{output['name']} ({output['type']}): "
                       f"{measured['unequal']} elements differ, most at "
                       f"{measured['at']}: {sides[0]} has "
                       f"{measured['found']}, {sides[1]} "
                       f"{measured['expected']}")
                return name, case.outputs[i], why
    return None
