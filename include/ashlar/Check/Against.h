// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model on a target, kernel by kernel beside the target reference.
//
// Four programs are made of the model. The reference: plain loops, nothing
// fused. The shipped one, as it is. The fused one in plain loops: what the
// shipped kernels are meant to compute, value by value. And the shipped kernels
// apart: each reads the values of the third program and not what other kernels
// made of theirs, so that an error is a kernel's own. The fused program's
// outputs are held against the reference's, so that what it says can be
// believed.
#ifndef ASHLAR_CHECK_AGAINST_H
#define ASHLAR_CHECK_AGAINST_H

#include "ashlar/Check/AgainstOptions.h"
#include "ashlar/Check/Dispatches.h"
#include "ashlar/Check/Tensor.h"
#include "ashlar/Driver/CompileHooks.h"
#include <optional>

namespace ashlar::check {

/// Where an answer goes wrong first.
enum class Fault {
  None,
  Kernel,  ///< one kernel, from right operands
  Passes,  ///< what was fused means something else than the model
  Program, ///< the kernels together: their order, or places in memory
};

/// A value that is too far from what it should be.
struct WrongValue {
  std::string name;               ///< an output's, or of the node that makes it
  std::vector<std::string> nodes; ///< of the kernel
  std::string type;
  std::vector<int64_t> shape;
  Difference difference;
};

struct AgainstReport {
  Fault fault = Fault::None;
  size_t values = 0;  ///< results of kernels that were compared
  size_t kernels = 0; ///< dispatches they are of
  size_t wrong = 0;   ///< values that are too far
  double worst = 0;   ///< of those that are not: relative to their largest
  std::string worstNodes;
  std::optional<WrongValue> first; ///< in the program's order
  /// Nodes of the first wrong kernel, compiled alone and given the reference's
  /// values: whether each is right.
  std::vector<std::pair<std::string, bool>> alone;
  std::string culprit;    ///< the first of them that is wrong alone
  std::string note;       ///< why nodes could not be compiled alone
  std::string reproducer; ///< the folder written
};

/// Compares. What stops it (a model that is refused, an input that cannot be
/// read) is an error. `planted` changes the shipped kernels only: for tests of
/// what is found.
llvm::Expected<AgainstReport>
compareWithReference(const AgainstOptions &options,
                     const CompileHooks &planted = {});

/// Which levels of fusion, or which steps of the compiler, give right outputs.
struct BisectReport {
  struct Trial {
    std::string name; ///< "--fuse=basic", "ashlar-form-winograd"
    bool right = false;
    std::string why; ///< of one that is not right
  };
  std::vector<Trial> trials; ///< in order; ends with the first that is wrong
  /// With a level of fusion that is wrong: its kernels.
  std::optional<AgainstReport> kernels;
};
llvm::Expected<BisectReport> bisect(const AgainstOptions &options,
                                    const CompileHooks &planted = {});

/// Whether the difference is more than a value of this type may have.
bool isFar(const Difference &difference, uint32_t type, double tolerance);

/// One line a finding.
std::string spell(const AgainstReport &report);
std::string spell(const BisectReport &report);

} // namespace ashlar::check

#endif // ASHLAR_CHECK_AGAINST_H
