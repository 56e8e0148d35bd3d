# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet-50 (v1.5) with random weights.

Batch normalisation is left as it is, as an exporter does that keeps the
training graph, so that folding it is the compiler's work. The batch is
dynamic.
"""

from graph_writer import GraphWriter, he, xavier

BLOCKS = [3, 4, 6, 3]
WIDTHS = [64, 128, 256, 512]


def conv_norm(g, scope, x, channels_in, channels_out, kernel, stride,
              gain=1.0):
    fan_in = channels_in * kernel * kernel
    weight = g.filters(f"{scope}.conv.weight",
                       (channels_out, channels_in, kernel, kernel), he(fan_in))
    pad = kernel // 2
    y = g.add("Conv", [x, weight], f"/{scope}/conv", dilations=[1, 1],
              group=1, kernel_shape=[kernel] * 2, pads=[pad] * 4,
              strides=[stride] * 2)
    shape = (channels_out,)
    return g.add(
        "BatchNormalization",
        [y,
         g.uniform(f"{scope}.bn.weight", shape, 0.8 * gain, 1.2 * gain),
         g.normal(f"{scope}.bn.bias", shape, 0.1),
         g.normal(f"{scope}.bn.running_mean", shape, 0.1),
         g.uniform(f"{scope}.bn.running_var", shape, 0.8, 1.2)],
        f"/{scope}/bn", epsilon=1e-5, momentum=0.9)


def bottleneck(g, scope, x, channels_in, width, stride):
    y = conv_norm(g, f"{scope}.1", x, channels_in, width, 1, 1)
    y = g.add("Relu", [y], f"/{scope}/relu")
    y = conv_norm(g, f"{scope}.2", y, width, width, 3, stride)
    y = g.add("Relu", [y], f"/{scope}/relu")
    # A small gain on the branch: sixteen sums must not blow the sum up.
    y = conv_norm(g, f"{scope}.3", y, width, 4 * width, 1, 1, gain=0.3)
    if stride != 1 or channels_in != 4 * width:
        x = conv_norm(g, f"{scope}.downsample", x, channels_in, 4 * width, 1,
                      stride)
    y = g.add("Add", [y, x], f"/{scope}")
    return g.add("Relu", [y], f"/{scope}/relu")


def write(path, side=224, blocks=tuple(BLOCKS)):
    g = GraphWriter("resnet50", opset=17)
    x = g.input("input", "float", ["batch", 3, side, side])
    x = conv_norm(g, "stem", x, 3, 64, 7, 2)
    x = g.add("Relu", [x], "/stem/relu")
    x = g.add("MaxPool", [x], "/stem/maxpool", ceil_mode=0,
              kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    channels = 64
    for stage, (count, width) in enumerate(zip(blocks, WIDTHS), 1):
        for block in range(count):
            stride = 2 if stage > 1 and block == 0 else 1
            x = bottleneck(g, f"layer{stage}.{block}", x, channels, width,
                           stride)
            channels = 4 * width
    x = g.add("GlobalAveragePool", [x], "/avgpool")
    x = g.add("Flatten", [x], "", axis=1)
    x = g.add("Gemm",
              [x, g.normal("fc.weight", (1000, channels),
                           xavier(channels)),
               g.normal("fc.bias", (1000,), 0.1)],
              "/fc", alpha=1.0, beta=1.0, transB=1)
    g.output(x, "output", "float", ["batch", 1000])
    g.save(path)
