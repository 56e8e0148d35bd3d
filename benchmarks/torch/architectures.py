# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourteen architectures as PyTorch exports them, with random weights.

Small of their kind, so that a table of all is made in minutes; what an exporter
writes for them is what it writes for the large ones."""

import dataclasses

import torch
import torchvision
import transformers
from torch import nn


@dataclasses.dataclass
class Export:
    """A module and what its export leaves open."""
    module: nn.Module
    inputs: dict  # by name, in the module's order; example tensors
    axes: dict  # by input: {axis: symbol}
    ranges: dict  # by symbol: (least, most, step)
    tokens: int = 0  # integer inputs are below that


def resnet():
    return Export(torchvision.models.resnet18(), {"x": torch.randn(2, 3, 64, 64)},
                  {"x": {0: "B", 2: "H", 3: "W"}},
                  {"B": (1, 4, 1), "H": (33, 96, 1), "W": (33, 96, 1)})


def convnext():
    net = torchvision.models.convnext.ConvNeXt(
        [torchvision.models.convnext.CNBlockConfig(32, 64, 2),
         torchvision.models.convnext.CNBlockConfig(64, None, 2)], num_classes=10)
    return Export(net, {"x": torch.randn(2, 3, 64, 64)}, {"x": {0: "B"}},
                  {"B": (1, 4, 1)})


def swin():
    net = torchvision.models.SwinTransformer(
        [4, 4], 32, [2, 2], [2, 4], [7, 7], num_classes=10)
    return Export(net, {"x": torch.randn(2, 3, 56, 56)}, {"x": {0: "B"}},
                  {"B": (1, 2, 1)})


def vit():
    net = torchvision.models.VisionTransformer(64, 16, 2, 4, 64, 128,
                                               num_classes=10)
    return Export(net, {"x": torch.randn(2, 3, 64, 64)}, {"x": {0: "B"}},
                  {"B": (1, 8, 1)})


class Attention(nn.Module):
    """nn.MultiheadAttention writes the example's sizes into its export."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, width = x.shape
        q, k, v = (part.reshape(b, t, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(2, 3) / (width / self.heads) ** 0.5
        return self.out((scores.softmax(-1) @ v).transpose(1, 2)
                        .reshape(b, t, width))


class UNet(nn.Module):
    """Halves and doubles twice, with what was before beside it."""

    def __init__(self):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1),
                                 nn.BatchNorm2d(o), nn.ReLU(),
                                 nn.Conv2d(o, o, 3, padding=1), nn.ReLU())
        self.down = nn.ModuleList([block(3, 16), block(16, 32), block(32, 64)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(64, 32, 2, 2),
                                 nn.ConvTranspose2d(32, 16, 2, 2)])
        self.merge = nn.ModuleList([block(64, 32), block(32, 16)])
        self.last = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        a = self.down[0](x)
        b = self.down[1](nn.functional.max_pool2d(a, 2))
        y = self.down[2](nn.functional.max_pool2d(b, 2))
        y = self.merge[0](torch.cat([self.up[0](y), b], 1))
        y = self.merge[1](torch.cat([self.up[1](y), a], 1))
        return self.last(y)


def unet():
    return Export(UNet(), {"x": torch.randn(1, 3, 32, 48)},
                  {"x": {0: "B", 2: "H", 3: "W"}},
                  {"B": (1, 2, 1), "H": (16, 128, 4), "W": (16, 128, 4)})


class Diffusion(nn.Module):
    """A block of a diffusion network: group norm, time, attention over pixels."""

    def __init__(self, channels=32):
        super().__init__()
        self.norm = nn.GroupNorm(8, channels)
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.time = nn.Linear(16, channels)
        self.attention = Attention(channels, 4)

    def forward(self, x, t):
        y = self.conv(nn.functional.silu(self.norm(x)))
        y = y + self.time(t)[:, :, None, None]
        b, c, h, w = y.shape
        z = y.flatten(2).transpose(1, 2)
        z = self.attention(z)
        return x + y + z.transpose(1, 2).reshape(b, c, h, w)


def diffusion():
    return Export(Diffusion(), {"x": torch.randn(2, 32, 16, 16),
                                "t": torch.randn(2, 16)},
                  {"x": {0: "B", 2: "H", 3: "W"}, "t": {0: "B"}},
                  {"B": (1, 2, 1), "H": (8, 32, 1), "W": (8, 32, 1)})


class Decoder(nn.Module):
    """A GPT of two layers: the tokens T after P that are in the cache."""

    def __init__(self, heads=4, width=64, layers=2, words=96):
        super().__init__()
        self.heads, self.width = heads, width
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(512, width)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "norm": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width),
            "out": nn.Linear(width, width), "norm2": nn.LayerNorm(width),
            "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)
        }) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens, *cache):
        b, t = tokens.shape
        p = cache[0].shape[2]
        at = torch.arange(p, p + t)
        x = self.words(tokens) + self.places(at)
        mask = torch.arange(p + t)[None, :] <= at[:, None]
        kept = []
        for i, layer in enumerate(self.layers):
            q, k, v = (part.reshape(b, t, self.heads, -1).transpose(1, 2)
                       for part in layer["qkv"](layer["norm"](x)).chunk(3, -1))
            k = torch.cat([cache[2 * i], k], 2)
            v = torch.cat([cache[2 * i + 1], v], 2)
            kept += [k, v]
            scores = q @ k.transpose(2, 3) / (self.width / self.heads) ** 0.5
            scores = scores.masked_fill(~mask, float("-inf"))
            y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, -1)
            x = x + layer["out"](y)
            x = x + layer["down"](nn.functional.gelu(layer["up"](
                layer["norm2"](x))))
        return (self.head(x), *kept)


