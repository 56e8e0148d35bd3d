#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the cases of cases.py as ONNX's operator tests, for ashlar-check.

Two oracles say what is right: ONNX's reference evaluator and ONNX Runtime.
Where they differ, the standard is silent and the case is left out. The models
that are whole graphs have ONNX Runtime alone.
"""

import argparse
import pathlib
import shutil

import numpy as np
import onnx
import onnx.parser
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import cases
import computed_sizes
import control_flow
import data_sizes
import exported
import graphs
import sized_loops
import siblings


def as_value(name, array):
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def make_model(name, op, inputs, attributes, opset, known):
    names = [f"x{k}" for k in range(len(inputs))]
    given = [k for k in range(len(inputs)) if k not in known]
    outputs = ["y0", "y1"] if op == "TopK" else ["y0"]
    node = helper.make_node(op, names, outputs, f"the_{op}", **attributes)
    graph = helper.make_graph(
        [node], name, [as_value(names[k], inputs[k]) for k in given],
        [onnx.ValueInfoProto(name=o) for o in outputs],
        [numpy_helper.from_array(inputs[k], names[k]) for k in known])
    model = helper.make_model(
        graph, producer_name="ashlar-edges", ir_version=8,
        opset_imports=[helper.make_opsetid("", opset)])
    return model, [(names[k], inputs[k]) for k in given], outputs


def answer(run):
    """An oracle's outputs, or why it has none."""
    try:
        with np.errstate(all="ignore"):
            return [np.asarray(v) for v in run()], ""
    except Exception as error:  # whatever an oracle throws, it has no answer
        return None, str(error).strip().splitlines()[0][:100]


def agree(one, two):
    return all(a.shape == b.shape and a.dtype == b.dtype
               and np.allclose(a.astype(np.float64), b.astype(np.float64),
                               1e-4, 1e-6, equal_nan=True)
               for a, b in zip(one, two))


def expected(model, feeds, outputs):
    """What both oracles say, or None and why there is no such thing."""
    reference, why = answer(
        lambda: ReferenceEvaluator(model).run(None, feeds))
    if reference is None:
        return None, f"the reference evaluator says: {why}"
    # ONNX Runtime wants outputs with types; shapes come with the answer.
    for value, array in zip(model.graph.output, reference):
        value.CopyFrom(as_value(value.name, array))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = \
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    theirs, why = answer(lambda: onnxruntime.InferenceSession(
        model.SerializeToString(), options).run(outputs, feeds))
    if theirs is None:
        return None, f"ONNX Runtime says: {why}"
    if not agree(reference, theirs):
        return None, "the two oracles differ"
    return theirs, ""


def write(folder, model, feeds, values, number=0):
    data = folder / f"test_data_set_{number}"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for kind, tensors in (("input", feeds.items()),
                          ("output", zip([o.name for o in model.graph.output],
                                         values))):
        for index, (name, array) in enumerate(tensors):
            tensor = numpy_helper.from_array(np.asarray(array), name)
            (data / f"{kind}_{index}.pb").write_bytes(
                tensor.SerializeToString())


def make_models(out):
    """Writes the models that are whole graphs: how many."""
    written = [case for file in (control_flow, data_sizes, computed_sizes,
                                 sized_loops, graphs, exported,
                                 siblings)
               for case in file.CASES]
    options = onnxruntime.SessionOptions()
    # Without VNNI, sums of pairs of bytes saturate otherwise.
    options.add_session_config_entry("session.x64quantprecision", "1")
    for name, text, runs in written:
        model = onnx.parser.parse_model(text)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options,
            providers=["CPUExecutionProvider"])
        for number, feeds in enumerate(runs):
            write(out / name, model, feeds, session.run(None, feeds), number)
    return len(written)


def make(out, every=1):
    """Writes the cases: how many were written, and what was left out."""
    onnxruntime.set_default_logger_severity(4)
    shutil.rmtree(out, ignore_errors=True)
    written, left_out = 0, []
    for index, (name, op, inputs, attributes, opset, known) in enumerate(
            cases.all_cases()):
        if index % every:
            continue
        model, given, outputs = make_model(name, op, inputs, attributes,
                                           opset, known)
        feeds = dict(given)
        values, why = expected(model, feeds, outputs)
        if values is None:
            left_out.append((name, why))
            continue
        write(out / name, model, feeds, values)
        written += 1
    return written + make_models(out), left_out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    written, left_out = make(arguments.out, arguments.every)
    for name, why in left_out:
        print(f"left out: {name}: {why}")
    print(f"{written} cases written, {len(left_out)} left out")


if __name__ == "__main__":
    main()
