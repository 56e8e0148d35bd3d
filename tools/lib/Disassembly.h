// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code as text, by whichever objdump is installed: nothing of LLVM is
// linked here.
#ifndef ASHLAR_TOOLS_LIB_DISASSEMBLY_H
#define ASHLAR_TOOLS_LIB_DISASSEMBLY_H

#include <cstddef>
#include <string>

namespace ashlar::tools {

/// The instructions of one function of an ELF image. Throws a Failure where no
/// objdump is found, or none knows the image's machine.
std::string disassemble(const void *image, size_t size,
                        const std::string &symbol);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_DISASSEMBLY_H
