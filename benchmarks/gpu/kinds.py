# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Of each kind: its reference in f64, written once for NumPy and PyTorch, what
PyTorch has for it, and what it must do at least."""

import math

import numpy as np

# ||found - wanted|| / ||wanted||, and the largest error by the largest wanted.
# One rounding to bf16 is 1.1e-3 and 2e-3; a kind of several operations rounds
# between them, since each has its type.
TOLERANCES = {"f32": (2e-5, 1e-4), "bf16": (5e-3, 1e-2)}
SEVERAL = {"f32": (2e-5, 1e-4), "bf16": (1.5e-2, 3e-2)}
OF_SEVERAL = ("epilogue", "attention", "attention_op", "grouped", "swiglu",
              "softmax", "layer_norm")


def tolerance(case):
    several = case["kind"] in OF_SEVERAL
    return (SEVERAL if several else TOLERANCES)[case["type"]]


def conv_weights(o, c, side):
    """Constant weights of a convolution, the same wherever they are made: of
    both types without a rounding, and so few numbers that they pack well."""
    numbers = np.random.default_rng(7).standard_normal(4096) / math.sqrt(
        c * side * side)
    bits = numbers.astype(np.float32).view(np.uint32) & 0xffff0000
    return np.resize(bits.view(np.float32), (o, c, side, side))


class NumPyMath:
    @staticmethod
    def constant(array):
        return array.astype(np.float64)

    @staticmethod
    def moved(x, dims):
        return x.transpose(dims)

    exp, sqrt, maximum = np.exp, np.sqrt, np.maximum
    erf = staticmethod(np.vectorize(math.erf, otypes=[np.float64]))
    empty_like = staticmethod(np.empty_like)

    @staticmethod
    def largest(x):
        return x.max(axis=-1, keepdims=True)

    @staticmethod
    def mean(x):
        return x.mean(axis=-1, keepdims=True)

    @staticmethod
    def sum(x, axis):
        return x.sum(axis=axis, keepdims=True)

    @staticmethod
    def hide_later(scores):
        return np.where(np.tri(*scores.shape, dtype=bool), scores, -np.inf)

    @staticmethod
    def conv(x, w, stride):
        around = [(0, 0), (0, 0)] + [(w.shape[2] // 2,) * 2] * 2
        windows = np.lib.stride_tricks.sliding_window_view(
            np.pad(x, around), w.shape[2:], axis=(2, 3))
        return np.einsum("nchwij,ocij->nohw",
                         windows[:, :, ::stride, ::stride], w, optimize=True)


class TorchMath:
    def __init__(self, torch):
        self.torch = torch
        self.exp, self.sqrt, self.erf = torch.exp, torch.sqrt, torch.erf
        self.empty_like = torch.empty_like

    def constant(self, array):
        return self.torch.from_numpy(array).double().cuda()

    def moved(self, x, dims):
        return x.permute(dims)

    def largest(self, x):
        return x.amax(-1, keepdim=True)

    def mean(self, x):
        return x.mean(-1, keepdim=True)

    def sum(self, x, axis):
        return x.sum(axis, keepdim=True)

    def hide_later(self, scores):
        return scores.masked_fill_(self.torch.ones_like(
            scores, dtype=self.torch.bool).triu_(1), -math.inf)

    def conv(self, x, w, stride):
        # Through a product: cuDNN's f64 is slow for some sizes.
        n, _, h, _ = x.shape
        o, _, side, _ = w.shape
        columns = self.torch.nn.functional.unfold(
            x, side, padding=side // 2, stride=stride)
        out = (h + 2 * (side // 2) - side) // stride + 1
        return (w.reshape(o, -1) @ columns).reshape(n, o, out, out)


def softmax(m, x):
    e = m.exp(x - m.largest(x))
    return e / m.sum(e, -1)


def layer_norm(m, x, w, b):
    x = x - m.mean(x)
    return x / m.sqrt(m.mean(x * x) + 1e-5) * w + b


def attention(m, q, k, v, causal):
    found = m.empty_like(q)
    group = q.shape[1] // k.shape[1]  # heads that share keys
    for head in range(q.shape[1]):  # a matrix of scores at a time
        own = head // group
        scores = q[0, head] @ k[0, own].T * (1 / math.sqrt(q.shape[-1]))
        if causal:
            scores = m.hide_later(scores)
        found[0, head] = softmax(m, scores) @ v[0, own]
    return found


def epilogue(m, x, w, b, r):
    y = x @ w + b
    return y * 0.5 * (1 + m.erf(y * math.sqrt(0.5))) + r


REFERENCES = {
    "matmul": lambda m, /, x, w, **_: x @ w,
    "bmm": lambda m, /, x, w, **_: x @ w,
    "epilogue": lambda m, /, x, w, b, r, **_: epilogue(m, x, w, b, r),
    "softmax": lambda m, /, x, **_: softmax(m, x),
    "layer_norm": lambda m, /, x, w, b, **_: layer_norm(m, x, w, b),
    "add": lambda m, /, x, w, **_: x + w,
    "swiglu": lambda m, /, x, w, **_: x / (1 + m.exp(-x)) * w,
    "transpose": lambda m, /, x, **_: x.T,
    "sum_rows": lambda m, /, x, **_: m.sum(x, 1)[:, 0],
    "sum_columns": lambda m, /, x, **_: m.sum(x, 0)[0],
    "attention": lambda m, /, q, k, v, causal, **_: attention(
        m, q, k, v, causal),
    "conv": lambda m, /, x, o, c, side, stride, **_: m.moved(m.conv(
        m.moved(x, (0, 3, 1, 2)), m.constant(conv_weights(o, c, side)),
        stride), (0, 2, 3, 1)),
}
REFERENCES["attention_op"] = REFERENCES["attention"]
REFERENCES["grouped"] = lambda m, /, q, k, v, **_: attention(m, q, k, v, False)


def scales(case):
    """By which normal inputs are multiplied, so that outputs are near one."""
    sizes = case["sizes"]
    if case["kind"] in ("matmul", "bmm", "epilogue"):
        return {"w": sizes["k"] ** -0.5}
    return {}


def eager(torch, case):
    """What PyTorch has, by name: functions of the inputs."""
    f = torch.nn.functional
    sizes = case["sizes"]
    of_kind = {
        "matmul": torch.matmul, "bmm": torch.matmul,
        "epilogue": lambda x, w, b, r: f.gelu(torch.matmul(x, w) + b) + r,
        "softmax": lambda x: torch.softmax(x, -1),
        "layer_norm": lambda x, w, b: f.layer_norm(x, x.shape[-1:], w, b),
        "add": torch.add, "swiglu": lambda x, w: f.silu(x) * w,
        "transpose": lambda x: x.T.contiguous(),
        "sum_rows": lambda x: x.sum(1), "sum_columns": lambda x: x.sum(0),
        "attention": lambda q, k, v: f.scaled_dot_product_attention(
            q, k, v, is_causal=sizes["causal"]),
        "grouped": lambda q, k, v: f.scaled_dot_product_attention(
            q, k, v, enable_gqa=True),
        "conv": lambda x: f.conv2d(x.permute(0, 3, 1, 2), kept["w"],
                                   stride=sizes["stride"],
                                   padding=sizes["side"] // 2)}
    of_kind["attention_op"] = of_kind["attention"]
    kept = {}
    if case["kind"] == "conv":  # a model has its weights in that order for good
        kept["w"] = torch.from_numpy(conv_weights(
            sizes["o"], sizes["c"], sizes["side"])).cuda().to(
                torch.bfloat16 if case["type"] == "bf16" else torch.float32,
                memory_format=torch.channels_last)
    return {"torch": of_kind[case["kind"]]}


# Those that torch.compile may fuse.
FUSED = ("epilogue", "swiglu", "softmax", "layer_norm")


def work(case):
    """Operations and bytes that must be, each operand once: (flops, bytes);
    of what moves bytes, no operations are counted, of models nothing."""
    if "kind" not in case:
        return 0, 0
    s = case["sizes"]
    each = {"bf16": 2, "f32": 4}[case["type"]]
    if case["kind"] in ("matmul", "bmm", "epilogue"):
        b, m, n, k = s.get("b", 1), s["m"], s["n"], s["k"]
        more = m * n + n if case["kind"] == "epilogue" else 0
        return 2 * b * m * n * k, each * (b * (m * k + k * n + m * n) + more)
    if case["kind"].startswith("attention"):
        scores = s["heads"] * s["s"] ** 2 // (2 if s["causal"] else 1)
        return 4 * scores * s["d"], each * 4 * s["heads"] * s["s"] * s["d"]
    if case["kind"] == "grouped":
        heads, rows = s["heads"], s["rows"]
        return 4 * heads * rows * s["s"] * s["d"], each * 2 * s["d"] * (
            heads * rows + s["of_keys"] * s["s"])
    if case["kind"] == "conv":
        out = (s["h"] + 2 * (s["side"] // 2) - s["side"]) // s["stride"] + 1
        taps = s["c"] * s["side"] ** 2
        return 2 * s["n"] * s["o"] * out * out * taps, each * (
            s["n"] * s["c"] * s["h"] ** 2 + s["o"] * taps
            + s["n"] * s["o"] * out * out)
    whole = s["rows"] * s["width"]
    tensors = {"add": 3, "swiglu": 3, "sum_rows": 1, "sum_columns": 1}
    return 0, each * whole * tensors.get(case["kind"], 2)
