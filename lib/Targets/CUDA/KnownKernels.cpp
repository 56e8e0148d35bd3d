// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KnownKernels.h"
#include "llvm/Support/xxhash.h"

using namespace ashlar;
using namespace ashlar::cuda;

KnownKernels::Key KnownKernels::keyOf(const cpu::LoweredKernels::Kernel &kernel,
                                      const WriteOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << kernel.symbol << ' ' << kernel.threads << ' ' << kernel.maps << ' '
         << kernel.cluster << '\n';
  mlir::ModuleOp module = kernel.module;
  mlir::OpPrintingFlags flags;
  flags.useLocalScope();
  if (options.hasLines) // which name nodes
    flags.enableDebugInfo();
  module.print(stream, flags);
  auto hash = llvm::xxh3_128bits(
      {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  return {hash.low64, hash.high64};
}

llvm::Expected<CompiledKernel>
KnownKernels::compileKernel(const cpu::LoweredKernels::Kernel &kernel,
                            const MachineModel &machine,
                            const WriteOptions &options) {
  const Key key = keyOf(kernel, options);
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (auto found = known.find(key); found != known.end())
      return found->second;
  }
  auto made = cuda::compileKernel(kernel, machine, options);
  if (made) {
    std::lock_guard<std::mutex> guard(mutex);
    known.try_emplace(key, *made);
  }
  return made;
}
