#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the digits example and writes its model and its held-out pictures.

The net is small enough to train with NumPy alone, in a minute or so:

    image N x 1 x 8 x 8
      Conv 3x3, 16 -> BatchNormalization -> Relu -> MaxPool 2x2
      Conv 3x3, 32 -> Relu -> MaxPool 2x2
      Flatten -> Gemm 10 -> Softmax
    probabilities N x 10

The pictures are scikit-learn's copy of the UCI optical digits. They stand in
the order in which people wrote them, so the last fifth, which is held out,
comes mostly from hands that the training never saw.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HELD_OUT = 360
BATCH = 64
MOMENTUM = 0.9
WEIGHT_DECAY = 5e-4
BATCH_NORM_EPSILON = 1e-5


class Conv3x3:
    """A 3x3 convolution with a border of one zero, so that sizes stay."""

    def __init__(self, random, channels_in, channels_out, bias):
        fan_in = channels_in * 9
        self.weight = random.normal(
            0, np.sqrt(2 / fan_in), (channels_out, channels_in, 3, 3))
        self.bias = np.zeros(channels_out) if bias else None
        self.parameters = ["weight"] + (["bias"] if bias else [])

    def forward(self, x, training):
        self.shape = x.shape
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(
            padded, (3, 3), axis=(2, 3))
        n, c, h, w = x.shape
        self.columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, c * 9)
        y = self.columns @ self.weight.reshape(len(self.weight), -1).T
        if self.bias is not None:
            y += self.bias
        return y.reshape(n, h, w, -1).transpose(0, 3, 1, 2)

    def backward(self, dy):
        n, c, h, w = self.shape
        rows = dy.transpose(0, 2, 3, 1).reshape(-1, len(self.weight))
        self.d_weight = (rows.T @ self.columns).reshape(self.weight.shape)
        if self.bias is not None:
            self.d_bias = rows.sum(0)
        d_columns = rows @ self.weight.reshape(len(self.weight), -1)
        d_windows = d_columns.reshape(n, h, w, c, 3, 3)
        d_padded = np.zeros((n, c, h + 2, w + 2))
        for i in range(3):
            for j in range(3):
                d_padded[:, :, i:i + h, j:j + w] += (
                    d_windows[..., i, j].transpose(0, 3, 1, 2))
        return d_padded[:, :, 1:-1, 1:-1]


class BatchNorm:
    """Normalises each channel; keeps running figures for inference."""

    def __init__(self, channels):
        self.scale, self.shift = np.ones(channels), np.zeros(channels)
        self.mean, self.variance = np.zeros(channels), np.ones(channels)
        self.parameters = ["scale", "shift"]

    def forward(self, x, training):
        if training:
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
            self.mean = 0.95 * self.mean + 0.05 * mean
            self.variance = 0.95 * self.variance + 0.05 * variance
        else:
            mean, variance = self.mean, self.variance
        channel = (slice(None), None, None)
        self.inverse = 1 / np.sqrt(variance + BATCH_NORM_EPSILON)
        self.normal = (x - mean[channel]) * self.inverse[channel]
        return self.normal * self.scale[channel] + self.shift[channel]

    def backward(self, dy):
        channel = (slice(None), None, None)
        self.d_scale = (dy * self.normal).sum((0, 2, 3))
        self.d_shift = dy.sum((0, 2, 3))
        count = dy.size / dy.shape[1]
        centred = (dy - self.d_shift[channel] / count
                   - self.normal * self.d_scale[channel] / count)
        return centred * (self.scale * self.inverse)[channel]


class Relu:
    parameters = []

    def forward(self, x, training):
        self.positive = x > 0
        return x * self.positive

    def backward(self, dy):
        return dy * self.positive


