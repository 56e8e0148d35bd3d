// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TuningResult.h"

#include "KernelTimes.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace ashlar::tools {

/// What is gained must be more than what is measured twice differs by.
static constexpr double worth = 0.97;

/// Whether `times` are shorter than `than`: in the middle, and in all pairs
/// but one that were measured side by side.
static bool isFaster(const std::vector<double> &times,
                     const std::vector<double> &than) {
  size_t pairs = std::min(times.size(), than.size()), won = 0;
  for (size_t i = 0; i != pairs; ++i)
    won += times[i] < than[i];
  return pairs != 0 && won + 1 >= pairs &&
         medianOf(times) < medianOf(than) * worth;
}

double TunedContraction::Candidate::time() const { return medianOf(times); }

size_t TunedContraction::best() const {
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i)
    if (isFaster(candidates[i].times, candidates[0].times) &&
        candidates[i].time() < candidates[best].time())
      best = i;
  return best;
}

void TunedContraction::confirm(const std::vector<double> &own,
                               const std::vector<double> &best) {
  if (!isFaster(best, own))
    return;
  confirmedOwn = medianOf(own);
  confirmedBest = medianOf(best);
}

void TuningResult::read(const Json &list) {
  version = list.at("version");
  machine = list.at("machine");
  for (const Json &each : list.at("contractions")) {
    TunedContraction contraction;
    contraction.text = each.at("contraction");
    contraction.places = each.at("places");
    for (Json choice : each.at("candidates")) {
      uint64_t cycles = choice.at("cycles");
      choice.erase("cycles");
      contraction.candidates.push_back({choice, cycles, {}});
    }
    contractions.push_back(std::move(contraction));
  }
}

static bool computes(const std::set<std::string> &nodes,
                     const TunedContraction &contraction) {
  for (const std::vector<std::string> &place : contraction.places) {
    bool all = !place.empty();
    for (const std::string &node : place)
      all &= nodes.count(node) != 0;
    if (all)
      return true;
  }
  return false;
}

std::vector<double>
TuningResult::timesOf(const Json &kernels,
                      const std::map<std::string, double> &times) const {
  std::vector<double> result(contractions.size());
  for (const Json &kernel : kernels) {
    auto time = times.find(kernel.at("name"));
    std::set<std::string> nodes = kernel.at("nodes");
    std::vector<size_t> found;
    for (size_t i = 0; i != contractions.size(); ++i)
      if (computes(nodes, contractions[i]))
        found.push_back(i);
    // What computes several cannot be told apart.
    if (time != times.end() && found.size() == 1)
      result[found.front()] += time->second;
  }
  return result;
}

static Json makeEntry(const TunedContraction &contraction, size_t candidate) {
  Json entry = contraction.candidates[candidate].choice;
  entry["contraction"] = contraction.text;
  return entry;
}

Json TuningResult::entriesOfRound(size_t round) const {
  Json entries = Json::array();
  for (const TunedContraction &contraction : contractions)
    if (round < contraction.candidates.size())
      entries.push_back(makeEntry(contraction, round));
  return entries;
}

Json TuningResult::entriesOfBest() const {
  Json entries = Json::array();
  for (const TunedContraction &contraction : contractions)
    if (size_t best = contraction.best())
      entries.push_back(makeEntry(contraction, best));
  return entries;
}

static double round(double microseconds) {
  return double(int64_t(microseconds * 100 + 0.5)) / 100;
}

Json TuningResult::entriesOfConfirmed() const {
  Json entries = Json::array();
  for (const TunedContraction &contraction : contractions) {
    if (contraction.confirmedBest == 0)
      continue;
    auto places = double(contraction.places.size());
    Json entry = makeEntry(contraction, contraction.best());
    entry["microseconds"] = round(contraction.confirmedBest / places);
    entry["own_microseconds"] = round(contraction.confirmedOwn / places);
    entries.push_back(entry);
  }
  return entries;
}

/// One entry a line, for people and for diffs.
std::string TuningResult::tableText(const Json &entries) const {
  std::string text = "{\n \"format\": 1,\n \"version\": " + version.dump() +
                     ",\n \"machine\": " + machine.dump() +
                     ",\n \"entries\": [";
  for (size_t i = 0; i != entries.size(); ++i)
    text += (i ? ",\n  " : "\n  ") + entries[i].dump();
  return text + "\n ]\n}\n";
}

static std::string spell(const Json &choice) {
  std::string text = choice.at("box").dump();
  return choice.contains("order") ? text + " order " + choice.at("order").dump()
                                  : text;
}

std::string TuningResult::text() const {
  std::string lines;
  double own = 0, best = 0;
  size_t kept = 0, unknown = 0;
  for (const TunedContraction &contraction : contractions) {
    unknown += contraction.candidates.front().times.empty();
    if (contraction.confirmedBest == 0)
      continue;
    ++kept;
    own += contraction.confirmedOwn;
    best += contraction.confirmedBest;
    size_t choice = contraction.best();
    const std::vector<std::string> &nodes = contraction.places.front();
    char figures[160];
    std::snprintf(figures, sizeof(figures), "%10.1f us %10.1f us %6.1f %%  ",
                  contraction.confirmedOwn, contraction.confirmedBest,
                  (contraction.confirmedOwn / contraction.confirmedBest - 1) *
                      100);
    lines +=
        figures + spell(contraction.candidates[0].choice) + " -> " +
        spell(contraction.candidates[choice].choice) + "  " +
        contraction.text.substr(0, contraction.text.find(':')) + " of '" +
        (nodes.empty() ? "?" : nodes.front()) + "'" +
        (contraction.places.size() > 1
             ? " and " + std::to_string(contraction.places.size() - 1) + " more"
             : "") +
        "\n";
  }
  if (kept)
    lines = "    own choice          best   faster  tile, parallel | reduced "
            "sizes, node\n" +
            lines;
  char summary[256];
  if (kept)
    std::snprintf(summary, sizeof(summary),
                  "%zu of %zu contractions are faster with another strategy: "
                  "%.3f ms instead of %.3f ms\n",
                  kept, contractions.size(), best / 1e3, own / 1e3);
  else
    std::snprintf(summary, sizeof(summary),
                  "None of %zu contractions is faster with another strategy\n",
                  contractions.size());
  lines += summary;
  if (unknown)
    lines += std::to_string(unknown) +
             " have no kernel of their own and were not measured\n";
  return lines;
}

std::string TuningResult::json() const {
  Json out;
  out["version"] = version;
  out["machine"] = machine;
  out["contractions"] = Json::array();
  for (const TunedContraction &contraction : contractions) {
    Json each;
    each["contraction"] = contraction.text;
    each["places"] = contraction.places;
    each["candidates"] = Json::array();
    for (const TunedContraction::Candidate &candidate :
         contraction.candidates) {
      Json one = candidate.choice;
      one["predicted_cycles"] = candidate.predictedCycles;
      one["median_us"] = candidate.time();
      each["candidates"].push_back(one);
    }
    each["best"] = contraction.confirmedBest != 0 ? contraction.best() : 0;
    each["confirmed_us"] = contraction.confirmedBest;
    each["confirmed_own_us"] = contraction.confirmedOwn;
    out["contractions"].push_back(each);
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace ashlar::tools
