#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model of PyTorch by both of its exports: ONNX (torch.onnx) and linalg on
tensors (torch-mlir). Each is compiled, run on PyTorch's own tensors, and
compared with PyTorch.

    pip install "torch>=2.5" onnxscript torch-mlir
    from_pytorch.py
"""

import sys

import ashlar

try:
    import torch
    from torch import nn
except ImportError as error:
    sys.exit(f"SKIP: {error}; pip install torch onnxscript torch-mlir")

TOLERANCE = 1e-5


class Reader(nn.Module):
    """Reads a picture of 16x16 as columns, which look at each other."""

    def __init__(self):
        super().__init__()
        self.see = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1),
                                 nn.BatchNorm2d(16), nn.ReLU(),
                                 nn.MaxPool2d(2))
        self.queries, self.keys = nn.Linear(128, 32), nn.Linear(128, 32)
        self.norm = nn.LayerNorm(128)
        self.say = nn.Linear(128, 10)

    def forward(self, picture):
        columns = self.see(picture).permute(0, 3, 1, 2).flatten(2)
        scores = self.queries(columns) @ self.keys(columns).transpose(1, 2)
        mixed = torch.softmax(scores / 32 ** 0.5, -1) @ columns
        return torch.softmax(self.say(self.norm(columns + mixed)), -1)


def compare(name, module, net, pictures):
    """module runs on the tensors as they are: their memory is shared."""
    found = torch.from_dlpack(module(pictures))
    with torch.no_grad():
        expected = net(pictures)
    off = ((found - expected).abs().max() / expected.abs().max()).item()
    print(f"{name}: {tuple(pictures.shape)} -> {tuple(found.shape)}, off by "
          f"{off:.1e}")
    assert off <= TOLERANCE, off


def by_onnx(net):
    """One module for every batch from 1 to 8."""
    exported = torch.onnx.export(
        net, (torch.zeros(2, 1, 16, 16),), dynamo=True, verbose=False,
        dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=8)},))
    module = ashlar.compile(exported.model_proto, name="reader",
                            shapes={"picture": ("N", 1, 16, 16)},
                            dims={"N": (1, 8)})
    for batch in (1, 3, 8):
        compare("ONNX", module, net, torch.randn(batch, 1, 16, 16))


def by_linalg(net):
    """The text of MLIR that torch-mlir makes, for one batch."""
    from torch_mlir import fx
    pictures = torch.randn(2, 1, 16, 16)
    exported = fx.export_and_import(net, pictures,
                                    output_type="linalg-on-tensors")
    compare("linalg", ashlar.compile(str(exported).encode(), name="reader"),
            net, pictures)


def main():
    torch.manual_seed(0)
    net = Reader()
    with torch.no_grad():
        net(torch.randn(64, 1, 16, 16))  # so that BatchNorm has seen something
    net.eval()
    for name, way in (("ONNX", by_onnx), ("linalg", by_linalg)):
        try:
            way(net)
        except ImportError as error:
            print(f"{name} is left out: {error}")


if __name__ == "__main__":
    main()
