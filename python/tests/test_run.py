# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running: results beside NumPy's, zero copies, threads, asyncio, bindings."""

import asyncio
import ctypes
import gc
import threading
import time

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import ashlar
from conftest import model, unary


def test_one_output_or_a_dict(negate, subtract, x):
    assert np.array_equal(negate(x), -x)
    assert np.array_equal(negate(x=x), -x)
    assert np.array_equal(negate({"x": x}), -x)
    a, b = np.float32([1, 2, 3, 4]), np.float32([4, 3, 2, 0])
    results = subtract(a, b)
    assert list(results) == ["difference", "total"]
    assert np.array_equal(results["difference"], a - b)
    assert np.array_equal(results["total"], a + b)
    assert np.array_equal(subtract(b=b, a=a)["difference"], a - b)


def test_results_are_their_own(negate, x):
    first = negate(x)
    second = negate(x + 1)
    assert np.array_equal(first, -x) and np.array_equal(second, -x - 1)
    assert first.flags.writeable and first.ctypes.data % 64 == 0


def test_results_outlive_all_else(x):
    module = ashlar.compile(unary("Neg", [2, 3]))
    y = module(x)
    del module
    gc.collect()
    assert np.array_equal(y, -x)


def test_aligned_inputs_are_read_in_place(negate, x):
    with negate.session() as session:
        aligned = ashlar.empty((2, 3))
        aligned[:] = x
        session.run(aligned)
        assert session.statistics["staged_tensors"] == 0
        block = ashlar.empty(7)
        block[1:] = x.reshape(-1)
        assert np.array_equal(session.run(block[1:].reshape(2, 3))["y"], -x)
        assert session.statistics["staged_tensors"] == 1


def test_outputs_are_written_in_place(negate, x):
    out = ashlar.empty((2, 3))
    with negate.session() as session:
        given = session.run({"x": x}, out={"y": out})["y"]
        assert given is out and np.array_equal(out, -x)
        plain = np.zeros((2, 3), np.float32)
        session.run(x, out=plain)
        assert np.array_equal(plain, -x)


def test_in_place_over_the_input(negate):
    """Where input and output are the same memory the library says so, or is
    right."""
    array = ashlar.empty((2, 3))
    array[:] = 2
    with negate.session() as session:
        try:
            session.run(array, out=array)
        except ashlar.InvalidArgument as error:
            assert error.message
        else:
            assert (array == -2).all()


@pytest.mark.parametrize("shape", [(1, 3), (5, 3), (64, 3)])
def test_open_sizes(open_sizes, shape):
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    assert np.array_equal(open_sizes(x), -x)
    assert open_sizes.inputs[0].shape == (-1, 3)
    assert open_sizes.inputs[0].maximum == (64, 3)


def test_sizes_that_the_data_decide(nonzero):
    for array in ([[0, 1, 0], [2, 0, 3]], [[0, 0, 0], [0, 0, 0]]):
        array = np.float32(array)
        assert np.array_equal(nonzero(array), np.stack(np.nonzero(array)))
    session = nonzero.session()
    array = ashlar.empty((2, 3))
    bound = session.bind(array)
    for value in (0, 1):
        array[:] = value
        expected = np.stack(np.nonzero(array))
        assert np.array_equal(bound.run()["y"], expected)
        assert np.array_equal(session.run_async(array).wait()["y"], expected)


@pytest.mark.parametrize("kind, dtype", [
    (TensorProto.FLOAT16, np.float16), (TensorProto.DOUBLE, np.float64),
    (TensorProto.INT8, np.int8), (TensorProto.INT32, np.int32),
    (TensorProto.INT64, np.int64), (TensorProto.BFLOAT16, ml_dtypes.bfloat16)])
def test_types(kind, dtype):
    module = ashlar.compile(unary("Neg", [5], kind))
    x = np.asarray([0, 1, -2, 3, 4]).astype(dtype)
    y = module(x)
    assert y.dtype == np.dtype(dtype) == module.outputs[0].dtype
    assert np.array_equal(y, -x)
    if dtype is ml_dtypes.bfloat16:
        # Bits under another name share the memory.
        out = ashlar.empty(5, dtype)
        module.session().run(x, out=out)
        assert np.array_equal(out, -x)


@pytest.mark.parametrize("kind, name", [
    (TensorProto.FLOAT8E4M3FN, "float8_e4m3fn"),
    (TensorProto.FLOAT8E5M2, "float8_e5m2"), (TensorProto.INT4, "int4"),
    (TensorProto.UINT4, "uint4")])
