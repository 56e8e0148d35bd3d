# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every flag of ashlar-compile can be had from Python; what gives no module has
a function of its own."""

import inspect
import logging
import re
import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto, helper

import ashlar
from ashlar._compiler import OPTIONS, compiler_program
from conftest import DIGITS, model, unary

SHAPES = {"image": (1, 1, 8, 8)}
# Flags by the keyword or function that stands for them.
ELSEWHERE = {
    "help": None, "version": "__version__", "quiet": None,  # logging
    "verbose": "on_progress", "output": "output", "remarks": "remarks",
    "shape": "shapes", "dim": "dims", "value": "values",
    "state": "states",
    "emit": "compile_object", "symbol-prefix": "compile_object",
    "list-strategies": "strategies",
    "until": "lower", "until-locations": "lower",
    "list-operators": "list_operators", "list-targets": "list_targets"}


def test_every_flag_is_there():
    text = subprocess.run(["ashlar-compile", "--help"], check=True, text=True,
                          executable=compiler_program(),
                          capture_output=True).stdout
    flags = set(re.findall(r"^  (?:-\w,)?--([a-z-]+)", text, re.M))
    assert len(flags) > 25
    keywords = inspect.signature(ashlar.compile).parameters
    for flag in flags:
        name = ELSEWHERE.get(flag, flag.replace("-", "_"))
        assert name is None or name in keywords or hasattr(ashlar, name), flag
    for name in OPTIONS:
        assert name in keywords


def test_lower():
    text = ashlar.lower(DIGITS, "fuse", shapes=SHAPES)
    assert "func.func @main" in text and "loc(" not in text
    assert "loc(" in ashlar.lower(DIGITS, "fuse", locations=True,
                                  shapes=SHAPES)
    with pytest.raises(ashlar.InvalidArgument, match="simplify") as caught:
        ashlar.lower(DIGITS, "fusing", shapes=SHAPES)
    error = caught.value
    assert error.place == "until" and error.found == "'fusing'"
    with pytest.raises(TypeError, match="'shape'; expected some of shapes"):
        ashlar.lower(DIGITS, "fuse", shape=SHAPES)


def test_strategies():
    found = ashlar.strategies(DIGITS, shapes=SHAPES)
    assert found["contractions"][0]["candidates"]


def test_objects(tmp_path):
    made, header = ashlar.compile_object(
        DIGITS, tmp_path / "digits.o", target="systolic:gemmini",
        shapes=SHAPES)
    assert made.read_bytes()[:4] == b"\x7fELF"
    assert "digits" in header.read_text() or "main" in header.read_text()
    made, header = ashlar.compile_object(
        DIGITS, tmp_path / "own.o", target="systolic:gemmini",
        symbol_prefix="own", shapes=SHAPES)
    assert b"own_main" in made.read_bytes()
    assert "own_main(" in header.read_text()
    for output, target, word in ((tmp_path / "a.ash", "systolic:gemmini",
                                  r"\.o"), (tmp_path / "a.o", "cpu:x86-64",
                                            "riscv64")):
        with pytest.raises(ashlar.InvalidArgument, match=word):
            ashlar.compile_object(DIGITS, output, target=target, shapes=SHAPES)


def test_lists():
    assert "cpu:host" in ashlar.list_targets()
    operators = {each.name: each for each in ashlar.list_operators()}
    assert 13 in operators["Add"].opsets
    assert "float" in operators["Add"].types


def test_measured_strategies(tmp_path, caplog):
    # As pip makes them, in one folder; the programs lie apart.
    for name, call in (("ashlar-bench", "ashlar._tools:bench"),
                       ("ashlar-inspect", "ashlar._tools:inspect"),
                       ("ashlar-compile", "ashlar_compiler:compile")):
        package, function = call.split(":")
        script = tmp_path / name
        script.write_text(f"#!{sys.executable}\nfrom {package} import "
                          f"{function}\n{function}()\n")
        script.chmod(0o755)
    table = tmp_path / "table.json"
    done = subprocess.run(
        [tmp_path / "ashlar-bench", DIGITS, f"--tune={table}",
         "--shape=image=1x1x8x8", "--seconds=0.1"], capture_output=True,
        text=True)
    assert done.returncode == 0, done.stderr
    x = np.ones((1, 1, 8, 8), np.float32)
    module = ashlar.compile(DIGITS, shapes=SHAPES, tuning=table, strict=True)
    assert np.allclose(module(x), ashlar.compile(DIGITS, shapes=SHAPES)(x),
                       rtol=1e-4, atol=1e-6)
    table.write_text(table.read_text().replace(ashlar.__version__, "0.0.9"))
    with pytest.raises(ashlar.InvalidArgument, match="0.0.9"):
        ashlar.compile(DIGITS, shapes=SHAPES, tuning=table, strict=True)
    # A warning is an object, and goes through logging.
    with caplog.at_level(logging.WARNING, "ashlar.compile"):
        module = ashlar.compile(DIGITS, shapes=SHAPES, tuning=table)
    assert any(each.severity == "warning" and "0.0.9" in each.message
               for each in module.diagnostics)
    assert any(record.levelno == logging.WARNING and "0.0.9" in record.message
               for record in caplog.records)


def test_values():
    made = model([helper.make_node("Reshape", ["x", "shape"], ["y"])],
                 {"x": (TensorProto.FLOAT, [2, 3]),
                  "shape": (TensorProto.INT64, [2])},
                 {"y": (TensorProto.FLOAT, [None, None])})
    with pytest.raises(ashlar.Unsupported,
                       match=r'values=\{"shape": \.\.\.\}'):
        ashlar.compile(made)
    module = ashlar.compile(made, values={"shape": np.int64([3, 2])})
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert [each.name for each in module.inputs] == ["x"]
    assert np.array_equal(module(x), x.reshape(3, 2))


def test_names_of_dims():
    """The model's own names, names with an x, and products."""
    x = np.arange(24, dtype=np.float32).reshape(8, 3)
    for options in (
            {"dims": {"batch": (1, 8)}},
            {"shapes": {"x": ("box.x", 3)}, "dims": {"box.x": (1, 8)}},
            {"shapes": {"x": ("n", 3)}, "dims": {"n": range(2, 9, 2)}},
            {"shapes": {"x": iter(("n", 3))}, "dims": {"n": "1..8"}}):
        module = ashlar.compile(unary("Neg", ["batch", 3]), **options)
        for rows in (2, 8):
            assert np.array_equal(module(x[:rows]), -x[:rows])
    two = ashlar.compile(
        model([helper.make_node("Neg", ["a"], ["y"]),
               helper.make_node("Neg", ["b"], ["z"])],
              {"a": (TensorProto.FLOAT, ["n"]),
               "b": (TensorProto.FLOAT, ["m"])},
              {"y": (TensorProto.FLOAT, ["n"]),
               "z": (TensorProto.FLOAT, ["m"])}),
        shapes={"a": ("W",), "b": ("2*W",)}, dims={"W": (1, 4)})
    a, b = np.float32([1, 2]), np.float32([1, 2, 3, 4])
    assert np.array_equal(two(a, b)["z"], -b)
    with pytest.raises(ashlar.InvalidArgument):
        two(a, b[:3])


