// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels and nodes of a module as text for people.

#include "ModuleDescription.h"

#include "Bytes.h"
#include "TextTable.h"

namespace ashlar::tools {

using namespace ashlar::runtime;

/// Whether the assembler was asked of a program's kernels.
static bool hasResources(const fb::Program &program) {
  for (uint32_t i = 0; i < count(program.kernels()); ++i)
    if (program.kernels()->Get(i)->resources())
      return true;
  return false;
}

static void appendResources(const fb::Kernel &kernel,
                            std::vector<std::string> &row) {
  const fb::KernelResources *of = kernel.resources();
  if (!of) {
    row.insert(row.end(), 4, "-");
    return;
  }
  row.insert(row.end(),
             {std::to_string(of->registers()), formatBytes(of->shared_bytes()),
              formatBytes(of->spill_bytes()),
              formatNumber("%.0f %%", 100 * of->occupancy())});
}

static TextTable makeKernelTable(bool withResources) {
  constexpr auto Left = TextTable::Align::Left, Right = TextTable::Align::Right;
  std::vector<std::string> heads = {"name",     "Mflop",    "moved", "launches",
                                    "bound us", "bound by", "code"};
  std::vector<TextTable::Align> aligns = {Left,  Right, Right, Right,
                                          Right, Left,  Right};
  if (withResources) {
    heads.insert(heads.end(), {"registers", "shared", "spills", "occupancy"});
    aligns.insert(aligns.end(), 4, Right);
  }
  heads.push_back("nodes");
  aligns.push_back(Left);
  return {heads, aligns};
}

static std::vector<std::string> kernelRow(const fb::Program &program,
                                          const fb::Kernel &kernel,
                                          uint64_t launches,
                                          bool withResources) {
  const fb::Companion *companion = companionOf(program, kernel);
  double hz = clockHz(companion ? companion->machine() : program.machine());
  auto cost = [](const fb::SizeExpression *size) {
    return uint64_t(size ? size->constant() : 0);
  };
  std::vector<std::string> row = {
      textOf(kernel.name()),
      formatNumber("%.3f", double(cost(kernel.flops())) / 1e6),
      formatBytes(cost(kernel.bytes())),
      std::to_string(launches),
      hz > 0 ? formatNumber("%.2f", double(kernel.bound_cycles()) / hz * 1e6)
             : "-",
      textOf(kernel.bound()),
      formatBytes(kernel.code_bytes())};
  if (withResources)
    appendResources(kernel, row);
  std::string nodes;
  for (size_t n = 0; n < count(kernel.nodes()); ++n)
    nodes += (n ? ", " : "") + textOf(kernel.nodes()->Get(uint32_t(n)));
  row.push_back(nodes + (companion ? " on " + targetName(*companion) : ""));
  return row;
}

std::string Inspection::kernelTable(size_t columns) const {
  std::string text;
  for (size_t p = 0; p < count(parts->index().programs()); ++p) {
    const fb::Program &program = *parts->index().programs()->Get(uint32_t(p));
    const bool withResources = hasResources(program);
    TextTable table = makeKernelTable(withResources);
    std::vector<uint64_t> launches = countLaunches(program);
    for (size_t i = 0; i < count(program.kernels()); ++i)
      table.add(kernelRow(program, *program.kernels()->Get(uint32_t(i)),
                          launches[i], withResources));
    text +=
        "\nkernels of " + programName(program) + "\n" + table.format(columns);
  }
  return text;
}

std::string Inspection::nodeTable(size_t columns) const {
  constexpr auto Left = TextTable::Align::Left;
  std::string text;
  for (size_t p = 0; p < count(parts->index().programs()); ++p) {
    const fb::Program &program = *parts->index().programs()->Get(uint32_t(p));
    TextTable table({"name", "kernels"}, {Left, Left});
    for (const Json &node : nodesJson(program)) {
      std::string kernels;
      if (node["kernels"].empty())
        kernels = node["fate"];
      for (size_t k = 0; k < node["kernels"].size(); ++k)
        kernels += (k ? ", " : "") + node["kernels"][k].get<std::string>();
      table.add({node["name"], kernels});
    }
    text += "\nnodes of " + programName(program) + "\n" + table.format(columns);
  }
  return text;
}

} // namespace ashlar::tools
