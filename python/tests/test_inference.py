# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""InferenceSession beside ONNX Runtime's, and ONNX's backend interface."""

import os

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import ashlar
import ashlar.backend
from conftest import DIGITS, model, unary


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def pair(path_or_bytes, cache, **options):
    return (ashlar.InferenceSession(path_or_bytes, cache_dir=cache, **options),
            onnxruntime.InferenceSession(path_or_bytes))


def test_the_same_answers(cache):
    ours, theirs = pair(str(DIGITS), cache)
    for mine, other in ((ours.get_inputs(), theirs.get_inputs()),
                        (ours.get_outputs(), theirs.get_outputs())):
        assert [(each.name, each.type, each.shape) for each in mine] \
            == [(each.name, each.type, each.shape) for each in other]
    mine, other = ours.get_modelmeta(), theirs.get_modelmeta()
    for field in ("custom_metadata_map", "producer_name", "graph_name",
                  "domain", "description"):
        assert getattr(mine, field) == getattr(other, field), field
    assert ours.get_providers() == ["CPUExecutionProvider"]
    for batch in (1, 3):
        x = np.random.default_rng(batch).random((batch, 1, 8, 8), np.float32)
        for names in (None, ["probabilities"]):
            assert np.allclose(ours.run(names, {"image": x})[0],
                               theirs.run(names, {"image": x})[0],
                               rtol=1e-4, atol=1e-6)
    x = np.random.default_rng(1).random((1, 8, 8, 1), np.float32)
    turned = x.transpose(0, 3, 1, 2)
    assert np.allclose(ours.run(None, {"image": turned})[0],
                       theirs.run(None, {"image": turned})[0], atol=1e-6)


def test_the_cache(cache, monkeypatch):
    x = np.zeros((1, 1, 8, 8), np.float32)
    first = ashlar.InferenceSession(DIGITS, cache_dir=cache)
    expected = first.run(None, {"image": x})[0]
    kept = list(cache.glob("*.ash"))
    assert len(kept) == 1
    # Found again: no compiler is needed.
    monkeypatch.setenv("ASHLAR_BIN", "/nowhere")
    again = ashlar.InferenceSession(DIGITS.read_bytes(), cache_dir=cache)
    assert np.array_equal(again.run(None, {"image": x})[0], expected)
    with pytest.raises(ashlar.Error):
        ashlar.InferenceSession(DIGITS, cache_dir=cache, precision="bf16").run(
            None, {"image": x})
    monkeypatch.undo()
    # What is spoilt is made anew.
    kept[0].write_bytes(b"spoilt")
    third = ashlar.InferenceSession(DIGITS, cache_dir=cache)
    assert np.array_equal(third.run(None, {"image": x})[0], expected)
    assert len(list(cache.glob("*.ash"))) == 1


def test_a_cache_of_others(cache):
    """What others may write to is neither read nor written."""
    cache.mkdir()
    os.chmod(cache, 0o777)
    session = ashlar.InferenceSession(DIGITS, cache_dir=cache)
    session.run(None, {"image": np.zeros((1, 1, 8, 8), np.float32)})
    assert not list(cache.iterdir())


def test_ranges_make_one_module(cache):
    session = ashlar.InferenceSession(DIGITS, cache_dir=cache,
                                      shapes={"image": ("N", 1, 8, 8)},
                                      dims={"N": (1, 8)})
    for batch in (1, 5, 8):
        x = np.random.default_rng(batch).random((batch, 1, 8, 8), np.float32)
        assert session.run(None, {"image": x})[0].shape == (batch, 10)
    assert len(list(cache.glob("*.ash"))) == 1


def test_ranges_by_the_names_of_the_model(cache):
    made = model([helper.make_node("Relu", ["x"], ["y"])],
                 {"x": (TensorProto.FLOAT, ["n", 3])},
                 {"y": (TensorProto.FLOAT, ["n", 3])}).SerializeToString()
    session = ashlar.InferenceSession(made, cache_dir=cache,
                                      dims={"n": (1, 4)})
    assert len(list(cache.glob("*.ash"))) == 1  # compiled at once
    for rows in (1, 3, 4):
        x = np.ones((rows, 3), np.float32)
        assert np.array_equal(session.run(None, {"x": x})[0], x)
    assert len(list(cache.glob("*.ash"))) == 1


