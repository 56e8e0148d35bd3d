# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a module's index by its schema's text: FlatBuffers' generated code for
Python knows no lists of unions."""

import pathlib
import re
import struct

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCALARS = {"bool": "?", "byte": "b", "ubyte": "B", "short": "h", "ushort": "H",
           "int": "i", "uint": "I", "long": "q", "ulong": "Q", "float": "f",
           "double": "d"}


class Schema:
    def __init__(self, path=ROOT / "runtime/schema/module.fbs"):
        text = re.sub(r"//.*", "", path.read_text())
        self.tables, self.structs, self.enums, self.unions = {}, {}, {}, {}
        for kind, name, rest, body in re.findall(
                r"\b(table|struct|enum|union) (\w+)([^{]*)\{([^}]*)\}", text):
            if kind == "union":
                self.unions[name] = [None] + re.findall(r"\w+", body)
            elif kind == "enum":
                self.enums[name] = re.search(r"\w+", rest)[0]
            else:
                fields = []
                for field, type, default in re.findall(
                        r"(\w+)\s*:\s*(\[?\w+\]?)\s*(?:=\s*([^;]*))?;", body):
                    if type.strip("[]") in self.unions:
                        fields.append((field + "_type",
                                       type.replace(type.strip("[]"), "ubyte"),
                                       "0"))
                    fields.append((field, type, default.strip()))
                (self.tables if kind == "table" else self.structs)[name] = \
                    fields

    def scalar(self, type):
        return SCALARS.get(self.enums.get(type, type))


class Table:
    """Fields by name, read as they are asked for."""

    def __init__(self, schema, data, at, name):
        self._s, self._d, self._at, self._name = schema, data, at, name

    def __getattr__(self, field):
        fields = self._s.tables[self._name]
        index = next(i for i, one in enumerate(fields) if one[0] == field)
        _, type, default = fields[index]
        vtable = self._at - struct.unpack_from("<i", self._d, self._at)[0]
        size, = struct.unpack_from("<H", self._d, vtable)
        place = 4 + 2 * index
        offset = struct.unpack_from("<H", self._d, vtable + place)[0] \
            if place < size else 0
        if offset == 0:
            return self._default(type, default)
        return self._value(type, self._at + offset, field)

    def _default(self, type, default):
        if type.startswith("["):
            return []
        form = self._s.scalar(type)
        if form is None or default == "null":
            return None
        return int(default) if re.fullmatch(r"-?\d+", default or "") else 0

    def _value(self, type, at, field):
        form = self._s.scalar(type)
        if form:
            return struct.unpack_from("<" + form, self._d, at)[0]
        target = at + struct.unpack_from("<I", self._d, at)[0]
        if type == "string":
            size, = struct.unpack_from("<I", self._d, target)
            return self._d[target + 4:target + 4 + size].decode()
        if type.startswith("["):
            return self._list(type[1:-1], target, field)
        return Table(self._s, self._d, target, type)

    def _list(self, type, at, field):
        count, = struct.unpack_from("<I", self._d, at)
        form = self._s.scalar(type)
        if form:
            return list(struct.unpack_from(f"<{count}{form}", self._d, at + 4))
        if type == "SizeInstruction":
            return [struct.unpack_from("<B7xq", self._d, at + 4 + 16 * i)
                    for i in range(count)]
        if type in self._s.structs:
            raise NotImplementedError(f"list of {type}")
        if type in self._s.unions:
            kinds = getattr(self, field + "_type")
            names = self._s.unions[type]
            return [Table(self._s, self._d, self._follow(at + 4 + 4 * i),
                          names[kind]) for i, kind in enumerate(kinds)]
        return [self._value(type, at + 4 + 4 * i, field) for i in range(count)]

    def _follow(self, at):
        return at + struct.unpack_from("<I", self._d, at)[0]

    def kind(self):
        return self._name


class Module:
    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        # The header: module_format.h.
        begin, size = struct.unpack_from("<QQ", self.data, 16)
        index = self.data[begin:begin + size]
        root, = struct.unpack_from("<I", index, 0)
        self.index = Table(Schema(), index, root, "Module")

    def section(self, number):
        one = self.index.sections[number]
        return self.data[one.offset:one.offset + one.size]

    def program(self, target, preset):
        for one in self.index.programs:
            if (one.target, one.preset) == (target, preset):
                return one
        raise KeyError(f"the module has no program {target}:{preset}")
