# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from . import _native

__version__: str = _native.version
