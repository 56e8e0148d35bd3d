# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured: a table of cases, the most important first.

A case is a kind (graphs.py writes its model, kinds.py knows its reference and
its peers), its sizes and a type. `quick` replaces sizes by tiny ones, for a
driver that interprets.
"""

GEMM_ROWS = [1, 16, 64, 128, 512, 2048, 16384]
GEMM_SIDES = [(4096, 4096), (14336, 4096), (4096, 14336)]  # n, k
GEMM_ODD = [(1000, 1000, 1000), (4095, 4097, 1023), (333, 777, 1111)]


def case(group, name, kind, type_, quick, **sizes):
    return {"group": group, "name": f"{name}-{type_}", "kind": kind,
            "type": type_, "sizes": sizes, "quick": quick}


def matmul(group, m, n, k, type_, quick=None):
    return case(group, f"matmul-{m}x{n}x{k}", "matmul", type_,
                quick or {"m": min(m, 37), "n": 72, "k": 40}, m=m, n=n, k=k)


def gemms():
    yield matmul("gemm", 4096, 4096, 4096, "bf16")
    yield matmul("gemm", 1024, 1024, 1024, "f32")
    yield matmul("gemm", 4096, 4096, 4096, "f32")
    yield matmul("gemm", 8192, 8192, 8192, "bf16")
    for type_ in ("bf16", "f32"):
        yield case("gemm", "epilogue-4096", "epilogue", type_,
                   {"m": 33, "n": 70, "k": 48}, m=4096, n=4096, k=4096)
    for type_ in ("bf16", "f32"):
        yield case("gemm", "bmm-64x512x512x128", "bmm", type_,
                   {"b": 3, "m": 17, "n": 33, "k": 24},
                   b=64, m=512, n=512, k=128)


def gemm_shapes():
    for m in GEMM_ROWS:
        for n, k in GEMM_SIDES:
            yield matmul("gemm24", m, n, k, "bf16")
    for m, n, k in GEMM_ODD:
        yield matmul("gemm24", m, n, k, "bf16",
                     {"m": 33, "n": 77, "k": 111})


def rows():
    """What moves bytes."""
    small = {"rows": 9, "width": 130}
    for type_ in ("bf16", "f32"):
        sizes = {"rows": 32768, "width": 4096}  # 256 and 512 MiB
        for kind in ("softmax", "layer_norm", "add", "swiglu", "transpose",
                     "sum_rows", "sum_columns"):
            yield case("rows", f"{kind}-32768x4096", kind, type_, small,
                       **sizes)
    yield case("rows", "softmax-1024x65536", "softmax", "f32",
               {"rows": 2, "width": 3000}, rows=1024, width=65536)
    yield case("rows", "layer_norm-65536x768", "layer_norm", "f32",
               {"rows": 5, "width": 768}, rows=65536, width=768)


def attention(kind, type_, s, d, causal=False):
    """`attention`: of products and a softmax, `attention_op`: ONNX's own."""
    return case("attention", f"{kind}-d{d}-s{s}" + "-causal" * causal, kind,
                type_, {"heads": 2, "s": 70}, heads=16, s=s, d=d,
                causal=causal)


def attentions():
    for s in (4096, 1024, 8192, 2048):
        for d in (128, 64):
            yield attention("attention", "bf16", s, d)
            yield attention("attention_op", "bf16", s, d, causal=True)
        if s == 2048:
            yield attention("attention", "f32", s, d)
            yield attention("attention_op", "f32", s, d)
            yield attention("attention_op", "bf16", s, d)
    for d in (128, 64):
        yield attention("attention", "bf16", 16384, d)
    # Queries of several heads share keys: of a prompt, and of one token.
    for rows, s in ((2048, 2048), (1, 8192)):
        yield case("attention", f"grouped-32x8-d128-r{rows}-s{s}", "grouped",
                   "bf16", {"heads": 4, "of_keys": 2, "rows": min(rows, 19),
                            "s": 70}, heads=32, of_keys=8, rows=rows, s=s,
                   d=128)


def convolutions():
    """Of ResNet-50, 16 pictures."""
    small = {"n": 2, "c": 5, "o": 7, "h": 9}
    for c, o, h, side, stride in (
            (64, 64, 56, 3, 1), (128, 128, 28, 3, 1), (256, 256, 14, 3, 1),
            (512, 512, 7, 3, 1), (64, 256, 56, 1, 1), (256, 64, 56, 1, 1),
            (512, 128, 28, 1, 1), (1024, 256, 14, 1, 1), (2048, 512, 7, 1, 1),
            (256, 512, 56, 1, 2), (3, 64, 224, 7, 2)):
        for type_ in ("bf16", "f32") if (c, h) == (128, 28) else ("bf16",):
            yield case("conv", f"conv{side}x{side}-{c}-{o}-{h}"
                       + (f"-by{stride}" if stride > 1 else ""), "conv",
                       type_, small, n=16, c=c, o=o, h=h, side=side,
                       stride=stride)


def all_cases(quick=False):
    found = [*gemms(), *rows(), *attentions(), *convolutions(),
             *gemm_shapes()]
    for each in found:
        replaced = each.pop("quick")
        if quick:
            each["sizes"].update(replaced)
    return found
