// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Inspection.h"

#include "Bytes.h"
#include "Disassembly.h"
#include "Failure.h"
#include "MemoryMap.h"
#include "Streams.h"

#include "IndexVerifier.h"
#include "ModuleFile.h"
#include "ProgramChoice.h"
#include "SizeExpression.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

namespace ashlar::tools {

using Json = nlohmann::ordered_json;
using namespace ashlar::runtime;

struct Inspection::Parts {
  std::unique_ptr<ModuleFile> file;
  Runtime runtime;
  ProgramChoice choice;
  bool runsHere = false;
  const fb::Module &index() const { return file->index(); }
  const fb::Program &program() const {
    return *index().programs()->Get(runsHere ? choice.program : 0);
  }
  std::string title(const std::string &of) const {
    const fb::Program &made = program();
    return of + " of " + path.substr(path.rfind('/') + 1) + ", " +
           made.target()->str() + ":" + made.preset()->str();
  }
  std::string path;
};

static void check(const Status &status) { tools::check(exportStatus(status)); }

static std::string textOf(const flatbuffers::String *string) {
  return string ? string->str() : std::string();
}

Inspection::Inspection(const std::string &path)
    : parts(std::make_unique<Parts>()) {
  parts->path = path;
  check(ModuleFile::openFile(path.c_str(), parts->file));
  parts->runsHere =
      chooseProgram(parts->runtime, parts->index(), {}, parts->choice).ok();
}

Inspection::~Inspection() = default;

void Inspection::verify() const {
  check(parts->file->verifyWeights());
  for (size_t i = 0; i < count(parts->index().sections()); ++i) {
    const fb::Section &section = *parts->index().sections()->Get(uint32_t(i));
    if (section.kind() == fb::SectionKind::Code)
      check(parts->file->verifyHash(section, "code"));
  }
}

/// A number, or text where symbols decide.
static Json sizeJson(const fb::SizeExpression &size, const fb::Module &index) {
  int64_t value = 0;
  if (isConstantSize(size) && evaluateSize(size, nullptr, value))
    return value;
  return sizeText(size, index.symbols());
}

static Json tensorsJson(
    const flatbuffers::Vector<flatbuffers::Offset<fb::TensorDescription>>
        *tensors,
    const fb::Module &index) {
  Json list = Json::array();
  for (size_t i = 0; i < count(tensors); ++i) {
    const fb::TensorDescription &tensor = *tensors->Get(uint32_t(i));
    Json shape = Json::array();
    for (size_t j = 0; j < count(tensor.shape()); ++j)
      shape.push_back(sizeJson(*tensor.shape()->Get(uint32_t(j)), index));
    list.push_back({{"name", textOf(tensor.name())},
                    {"type", ashlar_element_type_name(uint32_t(tensor.type()))},
                    {"shape", shape}});
  }
  return list;
}

/// Of a program and of a further device of one: "TARGET:PRESET".
template <typename Table> static std::string targetName(const Table &table) {
  return textOf(table.target()) + ":" + textOf(table.preset());
}

static std::string programName(const fb::Program &program) {
  std::string name = targetName(program);
  for (uint32_t i = 0; i < count(program.companions()); ++i)
    name += "+" + targetName(*program.companions()->Get(i));
  return name;
}

/// The further device that runs a kernel; null: the program's own.
static const fb::Companion *companionOf(const fb::Program &program,
                                        const fb::Kernel &kernel) {
  uint32_t device = deviceOf(program, kernel);
  return device ? program.companions()->Get(device - 1) : nullptr;
}

/// Figures of the first device; those of others stand apart, and in the peak.
static Json contractJson(const fb::Contract &contract,
                         const fb::Program &program) {
  Json devices = {textOf(program.device_type())}, companions = Json::array();
  for (uint32_t i = 0; i < count(contract.companions()); ++i) {
    const fb::CompanionContract &other = *contract.companions()->Get(i);
    const fb::Companion &device = *program.companions()->Get(i);
    devices.push_back(textOf(device.device_type()));
    companions.push_back(
        {{"target", targetName(device)},
         {"weights_bytes", other.weights_bytes()},
         {"code_bytes", other.code_bytes()},
         {"arena_bytes", other.arena_bytes()},
         {"arena_lower_bound_bytes", other.arena_lower_bound_bytes()}});
  }
  return {{"weights_bytes", contract.weights_bytes()},
          {"code_bytes", contract.code_bytes()},
          {"arena_bytes", contract.arena_bytes()},
          {"arena_lower_bound_bytes", contract.arena_lower_bound_bytes()},
          {"outputs_bytes", contract.outputs_bytes()},
          {"staging_bytes", contract.staging_bytes()},
          {"scratch_bytes_per_worker", contract.scratch_bytes_per_worker()},
          {"peak_bytes", contract.peak_bytes()},
          {"devices", devices},
          {"companions", companions}};
}

/// The entry with the largest peak speaks for its program.
static Json programContract(const fb::Program &program) {
  const fb::Contract *worst = nullptr;
  for (size_t i = 0; i < count(program.entries()); ++i) {
    const fb::Contract *one = program.entries()->Get(uint32_t(i))->contract();
    if (!worst || one->peak_bytes() > worst->peak_bytes())
      worst = one;
  }
  return worst ? contractJson(*worst, program) : Json();
}

static Json costJson(const fb::SizeExpression *size) {
  return size ? Json(size->constant()) : Json();
}

static Json
stringsJson(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>
                *strings) {
  Json list = Json::array();
  for (size_t i = 0; i < count(strings); ++i)
    list.push_back(textOf(strings->Get(uint32_t(i))));
  return list;
}

/// The model's own fields; files that older compilers wrote have none, and
/// what is no JSON is shown as the text it is.
static Json machineJson(const fb::Machine *machine) {
  if (!machine)
    return Json();
  Json model = Json::parse(textOf(machine->description()), nullptr,
                           /*allow_exceptions=*/false);
  if (model.is_discarded())
    model = textOf(machine->description());
  return {{"name", textOf(machine->name())},
          {"sha256", textOf(machine->sha256())},
          {"model", model}};
}

/// How often each kernel is launched in one run of each entry. In control
/// flow every command counts once, whatever a call decides.
static void
countLaunches(const flatbuffers::Vector<fb::Command> *types,
              const flatbuffers::Vector<flatbuffers::Offset<void>> *commands,
              std::vector<uint64_t> &launches) {
  auto block = [&](const fb::Block *inner) {
    if (inner)
      countLaunches(inner->commands_type(), inner->commands(), launches);
  };
  for (uint32_t i = 0; i < count(commands); ++i) {
    const void *command = commands->Get(i);
    switch (types->Get(i)) {
    case fb::Command::Dispatch:
      ++launches[static_cast<const fb::Dispatch *>(command)->kernel()];
      break;
    case fb::Command::If:
      block(static_cast<const fb::If *>(command)->then());
      block(static_cast<const fb::If *>(command)->otherwise());
      break;
    case fb::Command::Loop:
      block(static_cast<const fb::Loop *>(command)->body());
      break;
    default:
      break;
    }
  }
}

static std::vector<uint64_t> countLaunches(const fb::Program &program) {
  std::vector<uint64_t> launches(count(program.kernels()));
  for (size_t i = 0; i < count(program.entries()); ++i) {
    const fb::ProgramEntry &entry = *program.entries()->Get(uint32_t(i));
    countLaunches(entry.commands_type(), entry.commands(), launches);
  }
  return launches;
}

static double clockHz(const fb::Machine *machine) {
  Json model = machineJson(machine);
  if (model.is_object() && model["model"].is_object() &&
      model["model"].contains("clock") &&
      model["model"]["clock"].contains("hz") &&
      model["model"]["clock"]["hz"].is_number())
    return model["model"]["clock"]["hz"].get<double>();
  return 0;
}

static const char *fateName(fb::NodeFate fate) {
  return fate == fb::NodeFate::View      ? "view"
         : fate == fb::NodeFate::Command ? "command"
                                         : "folded";
}

/// From each of the model's nodes to its kernels, or to what became of it.
static Json nodesJson(const fb::Program &program) {
  Json nodes = Json::array();
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < count(program.kernels()); ++i) {
    const fb::Kernel &kernel = *program.kernels()->Get(uint32_t(i));
    for (size_t n = 0; n < count(kernel.nodes()); ++n) {
      std::string name = textOf(kernel.nodes()->Get(uint32_t(n)));
      auto [place, isNew] = places.emplace(name, nodes.size());
      if (isNew)
        nodes.push_back(
            {{"name", name}, {"fate", "kernel"}, {"kernels", Json::array()}});
      nodes[place->second]["kernels"].push_back(textOf(kernel.name()));
    }
  }
  for (size_t i = 0; i < count(program.absent_nodes()); ++i) {
    const fb::AbsentNode &node = *program.absent_nodes()->Get(uint32_t(i));
    nodes.push_back({{"name", textOf(node.name())},
                     {"fate", fateName(node.fate())},
                     {"kernels", Json::array()}});
  }
  return nodes;
}

