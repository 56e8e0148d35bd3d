// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that can be said about an index without running it: a file is
// hostile until all of these hold. docs/module-format.md lists the rules.

#ifndef ASHLAR_RUNTIME_LIB_INDEXVERIFIER_H
#define ASHLAR_RUNTIME_LIB_INDEXVERIFIER_H

#include "Status.h"
#include "ashlar/runtime/module_generated.h"

namespace ashlar::runtime {

/// More is refused, so that sums of counts cannot overflow.
constexpr uint64_t maximumScratchBytes = uint64_t(1) << 40;

/// The tables and vectors lie inside the buffer.
Status verifyFlatBuffer(const uint8_t *bytes, size_t size);

/// What the tables say is consistent; sections lie between `indexEnd` and
/// `fileSize`. Calls verifyProgram for each program.
Status verifyIndex(const fb::Module &module, uint64_t indexEnd,
                   uint64_t fileSize);

/// One input or output; `place` says where it is.
Status verifyTensor(const fb::Module &module,
                    const fb::TensorDescription &tensor, const String &place);

/// Indices, counts and all ranges that do not depend on symbols.
Status verifyProgram(const fb::Module &module, const fb::Program &program);

/// Elements of a vector that may be absent.
template <typename T> size_t count(const flatbuffers::Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

/// Which of its program's devices runs a kernel: 0, the first, or a companion.
inline uint32_t deviceOf(const fb::Program &program, const fb::Kernel &kernel) {
  return program.executables()->Get(kernel.executable())->device();
}

/// Which of them has inputs, outputs, arena 0, conditions and sizes.
inline uint32_t homeOf(const fb::Program &program) {
  return program.home().value_or(0);
}

/// One more than the executable that this is another form of; 0: none.
inline uint32_t variantOf(const fb::Executable &executable) {
  return executable.variant_of().value_or(0);
}

/// Which of them has arena i: those of the home and of the first device, where
/// these differ, have changed places.
inline uint32_t deviceOfArena(const fb::Program &program, uint32_t i) {
  uint32_t home = homeOf(program);
  return i == 0 ? home : i == home ? 0 : i;
}

/// Which of them has the bytes; weights are said to be at home.
inline uint32_t deviceOf(const fb::Program &program,
                         const fb::Binding &binding) {
  return binding.storage() == fb::Storage::Arena
             ? deviceOfArena(program, binding.index())
             : homeOf(program);
}

/// Whether a string is there and not empty.
inline bool present(const flatbuffers::String *text) {
  return text && text->size() != 0;
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_INDEXVERIFIER_H
