# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RNN, GRU and LSTM: loops over time."""

import numpy as np

from choose import chance, pick, size, value
from graph import Refused
from ops_elementwise import epilogue

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def sequence(graph):
    """time x batch x features, made if there is none."""
    try:
        return value(graph, ("f32",), ranks=(3,),
                     where=lambda v: 0 < v.size <= 3000 and v.magnitude < 50)
    except Refused:
        return graph.source("f32", (size(graph, 17), size(graph, 5),
                                    size(graph, 17)))


def first_state(graph, dims):
    return graph.source("f32", dims, -1, 1, constant=chance(graph, 0.4))


def recurrent(graph):
    v = sequence(graph)
    op = pick(graph, list(GATES))
    batch_first = chance(graph, 0.2)
    time, batch, features = v.shape
    if batch_first:
        time, batch = batch, time
    direction = pick(graph, [None, None, "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    hidden = size(graph, 24)
    rows = GATES[op] * hidden
    # Small enough that what differs by a last place does not grow.
    scale = 1 / (1 + features ** 0.5 * max(1.0, v.magnitude))
    operands = [v, graph.weight("f32", (ways, rows, features), -scale, scale),
                graph.weight("f32", (ways, rows, hidden), -0.3, 0.3),
                graph.weight("f32", (ways, 2 * rows)) if chance(graph, 0.8)
                else None]
    lengths = None
    if chance(graph, 0.3):
        lengths = graph.constant(np.asarray(graph.random.integers(
            1, time, batch, endpoint=True)).astype(np.int32))
    operands.append(lengths)
    state = (batch, ways, hidden) if batch_first else (ways, batch, hidden)
    if chance(graph, 0.6):
        operands.append(first_state(graph, state))
        if op == "LSTM":
            operands.append(first_state(graph, state))
    return graph.node(
        op, operands, -1, 1, outputs=3 if op == "LSTM" else 2,
        hidden_size=hidden, direction=direction,
        layout=1 if batch_first else None,
        linear_before_reset=pick(graph, [None, 1]) if op == "GRU" else None)


def recurrent_layer(graph):
    return epilogue(graph, recurrent(graph)[0])


MAKERS = [(recurrent, 1), (recurrent_layer, 1)]
