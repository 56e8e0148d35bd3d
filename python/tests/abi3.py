#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the binding asks of Python only what its file name promises: the
stable ABI of the first Python that the wheel is for.

  abi3.py WHEEL        of ashlar_runtime
"""

import io
import re
import sys
import zipfile

from abi3info import DATAS, FUNCTIONS
from abi3info.models import PyVersion, Symbol
from elftools.elf.elffile import ELFFile


def wanted(wheel):
    """(the extension's name, the symbols of Python that it asks for)"""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".abi3." in name]
        if len(names) != 1:
            sys.exit(f"{wheel}: expected one extension of the stable ABI, "
                     f"found {names}")
        symbols = ELFFile(io.BytesIO(archive.read(names[0]))) \
            .get_section_by_name(".dynsym").iter_symbols()
        return names[0], sorted(
            each.name for each in symbols
            if each["st_shndx"] == "SHN_UNDEF"
            and re.match(r"_?Py", each.name))


def main():
    wheel = sys.argv[1]
    tag = re.search(r"-cp(\d)(\d+)-abi3-", wheel)
    if not tag:
        sys.exit(f"{wheel}: expected a name with a tag such as cp310-abi3")
    first = PyVersion(int(tag[1]), int(tag[2]))
    name, symbols = wanted(wheel)
    wrong = []
    for symbol in symbols:
        known = FUNCTIONS.get(Symbol(symbol)) or DATAS.get(Symbol(symbol))
        if known is None:
            wrong.append(f"{symbol} is not of the stable ABI")
        elif known.added > first:
            wrong.append(f"{symbol} came with Python {known.added}")
    for line in wrong:
        print(f"{name}: {line}")
    print(f"{name}: {len(symbols)} symbols of Python, {len(wrong)} that "
          f"Python {first} need not have")
    return 1 if wrong or not symbols else 0


if __name__ == "__main__":
    sys.exit(main())