def test_small_types(kind, name):
    made = model([helper.make_node("Cast", ["x"], ["f"], to=1),
                  helper.make_node("Cast", ["f"], ["y"], to=kind)],
                 {"x": (kind, [3])},
                 {"f": (TensorProto.FLOAT, [3]), "y": (kind, [3])})
    made.opset_import[0].version = 21
    x = np.asarray([1, 2, 3]).astype(getattr(ml_dtypes, name))
    results = ashlar.compile(made)(x)
    assert np.array_equal(results["f"], np.float32([1, 2, 3]))
    assert results["y"].dtype == x.dtype and np.array_equal(results["y"], x)


def test_nothing_to_do():
    """Arrays without elements go through."""
    for shape in ([0, 3], [2, 0]):
        module = ashlar.compile(unary("Neg", shape))
        assert module(np.empty(shape, np.float32)).shape == tuple(shape)


@pytest.mark.parametrize("size", [5, "n"])
@pytest.mark.parametrize("index, place", [(7, 4), (-9, 0), (-1, 4), (-5, 0)])
def test_indices_that_are_nowhere(size, index, place):
    """Of a dim, the nearest place: docs/numerics.md."""
    x = np.arange(5, dtype=np.float32)
    options = {} if size == 5 else {"dims": {"n": (4, 5)}}
    flat, deep = np.int64([index]), np.int64([[index]])
    for operator, at in (("Gather", flat), ("GatherElements", flat),
                         ("GatherND", deep)):
        module = ashlar.compile(model(
            [helper.make_node(operator, ["x", "i"], ["y"])],
            {"x": (TensorProto.FLOAT, [size]),
             "i": (TensorProto.INT64, at.shape)},
            {"y": (TensorProto.FLOAT, [1])}), **options)
        assert module(x, at) == [x[place]], operator
    for operator, at in (("ScatterElements", flat), ("ScatterND", deep)):
        module = ashlar.compile(model(
            [helper.make_node(operator, ["x", "i", "u"], ["y"])],
            {"x": (TensorProto.FLOAT, [size]),
             "i": (TensorProto.INT64, at.shape),
             "u": (TensorProto.FLOAT, [1])},
            {"y": (TensorProto.FLOAT, [size])}), **options)
        expected = x.copy()
        expected[place] = 100
        assert np.array_equal(module(x, at, np.float32([100])), expected), \
            operator


def test_bool_and_scalars():
    not_x = ashlar.compile(unary("Not", [3], TensorProto.BOOL))
    assert np.array_equal(not_x(np.array([True, False, True])),
                          [False, True, False])
    scalar = ashlar.compile(unary("Neg", []))
    assert scalar(np.float32(3).reshape(())) == -3
    assert scalar(np.float32(3)) == -3


def test_dlpack_of_others(negate, x):
    class Lender:
        def __dlpack__(self, **keywords):
            return x.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return x.__dlpack_device__()
    assert np.array_equal(negate(Lender()), -x)
    assert np.array_equal(negate(x.__dlpack__()), -x)


def test_torch(negate, x):
    torch = pytest.importorskip("torch")
    given = torch.from_numpy(x).clone()
    with negate.session() as session:
        y = torch.from_dlpack(session.run(given)["y"])
        assert torch.equal(y, -given)
        out = torch.empty(2, 3)
        assert session.run(given, out=out)["y"] is out
        assert torch.equal(out, -given)
        # Both were read and written where they are.
        assert session.statistics["staged_tensors"] == 0
    for wrong, words in (
            (given.double(), "float64"), (given.t().contiguous().t(), "rows"),
            (given.to("meta"), "meta"), (given.to_sparse(), "to_dense"),
            (torch._neg_view(given), "resolve_neg")):
        with pytest.raises(ashlar.InvalidArgument, match=words):
            negate(wrong)
    narrow = ashlar.compile(unary("Neg", [5], TensorProto.BFLOAT16))
    given, out = torch.arange(5).bfloat16(), torch.empty(5).bfloat16()
    narrow.session().run(given, out=out)
    assert torch.equal(out, -given)
    eight = model([helper.make_node("Cast", ["x"], ["y"], to=1)],
                  {"x": (TensorProto.FLOAT8E4M3FN, [3])},
                  {"y": (TensorProto.FLOAT, [3])})
    given = torch.tensor([1.0, -2.0, 0.5]).to(torch.float8_e4m3fn)
    assert np.array_equal(ashlar.compile(eight)(given), [1, -2, 0.5])


def test_jax(negate, x):
    jnp = pytest.importorskip("jax.numpy")
    array = jnp.asarray(x)
    assert np.array_equal(jnp.from_dlpack(negate(array)), -x)
    narrow = ashlar.compile(unary("Neg", [2, 3], TensorProto.BFLOAT16))
    assert np.array_equal(narrow(array.astype(jnp.bfloat16)), -x)
    with pytest.raises(ashlar.InvalidArgument, match="never change"):
        negate.session().run(x, out=array)


