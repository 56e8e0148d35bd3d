// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BareProgram.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/runtime/kernel_abi.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ashlar;

/// A name of the model's, inside a comment.
static std::string commented(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isPrint(c) && c != '*' ? c : '_';
  return text;
}

static void printTensors(const std::string &kind, ArrayAttr tensors,
                         llvm::raw_ostream &out) {
  out << "#define " << kind << "_COUNT " << tensors.size() << "\n";
  for (auto [i, attribute] : llvm::enumerate(tensors)) {
    auto tensor = cast<DictionaryAttr>(attribute);
    auto type =
        cast<RankedTensorType>(tensor.getAs<TypeAttr>("tensor").getValue());
    auto name = tensor.getAs<StringAttr>("ashlar.name");
    auto element = tensor.getAs<StringAttr>("ashlar.type");
    out << "#define " << kind << "_" << i << "_BYTES " << byteSize(type)
        << " /* '" << commented(name ? name.getValue() : "") << "': ";
    if (element)
      out << element.getValue();
    else
      out << type.getElementType();
    out << " ";
    llvm::interleave(type.getShape(), out, "x");
    out << " */\n";
  }
}

std::string ashlar::printBareHeader(exec::ProgramOp entry,
                                    uint64_t scratchBytes,
                                    const MachineModel &machine, bool isBare,
                                    StringRef prefix) {
  std::string text, capitals = prefix.upper();
  llvm::raw_string_ostream out(text);
  out << "/* Written by ashlar-compile " ASHLAR_VERSION " --emit="
      << (isBare ? "riscv-object" : "static") << ".";
  // What a core of one's own has, one knows.
  if (!isBare) {
    out << "\n * For " << commented(machine.code.triple);
    for (auto [i, feature] : llvm::enumerate(machine.code.features))
      out << (i ? " " : ", of which the processor must have:\n *   ")
          << commented(feature);
  }
  out << " */\n"
         "#ifndef "
      << capitals << "_MODEL_H\n#define " << capitals
      << "_MODEL_H\n\n"
         "/* Of what every pointer below points to. */\n#define "
      << capitals << "_ALIGNMENT " << ASHLAR_KERNEL_BUFFER_ALIGNMENT
      << "\n#define " << capitals
      << "_SCRATCH_BYTES "
      // C has no arrays of no bytes.
      << std::max<uint64_t>(scratchBytes, 1) << "\n\n";
  printTensors(capitals + "_INPUT", entry.getInputs(), out);
  out << "\n";
  printTensors(capitals + "_OUTPUT", entry.getOutputs(), out);
  out << R"(
#ifdef __cplusplus
extern "C" {
#endif

/* Reads the inputs and writes the outputs, dense tensors in row-major order,
 * little endian; a rank of 0 is one element. The scratch's contents are of no
 * interest before and after. Calls )"
      << (isBare ? "memcpy and memset alone; may be called again\n"
                   " * and again."
                 : "functions of libc and libm alone; may be\n"
                   " * called again and again, by several threads each with "
                   "its own scratch.")
      << R"(
 * Returns 0, or 1 where an index read from a tensor lies outside the tensor it
 * points into. */
int )" << prefix
      << R"(_main(const void *const *inputs, void *const *outputs,
     )"
      << std::string(prefix.size(), ' ') << R"(     void *scratch);

#ifdef __cplusplus
}
#endif
#endif
)";
  return text;
}
