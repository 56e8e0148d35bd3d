# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions for device_units.py: models, their inputs and what comes out."""

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

TYPES = {TensorProto.FLOAT16: np.float16,
         TensorProto.BFLOAT16: ml_dtypes.bfloat16,
         TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64}


def long_attention(random, kind):
    """Keys of many tiles, rows of few."""
    return attention(random, kind, ([1, 3], [1, 5, 16], [300, 513, 640]))


def attention(random, kind, sizes=([1, 2], [1, 16, 40, 130],
                                   [7, 16, 48, 150, 257])):
    """Scores are rounded as the types say, weights where the unit takes them."""
    heads, rows, keys = (int(random.choice(each)) for each in sizes)
    width, of_values = (int(random.choice([*each, 8, 16, 24, 32, 48, 64, 80]))
                        for each in ([96], [96, 264]))
    hides, heads_last, turned = (bool(random.integers(2)) for _ in range(3))
    q, k, v = (random.standard_normal([1, heads, *shape]).astype(TYPES[kind])
               for shape in ((rows, width), (keys, width), (keys, of_values)))
    scores = (q.astype(np.float64) @ np.swapaxes(k, -1, -2).astype(np.float64))
    scale = np.array(width ** -0.5).astype(TYPES[kind])
    scores = scores.astype(TYPES[kind]).astype(np.float64) * float(scale)
    scores = scores.astype(TYPES[kind]).astype(np.float64)
    constants = [helper.make_tensor("scale", kind, [], scale.tobytes(),
                                    raw=True)]
    feeds = {"q": q, "k": k, "v": v}
    nodes = []
    if heads_last:  # as transformers have them: batch, row, head, column
        feeds = {name: np.ascontiguousarray(x.swapaxes(1, 2))
                 for name, x in feeds.items()}
        nodes = [helper.make_node("Transpose", [name], [name + "h"],
                                  perm=[0, 2, 1, 3]) for name in feeds]
    own = (lambda name: name + "h") if heads_last else (lambda name: name)
    turned &= not heads_last  # keys as the product takes them
    if turned:
        feeds["k"] = np.ascontiguousarray(feeds["k"].swapaxes(2, 3))
    else:
        nodes.append(helper.make_node("Transpose", [own("k")], ["t"],
                                      perm=[0, 1, 3, 2]))
    nodes += [helper.make_node("MatMul", [own("q"), "k" if turned else "t"],
                               ["s"]),
              helper.make_node("Mul", ["s", "scale"], ["z"])]
    if hides:
        hidden = random.random([rows, keys]) < 0.3
        hidden[:, 0] = False
        feeds["m"] = np.where(hidden, -np.inf, 0).astype(TYPES[kind])
        nodes.append(helper.make_node("Add", ["z", "m"], ["x"]))
        scores = np.where(hidden, -np.inf, scores)
    nodes += [helper.make_node("Softmax", ["x" if hides else "z"], ["w"],
                               axis=-1),
              helper.make_node("MatMul", ["w", own("v")], ["y"])]
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    wanted = weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64)
    return (f"attention {[heads, rows, keys, width, of_values]}"
            f"{' hidden' * hides}{' heads last' * heads_last}"
            f"{' turned' * turned}"), nodes, feeds, constants, wanted


def attention_op(random, kind):
    """Queries in groups of heads, one row of them, keys that rows do not see,
    in front of some rows all of them or those of a tile."""
    heads, group, rows, keys, width = (int(random.choice(each)) for each in (
        [1, 2], [1, 4], [1, 16, 40, 130], [7, 48, 150, 257], [16, 32, 64]))
    causal, window = bool(random.integers(2)), bool(random.integers(2))
    q, k, v = (random.standard_normal([1, *shape]).astype(TYPES[kind])
               for shape in ((heads * group, rows, width), (heads, keys, width),
                             (heads, keys, width)))
    root = float(np.array(width ** -0.25).astype(TYPES[kind]))
    scaled_q, scaled_k = (  # as ONNX's reference rounds them
        (x.astype(np.float64) * root).astype(TYPES[kind]).astype(np.float64)
        for x in (q, k))
    wide_k, wide_v = (np.repeat(x.astype(np.float64), group, axis=1)
                      for x in (scaled_k, v))
    scores = scaled_q @ wide_k.swapaxes(-1, -2)
    scores = scores.astype(TYPES[kind]).astype(np.float64)
    row, key = np.arange(rows)[:, None], np.arange(keys)
    hidden = np.zeros([rows, keys], bool)
    feeds = {"q": q, "k": k, "v": v}
    if causal:
        hidden |= key > row
    if window:
        seen = abs(key - row) <= 20
        seen[:, 0] = True
        feeds["m"] = np.where(seen, 0, -np.inf).astype(TYPES[kind])
        hidden |= ~seen
    scores = np.where(hidden, -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    wanted = weights / weights.sum(-1, keepdims=True) @ wide_v
    node = helper.make_node("Attention", list(feeds), ["y"],
                            is_causal=int(causal))
    return (f"attention op {[heads, group, rows, keys, width]}"
            f"{' causal' * causal}{' window' * window}"), [node], feeds, [], \
        wanted


def open_attention(random, kind):
    """Rows and keys, of which each call chooses how many; and such shapes."""
    name, nodes, feeds, constants, wanted = attention_op(random, kind)
    rows, keys = feeds["q"].shape[2], feeds["k"].shape[2]
    shapes = {"q": [*feeds["q"].shape[:2], "S", feeds["q"].shape[3]],
              "k": [*feeds["k"].shape[:2], "P", feeds["k"].shape[3]],
              "v": [*feeds["v"].shape[:2], "P", feeds["v"].shape[3]],
              "m": ["S", "P"]}
    # Of eight keys or fewer there may be a program of its own.
    least, most = (1, 8) if keys <= 8 else (9, keys + random.integers(100))
    return f"open {name}", nodes, feeds, constants, wanted, shapes, \
        f"--dim=S=1..{rows + random.integers(100)},P={least}..{most}"
