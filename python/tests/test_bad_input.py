# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong raises, says why, and leaves everything usable."""

import gc
import multiprocessing
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import ashlar
from conftest import DIGITS, unary


def refused(call, *words):
    with pytest.raises(ashlar.Error) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)
    return caught.value


@pytest.mark.parametrize("make, words", [
    (lambda x: x.astype(np.float64), ["x: expected an array of float32", "2x3",
                                      "found float64", "astype"]),
    (lambda x: x.astype(">f4"), ["the other order", "astype"]),
    (lambda x: x.astype(object), ["objects"]),
    (lambda x: np.repeat(x, 2, 1)[:, ::2], ["strides", "ascontiguousarray"]),
    (lambda x: np.asfortranarray(x), ["strides"]),
    (lambda x: x[:, :2].copy(), ["x", "2x3", "2x2"]),
    (lambda x: x.reshape(6), ["x", "2x3"]),
    (lambda x: x.reshape((1,) * 18 + (2, 3)), ["20 dims"]),
    (lambda x: np.empty((0, 3), np.float32), ["2x3", "0x3"]),
    (lambda x: np.broadcast_to(np.float32(1), (1 << 20, 1 << 20)), ["x"]),
    (lambda x: x.tolist(), ["found list", "numpy.asarray"]),
    (lambda x: {"x": [[1], [1, 2]]}, ["found list whose rows differ"]),
    (lambda x: {"x": b"abcd"}, ["found bytes", "numpy.frombuffer"]),
    (lambda x: {"x": range(6)}, ["found range", "numpy.asarray"]),
    (lambda x: {"x": x.tolist()}, ["found list"]),
    (lambda x: "text", ["found str"]),
    (lambda x: None, ["found NoneType"]),
    (lambda x: 3.5, ["found float"]),
    (lambda x: {"y": x}, ["found 'y' too", "found no 'x'"]),
    (lambda x: {"x": x, "z": x}, ["found 'z' too"]),
    (lambda x: {}, ["found no 'x'"]),
    (lambda x: {1: x}, ["found 1 too"]),
    (lambda x: [], ["found list"]),
    (lambda x: np.array(["a", "b"]), ["found <U1"]),
    (lambda x: np.zeros((2, 3), "M8[s]"), ["found datetime64"]),
    (lambda x: np.zeros((2, 3), [("a", "f4")]), ["found"]),
    (lambda x: np.zeros((2, 3), np.complex64), ["found complex64"]),
])
def test_inputs(negate, x, make, words):
    error = refused(lambda: negate(make(x)), *words)
    assert isinstance(error, ashlar.InvalidArgument) \
        and isinstance(error, ValueError)
    assert np.array_equal(negate(x), -x)


def test_errors_say_what_and_where(negate, x):
    error = refused(lambda: negate(x.astype(np.int8)))
    assert error.code == ashlar.StatusCode.INVALID_ARGUMENT
    assert error.place == "x"
    assert error.expected == "an array of float32, 2x3"
    assert error.found == "int8 of shape (2, 3)"
    assert "astype" in error.hint
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and type(again) is type(error)


def test_a_class_for_each_status():
    """As the C header counts them."""
    from ashlar._errors import from_status
    header = pathlib.Path(ashlar.get_include(), "ashlar/runtime/api.h")
    codes = dict(re.findall(r"^  ASHLAR_([A-Z_]+) = (\d+),? */\*",
                            header.read_text(), re.M))
    codes = {name: int(number) for name, number in codes.items()
             if name in ashlar.StatusCode.__members__}
    assert {name: int(code) for name, code
            in ashlar.StatusCode.__members__.items()} == {"OK": 0, **codes}
    kinds = {type(from_status(code, "why", "where")): code
             for code in codes.values()}
    assert len(kinds) == len(codes) == 8
    for kind, code in kinds.items():
        assert kind.code == code and issubclass(kind, ashlar.Error)


