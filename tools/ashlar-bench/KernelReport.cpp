// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelReport.h"

#include "Failure.h"
#include "Siblings.h"
#include "TextTable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace ashlar::tools {

using Json = nlohmann::ordered_json;

/// The program that was measured.
static const Json &programOf(const Json &facts, const KernelTimes &times) {
  for (const Json &program : facts.at("programs"))
    if (program.at("target") == times.target &&
        program.at("preset") == times.preset)
      return program;
  throw Failure(OurFault, "no program " + times.target + ":" + times.preset);
}

static double numberOr0(const Json &value) {
  return value.is_number() ? value.get<double>() : 0;
}

KernelReport::KernelReport(const RunnerFlags &flags, double seconds) {
  TemporaryFolder folder;
  Json facts = Json::parse(runSibling(
      {findSibling("ashlar-inspect"), flags.file, "--json"}, folder));
  times = measureKernels(flags, seconds, folder.file("trace.json"));
  for (const Json &fact : programOf(facts, times).at("kernels")) {
    Kernel kernel;
    kernel.name = fact.at("name");
    auto time = times.microseconds.find(kernel.name);
    if (time == times.microseconds.end())
      continue; // of another entry, or of a piece for other sizes
    kernel.measured = time->second;
    kernel.threads = times.workers.at(kernel.name);
    kernel.bound = fact.at("bound");
    kernel.launches = fact.at("launches");
    auto launches = double(kernel.launches);
    kernel.predicted = numberOr0(fact.at("bound_us")) * launches;
    kernel.flops = numberOr0(fact.at("flops")) * launches;
    kernel.bytes = numberOr0(fact.at("bytes")) * launches;
    kernel.nodes = fact.at("nodes");
    kernels.push_back(std::move(kernel));
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const Kernel &a, const Kernel &b) {
              return a.measured != b.measured ? a.measured > b.measured
                                              : a.name < b.name;
            });
}

/// Microseconds. What is predicted to take less is mostly its launch.
static constexpr double leastPredicted = 0.1;

/// "-" where there is nothing to divide by.
static std::string formatRatio(const char *form, double above, double below) {
  return below > 0 ? formatNumber(form, above / below) : "-";
}

std::string KernelReport::text(size_t columns) const {
  constexpr auto Left = TextTable::Align::Left, Right = TextTable::Align::Right;
  TextTable table(
      {"kernel", "us", "share", "threads", "predicted us", "ratio", "GFLOP/s",
       "GB/s", "bound by", "nodes"},
      {Left, Right, Right, Right, Right, Right, Right, Right, Left, Left});
  double whole = times.runMicroseconds, rest = whole;
  for (const Kernel &kernel : kernels) {
    rest -= kernel.measured;
    std::string nodes;
    for (const std::string &node : kernel.nodes)
      nodes += (nodes.empty() ? "" : ", ") + node;
    table.add(
        {kernel.name, formatNumber("%.2f", kernel.measured),
         formatRatio("%.1f %%", kernel.measured * 100, whole),
         std::to_string(kernel.threads),
         kernel.predicted > 0 ? formatNumber("%.2f", kernel.predicted) : "-",
         kernel.predicted < leastPredicted
             ? "-"
             : formatRatio("%.2f", kernel.measured, kernel.predicted),
         formatRatio("%.1f", kernel.flops / 1e3, kernel.measured),
         formatRatio("%.1f", kernel.bytes / 1e3, kernel.measured), kernel.bound,
         nodes});
  }
  rest = std::max(0.0, rest);
  table.add({"between them", formatNumber("%.2f", rest),
             formatRatio("%.1f %%", rest * 100, whole), "", "", "", "", "", "",
             ""});
  return "\nkernels of " + times.target + ":" + times.preset + ", medians of " +
         std::to_string(times.runs) + " traced runs with " +
         std::to_string(times.threads) + " thread" +
         (times.threads == 1 ? "" : "s") +
         ";\npredicted for one, at the largest sizes\n" + table.format(columns);
}

/// To nanoseconds, which is what a trace has.
static double rounded(double microseconds) {
  return std::round(microseconds * 1e3) / 1e3;
}

std::string KernelReport::addedTo(const std::string &json) const {
  Json out = Json::parse(json);
  out["traced_run_us"] = rounded(times.runMicroseconds);
  out["kernels"] = Json::array();
  for (const Kernel &kernel : kernels) {
    Json each;
    each["name"] = kernel.name;
    each["median_us"] = rounded(kernel.measured);
    each["predicted_us"] =
        kernel.predicted > 0 ? Json(rounded(kernel.predicted)) : Json();
    each["threads"] = kernel.threads;
    each["launches"] = kernel.launches;
    each["flops"] = kernel.flops;
    each["bytes"] = kernel.bytes;
    each["bound"] = kernel.bound;
    each["nodes"] = kernel.nodes;
    out["kernels"].push_back(each);
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace ashlar::tools
