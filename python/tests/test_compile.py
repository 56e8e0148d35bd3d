# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling, looking into what was compiled, and saving it."""

import logging
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import onnx
import onnxruntime
import pytest

import ashlar
from conftest import DIGITS, unary

SHAPES = {"image": (1, 1, 8, 8)}


@pytest.fixture(scope="module")
def digits():
    return ashlar.compile(DIGITS, shapes=SHAPES)


def pictures():
    return np.random.default_rng(7).random((1, 1, 8, 8), np.float32)


def test_beside_onnx_runtime(digits):
    other = onnxruntime.InferenceSession(DIGITS)
    for _ in range(3):
        picture = pictures()
        expected = other.run(None, {"image": picture})[0]
        assert np.allclose(digits(picture), expected, rtol=1e-4, atol=1e-6)


def test_forms_of_a_model(digits, tmp_path):
    picture = pictures()
    expected = digits(picture)
    text = b"""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %e = tensor.empty() : tensor<2xf32>
      %y = linalg.add ins(%x, %x : tensor<2xf32>, tensor<2xf32>)
                      outs(%e : tensor<2xf32>) -> tensor<2xf32>
      return %y : tensor<2xf32>
    }"""
    for form in (str(DIGITS), DIGITS.read_bytes(), onnx.load(DIGITS),
                 memoryview(DIGITS.read_bytes())):
        assert np.array_equal(ashlar.compile(form, shapes=SHAPES)(picture),
                              expected)
    twice = ashlar.compile(text)
    assert np.array_equal(twice(np.float32([1, 2])), [2, 4])


def test_every_keyword(tmp_path):
    picture = pictures()
    kept = tmp_path / "kept.ash"
    module = ashlar.compile(
        DIGITS, kept, shapes=SHAPES, target="cpu:x86-64", precision="bf16",
        calibration=[{"image": picture}], memory_budget="1MiB",
        exact_convolution=True, fuse="basic", threads=1,
        write_precision_plan=tmp_path / "plan.json",
        save_temps=tmp_path / "temps", remarks=False, name="mine")
    assert kept.exists() and (tmp_path / "plan.json").exists()
    assert any((tmp_path / "temps").rglob("*"))
    assert module.name == "mine" and module.target == "cpu:x86-64"
    assert module.remarks == ()
    other = ashlar.load(kept, allow_native_code=True)
    assert np.array_equal(other(picture), module(picture))
    planned = ashlar.compile(DIGITS, shapes=SHAPES,
                             precision_plan=tmp_path / "plan.json")
    assert np.allclose(planned(picture), module(picture), atol=0.05)
    several = ashlar.compile(DIGITS, shapes=SHAPES,
                             target=["cpu:x86-64-v4", "cpu:x86-64"])
    assert len(several.programs) == 2
    searched = ashlar.compile(DIGITS, shapes=SHAPES, precision="auto",
                              tolerance=0.05)
    assert np.allclose(searched(picture), module(picture), atol=0.1)


def test_what_a_module_says(digits):
    info = digits.inputs[0]
    assert (info.name, info.type, info.shape) == ("image", "f32", (1, 1, 8, 8))
    assert info.dtype == np.float32 and info.maximum_bytes == 256
    cost = digits.contract
    assert cost.peak_bytes == (
        cost.weights_bytes + cost.code_bytes + cost.arena_bytes
        + cost.outputs_bytes + cost.staging_bytes
        + cost.scratch_bytes_per_worker)
    assert digits.entries["main"].contract == cost
    assert digits.device == "cpu:0" and "taken" in digits.placement
    rows = digits.kernels()
    assert rows and {"program", "name", "nodes", "code_bytes"} <= rows[0].keys()
    assert digits.provenance["version"] == ashlar.__version__
    for remark in digits.remarks:
        assert remark.kind in ("passed", "missed", "analysis") and remark.node
    assert {remark.step for remark in digits.remarks} >= {"layout", "fusion"}
    assert "digits" in repr(digits)


def test_pictures(digits, tmp_path):
    assert digits.memory_map().lstrip().startswith(("<svg", "<?xml"))
    page = tmp_path / "memory.html"
    assert digits.memory_map(page) == page.read_text()
    assert "conv1" in digits.graph(tmp_path / "graph.html")
    html = digits._repr_html_()
    assert "<svg" in html and "<iframe" in html and "image" in html
    with pytest.raises(ashlar.NotFound, match="main"):
        digits.memory_map(entry="other")
    with pytest.raises(ashlar.InvalidArgument, match=r"\.svg or \.html"):
        digits.memory_map(tmp_path / "memory.gif")
    with pytest.raises(ashlar.InvalidArgument, match=r"\.html, found"):
        digits.graph(tmp_path / "graph.svg")


def test_disassembly(digits, monkeypatch, tmp_path):
    name = digits.kernels()[0]["name"]
    with pytest.raises(ashlar.NotFound, match=name) as caught:
        digits.disassemble("nothing")
    assert caught.value.place == "kernel" and "'nothing'" in str(caught.value)
    if shutil.which("objdump") or shutil.which("llvm-objdump-22"):
        assert name in digits.disassemble(name)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ashlar.NotFound, match="no disassembler was found"):
        digits.disassemble(name)


def test_open_sizes_in_a_notebook(open_sizes):
    assert "open_sizes" not in open_sizes._repr_html_()
    assert "Nx3" in open_sizes._repr_html_()


def test_pandas_takes_the_kernels(digits):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(digits.kernels())
    assert len(frame) == len(digits.kernels())