def test_faults_of_the_compiler(tmp_path, monkeypatch):
    """What ends it is an exception, and says so."""
    program = tmp_path / "ashlar-compile"
    monkeypatch.setenv("ASHLAR_BIN", str(tmp_path))
    for script, kind, words in (
            ("kill -KILL $$", ashlar.Internal, ["signal 9"]),
            ("echo 'error: our fault' >&2; exit 70", ashlar.Internal,
             ["our fault"]),
            ("exit 1", ashlar.InvalidArgument, ["said nothing"]),
            ("exit 0", ashlar.Internal, ["left no module"])):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        error = refused(lambda: ashlar.compile(unary("Neg", [3])), *words)
        assert type(error) is kind


def test_outputs(negate, x):
    session = negate.session()
    fixed = np.zeros((2, 3), np.float32)
    fixed.flags.writeable = False
    refused(lambda: session.run(x, out=fixed), "y", "read-only")
    for wrong in (np.zeros((3, 2), np.float32), np.zeros(6, np.float32),
                  np.zeros((2, 3)), np.zeros((2, 2), np.float32),
                  np.zeros((4, 6), np.float32)[::2, ::2], b"bytes" * 5):
        refused(lambda: session.run(x, out=wrong), "y")
    refused(lambda: session.run(x, out={"z": x}), "out")
    assert np.array_equal(session.run(x)["y"], -x)


def test_read_only_inputs_are_fine(negate, x):
    fixed = x.copy()
    fixed.flags.writeable = False
    assert np.array_equal(negate(fixed), -x)


def test_capsules(negate, x):
    capsule = x.__dlpack__()
    negate(capsule)
    refused(lambda: negate(capsule), "consumed")

    class Twice:
        """Hands out one capsule again and again."""
        def __init__(self, array):
            self.capsule = array.__dlpack__()

        def __dlpack__(self, **_):
            return self.capsule

        def __dlpack_device__(self):
            return (1, 0)

    again = Twice(x)
    assert np.array_equal(negate(again), -x)
    assert '"used_dltensor' in repr(again.capsule)
    refused(lambda: negate(again), "expected an array of float32",
            "found test_bad_input.test_capsules.<locals>.Twice, whose "
            "__dlpack__ gives", "consumed before")
    refused(lambda: negate(Twice(x.astype(np.int32))), "capsule")
    # To write to, of another shape; such an object says none itself.
    for wrong in (Twice(np.zeros((3, 2), np.float32)),
                  Twice(np.zeros(6, np.float32)),
                  np.zeros((0, 3), np.float32).__dlpack__()):
        refused(lambda: negate.session().run(x, out=wrong), "y",
                "expected shape 2x3", "ashlar.empty((2, 3), 'float32')")
    out = Twice(np.zeros((2, 3), np.float32))
    assert negate.session().run(x, out=out)["y"] is out

    class Unwilling:
        def __dlpack__(self, **_):
            raise BufferError("wants its gradient")

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(ashlar.InvalidArgument) as caught:
        negate(Unwilling())
    assert "gives no memory: wants its gradient" in str(caught.value)
    assert "numpy.asarray" not in str(caught.value)
    assert "wants its gradient" in str(caught.value.__cause__)

    class Claims:
        """Of host memory, wherever it says to be."""
        def __init__(self, device):
            self.device = device

        def __dlpack__(self, **keywords):
            return x.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.device
    for right in ((1, 0), (3, 0), (np.int64(11), np.int32(1))):
        assert np.array_equal(negate(Claims(right)), -x)
    for wrong, word in (((2, 0), "cuda:0"), ((99, 1), "99:1"),
                        ((-1, 0), "-1:0"), ((1 << 70, 0), str(1 << 70)),
                        (3, "where it is"), (None, "where it is"),
                        ((1,), "where it is"), ((1, 0, 0), "where it is"),
                        ("ab", "where it is"), ((1.5, 0), "where it is"),
                        ((2, "q"), "where it is")):
        refused(lambda: negate(Claims(wrong)), word)

    class Odd(Claims):
        def __dlpack__(self, **_):
            return 3
    refused(lambda: negate(Odd((1, 0))), "x: expected", "gives no capsule")

    class Raising:
        @property
        def __dlpack__(self):
            raise RuntimeError("no")
        __dlpack_device__ = dtype = __dlpack__
    with warnings.catch_warnings():  # nor is it told of behind our backs
        warnings.simplefilter("error")
        refused(lambda: negate(Raising()), "x: expected", "found")

    class Unsigned:
        def is_neg(self):
            raise RuntimeError("no sign")
    refused(lambda: negate(Unsigned()), "is_neg() fails: no sign")

    class Elsewhere:
        dtype, shape = "float32", (2, 3)

        def __dlpack_device__(self):
            return (2, 1)

        def __dlpack__(self, **keywords):
            raise BufferError("on the device")
    refused(lambda: negate(Elsewhere()), "cuda:1", "host")

    class Broken:
        def __dlpack_device__(self):
            raise RuntimeError("gone")
    refused(lambda: negate(Broken()), "gone")