class MaxPool2x2:
    parameters = []

    def forward(self, x, training):
        n, c, h, w = x.shape
        blocks = x.reshape(n, c, h // 2, 2, w // 2, 2)
        y = blocks.max((3, 5))
        chosen = blocks == y[:, :, :, None, :, None]
        self.share = chosen / chosen.sum((3, 5), keepdims=True)
        return y

    def backward(self, dy):
        n, c, h, w = dy.shape
        return (self.share * dy[:, :, :, None, :, None]).reshape(
            n, c, h * 2, w * 2)


class Gemm:
    def __init__(self, random, size_in, size_out):
        self.weight = random.normal(
            0, np.sqrt(1 / size_in), (size_out, size_in))
        self.bias = np.zeros(size_out)
        self.parameters = ["weight", "bias"]

    def forward(self, x, training):
        self.shape = x.shape
        self.x = x.reshape(len(x), -1)
        return self.x @ self.weight.T + self.bias

    def backward(self, dy):
        self.d_weight = dy.T @ self.x
        self.d_bias = dy.sum(0)
        return (dy @ self.weight).reshape(self.shape)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def shifted(random, images):
    """Moves each picture by up to one pixel each way."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    result = np.empty_like(images)
    for k, (i, j) in enumerate(random.integers(0, 3, (len(images), 2))):
        result[k] = padded[k, :, i:i + 8, j:j + 8]
    return result


def forward(layers, x, training=False):
    for layer in layers:
        x = layer.forward(x, training)
    return x


def train(random, layers, images, labels, epochs):
    """Stochastic gradient descent with momentum and a cosine schedule."""
    momenta = {}
    steps = epochs * (len(images) // BATCH)
    step = 0
    for epoch in range(epochs):
        order = random.permutation(len(images))
        total = 0.0
        for start in range(0, len(order) - BATCH + 1, BATCH):
            rows = order[start:start + BATCH]
            y = softmax(forward(layers, shifted(random, images[rows]), True))
            truth = labels[rows]
            total -= np.log(y[np.arange(BATCH), truth]).mean()
            gradient = y
            gradient[np.arange(BATCH), truth] -= 1
            gradient /= BATCH
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            rate = 0.05 * (1 + np.cos(np.pi * step / steps))
            for k, layer in enumerate(layers):
                for name in layer.parameters:
                    value = getattr(layer, name)
                    slope = (getattr(layer, "d_" + name)
                             + WEIGHT_DECAY * value)
                    momenta[k, name] = (
                        MOMENTUM * momenta.get((k, name), 0) + slope)
                    setattr(layer, name, value - rate * momenta[k, name])
            step += 1
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1:3}: loss {total * BATCH / len(order):.4f}")


def to_onnx(layers):
    conv1, norm, _, _, conv2, _, _, gemm = layers
    weights = {
        "conv1.weight": conv1.weight,
        "norm.scale": norm.scale, "norm.shift": norm.shift,
        "norm.mean": norm.mean, "norm.variance": norm.variance,
        "conv2.weight": conv2.weight, "conv2.bias": conv2.bias,
        "classify.weight": gemm.weight, "classify.bias": gemm.bias,
    }
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight"], ["c1"], "conv1",
                         kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization",
                         ["c1", "norm.scale", "norm.shift", "norm.mean",
                          "norm.variance"], ["n1"], "norm",
                         epsilon=BATCH_NORM_EPSILON),
        helper.make_node("Relu", ["n1"], ["r1"], "relu1"),
        helper.make_node("MaxPool", ["r1"], ["p1"], "pool1",
                         kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "conv2.weight", "conv2.bias"], ["c2"],
                         "conv2", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("MaxPool", ["r2"], ["p2"], "pool2",
                         kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p2"], ["f"], "flatten", axis=1),
        helper.make_node("Gemm", ["f", "classify.weight", "classify.bias"],
                         ["logits"], "classify", transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax",
                         axis=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info(
            "image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info(
            "probabilities", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(value.astype(np.float32), name)
         for name, value in weights.items()])
    model = helper.make_model(
        graph, producer_name="ashlar-digits-example", ir_version=8,
        opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent)
    arguments = parser.parse_args()

    digits = load_digits()
    images = (digits.images / 16).reshape(-1, 1, 8, 8)
    labels = digits.target
    random = np.random.default_rng(arguments.seed)
    layers = [
        Conv3x3(random, 1, 16, bias=False), BatchNorm(16), Relu(),
        MaxPool2x2(),
        Conv3x3(random, 16, 32, bias=True), Relu(), MaxPool2x2(),
        Gemm(random, 128, 10),
    ]
    train(random, layers, images[:-HELD_OUT], labels[:-HELD_OUT],
          arguments.epochs)

    guesses = forward(layers, images[-HELD_OUT:]).argmax(1)
    right = int((guesses == labels[-HELD_OUT:]).sum())
    print(f"held out: {right} of {HELD_OUT} right ({right / HELD_OUT:.1%})")

    onnx.save(to_onnx(layers), arguments.out / "digits.onnx")
    np.save(arguments.out / "test_images.npy",
            images[-HELD_OUT:].astype(np.float32))
    np.save(arguments.out / "test_labels.npy",
            labels[-HELD_OUT:].astype(np.uint8))


if __name__ == "__main__":
    main()
