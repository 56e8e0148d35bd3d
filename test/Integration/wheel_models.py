# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real models out of Python packages, by many exporters: with conditions,
loops and recurrent layers, sizes that depend on data, 8-bit arithmetic."""

import numpy as np

import model_inputs
from model_case import MODELS, Case, Model, fetched


def wheel_model(name, feeds, shapes=None, small=True, tolerance=1e-4):
    """One of fetch_models.WHEELS; `feeds`: label -> function of the inputs."""
    path = MODELS / f"{name}.onnx"
    return Model(
        name, lambda work: fetched(path, work),
        lambda _: [Case(label, make(), tolerance=tolerance)
                   for label, make in feeds.items()],
        shapes or {}, small)


def voices():
    """Conditions on the sampling rate, on what a network finds; LSTMs."""
    speech, state = model_inputs.speech, model_inputs.state
    rate = np.array(16000, np.int64)
    features = lambda label: state(label, 1, 16, 96) * 3  # noqa: E731
    return [
        wheel_model("silero_vad", {"speech": lambda: {
            "input": speech("vad", 576)[None], "sr": rate,
            "state": state("vad", 2, 1, 128)}},
            {"input": (1, 576), "state": (2, 1, 128)}),
        wheel_model("silero_vad_half", {"speech": lambda: {
            "input": speech("half", 576)[None],
            "state": state("half", 2, 1, 128)}},
            {"input": (1, 576), "state": (2, 1, 128)}),
        # Both of its branches have networks for these shapes.
        wheel_model("silero_vad_v3", {
            f"{hertz} Hz": lambda hertz=hertz: {
                "input": speech(f"v3 {hertz}", 1536)[None],
                "sr": np.array(hertz, np.int64),
                "h": state("h", 2, 1, 64), "c": state("c", 2, 1, 64)}
            for hertz in (16000, 8000)},
            {"input": (1, 1536), "h": (2, 1, 64), "c": (2, 1, 64)}),
        wheel_model("silero_vad_v6", {"speech": lambda: {
            "input": speech("v6", 8 * 576).reshape(8, 576),
            "h": state("h6", 1, 1, 128), "c": state("c6", 1, 1, 128)}},
            {"input": (8, 576)}),
        wheel_model("hey_jarvis", {
            f"features {k}": lambda k=k: {"x.1": features(f"jarvis {k}")}
            for k in (2, 3, 9, 11)}),  # two take each branch
        wheel_model("speech_mel", {"speech": lambda: {
            "input": 1000 * speech("mel", 12400)[None]}},
            {"input": (1, 12400)}),
        wheel_model("speech_embedding", {"features": lambda: {
            "input_1": state("embedding", 1, 76, 32, 1) * 3}},
            {"input_1": (1, 76, 32, 1)}),
        wheel_model("basic_pitch", {"speech": lambda: {
            "serving_default_input_2:0":
                speech("pitch", 43844).reshape(1, 43844, 1)}},
            {"serving_default_input_2:0": (1, 43844, 1)}, small=False),
    ]


def signals():
    """What comes before a recogniser, and networks on other signals."""
    speech, state = model_inputs.speech, model_inputs.state
    heard = lambda label, count: {  # noqa: E731
        "waveforms": speech(label, count)[None],
        "waveforms_lens": np.array([count * 7 // 8], np.int64)}
    return [
        *(wheel_model(name, {"speech": lambda name=name: heard(name, 8000)},
                      {"waveforms": (1, 8000), "waveforms_lens": (1,)})
          for name in ("audio_resample", "audio_kaldi", "audio_nemo",
                       "audio_speaker")),
        wheel_model("pitch", {"speech": lambda: {
            "audio": speech("swift", 8000)[None],
            "fmin": np.array(60, np.float32),
            "fmax": np.array(1000, np.float32)}},
            {"audio": (1, 8000)}),
        wheel_model("sleep_spindles", {"random": lambda: {
            "raw_signal": 2 * state("spindles", 1, 1, 7500),
            "spectrogram": 2 * state("bands", 1, 15, 7500)}},
            {"raw_signal": (1, 1, 7500), "spectrogram": (1, 15, 7500)},
            small=False),
        wheel_model("seizures", {"random": lambda: {
            "x": state("seizures", 1, 100, 40) * 3}},
            {"x": (1, 100, 40)}),
        # 78 of its tensors are of bytes. ONNX Runtime's sums of f32 make one of
        # the seventh's 153,600 another byte (-41.499999 steps are -41.5), which
        # layers behind it amplify; a step of the last, 0.0394 in front of a
        # sigmoid, is 7.4e-4 of the result.
        wheel_model("turn_end", {"random": lambda: {
            "input_features": state("turn", 1, 80, 800)}},
            {"input_features": (1, 80, 800)}, small=False, tolerance=1e-3),
    ]


def pictures():
    noise = model_inputs.noise_picture
    return [
        wheel_model("captcha", {"letters": lambda: {
            "input1": noise("captcha", (1, 1, 64, 160))}},
            {"input1": (1, 1, 64, 160)}, small=False),
        wheel_model("captcha_det", {"picture": lambda: {
            "images": noise("captcha_det", (1, 3, 416, 416))}}, small=False),
        wheel_model("captcha_crnn", {"letters": lambda: {
            "image": noise("crnn", (1, 3, 60, 160))}},
            {"image": (1, 3, 60, 160)}, small=False),
        wheel_model("bodies", {"picture": lambda: {
            "images": noise("bodies", (1, 3, 320, 320))}},
            {"images": (1, 3, 320, 320)}, small=False),
        wheel_model("orientation", {"page": lambda: {
            "x": noise("orientation", (1, 3, 224, 224))}},
            {"x": (1, 3, 224, 224)}),
        wheel_model("watermark_hide", {"picture": lambda: {
            "frame": noise("hide", (1, 3, 64, 96))[:, :, None] / 2,
            "data": (model_inputs.state("bits", 1, 32) > 0).astype(
                np.float32)}},
            {"frame": (1, 3, 1, 64, 96), "data": (1, 32)}),
        wheel_model("watermark_read", {"picture": lambda: {
            "frame": noise("read", (1, 3, 64, 96))[:, :, None] / 2}},
            {"frame": (1, 3, 1, 64, 96)}),
    ]


def texts():
    state = model_inputs.state
    numbers = lambda label, high, *shape: (  # noqa: E731
        model_inputs.generator(label).integers(0, high, shape))
    heard = (1, 9)  # letters of a name
    return [
        wheel_model("magika", {"bytes": lambda: {
            "bytes": model_inputs.generator("magika").integers(
                0, 257, (1, 2048)).astype(np.int32)}},
            {"bytes": (1, 2048)}),
        wheel_model("thai_words", {"letters": lambda: {
            "input": numbers("thai", 60, 1, 50)}}, {"input": (1, 50)}),
        wheel_model("thai_words_lstm", {"letters": lambda: {
            f"input{k}": numbers(f"thai {k}", 12, 4, 21).astype(np.float32)
            for k in (1, 2, 3)}}, {f"input{k}": (4, 21) for k in (1, 2, 3)},
            small=False),
        wheel_model("names_encode", {"letters": lambda: {
            "src": numbers("names", 40, *heard),
            "src_mask": np.arange(9)[None] < 7}},
            {"src": heard, "src_mask": heard}),
        wheel_model("names_decode", {"letters": lambda: {
            "prefix": numbers("prefix", 40, 1, 4),
            "memory": state("memory", *heard, 256),
            "src_mask": np.arange(9)[None] < 7,
            "hidden": state("hidden", 1, 2, 256)}},
            {"prefix": (1, 4), "memory": (*heard, 256), "src_mask": heard,
             "hidden": (1, 2, 256)}),
        wheel_model("chinese_words", {"letters": lambda: {
            "token_ids": numbers("chinese", 20000, 2, 12),
            "length": np.array([12, 8], np.int64)}},
            {"token_ids": (2, 12), "length": (2,)}, small=False),
        wheel_model("secrets", {"lines": secret_lines},
                    {"feature_input": (3, 529),
                     **{f"{kind}_input": (3, 12, 101)
                        for kind in ("line", "value", "variable")}},
                    small=False),
        *(wheel_model(name, {"graph": make},
                      {key: values.shape for key, values in make().items()},
                      small=False)
          for name, make in (("protein_shifts", protein),
                             ("molecules", molecules))),
    ]


def secret_lines():
    """Letters as one-hot vectors, and flags."""
    random = model_inputs.generator("secrets")
    feeds = {"feature_input": (random.random((3, 529)) < 0.1).astype(
        np.float32)}
    for kind in ("line", "value", "variable"):
        letters = random.integers(0, 101, (3, 12))
        feeds[f"{kind}_input"] = np.eye(101, dtype=np.float32)[letters]
    return feeds


def protein(atoms=40, edges=120, residues=6):
    """A random graph of atoms with what the network is told of them."""
    random = model_inputs.generator("protein")
    real = lambda *shape: random.standard_normal(shape).astype(  # noqa: E731
        np.float32)
    number = lambda high, *shape: random.integers(0, high, shape)  # noqa: E731
    normal = real(atoms, 3)
    return {
        "element": number(4, atoms), "amino_acid": number(20, atoms),
        "atom_role": number(4, atoms), "bfactor": real(atoms),
        "edge_index": number(atoms, 2, edges),
        "edge_dist": 1 + 4 * random.random(edges).astype(np.float32),
        "seq_sep": number(4, edges),
        "same_residue": number(2, edges).astype(np.float32),
        "target_indices": number(atoms, residues, 6),
        "target_mask": np.ones((residues, 6), bool),  # others become NaN
        "residue_types": number(20, residues),
        "residue_geometry": real(residues, 52),
        "target_environment": real(residues, 6, 15),
        "temperature_feature": real(residues, 1),
        "target_atom_rsasa": random.random((residues, 6)).astype(np.float32),
        "pos": 5 * real(atoms, 3),
        "node_normal": normal / np.linalg.norm(normal, axis=1, keepdims=True),
        "is_hbond": number(2, edges).astype(np.float32),
        "hb_cos": random.random(edges).astype(np.float32),
    }


def molecules(atoms=9, bonds=14, count=2):
    random = model_inputs.generator("molecules")
    real = lambda *shape: random.random(shape).astype(  # noqa: E731
        np.float32)
    return {
        "feat": real(atoms, 85), "edge_feat": real(bonds, 13),
        "edge_index": random.integers(0, atoms, (2, bonds)),
        "laplacian_eigvec": real(atoms, 8), "laplacian_eigval": real(atoms, 8),
        "rw_return_probs": real(atoms, 16),
        "batch": np.sort(random.integers(0, count, atoms)),
        "graph_slots": real(count),
    }


def all_models():
    return [*voices(), *signals(), *pictures(), *texts()]
