# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A sample of leaks.py, which looks for what grows, and whether it would see
it."""

import ctypes
import os
import subprocess
import sys
import tempfile

import pytest

import leaks

# It looks at what malloc and Python lent, and neither does then.
if "asan" in os.environ.get("LD_PRELOAD", ""):
    pytest.skip("memory is the sanitizer's", allow_module_level=True)

TIMES = {"load": 400, "refused load": 400, "compile": 30}


@pytest.fixture(scope="module")
def steps():
    with tempfile.TemporaryDirectory() as folder:
        yield leaks.steps(folder)


@pytest.mark.parametrize("name", [
    "run", "run_async", "bind", "call", "refused run", "load", "refused load",
    "compile"])
def test_nothing_grows(steps, name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # What begins in the first rounds of a process is no leak.
    leaks.watch(name, 20, steps[name], tmp_path)
    capsys.readouterr()
    assert leaks.watch(name, TIMES.get(name, 4000), steps[name], tmp_path), \
        capsys.readouterr().out
    assert set(steps) == {"run", "run_async", "bind", "call", "refused run",
                          "load", "refused load", "compile"}


def leak_memory(_):
    ctypes.pythonapi.PyMem_RawMalloc(ctypes.c_size_t(100))


def leak_object(_, kept=[]):  # noqa: B006
    kept.append(object())


def leak_file(_):
    os.open("/dev/null", os.O_RDONLY)


def leak_temporary(folder):
    tempfile.mkdtemp(dir=folder)


def leak_child(_, kept=[]):  # noqa: B006
    kept.append(subprocess.Popen([sys.executable, "-c", "0"]))


@pytest.mark.parametrize("times, step", [
    (4000, leak_memory), (2000, leak_object), (20, leak_file),
    (20, leak_temporary), (4, leak_child)])
def test_what_grows_is_seen(tmp_path, times, step, capsys):
    """Where this fails, the other test means nothing."""
    before = set(os.listdir("/proc/self/fd"))
    assert not leaks.watch("leak", times, lambda: step(tmp_path), tmp_path)
    assert capsys.readouterr().out.startswith("LEAK leak:")
    for descriptor in set(os.listdir("/proc/self/fd")) - before:
        if os.path.exists(f"/proc/self/fd/{descriptor}"):
            os.close(int(descriptor))
    for child in (leak_child.__defaults__ or ([],))[0]:
        child.wait()