@pytest.mark.parametrize("keywords, place, words", [
    ({"strict": "no"}, "strict", "True or False"),
    ({"tolerance": "x"}, "tolerance", "a finite number above zero"),
    ({"precision": "auto", "tolerance": float("nan")}, "tolerance", "found nan"),
    ({"target": 3}, "target", "'cpu:x86-64-v3'"),
    ({"target": [3]}, "target", "'cpu:x86-64-v3'"),
    ({"dims": [1]}, "dims", "dict"), ({"fuse": 3}, "fuse", "found int"),
    ({"calibration": 3}, "calibration", "dicts"),
    ({"calibration": {"image": 3}}, "calibration", "dicts"),
    ({"shapes": {"image": ("8*", 1, 8, 8)}, "dims": {"N": (1, 2)}},
     "shapes['image']", "'8*'"),
    ({"dims": {"2N": (1, 2)}}, "dims['2N']", "digit"),
    ({"values": {"image": object()}}, "values['image']", "numbers"),
    ({"budget": 3}, "budget", "ashlar.Budget"), ({"name": 3}, "name", "text"),
    ({"runtime": 3}, "runtime", "ashlar.Runtime"),
    ({"device": 3}, "device", "names of devices"),
])
def test_keywords_of_another_kind(keywords, place, words):
    with pytest.raises(ashlar.InvalidArgument) as caught:
        ashlar.compile(DIGITS, **{"shapes": SHAPES, **keywords})
    assert caught.value.place == place and words in str(caught.value)


def test_hints_are_in_python():
    from ashlar._diagnostics import _with_keywords
    for said, shown in (
            ("--shape=image=1x1x8x8", 'shapes={"image": (1, 1, 8, 8)}'),
            ("--shape=x=5", 'shapes={"x": (5,)}'),
            ("--shape=x=N,3,8*W", 'shapes={"x": ("N", 3, "8*W")}'),
            ("--dim=N=1..8,W=32..64:2", 'dims={"N": (1, 8), "W": (32, 64, 2)}'),
            ("--value=shape=...", 'values={"shape": ...}'),
            ("--memory-budget", "memory_budget")):
        assert _with_keywords(f"type {said} there") == f"type {shown} there"
