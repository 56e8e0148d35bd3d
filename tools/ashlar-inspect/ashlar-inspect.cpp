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

int main(int argc, char **argv) {
  CLI::App app(description, "ashlar-inspect");
  std::string file, kernel, memoryMap, graph, entry, sizes, key;
  bool json = false, kernels = false, machine = false, verify = false;
  bool utilisation = false;
  app.set_version_flag("--version", std::string("ashlar-inspect ") +
                                        ashlar_runtime_version());
  app.add_option("file", file, "The module (.ash)")->required();
  app.add_flag("--json", json, "Print one JSON object");
  app.add_flag(
      "--kernels", kernels,
      "Print every kernel with its nodes, cost and bound, and every node");
  app.add_option("--disassemble", kernel, "Print the code of one kernel")
      ->type_name("KERNEL");
  app.add_flag("--utilisation", utilisation,
               "Print what the kernels for a systolic machine cost on it: "
               "cycles, use, bytes, bound and dataflow of each region; with "
               "--json for programs");
  app.add_option("--memory-map", memoryMap,
                 "Draw what lies where in the arena, and when: .svg or .html")
      ->type_name("FILE");
  app.add_option("--graph", graph,
                 "Write a page of the commands and what they exchange: .html")
      ->type_name("FILE");
  app.add_option("--entry", entry,
                 "Which entry --memory-map, --graph and --sizes show (default: "
                 "the first)")
      ->type_name("NAME");
  app.add_option("--sizes", sizes,
                 "N=2,W=320: print what the entry costs at these sizes, with "
                 "--json as an object")
      ->type_name("SIZES");
  app.add_flag("--machine", machine, "Print the models it was made for");
  app.add_flag("--verify", verify, "Check the hashes of weights and code too");
  app.add_option("--verify-signature", key,
                 "Check that this key of Ed25519 (PEM, 'openssl pkey -pubout') "
                 "has signed it")
      ->type_name("FILE");
  return runTool("ashlar-inspect", app, argc, argv, [&]() -> int {
    std::string keys;
    if (!key.empty())
      keys = readSignatureKeys({key}, "--verify-signature");
    Inspection inspection(file, keys);
    if (verify)
      inspection.verify();
    if (!sizes.empty() && (!memoryMap.empty() || !graph.empty() || kernels ||
                           machine || utilisation || !kernel.empty()))
      throw Failure(WrongUsage,
                    "--sizes=" + sizes +
                        ": expected --json, --entry and --verify alone beside "
                        "it, since all else shows the largest sizes; leave "
                        "--sizes out");
    if (!memoryMap.empty() || !graph.empty()) {
      checkWrittenFiles(file, {memoryMap, graph});
      if (!memoryMap.empty())
        writeWholeFile(memoryMap, inspection.memoryMap(memoryMap, entry));
      if (!graph.empty())
        writeWholeFile(graph, inspection.graph(graph, entry));
      if (!json && !kernels && !machine && kernel.empty())
        return Done;
    }
    if (!kernel.empty()) {
      std::fputs(inspection.disassembly(kernel).c_str() + 1, stdout);
      return Done;
    }
    if (!sizes.empty()) {
      std::fputs(inspection.contractAt(sizes, entry, json).c_str(), stdout);
      return Done;
    }
    if (utilisation) {
      std::fputs(inspection.utilisation(json).c_str(), stdout);
      return Done;
    }
    std::string text = json ? inspection.json() : inspection.table();
    if (kernels && !json)
      text += inspection.kernelTable(outputColumns()) +
              inspection.nodeTable(outputColumns());
    if (machine && !json)
      text += inspection.machineText();
    if (verify && !json)
      text += "\nhashes of weights and code are right\n";
    if (!key.empty() && !json)
      text += "\nthe signature is right\n";
    std::fputs(text.c_str(), stdout);
    return Done;
  });
}
