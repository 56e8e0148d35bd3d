# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the system lacks or holds instead: no folder to be in, no descriptors
left, devices and pipes for files. Each is an Error and nothing else."""

import os
import subprocess
import sys
import textwrap

import pytest

import ashlar
from conftest import DIGITS, unary


def run(code, *arguments, **options):
    """A program that prints what it ends with; its standard error is empty."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", ["device", "FIFO", "folder"])
def test_what_is_no_file(tmp_path, kind):
    """Refused at once: a FIFO would be waited for, a device has no end."""
    path = {"device": "/dev/zero", "FIFO": str(tmp_path / "fifo"),
            "folder": str(tmp_path)}[kind]
    if kind == "FIFO":
        os.mkfifo(path)
    for call in (ashlar.compile, ashlar.load,
                 lambda path: ashlar.InferenceSession(path, cache_dir=None)):
        with pytest.raises(ashlar.InvalidArgument,
                           match=f"expected a regular file, found a {kind}") \
                as caught:
            call(path)
        assert caught.value.place == path
    with pytest.raises(ashlar.InvalidArgument, match="tuning"):
        ashlar.InferenceSession(unary("Neg", [2, 3]), cache_dir=tmp_path / "c",
                                tuning=path)


def test_no_current_folder(tmp_path):
    (tmp_path / "gone").mkdir()
    said = run("""
        import os, sys
        import numpy as np  # which cannot be imported from nowhere
        import ashlar
        os.chdir(sys.argv[2])
        os.rmdir(sys.argv[2])
        for call in (lambda: ashlar.compile("m.onnx"),
                     lambda: ashlar.InferenceSession("m.onnx"),
                     lambda: ashlar.compile(sys.argv[1], "m.ash"),
                     lambda: ashlar.load("m.ash"),
                     lambda: ashlar.compile_object(
                         sys.argv[1], "m.o", target="systolic:gemmini")):
            try:
                call()
            except ashlar.NotFound as error:
                print(error.place)
        module = ashlar.compile(sys.argv[1], shapes={"image": (1, 1, 8, 8)})
        print(module(np.zeros((1, 1, 8, 8), np.float32)).shape)
        """, DIGITS, tmp_path / "gone")
    assert said.splitlines() == ["m.onnx", "m.onnx", "m.ash", "m.ash", "m.o",
                                 "(1, 10)"]


def test_no_descriptors(tmp_path):
    """Whatever cannot be opened: short of files is Internal."""
    file = tmp_path / "m.ash"
    ashlar.compile(DIGITS, file, shapes={"image": (1, 1, 8, 8)})
    said = run("""
        import os, resource, sys
        import ashlar
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        held = [ashlar.load(sys.argv[2], allow_native_code=True)]
        calls = {
            "load": lambda: ashlar.load(sys.argv[2], allow_native_code=True),
            "compile": lambda: ashlar.compile(
                sys.argv[1], shapes={"image": (1, 1, 8, 8)}),
            "kernels": lambda: ashlar.load(sys.argv[2],
                                           allow_native_code=True).kernels(),
            "lower": lambda: ashlar.lower(sys.argv[1], "import"),
            "session": lambda: ashlar.InferenceSession(sys.argv[1]),
            "save": lambda: held[0].save(sys.argv[2] + "2")}
        for call in calls.values():  # import all that they need
            try:
                call()
            except ashlar.Error:
                pass
        taken = max(map(int, os.listdir("/proc/self/fd")))  # of listdir itself
        for more in range(12):
            resource.setrlimit(resource.RLIMIT_NOFILE, (taken + more, most))
            for name, call in calls.items():
                try:
                    call()
                except ashlar.Internal as error:
                    if "Too many open files" in str(error):
                        print(name)
                except ashlar.InvalidArgument as error:
                    # Of a model with open sizes, which it was read to know.
                    assert name == "lower" and error.place == "image", error
        """, DIGITS, file, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert set(said.split()) == {"load", "compile", "kernels", "lower",
                                 "session", "save"}


def test_closed_standard_files():
    """As daemons have them; what is opened then takes their numbers."""
    run("""
        import os, sys
        import ashlar
        for number in (0, 1, 2):
            os.close(number)
        sys.stdout = sys.stderr = None
        module = ashlar.compile(sys.argv[1], shapes={"image": (1, 1, 8, 8)})
        assert module.kernels() and "<svg" in module.memory_map()
        """, DIGITS)


def test_children_that_nobody_waits_for():
    """Where the system does not say how they ended, that is said."""
    said = run("""
        import signal, sys
        import ashlar
        module = ashlar.compile(sys.argv[1], shapes={"image": (1, 1, 8, 8)})
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for call in (lambda: ashlar.compile(b"hello"),
                     lambda: ashlar.lower(b"hello", "fuse"),
                     ashlar.list_targets, module.kernels):
            try:
                call()
            except ashlar.InvalidArgument as error:
                print(error.hint)
        """, DIGITS)
    assert said.count("signal.signal(signal.SIGCHLD, signal.SIG_DFL)") == 4


def test_a_limit_of_file_sizes(tmp_path):
    """What the programs of ours end by has a name, and is not our fault."""
    said = run("""
        import resource, sys
        import ashlar
        module = ashlar.compile(sys.argv[1], shapes={"image": (1, 1, 8, 8)})
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        for call in (lambda: ashlar.compile(sys.argv[1],
                                            shapes={"image": (1, 1, 8, 8)}),
                     module.memory_map, lambda: module.save("m.ash"),
                     lambda: ashlar.load(bytes(5000))):
            try:
                call()
            except ashlar.Internal as error:
                print(error)
        """, DIGITS, cwd=tmp_path)
    assert said.count("SIGXFSZ") == 2 and said.count("ulimit -f") == 2
    assert said.count("File too large") == 2
    assert not list(tmp_path.iterdir())


def test_models_that_cannot_be_serialized(tmp_path):
    """As protobuf says of 2 GiB and more, in a class of its own."""
    class Large:
        def SerializeToString(self):
            raise ValueError("Message onnx.ModelProto exceeds maximum size")

    class Wrong:
        def SerializeToString(self):
            return 3

    for make in (ashlar.compile,
                 lambda made: ashlar.InferenceSession(made, cache_dir=tmp_path)):
        with pytest.raises(ashlar.InvalidArgument,
                           match="save_as_external_data=True"):
            make(Large())
        with pytest.raises(ashlar.InvalidArgument, match="found Wrong"):
            make(Wrong())