def test_closed_and_used_twice(negate, slow, x):
    session = negate.session()
    bound = session.bind(x)
    session.close()
    session.close()
    assert session.closed
    for call in (lambda: session.run(x), lambda: session.run_async(x),
                 lambda: session.bind(x), bound.run, bound.run_async,
                 lambda: session.statistics):
        refused(call, "closed")
    busy = slow.session(threads=1)
    v = np.ones((1024, 1024), np.float32)
    run = busy.run_async(v)
    refused(lambda: busy.run(v), "in flight")
    refused(busy.close, "in flight")
    run.wait()
    assert busy.run(v)["v12"].shape == (1024, 1024)


def test_two_threads_in_a_session(slow):
    session = slow.session(threads=1)
    v = np.ones((1024, 1024), np.float32)
    said = []

    def go():
        for _ in range(4):
            try:
                session.run(v)
            except ashlar.InvalidArgument as error:
                said.append(str(error))
    threads = [threading.Thread(target=go) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said and all("each thread" in each for each in said)


def test_modules_after_their_runtime(x):
    runtime = ashlar.Runtime(threads=1)
    module = ashlar.compile(unary("Neg", [2, 3]), runtime=runtime)
    session = module.session()
    del runtime, module
    gc.collect()
    assert np.array_equal(session.run(x)["y"], -x)


def test_objects_that_were_never_made(negate, x):
    """Of classes that nobody is to make by hand."""
    for kind in (ashlar.Run, ashlar.Bindings, ashlar.Device):
        with pytest.raises(TypeError):
            kind()
    broken = ashlar.Session.__new__(ashlar.Session)
    with pytest.raises(Exception):
        broken.run(x)
    for call in (lambda: ashlar.Session(None), lambda: ashlar.Session(3),
                 lambda: ashlar.Session(negate, threads=-1),
                 lambda: ashlar.Session(negate, threads=1 << 40),
                 lambda: ashlar.Session(negate, threads=1.5),
                 lambda: ashlar.Session(negate, threads=float("nan")),
                 lambda: ashlar.Session(negate, name="a\0b"),
                 lambda: ashlar.Budget("many"), lambda: ashlar.Budget(-1),
                 lambda: ashlar.Budget(float("nan")),
                 lambda: ashlar.empty((-1,)), lambda: ashlar.empty((-2, -3))):
        refused(call)
    session = negate.session()
    refused(lambda: session.run([x, x]), "expected 1: 'x', found 2")
    refused(lambda: session.run(()), "expected 1: 'x', found 0")
    refused(lambda: session.run(x, entry="other"), "'main'", "'other'")
    refused(lambda: session.run(x, entry=3), "'main'")


def test_huge_sizes():
    for shape in ((1 << 62,), (1 << 40, 1 << 40)):
        with pytest.raises((MemoryError, ashlar.Error, ValueError,
                            OverflowError, TypeError)):
            ashlar.empty(shape)


@pytest.mark.parametrize("value", ["text", None, {1: 2}, {"a"}, object(),
                                   [None], ["a"], 1j])
def test_no_advice_that_does_not_work(negate, value):
    for call in (negate.session().run,
                 ashlar.InferenceSession(
                     unary("Neg", ["n", 3]).SerializeToString(),
                     cache_dir=None)._model.taken):
        error = refused(lambda: call({"x": value}), "x: expected an array of ",
                        f"found {type(value).__name__}")
        assert not error.hint, error.hint


@pytest.mark.parametrize("path", [
    "nothing.ash", b"nothing.ash", "a\0b", "", "x" * 5000, b"\xff\xfe.ash",
    "/", "/dev/null", "/proc/self/mem", "\udcff.ash"])
def test_paths(path):
    refused(lambda: ashlar.load(path))
    if not isinstance(path, bytes):
        refused(lambda: ashlar.compile(path))


def test_any_bytes_in_paths(negate, x, tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff \n'\".ash")
    path = os.fsdecode(path)
    negate.save(path)
    assert np.array_equal(ashlar.load(path, allow_native_code=True)(x), -x)
    error = refused(lambda: ashlar.load(os.fsencode(path)), "source",
                    "path as bytes", "os.fsdecode")
    assert type(error) is ashlar.InvalidArgument
    refused(lambda: ashlar.compile(b"model.onnx"), "model", "os.fsdecode")
    refused(lambda: ashlar.InferenceSession(b"model.onnx", cache_dir=None),
            "model", "os.fsdecode")
    refused(lambda: ashlar.load(3), "expected a path")
    refused(lambda: ashlar.load(None), "expected a path")


def test_modules_of_strangers(negate, x, tmp_path):
    path = tmp_path / "m.ash"
    negate.save(path)
    error = refused(lambda: ashlar.load(path))
    assert isinstance(error, ashlar.Unsupported), type(error)
    whole = path.read_bytes()
    assert np.array_equal(ashlar.load(whole, allow_native_code=True)(x), -x)
    for cut in (0, 1, 8, 100, len(whole) // 2, len(whole) - 1):
        error = refused(lambda: ashlar.load(whole[:cut],
                                            allow_native_code=True))
        assert isinstance(error, ashlar.Corrupt)
    generator = np.random.default_rng(5)
    for _ in range(200):
        spoilt = bytearray(whole)
        # The index; code is the file's own affair.
        for at in generator.integers(0, len(whole), 4):
            spoilt[at] ^= 1 << int(generator.integers(8))
        try:
            module = ashlar.load(bytes(spoilt), allow_native_code=False,
                                 verify_weights=True)
        except ashlar.Error:
            pass
        else:
            module.entries, module.metadata, repr(module)
    for wrong in ({"placement": "hard"}, {"device": "toaster"},
                  {"device": [3]}, {"name": "a\0b"}, {"device": "a\0b"}):
        refused(lambda: ashlar.load(whole, allow_native_code=True, **wrong))


@pytest.mark.parametrize("keywords, words", [
    ({}, ['shapes={"image": (1, 1, 8, 8)}']),
    ({"shapes": {"imag": (1, 1, 8, 8)}}, ["imag", "'image'"]),
    ({"shapes": {"image": (1, float("nan"), 8, 8)}}, ["nan"]),
    ({"shapes": {"image": (1, -1, 8, 8)}}, ["-1"]),
    ({"shapes": {"image": "1x1x8x8"}}, ["sequence"]),
    ({"shapes": [1, 1, 8, 8]}, ["dict"]),
    ({"shapes": {"image": ("N", 1, 8, 8)}}, ["dims"]),
    ({"shapes": {"image": ("N", 1, 8, 8)}, "dims": {"N": (8, 1)}}, ["dims"]),
    ({"shapes": {"image": ("N", 1, 8, 8)}, "dims": {"N": (1,)}}, ["dims"]),
    ({"shapes": {"image": (1, 1, 8, 8)}, "dims": {"x": (1, 2)}}, ["dims"]),
    ({"shapes": {"image": (1, 1, 8, 8)}, "target": "toaster"}, ["cpu"]),
    ({"shapes": {"image": (1, 1, 8, 8)}, "precision": "f13"}, ["f13", "bf16"]),
    ({"shapes": {"image": (1, 1, 8, 8)}, "tolerance": 0.1}, ["tolerance"]),
    ({"shapes": {"image": (1, 1, 8, 8)}, "threads": 0}, ["threads"]),
    ({"shapes": {"image": (1, 1, 8, 8)}, "fuse": "some"}, ["some"]),
    ({"shapes": {"image": (1, 1, 8, 8)}, "memory_budget": "lots"}, ["lots"]),
    ({"shapes": {"image": (1, 1, 8, 8)}, "machine": "none.json"}, ["none.json"]),
    ({"shapes": {"a\0b": (1,)}}, ["NUL"]),
])
def test_compiles(keywords, words):
    error = refused(lambda: ashlar.compile(DIGITS, **keywords), *words)
    assert isinstance(error, (ashlar.InvalidArgument, ashlar.NotFound))


def test_compiles_within_a_budget():
    error = refused(lambda: ashlar.compile(
        DIGITS, shapes={"image": (1, 1, 8, 8)}, memory_budget=100),
        "memory_budget", "expected", "found")
    assert isinstance(error, ashlar.OutOfBudget)
    assert error.notes and error.expected and error.found


def test_models_that_are_none():
    for data in (b"", b"\x08", b"hello", b"\xff" * 100, b"func.func @main("):
        refused(lambda: ashlar.compile(data))
    refused(lambda: ashlar.compile(3), "expected a path")


def test_unsupported_nodes_are_all_there():
    from onnx import TensorProto, helper
    graph = helper.make_graph(
        [helper.make_node("Mystery", ["x"], ["a"], domain="x.y", name="one"),
         helper.make_node("Riddle", ["a"], ["y"], domain="x.y", name="two")],
        "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])])
    made = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 19), helper.make_opsetid("x.y", 1)])
    error = refused(lambda: ashlar.compile(made), "Mystery", "Riddle")
    assert isinstance(error, ashlar.Unsupported) and len(error.nodes) == 2


def test_callbacks_that_raise():
    def interrupt(progress):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        ashlar.compile(DIGITS, shapes={"image": (1, 1, 8, 8)},
                       on_progress=interrupt)


def _in_child(negate, x, inherited, started, bound, queue):
    for use in (lambda: inherited.run(x), started.wait, started.cancel,
                lambda: bound.outputs):
        try:
            use()
            queue.put("ran")
        except ashlar.InvalidArgument as error:
            queue.put(str(error))
    queue.put(np.array_equal(negate(x), -x))


def test_forks(negate, nonzero, x):
    """Modules go on in a child; a session of the parent says why it does
    not."""
    inherited = negate.session()
    started = negate.session().run_async(x)
    bound = nonzero.session().bind(x)
    unheard = bound.run_async()
    negate(x)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child,
                            args=(negate, x, inherited, started, bound, queue))
    child.start()
    for _ in range(4):
        assert "fork" in queue.get(timeout=60)
    assert queue.get(timeout=60) is True
    child.join(60)
    assert child.exitcode == 0
    assert np.array_equal(inherited.run(x)["y"], -x)
    assert np.array_equal(unheard.wait()["y"], np.stack(np.nonzero(x)))


