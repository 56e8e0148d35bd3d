# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of the kinds of kernels that pictures and encoders have not:
recurrent layers, one step of a decoder with weights of 4 bits, a block of a
diffusion model. Weights are random."""

import numpy as np

from graph_writer import GraphWriter, he, xavier

LSTM_STEPS, LSTM_WIDTH = 100, 256
DECODER_WIDTH, DECODER_INNER, DECODER_HEADS, DECODER_LAYERS = 2048, 5632, 32, 2
DECODER_PAST, BITS_BLOCK = 255, 32
BLOCK_CHANNELS, BLOCK_SIZE, BLOCK_GROUPS, TIME_WIDTH = 320, 32, 32, 1280


def write_lstm(path):
    """Two layers over a sequence, one sequence at a time."""
    g, width = GraphWriter("lstm", opset=14), LSTM_WIDTH
    x = g.input("x", "float", [LSTM_STEPS, 1, width])
    for layer in range(2):
        weights = [g.normal(f"l{layer}.{name}", shape, xavier(width))
                   for name, shape in (("w", (1, 4 * width, width)),
                                       ("r", (1, 4 * width, width)),
                                       ("b", (1, 8 * width)))]
        y = g.add("LSTM", [x, *weights], f"/l{layer}", hidden_size=width)
        x = g.add("Squeeze", [y, g.constant([1], np.int64)], f"/l{layer}")
    g.output(x, "y", "float", [LSTM_STEPS, 1, width])
    g.save(path)


def write_diffusion_block(path):
    """A residual block with the embedding of the time, norms of groups as
    PyTorch exports them: InstanceNormalization of one row a group."""
    g, channels, size = (GraphWriter("diffusion_block", opset=17),
                         BLOCK_CHANNELS, BLOCK_SIZE)
    shape = [1, channels, size, size]
    x = g.input("x", "float", shape)
    time = g.input("time", "float", [1, TIME_WIDTH])

    def silu(scope, value):
        return g.add("Mul", [value, g.add("Sigmoid", [value], scope)], scope)

    def norm(scope, value):
        rows = g.constant([0, BLOCK_GROUPS, -1], np.int64)
        one = g.constant(np.ones(BLOCK_GROUPS))
        zero = g.constant(np.zeros(BLOCK_GROUPS))
        y = g.add("Reshape", [value, rows], scope)
        y = g.add("InstanceNormalization", [y, one, zero], scope, epsilon=1e-5)
        y = g.add("Reshape", [y, g.constant(shape, np.int64)], scope)
        scale = g.normal(f"{scope}.weight", (channels, 1, 1), 0.1, mean=1)
        shift = g.normal(f"{scope}.bias", (channels, 1, 1), 0.1)
        return g.add("Add", [g.add("Mul", [y, scale], scope), shift], scope)

    def conv(scope, value):
        return g.add("Conv", [
            value, g.filters(f"{scope}.weight", (channels, channels, 3, 3),
                             he(9 * channels)),
            g.normal(f"{scope}.bias", (channels,), 0.1)], scope,
            pads=[1, 1, 1, 1], kernel_shape=[3, 3])

    y = conv("/in", silu("/in", norm("/in/norm", x)))
    step = g.add("Gemm", [
        silu("/time", time),
        g.normal("time.weight", (channels, TIME_WIDTH), xavier(TIME_WIDTH)),
        g.normal("time.bias", (channels,), 0.1)], "/time", transB=1)
    step = g.add("Unsqueeze", [step, g.constant([2, 3], np.int64)], "/time")
    y = g.add("Add", [y, step], "/time")
    y = conv("/out", silu("/out", norm("/out/norm", y)))
    g.output(g.add("Add", [x, y]), "y", "float", shape)
    g.save(path)


def write_decoder_step(path):
    """One token through layers of a decoder whose cache holds more: RMS norms,
    weights of 4 bits in blocks with a scale each, a gated MLP. Positions are
    not rotated."""
    g = GraphWriter("decoder_step", opset=20)
    width, heads = DECODER_WIDTH, DECODER_HEADS
    depth = width // heads
    x = g.input("x", "float", [1, 1, width])

    def linear(scope, value, size_in, size_out):
        blocks = size_in // BITS_BLOCK
        packed = g.random(f"{scope}.weight").integers(
            0, 256, (size_out, blocks, BITS_BLOCK // 2), dtype=np.uint8)
        # Numbers from -8 to 7 deviate by 4.6 from their mean.
        scale = np.full(size_out * blocks, xavier(size_in) / 4.6, np.float32)
        return g.add("MatMulNBits", [
            value, g.weight(f"{scope}.weight", packed),
            g.weight(f"{scope}.scale", scale)], scope, domain="com.microsoft",
            K=size_in, N=size_out, bits=4, block_size=BITS_BLOCK)

    def norm(scope, value):
        square = g.add("Mul", [value, value], scope)
        mean = g.add("ReduceMean", [square, g.constant([-1], np.int64)], scope)
        root = g.add("Sqrt", [g.add("Add", [mean, g.constant(1e-6)], scope)],
                     scope)
        return g.add("Mul", [g.add("Div", [value, root], scope), g.normal(
            f"{scope}.weight", (width,), 0.1, mean=1)], scope)

    def split(scope, value, perm):
        y = g.add("Reshape", [value, g.constant([1, 1, heads, depth],
                                                np.int64)], scope)
        return g.add("Transpose", [y], scope, perm=perm)

    def attention(layer, value):
        scope, rows = f"/l{layer}/attention", [0, 2, 1, 3]
        query, key, new = (split(scope, linear(f"{scope}/{name}", value, width,
                                               width), rows)
                           for name in ("q", "k", "v"))
        past = [g.input(f"past{layer}.{name}", "float",
                        [1, heads, DECODER_PAST, depth]) for name in "kv"]
        key, new = (g.add("Concat", list(pair), scope, axis=2)
                    for pair in zip(past, (key, new)))
        scores = g.add("MatMul", [query, g.add(
            "Transpose", [key], scope, perm=[0, 1, 3, 2])], scope)
        scores = g.add("Mul", [scores, g.constant(depth ** -0.5)], scope)
        y = g.add("MatMul", [g.add("Softmax", [scores], scope, axis=-1), new],
                  scope)
        y = g.add("Transpose", [y], scope, perm=rows)
        y = g.add("Reshape", [y, g.constant([1, 1, width], np.int64)], scope)
        return linear(f"{scope}/o", y, width, width)

    for layer in range(DECODER_LAYERS):
        x = g.add("Add", [x, attention(layer, norm(f"/l{layer}/n", x))])
        y, scope = norm(f"/l{layer}/m", x), f"/l{layer}/mlp"
        gate = linear(f"{scope}/gate", y, width, DECODER_INNER)
        gate = g.add("Mul", [gate, g.add("Sigmoid", [gate], scope)], scope)
        up = linear(f"{scope}/up", y, width, DECODER_INNER)
        x = g.add("Add", [x, linear(f"{scope}/down",
                                    g.add("Mul", [gate, up], scope),
                                    DECODER_INNER, width)])
    g.output(x, "y", "float", [1, 1, width])
    g.save(path)