def test_values_that_nodes_must_know(cache):
    made = model(
        [helper.make_node("Reshape", ["x", "shape"], ["y"])],
        {"x": (TensorProto.FLOAT, [2, 3]), "shape": (TensorProto.INT64, [2])},
        {"y": (TensorProto.FLOAT, [None, None])}).SerializeToString()
    ours, theirs = pair(made, cache)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for shape in ([3, 2], [6, 1], [3, 2]):
        feed = {"x": x, "shape": np.int64(shape)}
        assert np.array_equal(ours.run(None, feed)[0],
                              theirs.run(None, feed)[0])


def test_options_and_callbacks(cache):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = ashlar.InferenceSession(
        str(DIGITS), options, ["CUDAExecutionProvider",
                               ("CPUExecutionProvider", {})], cache_dir=cache)
    import queue
    done = queue.Queue()
    session.run_async(None, {"image": np.zeros((1, 1, 8, 8), np.float32)},
                      lambda *said: done.put(said), "mine")
    results, data, error = done.get(timeout=120)
    assert data == "mine" and not error and results[0].shape == (1, 10)
    session.run_async(None, {}, lambda *said: done.put(said))
    assert "image" in done.get(timeout=120)[2]


def test_refusals(cache):
    session = ashlar.InferenceSession(DIGITS, cache_dir=cache)
    x = np.zeros((1, 1, 8, 8), np.float32)
    for names, feed, word in (
            (None, {}, "image"), (None, {"other": x}, "other"),
            (["nothing"], {"image": x}, "probabilities"),
            (None, {"image": x.astype(int)}, "float32"),
            (None, {"image": x[0]}, "1x8x8"),
            (None, {"image": np.zeros((1, 2, 8, 8), np.float32)}, "1x2x8x8")):
        with pytest.raises(ashlar.Error, match=word):
            session.run(names, feed)
    with pytest.raises(TypeError, match="'shape'; expected some of shapes"):
        ashlar.InferenceSession(DIGITS, cache_dir=cache, shape={})
    for wrong in (b"", b"hello", "nowhere.onnx", None, 3):
        with pytest.raises(ashlar.Error):
            made = ashlar.InferenceSession(wrong, cache_dir=cache)
            made.run(None, {})
    generator = np.random.default_rng(3)
    whole = DIGITS.read_bytes()
    for _ in range(30):
        spoilt = bytearray(whole)
        for at in generator.integers(0, len(whole), 8):
            spoilt[at] = int(generator.integers(256))
        try:
            from ashlar._onnx_model import read_onnx
            read_onnx(bytes(spoilt))
        except ashlar.Error:
            pass


@pytest.mark.parametrize("kind, given, taken", [
    (onnx.TensorProto.FLOAT, [1.5, 2], True),
    (onnx.TensorProto.FLOAT, (1, 2), True),
    (onnx.TensorProto.DOUBLE, range(2), True),
    (onnx.TensorProto.FLOAT16, [1e9, 0], False),
    (onnx.TensorProto.INT32, [1, -2], True),
    (onnx.TensorProto.INT32, [1 << 40, 0], False),
    (onnx.TensorProto.INT8, [1.0, 2.0], False),
    (onnx.TensorProto.UINT8, [-1, 2], False),
    (onnx.TensorProto.BOOL, [True, False], True),
    (onnx.TensorProto.FLOAT, [True, False], False),
    (onnx.TensorProto.FLOAT, ["1", "2"], False)])
