// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Utilisation.h"

#include <algorithm>
#include <cstdio>

namespace ashlar::systolic {

/// What was busy at least half of the time; nothing: whatever there is waited.
static const char *boundOf(const RegionUse &use) {
  double most = std::max({use.arrayBusy, use.portBusy, use.vectorBusy});
  if (most < 0.5)
    return "latency";
  return most == use.arrayBusy  ? "array"
         : most == use.portBusy ? "memory"
                                : "vector";
}

std::string measureUse(const Machine &machine, const Kernel &kernel,
                       KernelUse &use) {
  Decoder decoder(machine, kernel);
  Timing timing(machine, kernel.regions.size());
  for (Action action; decoder.next(action);)
    timing.add(action);
  timing.finish();
  if (decoder.failed())
    return decoder.error();
  const double perCycle =
      double(machine.dim) * machine.dim * double(machine.arrays);
  const double portRate = machine.memory_bytes_per_1024_cycles / 1024.0;
  use = KernelUse();
  use.cycles = timing.cycles();
  use.seconds = double(use.cycles) / double(machine.clock_hz);
  for (size_t i = 0; i < timing.regions().size(); ++i) {
    const RegionTime &time = timing.regions()[i];
    if (time.first >= time.last)
      continue;
    RegionUse &row = use.regions.emplace_back();
    row.region = i < kernel.regions.size() ? &kernel.regions[i] : nullptr;
    row.time = time;
    row.cycles = time.last - time.first;
    auto cycles = double(row.cycles);
    row.arrayBusy = double(time.arrayBusy) / (cycles * machine.arrays);
    row.vectorBusy = double(time.vectorBusy) / cycles;
    row.portBusy = double(time.loadBytes + time.storeBytes) / portRate / cycles;
    if (machine.requests_in_flight)
      row.portBusy = std::max(
          row.portBusy, double(std::max(time.loadFlight, time.storeFlight)) /
                            machine.requests_in_flight / cycles);
    uint64_t useful = row.region ? row.region->multiplyAdds : 0;
    row.utilisation = double(useful) / (perCycle * cycles);
    row.bound = boundOf(row);
    if (row.region && row.region->kind == ASHLAR_SYSTOLIC_CONTRACTION)
      use.multiplyAdds += useful;
  }
  use.contractionCycles = cyclesOf(kernel, timing, ASHLAR_SYSTOLIC_CONTRACTION);
  use.depthwiseCycles = cyclesOf(kernel, timing, ASHLAR_SYSTOLIC_DEPTHWISE);
  if (use.contractionCycles)
    use.utilisation =
        double(use.multiplyAdds) / (perCycle * double(use.contractionCycles));
  return "";
}

std::string useTable(const Machine &machine, const KernelUse &use) {
  char line[256];
  std::string result =
      "     cycles  array  useful   port  vector      loaded      stored  "
      "bound    dataflow           region\n";
  for (const RegionUse &row : use.regions) {
    std::snprintf(
        line, sizeof(line),
        "%11llu %5.1f%% %6.1f%% %5.1f%% %6.1f%% %11llu %11llu  %-8s %-18s ",
        static_cast<unsigned long long>(row.cycles), row.arrayBusy * 100,
        row.utilisation * 100, row.portBusy * 100, row.vectorBusy * 100,
        static_cast<unsigned long long>(row.time.loadBytes),
        static_cast<unsigned long long>(row.time.storeBytes), row.bound,
        row.region ? dataflowName(row.region->dataflow) : "");
    result += line + (row.region ? row.region->name : "(before)") + "\n";
  }
  std::snprintf(line, sizeof(line),
                "%llu cycles on %s, %.3f ms; contractions: %llu multiply-adds "
                "in %llu cycles, %.1f %% of the arrays\n",
                static_cast<unsigned long long>(use.cycles), machine.name,
                use.seconds * 1e3,
                static_cast<unsigned long long>(use.multiplyAdds),
                static_cast<unsigned long long>(use.contractionCycles),
                use.utilisation * 100);
  return result + line;
}

} // namespace ashlar::systolic