static Json programJson(const fb::Program &program) {
  Json kernels = Json::array();
  std::vector<uint64_t> launches = countLaunches(program);
  for (size_t i = 0; i < count(program.kernels()); ++i) {
    const fb::Kernel &kernel = *program.kernels()->Get(uint32_t(i));
    const fb::Companion *companion = companionOf(program, kernel);
    double hz = clockHz(companion ? companion->machine() : program.machine());
    kernels.push_back(
        {{"name", textOf(kernel.name())},
         {"target", companion ? targetName(*companion) : targetName(program)},
         {"nodes", stringsJson(kernel.nodes())},
         {"flops", costJson(kernel.flops())},
         {"bytes", costJson(kernel.bytes())},
         {"launches", launches[i]},
         {"bound", textOf(kernel.bound())},
         {"bound_cycles", kernel.bound_cycles()},
         {"bound_us",
          hz > 0 ? Json(double(kernel.bound_cycles()) / hz * 1e6) : Json()},
         {"code_bytes", kernel.code_bytes()},
         {"scratch_bytes", kernel.scratch_bytes()}});
  }
  Json companions = Json::array();
  for (uint32_t i = 0; i < count(program.companions()); ++i) {
    const fb::Companion &companion = *program.companions()->Get(i);
    companions.push_back(
        {{"target", textOf(companion.target())},
         {"preset", textOf(companion.preset())},
         {"device_type", textOf(companion.device_type())},
         {"required_features", stringsJson(companion.required_features())},
         {"machine", machineJson(companion.machine())}});
  }
  return {{"target", textOf(program.target())},
          {"preset", textOf(program.preset())},
          {"device_type", textOf(program.device_type())},
          {"required_features", stringsJson(program.required_features())},
          {"companions", companions},
          {"machine", machineJson(program.machine())},
          {"contract", programContract(program)},
          {"kernels", kernels},
          {"nodes", nodesJson(program)}};
}

