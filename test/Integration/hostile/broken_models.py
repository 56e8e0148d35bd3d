# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that must be refused, each broken in one way.

Each entry says which words the refusal must name: the node, the tensor or the
argument that is at fault, never the wording around it.
"""

import dataclasses
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


@dataclasses.dataclass
class Refusal:
    name: str
    model: object             # a ModelProto, or bytes
    names: list               # words that the message must contain
    arguments: list = dataclasses.field(default_factory=list)
    files: dict = dataclasses.field(default_factory=dict)  # beside the model
    # A flipped byte may leave a model that is fine.
    may_succeed: bool = False
    # What is wrong whatever the model says ends with 2.
    usage: bool = False
    lines: int = 30           # of the message, at most
    suffix: str = ".onnx"


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def result(rank):
    """An output of some size, so that no size can be what is at fault."""
    return value("y", [f"size_{k}" for k in range(rank)])


def weight(name, values):
    return numpy_helper.from_array(np.asarray(values, np.float32), name)


def model(nodes, inputs, outputs, weights=(), opsets=(("", 17),), functions=()):
    graph = helper.make_graph(list(nodes), "hostile", list(inputs),
                              list(outputs), list(weights))
    return helper.make_model(
        graph, ir_version=8, functions=list(functions),
        opset_imports=[helper.make_opsetid(*opset) for opset in opsets])


def node(kind, inputs, outputs, name, **attributes):
    return helper.make_node(kind, inputs, outputs, name, **attributes)


def unary(kind, name, shape=(2, 3), out=None, kinds=(FLOAT, FLOAT),
          **attributes):
    """A graph of one node with one input and one output."""
    return model([node(kind, ["x"], ["y"], name, **attributes)],
                 [value("x", shape, kinds[0])],
                 [value("y", out or shape, kinds[1])])


def relu():
    return unary("Relu", "good")


def structure():
    """Graphs that are no graphs."""
    x, y = value("x", [2]), value("y", [2])
    yield Refusal("cyclic", model(
        [node("Add", ["x", "b"], ["a"], "first"),
         node("Relu", ["a"], ["b"], "second"),
         node("Relu", ["b"], ["y"], "third")], [x], [y]), ["first"])
    yield Refusal("feeds-itself", model(
        [node("Add", ["x", "y"], ["y"], "loop")], [x], [y]), ["loop"])
    yield Refusal("missing-tensor", model(
        [node("Add", ["x", "nowhere"], ["y"], "adder")], [x], [y]),
        ["adder", "nowhere"])
    yield Refusal("defined-twice", model(
        [node("Relu", ["x"], ["y"], "one"),
         node("Neg", ["x"], ["y"], "two")], [x], [y]), ["two", "y"])
    yield Refusal("defines-an-input", model(
        [node("Relu", ["x"], ["x"], "over"),
         node("Relu", ["x"], ["y"], "next")], [x], [y]), ["over", "x"])
    yield Refusal("defines-a-weight", model(
        [node("Relu", ["x"], ["w"], "over"),
         node("Add", ["x", "w"], ["y"], "next")], [x], [y],
        [weight("w", [1, 2])]), ["over", "w"])
    yield Refusal("two-inputs-of-one-name", model(
        [node("Relu", ["twin"], ["y"], "good")],
        [value("twin", [2]), value("twin", [2])], [y]), ["twin"])
    yield Refusal("two-weights-of-one-name", model(
        [node("Add", ["x", "twin"], ["y"], "good")], [x], [y],
        [weight("twin", [1, 2]), weight("twin", [3, 4])]), ["twin"])
    yield Refusal("output-from-nowhere", model(
        [node("Relu", ["x"], ["z"], "good")], [x], [y]), ["y"])
    yield Refusal("no-outputs", model(
        [node("Relu", ["x"], ["z"], "good")], [x], []), ["output"])
    empty = onnx.ModelProto(ir_version=8)
    empty.opset_import.append(helper.make_opsetid("", 17))
    yield Refusal("no-graph", empty, ["graph"])


def vocabulary():
    """Operators and versions that do not exist."""
    yield Refusal("unknown-operator", unary("Frobnicate", "odd"),
                  ["Frobnicate", "odd"])
    foreign = unary("Relu", "odd", domain="com.example")
    foreign.opset_import.append(helper.make_opsetid("com.example", 1))
    yield Refusal("unknown-domain", foreign, ["com.example", "odd"])
    yield Refusal("domain-not-imported",
                  unary("Relu", "odd", domain="com.example"), ["com.example"])
    for version in (0, -1, 999):
        strange = relu()
        strange.opset_import[0].version = version
        yield Refusal(f"opset-{version}", strange, [str(version)])
    without = relu()
    del without.opset_import[:]
    yield Refusal("no-opset", without, ["opset"])
    both = model(
        [node("Frobnicate", ["x"], ["a"], "odd_1"),
         node("Twiddle", ["a"], ["b"], "odd_2"),
         node("Frobnicate", ["b"], ["y"], "odd_3")],
        [value("x", [2])], [value("y", [2])])
    yield Refusal("all-unsupported-at-once", both,
                  ["Frobnicate", "Twiddle", "odd_2"])
    # Needs its second input from opset 13 on.
    yield Refusal("too-few-inputs", unary("Squeeze", "few", axes=[0]),
                  ["few"])
    yield Refusal("too-many-inputs", model(
        [node("Relu", ["x", "x"], ["y"], "many")], [value("x", [2])],
        [value("y", [2])]), ["many"])


def typing():
    """Operands of the wrong type or rank."""
    image = value("x", [1, 3, 8, 8])
    yield Refusal("mixed-types", model(
        [node("Add", ["x", "i"], ["y"], "adder")],
        [value("x", [2]), value("i", [2], INT64)], [value("y", [2])]),
        ["adder"])
    yield Refusal("relu-of-strings", unary(
        "Relu", "stringy", kinds=(TensorProto.STRING,) * 2), ["string"])
    yield Refusal("no-such-type", unary("Relu", "typed", kinds=(99, 99)),
                  ["x"])
    yield Refusal("output-type", unary("Relu", "typed", kinds=(FLOAT, INT64)),
                  ["y"])
    yield Refusal("conv-of-a-matrix", model(
        [node("Conv", ["x", "w"], ["y"], "flat")], [value("x", [3, 8])],
        [result(4)], [weight("w", np.ones((4, 3, 3, 3)))]), ["flat"])
    yield Refusal("conv-channels", model(
        [node("Conv", ["x", "w"], ["y"], "narrow")], [image],
        [result(4)], [weight("w", np.ones((4, 5, 3, 3)))]), ["narrow"])
    yield Refusal("conv-kernel-shape", model(
        [node("Conv", ["x", "w"], ["y"], "kernel", kernel_shape=[5, 5])],
        [image], [result(4)], [weight("w", np.ones((4, 3, 3, 3)))]),
        ["kernel"])
    for what, attributes in {
            "group-0": {"group": 0}, "group-2": {"group": 2},
            "stride-0": {"strides": [0, 1]},
            "stride-negative": {"strides": [-1, 1]},
            "dilation-0": {"dilations": [0, 1]},
            "pads-short": {"pads": [1, 1]},
            "pads-negative": {"pads": [-9, -9, -9, -9]},
            "kernel-too-large": {"dilations": [9, 9]},
            "auto-pad": {"auto_pad": "SOMEHOW"},
            "group-as-text": {"group": "three"}}.items():
        yield Refusal(f"conv-{what}", model(
            [node("Conv", ["x", "w"], ["y"], "conv", **attributes)], [image],
            [result(4)], [weight("w", np.ones((4, 3, 3, 3)))]),
            ["conv"])
    yield Refusal("matmul-inner", model(
        [node("MatMul", ["x", "w"], ["y"], "product")], [value("x", [2, 3])],
        [result(2)], [weight("w", np.ones((4, 5)))]), ["product"])
    yield Refusal("gemm-rank", model(
        [node("Gemm", ["x", "w"], ["y"], "gemm")], [value("x", [2, 3, 4])],
        [result(2)], [weight("w", np.ones((4, 5)))]), ["gemm"])
    yield Refusal("broadcast", model(
        [node("Add", ["x", "w"], ["y"], "adder")], [value("x", [2, 3])],
        [result(2)], [weight("w", np.ones(4))]), ["adder"])
    yield Refusal("concat-sizes", model(
        [node("Concat", ["x", "w"], ["y"], "joiner", axis=0)],
        [value("x", [2, 3])], [result(2)],
        [weight("w", np.ones((2, 4)))]), ["joiner"])
    yield Refusal("concat-without-axis", model(
        [node("Concat", ["x", "x"], ["y"], "joiner")], [value("x", [2, 3])],
        [result(2)]), ["joiner", "axis"])
    yield Refusal("axis-out-of-range",
                  unary("Softmax", "beyond", axis=7), ["beyond", "axis"])
    yield Refusal("axis-as-text",
                  unary("Softmax", "texty", axis="last"), ["texty", "axis"])
    yield Refusal("perm-repeats",
                  unary("Transpose", "turner", perm=[0, 0]), ["turner"])
    yield Refusal("perm-short",
                  unary("Transpose", "turner", perm=[0]), ["turner"])
    for what, target in {"count": [5, 5], "two-unknown": [-1, -1],
                         "negative": [-2, 3], "overflow": [2**62, 4]}.items():
        yield Refusal(f"reshape-{what}", model(
            [node("Reshape", ["x", "s"], ["y"], "shaper")],
            [value("x", [2, 3])], [result(2)],
            [numpy_helper.from_array(np.array(target, np.int64), "s")]),
            ["shaper"])


def sizes():
    """Sizes that no machine has, and weights that contradict theirs."""
    for what, size in {"2-to-the-40": 2**40, "negative": -7,
                       "2-to-the-62": 2**62}.items():
        yield Refusal(f"dimension-{what}",
                      unary("Relu", "big", [size, 3], [size, 3]), ["x"])
    yield Refusal("dimensions-overflow",
                  unary("Relu", "big", [2**32, 2**32], [2**32, 2**32]), ["x"])
    for what, dims in {"negative": [-2, 3], "2-to-the-40": [2**40, 3],
                       "overflow": [2**32, 2**32], "too-many": [2, 4],
                       "too-few": [1, 3]}.items():
        wrong = weight("w", np.ones((2, 3)))
        wrong.dims[:] = dims
        yield Refusal(f"weight-dims-{what}", model(
            [node("Add", ["x", "w"], ["y"], "adder")], [value("x", [2, 3])],
            [result(2)], [wrong]), ["w"])
    odd = weight("w", np.ones((2, 3)))
    odd.raw_data = odd.raw_data[:-3]
    yield Refusal("weight-bytes-odd", model(
        [node("Add", ["x", "w"], ["y"], "adder")], [value("x", [2, 3])],
        [result(2)], [odd]), ["w"])
    typed = weight("w", np.ones((2, 3)))
    typed.data_type = 77
    yield Refusal("weight-type", model(
        [node("Add", ["x", "w"], ["y"], "adder")], [value("x", [2, 3])],
        [result(2)], [typed]), ["w"])
    # An initializer may also be named as an input; then they must agree.
    yield Refusal("weight-contradicts-its-input", model(
        [node("Add", ["x", "w"], ["y"], "adder")],
        [value("x", [2, 3]), value("w", [5])], [result(2)],
        [weight("w", np.ones((2, 3)))]), ["w"])


def external():
    """Weights in files that are elsewhere, missing or too short."""
    def refers(location, **entries):
        tensor = TensorProto(name="w", data_type=FLOAT, dims=[2, 3])
        tensor.data_location = TensorProto.EXTERNAL
        for key, text in {"location": location, **entries}.items():
            tensor.external_data.add(key=key, value=str(text))
        return model([node("Add", ["x", "w"], ["y"], "adder")],
                     [value("x", [2, 3])], [value("y", [2, 3])], [tensor])

    data = {"w.bin": bytes(24)}
    yield Refusal("external-parent", refers("../w.bin"), ["../w.bin"],
                  files={"../w.bin": bytes(24)})
    yield Refusal("external-absolute", refers("/etc/hostname"),
                  ["/etc/hostname"])
    yield Refusal("external-through-a-link", refers("link.bin"), ["link.bin"],
                  files={"link.bin": pathlib.Path("/etc/hostname")})
    yield Refusal("external-missing", refers("gone.bin"), ["gone.bin"])
    fifty = refers("gone.bin")
    for k in range(50):
        more = fifty.graph.initializer.add()
        more.CopyFrom(fifty.graph.initializer[0])
        more.name = f"w{k}"
        fifty.graph.node.append(node("Add", ["x", more.name], [f"y{k}"],
                                     f"adder{k}"))
        fifty.graph.output.append(value(f"y{k}", [2, 3]))
    yield Refusal("external-missing-of-many", fifty,
                  ["gone.bin", "51 tensors", "'w'"], lines=2)
    yield Refusal("external-nul", refers("w.bin\0x"), ["w.bin\\0x", "NUL"],
                  files=data)
    yield Refusal("external-out-and-back", refers("sub/../../w.bin"),
                  ["sub/../../w.bin"], files={"../w.bin": bytes(24)})
    yield Refusal("external-folder", refers("."), ["w"])
    yield Refusal("external-empty-location", refers(""), ["w"])
    yield Refusal("external-too-short", refers("w.bin"), ["w.bin"],
                  files={"w.bin": bytes(20)})
    for what, entries in {
            "offset-beyond": {"offset": 4}, "length-too-small": {"length": 8},
            "offset-negative": {"offset": -8},
            "offset-overflow": {"offset": 2**63 - 8},
            "length-overflow": {"offset": 8, "length": 2**63 - 1},
            "offset-text": {"offset": "soon"}}.items():
        yield Refusal(f"external-{what}", refers("w.bin", **entries), ["w"],
                      files=data)


def arguments(digits):
    """The digits example, asked for in ways that cannot be met."""
    shape = ["--shape=image=1x1x8x8"]
    yield Refusal("shape-missing", digits, ["image", "--shape=image="])
    yield Refusal("shape-of-nothing", digits, ["picture"],
                  [*shape, "--shape=picture=1x1x8x8"])
    yield Refusal("shape-rank", digits, ["image"], ["--shape=image=1x8x8"])
    # No size at all is the shape of a scalar.
    yield Refusal("shape-scalar", digits, ["image"], ["--shape=image="])
    yield Refusal("shape-contradicts-the-model", digits, ["image"],
                  ["--shape=image=1x3x8x8"])
    for index, text in enumerate(
            ["image", "image=1x", "image=1x1x8xeight",
             "image=1x1x8x-8", "image=1x1x8x99999999999999999999"]):
        yield Refusal(f"shape-malformed-{index}", digits, ["--shape"],
                      [f"--shape={text}"], usage=True)
    yield Refusal("shape-zero", digits, [], ["--shape=image=0x1x8x8"],
                  may_succeed=True)
    yield Refusal("shape-2-to-the-40", digits, ["image"],
                  [f"--shape=image={2**40}x1x8x8"])
    yield Refusal("target-unknown", digits, ["toaster"],
                  [*shape, "--target=toaster"], usage=True)
    yield Refusal("preset-unknown", digits, ["i8086"],
                  [*shape, "--target=cpu:i8086"], usage=True)


def files(digits, count):
    """Things that are no models, and models that were cut or changed."""
    for name, content in {
            "empty": b"", "text": b"This is not a model.\n" * 50,
            "picture": b"\x89PNG\r\n\x1a\n" + bytes(200),
            "zeros": bytes(4096), "ones": b"\xff" * 4096,
            "archive": b"PK\x03\x04" + bytes(300),
            "noise": np.random.default_rng(5).bytes(5000)}.items():
        yield Refusal(f"not-a-model-{name}", content, [".onnx"])
    yield Refusal("not-mlir", b"func.func @f( {\n", [".mlir"], suffix=".mlir")
    yield Refusal("empty-mlir", b"", [".mlir"], suffix=".mlir")
    yield Refusal("nested", nested(500), [])
    content = digits.SerializeToString()
    for place in np.linspace(1, len(content) - 1, count).astype(int):
        yield Refusal(f"truncated-at-{place}", content[:place], [".onnx"],
                      ["--shape=image=1x1x8x8"])
    random = np.random.default_rng(11)
    for place in np.sort(random.choice(len(content), count, replace=False)):
        changed = bytearray(content)
        changed[place] ^= int(random.integers(1, 256))
        yield Refusal(f"changed-at-{place}", bytes(changed), [],
                      ["--shape=image=1x1x8x8"], may_succeed=True)


def nested(depth):
    """A model whose If holds an If that holds an If... as raw protobuf."""
    def field(number, content):
        size, length = len(content), b""
        while True:
            byte, size = size & 127, size >> 7
            length += bytes([byte | (128 if size else 0)])
            if not size:
                return bytes([number << 3 | 2]) + length + content

    graph = field(2, b"inner")
    for _ in range(depth):
        attribute = field(1, b"then_branch") + field(6, graph)
        graph = field(1, field(4, b"If") + field(5, attribute))
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11")


def all_refusals(digits_path, truncations=200):
    digits = onnx.load(digits_path)
    yield from structure()
    yield from vocabulary()
    yield from typing()
    yield from sizes()
    yield from external()
    yield from arguments(digits)
    yield from files(digits, truncations)
