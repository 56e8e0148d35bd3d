# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is refused is said in the caller's words: keywords and what was given to
them, never flags of the program that compiles, or files that only we saw."""

import os
import tempfile

import numpy as np
import pytest
from onnx import TensorProto, helper

import ashlar
from conftest import DIGITS, model, unary

SHAPES = {"image": (1, 1, 8, 8)}
PICTURE = np.zeros((1, 1, 8, 8), np.float32)


def refused(call, kind, place, *words):
    with pytest.raises(kind) as caught:
        call()
    said = str(caught.value)
    assert isinstance(caught.value, ashlar.Error)
    assert caught.value.place == place, said
    for word in words:
        assert word in said, said
    for foreign in ("--", "-o ", "load options", "/ashlar-", "/proc/self"):
        assert foreign not in said.replace("---", ""), said
    return caught.value


@pytest.mark.parametrize("dims, place, words", [
    ({"batch": (8, 1)}, "dims", ['dims={"batch": (1, 8)}']),
    ({"batch": (1, 8, 20)}, "dims", ['dims={"batch": (20, 20, 20)}']),
    ({"batch": (1, 1 << 62)}, "dims",
     ['dims={"batch": (1, 8)}', 'dims={"batch": (64, 960, 32)}']),
    ({"batch": "1-8"}, "dims['batch']", ["(from, to)", "'1-8'"]),
    ({"batch": "1..8,n=3"}, "dims['batch']", ["(from, to)", "'1..8,n=3'"]),
    ({"batch": b"12"}, "dims['batch']", ["(from, to)"]),
])
def test_dims(dims, place, words):
    error = refused(lambda: ashlar.compile(unary("Neg", ["batch", 3]),
                                           dims=dims),
                    ashlar.InvalidArgument, place, *words)
    assert "NAME" not in str(error) and ".." not in str(error).replace(
        repr(dims["batch"]), "")


@pytest.mark.parametrize("keywords, kind, place, words", [
    ({"target": []}, "InvalidArgument", "target", ["'cpu:x86-64-v3'"]),
    *(({name: {"": (1,)}}, "InvalidArgument", name, ["found ''"])
      for name in ("shapes", "dims", "values")),
    ({"target": ""}, "InvalidArgument", "target", ["'cpu:x86-64-v3'"]),
    ({"target": ["cpu:host", ""]}, "InvalidArgument", "target", ["''"]),
    ({"memory_budget": 100}, "OutOfBudget", "memory_budget",
     ["memory_budget=47112 would fit"]),
    ({"memory_budget": 0}, "InvalidArgument", "memory_budget", ["from 1"]),
    ({"threads": 4097}, "InvalidArgument", "threads", ["1 to 4096"]),
    ({"pieces": 1025}, "InvalidArgument", "pieces", ["1 to 1024"]),
    ({"precision": ""}, "InvalidArgument", "precision", ["found ''"]),
    *(({"tolerance": wrong, "precision": "auto"}, "InvalidArgument",
       "tolerance", [f"1e-2, found {wrong!r}"]) for wrong in
      (float("nan"), float("inf"), -1, 0, "x", True, [1], "nan")),
    ({"threads": True}, "InvalidArgument", "threads", ["found True"]),
    ({"pieces": True}, "InvalidArgument", "pieces", ["found True"]),
    ({"shapes": 3}, "InvalidArgument", "shapes", ["dict by name, found int"]),
    ({"shapes": [1, 1, 8, 8]}, "InvalidArgument", "shapes", ["found list"]),
    ({"values": 5}, "InvalidArgument", "values", ["dict by name, found int"]),
    ({"values": {"image": [[1], [1, 2]]}}, "InvalidArgument",
     "values['image']", ["numbers, found list whose rows differ"]),
    ({"values": {"image": np.broadcast_to(np.float32(1), (1 << 20, 1 << 20))}},
     "InvalidArgument", "values", ["command line"]),
    ({"tolerance": 0.1}, "InvalidArgument", "", ['precision="auto"']),
    ({"on_progress": 3}, "InvalidArgument", "on_progress", ["int"]),
    ({"remarks": "no"}, "InvalidArgument", "remarks", ["True or False"]),
    ({"progress_bar": "no"}, "InvalidArgument", "progress_bar",
     ["True or False"]),
    ({"calibration": "/no where", "precision": "bf16"}, "NotFound",
     "calibration", ["'/no where'"]),
    ({"precision_plan": "none.json"}, "NotFound", "precision_plan",
     ["'none.json'"]),
])
def test_keywords(keywords, kind, place, words):
    refused(lambda: ashlar.compile(DIGITS, **{"shapes": SHAPES, **keywords}),
            getattr(ashlar, kind), place, *words)


@pytest.mark.parametrize("arrays, place, words", [
    ([{}], "calibration[0]", ["an array for input 'image'"]),
    ([{"image": PICTURE}, {"image": PICTURE[..., :7]}],
     "calibration[1]['image']", ["f32 1x1x8x8", "1x1x8x7"]),
    ([{"image": PICTURE.astype(object)}], "calibration[0]['image']",
     ["objects"]),
    ([{"image": [[1], [1, 2]]}], "calibration[0]['image']",
     ["list whose rows differ"]),
    ([{"image": np.array(["a"])}], "calibration[0]['image']", ["numbers, found <U1"]),
    ([{"image": PICTURE.astype(complex)}], "calibration[0]['image']",
     ["numbers, found complex128"]),
    ([{"image": None}], "calibration[0]['image']", ["found NoneType"]),
    ([{"image": PICTURE, "a/b": PICTURE, "a_b": PICTURE}],
     "calibration[0]['a_b']", ["calibration[0]['a/b']"]),
    ([{"image": PICTURE, "z" * 300: PICTURE}], f"calibration[0]['{'z' * 300}']",
     ["at most 251 bytes, found 300"]),
    ([3], "calibration[0]", ["a dict by name, found int"]),
    ([{"image": np.ma.array(PICTURE)}], "calibration[0]['image']", ["filled"]),
    ([{"a\0": PICTURE}], "calibration[0]['a\\x00']", ["NUL"]),
])
def test_calibration(arrays, place, words):
    refused(lambda: ashlar.compile(DIGITS, shapes=SHAPES, precision="bf16",
                                   calibration=arrays),
            ashlar.InvalidArgument, place, *words)


def test_calibration_that_no_memory_holds():
    """A copy of it, that is."""
    huge = np.broadcast_to(np.float32(1), (1 << 24, 1 << 24))
    refused(lambda: ashlar.compile(DIGITS, shapes=SHAPES, precision="bf16",
                                   calibration=[{"image": huge}]),
            ashlar.OutOfBudget, "calibration[0]['image']", "dense copy")


def test_folders_that_only_we_saw(tmp_path, monkeypatch):
    """Whatever the compiler says of them."""
    program = tmp_path / "ashlar-compile"
    monkeypatch.setenv("ASHLAR_BIN", str(tmp_path))
    program.write_text("""#!/bin/sh