std::string Inspection::json() const {
  const fb::Module &index = parts->index();
  Json out;
  out["format_version"] = {parts->file->header().major_version,
                           parts->file->header().minor_version};
  out["file_bytes"] = parts->file->size();
  out["entries"] = Json::array();
  for (size_t i = 0; i < count(index.entries()); ++i) {
    const fb::Entry &entry = *index.entries()->Get(uint32_t(i));
    out["entries"].push_back(
        {{"name", textOf(entry.name())},
         {"inputs", tensorsJson(entry.inputs(), index)},
         {"outputs", tensorsJson(entry.outputs(), index)}});
  }
  out["contract"] = Json();
  out["devices"] = Json::array();
  if (parts->runsHere) {
    out["contract"] =
        programContract(*index.programs()->Get(parts->choice.program));
    for (const ashlar_device_t *device : parts->choice.devices)
      out["devices"].push_back(device->name);
    if (out["contract"].is_object())
      out["contract"]["devices"] = out["devices"];
  }
  out["placement"] = parts->choice.log;
  out["programs"] = Json::array();
  for (size_t i = 0; i < count(index.programs()); ++i)
    out["programs"].push_back(programJson(*index.programs()->Get(uint32_t(i))));
  const fb::Provenance *from = index.provenance();
  out["provenance"] = {
      {"version", from ? textOf(from->version()) : ""},
      {"flags", stringsJson(from ? from->flags() : nullptr)},
      {"model_sha256", from ? textOf(from->model_sha256()) : ""},
      {"precision", stringsJson(from ? from->precision() : nullptr)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

static std::string pad(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

static std::string tensorLine(const char *role,
                              const fb::TensorDescription &tensor,
                              const fb::Module &index) {
  std::string shape;
  for (size_t j = 0; j < count(tensor.shape()); ++j)
    shape += (j ? "x" : "") +
             sizeText(*tensor.shape()->Get(uint32_t(j)), index.symbols());
  return std::string("  ") + role + "  " + pad(textOf(tensor.name()), 24) +
         " " + pad(ashlar_element_type_name(uint32_t(tensor.type())), 5) + " " +
         (shape.empty() ? "scalar" : shape) + "\n";
}

static std::string contractTable(const fb::Contract &contract,
                                 const fb::Program &program) {
  auto line = [](const char *name, uint64_t bytes, const char *note) {
    return "  " + pad(name, 16) + pad(formatBytes(bytes), 12) + note + "\n";
  };
  std::string companions;
  for (uint32_t i = 0; i < count(contract.companions()); ++i) {
    const fb::CompanionContract &other = *contract.companions()->Get(i);
    companions += "  on " + targetName(*program.companions()->Get(i)) + "\n" +
                  line("  weights", other.weights_bytes(), "once per module") +
                  line("  code", other.code_bytes(), "once per module") +
                  line("  arena", other.arena_bytes(), "per session") +
                  line("    lower bound", other.arena_lower_bound_bytes(),
                       "no plan needs less");
  }
  return line("weights", contract.weights_bytes(), "once per module") +
         line("code", contract.code_bytes(), "once per module") +
         line("arena", contract.arena_bytes(), "per session") +
         line("  lower bound", contract.arena_lower_bound_bytes(),
              "no plan needs less") +
         line("outputs", contract.outputs_bytes(), "if the session owns them") +
         line("staging", contract.staging_bytes(), "if inputs are unaligned") +
         line("scratch", contract.scratch_bytes_per_worker(), "per thread") +
         companions + line("peak", contract.peak_bytes(), "with one thread");
}

std::string Inspection::table() const {
  const fb::Module &index = parts->index();
  std::string text = "file      " + formatBytes(parts->file->size()) +
                     ", format " +
                     std::to_string(parts->file->header().major_version) + "." +
                     std::to_string(parts->file->header().minor_version) + "\n";
  if (const fb::Provenance *from = index.provenance()) {
    text += "made by   ashlar " + textOf(from->version());
    for (size_t i = 0; i < count(from->flags()); ++i)
      text += " " + textOf(from->flags()->Get(uint32_t(i)));
    text += "\n";
    for (size_t i = 0; i < count(from->precision()); ++i)
      text += (i ? "          " : "precision ") +
              textOf(from->precision()->Get(uint32_t(i))) + "\n";
  }
  text += "weights   " + std::to_string(count(index.weights())) + "\n";
  for (size_t i = 0; i < count(index.entries()); ++i) {
    const fb::Entry &entry = *index.entries()->Get(uint32_t(i));
    text += "\nentry " + textOf(entry.name()) + "\n";
    for (size_t j = 0; j < count(entry.inputs()); ++j)
      text += tensorLine("in ", *entry.inputs()->Get(uint32_t(j)), index);
    for (size_t j = 0; j < count(entry.outputs()); ++j)
      text += tensorLine("out", *entry.outputs()->Get(uint32_t(j)), index);
  }
  text += "\nprograms\n";
  for (size_t start = 0; start < parts->choice.log.size();) {
    size_t end = parts->choice.log.find('\n', start);
    text += "  " + parts->choice.log.substr(start, end - start) + "\n";
    start = end + 1;
  }
  if (!parts->runsHere)
    return text;
  const fb::Program &program = *index.programs()->Get(parts->choice.program);
  for (size_t i = 0; i < count(program.entries()); ++i) {
    const fb::ProgramEntry &entry = *program.entries()->Get(uint32_t(i));
    text += "\nmemory of " +
            textOf(index.entries()->Get(entry.entry())->name()) + "\n" +
            contractTable(*entry.contract(), program);
  }
  return text;
}

static std::string describeMachine(const std::string &target,
                                   const fb::Machine *machine) {
  std::string text = "\nmachine of " + target + "\n";
  if (!machine)
    return text + "  not in this file\n";
  return text + "  sha256 " + textOf(machine->sha256()) + "\n" +
         machineJson(machine)["model"].dump(2, ' ', false,
                                            Json::error_handler_t::replace) +
         "\n";
}

std::string Inspection::machineText() const {
  std::string text;
  for (size_t p = 0; p < count(parts->index().programs()); ++p) {
    const fb::Program &program = *parts->index().programs()->Get(uint32_t(p));
    text += describeMachine(targetName(program), program.machine());
    for (uint32_t i = 0; i < count(program.companions()); ++i) {
      const fb::Companion &companion = *program.companions()->Get(i);
      text += describeMachine(targetName(companion), companion.machine());
    }
  }
  return text;
}

std::string Inspection::kernelTable() const {
  std::string text;
  for (size_t p = 0; p < count(parts->index().programs()); ++p) {
    const fb::Program &program = *parts->index().programs()->Get(uint32_t(p));
    text += "\nkernels of " + programName(program) + "\n  " + pad("name", 32) +
            pad("Mflop", 12) + pad("moved", 12) + pad("launches", 9) +
            pad("bound us", 10) + pad("bound by", 16) + pad("code", 12) +
            "nodes\n";
    std::vector<uint64_t> launches = countLaunches(program);
    for (size_t i = 0; i < count(program.kernels()); ++i) {
      const fb::Kernel &kernel = *program.kernels()->Get(uint32_t(i));
      const fb::Companion *companion = companionOf(program, kernel);
      double hz = clockHz(companion ? companion->machine() : program.machine());
      auto cost = [](const fb::SizeExpression *size) {
        return uint64_t(size ? size->constant() : 0);
      };
      char flops[32];
      std::snprintf(flops, sizeof(flops), "%.3f",
                    double(cost(kernel.flops())) / 1e6);
      char bound[32] = "-";
      if (hz > 0)
        std::snprintf(bound, sizeof(bound), "%.2f",
                      double(kernel.bound_cycles()) / hz * 1e6);
      std::string nodes;
      for (size_t n = 0; n < count(kernel.nodes()); ++n)
        nodes += (n ? ", " : "") + textOf(kernel.nodes()->Get(uint32_t(n)));
      text += "  " + pad(textOf(kernel.name()), 31) + " " + pad(flops, 11) +
              " " + pad(formatBytes(cost(kernel.bytes())), 11) + " " +
              pad(std::to_string(launches[i]), 8) + " " + pad(bound, 9) + " " +
              pad(textOf(kernel.bound()), 15) + " " +
              pad(formatBytes(kernel.code_bytes()), 11) + " " + nodes +
              (companion ? " on " + targetName(*companion) : "") + "\n";
    }
  }
  return text;
}

std::string Inspection::utilisation(bool asJson) const {
  const fb::Module &index = parts->index();
  Json list = Json::array();
  std::string text;
  for (size_t p = 0; p < count(index.programs()); ++p) {
    const fb::Program &program = *index.programs()->Get(uint32_t(p));
    std::optional<StreamUse> use =
        measureStreams(*parts->file, program, countLaunches(program));
    if (!use)
      continue;
    text += use->table(programName(program));
    list.push_back(use->json());
    list.back()["program"] = programName(program);
  }
  if (text.empty())
    throw Failure(Refused, "no program is for a systolic machine; expected one "
                           "with executables of format 'systolic'");
  return asJson
             ? list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
             : text.substr(1);
}

std::string Inspection::disassembly(const std::string &name) const {
  const fb::Module &index = parts->index();
  std::string text;
  for (size_t p = 0; p < count(index.programs()); ++p) {
    const fb::Program &program = *index.programs()->Get(uint32_t(p));
    for (size_t i = 0; i < count(program.kernels()); ++i) {
      const fb::Kernel &kernel = *program.kernels()->Get(uint32_t(i));
      if (textOf(kernel.name()) != name)
        continue;
      const fb::Executable &code =
          *program.executables()->Get(kernel.executable());
      const fb::Section &section = *index.sections()->Get(code.section());
      text += "\n" + name + " of " + programName(program) + ", " +
              textOf(code.format()) + "\n";
      std::optional<std::string> stream =
          disassembleStream(*parts->file, code, textOf(kernel.symbol()));
      text += stream ? *stream
                     : disassemble(parts->file->sectionData(section),
                                   section.size(), textOf(kernel.symbol()));
    }
  }
  if (text.empty())
    throw Failure(Refused, "no program has a kernel '" + name +
                               "'; --kernels lists those there are");
  return text;
}

std::string Inspection::nodeTable() const {
  std::string text;
  for (size_t p = 0; p < count(parts->index().programs()); ++p) {
    const fb::Program &program = *parts->index().programs()->Get(uint32_t(p));
    text += "\nnodes of " + programName(program) + "\n";
    for (const Json &node : nodesJson(program)) {
      text += "  " + pad(node["name"].get<std::string>(), 40) + " ";
      if (node["kernels"].empty())
        text += node["fate"].get<std::string>();
      for (size_t k = 0; k < node["kernels"].size(); ++k)
        text += (k ? ", " : "") + node["kernels"][k].get<std::string>();
      text += "\n";
    }
  }
  return text;
}

static bool endsIn(const std::string &path, const std::string &ending) {
  return path.size() >= ending.size() &&
         path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

std::string Inspection::memoryMap(const std::string &path) const {
  if (!endsIn(path, ".svg") && !endsIn(path, ".html"))
    throw Failure(WrongUsage, "--memory-map=" + path +
                                  ": expected a name in .svg or .html");
  const fb::Program &program = parts->program();
  MemoryMap map =
      readMemoryMap(parts->index(), program, *program.entries()->Get(0));
  return endsIn(path, ".svg") ? drawMemoryMap(map, parts->title("Memory"))
                              : memoryMapPage(map, parts->title("Memory"));
}

std::string Inspection::graph(const std::string &path) const {
  if (!endsIn(path, ".html"))
    throw Failure(WrongUsage, "--graph=" + path + ": expected a name in .html");
  const fb::Program &program = parts->program();
  return graphPage(
      readMemoryMap(parts->index(), program, *program.entries()->Get(0)),
      program, parts->title("Commands"));
}

} // namespace ashlar::tools
