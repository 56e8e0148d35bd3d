# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet-50 (v1.5) of signed bytes with random weights, for arrays of bytes.

QuantizeLinear and DequantizeLinear stand around every operator; zero points are
zero, and each tensor has one scale, a power of two. So the sums of a
convolution become bytes by one exact product. A block ends as those of
Gemmini's own quantized networks do: the branch becomes bytes before it is added
to the other summand, both of one scale, and what their sum is becomes bytes
again. Batch normalisation is folded before weights are quantized; biases are
32-bit integers in the unit of the sums. The picture comes in as bytes, and the
classes' scores are quantized as well.

Everything that flows is of the order of one by construction (graph_writer.py):
inside a block a byte's unit is 1/32, from block to block 1/16.
"""

import numpy as np

from graph_writer import GraphWriter, centred, he, xavier
from resnet50 import BLOCKS, WIDTHS

INSIDE, BETWEEN, SCORES = 2.0**-5, 2.0**-4, 2.0**-4


class QuantizedWriter(GraphWriter):
    def scale(self, value):
        name = f"scale.2^{int(np.log2(value))}"
        if not any(weight.name == name for weight in self.weights):
            self.weight(name, np.float32(value))
        return name

    def zero(self, dtype=np.int8):
        name = f"zero.{np.dtype(dtype).name}"
        if not any(weight.name == name for weight in self.weights):
            self.weight(name, dtype(0))
        return name

    def dequantize(self, x, scale, scope, dtype=np.int8):
        return self.add("DequantizeLinear",
                        [x, self.scale(scale), self.zero(dtype)], scope)

    def quantize(self, x, scale, scope):
        return self.add("QuantizeLinear", [x, self.scale(scale), self.zero()],
                        scope)

    def parameters(self, scope, weight, bias, unit):
        """Dequantized weights and biases of an operator whose input is in
        `unit`."""
        scale = 2.0**np.ceil(np.log2(np.abs(weight).max() / 127))
        bytes_ = np.rint(weight / scale).astype(np.int8)
        sums = np.rint(bias / (unit * scale)).astype(np.int32)
        return [
            self.dequantize(self.weight(f"{scope}.weight", bytes_), scale,
                            f"/{scope}/weight"),
            self.dequantize(self.weight(f"{scope}.bias", sums), unit * scale,
                            f"/{scope}/bias", np.int32)]


def draw(g, name, shape, low=None, high=None, deviation=None):
    if deviation is None:
        return g.random(name).uniform(low, high, shape)
    return g.random(name).standard_normal(shape) * deviation


def conv(g, scope, x, unit, channels_in, channels_out, kernel, stride, result,
         gain=1.0, relu=True):
    """Of bytes in `unit` to bytes in `result`."""
    shape = (channels_out,)
    weight = centred(draw(g, f"{scope}.weight",
                          (channels_out, channels_in, kernel, kernel),
                          deviation=he(channels_in * kernel * kernel)))
    factor = draw(g, f"{scope}.bn.weight", shape, 0.8 * gain, 1.2 * gain) / \
        np.sqrt(draw(g, f"{scope}.bn.variance", shape, 0.8, 1.2))
    bias = draw(g, f"{scope}.bn.bias", shape, deviation=0.1) - \
        draw(g, f"{scope}.bn.mean", shape, deviation=0.1) * factor
    y = g.add("Conv",
              [g.dequantize(x, unit, f"/{scope}"),
               *g.parameters(scope, weight * factor[:, None, None, None], bias,
                             unit)],
              f"/{scope}", dilations=[1, 1], group=1,
              kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4,
              strides=[stride] * 2)
    if relu:
        y = g.add("Relu", [y], f"/{scope}")
    return g.quantize(y, result, f"/{scope}")


def bottleneck(g, scope, x, channels_in, width, stride):
    y = conv(g, f"{scope}.1", x, BETWEEN, channels_in, width, 1, 1, INSIDE)
    y = conv(g, f"{scope}.2", y, INSIDE, width, width, 3, stride, INSIDE)
    # A small gain on the branch: sixteen sums must not blow the sum up.
    y = conv(g, f"{scope}.3", y, INSIDE, width, 4 * width, 1, 1, BETWEEN,
             gain=0.3, relu=False)
    if stride != 1 or channels_in != 4 * width:
        x = conv(g, f"{scope}.downsample", x, BETWEEN, channels_in, 4 * width,
                 1, stride, BETWEEN, relu=False)
    y = g.add("Add", [g.dequantize(y, BETWEEN, f"/{scope}/branch"),
                      g.dequantize(x, BETWEEN, f"/{scope}")], f"/{scope}")
    return g.quantize(g.add("Relu", [y], f"/{scope}"), BETWEEN, f"/{scope}")


def write(path):
    g = QuantizedWriter("resnet50_int8", opset=17)
    x = g.input("input", "int8", [1, 3, 224, 224])
    x = conv(g, "stem", x, INSIDE, 3, 64, 7, 2, BETWEEN)
    x = g.add("MaxPool", [g.dequantize(x, BETWEEN, "/stem/maxpool")],
              "/stem/maxpool", ceil_mode=0, kernel_shape=[3, 3], pads=[1] * 4,
              strides=[2, 2])
    x = g.quantize(x, BETWEEN, "/stem/maxpool")
    channels = 64
    for stage, (count, width) in enumerate(zip(BLOCKS, WIDTHS), 1):
        for block in range(count):
            stride = 2 if stage > 1 and block == 0 else 1
            x = bottleneck(g, f"layer{stage}.{block}", x, channels, width,
                           stride)
            channels = 4 * width
    x = g.add("GlobalAveragePool", [g.dequantize(x, BETWEEN, "/avgpool")],
              "/avgpool")
    x = g.quantize(g.add("Flatten", [x], "", axis=1), INSIDE, "/avgpool")
    weight = draw(g, "fc.weight", (1000, channels), deviation=xavier(channels))
    bias = draw(g, "fc.bias", (1000,), deviation=0.1)
    x = g.add("Gemm", [g.dequantize(x, INSIDE, "/fc"),
                       *g.parameters("fc", weight, bias, INSIDE)], "/fc",
              alpha=1.0, beta=1.0, transB=1)
    x = g.dequantize(g.quantize(x, SCORES, "/fc"), SCORES, "/output")
    g.output(x, "output", "float", [1, 1000])
    g.save(path)
