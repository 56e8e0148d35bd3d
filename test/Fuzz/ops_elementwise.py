# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operators: what fuses with everything else."""

import math

import numpy as np

from choose import between, chance, partner, pick, value
from graph import FLOATS, INTEGERS, Refused


def monotonic(function):
    """The interval of an increasing function."""
    return lambda low, high: (function(low), function(high))


def wide(low, high):
    return -max(abs(low), abs(high)), max(abs(low), abs(high))


# name -> (domain, interval, attributes)
UNARY = {
    "Relu": (None, monotonic(lambda x: max(x, 0))),
    "LeakyRelu": (None, wide),
    "Sigmoid": (None, lambda a, b: (0, 1)),
    "HardSigmoid": (None, lambda a, b: (0, 1)),
    "HardSwish": (None, wide),
    "Tanh": (None, lambda a, b: (-1, 1)),
    "Erf": (None, lambda a, b: (-1, 1)),
    "Exp": ((-20, 5), monotonic(math.exp)),
    "Log": ((0.01, 1e9), monotonic(math.log)),
    "Sqrt": ((0, 1e9), monotonic(math.sqrt)),
    "Reciprocal": ((0.05, 1e9), lambda a, b: (1 / b, 1 / a)),
    "Neg": (None, lambda a, b: (-b, -a)),
    "Abs": (None, lambda a, b: (0, max(abs(a), abs(b)))),
    "Elu": (None, wide),
    "Selu": (None, lambda a, b: tuple(1.8 * x for x in wide(a, b))),
    "Celu": (None, wide),
    "Softplus": ((-50, 50), lambda a, b: (0, max(b, 0) + 0.7)),
    "Softsign": (None, lambda a, b: (-1, 1)),
    "Mish": ((-50, 50), wide),
    "Gelu": ((-50, 50), wide),
    "Sin": ((-50, 50), lambda a, b: (-1, 1)),
    "Cos": ((-50, 50), lambda a, b: (-1, 1)),
    "Atan": (None, lambda a, b: (-1.6, 1.6)),
    "Sinh": ((-4, 4), monotonic(math.sinh)),
    "Cosh": ((-4, 4), lambda a, b: (1, math.cosh(max(abs(a), abs(b))))),
    "Asinh": (None, wide),
    "Acosh": ((1.1, 1e9), monotonic(math.acosh)),
    "Atanh": ((-0.9, 0.9), monotonic(math.atanh)),
    "Acos": ((-0.9, 0.9), lambda a, b: (0, 3.2)),
    "Asin": ((-0.9, 0.9), wide),
    "Tan": ((-1.2, 1.2), monotonic(math.tan)),
    "Identity": (None, lambda a, b: (a, b)),
}
JUMPING = ["Floor", "Ceil", "Round", "Sign"]
KEEPS_EXACT = {"Relu", "Neg", "Abs", "Identity"}
ATTRIBUTES = {
    "LeakyRelu": lambda g: {"alpha": pick(g, [None, 0.2, 0.01])},
    "HardSigmoid": lambda g: {"alpha": pick(g, [None, 0.3])},
    "Elu": lambda g: {"alpha": pick(g, [None, 0.5])},
    "Celu": lambda g: {"alpha": pick(g, [None, 0.7])},
    "Gelu": lambda g: {"approximate": pick(g, [None, "tanh"])},
}
# What ONNX does not define for bf16 or f64 at this opset.
ONLY_F32 = {"Celu"}
NO_BF16 = {"HardSwish", "Mish", "Acosh", "Asinh", "Atanh", "Sinh", "Cosh",
           "Acos", "Asin", "Atan", "Tan", "Sin", "Cos", "Softplus", "Softsign",
           "Elu", "Selu", "HardSigmoid"}


def unary(graph, v=None, names=None):
    name = pick(graph, names or UNARY)
    domain, interval = UNARY[name]

    def fits(v):
        return ((domain is None or domain[0] <= v.low <= v.high <= domain[1])
                and not (name in ONLY_F32 and v.dtype != "f32"))
    if v is None:
        v = value(graph, where=fits)
    elif not fits(v):
        raise Refused(f"{name} of [{v.low}, {v.high}]")
    low, high = interval(v.low, v.high)
    attributes = ATTRIBUTES[name](graph) if name in ATTRIBUTES else {}
    # ONNX's own expansion has the constants of this form in f32 only.
    if name == "Gelu" and v.dtype == "f64":
        attributes = {}
    return graph.node(name, [v], low, high,
                      v.exact and name in KEEPS_EXACT, **attributes)


# What networks have behind a product.
ACTIVATIONS = ["Relu", "LeakyRelu", "Sigmoid", "HardSigmoid", "HardSwish",
               "Tanh", "Erf", "Gelu", "Elu", "Mish", "Softplus", "Neg", "Abs"]


