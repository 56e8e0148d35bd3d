# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions of open lengths for device_units.py, on units without fragments.

Their scores go through memory that the threads of a workgroup share, some keys
at a time: rows and keys of fewer than a tile and of several, the last of which
are cut off, with a mask, causal, behind keys of earlier calls, and of heads
that share keys, in f32 beside NumPy in f64.
"""

import numpy as np
from onnx import TensorProto, helper

from unit_attention import open_attention

KINDS = [TensorProto.FLOAT]


def takes(unit):
    """Of threads that share an accumulator."""
    return "scope" in unit and any(each["left"] == "f32"
                                   for each in unit["types"])


def cached_attention(random, _):
    """Rows behind the keys of earlier calls, of which each call says how
    many, as it does of the rows."""
    heads, group, rows, past, width = (int(random.choice(each)) for each in (
        [1, 2], [1, 3], [1, 2, 17, 70], [1, 31, 100, 190], [16, 32, 64]))
    q, k, v, old_k, old_v = (
        random.standard_normal([1, *shape]).astype(np.float32) for shape in (
            (heads * group, rows, width), *2 * ((heads, rows, width),),
            *2 * ((heads, past, width),)))
    feeds = {"q": q, "k": k, "v": v, "pk": old_k, "pv": old_v}
    keys, values = (np.concatenate(both, axis=2).astype(np.float64)
                    for both in ((old_k, k), (old_v, v)))
    wide_k, wide_v = (np.repeat(x, group, axis=1) for x in (keys, values))
    scores = q.astype(np.float64) @ wide_k.swapaxes(-1, -2) * width ** -0.5
    hidden = np.arange(past + rows) > np.arange(rows)[:, None] + past
    scores = np.where(hidden, -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    wanted = weights / weights.sum(-1, keepdims=True) @ wide_v
    node = helper.make_node("Attention", ["q", "k", "v", "", "pk", "pv"],
                            ["y", "nk", "nv"], is_causal=1)
    shapes = {name: [*feed.shape[:2], "P" if name[0] == "p" else "S", width]
              for name, feed in feeds.items()}
    return (f"cached attention {[heads, group, rows, past, width]}", [node],
            feeds, [], wanted, shapes,
            f"--dim=S=1..{rows + random.integers(60)},"
            f"P=1..{past + random.integers(100)}")


MODELS = [open_attention, cached_attention]


def why_differs(_, __, found, wanted):
    """Empty: it does not."""
    most = 2 ** -19
    norm = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    # NaN is in no range.
    return "" if norm <= most else f"differs by {norm:.2e} in norm"