def test_bindings(negate, x):
    session = negate.session()
    array, out = ashlar.empty((2, 3)), ashlar.empty((2, 3))
    array[:] = x
    bound = session.bind({"x": array}, {"y": out})
    assert np.array_equal(bound.run()["y"], -x)
    array += 1
    assert bound.run()["y"] is out and np.array_equal(out, -x - 1)
    array += 1
    assert np.array_equal(bound.run_async().wait()["y"], -x - 2)
    del session
    gc.collect()
    assert np.array_equal(bound.run()["y"], -x - 2)


def test_awaiting(negate, x):
    async def many():
        sessions = [negate.session() for _ in range(4)]
        return await asyncio.gather(*(
            asyncio.ensure_future(_awaited(session.run_async(x + i)))
            for i, session in enumerate(sessions)))

    async def _awaited(run):
        return await run
    for i, results in enumerate(asyncio.run(many())):
        assert np.array_equal(results["y"], -x - i)


def test_cancelling_twice(slow):
    """As a time-out and who gives up may: the session is free afterwards."""
    x = np.zeros((1024, 1024), np.float32)
    faults = []

    async def go():
        asyncio.get_running_loop().set_exception_handler(
            lambda _, said: faults.append(said))
        with slow.session() as session:
            for pauses in range(5):
                async def wait():
                    return await session.run_async(x)
                task = asyncio.ensure_future(wait())
                await asyncio.sleep(0.005)
                for _ in range(3):
                    task.cancel()
                    for _ in range(pauses):
                        await asyncio.sleep(0)
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert (await session.run_async(x))["v12"].shape == x.shape
    asyncio.run(go())
    gc.collect()
    assert not faults


def test_cancelling(slow):
    v = np.ones((1024, 1024), np.float32)
    run = slow.session(threads=1).run_async(v)
    assert not run.done
    run.cancel()
    with pytest.raises(ashlar.Cancelled) as caught:
        run.wait()
    assert caught.value.code == ashlar.StatusCode.CANCELLED

    async def task():
        session = slow.session(threads=1)
        awaiting = asyncio.ensure_future(_wait_for(session.run_async(v)))
        await asyncio.sleep(0)
        awaiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await awaiting

    async def _wait_for(run):
        return await run
    asyncio.run(task())


def test_time_outs(slow):
    run = slow.session(threads=1).run_async(np.ones((1024, 1024), np.float32))
    with pytest.raises(TimeoutError):
        run.wait(0)
    assert run.wait(600)["v12"].shape == (1024, 1024)
    assert run.done and run.wait()["v12"].shape == (1024, 1024)


def test_a_run_that_nobody_waits_for(slow):
    """Its memory stays until it has ended."""
    for _ in range(3):
        slow.session(threads=1).run_async(np.ones((1024, 1024), np.float32))
    gc.collect()


