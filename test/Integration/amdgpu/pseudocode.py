# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AMD's pseudocode of instructions, as tinygrad carries it, as functions of
all lanes of a wave at once.

Branches are taken by lanes: what is assigned in one counts where its condition
holds. Loops run over numbers that are known.
"""

import functools
import re

import numpy as np

from numbers_of_lanes import Number, fma, from_bits, whole

TOKEN = re.compile(r"""
    (?P<number>0x[0-9a-fA-F]+|\d+\.\d+|\d+)(?P<suffix>ULL|LL|U|F|L)?
  | (?P<name>[A-Za-z_]\w*)
  | (?P<op>\*\*|<<|>>|<=|>=|==|!=|<>|&&|\|\||[-+*/%&|^~!<>=?:.,;(){}\[\]'])
""", re.X)
KINDS = {"f": "f", "u": "u", "i": "i", "b": "u", "F": "f", "U": "u", "I": "i",
         "B": "u"}
PRECEDENCE = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!=", "<>"],
              ["<", "<=", ">", ">="], ["<<", ">>"], ["+", "-"],
              ["*", "/", "%"]]


class Unknown(Exception):
    """What this does not read: the instruction is not for it."""


def tokens_of(text):
    text = re.sub(r"//.*", "", text)
    found, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = TOKEN.match(text, at)
        if not match:
            raise Unknown(text[at:at + 20])
        if match["number"]:
            found.append(("number", match["number"] + (match["suffix"] or "")))
        elif match["name"]:
            found.append(("name", match["name"]))
        else:
            found.append(("op", match["op"]))
        at = match.end()
    return found


class Parser:
    """To nested tuples."""

    def __init__(self, text):
        self.tokens, self.at = tokens_of(text), 0

    def peek(self, ahead=0):
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else ("end", "")

    def take(self, *texts):
        if self.peek()[1] in texts:
            self.at += 1
            return True
        return False

    def expect(self, text):
        if not self.take(text):
            raise Unknown(f"expected {text}, found {self.peek()[1]}")

    def block(self, *ends):
        all = []
        while self.peek()[0] != "end" and self.peek()[1] not in ends:
            if self.take(";"):
                continue
            all.append(self.statement())
        return all

    def statement(self):
        if self.take("if"):
            return self.branch()
        if self.take("for"):
            name = self.peek()[1]
            self.at += 1
            self.expect("in")
            first = self.expression()
            self.expect(":")
            last = self.expression()
            self.expect("do")
            body = self.block("endfor")
            self.expect("endfor")
            return ("for", name, first, last, body)
        if self.take("declare"):
            name = self.peek()[1]
            self.at += 1
            self.expect(":")
            size = int(self.peek()[1])
            self.at += 1
            self.expect("'")
            kind = self.peek()[1]
            self.at += 1
            count = None
            if self.take("["):
                count = int(self.peek()[1])
                self.at += 1
                self.expect("]")
            return ("declare", name, KINDS[kind], size, count)
        if self.take("break"):
            return ("break",)
        target = self.postfix()
        for op in ("=", "+", "-", "|", "&"):
            if op == "=" and self.take("="):
                value = self.expression()
                if self.take("="):  # two of one
                    return ("both", target, value, self.expression())
                return ("set", target, value)
            if op != "=" and self.peek()[1] == op and self.peek(1)[1] == "=":
                self.at += 2
                value = self.expression()
                return ("set", target, ("binary", op, target, value))
        raise Unknown(f"statement at {self.peek()[1]}")

    def branch(self):
        condition = self.expression()
        self.expect("then")
        then = self.block("elsif", "else", "endif")
        if self.take("elsif"):
            return ("if", condition, then, [self.branch()])
        otherwise = self.block("endif") if self.take("else") else []
        self.expect("endif")
        return ("if", condition, then, otherwise)

    def expression(self):
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        then = self.expression()
        self.expect(":")
        return ("choose", condition, then, self.expression())

    def binary(self, level):
        if level == len(PRECEDENCE):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek()[0] == "op" and self.peek()[1] in PRECEDENCE[level]:
            # An assignment that computes.
            if self.peek(1)[1] == "=":
                break
            op = self.peek()[1]
            self.at += 1
            left = ("binary", op, left, self.binary(level + 1))
        return left

    def unary(self):
        for op in ("-", "!", "~", "+"):
            if self.take(op):
                return ("unary", op, self.unary())
        base = self.postfix()
        if self.take("**"):
            return ("binary", "**", base, self.unary())
        return base

    def postfix(self):
        value = self.primary()
        while True:
            if self.take("."):
                value = ("as", value, self.peek()[1])
                self.at += 1
            elif self.take("["):
                first = self.expression()
                if self.take(":"):
                    value = ("slice", value, first, self.expression())
                else:
                    value = ("at", value, first)
                self.expect("]")
            else:
                return value

    def primary(self):
        kind, text = self.peek()
        self.at += 1
        if text == "(":
            value = self.expression()
            self.expect(")")
            return value
        if text == "{":
            parts = [self.expression()]
            while self.take(","):
                parts.append(self.expression())
            self.expect("}")
            return ("join", parts)
        if kind == "number":
            if self.take("'"):
                return self.sized(int(text))
            return ("literal", text)
        if kind != "name":
            raise Unknown(f"found {text}")
        if text == "lambda":
            return self.function()
        if self.take("("):
            arguments = []
            while not self.take(")"):
                arguments.append(self.expression())
                self.take(",")
            return ("call", text, arguments)
        return ("name", text)

    def sized(self, size):
        """`32'F(x)`, `1'1U`."""
        kind, text = self.peek()
        self.at += 1
        if kind == "number":
            return ("sized", size, text)
        if text == "BF":
            raise Unknown("BF")
        self.expect("(")
        value = self.expression()
        self.expect(")")
        return ("convert", KINDS[text], size, value)

    def function(self):
        self.expect("(")
        names = []
        while not self.take(")"):
            names.append(self.peek()[1])
            self.at += 1
            self.take(",")
        self.expect("(")
        body = self.expression()
        self.take(";")
        self.expect(")")
        return ("lambda", names, body)


@functools.lru_cache(maxsize=None)
def parse(text):
    return Parser(text).block()


def _float(f):
    def apply(*arguments):
        x = arguments[0]
        with np.errstate(all="ignore"):
            return Number(f(*[np.asarray(one.a) for one in arguments]).astype(
                np.asarray(x.a).dtype), x.kind, x.size)
    return apply


def _truth(f):
    return lambda x: Number(np.asarray(f(x)).astype(np.uint64), "u", 1)


def _exponent(x):
    _, exponent = np.frexp(np.asarray(x.a, np.float64))
    bias = {64: 1023, 32: 127, 16: 15}[x.size]
    return whole(np.where(np.isfinite(x.a), exponent - 1 + bias,
                          2 * bias + 1), 32)


def _to_whole(kind, size):
    low, high = {"u": (0, 2**size - 1),
                 "i": (-2**(size - 1), 2**(size - 1) - 1)}[kind]

    def apply(x):
        """Towards zero, to the nearest there is; NaN is zero."""
        value = np.nan_to_num(np.trunc(np.asarray(x.a, np.float64)), nan=0.0,
                              posinf=float(high), neginf=float(low))
        return Number(np.clip(value, low, high).astype(np.int64).astype(
            np.uint64), "u", 64).typed(kind, size)
    return apply


def _convert(kind, size):
    return lambda x: x.converted(kind, size)


def _is_signalling(x):
    bits, nan = x.bits(), np.isnan(np.asarray(x.a, np.float64))
    quiet = {64: 51, 32: 22, 16: 9}[x.size]
    return nan & ((bits >> np.uint64(quiet)) & np.uint64(1) == 0)


def _zero_sign(x, y, wants_max):
    """IEEE's number of two, of which one may be NaN; +0 is above -0."""
    a, b = np.asarray(x.a), np.asarray(y.a)
    pick = np.fmax(a, b) if wants_max else np.fmin(a, b)
    both = (a == 0) & (b == 0)
    negative = (np.signbit(a) & np.signbit(b) if wants_max
                else np.signbit(a) | np.signbit(b))
    return Number(np.where(both, np.where(negative, -0.0, 0.0).astype(a.dtype),
                           pick).astype(a.dtype), x.kind, x.size)


def _ordered(x, y, wants_max):
    """Of which one is NaN: that."""
    a, b = np.asarray(x.a), np.asarray(y.a)
    found = _zero_sign(x, y, wants_max)
    return Number(np.where(np.isnan(a), a, np.where(np.isnan(b), b, found.a)
                           ).astype(a.dtype), x.kind, x.size)


def _signext_from_bit(x, n):
    """Of its `n` lowest bits."""
    bits = np.asarray(x.bits()).astype(np.int64)
    count = np.minimum(np.asarray(n.bits()).astype(np.int64), x.size)
    sign = np.int64(1) << np.maximum(count - 1, 0)
    value = np.where(count == 0, 0, (bits ^ sign) - sign)
    return Number(value.astype(np.uint64), "u", 64).typed("i", x.size)


def _pick(f):
    return lambda x, y: Number(f(x.a, y.a), x.kind, x.size)


FUNCTIONS = {
    "fma": fma, "floor": _float(np.floor), "trunc": _float(np.trunc),
    "sqrt": _float(np.sqrt), "log2": _float(np.log2), "abs": _float(np.abs),
    "sin": _float(np.sin), "cos": _float(np.cos),
    "fract": _float(lambda x: x - np.floor(x)),
    "pow": lambda x, y: _float(lambda a: np.exp2(a))(y),
    "ldexp": lambda x, n: Number(np.ldexp(
        np.asarray(x.a), np.asarray(n.a).astype(np.int32)), "f", x.size),
    "mantissa": lambda x: Number(np.where(
        np.asarray(x.a) == 0, x.a, np.frexp(x.a)[0]).astype(
            np.asarray(x.a).dtype), "f", x.size),
    "exponent": _exponent,
    "isNAN": _truth(lambda x: np.isnan(np.asarray(x.a, np.float64))),
    "isSignalNAN": _truth(_is_signalling),
    "isQuietNAN": _truth(lambda x: np.isnan(np.asarray(x.a, np.float64))
                         & ~_is_signalling(x)),
    "cvtToQuietNAN": lambda x: x,
    "sign": _truth(lambda x: np.signbit(np.asarray(x.a, np.float64))),
    "isEven": _truth(lambda x: np.mod(np.asarray(x.a, np.float64), 2) == 0),
    "signext_from_bit": _signext_from_bit,
    "signext": lambda x: x.typed("i", x.size).converted("i", 64),
    "f32_to_bf16": lambda x: Number(np.asarray(x.a, np.float32), "bf", 16),
    "bf16_to_f32": lambda x: Number(np.asarray(x.a, np.float32), "f", 32),
    "v_max_f32": lambda x, y: _zero_sign(x, y, True),
    "v_min_f32": lambda x, y: _zero_sign(x, y, False),
    "v_maximum_f32": lambda x, y: _ordered(x, y, True),
    "v_minimum_f32": lambda x, y: _ordered(x, y, False),
    "v_maximum_f16": lambda x, y: _ordered(x, y, True),
    "v_minimum_f16": lambda x, y: _ordered(x, y, False),
    "v_max_f16": lambda x, y: _zero_sign(x, y, True),
    "v_min_f16": lambda x, y: _zero_sign(x, y, False),
}
for _from in "iuf":
    for _bits in (8, 16, 32, 64):
        for _size in (8, 16, 32, 64):
            _name = f"_to_i{_size}", f"_to_u{_size}"
            for _kind in "iu":
                FUNCTIONS[f"{_from}{_bits}_to_{_kind}{_size}"] = (
                    _to_whole(_kind, _size) if _from == "f"
                    else _convert(_kind, _size))
            if _size >= 16:
                FUNCTIONS[f"{_from}{_bits}_to_f{_size}"] = _convert("f", _size)
for _bits in (16, 32):
    for _kind in "iu":
        FUNCTIONS[f"v_max_{_kind}{_bits}"] = _pick(np.maximum)
        FUNCTIONS[f"v_min_{_kind}{_bits}"] = _pick(np.minimum)
for _kind, _size in (("i", 32), ("u", 32), ("f", 32), ("f", 16), ("i", 16),
                     ("u", 16)):
    for _which in ("max", "min"):
        _two = FUNCTIONS[f"v_{_which}_{_kind}{_size}"]
        FUNCTIONS[f"v_{_which}3_{_kind}{_size}"] = (
            lambda x, y, z, two=_two: two(two(x, y), z))


def literal(text):
    match = re.fullmatch(r"(0x[0-9a-fA-F]+|[\d.]+)(ULL|LL|U|F|L)?", text)
    digits, suffix = match[1], match[2] or ""
    if suffix == "F":
        return Number(np.float32(digits), "f", 32)
    if "." in digits:
        return Number(np.float64(digits), "f", 64)
    value = int(digits, 0)
    size = 64 if "LL" in suffix or value >= 1 << 32 else 32
    kind = "u" if "U" in suffix or value >= 1 << 63 else "i"
    return from_bits(np.uint64(value), kind, max(size, 32))


CONSTANTS = {
    "INF": Number(np.float64(np.inf), "f", 64),
    # What is smaller, or larger, than there is.
    "UNDERFLOW_F32": Number(np.float32(0), "f", 32),
    "OVERFLOW_F32": Number(np.float32(np.inf), "f", 32),
    "UNDERFLOW_F64": Number(np.float64(0), "f", 64),
    "OVERFLOW_F64": Number(np.float64(np.inf), "f", 64)}


class Run:
    """One execution: `state` has what instructions read, Numbers by name, and
    takes what they assign."""

    def __init__(self, state, lanes):
        self.state, self.lanes = state, lanes
        self.where = None  # lanes of the present branch; None: all

    def block(self, statements):
        for one in statements:
            getattr(self, "do_" + one[0])(*one[1:])

    def do_declare(self, name, kind, size, count):
        zero = Number(np.zeros(self.lanes, np.uint64), "u", size)
        self.state[name] = zero if count is None else [zero] * count

    def do_for(self, name, first, last, body):
        begin, end = (int(np.asarray(self.value(x).a)) for x in (first, last))
        for i in range(begin, end + 1):
            self.state[name] = whole(i, 32)
            self.block(body)

    def do_if(self, condition, then, otherwise):
        holds = np.asarray(self.value(condition).a) != 0
        outer = self.where
        for statements, side in ((then, holds), (otherwise, ~holds)):
            self.where = side if outer is None else outer & side
            if statements and np.any(self.where):
                self.block(statements)
        self.where = outer

    def do_set(self, target, value):
        if value[0] == "lambda":
            self.state[target[1]] = value
            return
        self.assign(target, self.value(value))

    def do_both(self, first, second, value):
        number = self.value(value)
        self.assign(second, number)
        self.assign(first, number)

    def do_break(self):
        raise Unknown("break")

    def assign(self, target, number):
        kind, *rest = target
        if kind == "name":
            self.store(rest[0], number)
        elif kind == "as":
            self.assign_typed(rest[0], rest[1], number)
        elif kind == "slice":
            high, low = (int(np.asarray(self.value(x).a)) for x in rest[1:])
            self.insert(rest[0], number.bits(), low, high - low + 1)
        elif kind == "at":
            self.assign_at(rest[0], rest[1], number)
        elif kind == "join":
            bits, low = number.bits(), 0
            for part in reversed(rest[0]):
                size = int(re.sub(r"\D", "", part[2]))
                self.assign(part, from_bits(bits >> np.uint64(low), "u", size))
                low += size
                if low >= 64:
                    bits, low = np.zeros_like(bits), 0
        else:
            raise Unknown(f"assignment to {kind}")

    def assign_typed(self, base, spelled, number):
        kind, size = _type(spelled)
        if number.kind in ("f", "bf") and kind in ("f", "bf"):
            number = (number if (number.kind, number.size) == (kind, size)
                      else Number(np.asarray(number.a, np.float32), "bf", 16)
                      if kind == "bf" else number.converted(kind, size))
        elif kind == "f" and number.kind in "iu" and number.size != size:
            number = number.converted(kind, size)
        self.assign(base, number.typed(kind, size))

    def assign_at(self, base, index, number):
        place = self.value(index)
        name = base[1] if base[0] == "name" else None
        if isinstance(self.state.get(name), list):
            i = int(np.asarray(place.a))
            old = self.state[name][i]
            self.state[name] = list(self.state[name])
            self.state[name][i] = self.merged(old, number)
            return
        # `D0.u64[laneId]`: a bit for each lane.
        while base[0] == "as":
            base = base[1]
        if index != ("name", "laneId"):
            return self.insert(base, number.bits(), int(np.asarray(place.a)), 1)
        self.state["lanes:" + base[1]] = self.merged(
            self.state.get("lanes:" + base[1],
                           Number(np.zeros(self.lanes, np.uint64), "u", 1)),
            number)

    def insert(self, base, bits, low, size):
        while base[0] == "as":
            base = base[1]
        old = self.state.get(base[1])
        before = (np.zeros(self.lanes, np.uint64) if old is None
                  else old.bits())
        all = np.uint64(((1 << size) - 1) << low)
        new = (before & ~all) | ((bits << np.uint64(low)) & all)
        self.store(base[1], Number(new, "u", max(
            low + size, old.size if old is not None else 0)))

    def merged(self, old, new):
        if self.where is None or old is None:
            return new
        bits = np.where(self.where, new.bits(), old.bits())
        return from_bits(bits, new.kind, new.size)

    def store(self, name, number):
        self.state[name] = self.merged(self.state.get(name), number)

    def value(self, node):
        return getattr(self, "value_" + node[0])(*node[1:])

    def value_literal(self, text):
        return literal(text)

    def value_sized(self, size, text):
        return literal(text).typed("u", size)

    def value_name(self, name):
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name not in self.state:
            raise Unknown(f"name {name}")
        return self.state[name]

    def value_as(self, base, spelled):
        if base == ("name", "WAVE_MODE") and spelled == "IEEE":
            return whole(1)  # as kernels begin, but on RDNA 4
        if base[0] == "name" and base[1] in ("INF", "NAN"):
            _, size = _type(spelled)
            value = np.inf if base[1] == "INF" else np.nan
            return Number(np.asarray(value).astype(
                {64: np.float64, 32: np.float32, 16: np.float16}[size]), "f",
                size)
        return self.value(base).typed(*_type(spelled))

    def value_convert(self, kind, size, node):
        if kind == "f" and node[0] == "literal" and node[1][:2] == "0x":
            return literal(node[1]).typed("f", size)  # bits
        return self.value(node).converted(kind, size)

    def value_slice(self, base, high, low):
        value = self.value(base)
        top, bottom = (int(np.asarray(self.value(x).a)) for x in (high, low))
        if top < bottom:  # the other way round
            bits = sum(((value.bits() >> np.uint64(i)) & np.uint64(1))
                       << np.uint64(bottom - i)
                       for i in range(top, bottom + 1))
            return from_bits(bits, "u", bottom - top + 1)
        return from_bits(value.bits() >> np.uint64(bottom), "u",
                         top - bottom + 1)

    def value_at(self, base, index):
        value, place = self.value(base), self.value(index)
        if isinstance(value, list):
            return value[int(np.asarray(place.a))]
        return from_bits(value.bits() >> np.asarray(place.a).astype(np.uint64),
                         "u", 1)

    def value_join(self, parts):
        bits, low = np.uint64(0), 0
        for part in reversed(parts):
            value = self.value(part)
            bits = bits | (value.bits() << np.uint64(low))
            low += value.size
        return Number(bits, "u", low)

    def value_choose(self, condition, then, otherwise):
        holds = np.asarray(self.value(condition).a) != 0
        x, y = self.value(then), self.value(otherwise)
        return Number(np.where(holds, x.a, y.a), x.kind, x.size)

    def value_unary(self, op, node):
        x = self.value(node)
        if op == "+":
            return x
        if op == "!":
            return Number((np.asarray(x.a) == 0).astype(np.uint64), "u", 1)
        if op == "~":
            return from_bits(~x.bits(), x.kind, x.size)
        return Number(-np.asarray(x.a), x.kind, x.size)

    def value_call(self, name, arguments):
        own = self.state.get(name)
        if isinstance(own, tuple) and own[0] == "lambda":
            before = {one: self.state.get(one) for one in own[1]}
            for one, argument in zip(own[1], arguments):
                self.state[one] = self.value(argument)
            result = self.value(own[2])
            self.state.update(before)
            return result
        if name not in FUNCTIONS:
            raise Unknown(f"function {name}")
        return FUNCTIONS[name](*[self.value(x) for x in arguments])

    def value_binary(self, op, left, right):
        x, y = self.value(left), self.value(right)
        if op in ("&&", "||"):
            a, b = np.asarray(x.a) != 0, np.asarray(y.a) != 0
            return _boolean(a & b if op == "&&" else a | b)
        if op in COMPARISONS:
            if x.kind in ("f", "bf") or y.kind in ("f", "bf"):
                return _boolean(COMPARISONS[op](np.asarray(x.a),
                                                np.asarray(y.a)))
            if x.kind != y.kind:
                x, y = (one if one.kind == "u" else from_bits(
                    one.bits() if one.size >= 64 else np.asarray(one.a).astype(
                        np.uint64), "u", 64) for one in (x, y))
            return _boolean(COMPARISONS[op](np.asarray(x.a), np.asarray(y.a)))
        return arithmetic(op, x, y)


def arithmetic(op, x, y):
    with np.errstate(all="ignore"):
        if x.kind in ("f", "bf") or y.kind in ("f", "bf"):
            size = max(one.size for one in (x, y) if one.kind in ("f", "bf"))
            a, b = (np.asarray(one.converted("f", size).a) for one in (x, y))
            if op == "**":
                return Number(np.power(a.astype(np.float64), b).astype(
                    a.dtype), "f", size)
            return Number(np.asarray(FLOAT_OPS[op](a, b), a.dtype), "f", size)
        size = max(x.size, y.size) if op not in ("<<", ">>") else x.size
        kind = x.kind if op in ("<<", ">>") or x.kind == y.kind else "u"
        a, b = np.asarray(x.a), np.asarray(y.a)
        if op == ">>" and kind == "i":
            return Number(a.astype(np.int64) >> b.astype(np.int64), "i", size)
        result = WHOLE_OPS[op](a.astype(np.uint64), b.astype(np.uint64))
        if op == "<<":
            result = np.where(b.astype(np.uint64) >= 64, np.uint64(0), result)
        return from_bits(result, kind, size)


def _boolean(a):
    return Number(np.asarray(a).astype(np.uint64), "u", 1)


def _type(spelled):
    if spelled == "bf16":
        return "bf", 16
    match = re.fullmatch(r"([fuib])(\d+)", spelled)
    if not match or int(match[2]) > 64:
        raise Unknown(f"type {spelled}")
    return KINDS[match[1]], int(match[2])


COMPARISONS = {"==": np.equal, "!=": np.not_equal, "<": np.less,
               "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
               # Neither is NaN, and they differ.
               "<>": lambda a, b: (a < b) | (a > b)}
FLOAT_OPS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
WHOLE_OPS = {"+": np.add, "-": np.subtract, "*": np.multiply,
             "/": np.floor_divide, "%": np.mod, "&": np.bitwise_and,
             "|": np.bitwise_or, "^": np.bitwise_xor, "<<": np.left_shift,
             ">>": np.right_shift}
