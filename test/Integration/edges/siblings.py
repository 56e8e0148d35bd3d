# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several reductions of one tensor, which share a kernel: name, text, and a
list of inputs for each run."""

import numpy as np

RANDOM = np.random.default_rng(5)
# OF(x) is over the axes of the case.
SETS = {
    "bounds": "a = ReduceMinOF(x)  b = ReduceMaxOF(x)",
    "moments": "s = ReduceSumSquareOF(x)  m = ReduceMeanOF(x)  q = Mul(m, m)  "
               "a = Sub(s, q)  b = ReduceL1OF(x)",
    "six": "a = ReduceMaxOF(x)  c = ReduceL2OF(x)  d = ReduceMinOF(x)  "
           "e = ReduceProdOF(x)  f = ReduceMeanOF(x)  h = ReduceL1OF(x)  "
           "i = Add(c, d)  j = Add(e, f)  k = Add(i, j)  b = Sub(k, h)",
    # What the second reads besides is made of the first.
    "chained": "m = ReduceMeanOF(x)  u = Sub(x, m)  a = ReduceMaxOF(u)  "
               "v = ReduceMinOF(u)  w = ReduceMaxOF(x)  b = Add(v, w)",
}
PLACES = [((7,), (0,)), ((3, 129), (1,)), ((129, 3), (0,)), ((5, 1), (1,)),
          ((2, 3, 17, 19), (2, 3)), ((2, 6, 5, 33), (1,)),
          ((3, 40, 70), (0, 2)), ((4, 5, 6), (0, 1, 2)), ((2, 1030), (1,))]
TYPES = {"float": np.float32, "float16": np.float16, "double": np.float64,
         "int32": np.int32}


def values(shape, kind):
    if np.issubdtype(kind, np.integer):
        return RANDOM.integers(-3, 4, shape).astype(kind)
    # Products of many stay near one.
    return (1 + RANDOM.standard_normal(shape) / 64).astype(kind)


def cases():
    for name, text in SETS.items():
        for (shape, axes), (kind, dtype) in (
                (place, each) for place in PLACES for each in TYPES.items()):
            # Sums of f16 are as coarse as ONNX Runtime's.
            if (kind != "float" and len(shape) != 3) or \
                    (kind == "float16" and name != "bounds"):
                continue
            of = f"<axes = [{', '.join(map(str, axes))}]>"
            body = "\n  ".join(text.replace("OF", of).split("  "))
            dims = ",".join(map(str, shape))
            yield ("_".join(map(str, ("siblings", name, kind, *shape, "of",
                                      *axes))),
                   '<ir_version: 8, opset_import: ["" : 17]>\n'
                   f"g ({kind}[{dims}] x) => ({kind}[] a, {kind}[] b) {{\n"
                   f"  {body}\n}}", [{"x": values(shape, dtype)}])


CASES = list(cases())
