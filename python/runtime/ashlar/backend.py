# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX's backend interface: prepare, run_model, run_node, supports_device. Needs
the package `onnx`.

    import ashlar.backend
    outputs = ashlar.backend.run_model(onnx.load("model.onnx"), [x])

A model with open sizes is compiled when its inputs come.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from onnx import ModelProto
from onnx.backend.base import Backend, BackendRep, Device, DeviceType

from . import _copies
from ._cache import Cache
from ._errors import InvalidArgument, Unsupported, quoted
from ._given import as_elements, to_array
from ._sizes import whole_number
from ._specialize import Specialized


class AshlarRep(BackendRep):
    """A model that was prepared; run() takes its inputs in their order."""

    def __init__(self, model: Any, **options: Any):
        options.setdefault("remarks", False)
        cache = Cache(options.pop("cache_dir", None))
        self._model = Specialized(model, cache, options)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[np.ndarray, ...]:
        """The outputs in their order."""
        described = self._model.description
        for port in (*described.inputs, *described.outputs):
            if not port.is_tensor:
                raise Unsupported("expected tensors, found a sequence, an "
                                  "optional or a map", port.name)
        names = [each.name for each in described.inputs]
        if isinstance(inputs, dict):
            feed = inputs
        else:
            if not isinstance(inputs, (tuple, list)):
                inputs = [inputs]
            if len(inputs) > len(names):
                raise InvalidArgument(f"expected {len(names)} inputs, found "
                                      f"{len(inputs)}", "inputs")
            feed = dict(zip(names, inputs))
        results = self._model.run(feed, 0)
        return tuple(results[each.name] for each in described.outputs)

    __reduce_ex__ = _copies.refuse


class AshlarBackend(Backend):
    """The class that onnx.backend.test asks for."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU",
                      **kwargs: Any) -> bool:
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU",
                **kwargs: Any) -> AshlarRep:
        """model: a ModelProto, or what else ashlar.compile takes; keywords: its
        own, and cache_dir. Raises InvalidArgument for another device."""
        if not cls.supports_device(device):
            raise InvalidArgument(f"expected 'CPU', found {quoted(device)}",
                                  "device")
        return AshlarRep(model, **kwargs)

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = "CPU",
                  **kwargs: Any) -> tuple[np.ndarray, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: Any, inputs: Any, device: str = "CPU",
                 outputs_info: Any = None,
                 **kwargs: Any) -> tuple[np.ndarray, ...]:
        """One node, of the newest opset unless opset_version says another;
        outputs_info: (dtype, shape) of each output, which ONNX infers where it
        is left out. Raises Unsupported where the opset has no such operator,
        InvalidArgument where ONNX finds the node wrong."""
        from onnx import NodeProto, checker, helper, shape_inference
        if not isinstance(node, NodeProto):
            raise InvalidArgument("expected an onnx.NodeProto, found "
                                  f"{type(node).__name__}", "node")
        version = kwargs.pop("opset_version", None)
        version = _opset_of(node, outputs_info) if version is None \
            else whole_number(version, "opset_version", 1)
        names = [name for name in node.input if name]
        given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        if len(names) != len(given):  # a name that is there twice is one input
            names = list(dict.fromkeys(names))
        if len(names) != len(given):
            raise InvalidArgument(f"expected {len(names)} inputs, found "
                                  f"{len(given)}", "inputs")
        arrays = {name: as_elements(to_array(array, name), name, "expected an "
                                    "array, found what gives NumPy no memory")
                  for name, array in zip(names, given)}
        graph = helper.make_graph(
            [node], node.op_type or "node",
            [helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
             for name, array in arrays.items()],
            [helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(np.dtype(info[0])),
                info[1])
             for name, info in zip(node.output, outputs_info or ())])
        if not outputs_info:
            graph.output.extend(helper.make_empty_tensor_value_info(name)
                                for name in node.output if name)
        model = helper.make_model(graph, opset_imports=[
            helper.make_opsetid(node.domain, version)])
        try:
            if not outputs_info:
                model = shape_inference.infer_shapes(model, strict_mode=True,
                                                     data_prop=True)
        except (shape_inference.InferenceError, checker.ValidationError,
                ValueError) as error:
            raise InvalidArgument(str(error), node.op_type) from None
        return cls.run_model(model, list(arrays.values()), device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        try:
            return Device(device).type == DeviceType.CPU
        except (AttributeError, TypeError, ValueError, KeyError):
            return False


def _opset_of(node: Any, outputs_info: Any) -> int:
    """The newest opset of the node's domain. ONNX must know the operator where
    its outputs are not described."""
    from onnx import defs
    domain = "" if node.domain == "ai.onnx" else node.domain
    known = [schema for schema in defs.get_all_schemas_with_history()
             if schema.domain == domain]
    if not outputs_info and not any(
            schema.name == node.op_type for schema in known):
        raise Unsupported(
            "expected an operator that ONNX knows, or outputs_info, found "
            f"{node.op_type!r} of {domain or 'ai.onnx'}; "
            "ashlar.list_operators() has those that can be compiled",
            node.name or node.op_type)
    return max((schema.since_version for schema in known), default=1)


prepare = AshlarBackend.prepare
run_model = AshlarBackend.run_model
run_node = AshlarBackend.run_node
supports_device = AshlarBackend.supports_device
is_compatible = AshlarBackend.is_compatible

__all__: Sequence[str] = ["AshlarBackend", "AshlarRep", "is_compatible",
                          "prepare", "run_model", "run_node", "supports_device"]
