# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples run to their ends."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


def run(name, folder, *arguments):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], cwd=folder, text=True,
        env={**os.environ, "ASHLAR_CACHE": str(folder / "cache")},
        capture_output=True, timeout=900)
    if done.returncode and "SKIP: " in done.stderr:
        pytest.skip(done.stderr.split("SKIP: ", 1)[1].strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_budgeted_server(tmp_path):
    said = run("budgeted_server.py", tmp_path, "--requests=50")
    assert "50 answers" in said and "one too many" in said


def test_precision_by_measurement(tmp_path):
    said = run("precision_by_measurement.py", tmp_path, "--tolerance=2e-2")
    assert "bf16: off by" in said and "auto, 0.02: off by" in said


def test_memory_maps(tmp_path):
    run("memory_maps.py", tmp_path)
    assert "<svg" in (tmp_path / "memory-maps/memory.svg").read_text()
    assert (tmp_path / "memory-maps/graph.html").stat().st_size > 1000


def left_out(said):
    """Skips a test whose one half could not run, with what it said."""
    lines = [line for line in said.splitlines() if "is left out" in line]
    if lines:
        pytest.skip("; ".join(lines))


@pytest.mark.parametrize("name", ["from_pytorch.py", "from_jax.py"])
def test_other_frameworks(tmp_path, name):
    """Where they are installed: numbers equal to theirs, by both exports."""
    said = run(name, tmp_path)
    for way, times in (("ONNX", 3), ("linalg", 1)):
        assert said.count(f"{way}: (") == times \
            or f"{way} is left out" in said, said
    left_out(said)
    assert said.count("off by") == 4


def test_text_recognition(tmp_path):
    """Where the package is there with what it needs, texts are equal."""
    for name in ("rapidocr_onnxruntime", "cv2", "skimage"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"rapidocr-onnxruntime reads pictures of scikit-image "
                        f"here, with opencv; {name} is not installed")
    data = pathlib.Path(importlib.util.find_spec(
        "skimage").submodule_search_locations[0]) / "data"
    said = run("text_recognition.py", tmp_path, data / "page.png",
               data / "text.png", f"--boxes={tmp_path / 'boxes'}")
    assert "DIFFERENT" not in said and "background" in said
    assert (tmp_path / "boxes/page-boxes.png").exists()
