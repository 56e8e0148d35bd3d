# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RNN, GRU and LSTM with every option their definitions have."""

import numpy as np
from operator_case import Case

STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 7
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def cases(random):
    for op in GATES:
        for direction in ["forward", "reverse", "bidirectional"]:
            yield recurrence(random, op, f"{direction}", direction)
            yield recurrence(random, op, f"{direction}_full", direction,
                             bias=True, lengths=True, state=True)
        yield recurrence(random, op, "clipped", "forward", bias=True,
                         clip=0.5)
    yield recurrence(random, "GRU", "reset_after", "bidirectional", bias=True,
                     linear_before_reset=1)
    yield recurrence(random, "LSTM", "peepholes", "reverse", bias=True,
                     state=True, peepholes=True)
    yield recurrence(random, "LSTM", "coupled", "forward", input_forget=1)
    yield recurrence(random, "RNN", "activations", "bidirectional",
                     activations=["LeakyRelu", "HardSigmoid"],
                     activation_alpha=[0.1, 0.3], activation_beta=[0.4])
    yield recurrence(random, "LSTM", "activations", "forward",
                     activations=["HardSigmoid", "Softsign", "Relu"])


def recurrence(random, op, name, direction, bias=False, lengths=False,
               state=False, peepholes=False, **attributes):
    directions = 2 if direction == "bidirectional" else 1
    rows = GATES[op] * HIDDEN

    def weights(*shape):
        return random.floats(shape, low=-0.5, high=0.5)

    inputs = [weights(STEPS, BATCH, INPUTS), weights(directions, rows, INPUTS),
              weights(directions, rows, HIDDEN),
              weights(directions, 2 * rows) if bias else None,
              np.array([2, 5, 1], np.int32) if lengths else None,
              weights(directions, BATCH, HIDDEN) if state else None]
    if op == "LSTM":
        inputs.append(weights(directions, BATCH, HIDDEN) if state else None)
        inputs.append(weights(directions, 3 * HIDDEN) if peepholes else None)
    while inputs[-1] is None:
        inputs.pop()
    attributes.update(hidden_size=HIDDEN, direction=direction)
    return Case(f"{op}_{name}", op, inputs, attributes=attributes, opset=14,
                results=[np.float32] * (3 if op == "LSTM" else 2))
