# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MobileNetV2 with random weights.

Batch normalisation is folded into the convolutions, as PyTorch's exporter
does by default; ReLU6 is a Clip whose bounds are Constant nodes.
"""

from graph_writer import GraphWriter, he, xavier

# (expansion, channels, blocks, stride of the first), Table 2 of the paper:
# Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks".
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
          (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def conv(g, scope, x, channels_in, channels_out, kernel=1, stride=1, group=1,
         deviation=None):
    fan_in = channels_in // group * kernel * kernel
    shape = (channels_out, channels_in // group, kernel, kernel)
    weight = g.filters(f"{scope}.weight", shape, deviation or he(fan_in))
    bias = g.normal(f"{scope}.bias", (channels_out,), 0.1)
    return g.add("Conv", [x, weight, bias], f"/{scope}", dilations=[1, 1],
                 group=group, kernel_shape=[kernel] * 2,
                 pads=[kernel // 2] * 4, strides=[stride] * 2)


def relu6(g, scope, x):
    low = g.constant(0.0, scope=f"/{scope}")
    high = g.constant(6.0, scope=f"/{scope}")
    return g.add("Clip", [x, low, high], f"/{scope}")


def inverted_residual(g, scope, x, channels_in, channels_out, expansion,
                      stride):
    y, hidden = x, channels_in * expansion
    if expansion != 1:
        y = conv(g, f"{scope}.expand", y, channels_in, hidden,
                 deviation=xavier(channels_in))
        y = relu6(g, f"{scope}.expand_act", y)
    y = conv(g, f"{scope}.depthwise", y, hidden, hidden, kernel=3,
             stride=stride, group=hidden)
    y = relu6(g, f"{scope}.depthwise_act", y)
    y = conv(g, f"{scope}.project", y, hidden, channels_out)
    if stride == 1 and channels_in == channels_out:
        y = g.add("Add", [x, y], f"/{scope}")
    return y


def write(path):
    g = GraphWriter("mobilenet_v2", opset=13)
    x = g.input("input", "float", [1, 3, 224, 224])
    x = conv(g, "features.0", x, 3, 32, kernel=3, stride=2)
    x = relu6(g, "features.0.act", x)
    channels, index = 32, 1
    for expansion, width, blocks, stride in STAGES:
        for block in range(blocks):
            x = inverted_residual(g, f"features.{index}", x, channels, width,
                                  expansion, stride if block == 0 else 1)
            channels, index = width, index + 1
    x = conv(g, "features.18", x, channels, 1280, deviation=xavier(channels))
    x = relu6(g, "features.18.act", x)
    x = g.add("GlobalAveragePool", [x], "/pool")
    x = g.add("Flatten", [x], "", axis=1)
    x = g.add("Gemm",
              [x, g.normal("classifier.weight", (1000, 1280), xavier(1280)),
               g.normal("classifier.bias", (1000,), 0.1)],
              "/classifier", alpha=1.0, beta=1.0, transB=1)
    g.output(x, "output", "float", [1, 1000])
    g.save(path)
