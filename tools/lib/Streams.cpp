// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Streams.h"

#include "Failure.h"
#include "IndexVerifier.h"
#include "systolic/Disassemble.h"

#include <cstdio>

namespace ashlar::tools {

using Json = nlohmann::ordered_json;
using runtime::count;
using runtime::ModuleFile;

static bool isStream(const fb::Executable &code) {
  return code.format()->string_view() == ASHLAR_SYSTOLIC_FORMAT;
}

static std::shared_ptr<const systolic::Image>
readStreams(const ModuleFile &file, const fb::Executable &code) {
  const fb::Section &section = *file.index().sections()->Get(code.section());
  auto image = std::make_shared<systolic::Image>();
  std::string error =
      systolic::readImage(file.sectionData(section), section.size(), *image);
  if (!error.empty())
    throw Failure(Refused, error);
  return image;
}

static const systolic::Kernel &streamOf(const systolic::Image &image,
                                        const std::string &symbol) {
  for (const systolic::Kernel &kernel : image.kernels)
    if (std::string_view(kernel.name) == symbol)
      return kernel;
  throw Failure(Refused, "the streams lack the kernel '" + symbol + "'");
}

std::optional<StreamUse> measureStreams(const ModuleFile &file,
                                        const fb::Program &program,
                                        const std::vector<uint64_t> &launches) {
  for (uint32_t e = 0; e < count(program.executables()); ++e) {
    const fb::Executable &code = *program.executables()->Get(e);
    if (!isStream(code))
      continue;
    StreamUse all = {readStreams(file, code), {}};
    for (uint32_t k = 0; k < count(program.kernels()); ++k) {
      const fb::Kernel &kernel = *program.kernels()->Get(k);
      if (kernel.executable() != e)
        continue;
      StreamUse::Stream stream = {kernel.name()->str(), launches[k], {}};
      std::string error = systolic::measureUse(
          all.image->machine, streamOf(*all.image, kernel.symbol()->str()),
          stream.use);
      if (!error.empty())
        throw Failure(Refused, stream.name + ": " + error);
      all.streams.push_back(std::move(stream));
    }
    return all;
  }
  return std::nullopt;
}

uint64_t StreamUse::cycles() const {
  uint64_t sum = 0;
  for (const Stream &stream : streams)
    sum += stream.launches * stream.use.cycles;
  return sum;
}

uint64_t StreamUse::contractionCycles() const {
  uint64_t sum = 0;
  for (const Stream &stream : streams)
    sum += stream.launches * stream.use.contractionCycles;
  return sum;
}

uint64_t StreamUse::depthwiseCycles() const {
  uint64_t sum = 0;
  for (const Stream &stream : streams)
    sum += stream.launches * stream.use.depthwiseCycles;
  return sum;
}

uint64_t StreamUse::multiplyAdds() const {
  uint64_t sum = 0;
  for (const Stream &stream : streams)
    sum += stream.launches * stream.use.multiplyAdds;
  return sum;
}

double StreamUse::utilisation() const {
  const systolic::Machine &machine = image->machine;
  double perCycle = double(machine.dim) * machine.dim * machine.arrays;
  uint64_t taken = contractionCycles();
  return taken ? double(multiplyAdds()) / (perCycle * double(taken)) : 0;
}

std::string StreamUse::table(const std::string &program) const {
  std::string text;
  uint64_t launched = 0;
  for (const Stream &stream : streams) {
    launched += stream.launches;
    text += "\n" + stream.name + " of " + program +
            (stream.launches == 1
                 ? ""
                 : ", " + std::to_string(stream.launches) + " times") +
            "\n" + systolic::useTable(image->machine, stream.use);
  }
  char line[256];
  std::snprintf(line, sizeof(line),
                "\n%s, %llu streams: %llu cycles, %.3f ms; contractions: %llu "
                "multiply-adds in %llu cycles, %.1f %% of the arrays\n",
                image->machine.name, static_cast<unsigned long long>(launched),
                static_cast<unsigned long long>(cycles()),
                double(cycles()) / double(image->machine.clock_hz) * 1e3,
                static_cast<unsigned long long>(multiplyAdds()),
                static_cast<unsigned long long>(contractionCycles()),
                utilisation() * 100);
  text += line;
  if (uint64_t cycles = depthwiseCycles())
    text +=
        "of them depthwise ones, beside the others: " + std::to_string(cycles) +
        " cycles\n";
  return text;
}

Json StreamUse::json() const {
  Json list = Json::array();
  for (const Stream &stream : streams) {
    Json regions = Json::array();
    for (const systolic::RegionUse &row : stream.use.regions)
      regions.push_back(
          {{"name", row.region ? row.region->name : ""},
           {"multiply_adds", row.region ? row.region->multiplyAdds : 0},
           {"cycles", row.cycles},
           {"array_busy", row.arrayBusy},
           {"utilisation", row.utilisation},
           {"port_busy", row.portBusy},
           {"vector_busy", row.vectorBusy},
           {"loaded_bytes", row.time.loadBytes},
           {"stored_bytes", row.time.storeBytes},
           {"bound", row.bound},
           {"dataflow",
            row.region ? systolic::dataflowName(row.region->dataflow) : ""}});
    list.push_back({{"name", stream.name},
                    {"launches", stream.launches},
                    {"cycles", stream.use.cycles},
                    {"contraction_cycles", stream.use.contractionCycles},
                    {"depthwise_cycles", stream.use.depthwiseCycles},
                    {"multiply_adds", stream.use.multiplyAdds},
                    {"utilisation", stream.use.utilisation},
                    {"regions", regions}});
  }
  return {{"machine", image->machine.name},
          {"cycles", cycles()},
          {"contraction_cycles", contractionCycles()},
          {"depthwise_cycles", depthwiseCycles()},
          {"multiply_adds", multiplyAdds()},
          {"utilisation", utilisation()},
          {"streams", list}};
}

std::optional<std::string> disassembleStream(const ModuleFile &file,
                                             const fb::Executable &code,
                                             const std::string &symbol) {
  if (!isStream(code))
    return std::nullopt;
  auto image = readStreams(file, code);
  return systolic::disassemble(*image, streamOf(*image, symbol));
}

} // namespace ashlar::tools