for each; do case $each in
  --calibration=*) echo "error: $each: is odd" >&2;;
  --output=*) echo "error: ${each#--output=}: is odd" >&2;;
esac; done
exit 1
""")
    program.chmod(0o755)
    error = refused(lambda: ashlar.compile(
        DIGITS, shapes=SHAPES, calibration=[{"image": PICTURE}]),
        ashlar.InvalidArgument, "calibration", "is odd", "<temporary folder>")
    assert error.message == "is odd"


def test_names_of_several_lines():
    """Each message is one line, whole."""
    made = model([helper.make_node("Neg", ["a\nb"], ["y\nz"], name="no\x1bde")],
                 {"a\nb": (TensorProto.FLOAT, ["n", 3])},
                 {"y\nz": (TensorProto.FLOAT, ["n", 3])})
    refused(lambda: ashlar.compile(made), ashlar.InvalidArgument, r"a\nb",
            "dynamic shape", r'shapes={"a\nb": (1, 3)}')
    error = refused(lambda: ashlar.compile(made, shapes={"a\nb": (1, 3),
                                                         "zz": (1,)}),
                    ashlar.InvalidArgument, "zz", r"'a\nb'")
    assert not error.notes
    module = ashlar.compile(made, shapes={"a\nb": (1, 3)})
    x = np.ones((1, 3), np.float32)
    assert np.array_equal(module({"a\nb": x}), -x)
    made.graph.node[0].op_type, made.graph.node[0].domain = "Mystery", "x.y"
    made.opset_import.append(helper.make_opsetid("x.y", 1))
    error = refused(lambda: ashlar.compile(made, shapes={"a\nb": (1, 3)}),
                    ashlar.Unsupported, "", "Mystery")
    assert len(error.nodes) == 1 and error.nodes[0].endswith(r"'no\x1bde'")
    # And an input whose value a node must know is found by its own name.
    made = model([helper.make_node("Reshape", ["x", "s\nh"], ["y"])],
                 {"x": (TensorProto.FLOAT, [2, 3]),
                  "s\nh": (TensorProto.INT64, [2])},
                 {"y": (TensorProto.FLOAT, [None, None])})
    session = ashlar.InferenceSession(made.SerializeToString(), cache_dir=None)
    x = np.ones((2, 3), np.float32)
    assert session.run(None, {"x": x, "s\nh": np.int64([3, 2])})[0].shape \
        == (3, 2)


def test_the_other_function(negate, tmp_path):
    """Of load() and compile(), where one is given what the other takes."""
    made = unary("Neg", [2, 3])
    model_file, other_file = tmp_path / "m.onnx", tmp_path / "m"
    model_file.write_bytes(made.SerializeToString())
    other_file.write_bytes(made.SerializeToString())
    module_file = tmp_path / "m.ash"
    negate.save(module_file)
    for source, place, call in (
            (model_file, str(model_file), f"ashlar.compile({str(model_file)!r})"),
            (other_file, str(other_file), f"ashlar.compile({str(other_file)!r})"),
            (made.SerializeToString(), "<bytes>", "ashlar.compile(...)")):
        error = refused(lambda: ashlar.load(source), ashlar.Corrupt,
                        f"{place}: header", call)
        assert call in error.hint
    refused(lambda: ashlar.load(b"func.func @main() { return }"),
            ashlar.Corrupt, "<bytes>", "ashlar.compile(...)")
    refused(lambda: ashlar.load(made), ashlar.InvalidArgument, "source",
            "ModelProto; ashlar.compile")
    refused(lambda: ashlar.load(negate), ashlar.InvalidArgument, "source",
            "is loaded")
    for data in (b"x" * 100, b"\x08" * 100):
        with pytest.raises(ashlar.Corrupt) as caught:
            ashlar.load(data)
        assert "compile" not in str(caught.value)
    for call in (ashlar.compile, lambda source: ashlar.InferenceSession(
            source, cache_dir=None)):
        refused(lambda: call(module_file), ashlar.InvalidArgument,
                str(module_file), f"ashlar.load({str(module_file)!r})")
        refused(lambda: call(module_file.read_bytes()), ashlar.InvalidArgument,
                "<bytes>", "ashlar.load(")
        refused(lambda: call(negate), ashlar.InvalidArgument, "model",
                "is compiled")


def test_models_in_memory():
    for data in (b"hello", bytearray(b"hello"), memoryview(b"hello")):
        shown = f"<{type(data).__name__}>"
        refused(lambda: ashlar.compile(data), ashlar.InvalidArgument, shown)
        refused(lambda: ashlar.lower(data, "fuse"), ashlar.InvalidArgument,
                shown)
    error = refused(lambda: ashlar.compile(
        b"func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> "
        b"{ return %x : tensor<2xf32> }"),
        ashlar.InvalidArgument, "<bytes>:1:55", "tensor<3xf32>")
    assert error.notes and error.notes[0].startswith("note: <bytes>:1:55: ")
    text = ashlar.lower(b"func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> "
                        b"{ return %x : tensor<2xf32> }", "import",
                        locations=True)
    assert tempfile.gettempdir() + "/ashlar-" not in text


def test_modules(negate, tmp_path):
    path = tmp_path / "sub" / "m.ash"
    path.parent.mkdir()
    negate.save(path)
    for source, place in ((path, str(path)), (path.read_bytes(), "<bytes>")):
        error = refused(lambda: ashlar.load(source), ashlar.Unsupported, place,
                        "allow_native_code=True")
        assert "allow_native_code=True" in error.hint
    refused(lambda: ashlar.load(path.parent), ashlar.InvalidArgument,
            str(path.parent), "folder")
    path.write_bytes(b"x" * 100)
    refused(lambda: ashlar.load(path), ashlar.Corrupt, f"{path}: header")


def test_forms_that_were_given_up(caplog):
    """A range that needs several programs is no error."""
    ends = [helper.make_node("Constant", [], [name], value_ints=[value])
            for name, value in (("one", 1), ("two", 2))]
    made = model([*ends, helper.make_node("Slice", ["x", "one", "two", "one"],
                                          ["y"])],
                 {"x": (TensorProto.FLOAT, [2, "n", 16])},
                 {"y": (TensorProto.FLOAT, [2, "m", 16])})
    with caplog.at_level("INFO", "ashlar.compile"):
        module = ashlar.compile(made, dims={"n": (1, 8)}, remarks=False)
    assert [each.severity for each in module.diagnostics] == ["note"]
    assert "2 programs" in module.diagnostics[0].message
    assert [(each.levelname, each.getMessage()) for each in caplog.records] \
        == [("INFO", str(module.diagnostics[0]))]


def test_remarks_name_their_nodes():
    found = ashlar.compile(DIGITS, shapes=SHAPES).remarks
    assert any(" + " in each.node for each in found)
    assert not any("'" in each.node for each in found)


def test_files_that_cannot_be_written(negate, tmp_path):
    """As load() and compile() say it, and not as the system does."""
    missing, folder = tmp_path / "none" / "m", tmp_path / "m.svg"
    folder.mkdir()
    for ending, call in ((".ash", negate.save), (".svg", negate.memory_map),
                         (".html", negate.graph)):
        path = missing.with_suffix(ending)
        error = refused(lambda: call(path), ashlar.NotFound, str(path),
                        "cannot be written", "No such file")
        assert isinstance(error.__cause__, FileNotFoundError)
        for wrong in (3, None if ending == ".ash" else b"", "a\0" + ending):
            refused(lambda: call(wrong), ashlar.InvalidArgument, "path")
    # Nothing takes the place of what is no file.
    os.mkfifo(tmp_path / "fifo.svg")
    for kind, place in (("folder", folder), ("FIFO", tmp_path / "fifo.svg")):
        for call in (negate.save, negate.memory_map):
            refused(lambda: call(place), ashlar.InvalidArgument, str(place),
                    "expected the name of a file", f"found a {kind}")
    assert (tmp_path / "fifo.svg").is_fifo()
    (tmp_path / "fifo.svg").unlink()
    refused(lambda: negate.memory_map(folder), ashlar.InvalidArgument,
            str(folder))
    assert [each.name for each in tmp_path.iterdir()] == ["m.svg"]
    refused(lambda: ashlar.compile(DIGITS, missing, shapes=SHAPES),
            ashlar.NotFound, "output", str(missing))
    refused(lambda: ashlar.compile(DIGITS, 3, shapes=SHAPES),
            ashlar.InvalidArgument, "output")
    refused(lambda: ashlar.compile_object(
        DIGITS, missing.with_suffix(".o"), target="systolic:gemmini",
        shapes=SHAPES), ashlar.NotFound, "output")
    refused(lambda: ashlar.Trace(tmp_path / "none" / "t.json").start(),
            ashlar.NotFound, str(tmp_path / "none" / "t.json"), "folder")
    refused(lambda: ashlar.Trace(3), ashlar.InvalidArgument, "path")


def test_temporary_folders_of_odd_names(monkeypatch, tmp_path):
    (tmp_path / "a\nb").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "a\nb"))
    error = refused(lambda: ashlar.compile(b"hello"), ashlar.InvalidArgument,
                    "<bytes>")
    assert "\\n" not in str(error)


def test_no_temporary_folder(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    refused(lambda: ashlar.compile(DIGITS, shapes=SHAPES), ashlar.NotFound,
            "TMPDIR", "temporary")
    refused(ashlar.list_targets, ashlar.NotFound, "TMPDIR", "temporary")


def test_devices_that_cannot_serve(negate, tmp_path, caplog):
    """Another one is taken only where placement="soft" says so, and is seen."""
    path = tmp_path / "m.ash"
    negate.save(path)
    load = lambda **options: ashlar.load(  # noqa: E731
        path, allow_native_code=True, device=["gpu:7", "cpu"], **options)
    error = refused(load, ashlar.Unsupported, "programs", "gpu:7")
    assert not error.message.endswith("\n")
    with caplog.at_level("WARNING", "ashlar.load"):
        module = load(placement="soft")
    assert module.fallbacks == 1 and module.device == "cpu:0"
    assert "gpu:7" in module.placement
    said = [each.getMessage() for each in caplog.records]
    assert len(said) == 1 and str(path) in said[0] and "gpu:7" in said[0]
    caplog.clear()
    assert ashlar.load(path, allow_native_code=True).fallbacks == 0
    assert not caplog.records


def test_one_node():
    from ashlar import backend
    x = np.zeros((2, 3), np.float32)
    neg = helper.make_node("Neg", ["a"], ["y"])
    for node in (helper.make_node("Mystery", ["a"], ["y"]),
                 helper.make_node("Neg", ["a"], ["y"], domain="x.y")):
        refused(lambda: backend.run_node(node, [x]), ashlar.Unsupported,
                node.op_type, node.op_type, "list_operators")
        refused(lambda: backend.run_node(
            node, [x], outputs_info=[(np.float32, (2, 3))]),
            ashlar.Unsupported, "", node.op_type)
    refused(lambda: backend.run_node(neg, [x, x]), ashlar.InvalidArgument,
            "inputs", "expected 1", "found 2")
    refused(lambda: backend.run_node(neg, [x], opset_version="1"),
            ashlar.InvalidArgument, "opset_version")
    refused(lambda: backend.run_node(3, [x]), ashlar.InvalidArgument, "node")
    refused(lambda: backend.run_node(neg, [np.ma.array(x)]),
            ashlar.InvalidArgument, "a", "filled")
    refused(lambda: backend.run_node(
        helper.make_node("MatMul", ["a", "b"], ["y"]), [x, x]),
        ashlar.InvalidArgument, "MatMul")
    add = helper.make_node("Add", ["a", "a"], ["y"])
    assert np.array_equal(backend.run_node(add, [x + 1])[0], x + 2)
    assert np.array_equal(backend.run_node(add, [x + 1, x + 1])[0], x + 2)


def test_inference_sessions_look_before_they_compile(tmp_path, monkeypatch):
    from ashlar import _specialize
    monkeypatch.setattr(_specialize, "compile",
                        lambda *_, **__: pytest.fail("was compiled"))
    session = ashlar.InferenceSession(
        unary("Neg", ["n", 3]).SerializeToString(), cache_dir=None)
    x = np.zeros((2, 3), np.float32)
    for names, feed, place, words in (
            (["z"], {"x": x}, "output_names", ["'y'", "'z'"]),
            ("y", {"x": x}, "output_names", ["list", "'y'"]),
            (3, {"x": x}, "output_names", ["list"]),
            (None, {"x": x.astype(int)}, "x", ["float32", "int64", "astype"]),
            (None, {"x": x.astype(">f4")}, "x", ["float32", ">f4"]),
            (None, {"x": [[1e300] * 3]}, "x", ["list of float64",
                                              "numpy.asarray"]),
            (None, {"x": [[1], [1, 2]]}, "x", ["list whose rows differ"]),
            (None, {"x": None}, "x", ["array of float32, nx3",
                                      "found NoneType"]),
            (None, {"x": "text"}, "x", ["array of float32", "found str"]),
            (None, {"x": np.broadcast_to(np.float32(1), (1 << 20, 1 << 20))},
             "x", ["nx3", "1048576x1048576"]),
            (None, {"x": np.ma.array(x)}, "x", ["filled"]),
            (None, {"x": x[0]}, "x", ["nx3"]),
            (None, {"x": x, "y": x}, "input_feed", ["'y'"]),
            (None, {}, "inputs", ["no 'x'"]),
            (None, [x], "input_feed", ["dict"])):
        refused(lambda: session.run(names, feed), ashlar.InvalidArgument,
                place, *words)


def test_cache_folders(tmp_path, caplog, monkeypatch):
    made = unary("Neg", [2, 3]).SerializeToString()
    for folder, kind in (("/proc/none", ashlar.NotFound),
                         ("/dev/null", ashlar.InvalidArgument),
                         (3, ashlar.InvalidArgument),
                         ("a\0b", ashlar.InvalidArgument)):
        refused(lambda: ashlar.InferenceSession(made, cache_dir=folder), kind,
                "cache_dir")
    # The default one is nobody's wish.
    monkeypatch.setenv("ASHLAR_CACHE", "/proc/none")
    x = np.ones((2, 3), np.float32)
    with caplog.at_level("WARNING", "ashlar.cache"):
        session = ashlar.InferenceSession(made)
    assert np.array_equal(session.run(None, {"x": x})[0], -x)
    assert any("/proc/none" in each.getMessage() for each in caplog.records)


def test_options_of_inference_sessions():
    made = unary("Neg", [2, 3]).SerializeToString()
    # Of a model that is compiled with its first inputs they are looked at too.
    for wrong in ({"threads": -1}, {"budget": 3}, {"remarks": 3}, {"fuse": 3},
                  {"on_progress": 3}, {"memory_budget": "lots"}, {"device": 3},
                  {"tuning": 3}, {"target": 3}, {"runtime": 3}):
        refused(lambda: ashlar.InferenceSession(
            unary("Neg", ["n", 3]).SerializeToString(), cache_dir=None,
            **wrong), ashlar.InvalidArgument, *wrong)
    refused(lambda: ashlar.InferenceSession(made, cache_dir=None).run_async(
        None, {"x": np.zeros((2, 3), np.float32)}, 3), ashlar.InvalidArgument,
        "callback", "found int")
    options = ashlar.SessionOptions()
    for wrong in ("a", -1, 4097):
        options.intra_op_num_threads = wrong
        refused(lambda: ashlar.InferenceSession(made, options, cache_dir=None),
                ashlar.InvalidArgument, "threads")
    for wrong in (3, "CPUExecutionProvider", [3], [()], [("a", 3)],
                  [("a", {}, {})]):
        refused(lambda: ashlar.InferenceSession(made, providers=wrong,
                                                cache_dir=None),
                ashlar.InvalidArgument, "providers")
    refused(lambda: ashlar.InferenceSession("/tmp", cache_dir=None),
            ashlar.InvalidArgument, "/tmp", "folder")
    for name in ("shapes", "dims", "values"):
        for wrong in ([("x", (2, 3))], 3, {3: 3}):
            refused(lambda: ashlar.InferenceSession(made, cache_dir=None,
                                                    **{name: wrong}),
                    ashlar.InvalidArgument, name, "dict by name")
    refused(lambda: options.get_session_config_entry("zz"), ashlar.NotFound,
            "key", "'zz'")


def test_copies_that_no_memory_holds():
    """Of inputs that are not dense: their sizes are looked at before."""
    from ashlar import backend
    huge = np.broadcast_to(np.float32(1), (1 << 24, 1 << 24))
    for shape, options in (([2, 3], {}), (["n", 3], {}),
                           (["n", 3], {"dims": {"n": (1, 4)}}),
                           (["n", "m"], {"dims": {"n": (1, 4), "m": (1, 4)}})):
        made = unary("Neg", shape).SerializeToString()
        session = ashlar.InferenceSession(made, cache_dir=None, **options)
        refused(lambda: session.run(None, {"x": huge}),
                ashlar.InvalidArgument, "x", "16777216x16777216")
        refused(lambda: backend.prepare(made, **options).run([huge]),
                ashlar.InvalidArgument, "x", "16777216x16777216")
    refused(lambda: backend.run_node(helper.make_node("Neg", ["a"], ["y"]),
                                     [[[1], [1, 2]]]),
            ashlar.InvalidArgument, "a", "rows differ")
    refused(lambda: backend.prepare(unary("Neg", [2, 3])).run([[[1], [1, 2]]]),
            ashlar.InvalidArgument, "x", "rows differ")


def test_products_of_dims():
    """A size that is a multiple of another, alone and in a sum."""
    two = ashlar.compile(
        model([helper.make_node("Neg", ["a"], ["y"]),
               helper.make_node("Neg", ["b"], ["z"])],
              {"a": (TensorProto.FLOAT, ["w"]),
               "b": (TensorProto.FLOAT, ["v", 3])},
              {"y": (TensorProto.FLOAT, ["w"]),
               "z": (TensorProto.FLOAT, ["v", 3])}),
        shapes={"a": ("W",), "b": ("8*W", 3)}, dims={"W": (1, 4)})
    assert [each.shape_text for each in two.inputs] == ["W", "(W*8)x3"]
    assert [each.maximum for each in two.inputs] == [(4,), (32, 3)]
    a, b = np.zeros(2, np.float32), np.ones((16, 3), np.float32)
    assert np.array_equal(two(a, b)["z"], -b)
    refused(lambda: two(a, b[:15]), ashlar.InvalidArgument, "b", "15")
