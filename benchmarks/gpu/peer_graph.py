# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model of ONNX as PyTorch functions, for torch.compile: what large.py wrote
down of its graph, with small tensors as they are and large ones random, as the
module beside it has them."""

import io
import json

import numpy as np


def pads_of(attributes):
    """(one for each dim, or None where begin and end differ: then all)."""
    pads = attributes.get("pads", [0, 0, 0, 0])
    half = len(pads) // 2
    return pads[:half] if pads[:half] == pads[half:] else None


class Call:
    """A graph on inputs of its own; what it is given is the module's."""

    def __init__(self, graph, inputs):
        self.graph, self.inputs, self.torch = graph, inputs, graph.torch

    def __call__(self, *_):
        with self.torch.no_grad():
            return self.graph(*self.inputs)

    def compiled(self):
        made = Call(self.graph, self.inputs)
        made.graph = self.torch.compile(self.graph.__call__, dynamic=False,
                                        mode="max-autotune")
        return made


class Graph:
    def __init__(self, torch, archive, name, type_, device):
        self.torch, self.type = torch, type_
        told = json.loads(archive.read(name + ".json"))
        self.inputs, self.outputs = told["inputs"], told["outputs"]
        self.nodes = told["nodes"]
        arrays = np.load(io.BytesIO(archive.read(name + ".npz")))
        generator = torch.Generator(device).manual_seed(7)
        self.tensors = {}
        # Shapes and the like stay numbers, for whoever compiles.
        self.numbers = {n: arrays[n].tolist() for n in arrays.files
                        if arrays[n].dtype == np.int64}
        for key in arrays.files:
            if key not in self.numbers or arrays[key].ndim:
                self.tensors[key] = self.own(
                    torch.from_numpy(arrays[key]).to(device))
        for key, (shape, deviation) in told["random"].items():
            self.tensors[key] = self.own(torch.randn(
                shape, generator=generator, device=device) * deviation)

    def own(self, tensor):
        if tensor.is_floating_point():
            tensor = tensor.to(self.type)
        if tensor.ndim == 4:
            tensor = tensor.contiguous(
                memory_format=self.torch.channels_last)
        return tensor

    def __call__(self, *inputs):
        values = {**self.tensors, **dict(zip(self.inputs, inputs))}
        for op, names, results, attributes in self.nodes:
            arguments = [values.get(n) for n in names]
            numbers = [self.numbers.get(n) for n in names]
            values[results[0]] = getattr(self, "do_" + op)(
                arguments, numbers, attributes)
        return [values[n] for n in self.outputs]

    def do_Conv(self, x, _, a):
        pads = pads_of(a)
        if pads is None:
            top, left, bottom, right = a["pads"]
            x[0] = self.torch.nn.functional.pad(
                x[0], (left, right, top, bottom))
            pads = 0
        return self.torch.nn.functional.conv2d(
            x[0], x[1], x[2] if len(x) > 2 else None, a.get("strides", 1),
            pads, a.get("dilations", 1), a.get("group", 1))

    def do_ConvTranspose(self, x, _, a):
        return self.torch.nn.functional.conv_transpose2d(
            x[0], x[1], x[2] if len(x) > 2 else None, a.get("strides", 1),
            pads_of(a), groups=a.get("group", 1))

    def do_BatchNormalization(self, x, _, a):
        return self.torch.nn.functional.batch_norm(
            x[0], x[3], x[4], x[1], x[2], eps=a.get("epsilon", 1e-5))

    def do_MaxPool(self, x, _, a):
        return self.torch.nn.functional.max_pool2d(
            x[0], a["kernel_shape"], a.get("strides", 1), pads_of(a))

    def do_GlobalAveragePool(self, x, _, __):
        return x[0].mean((2, 3), keepdim=True)

    def do_Resize(self, x, _, a):
        """To whole multiples, of the nearest to the left."""
        return self.torch.nn.functional.interpolate(
            x[0], scale_factor=a["scales"])

    def do_Gemm(self, x, _, a):
        left = x[0].T if a.get("transA") else x[0]
        right = x[1].T if a.get("transB") else x[1]
        y = left @ right
        return y + x[2] if len(x) > 2 else y

    def do_Attention(self, x, _, a):
        """large.py's: queries, keys as rows, values, what hides scores."""
        return self.torch.nn.functional.scaled_dot_product_attention(
            x[0], x[1], x[2], attn_mask=x[3] if len(x) > 3 else None,
            scale=a["scale"])

    def do_LayerNormalization(self, x, _, a):
        return self.torch.nn.functional.layer_norm(
            x[0], x[0].shape[-1:], x[1], x[2], a.get("epsilon", 1e-5))

    def do_Softmax(self, x, _, a):
        return self.torch.softmax(x[0], a.get("axis", -1))

    def do_Reshape(self, x, numbers, _):
        shape = [x[0].shape[i] if n == 0 else n
                 for i, n in enumerate(numbers[1])]
        return x[0].reshape(shape)

    def do_Flatten(self, x, _, a):
        return x[0].flatten(a.get("axis", 1))

    def do_Transpose(self, x, _, a):
        return x[0].permute(a["perm"])

    def do_Unsqueeze(self, x, numbers, a):
        y = x[0]
        for axis in sorted(a.get("axes") or numbers[1]):
            y = y.unsqueeze(axis)
        return y

    def do_Gather(self, x, numbers, a):
        axis = a.get("axis", 0)
        if isinstance(numbers[1], int):
            return x[0].select(axis, numbers[1])
        if axis == 0 and x[0].ndim == 2:
            return self.torch.nn.functional.embedding(x[1], x[0])
        return x[0].index_select(axis, x[1])

    def do_Cast(self, x, _, a):
        return x[0].to(self.type if a["to"] == 1 else self.torch.int64)

    def do_Concat(self, x, _, a):
        return self.torch.cat(x, a["axis"])

    def reduced(self, x, numbers, a):
        axes = a.get("axes") or numbers[1]
        return {"dim": axes, "keepdim": bool(a.get("keepdims", 1))}

    def do_ReduceMean(self, x, numbers, a):
        return x[0].mean(**self.reduced(x, numbers, a))

    def do_ReduceSum(self, x, numbers, a):
        return x[0].sum(**self.reduced(x, numbers, a))

    def do_ReduceL2(self, x, numbers, a):
        return self.torch.linalg.vector_norm(
            x[0], **self.reduced(x, numbers, a))

    def do_Clip(self, x, _, a):
        least = x[1] if len(x) > 1 else a.get("min")
        most = x[2] if len(x) > 2 else a.get("max")
        return self.torch.clamp(x[0], least, most)

    def do_HardSigmoid(self, x, _, a):
        return self.torch.clamp(a.get("alpha", 0.2) * x[0]
                                + a.get("beta", 0.5), 0, 1)

    def do_Add(self, x, *_):
        return x[0] + x[1]

    def do_Sub(self, x, *_):
        return x[0] - x[1]

    def do_Mul(self, x, *_):
        return x[0] * x[1]

    def do_Div(self, x, *_):
        return x[0] / x[1]

    def do_Pow(self, x, *_):
        return x[0] ** x[1]

    def do_Relu(self, x, *_):
        return self.torch.relu(x[0])

    def do_Sqrt(self, x, *_):
        return self.torch.sqrt(x[0])

    def do_Erf(self, x, *_):
        return self.torch.erf(x[0])

    def do_Tanh(self, x, *_):
        return self.torch.tanh(x[0])

    def do_Sigmoid(self, x, *_):
        return self.torch.sigmoid(x[0])