def test_daemons_at_the_end(negate, tmp_path):
    """Threads that use the library when the interpreter ends."""
    path = tmp_path / "m.ash"
    negate.save(path)
    code = f"""
import ashlar, numpy as np, threading, time
module = ashlar.load({str(path)!r}, allow_native_code=True)
x = np.zeros((2, 3), np.float32)
def go():
    session = module.session(threads=1)
    while True:
        session.run(x)
for _ in range(4):
    threading.Thread(target=go, daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(8):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True,
                              timeout=120)
        assert done.returncode == 0 and not done.stderr, done


def test_without_a_terminal(tmp_path):
    """Services have no stderr, or one that is no file."""
    code = f"""
import sys
sys.stderr = {{}}
import ashlar
ashlar.compile({str(DIGITS)!r}, shapes={{{{"image": (1, 1, 8, 8)}}}})
"""
    for stderr in ("None", "type('Log', (), {'write': print, "
                   "'flush': lambda self: None})()"):
        done = subprocess.run([sys.executable, "-c", code.format(stderr)],
                              capture_output=True, timeout=120)
        assert done.returncode == 0, done


def test_the_end_of_the_interpreter(negate, tmp_path):
    """In any order, with runs in flight, nothing is said."""
    path = tmp_path / "m.ash"
    negate.save(path)
    for ending in ("", "import sys; sys.modules.clear()",
                   "del session, module", "del module, session, run",
                   "import os; os._exit(0)"):
        code = f"""
import ashlar, numpy as np
module = ashlar.load({str(path)!r}, allow_native_code=True)
session = module.session()
x = np.zeros((2, 3), np.float32)
module(x)
bound = session.bind(x)
bound.run()
run = session.run_async(x)
{ending}
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True,
                              timeout=120)
        assert done.returncode == 0 and not done.stderr, done.stderr