def test_progress_and_logging(caplog):
    seen = []
    with caplog.at_level(logging.DEBUG, "ashlar.compile"):
        ashlar.compile(DIGITS, shapes=SHAPES, on_progress=seen.append)
    assert [each.stage for each in seen][-1] == "emit"
    assert [each.number for each in seen] == sorted(
        each.number for each in seen)
    assert any("fuse" in record.message for record in caplog.records)
    assert any("fusion" in record.message for record in caplog.records)


def test_the_bar(capsys, monkeypatch):
    from ashlar import _progress
    bar = _progress.ProgressBar(True)
    bar.show(ashlar.Progress("fuse", 5, 8, 0.1))
    bar._draw()
    assert "tile" in capsys.readouterr().err
    with _progress.ProgressBar(False):
        pass
    # In a notebook.
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, **_):
        shown.append(data["text/plain"])
        return Handle()
    monkeypatch.setattr(_progress, "_notebook", lambda: display)
    with _progress.ProgressBar(None) as bar:
        bar.show(ashlar.Progress("fuse", 5, 8, 0.1))
        bar._draw()
        bar._draw()
    assert "tile" in shown[0] and shown[-1].startswith("compiled in")
    with pytest.raises(KeyError), _progress.ProgressBar(None) as bar:
        bar._draw()
        raise KeyError
    assert shown[-1].startswith("ended after")


def test_nothing_is_left(tmp_path, monkeypatch):
    """Of a compile that was refused, nor of one that was not."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    import tempfile
    monkeypatch.setattr(tempfile, "tempdir", None)
    ashlar.compile(DIGITS, shapes=SHAPES)
    with pytest.raises(ashlar.Error):
        ashlar.compile(DIGITS)
    assert not list(tmp_path.iterdir())
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        ashlar.compile(unary("Neg", [3]))
        with pytest.raises(ashlar.Error):
            ashlar.load(b"nothing", allow_native_code=True)
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_without_a_compiler(monkeypatch):
    monkeypatch.delenv("ASHLAR_BIN", raising=False)
    monkeypatch.setitem(sys.modules, "ashlar_compiler", None)
    with pytest.raises(ashlar.NotFound, match="install the wheel ashlar-"):
        ashlar.compile(DIGITS, shapes=SHAPES)
    monkeypatch.setenv("ASHLAR_BIN", "/nowhere")
    with pytest.raises(ashlar.NotFound, match="cannot be started"):
        ashlar.compile(DIGITS, shapes=SHAPES)


def test_ctrl_c_ends_a_compile(tmp_path):
    """At once, leaving no process and no file behind."""
    weights = np.zeros((64, 64, 3, 3), np.float32)
    nodes, names = [], ["x"] + [f"v{i}" for i in range(60)]
    from onnx import TensorProto, helper
    from conftest import model
    for i in range(60):
        nodes.append(helper.make_node("Conv", [names[i], f"w{i}"],
                                      [names[i + 1]], pads=[1, 1, 1, 1]))
    made = model(nodes, {"x": (TensorProto.FLOAT, [1, 64, 56, 56])},
                 {names[-1]: (TensorProto.FLOAT, [1, 64, 56, 56])},
                 [onnx.numpy_helper.from_array(weights + i, f"w{i}")
                  for i in range(60)])
    path = tmp_path / "large.onnx"
    path.write_bytes(made.SerializeToString())
    # What starts tests in the background may have Ctrl-C ignored.
    code = f"""
import ashlar, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    print("begins", flush=True)
    ashlar.compile({str(path)!r}, {str(tmp_path / 'large.ash')!r})
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("finished", flush=True)
"""
    # On a machine that is busy enough the compile may be over before this test
    # goes on.
    for _ in range(5):
        child = subprocess.Popen([sys.executable, "-c", code], text=True,
                                 stdout=subprocess.PIPE)
        assert child.stdout.readline() == "begins\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        said = child.stdout.readline()
        if said != "finished\n":
            break
        child.wait()
        (tmp_path / "large.ash").unlink()
    assert said == "interrupted\n"
    assert child.wait(30) == 0
    assert not (tmp_path / "large.ash").exists()
    for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert str(path).encode() not in process.read_bytes()
        except OSError:
            pass


def test_compiles_side_by_side():
    picture, wrong = pictures(), []

    def go():
        y = ashlar.compile(DIGITS, shapes=SHAPES, threads=1)(picture)
        if abs(y.sum() - 1) > 1e-5:
            wrong.append(y)
    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_metadata():
    made = unary("Neg", [3])
    made.producer_name = "somebody"
    entry = made.metadata_props.add()
    entry.key, entry.value = "classes", "a,b"
    module = ashlar.compile(made)
    assert module.metadata["classes"] == "a,b"
    assert module.metadata["onnx.producer_name"] == "somebody"


def test_the_c_library_is_there():
    include = pathlib.Path(ashlar.get_include())
    assert (include / "ashlar/runtime/api.h").is_file()
    import ctypes
    library = ctypes.CDLL(ashlar.get_library())
    library.ashlar_runtime_version.restype = ctypes.c_char_p
    assert library.ashlar_runtime_version().decode() == ashlar.__version__


def test_for_another_machine(tmp_path):
    """What cannot run here is written all the same, and that is said."""
    path = tmp_path / "other.ash"
    target = "cpu:x86-64-v3" if platform.machine() != "x86_64" \
        else "cpu:aarch64"
    with pytest.raises(ashlar.Unsupported, match="other.ash is written"):
        ashlar.compile(DIGITS, path, shapes={"image": (1, 1, 8, 8)},
                       target=target)
    assert path.stat().st_size > 0
