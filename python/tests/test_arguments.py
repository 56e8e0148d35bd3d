# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of another kind or size than a call takes: an error of ours that
names the argument, and never one of the binding's own."""

import copy
import json
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence

import numpy as np
import pytest

import ashlar
from conftest import unary


def refused(call, place, *words, kind=ashlar.InvalidArgument):
    with pytest.raises(kind) as caught:
        call()
    said = str(caught.value)
    assert caught.value.place == place, said
    for word in words:
        assert word in said, said


@pytest.fixture(scope="module")
def file(negate, tmp_path_factory):
    path = tmp_path_factory.mktemp("module") / "m.ash"
    negate.save(path)
    return path


@pytest.mark.parametrize("keywords, place, words", [
    ({"budget": "1MiB"}, "budget", ["str; ashlar.Budget('1MiB')"]),
    ({"budget": 3.5}, "budget", ["found float"]),
    ({"poison": "yes"}, "poison", ["True or False, found 'yes'"]),
    ({"reserve_all": 2}, "reserve_all", ["True or False, found 2"]),
    ({"name": 3}, "name", ["text, found int"]),
    ({"name": "a\0b"}, "name", ["NUL"]),
    ({"threads": -1}, "threads", ["from 0 to 4096", "-1"]),
    ({"threads": 4097}, "threads", ["from 0 to 4096", "4097"]),
    ({"threads": True}, "threads", ["whole number, found True"]),
])
def test_sessions(negate, keywords, place, words):
    refused(lambda: ashlar.Session(negate, **keywords), place, *words)


@pytest.mark.parametrize("threads", [-1, 4097, 1 << 40, "2", 1.5, None, True])
def test_runtimes(threads):
    refused(lambda: ashlar.Runtime(threads=threads), "threads", repr(threads))


class Unshown:
    """Of which there is no text."""
    def __repr__(self):
        raise RuntimeError("no")


def test_what_cannot_be_shown(negate, file, x):
    """Nor all of what is very long."""
    session = negate.session()
    for call, place in (
            (lambda given: ashlar.Session(negate, threads=given), "threads"),
            (lambda given: ashlar.Session(negate, poison=given), "poison"),
            (lambda given: ashlar.compile("m.onnx", target=given), "target"),
            (lambda given: ashlar.compile("m.onnx", tolerance=given),
             "tolerance"),
            (lambda given: ashlar.load(file, device=given), "device"),
            (lambda given: ashlar.empty(2, given), "dtype")):
        refused(lambda: call(Unshown()), place, "found")
        with pytest.raises(ashlar.InvalidArgument) as caught:
            call([0] * 100000)
        assert caught.value.place == place and len(str(caught.value)) < 600
    for name in ([], Unshown(), {}):
        for call in (negate.memory_map, negate.graph,
                     lambda entry: session.run(x, entry=entry)):
            refused(lambda: call(entry=name), "entry", "'main'",
                    kind=ashlar.NotFound)
        refused(lambda: negate.disassemble(name), "kernel",
                kind=ashlar.NotFound)


def test_devices():
    runtime = ashlar.default_runtime()
    refused(lambda: runtime.device(3), "name", "found int")
    refused(lambda: runtime.device(None), "name", "found NoneType")
    refused(lambda: runtime.device("a\0"), "name", "NUL")
    refused(lambda: runtime.device(""), "name", "'cpu:0'", "found ''")
    refused(lambda: runtime.device("\udc80"), "\\udc80",
            kind=ashlar.NotFound)
    assert ashlar.Runtime(threads=2).device("cpu").name == "cpu:0"


def test_budgets():
    for limit in (1 << 63, -1, "9" * 30 + "GiB"):
        refused(lambda: ashlar.Budget(limit), "limit",
                "from 0 to 9223372036854775807")
    for limit in ("9" * 400 + "GiB", "1e400GiB", "", "MiB"):
        refused(lambda: ashlar.Budget(limit), "limit", "'512MiB'")
    assert ashlar.Budget((1 << 63) - 1).limit == (1 << 63) - 1
    assert ashlar.Budget("0.1GiB").limit == (1 << 30) // 10
    for name in (3, None, "a\0b"):
        refused(lambda: ashlar.Budget(3, name), "name")
    refused(lambda: ashlar.Budget(3, runtime=3), "runtime", "ashlar.Runtime")
    refused(lambda: ashlar.Budget(True), "limit", "found True")


