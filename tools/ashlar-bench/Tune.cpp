// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round r compiles the model with every contraction on its candidate r, so that
// there are as many modules as the longest list is long. All are measured in
// turn, several times, which spreads what else the machine does over all of
// them. What wins is measured once more against the model's own choices: the
// best of many is partly the luckiest.

#include "Tune.h"

#include "Failure.h"
#include "KernelTimes.h"
#include "NewFile.h"
#include "Siblings.h"
#include "TuningResult.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace ashlar::tools {
namespace {

constexpr unsigned sweeps = 5;

class Tuner {
public:
  Tuner(const RunnerFlags &flags, const TuneOptions &options)
      : flags(flags), options(options), compiler(findSibling("ashlar-compile")),
        inspector(findSibling("ashlar-inspect")) {}

  TuningResult run();

private:
  Json list();
  std::string compile(const std::string &name, const Json *entries);
  void measure(const std::string &module, double seconds,
               std::vector<std::vector<double>> &times);
  void measureCandidates(size_t rounds);
  void confirm();
  std::vector<std::string> compilerArguments() const;

  const RunnerFlags flags;
  const TuneOptions &options;
  const std::string compiler, inspector;
  const StopOnRequest stop;
  const TemporaryFolder folder;
  TuningResult result;
};
} // namespace

/// For people who wait.
static void say(const std::string &text) {
  std::fprintf(stderr, "ashlar-bench: %s\n", text.c_str());
}

static std::string spellSeconds(double seconds) {
  return seconds < 90 ? std::to_string(std::lround(std::ceil(seconds))) + " s"
                      : std::to_string(std::lround(seconds / 60)) + " min";
}

std::vector<std::string> Tuner::compilerArguments() const {
  std::vector<std::string> arguments = {compiler, flags.file, "--quiet"};
  auto add = [&](const char *flag, const std::string &value) {
    if (!value.empty())
      arguments.push_back(flag + value);
  };
  add("--target=", options.target);
  add("--machine=", options.machine);
  for (const std::string &shape : options.shapes)
    add("--shape=", shape);
  for (const std::string &value : options.values)
    add("--value=", value);
  return arguments;
}

Json Tuner::list() {
  std::vector<std::string> arguments = compilerArguments();
  arguments.push_back("--list-strategies=-");
  return Json::parse(runSibling(arguments, folder));
}

/// Without entries, every contraction is on the model's own choice.
std::string Tuner::compile(const std::string &name, const Json *entries) {
  stop.check();
  std::vector<std::string> arguments = compilerArguments();
  std::string module = folder.file(name + ".ash");
  arguments.insert(arguments.end(), {"-o", module});
  if (entries) {
    std::string table = folder.file("table.json");
    writeWholeFile(table, result.tableText(*entries));
    arguments.insert(arguments.end(), {"--tuning=" + table, "--strict"});
  }
  runSibling(arguments, folder);
  stop.check();
  return module;
}

/// Adds one time to those of each contraction that can be told.
void Tuner::measure(const std::string &module, double seconds,
                    std::vector<std::vector<double>> &times) {
  stop.check();
  RunnerFlags flags = this->flags;
  flags.file = module;
  flags.threads = 1;
  std::map<std::string, double> kernels =
      measureKernels(flags, seconds, folder.file("trace.json")).microseconds;
  Json facts = Json::parse(runSibling({inspector, module, "--json"}, folder));
  std::vector<double> found =
      result.timesOf(facts.at("programs").at(0).at("kernels"), kernels);
  for (size_t i = 0; i != found.size(); ++i)
    if (found[i] > 0)
      times[i].push_back(found[i]);
  stop.check();
}

void Tuner::measureCandidates(size_t rounds) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::string> modules;
  for (size_t round = 0; round != rounds; ++round) {
    Clock::time_point start = Clock::now();
    Json entries = result.entriesOfRound(round);
    modules.push_back(
        compile("round" + std::to_string(round), round ? &entries : nullptr));
    if (round == 0) {
      double compiling =
          std::chrono::duration<double>(Clock::now() - start).count();
      say("compiling takes " + spellSeconds(compiling) +
          " a round, all about " +
          spellSeconds(compiling * double(rounds) + options.seconds * 1.5));
    }
  }
  // A third is for the confirmation.
  double each = options.seconds * 2 / 3 / double(rounds * sweeps);
  for (unsigned sweep = 0; sweep != sweeps; ++sweep) {
    say("measuring, sweep " + std::to_string(sweep + 1) + " of " +
        std::to_string(sweeps));
    for (size_t round = 0; round != rounds; ++round) {
      std::vector<std::vector<double>> times(result.contractions.size());
      measure(modules[round], each, times);
      for (size_t i = 0; i != times.size(); ++i)
        if (round < result.contractions[i].candidates.size())
          for (double time : times[i])
            result.contractions[i].candidates[round].times.push_back(time);
    }
  }
  for (size_t round = 1; round < rounds; ++round)
    ::unlink(modules[round].c_str());
}

void Tuner::confirm() {
  Json entries = result.entriesOfBest();
  if (entries.empty())
    return;
  say("confirming " + std::to_string(entries.size()) + " of " +
      std::to_string(result.contractions.size()) + " contractions");
  std::string own = folder.file("round0.ash");
  std::string best = compile("best", &entries);
  double each = options.seconds / 3 / (2 * sweeps);
  size_t count = result.contractions.size();
  std::vector<std::vector<double>> ownTimes(count), bestTimes(count);
  for (unsigned sweep = 0; sweep != sweeps; ++sweep) {
    measure(own, each, ownTimes);
    measure(best, each, bestTimes);
  }
  for (size_t i = 0; i != count; ++i)
    if (result.contractions[i].best() != 0)
      result.contractions[i].confirm(ownTimes[i], bestTimes[i]);
}

TuningResult Tuner::run() {
  result.read(list());
  size_t rounds = 0;
  for (const TunedContraction &contraction : result.contractions)
    rounds = std::max(rounds, contraction.candidates.size());
  say(std::to_string(result.contractions.size()) + " contractions, " +
      std::to_string(rounds) + " rounds");
  if (rounds > 1) {
    measureCandidates(rounds);
    confirm();
  }
  return std::move(result);
}

std::string tune(const RunnerFlags &flags, const TuneOptions &options,
                 bool json) {
  checkWrittenFiles(flags.file, {options.table});
  // A name that cannot be written to is worth knowing before the work.
  runtime::NewFile probe;
  if (std::string problem = probe.create(options.table, /*streams=*/true);
      !problem.empty())
    throw Failure(Refused, "cannot write " + options.table + ": " + problem);
  TuningResult result = Tuner(flags, options).run();
  writeWholeFile(options.table, result.tableText(result.entriesOfConfirmed()));
  return json ? result.json() : result.text();
}

} // namespace ashlar::tools
