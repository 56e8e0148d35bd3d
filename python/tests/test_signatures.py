# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runtimes that load only what somebody they trust has signed."""

import base64
import json
import pathlib
import subprocess

import ashlar
import numpy as np
import pytest
from ashlar._compiler import compiler_program

# RFC 8032, section 7.1: the keys of tests 1 and 2.
PRIVATE = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g"
PUBLIC = ["MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
          "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="]
RAW = [base64.b64decode(text)[12:] for text in PUBLIC]
MODEL = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


def pem(kind, text):
    return f"-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signed")
    (folder / "model.mlir").write_text(MODEL)
    (folder / "key.pem").write_text(pem("PRIVATE KEY", PRIVATE))
    for i, text in enumerate(PUBLIC):
        (folder / f"{i}.pub").write_text(pem("PUBLIC KEY", text))
    for name, flags in (("signed.ash", ["--sign-key=key.pem"]),
                        ("plain.ash", [])):
        subprocess.run(["ashlar-compile", "model.mlir", "-o", name, "--quiet",
                        *flags], executable=compiler_program(), cwd=folder,
                       check=True)
    return folder


def test_what_is_trusted_loads_and_runs(files):
    for keys in ([RAW[0]], [files / "0.pub"], [str(files / "1.pub"), RAW[0]],
                 (bytearray(RAW[0]),), []):
        runtime = ashlar.Runtime(signature_keys=keys)
        module = ashlar.load(files / "signed.ash", runtime=runtime,
                             allow_native_code=True)
        x = np.arange(4, dtype=np.float32)
        assert np.array_equal(module(x), x + x)


def test_compile_signs_and_traces(files, tmp_path):
    ashlar.compile(files / "model.mlir", output=tmp_path / "made.ash",
                   sign_key=files / "key.pem", trace=tmp_path / "trace.json")
    trusting = ashlar.Runtime(signature_keys=[RAW[0]])
    module = ashlar.load(tmp_path / "made.ash", runtime=trusting,
                         allow_native_code=True)
    x = np.arange(4, dtype=np.float32)
    assert np.array_equal(module(x), x + x)
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    with pytest.raises(ashlar.InvalidArgument):
        ashlar.compile(files / "model.mlir", sign_key=files / "0.pub")


def test_what_is_not_is_refused(files):
    trusting = ashlar.Runtime(signature_keys=[RAW[0]])
    with pytest.raises(ashlar.Unsupported, match="not signed"):
        ashlar.load(files / "plain.ash", runtime=trusting)
    other = ashlar.Runtime(signature_keys=[files / "1.pub"])
    with pytest.raises(ashlar.Unsupported, match="d75a980182b10ab7"):
        ashlar.load(files / "signed.ash", runtime=other)
    content = bytearray((files / "signed.ash").read_bytes())
    content[4096] ^= 1
    (files / "bad.ash").write_bytes(content)
    with pytest.raises(ashlar.Corrupt, match="altered after it was signed"):
        ashlar.load(files / "bad.ash", runtime=trusting)


@pytest.mark.parametrize("keys", [
    "0.pub", RAW[0], 3, None, [3], [RAW[0][1:]], [RAW[0] + b"x"], [None],
    ["gone.pub"], [pathlib.Path("gone.pub")], ["nul\0.pub"]])
def test_keys_that_are_none(keys):
    with pytest.raises(ashlar.InvalidArgument) as caught:
        ashlar.Runtime(signature_keys=keys)
    assert caught.value.place == "signature_keys"


def test_files_that_are_no_keys(files, tmp_path):
    for name, text in (("empty", ""), ("private", pem("PRIVATE KEY", PRIVATE)),
                       ("short", pem("PUBLIC KEY", PUBLIC[0][:40])),
                       ("long", pem("PUBLIC KEY", PUBLIC[0]) + "x" * 5000)):
        (tmp_path / name).write_text(text)
        with pytest.raises(ashlar.InvalidArgument, match="-pubout"):
            ashlar.Runtime(signature_keys=[tmp_path / name])
