// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CodeFlags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ashlar;

std::vector<std::string>
ashlar::codeFlags(const CompileOptions &options,
                  const std::vector<std::string> &targets,
                  const std::string &tuningDigest) {
  std::vector<std::string> flags;
  for (const std::string &name : targets)
    flags.push_back("--target=" + name);
  if (!options.machine.empty())
    flags.push_back("--machine");
  if (!tuningDigest.empty())
    flags.push_back("--tuning=sha256:" + tuningDigest);
  if (options.randomWeights)
    flags.push_back("--weights=random:" +
                    std::to_string(*options.randomWeights));
  if (options.exactConvolution)
    flags.push_back("--exact-convolution");
  if (options.precision != NumberType::F32)
    flags.push_back(
        std::string("--precision=") +
        (options.searchPrecision ? "auto" : spell(options.precision)));
  if (options.roundsToTF32)
    flags.push_back("--precision=tf32");
  if (options.searchPrecision)
    flags.push_back(llvm::formatv("--tolerance={0}", options.tolerance));
  if (!options.precisionPlan.empty())
    flags.push_back("--precision-plan");
  if (options.fuse != FuseLevel::All)
    flags.push_back(std::string("--fuse=") + fuseLevelName(options.fuse));
  if (!options.assembler.empty())
    flags.push_back(options.assembler == "none" ? "--assembler=none"
                                                : "--assembler");
  if (options.lineTables)
    flags.push_back("--line-tables");
  if (options.memoryBudget != 0)
    flags.push_back("--memory-budget=" + std::to_string(options.memoryBudget) +
                    "B");
  for (const SizeRange &size : options.sizes)
    flags.push_back("--dim=" + size.text());
  auto hasX = [](llvm::StringRef dim) { return dim.contains('x'); };
  for (auto &[name, shape] : options.symbolicShapes)
    flags.push_back("--shape=" + name + "=" +
                    llvm::join(shape, llvm::any_of(shape, hasX) ? "," : "x"));
  for (auto &[name, shape] : options.shapes) {
    if (options.symbolicShapes.count(name))
      continue; // the largest sizes of what stands above
    std::string text = "--shape=" + name + "=";
    for (auto [i, dim] : llvm::enumerate(shape))
      text += (i ? "x" : "") + std::to_string(dim);
    flags.push_back(text);
  }
  for (const CompileOptions::State &state : options.states)
    flags.push_back("--state=" + state.input + "=" + state.output);
  for (auto &[name, numbers] : options.values)
    flags.push_back("--value=" + name + "=" + llvm::join(numbers, ","));
  return flags;
}
