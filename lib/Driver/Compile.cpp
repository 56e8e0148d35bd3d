// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Driver/Compile.h"
#include "Compilation.h"
#include "CompileForSizes.h"
#include "ashlar/Driver/StageTrace.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ashlar;

static std::string spellBytes(uint64_t bytes) {
  return bytes < 1024 ? std::to_string(bytes) + " B"
         : bytes < 1024 * 1024
             ? llvm::formatv("{0:f2} KiB", double(bytes) / 1024).str()
             : llvm::formatv("{0:f2} MiB", double(bytes) / (1024 * 1024)).str();
}

/// How large an arena each program may have. Where none is small enough, the
/// smallest that there is tells what would fit.
static std::vector<int64_t> arenasWithin(llvm::ArrayRef<MemoryNeeds> needs,
                                         uint64_t budget) {
  std::vector<int64_t> arenas;
  for (const MemoryNeeds &of : needs) {
    uint64_t others = of.peak() - of.arena;
    arenas.push_back(others < budget ? int64_t(budget - others) : 1);
  }
  return arenas;
}

static uint64_t mostNeeded(llvm::ArrayRef<MemoryNeeds> needs) {
  uint64_t most = 0;
  for (const MemoryNeeds &of : needs)
    most = std::max(most, of.peak());
  return most;
}

static void explainBudget(uint64_t budget, llvm::ArrayRef<MemoryNeeds> needs,
                          llvm::ArrayRef<std::string> targetNames,
                          llvm::raw_ostream &log) {
  for (auto [of, target] : llvm::zip(needs, targetNames)) {
    if (of.peak() <= budget)
      continue;
    log << "error: --memory-budget: expected a program for " << target
        << " within " << spellBytes(budget) << ", found that it needs "
        << spellBytes(of.peak()) << " at least: weights "
        << spellBytes(of.weights) << ", code " << spellBytes(of.code)
        << ", arena " << spellBytes(of.arena) << ", outputs "
        << spellBytes(of.outputs) << ", staging " << spellBytes(of.staging)
        << ", scratch of a thread " << spellBytes(of.scratch) << "\n";
    for (const MemoryNeeds::Holder &holder :
         llvm::ArrayRef(of.holders).take_front(3))
      log << "note: " << holder.node << " holds " << spellBytes(holder.bytes)
          << " at the peak of the arena\n";
  }
  log << "note: --memory-budget=" << mostNeeded(needs)
      << "B would fit, or smaller inputs (--shape)\n";
}

/// What a worker of each program may take of scratch, where that could make up
/// for all that is too much; empty: nowhere.
static std::vector<int64_t> scratchWithin(llvm::ArrayRef<MemoryNeeds> needs,
                                          uint64_t budget) {
  std::vector<int64_t> scratch;
  bool isWorthwhile = false;
  for (const MemoryNeeds &of : needs) {
    uint64_t excess = of.peak() - std::min(of.peak(), budget);
    bool helps = excess != 0 && excess < of.scratch;
    scratch.push_back(helps ? int64_t(of.scratch - excess) : 0);
    isWorthwhile |= helps;
  }
  return isWorthwhile ? scratch : std::vector<int64_t>();
}

/// What is tried, in turn: the program as it is; smaller tiles, where what
/// kernels keep for themselves is what is too much; cheap values computed
/// again; both; convolutions without transforms, whose weights are larger than
/// the model's, with each of these. All begin with what `precision` leaves.
static CompileResult compileWithin(const CompileOptions &options,
                                   const CompileHooks &hooks,
                                   llvm::raw_ostream &out,
                                   llvm::raw_ostream &log) {
  StageTrace::Span span(options.stages, "compile");
  Compilation compilation(options, hooks, out, log);
  if (!compilation.prepare())
    return compilation.end();
  std::vector<Attempt> attempts;
  // True when there is nothing more to try.
  auto attempt = [&](const Saving &saving) {
    attempts.push_back(compilation.attempt(saving));
    return !attempts.back().isOverBudget;
  };
  for (bool exact : {false, true}) {
    // With other convolutions, sizes have other formulas.
    if (exact && (options.exactConvolution || hooks.sizesAreFormulas))
      continue;
    std::vector<int64_t> arenas;
    for (bool repeats : {false, true}) {
      if (attempt({exact, arenas, {}}))
        return compilation.end();
      if (!repeats)
        arenas = arenasWithin(attempts.back().needs, options.memoryBudget);
      std::vector<int64_t> scratch =
          scratchWithin(attempts.back().needs, options.memoryBudget);
      if (!scratch.empty() && attempt({exact, arenas, scratch}))
        return compilation.end();
    }
  }
  auto closest = llvm::min_element(attempts, [](auto &x, auto &y) {
    return mostNeeded(x.needs) < mostNeeded(y.needs);
  });
  if (!closest->isEmitted)
    *closest = compilation.attempt(closest->saving, /*emits=*/true);
  explainBudget(options.memoryBudget, closest->needs, compilation.targetNames,
                log);
  return compilation.end(std::move(*closest));
}

CompileResult ashlar::compile(const CompileOptions &options,
                              llvm::raw_ostream &out, llvm::raw_ostream &log,
                              const CompileHooks &hooks) {
  if (!options.sizes.empty() && !hooks.sizesAreFormulas) {
    CompileOptions opened = options;
    CompileResult result;
    result.status = openModelDims(opened, log);
    return result.status == CompileStatus::Done
               ? compileForSizes(opened, hooks, out, log)
               : result;
  }
  if (options.memoryBudget != 0 && !options.stopEarly &&
      options.listStrategies.empty())
    return compileWithin(options, hooks, out, log);
  return Compilation(options, hooks, out, log).run();
}
