#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes Signatures.def from the definitions in the onnx package.

Run it with a newer onnx package when newer operator sets are to be read:
make_signatures.py > Signatures.def
"""

import onnx
from onnx import defs
from onnx.defs import OpSchema

OLDEST_OPSET = 7
# Operators that are read in their older forms as well.
OLDER = {"Add", "AveragePool", "BatchNormalization", "Div", "Gemm", "Mul",
         "PRelu", "Pow", "Sub"}
# Bit of a type: its number in TensorProto.DataType; what is no tensor is 63.
OTHER = 63


def type_bit(name):
    if not name.startswith("tensor("):
        return OTHER
    number = onnx.TensorProto.DataType.Value(name[7:-1].upper())
    assert number < OTHER
    return number


def mask(names):
    bits = 0
    for name in names:
        bits |= 1 << type_bit(name)
    return bits


def versions():
    """Definitions that hold at some opset since the oldest, in order."""
    by_name = {}
    for schema in defs.get_all_schemas_with_history():
        # Deprecated at birth, because 21 means something else: models of
        # opsets 18 to 20 have it all the same.
        kept = (schema.name, schema.since_version) == ("GroupNormalization", 18)
        if schema.domain == "" and (kept or not schema.deprecated):
            by_name.setdefault(schema.name, []).append(schema)
    for name, schemas in sorted(by_name.items()):
        schemas.sort(key=lambda schema: schema.since_version)
        old = [s for s in schemas if s.since_version <= OLDEST_OPSET]
        yield from old if name in OLDER else old[-1:]
        yield from (s for s in schemas if s.since_version > OLDEST_OPSET)


def main():
    print("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
          f"// Written by make_signatures.py from onnx {onnx.__version__}; "
          "see Signatures.h.")
    for schema in versions():
        variables = {}
        constraints = {c.type_param_str: mask(c.allowed_type_strs)
                       for c in schema.type_constraints}
        inputs = []
        for formal in schema.inputs:
            name = formal.type_str
            if name not in constraints:
                constraints[name] = mask(formal.types)
                name = name.replace("tensor(", "").replace(")", "")
                variables[name] = mask(formal.types)
            else:
                variables[name] = constraints[name]
            suffix = ""
            # Exporters leave out what Resize-11 calls required.
            left_out = schema.name == "Resize" and formal.name != "X"
            if (formal.option == OpSchema.FormalParameterOption.Optional
                    or left_out):
                suffix = "?"
            elif formal.option == OpSchema.FormalParameterOption.Variadic:
                suffix = "*" if formal.is_homogeneous else "+"
            inputs.append(name + suffix)
        types = " ".join(f"{n}={m:x}" for n, m in sorted(variables.items()))
        most = schema.max_output
        least = sum(i[-1] not in "?*+" for i in inputs) if "Resize" == \
            schema.name else schema.min_input
        print(f'{{"{schema.name}", {schema.since_version}, {least}, '
              f'"{" ".join(inputs)}", {schema.min_output}, '
              f'{min(most, 1 << 20)}, "{types}"}},')


if __name__ == "__main__":
    main()