def test_budgets_of_another_runtime(negate, file, x):
    runtime = ashlar.Runtime(threads=1)
    other = ashlar.Budget("1MiB", "other", runtime=runtime)
    for call in (
            lambda: ashlar.Session(negate, budget=other),
            lambda: ashlar.load(file, allow_native_code=True, budget=other),
            lambda: ashlar.load(file, allow_native_code=True, runtime=runtime,
                                budget=ashlar.Budget("1MiB")),
            # Before the compiler runs.
            lambda: ashlar.compile("none.onnx", budget=other),
            lambda: ashlar.InferenceSession(
                unary("Neg", [2, 3]).SerializeToString(), cache_dir=None,
                budget=other)):
        refused(call, "budget", "runtime, found one of another", "runtime=")
    assert other.current == 0
    module = ashlar.load(file, allow_native_code=True, runtime=runtime,
                         budget=other)
    assert other.current > 0
    assert np.array_equal(module.session(budget=other).run(x)["y"], -x)


def test_names_that_are_no_text(negate, file, x):
    """Half of a character, as names of files may hold."""
    for name in ("\udc80", "\ud800"):
        shown = name.encode(errors="backslashreplace").decode()
        module = ashlar.load(file, allow_native_code=True, name=name)
        assert module.name == shown
        budget = ashlar.Budget(1 << 20, name)
        assert budget.name == shown
        with ashlar.Session(negate, name=name, budget=budget,
                            reserve_all=True) as session:
            assert shown in {holder for holder, _, _ in budget.holders}
            assert np.array_equal(session.run(x)["y"], -x)
        refused(lambda: session.run(x, entry=name), "session")
        refused(lambda: negate.session().run(x, entry=name), "entry",
                "'main'", kind=ashlar.NotFound)


@pytest.mark.parametrize("keywords, place, words", [
    ({"allow_native_code": "no"}, "allow_native_code", ["True or False"]),
    ({"allow_native_code": 1}, "allow_native_code", ["True or False"]),
    ({"verify_weights": "no"}, "verify_weights", ["True or False"]),
    ({"budget": 1 << 20}, "budget", ["ashlar.Budget(1048576)"]),
    ({"device": ""}, "device", ["''"]),
    ({"placement": np.zeros(2)}, "placement", ["'strict' or 'soft'"]),
    ({"device": ["cpu", b"cpu"]}, "device", ["b'cpu'"]),
    *(({"device": wrong}, "device", ["None for any", repr(wrong)])
      for wrong in ([], (), {}, 0, False, b"", np.array(["cpu", "cpu:0"]))),
])
def test_loads(file, keywords, place, words):
    refused(lambda: ashlar.load(file, **{"allow_native_code": True,
                                         **keywords}), place, *words)
    assert ashlar.load(file, allow_native_code=np.True_)


@pytest.mark.parametrize("shape, kind, words", [
    ((1 << 62,), "OutOfBudget", ["2^63"]),
    ((1 << 40, 1 << 40), "OutOfBudget", ["2^63"]),
    ((1 << 45,), "OutOfBudget", ["system"]),
    ((1,) * 65, "InvalidArgument", ["at most 16", "found 65"]),
    ((0, 1 << 62), "OutOfBudget", ["2^63"]),
    ((-1,), "InvalidArgument", ["-1"]), (1.5, "InvalidArgument", ["1.5"]),
    ("23", "InvalidArgument", ["'23'"]), (None, "InvalidArgument", ["None"]),
    ((float("nan"),), "InvalidArgument", ["nan"]),
    ((2, "3"), "InvalidArgument", ["'3'"]),
    (True, "InvalidArgument", ["True"]),
])
def test_shapes_of_empty(shape, kind, words):
    kind = getattr(ashlar, kind)
    with pytest.raises(kind) as caught:
        ashlar.empty(shape)
    assert all(word in str(caught.value) for word in words), caught.value
    assert kind is not ashlar.OutOfBudget \
        or isinstance(caught.value, MemoryError)