def epilogue(graph, v):
    """A chain of elementwise nodes behind a value."""
    for _ in range(between(graph, 0, 4)):
        try:
            kind = graph.random.random()
            if kind < 0.5:
                v = unary(graph, v, ACTIVATIONS)
            elif kind < 0.85:
                v = binary(graph, v)
            else:
                v = clip(graph, v)
        except Refused:
            pass
    return v


def clip(graph, v=None):
    v = v or value(graph)
    # Around the middle: what is one number everywhere leaves later nodes, such
    # as a norm, nothing but roundings to work on.
    middle = (v.low + v.high) / 2
    low = graph.random.uniform(v.low, middle)
    high = graph.random.uniform(middle, v.high)
    ends = [graph.constant(np.asarray(x).astype(graph_dtype(v)))
            for x in (low, high)]
    if chance(graph, 0.3):
        ends[0], low = None, v.low
    elif chance(graph, 0.3):
        ends, high = ends[:1], v.high
    return graph.node("Clip", [v, *ends], low, high, v.exact)


def graph_dtype(v):
    from graph import DTYPES
    return DTYPES[v.dtype]


def binary(graph, v=None):
    v = v or value(graph)
    if not v.is_float:
        raise Refused("no float")
    op = pick(graph, ["Add", "Add", "Sub", "Mul", "Mul", "Div", "Max", "Min",
                      "PRelu", "Pow", "Mean", "Sum"])
    if op == "Div":
        other = partner(graph, v, 0.5, 3.0, lambda o: o.low >= 0.2)
    elif op == "Pow":
        if v.low < 0.05 or v.high > 20:
            raise Refused("Pow of what may be negative")
        exponent = pick(graph, [0.5, 2.0, 3.0, -1.0, 1.7])
        other = graph.constant(np.asarray(exponent).astype(graph_dtype(v)))
        ends = v.low ** exponent, v.high ** exponent
        return graph.node(op, [v, other], min(ends), max(ends))
    else:
        other = partner(graph, v)
    operands = [v, other]
    exact = v.exact and other.exact and v.dtype in ("f32", "f64")
    a, b = v.magnitude, other.magnitude
    if op in ("Add", "Sub", "Sum"):
        if op == "Add" and chance(graph, 0.4):
            operands.reverse()
        low, high = (v.low + other.low, v.high + other.high)
        if op == "Sub":
            low, high = v.low - other.high, v.high - other.low
    elif op == "Mean":
        low, high, exact = (v.low + other.low) / 2, (v.high + other.high) / 2, 0
    elif op == "Mul":
        ends = [x * y for x in (v.low, v.high) for y in (other.low, other.high)]
        low, high, exact = min(ends), max(ends), False
        if chance(graph, 0.4):
            operands.reverse()
    elif op == "Div":
        low, high, exact = -a / 0.2, a / 0.2, False
        if v.low >= 0:
            low = v.low / other.high
    elif op == "PRelu":
        low, high, exact = -a * max(b, 1), max(v.high, a * b), False
        if other.rank > v.rank:
            raise Refused("PRelu")
    else:
        low = (max if op == "Max" else min)(v.low, other.low)
        high = (max if op == "Max" else min)(v.high, other.high)
        exact = v.exact and other.exact
    return graph.node(op, operands, low, high, bool(exact))


def jump(graph):
    v = value(graph, exact=True)
    return graph.node(pick(graph, JUMPING), [v], math.floor(v.low),
                      math.ceil(v.high), True)


def compare(graph):
    v = value(graph, FLOATS + INTEGERS, exact=True)
    other = partner(graph, v, v.low, v.high, lambda o: o.exact)
    op = pick(graph, ["Less", "Greater", "Equal", "LessOrEqual",
                      "GreaterOrEqual"])
    return graph.node(op, [v, other], 0, 1)


def where(graph):
    v = value(graph)
    other = partner(graph, v)
    try:
        condition = value(graph, ("bool",), where=lambda c: all(
            d in (1, e) for d, e in zip(c.shape[::-1], v.shape[::-1]))
            and c.rank <= v.rank)
    except Refused:
        condition = graph.source("bool", v.shape)
    operands = [v, other]
    if chance(graph, 0.5):
        operands.reverse()
    return graph.node("Where", [condition, *operands],
                      min(v.low, other.low), max(v.high, other.high),
                      v.exact and other.exact)


def logic(graph):
    v = value(graph, ("bool",))
    op = pick(graph, ["And", "Or", "Xor", "Not"])
    if op == "Not":
        return graph.node(op, [v], 0, 1)
    return graph.node(op, [v, partner(graph, v)], 0, 1)


MAKERS = [(unary, 8), (binary, 9), (clip, 2), (jump, 1), (compare, 1),
          (where, 2), (logic, 1)]
