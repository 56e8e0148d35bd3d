# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models in bf16 whose weights do not travel: modules hold a seed in
their place. What they compute is compared with the same weights in f32 on the
processor, their time with that of the same graph in PyTorch.
"""

import contextlib
import dataclasses
import io
import json
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

import given
from given import ROOT

sys.path.append(str(ROOT / "benchmarks" / "models"))
import bert  # noqa: E402
import resnet50  # noqa: E402

SEED = 7
MOST = 4096  # elements of a tensor that travels
# Several dozen layers that round to bf16 each; of batch 1 and 16.
RULE = {"norm": 5e-2}
SIZES = {"resnet50": {"batch": None},
         "bert_base": {"batch": None, "sequence": 128},
         "ppocr_det": {"p2o.DynamicDimension.0": None,
                       "p2o.DynamicDimension.1": 320,
                       "p2o.DynamicDimension.2": 320},
         "minilm_l6": {}}
# The same families for a driver that interprets: all widths and heads as they
# are, but one block a stage, two layers, few pixels and tokens.
SIDE, TOKENS = 64, 16
QUICK = {"resnet50": SIZES["resnet50"],
         "bert_base": {"batch": None, "sequence": TOKENS},
         "ppocr_det": {"p2o.DynamicDimension.0": None,
                       "p2o.DynamicDimension.1": 32,
                       "p2o.DynamicDimension.2": 32},
         "minilm_l6": {}}
SHORT = {
    "resnet50": lambda path: resnet50.write(path, SIDE, (1, 1, 1, 1)),
    "bert_base": lambda path: bert.write_bert_base(
        path, dataclasses.replace(bert.BERT_BASE, layers=2)),
    "minilm_l6": lambda path: bert.write_minilm_l6(
        path, 1, TOKENS, dataclasses.replace(bert.MINILM_L6, layers=2))}


def without_sigmoid(path, work):
    """The scores in front of a last Sigmoid: random weights make them so large
    that their rounding would be all of an output or nothing of it."""
    model = onnx.load(path)
    last, output = model.graph.node[-1], model.graph.output[0]
    if last.op_type != "Sigmoid" or last.output[0] != output.name:
        return path
    output.name = last.input[0]
    model.graph.node.remove(last)
    onnx.save(model, work / "scores.onnx")
    return work / "scores.onnx"


@contextlib.contextmanager
def model_of(name, work, quick):
    if not quick or name not in SHORT:
        with given.model_of(name, work) as (path, _, __):
            yield without_sigmoid(path, work)
        return
    path = work / f"short-{name}.onnx"
    SHORT[name](path)
    yield path
    path.unlink()


def fixed(path, sizes, work):
    """The graph with its constants folded, for these sizes."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = \
        onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    for name, size in sizes.items():
        options.add_free_dimension_override_by_name(name, size)
    options.optimized_model_filepath = str(work / "fixed.onnx")
    onnxruntime.InferenceSession(str(path), options,
                                 providers=["CPUExecutionProvider"])
    return onnx.load(work / "fixed.onnx")


def attributes_of(node):
    told = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    return {n: v.decode() if isinstance(v, bytes) else
            list(v) if hasattr(v, "__len__") else v for n, v in told.items()}


def join_attentions(nodes, tensors):
    """softmax(q k' / c + m) v as one node, as PyTorch has a kernel for it."""
    made = {n["out"][0]: n for n in nodes}
    readers = {}
    for node in nodes:
        for name in node["in"]:
            readers.setdefault(name, []).append(node)
    gone = set()
    for soft in nodes:
        if soft["op"] != "Softmax":
            continue
        add = made.get(soft["in"][0])
        scaled = add and made.get(add["in"][0])
        product = scaled and made.get(scaled["in"][0])
        keys = product and made.get(product["in"][1])
        last = readers[soft["out"][0]]
        if not (add["op"] == "Add" and scaled["op"] == "Div"
                and product["op"] == "MatMul" and keys["op"] == "Transpose"
                and keys["attr"]["perm"] == [0, 2, 3, 1]
                and len(last) == 1 and last[0]["op"] == "MatMul"):
            continue
        keys["attr"] = {"perm": [0, 2, 1, 3]}
        last[0].update(op="Attention", attr={
            "scale": 1 / float(tensors[scaled["in"][1]])})
        last[0]["in"] = [product["in"][0], keys["out"][0], last[0]["in"][1],
                         add["in"][1]]
        gone |= {id(n) for n in (soft, add, scaled, product)}
    return [n for n in nodes if id(n) not in gone]


def write_peer(model, archive, name):
    """What peer_graph.py reads."""
    graph = model.graph
    tensors = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    nodes = [{"op": n.op_type, "in": list(n.input), "out": list(n.output),
              "attr": attributes_of(n)} for n in graph.node]
    for node in nodes:
        if node["op"] == "Resize":
            scales = tensors[node["in"][2]]
            node.update({"in": node["in"][:1], "attr": {
                "scales": [float(s) for s in scales[2:]]}})
    nodes = join_attentions(nodes, tensors)
    read = {name for node in nodes for name in node["in"]}
    tensors = {n: t for n, t in tensors.items() if n in read}
    large = {n: t for n, t in tensors.items()
             if t.size > MOST and t.dtype == np.float32}
    buffer = io.BytesIO()
    np.savez(buffer, **{n: t for n, t in tensors.items() if n not in large})
    archive.writestr(name + ".npz", buffer.getvalue())
    archive.writestr(name + ".json", json.dumps({
        "inputs": [i.name for i in graph.input],
        "outputs": [o.name for o in graph.output],
        "nodes": [[n["op"], n["in"], n["out"], n["attr"]] for n in nodes],
        "random": {n: [t.shape, float(t.std())] for n, t in large.items()}}))


def inputs_of(model):
    """Fresh ones, as the model meets them."""
    random = np.random.default_rng()
    feeds = {}
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        if value.type.tensor_type.elem_type == onnx.TensorProto.INT64:
            most = {"input_ids": 30000, "attention_mask": 1}.get(value.name, 0)
            feeds[value.name] = np.full(shape, most, np.int64) \
                if most < 2 else random.integers(999, most, shape)
        else:
            feeds[value.name] = random.standard_normal(shape).astype(
                np.float32)
    return feeds


def cases(work, archive, quick, wanted):
    """(case, path, flags of both modules, inputs, no outputs), of those whose
    names are wanted: each takes a while."""
    for name, sizes in (QUICK if quick else SIZES).items():
        for batch in (1, 2 if quick else 16) if sizes else (1,):
            title = (f"{name}{', short,' if quick else ''} of {batch} in "
                     "bf16, random weights")
            if not wanted(title):
                continue
            with model_of(name, work, quick) as path:
                own = {n: batch if s is None else s for n, s in sizes.items()}
                model = fixed(path, own, work)
                key = f"large-{name}-{batch}"
                write_peer(model, archive, key)
                feeds = inputs_of(model)
                flags = [f"--weights=random:{SEED}"] + [
                    f"--shape={n}=" + "x".join(map(str, f.shape))
                    for n, f in feeds.items()]
                yield {"part": "large", "name": title, "rule": RULE,
                       "type": "bf16", "preset": True, "peer": key,
                       "group": "whole models", "reference": key + ".ash",
                       "flags": ["--precision=bf16"]}, path, flags, feeds, []