def test_types_of_empty():
    for dtype in ("nonsense", object, "V0", [("a", object)], "\udc80",
                  ("f4", (2,))):
        refused(lambda: ashlar.empty(3, dtype), "dtype")
    for shape in (3, (2, 3), [2], (), np.int64(2), np.array([2, 3]), (0, 5)):
        made = ashlar.empty(shape, "bfloat16")
        assert made.shape == np.empty(shape).shape
        assert made.ctypes.data % 64 == 0


def test_masks(negate, x):
    """No call loses one in silence."""
    masked = np.ma.array(x, mask=x > 3)
    session = negate.session()
    for call in (lambda: negate(masked), lambda: session.run({"x": masked}),
                 lambda: session.bind(masked),
                 lambda: session.run_async(masked)):
        refused(call, "x", "numpy.ma", ".filled(")
    refused(lambda: session.run(x, out=np.ma.array(x)), "y", "numpy.ma")
    refused(lambda: ashlar.compile(unary("Neg", [2, 3]),
                                   values={"x": masked}), "values['x']",
            ".filled(")
    assert np.array_equal(negate(masked.filled(0)), -masked.filled(0))
    # Other classes made from NumPy's are arrays like any.
    assert np.array_equal(negate(x.view(np.matrix)), -x)


def test_outputs(negate, open_sizes, x):
    """A copy is no use as an output, so none is advised."""
    session, fixed = negate.session(), x.copy()
    fixed.flags.writeable = False
    for wrong in (x.reshape(3, 2), x[0], np.zeros((2, 3)), x.astype(">f4"),
                  x.astype(object), np.zeros((4, 6), np.float32)[::2, ::2],
                  fixed, b"bytes", 3):
        with pytest.raises(ashlar.InvalidArgument) as caught:
            session.run(x, out=wrong)
        assert caught.value.place == "y"
        assert caught.value.hint == \
            "ashlar.empty((2, 3), 'float32') makes one to write to"
    out = ashlar.empty((2, 3), "float32")
    assert session.run(x, out=out)["y"] is out and np.array_equal(out, -x)
    with pytest.raises(ashlar.InvalidArgument) as caught:
        open_sizes.session().run(x, out=np.zeros((2, 3)))
    assert "ashlar.empty(shape, 'float32')" in caught.value.hint


def test_bound_outputs_before_a_run(negate, nonzero, x):
    """Memory that nothing was written to is not shown."""
    for module in (negate, nonzero):
        bound = module.session().bind(x)
        refused(lambda: bound.outputs, "outputs", "run()")
        first = bound.run()["y"]
        assert np.array_equal(bound.outputs["y"], first)
        bound = module.session().bind(x)
        bound.run_async().wait()
        assert np.array_equal(bound.outputs["y"], first)


def test_no_arguments(negate):
    session = negate.session()
    for call in (session.run, session.run_async, session.bind):
        refused(lambda: call(None), "x", "found NoneType")
        refused(lambda: call(inputs=None), "x", "found NoneType")


def test_objects_that_lie(negate, x, file):
    """None of them ends in an error of the binding's own."""
    class Longer(dict):
        def __len__(self):
            return 1 << 40

    class Undecided:
        def is_neg(self):
            return "no"
    session = negate.session()
    # What a dict holds counts.
    assert np.array_equal(session.run(Longer(x=x))["y"], -x)
    refused(lambda: session.run(Longer(z=x)), "inputs", "found 'z' too",
            "found no 'x'")
    refused(lambda: session.run(Undecided()), "x", "resolve_neg")
    refused(lambda: ashlar.load(memoryview(file.read_bytes())[::2]), "source",
            "contiguous")
    refused(lambda: ashlar.compile(unary("Neg", [70000]),
                                   values={"x": np.zeros(70000)}), "values",
            "command line")


class Lies(Sequence):
    """Says to be of another length than it is."""
    def __init__(self, items, length):
        self.items, self.length = items, length

    def __len__(self):
        return self.length

    def __getitem__(self, at):
        return self.items[at]

    def __iter__(self):
        return iter(self.items)