def gpt():
    cache = {f"{kind}{i}": torch.randn(1, 4, 6, 16)
             for i in range(2) for kind in "kv"}
    return Export(Decoder(), {"tokens": torch.randint(96, (1, 5)), **cache},
                  {"tokens": {0: "B", 1: "T"},
                   **{name: {0: "B", 2: "P"} for name in cache}},
                  {"B": (1, 2, 1), "T": (1, 64, 1), "P": (0, 128, 1)},
                  tokens=96)


class First(nn.Module):
    """The first result of a model of Hugging Face."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x, return_dict=False)[0]


def bert():
    config = transformers.BertConfig(
        vocab_size=96, hidden_size=64, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=128,
        attn_implementation="eager")
    return Export(First(transformers.BertModel(config)),
                  {"x": torch.randint(96, (2, 7))}, {"x": {0: "B", 1: "T"}},
                  {"B": (1, 4, 1), "T": (1, 128, 1)}, tokens=96)


def whisper():
    """The encoder's form: two convolutions over frames, then layers."""
    class Encoder(nn.Module):
        def __init__(self, width=64):
            super().__init__()
            self.first = nn.Conv1d(80, width, 3, padding=1)
            self.second = nn.Conv1d(width, width, 3, 2, 1)
            self.register_buffer("places", torch.randn(1500, width))
            self.layers = nn.ModuleList(nn.ModuleDict({
                "norm": nn.LayerNorm(width), "attention": Attention(width, 4),
                "norm2": nn.LayerNorm(width), "up": nn.Linear(width, 128),
                "down": nn.Linear(128, width)}) for _ in range(2))

        def forward(self, x):
            y = nn.functional.gelu(self.first(x))
            y = nn.functional.gelu(self.second(y)).transpose(1, 2)
            y = y + self.places[:y.shape[1]]
            for layer in self.layers:
                y = y + layer["attention"](layer["norm"](y))
                y = y + layer["down"](nn.functional.gelu(layer["up"](
                    layer["norm2"](y))))
            return y

    return Export(Encoder(), {"x": torch.randn(1, 80, 301)}, {"x": {2: "T"}},
                  {"T": (100, 1000, 1)})


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.net = kind(16, 32, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.net(x)[0])


def lstm():
    return Export(Recurrent(nn.LSTM), {"x": torch.randn(2, 9, 16)},
                  {"x": {0: "B", 1: "T"}}, {"B": (1, 4, 1), "T": (1, 64, 1)})


def gru():
    return Export(Recurrent(nn.GRU), {"x": torch.randn(2, 9, 16)},
                  {"x": {0: "B", 1: "T"}}, {"B": (1, 4, 1), "T": (1, 64, 1)})


def mobilenet():
    net = torchvision.models.mobilenet_v3_small(num_classes=10)
    return Export(net, {"x": torch.randn(2, 3, 64, 64)},
                  {"x": {0: "B", 2: "H", 3: "W"}},
                  {"B": (1, 2, 1), "H": (32, 96, 1), "W": (32, 96, 1)})


class Detector(nn.Module):
    """As text detectors are: four scales, brought to the first, then twice up."""

    def __init__(self):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, 2, 1), nn.BatchNorm2d(o),
                                 nn.Hardswish())
        self.stem = block(3, 8)
        self.scales = nn.ModuleList([block(8, 16), block(16, 24), block(24, 32),
                                     block(32, 48)])
        self.sides = nn.ModuleList([nn.Conv2d(c, 16, 1)
                                    for c in (16, 24, 32, 48)])
        self.up = nn.Sequential(nn.ConvTranspose2d(64, 16, 2, 2), nn.ReLU(),
                                nn.ConvTranspose2d(16, 1, 2, 2), nn.Sigmoid())

    def forward(self, x):
        x, found = self.stem(x), []
        for scale, side in zip(self.scales, self.sides):
            x = scale(x)
            found.append(side(x))
        for i in (2, 1, 0):
            found[i] = found[i] + nn.functional.interpolate(
                found[i + 1], scale_factor=2.0, mode="nearest")
        size = found[0].shape[2:]
        return self.up(torch.cat([nn.functional.interpolate(
            f, scale_factor=float(2 ** i), mode="nearest")
            for i, f in enumerate(found)], 1))


def detector():
    return Export(Detector(), {"x": torch.randn(1, 3, 64, 96)},
                  {"x": {2: "H", 3: "W"}},
                  {"H": (32, 320, 32), "W": (32, 320, 32)})


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, 64), nn.LayerNorm(64),
                                    nn.GELU(), nn.Linear(64, 32))

    def forward(self, x):
        return self.layers(x) + x.mean(1, keepdim=True)


def mlp():
    return Export(Mixer(), {"x": torch.randn(2, 5, 32)},
                  {"x": {0: "B", 1: "T"}}, {"B": (1, 8, 1), "T": (1, 64, 1)})


ARCHITECTURES = {
    "MLP": mlp, "ResNet": resnet, "ConvNeXt": convnext, "Swin": swin,
    "ViT": vit, "U-Net": unet, "diffusion block": diffusion,
    "MobileNet": mobilenet, "text detector": detector, "GPT with a cache": gpt,
    "BERT": bert, "speech encoder": whisper, "LSTM": lstm, "GRU": gru}


def write(name, path):
    """Exports one; returns it."""
    torch.manual_seed(1)
    made = ARCHITECTURES[name]()
    made.module.eval()
    for parameter in made.module.parameters():
        if not parameter.any():  # of a head that training begins at zero
            nn.init.normal_(parameter, std=0.02)
    torch.onnx.export(
        made.module, tuple(made.inputs.values()), str(path),
        input_names=list(made.inputs), dynamic_axes=made.axes,
        opset_version=17, dynamo=False)
    return made