def test_lists(cache, kind, given, taken):
    """They say no type: the model's is taken where it holds them all."""
    session = ashlar.InferenceSession(unary("Identity", [2], kind),
                                      cache_dir=cache)
    if not taken:
        with pytest.raises(ashlar.InvalidArgument, match="found list of|found"
                           " list"):
            session.run(None, {"x": given})
        return
    found, = session.run(None, {"x": given})
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
    assert found.dtype == dtype and (found == np.asarray(given, dtype)).all()


def test_the_backend(x):
    assert ashlar.backend.supports_device("CPU")
    assert not ashlar.backend.supports_device("CUDA")
    assert not ashlar.backend.supports_device("nonsense")
    made = unary("Neg", [2, 3])
    assert np.array_equal(ashlar.backend.run_model(made, [x])[0], -x)
    prepared = ashlar.backend.prepare(made)
    assert np.array_equal(prepared.run([x])[0], -x)
    assert np.array_equal(prepared.run({"x": x})[0], -x)
    node = helper.make_node("Add", ["a", "b"], ["y"])
    assert np.array_equal(ashlar.backend.run_node(node, [x, x])[0], x + x)
    with pytest.raises(ashlar.Error):
        ashlar.backend.prepare(made, "CUDA")
    with pytest.raises(ashlar.Error):
        prepared.run([x, x])


def test_external_weights(tmp_path, cache):
    """A model is compiled anew when a file beside it changes."""
    weights = onnx.numpy_helper.from_array(np.float32([1, 2, 3]), "w")
    made = model([helper.make_node("Add", ["x", "w"], ["y"])],
                 {"x": (TensorProto.FLOAT, [3])},
                 {"y": (TensorProto.FLOAT, [3])}, [weights])
    path = tmp_path / "m.onnx"
    onnx.save(made, path, save_as_external_data=True, size_threshold=0,
              location="w.bin")
    x = np.zeros(3, np.float32)
    run = lambda: ashlar.InferenceSession(  # noqa: E731
        path, cache_dir=cache).run(None, {"x": x})[0]
    assert np.array_equal(run(), [1, 2, 3])
    (tmp_path / "w.bin").write_bytes(np.float32([4, 5, 6, 7]).tobytes()[:12])
    os.utime(tmp_path / "w.bin", ns=(1, 1))
    assert np.array_equal(run(), [4, 5, 6])


def added(size):
    """y = x + w"""
    port = TensorProto.FLOAT, [size]
    return model([helper.make_node("Add", ["x", "w"], ["y"])],
                 {"x": port, "w": port}, {"y": port})


def test_the_cache_tells_large_arrays_apart(cache):
    x = np.zeros(2000, np.float32)
    for last in (3, -7):
        w = np.arange(2000, dtype=np.float32)
        w[1000] = last
        session = ashlar.InferenceSession(added(2000), cache_dir=cache,
                                          values={"w": w})
        assert session.run(None, {"x": x})[0][1000] == last
    assert len(list(cache.glob("*.ash"))) == 2


def test_the_cache_is_for_one_content_of_a_file(cache, tmp_path):
    machine = tmp_path / "machine.json"
    for _ in range(2):
        machine.write_text("{}")
        with pytest.raises(ashlar.Error):
            ashlar.InferenceSession(added(4), cache_dir=cache,
                                    machine=str(machine))
    steps = []
    for _ in range(2):  # who looks on is no part of what is made
        ashlar.InferenceSession(added(4), cache_dir=cache,
                                on_progress=lambda each: steps.append(each))
    assert len(list(cache.glob("*.ash"))) == 1


def test_what_is_found_again_is_loaded_as_asked(cache):
    feed = {"x": np.ones(4, np.float32), "w": np.ones(4, np.float32)}
    for _ in range(2):
        budget = ashlar.Budget("64MiB", "tenant")
        session = ashlar.InferenceSession(added(4), cache_dir=cache,
                                          budget=budget)
        session.run(None, feed)
        assert budget.current > 0
    assert len(list(cache.glob("*.ash"))) == 1
    with pytest.raises(ashlar.Error, match="no device cpu:9"):
        ashlar.InferenceSession(added(4), cache_dir=cache, device="cpu:9")