def test_lengths_that_are_not(negate, file, x):
    class List(list):
        def __len__(self):
            return 1

    class Tuple(tuple):
        def __len__(self):
            return 1

    class Dict(dict):
        def __len__(self):
            return 1

        def __iter__(self):
            return iter(["q"])
    session = negate.session()
    for kind in (List, Tuple):
        for given in ((), (x, x)):
            refused(lambda: session.run(kind(given)), "inputs",
                    f"expected 1: 'x', found {len(given)}")
            refused(lambda: session.run(x, out=kind(given)), "out",
                    f"expected 1: 'y', found {len(given)}")
        assert np.array_equal(session.run(kind([x]))["y"], -x)
    refused(lambda: session.run(Dict(x=x, z=x)), "inputs", "found 'z' too")
    open_model = unary("Neg", ["n", 3])
    for items in ([1], [1, 2, 3, 4]):
        refused(lambda: ashlar.compile(open_model,
                                       dims={"n": Lies(items, 2)}),
                "dims['n']", "(from, to)")
    refused(lambda: ashlar.load(file, allow_native_code=True,
                                device=Lies([], 1)), "device")
    refused(lambda: ashlar.load(file, allow_native_code=True,
                                device=Lies([3], 0)), "device")


def test_names_that_are_not_there(negate):
    for names, place, right in ((negate.entries, "entries", "'main'"),
                                (negate.metadata, "metadata", "")):
        refused(lambda: names["zz"], place, right, "found 'zz'",
                kind=ashlar.NotFound)
        with pytest.raises(KeyError, match="found 'zz'"):
            names["zz"]
        assert names.get("zz") is None and "zz" not in names
        again = pickle.loads(pickle.dumps(names))
        assert again == names and type(again) is type(names)
    assert list(negate.entries) == ["main"]
    assert negate.entries["main"].inputs == negate.inputs
    with pytest.raises(ashlar.NotFound) as caught:
        negate.entries["zz"]
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and isinstance(again, KeyError)


def test_what_cannot_be_copied(negate, x, tmp_path):
    """It says what to do instead."""
    from ashlar import backend
    made = unary("Neg", [2, 3])
    session = negate.session()
    runtime = ashlar.default_runtime()
    for thing, words in (
            (negate, ["ashlar.Module", "save()"]),
            (session, ["ashlar.Session", "make a session"]),
            (session.bind(x), ["ashlar.Bindings", "bind again"]),
            (session.run_async(x), ["ashlar.Run", "wait"]),
            (ashlar.Budget(3), ["ashlar.Budget"]),
            (runtime, ["ashlar.Runtime"]),
            (runtime.device("cpu"), ["ashlar.Device", "name"]),
            (ashlar.Trace(tmp_path / "t.json"), ["ashlar.Trace"]),
            (ashlar.InferenceSession(made.SerializeToString(), cache_dir=None),
             ["ashlar.InferenceSession", "cache"]),
            (backend.prepare(made), ["ashlar.AshlarRep", "prepare"])):
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError) as caught:
                call(thing)
            assert all(word in str(caught.value) for word in words), \
                str(caught.value)
    assert pickle.loads(pickle.dumps(negate.contract)) == negate.contract
    assert pickle.loads(pickle.dumps(negate.inputs)) == negate.inputs


@pytest.mark.parametrize("view", [False, True])
def test_memory_that_does_not_move(negate, x, view):
    """NumPy refuses to resize in place what is bound or being read."""
    def arrays():
        whole = [np.array([x]), np.zeros((1, 2, 3), np.float32)]
        # Views of an array do not keep it from moving by themselves.
        return whole, [each[0] for each in whole] if view \
            else [each.reshape(2, 3).copy() for each in whole]
    whole, (given, out) = arrays()
    bound = negate.session().bind(given, out)
    for array in whole if view else (given, out):
        with pytest.raises(ValueError, match="cannot resize"):
            array.resize((300, 400), refcheck=False)
    assert bound.run()["y"] is out and np.array_equal(out, -x)
    run = negate.session().run_async(given, out)
    with pytest.raises(ValueError, match="cannot resize"):
        (whole[0] if view else given).resize((3,), refcheck=False)
    run.wait()
    # Afterwards they are the caller's own again.
    del bound, run
    for array in whole if view else (given, out):
        array.resize((3,), refcheck=False)


