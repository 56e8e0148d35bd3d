// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers as text: a line each, as Google's MiniMalloc benchmarks have them.
//
//   id,lower,upper,size
//   0,12,40,4096
//
// The first line names the columns, in any order. `alignment` may be among
// them; `offset` is left aside when read, and added when written.
#ifndef ASHLAR_PLANNER_PLANFILE_H
#define ASHLAR_PLANNER_PLANFILE_H

#include "ashlar/Planner/Planner.h"
#include "ashlar/Support/Refusal.h"
#include <string>
#include <string_view>

namespace ashlar::planner {

struct NamedBuffers {
  std::vector<std::string> ids;
  std::vector<Buffer> buffers;
  bool haveAlignments = false;
};

/// What is wrong, with the number of its line.
Refusal readPlanFile(std::string_view text, NamedBuffers &result);

std::string writePlanFile(const NamedBuffers &buffers,
                          const std::vector<int64_t> &offsets);

} // namespace ashlar::planner

#endif // ASHLAR_PLANNER_PLANFILE_H
