// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes module files for tests, sound ones and broken ones: everything in
// `module` may be changed before build().

#ifndef ASHLAR_RUNTIME_TEST_MODULEBUILDER_H
#define ASHLAR_RUNTIME_TEST_MODULEBUILDER_H

#include "ashlar/runtime/module_format.h"
#include "ashlar/runtime/module_generated.h"

#include <memory>
#include <string>
#include <vector>

namespace ashlar::test {

/// A module's bytes, aligned as load_memory wants them.
class ModuleBytes {
public:
  explicit ModuleBytes(size_t size);
  ModuleBytes(const ModuleBytes &other);
  uint8_t *data() { return bytes.get(); }
  const uint8_t *data() const { return bytes.get(); }
  size_t size() const { return byteCount; }

private:
  struct Free {
    void operator()(uint8_t *address) const;
  };
  size_t byteCount;
  std::unique_ptr<uint8_t, Free> bytes;
};

using Size = std::unique_ptr<fb::SizeExpressionT>;
Size constant(int64_t value);
Size symbol(int64_t number, int64_t largest);
/// A program in postfix.
Size expression(std::vector<fb::SizeInstruction> code, int64_t largest);
Size copyOf(const Size &size);

class ModuleBuilder {
public:
  ModuleBuilder();

  uint32_t addSection(fb::SectionKind kind, std::vector<uint8_t> bytes);
  /// In a section of its own.
  uint32_t addWeight(const std::string &name, const std::vector<float> &values);
  /// The kernels of Kernels.c. Returns the section.
  uint32_t addKernelCode();
  /// Puts the kernels of Kernels.cl in place of those: the program is one for
  /// the device opencl. False where no compiler has made them.
  bool useOpenCL();
  /// The same with those of KernelsGpu.c, for the device cuda.
  bool useCuda();
  /// And for the device hip.
  bool useHip();
  /// With those of Kernels.cl, called with addresses, for the device
  /// level-zero.
  bool useLevelZero();
  uint32_t addKernel(const std::string &symbol, uint32_t bindings,
                     uint32_t parameters, uint64_t scratchBytes = 0);

  void addInput(const std::string &name, std::vector<Size> shape,
                fb::ElementType type = fb::ElementType::F32);
  void addOutput(const std::string &name, std::vector<Size> shape,
                 fb::ElementType type = fb::ElementType::F32);

  std::unique_ptr<fb::BindingT> bind(fb::Storage storage, uint32_t index,
                                     Size offset, Size length, bool written);
  void dispatch(uint32_t kernel,
                std::vector<std::unique_ptr<fb::BindingT>> bindings,
                std::vector<Size> parameters, Size groups);
  void barrier();
  void copy(std::unique_ptr<fb::BindingT> source,
            std::unique_ptr<fb::BindingT> target);

  fb::EntryT &entry() { return *module.entries[0]; }
  fb::ProgramT &program() { return *module.programs[0]; }
  fb::ProgramEntryT &programEntry() { return *program().entries[0]; }
  fb::ContractT &contract() { return *programEntry().contract; }

  /// Places sections, computes hashes, packs.
  ModuleBytes build();
  /// Packs and hashes the index as it is.
  ModuleBytes buildUnchecked();

  fb::ModuleT module;
  std::vector<std::vector<uint8_t>> sectionBytes;

private:
  bool useCode(std::vector<uint8_t> code, const char *format,
               const char *device);
  std::vector<uint8_t> packIndex();
};

/// The SPIR-V of Kernels.cl; empty where no compiler has made it.
std::vector<uint8_t> openclKernels();
/// Another one, with a function that is nowhere.
std::vector<uint8_t> openclUnresolved();
/// The PTX of KernelsGpu.c; empty where no compiler has made it.
std::vector<uint8_t> cudaKernels();
std::vector<uint8_t> hipKernels();
/// The SPIR-V of Kernels.cl, called with addresses; empty likewise.
std::vector<uint8_t> levelZeroKernels();

/// Recomputes the header's hash after the index was changed in place.
void rehashIndex(ModuleBytes &bytes);

/// Writes the bytes to a file.
void writeFile(const std::string &path, const ModuleBytes &bytes);

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_MODULEBUILDER_H