def test_threads(negate, x):
    wrong = []

    def go(number):
        for i in range(200):
            if not np.array_equal(negate(x + number + i), -x - number - i):
                wrong.append((number, i))
    threads = [threading.Thread(target=go, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def longest_pause(call, attempts=20):
    """Of how much of a call no other thread of Python could do anything, in
    the best of some attempts; where the GIL is held, nearly all of it."""
    best = 1.0
    for _ in range(attempts):
        ticks, over, ready = [], threading.Event(), threading.Event()

        def tick():
            while not over.is_set():
                ticks.append(time.monotonic())
                ready.set()
                time.sleep(0.0002)
        thread = threading.Thread(target=tick)
        thread.start()
        ready.wait()
        begin = time.monotonic()
        call()
        end = time.monotonic()
        over.set()
        thread.join()
        inside = [begin, *(each for each in ticks if begin < each < end), end]
        pause = max(b - a for a, b in zip(inside, inside[1:]))
        best = min(best, pause / (end - begin))
        if best < 0.5:
            break
    return best


def test_other_threads_go_on(slow, tmp_path):
    """The GIL is held neither while a model runs, nor while one is compiled or
    loaded."""
    session = slow.session(threads=1)
    v = np.ones((1024, 1024), np.float32)
    bound = session.bind(v)
    # What would be said if it were held.
    assert longest_pause(lambda: ctypes.PyDLL(None).usleep(20000), 3) > 0.8
    for call in (lambda: session.run(v), bound.run,
                 lambda: session.run_async(v).wait(),
                 lambda: ashlar.compile(unary("Neg", [3]), progress_bar=False)):
        assert longest_pause(call) < 0.5
    weights = np.random.default_rng(0).random((4096, 4096), np.float32)
    path = tmp_path / "large.ash"
    ashlar.compile(model(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        {"x": (TensorProto.FLOAT, [1, 4096])},
        {"y": (TensorProto.FLOAT, [1, 4096])},
        [onnx.numpy_helper.from_array(weights, "w")]), path)
    assert longest_pause(lambda: ashlar.load(
        path, allow_native_code=True, verify_weights=True)) < 0.5


def test_budgets(negate, x):
    cost = negate.contract
    budget = ashlar.Budget("1MiB", "tenant")
    with negate.session(budget=budget, name="mine") as session:
        session.run(x)
        assert budget.current >= cost.arena_bytes and budget.limit == 1 << 20
        assert any(name == "mine" for name, kind, size in budget.holders) \
            or budget.current == 0
    assert budget.current == 0
    with pytest.raises(ashlar.OutOfBudget) as caught:
        ashlar.compile(unary("Neg", [2, 3]), budget=ashlar.Budget(1))
    assert isinstance(caught.value, MemoryError)


def test_traces(negate, x, tmp_path):
    path = tmp_path / "trace.json"
    with ashlar.Trace(path):
        negate(x)
    import json
    assert json.loads(path.read_text())["traceEvents"]


def test_devices():
    runtime = ashlar.default_runtime()
    assert "cpu:0" in runtime.device_names
    assert runtime.device("cpu").name == "cpu:0"
    with pytest.raises(ashlar.NotFound, match="cpu:0"):
        runtime.device("toaster")


@pytest.mark.parametrize("further", ["run", "start", "close"])
def test_waiting_late_gives_the_runs_own_sizes(nonzero, further):
    session = ashlar.Session(nonzero)
    x = np.eye(*nonzero.inputs[0].shape, dtype=nonzero.inputs[0].dtype)
    expected = np.array(np.nonzero(x))
    run = session.run_async(x)
    while not run.done:
        time.sleep(0.001)
    if further == "run":
        session.run(np.zeros_like(x))
    elif further == "start":
        session.run_async(np.zeros_like(x)).wait()
    else:
        session.close()
    found = run.wait()["y"]
    assert found.shape == expected.shape and np.array_equal(found, expected)


def test_asking_does_not_wait_for_who_waits(nonzero):
    session = ashlar.Session(nonzero)
    run = session.run_async(np.zeros(nonzero.inputs[0].shape,
                                     nonzero.inputs[0].dtype))
    waiters = [threading.Thread(target=run.wait) for _ in range(4)]
    for each in waiters:
        each.start()
    while not run.done:
        pass
    for each in waiters:
        each.join()
    assert run.wait()["y"].shape[1] == 0


def test_a_trace_stops_itself_alone(tmp_path):
    with ashlar.Trace(tmp_path / "first.json"):
        with pytest.raises(ashlar.InvalidArgument, match="was not"):
            ashlar.Trace(tmp_path / "second.json").stop()
    assert (tmp_path / "first.json").exists()
    with pytest.raises(ashlar.InvalidArgument, match="found a folder"):
        ashlar.Trace(tmp_path).start()


def test_states():
    """A cache grows in one array: what a run gives is passed to the next."""
    grow = model([helper.make_node("Concat", ["past", "new"], ["present"],
                                   axis=1),
                  helper.make_node("ReduceSum", ["present"], ["sum"],
                                   keepdims=0)],
                 {"past": (TensorProto.FLOAT, [2, "P", 4]),
                  "new": (TensorProto.FLOAT, [2, "T", 4])},
                 {"present": (TensorProto.FLOAT, [2, "L", 4]),
                  "sum": (TensorProto.FLOAT, [])})
    module = ashlar.compile(grow, dims={"P": (0, 9), "T": (1, 3)},
                            states={"past": "present"})
    random = np.random.default_rng(1)
    expected = past = np.zeros((2, 0, 4), np.float32)
    addresses = set()
    with module.session() as session:
        for steps in (2, 1, 3, 1):
            new = random.standard_normal((2, steps, 4)).astype(np.float32)
            expected = np.concatenate([expected, new], axis=1)
            made = session.run({"past": past, "new": new})
            past = made["present"]
            assert np.array_equal(past, expected)
            assert np.isclose(made["sum"], expected.sum(), rtol=1e-4)
            addresses.add(past.ctypes.data)
        assert len(addresses) == 1
        # An array of the caller's is copied; what was there stays.
        other = session.run({"past": past[:, :2].copy(), "new": new})
        assert other["present"].ctypes.data not in addresses
        assert np.array_equal(past, expected)
        with pytest.raises(ashlar.InvalidArgument, match="2xPx4"):
            session.run({"past": np.zeros((2, 40, 4), np.float32), "new": new})
    with pytest.raises(ashlar.InvalidArgument, match="name of an output"):
        ashlar.compile(grow, dims={"P": (0, 9), "T": (1, 3)},
                       states={"past": 1})
