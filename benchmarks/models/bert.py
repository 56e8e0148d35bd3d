# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT encoders with random weights: BERT-base and MiniLM-L6.

Two ways in which the same encoder reaches ONNX:

  - BERT-base as PyTorch's older exporter wrote it (opset 13): dynamic batch
    and length, hence shape arithmetic before each Reshape; layer norm as nine
    nodes; GELU as five; the mask made of Unsqueeze, Cast, Sub, Mul.
  - MiniLM-L6 as newer ones do (opset 17): fixed sizes, LayerNormalization as
    one node, and the sentence's mean over the mask, normalised, at the end.
"""

import dataclasses

import numpy as np

from graph_writer import GraphWriter, xavier

EPSILON = 1e-12


@dataclasses.dataclass
class Size:
    layers: int
    hidden: int
    heads: int
    inner: int
    vocabulary: int = 30522
    positions: int = 512


BERT_BASE = Size(layers=12, hidden=768, heads=12, inner=3072)
MINILM_L6 = Size(layers=6, hidden=384, heads=12, inner=1536)


class Encoder:
    def __init__(self, g, size, batch, length, decomposed):
        self.g, self.size = g, size
        self.batch, self.length = batch, length
        self.decomposed = decomposed
        self.dynamic = isinstance(batch, str)

    def linear(self, scope, x, size_in, size_out):
        g = self.g
        # The exporter transposes the weight of x @ W^T while it writes it,
        # and adds the bias from the left.
        weight = g.normal(f"{scope}.weight_t", (size_in, size_out),
                          xavier(size_in))
        bias = g.normal(f"{scope}.bias", (size_out,), 0.1)
        y = g.add("MatMul", [x, weight], f"/{scope}")
        return g.add("Add", [bias, y], f"/{scope}")

    def layer_norm(self, scope, x):
        g, shape = self.g, (self.size.hidden,)
        scale = g.normal(f"{scope}.weight", shape, 0.1, mean=1.0)
        shift = g.normal(f"{scope}.bias", shape, 0.1)
        path = f"/{scope}"
        if not self.decomposed:
            return g.add("LayerNormalization", [x, scale, shift], path,
                         axis=-1, epsilon=EPSILON)
        mean = g.add("ReduceMean", [x], path, axes=[-1], keepdims=1)
        centred = g.add("Sub", [x, mean], path)
        square = g.add("Pow", [centred, g.constant(2.0, scope=path)], path)
        variance = g.add("ReduceMean", [square], path, axes=[-1], keepdims=1)
        shifted = g.add("Add", [variance, g.constant(EPSILON, scope=path)],
                        path)
        deviation = g.add("Sqrt", [shifted], path)
        y = g.add("Div", [centred, deviation], path)
        y = g.add("Mul", [y, scale], path)
        return g.add("Add", [y, shift], path)

    def gelu(self, scope, x):
        g, path = self.g, f"/{scope}"
        y = g.add("Div", [x, g.constant(np.sqrt(2.0), scope=path)], path)
        y = g.add("Erf", [y], path)
        y = g.add("Add", [y, g.constant(1.0, scope=path)], path)
        y = g.add("Mul", [x, y], path)
        return g.add("Mul", [y, g.constant(0.5, scope=path)], path)

    def reshape(self, scope, x, tail):
        """Reshapes to [batch, length, tail...]."""
        g, path = self.g, f"/{scope}"
        if not self.dynamic:
            shape = g.constant([self.batch, self.length, *tail], np.int64,
                               path)
            return g.add("Reshape", [x, shape], path)
        axes = g.constant([0], np.int64, path)
        parts = []
        for axis in (0, 1):
            whole = g.add("Shape", [x], path)
            size = g.add("Gather",
                         [whole, g.constant(axis, np.int64, path)], path,
                         axis=0)
            parts.append(g.add("Unsqueeze", [size, axes], path))
        parts += [g.constant([t], np.int64, path) for t in tail]
        shape = g.add("Concat", parts, path, axis=0)
        return g.add("Reshape", [x, shape], path)

    def attention(self, scope, x, mask):
        g, size, path = self.g, self.size, f"/{scope}"
        width = size.hidden // size.heads

        def heads(name, order):
            y = self.linear(f"{scope}.{name}", x, size.hidden, size.hidden)
            y = self.reshape(f"{scope}.{name}", y, [size.heads, width])
            return g.add("Transpose", [y], f"{path}.{name}", perm=order)

        query = heads("query", [0, 2, 1, 3])
        key = heads("key", [0, 2, 3, 1])
        value = heads("value", [0, 2, 1, 3])
        scores = g.add("MatMul", [query, key], path)
        scores = g.add(
            "Div", [scores, g.constant(np.sqrt(width), scope=path)], path)
        scores = g.add("Add", [scores, mask], path)
        weights = g.add("Softmax", [scores], path, axis=-1)
        y = g.add("MatMul", [weights, value], path)
        y = g.add("Transpose", [y], path, perm=[0, 2, 1, 3])
        return self.reshape(scope, y, [size.hidden])

    def layer(self, scope, x, mask):
        g, size = self.g, self.size
        y = self.attention(f"{scope}.attention.self", x, mask)
        y = self.linear(f"{scope}.attention.output.dense", y, size.hidden,
                        size.hidden)
        y = g.add("Add", [y, x], f"/{scope}.attention.output")
        x = self.layer_norm(f"{scope}.attention.output.LayerNorm", y)
        y = self.linear(f"{scope}.intermediate.dense", x, size.hidden,
                        size.inner)
        y = self.gelu(f"{scope}.intermediate", y)
        y = self.linear(f"{scope}.output.dense", y, size.inner, size.hidden)
        y = g.add("Add", [y, x], f"/{scope}.output")
        return self.layer_norm(f"{scope}.output.LayerNorm", y)

    def mask(self, attention_mask):
        """0 where attention may look, a very negative number elsewhere."""
        g, path = self.g, "/mask"
        y = g.add("Unsqueeze",
                  [attention_mask, g.constant([1], np.int64, path)], path)
        y = g.add("Unsqueeze", [y, g.constant([2], np.int64, path)], path)
        y = g.add("Cast", [y], path, to=1)
        y = g.add("Sub", [g.constant(1.0, scope=path), y], path)
        lowest = np.finfo(np.float32).min
        return g.add("Mul", [y, g.constant(lowest, scope=path)], path)

    def embeddings(self, ids, types):
        g, size, path = self.g, self.size, "/embeddings"
        words = g.normal("embeddings.word_embeddings.weight",
                         (size.vocabulary, size.hidden), 0.6)
        kinds = g.normal("embeddings.token_type_embeddings.weight",
                         (2, size.hidden), 0.6)
        places = g.normal("embeddings.position_embeddings.weight",
                          (size.positions, size.hidden), 0.6)
        x = g.add("Gather", [words, ids], path)
        x = g.add("Add", [x, g.add("Gather", [kinds, types], path)], path)
        every = g.weight(
            "embeddings.position_ids",
            np.arange(size.positions, dtype=np.int64).reshape(1, -1))
        if self.dynamic:
            whole = g.add("Shape", [ids], path)
            end = g.add("Gather", [whole, g.constant(1, np.int64, path)],
                        path, axis=0)
            end = g.add("Unsqueeze", [end, g.constant([0], np.int64, path)],
                        path)
        else:
            end = g.constant([self.length], np.int64, path)
        here = g.add("Slice",
                     [every, g.constant([0], np.int64, path), end,
                      g.constant([1], np.int64, path),
                      g.constant([1], np.int64, path)], path)
        x = g.add("Add", [x, g.add("Gather", [places, here], path)], path)
        return self.layer_norm("embeddings.LayerNorm", x)

    def write(self):
        g, shape = self.g, [self.batch, self.length]
        ids = g.input("input_ids", "int64", shape)
        seen = g.input("attention_mask", "int64", shape)
        types = g.input("token_type_ids", "int64", shape)
        mask = self.mask(seen)
        x = self.embeddings(ids, types)
        for index in range(self.size.layers):
            x = self.layer(f"encoder.layer.{index}", x, mask)
        return x, seen


def write_bert_base(path, size=BERT_BASE):
    g = GraphWriter("bert_base", opset=13)
    encoder = Encoder(g, size, "batch", "sequence", decomposed=True)
    x, _ = encoder.write()
    hidden = size.hidden
    first = g.add("Gather", [x, g.constant(0, np.int64, "/pooler")],
                  "/pooler", axis=1)
    pooled = g.add("Gemm",
                   [first,
                    g.normal("pooler.dense.weight", (hidden, hidden),
                             xavier(hidden)),
                    g.normal("pooler.dense.bias", (hidden,), 0.1)],
                   "/pooler", alpha=1.0, beta=1.0, transB=1)
    pooled = g.add("Tanh", [pooled], "/pooler")
    g.output(x, "last_hidden_state", "float", ["batch", "sequence", hidden])
    g.output(pooled, "pooler_output", "float", ["batch", hidden])
    g.save(path)


def write_minilm_l6(path, batch=1, length=128, size=MINILM_L6):
    g = GraphWriter("minilm_l6", opset=17)
    encoder = Encoder(g, size, batch, length, decomposed=False)
    x, seen = encoder.write()
    path_name, hidden = "/pooling", size.hidden
    weights = g.add("Cast", [seen], path_name, to=1)
    weights = g.add(
        "Unsqueeze", [weights, g.constant([-1], np.int64, path_name)],
        path_name)
    axis = g.constant([1], np.int64, path_name)
    total = g.add("ReduceSum", [g.add("Mul", [x, weights], path_name), axis],
                  path_name, keepdims=0)
    count = g.add("ReduceSum", [weights, axis], path_name, keepdims=0)
    count = g.add("Clip", [count, g.constant(1e-9, scope=path_name)],
                  path_name)
    mean = g.add("Div", [total, count], path_name)
    length_of = g.add("ReduceL2", [mean], path_name, axes=[1], keepdims=1)
    length_of = g.add("Clip", [length_of, g.constant(1e-12, scope=path_name)],
                      path_name)
    y = g.add("Div", [mean, length_of], path_name)
    g.output(y, "sentence_embedding", "float", [batch, hidden])
    g.save(path)
