# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One operator with random operands, and what it should give.

A case is a model of one node. Its expectation comes from ONNX Runtime or,
where that lacks the operator or deviates from its definition, from the
reference implementation of the onnx package.
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

IR_VERSION = 10


def element_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


class Case:
    def __init__(self, name, op, inputs, *, attributes=None, opset=17,
                 results=None, constants=(), reference="onnxruntime",
                 domain=""):
        """inputs: arrays, None for an absent one. results: their dtypes,
        None for an absent one, by default that of the first input.
        constants: which inputs are known at compile time."""
        self.name = name
        self.op = op
        self.inputs = [None if x is None else np.asarray(x) for x in inputs]
        self.attributes = attributes or {}
        self.opset = opset
        self.results = results or [self.inputs[0].dtype]
        self.constants = set(constants)
        self.reference = reference
        self.domain = domain

    def model(self):
        names, graph_inputs, initializers = [], [], []
        for i, value in enumerate(self.inputs):
            if value is None:
                names.append("")
                continue
            names.append(f"x{i}")
            tensor = numpy_helper.from_array(value, f"x{i}")
            if i in self.constants:
                initializers.append(tensor)
            else:
                graph_inputs.append(helper.make_tensor_value_info(
                    f"x{i}", tensor.data_type, value.shape))
        outputs = [helper.make_tensor_value_info(
            f"y{i}", element_type(dtype), None)
            for i, dtype in enumerate(self.results) if dtype]
        made = [dtype and f"y{i}" or "" for i, dtype in enumerate(
            self.results)]
        node = helper.make_node(self.op, names, made,
                                name=self.name, domain=self.domain,
                                **self.attributes)
        graph = helper.make_graph([node], self.name, graph_inputs, outputs,
                                  initializers)
        return helper.make_model(
            graph, ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", self.opset),
                           helper.make_opsetid("ai.onnx.ml", 3),
                           helper.make_opsetid("com.microsoft", 1)])

    def variable_inputs(self):
        return {f"x{i}": value for i, value in enumerate(self.inputs)
                if value is not None and i not in self.constants}

    def expected(self, model):
        if callable(self.reference):
            values = self.reference(*self.inputs)
            return values if isinstance(values, tuple) else (values,)
        if self.reference == "onnx":
            from onnx.reference import ReferenceEvaluator
            with np.errstate(all="ignore"):
                return ReferenceEvaluator(model).run(
                    None, self.variable_inputs())
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        # Without VNNI, sums of pairs of bytes saturate otherwise.
        options.add_session_config_entry("session.x64quantprecision", "1")
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options,
            providers=["CPUExecutionProvider"])
        return session.run(None, self.variable_inputs())

    def write(self, folder):
        """Lays the case out as ONNX's own tests are."""
        folder = pathlib.Path(folder) / self.name
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        model = self.model()
        results = self.expected(model)
        onnx.save(model, folder / "model.onnx")
        for kind, values in (("input", self.variable_inputs().values()),
                             ("output", results)):
            for i, value in enumerate(values):
                tensor = numpy_helper.from_array(np.asarray(value))
                (data / f"{kind}_{i}.pb").write_bytes(
                    tensor.SerializeToString())
        return folder


class Random:
    """Operands of the kinds that find mistakes."""

    # Odd sizes, one, none, no axis at all.
    shapes = [(3, 5, 7), (1,), (), (2, 0, 3), (4, 1, 17), (33,)]
    # Pairs that broadcast.
    pairs = [((3, 5, 7), (3, 5, 7)), ((3, 5, 7), (7,)), ((5, 1), (2, 1, 9)),
             ((), (4,)), ((1, 1), (1,)), ((0, 3), (1, 3)), ((2, 3), (0, 1, 1)),
             ((17,), ())]

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def floats(self, shape, dtype=np.float32, low=-3, high=3, special=False):
        values = self.generator.uniform(low, high, shape).astype(dtype)
        if special and values.size > 6:
            flat = values.reshape(-1)
            flat[:6] = [np.nan, np.inf, -np.inf, 0.0, -0.0,
                        np.finfo(np.float32).tiny]
        return values

    def integers(self, shape, dtype=np.int32, low=None, high=None):
        info = np.iinfo(dtype)
        low = info.min if low is None else low
        high = info.max if high is None else high
        return np.asarray(self.generator.integers(
            low, high, shape, endpoint=True, dtype=dtype))

    def booleans(self, shape):
        return np.asarray(self.generator.integers(0, 2, shape)).astype(bool)
