// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModuleDescription.h"

#include "EntryPieces.h"
#include "IndexVerifier.h"

#include <map>

namespace ashlar::tools {

using namespace ashlar::runtime;

std::string textOf(const flatbuffers::String *string) {
  return string ? string->str() : std::string();
}

std::string programName(const fb::Program &program) {
  std::string name = targetName(program);
  for (uint32_t i = 0; i < count(program.companions()); ++i)
    name += "+" + targetName(*program.companions()->Get(i));
  return name;
}

bool isBoundDim(const fb::Module &index, const fb::Program &program,
                uint32_t entry, uint32_t output, uint32_t dim) {
  ashlar_entry_t described = {};
  described.entry = index.entries()->Get(entry);
  for (const fb::ProgramEntry *piece : allEntries(program))
    if (piece->entry() == entry)
      described.pieces.push_back(piece);
  return isBound(described, output, dim);
}

const fb::Companion *companionOf(const fb::Program &program,
                                 const fb::Kernel &kernel) {
  uint32_t device = deviceOf(program, kernel);
  return device ? program.companions()->Get(device - 1) : nullptr;
}

Json machineJson(const fb::Machine *machine) {
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

double clockHz(const fb::Machine *machine) {
  Json model = machineJson(machine);
  if (model.is_object() && model["model"].is_object() &&
      model["model"].contains("clock") &&
      model["model"]["clock"].contains("hz") &&
      model["model"]["clock"]["hz"].is_number())
    return model["model"]["clock"]["hz"].get<double>();
  return 0;
}

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

std::vector<uint64_t> countLaunches(const fb::Program &program) {
  std::vector<uint64_t> launches(count(program.kernels()));
  for (const fb::ProgramEntry *entry : allEntries(program))
    countLaunches(entry->commands_type(), entry->commands(), launches);
  return launches;
}

static const char *fateName(fb::NodeFate fate) {
  return fate == fb::NodeFate::View      ? "view"
         : fate == fb::NodeFate::Command ? "command"
                                         : "folded";
}

Json nodesJson(const fb::Program &program) {
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

} // namespace ashlar::tools
