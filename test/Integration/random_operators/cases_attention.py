# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention and rotary embeddings, against the onnx package's reference."""

import numpy as np
from operator_case import Case


def cases(random):
    def attention(name, q, k, v, *, mask=None, past=None, results=1,
                  opset=23, **attributes):
        inputs = [random.floats(q), random.floats(k), random.floats(v)]
        if mask is not None or past:
            inputs.append(mask)
        if past:
            inputs += [random.floats(past[0]), random.floats(past[1])]
        return Case(f"Attention_{name}", "Attention", inputs, opset=opset,
                    attributes=attributes, results=[np.float32] * results,
                    reference="onnx")

    four = [(2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 5)]
    three = [(2, 4, 24), (2, 6, 24), (2, 6, 15)]
    heads = {"q_num_heads": 3, "kv_num_heads": 3}
    yield attention("heads_first", *four)
    yield attention("heads_last", *three, **heads)
    yield attention("scaled", *four, scale=0.5)
    yield attention("capped", *four, softcap=2.0)
    yield attention("causal", *four, is_causal=1)
    yield attention("grouped", (2, 6, 4, 8), (2, 2, 5, 8), (2, 2, 5, 8))
    yield attention("grouped_last", (2, 4, 48), (2, 5, 16), (2, 5, 16),
                    q_num_heads=6, kv_num_heads=2)
    yield attention("float_mask", *four, mask=random.floats((4, 6)))
    mask = random.booleans((2, 1, 4, 6))
    mask[..., 0] = True
    yield attention("bool_mask", *four, mask=mask)
    yield attention("past", *four, past=[(2, 3, 7, 8), (2, 3, 7, 5)],
                    results=3)
    yield attention("past_last", *three, past=[(2, 3, 7, 8), (2, 3, 7, 5)],
                    results=3, **heads)
    yield from rotary(random)


def rotary(random):
    n = 0
    for interleaved in [0, 1]:
        for width in [0, 4]:
            half = (width or 8) // 2
            attributes = {"interleaved": interleaved,
                          "rotary_embedding_dim": width}
            yield Case(f"RotaryEmbedding_{n}", "RotaryEmbedding",
                       [random.floats((2, 3, 5, 8)), random.floats((9, half)),
                        random.floats((9, half)),
                        random.integers((2, 5), np.int64, 0, 8)], opset=23,
                       attributes=attributes, reference="onnx")
            yield Case(f"RotaryEmbedding_last_{n}", "RotaryEmbedding",
                       [random.floats((2, 5, 24)),
                        random.floats((2, 5, half)),
                        random.floats((2, 5, half))], opset=23,
                       attributes={**attributes, "num_heads": 3},
                       reference="onnx")
            n += 1