def test_outputs_of_bindings_from_elsewhere(nonzero, slow, x):
    """They are there for other threads and after the session; not while they
    are written."""
    session = nonzero.session()
    bound = session.bind(x)
    run = bound.run_async()
    run.wait()
    expected = np.stack(np.nonzero(x))
    found = []
    thread = threading.Thread(target=lambda: found.append(bound.outputs["y"]))
    thread.start()
    thread.join()
    # A run that nobody waited for has ended as well, when the next begins.
    bound = session.bind(x)
    run = bound.run_async()
    session.run(np.zeros_like(x))
    found += [bound.outputs["y"], run.wait()["y"]]
    session.close()
    found.append(bound.outputs["y"])
    assert len(found) == 4
    assert all(np.array_equal(each, expected) for each in found)
    bound = slow.session(threads=1).bind(np.ones((1024, 1024), np.float32))
    first = bound.run()["v12"]
    run = bound.run_async()
    refused(lambda: bound.outputs, "outputs", "in flight", "wait")
    run.wait()
    assert bound.outputs["v12"] is first


def test_outputs_that_are_too_small(nonzero, open_sizes, x):
    rows = np.zeros((5, 3), np.float32)
    for module, given, out, words in (
            (open_sizes, rows, rows[:2], ["60 bytes, found 24",
                                          "ashlar.empty((64, 3), 'float32')"]),
            (nonzero, x, np.zeros((2, 2), np.int64),
             ["96 bytes, found 32", "ashlar.empty((2, 6), 'int64')"])):
        session = module.session()
        for call in (session.run, session.run_async, session.bind):
            refused(lambda: call(given, out.copy()), "y", "expected room for",
                    *words)
        right = ashlar.empty(module.outputs[0].maximum, module.outputs[0].dtype)
        session.run(given, right)


def test_time_outs(negate, x):
    for wrong in ("1", -1, float("nan"), [], "x"):
        refused(lambda: negate.session().run_async(x).wait(wrong), "timeout",
                "seconds")
    for right in (10, 10.0, np.float32(10), None):
        assert negate.session().run_async(x).wait(right)


def run_program(text):
    return subprocess.run([sys.executable, "-c", text], capture_output=True,
                          text=True, timeout=120)


def test_a_trace_that_nobody_stops(file, tmp_path):
    code = f"""
import ashlar, numpy as np
module = ashlar.load({str(file)!r}, allow_native_code=True)
def record():
    ashlar.Trace({str(tmp_path / "t.json")!r}).start()
record()
module(np.zeros((2, 3), np.float32))
"""
    done = run_program(code)
    assert done.returncode == 0 and not done.stderr, done
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    # One that cannot be written by then is told of, and ends nothing.
    folder = tmp_path / "gone"
    folder.mkdir()
    done = run_program(code.replace("t.json", "gone/t.json")
                       + f"import os; os.rmdir({str(folder)!r})")
    assert done.returncode == 0 and "cannot write" in done.stderr, done
    assert "Traceback" not in done.stderr


def test_imports_that_come_again(file):
    """The package alone may; its library says why it may not."""
    begin = f"""
import sys, ashlar, numpy as np
x, first = np.ones((2, 3), np.float32), ashlar
module = ashlar.load({str(file)!r}, allow_native_code=True)
"""
    done = run_program(begin + f"""
del sys.modules["ashlar"]
import ashlar
assert ashlar is not first and ashlar.Error is first.Error
other = ashlar.load({str(file)!r}, allow_native_code=True)
assert (other(x) == -x).all() and (module(x) == -x).all()
""")
    assert done.returncode == 0 and not done.stderr, done
    done = run_program(begin + """
for name in [name for name in sys.modules if name.startswith("ashlar")]:
    del sys.modules[name]
try:
    import ashlar
except ImportError as error:
    print(error)
""")
    assert done.returncode == 0 and not done.stderr, done
    assert "is loaded in this process already" in done.stdout
