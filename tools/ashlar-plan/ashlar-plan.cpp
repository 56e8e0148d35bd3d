// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory planner alone: flags.

#include "Bytes.h"
#include "Report.h"
#include "ToolMain.h"
#include "ashlar/Planner/Generate.h"

#include <cmath>
#include <cstdio>

using namespace ashlar::tools;
using namespace ashlar::planner;

static const char description[] =
    "Example:\n"
    "  ashlar-plan buffers.csv --capacity=1MiB > plan.csv\n"
    "\n"
    "Gives buffers with known lifetimes places in one range of bytes. Reads\n"
    "lines of id,lower,upper,size (upper is exclusive; a column alignment may\n"
    "follow) and prints them with their offsets. Without a capacity it looks\n"
    "for the lowest peak. The last line on stderr says how good the plan is.";

namespace {
struct Flags {
  std::string file, capacity, generate;
  double timeLimit = 30;
  bool greedy = false;
};
} // namespace

static constexpr uint64_t largestFile = uint64_t(1) << 32;

/// "tiling:COUNT:SEED" or "network:COUNT:SEED"
static std::vector<Buffer> generate(const std::string &what) {
  char kind[16];
  long long count = 0;
  unsigned long long seed = 0;
  int end = 0;
  if (std::sscanf(what.c_str(), "%15[a-z]:%lld:%llu%n", kind, &count, &seed,
                  &end) == 3 &&
      size_t(end) == what.size() && count > 0 && count <= 10'000'000) {
    if (kind == std::string("tiling"))
      return generateTiling(count, count * 4096, seed);
    if (kind == std::string("network"))
      return generateNetwork(count, seed);
  }
  throw Failure(WrongUsage, "--generate: expected tiling:COUNT:SEED or "
                            "network:COUNT:SEED, found '" +
                                what + "'");
}

static int printGenerated(const std::string &what) {
  std::vector<Buffer> buffers = generate(what);
  std::fputs("id,lower,upper,size,alignment\n", stdout);
  for (size_t i = 0; i != buffers.size(); ++i)
    std::printf("%zu,%lld,%lld,%lld,%lld\n", i, (long long)buffers[i].lower,
                (long long)buffers[i].upper, (long long)buffers[i].bytes,
                (long long)buffers[i].alignment);
  return Done;
}

static NamedBuffers readBuffers(const std::string &file) {
  NamedBuffers named;
  const std::string text = readWholeFile(file, largestFile);
  if (ashlar::Refusal fault = readPlanFile(text, named))
    throw Failure(Refused, file + ": " + *fault);
  return named;
}

static int plan(const Flags &flags) {
  bool hasCapacity = !flags.capacity.empty();
  int64_t capacity = INT64_MAX;
  if (hasCapacity)
    capacity =
        int64_t(std::min(parseBytes(flags.capacity), uint64_t(INT64_MAX)));
  NamedBuffers named = readBuffers(flags.file);
  double start = secondsNow();
  Load load = findLargestLoad(named.buffers);
  if (load.bytes > capacity)
    throw Failure(Refused,
                  flags.file + ": " + describeLoad(named, load, capacity));
  Limits limits;
  limits.steps = INT64_MAX;
  limits.seconds = flags.timeLimit;
  Plan plan;
  {
    SearchLine line(load.bytes);
    limits.progress = [&](int64_t peak) { line.show(peak); };
    plan = flags.greedy  ? planGreedily(named.buffers)
           : hasCapacity ? planWithin(named.buffers, capacity, limits)
                         : planLowest(named.buffers, limits);
  }
  double seconds = secondsNow() - start;
  std::fputs(writePlanFile(named, plan.offsets).c_str(), stdout);
  if (!plan.isOptimal() && (!hasCapacity || plan.peak > capacity))
    std::fprintf(stderr, "ashlar-plan: the best plan found is %s\n",
                 describeDistance(plan.peak, plan.lowerBound).c_str());
  std::fprintf(stderr, "%s\n", planLine(plan, seconds).c_str());
  if (plan.peak <= capacity)
    return Done;
  throw Failure(
      Refused,
      flags.file + ": expected a plan within " + std::to_string(capacity) +
          " bytes, found none" +
          (plan.provenBound > capacity
               ? ", and there is none"
               : " (--time-limit); a larger capacity or more time may help"));
}

int main(int argc, char **argv) {
  CLI::App app(description, "ashlar-plan");
  Flags flags;
  app.set_version_flag("--version",
                       std::string("ashlar-plan ") + ashlar_runtime_version());
  auto *file = app.add_option("file", flags.file, "The buffers (.csv)");
  app.add_option("--capacity", flags.capacity,
                 "Stop at the first plan within so many bytes (512MiB)");
  app.add_option("--time-limit", flags.timeLimit,
                 "Seconds after which the best plan so far is taken")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6));
  app.add_flag("--greedy", flags.greedy, "Do not search beyond greedy orders");
  app.add_option("--generate", flags.generate,
                 "Print buffers instead: tiling:COUNT:SEED, of which a plan\n"
                 "without a gap exists, or network:COUNT:SEED")
      ->excludes(file);
  return runTool("ashlar-plan", app, argc, argv, [&]() -> int {
    if (!flags.generate.empty())
      return printGenerated(flags.generate);
    if (flags.file.empty())
      throw Failure(WrongUsage, "expected a file of buffers; see --help");
    return plan(flags);
  });
}
