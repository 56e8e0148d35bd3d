// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of a few lines, for tests.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXKERNEL_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXKERNEL_H

#include "PtxRun.h"

#include <gtest/gtest.h>

namespace ashlar::ptx {

/// A kernel "k" with so many pointers p0, p1... in %rd0, %rd1... and its
/// thread's number in %r0. `body` may use %p, %rs, %r, %f, %rd, %fd from 10 on.
inline std::string kernelText(int pointers, const std::string &body,
                              const std::string &before = "",
                              const char *target = "sm_90") {
  std::string text = ".version 8.0\n.target " + std::string(target) +
                     "\n.address_size 64\n" + before + "\n.visible .entry k(";
  for (int i = 0; i < pointers; ++i)
    text += (i ? ", " : "") + std::string(".param .u64 p") + std::to_string(i);
  text += ")\n{\n.reg .pred %p<32>;\n.reg .b16 %rs<64>;\n.reg .b32 %r<64>;\n"
          ".reg .f32 %f<64>;\n.reg .b64 %rd<64>;\n.reg .f64 %fd<32>;\n";
  for (int i = 0; i < pointers; ++i)
    text += "ld.param.u64 %rd" + std::to_string(i) + ", [p" +
            std::to_string(i) + "];\n";
  text += "mov.u32 %r0, %tid.x;\n" + body + "\nret;\n}\n";
  return text;
}

/// Arrays on the device for one run.
class Bench {
public:
  explicit Bench(const std::string &text) : program(parse(text), memory) {}

  template <class T> uint64_t array(const std::vector<T> &values) {
    uint64_t address = memory.allocate(values.size() * sizeof(T));
    std::memcpy(memory.onHost(address, values.size() * sizeof(T)),
                values.data(), values.size() * sizeof(T));
    append(launch, address);
    return address;
  }
  template <class T> std::vector<T> read(uint64_t address, size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory.onHost(address, count * sizeof(T)),
                count * sizeof(T));
    return values;
  }
  Executed run(uint32_t threads, uint32_t blocks = 1) {
    launch.block[0] = threads;
    launch.grid[0] = blocks;
    return ptx::run(program, "k", launch);
  }
  /// What the run is refused with; empty: it went well.
  std::string fault(uint32_t threads, Fault::Kind kind) {
    try {
      run(threads);
    } catch (const Fault &fault) {
      EXPECT_EQ(fault.kind, kind) << fault.what();
      return fault.what();
    }
    return "";
  }

  Memory memory;
  Program program;
  Launch launch;
};

/// Each of the parts stands in what was said.
inline void expectSaid(const std::string &said,
                       std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    EXPECT_NE(said.find(part), said.npos) << part << " in: " << said;
}
/// The text with its first `what`, which must be there, replaced.
inline std::string replaced(std::string text, const std::string &what,
                            const std::string &with) {
  size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return text.replace(at, what.size(), with);
}

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXKERNEL_H
