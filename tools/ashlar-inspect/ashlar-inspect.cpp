// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks into a module file without running any of it: flags.

#include "Inspection.h"
#include "SignatureKeys.h"
#include "TextTable.h"
#include "ToolMain.h"

#include <cstdio>

using namespace ashlar::tools;

static const char description[] =
    "Example:\n"
    "  ashlar-inspect model.ash --kernels\n"
    "  ashlar-inspect model.ash --memory-map=memory.html --graph=graph.html\n"
    "\n"
    "Prints entries, programs and the memory contract of a module. Works for\n"
    "modules of other machines too.";

namespace {
struct Flags {
  std::string file, kernel, memoryMap, graph, entry, sizes, key;
  bool json = false, kernels = false, machine = false, verify = false;
  bool utilisation = false;
};
} // namespace

static void declareFlags(CLI::App &app, Flags &flags) {
  app.add_option("file", flags.file, "The module (.ash)")->required();
  app.add_flag("--json", flags.json, "Print one JSON object");
  app.add_flag("--kernels", flags.kernels,
               "Print the nodes, cost and bound of each kernel, and the "
               "kernels of each node");
  app.add_option("--disassemble", flags.kernel, "Print the code of one kernel")
      ->type_name("KERNEL");
  app.add_flag("--utilisation", flags.utilisation,
               "For systolic machines: print cycles, use, bytes, bound and "
               "dataflow of each region of a kernel; with --json for programs");
  app.add_option("--memory-map", flags.memoryMap,
                 "Draw which value lies where in the arena, and when: a .svg "
                 "or .html file")
      ->type_name("FILE");
  app.add_option("--graph", flags.graph,
                 "Write a page of the commands, their operands and what they "
                 "exchange: an .html file")
      ->type_name("FILE");
  app.add_option("--entry", flags.entry,
                 "The entry that --memory-map, --graph and --sizes show "
                 "(default: the first)")
      ->type_name("NAME");
  app.add_option("--sizes", flags.sizes,
                 "N=2,W=320: print what a call with these sizes costs, with "
                 "--json as an object")
      ->type_name("SIZES");
  app.add_flag("--machine", flags.machine,
               "Print the machine models that it was compiled for");
  app.add_flag("--verify", flags.verify,
               "Check the hashes of weights and code, too");
  app.add_option("--verify-signature", flags.key,
                 "Check that the module is signed with this Ed25519 key (PEM, "
                 "'openssl pkey -pubout')")
      ->type_name("FILE");
}

static void checkFlags(const Flags &flags) {
  bool showsMore = !flags.memoryMap.empty() || !flags.graph.empty() ||
                   flags.kernels || flags.machine || flags.utilisation ||
                   !flags.kernel.empty();
  if (!flags.sizes.empty() && showsMore)
    throw Failure(WrongUsage,
                  "--sizes=" + flags.sizes +
                      ": expected --json, --entry and --verify alone beside "
                      "it, since all else shows the largest sizes; leave "
                      "--sizes out");
}

/// The whole module, as text or JSON.
static std::string describe(const Inspection &inspection, const Flags &flags) {
  if (flags.json)
    return inspection.json();
  std::string text = inspection.table();
  if (flags.kernels)
    text += inspection.kernelTable(outputColumns()) +
            inspection.nodeTable(outputColumns());
  if (flags.machine)
    text += inspection.machineText();
  if (flags.verify)
    text += "\nhashes of weights and code are right\n";
  if (!flags.key.empty())
    text += "\nthe signature is right\n";
  return text;
}

/// What standard output gets.
static std::string outputOf(const Inspection &inspection, const Flags &flags) {
  if (!flags.kernel.empty())
    return inspection.disassembly(flags.kernel).substr(1);
  if (!flags.sizes.empty())
    return inspection.contractAt(flags.sizes, flags.entry, flags.json);
  if (flags.utilisation)
    return inspection.utilisation(flags.json);
  return describe(inspection, flags);
}

static int inspect(const Flags &flags) {
  std::string keys;
  if (!flags.key.empty())
    keys = readSignatureKeys({flags.key}, "--verify-signature");
  Inspection inspection(flags.file, keys);
  if (flags.verify)
    inspection.verify();
  checkFlags(flags);
  bool draws = !flags.memoryMap.empty() || !flags.graph.empty();
  if (draws)
    checkWrittenFiles(flags.file, {flags.memoryMap, flags.graph});
  if (!flags.memoryMap.empty())
    writeWholeFile(flags.memoryMap,
                   inspection.memoryMap(flags.memoryMap, flags.entry));
  if (!flags.graph.empty())
    writeWholeFile(flags.graph, inspection.graph(flags.graph, flags.entry));
  bool prints =
      flags.json || flags.kernels || flags.machine || !flags.kernel.empty();
  if (!draws || prints)
    std::fputs(outputOf(inspection, flags).c_str(), stdout);
  return Done;
}

int main(int argc, char **argv) {
  CLI::App app(description, "ashlar-inspect");
  app.set_version_flag("--version", std::string("ashlar-inspect ") +
                                        ashlar_runtime_version());
  Flags flags;
  declareFlags(app, flags);
  return runTool("ashlar-inspect", app, argc, argv,
                 [&] { return inspect(flags); });
}
