// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Machine/MachineFile.h"
#include "Machines.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <gtest/gtest.h>

using namespace ashlar;
namespace json = llvm::json;

namespace {
std::string errorOf(const std::string &text) {
  llvm::Expected<MachineModel> machine = parseMachine(text);
  return machine ? "" : llvm::toString(machine.takeError());
}

/// The error of a good file in which one thing was changed.
std::string errorAfter(const std::function<void(json::Object &)> &change) {
  auto root = json::parse(printMachine(cpu::machineFor("x86-64-v3")));
  change(*root->getAsObject());
  return errorOf(llvm::formatv("{0}", *root).str());
}

json::Object &at(json::Object &root, const char *list, size_t i) {
  return *(*root.getArray(list))[i].getAsObject();
}

TEST(MachineFile, EveryPresetIsReadAndAccepted) {
  ASSERT_EQ(cpu::presets().front(), "host");
  for (const std::string &preset : cpu::presets()) {
    MachineModel machine = cpu::machineFor(preset);
    EXPECT_EQ(machine.name, preset);
    EXPECT_EQ(machine.target, "cpu");
    EXPECT_EQ(cpu::checkCPUMachine(machine), "") << preset;
    llvm::Error error = checkMachine(machine);
    EXPECT_FALSE(bool(error))
        << preset << ": " << llvm::toString(std::move(error));
  }
  EXPECT_EQ(cpu::checkCPUMachine(cpu::machineInFile("host")), "");
}

TEST(MachineFile, WhatIsPrintedIsReadAgain) {
  for (const std::string &preset : cpu::presets()) {
    MachineModel machine = cpu::machineFor(preset);
    for (bool pretty : {false, true}) {
      std::string text = printMachine(machine, pretty);
      llvm::Expected<MachineModel> again = parseMachine(text);
      ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
      EXPECT_EQ(printMachine(*again, pretty), text);
    }
  }
}

TEST(MachineFile, TheDigestIsOfTheFiguresAlone) {
  MachineModel machine = cpu::machineFor("x86-64-v4");
  std::string digest = machineDigest(machine);
  EXPECT_EQ(digest.size(), 64u);
  machine.clock.sources[""] = "somebody else";
  EXPECT_EQ(machineDigest(machine), digest);
  machine.clock.hz += 1;
  EXPECT_NE(machineDigest(machine), digest);
}

TEST(MachineFile, TheHostIsDetectedAlikeEveryTime) {
  MachineModel first = cpu::detectHost(), second = cpu::detectHost();
  EXPECT_EQ(printMachine(first), printMachine(second));
  // Code for the host runs here, so it asks for nothing that is not here.
  EXPECT_LE(first.nearest().bytes, 1 << 20);
  EXPECT_GE(first.nearest().bytes, 8 << 10);
  EXPECT_TRUE(first.unit({"f32", "f32", "f32"}));
}

TEST(MachineFile, FieldsMustBeThereOnceAndOfTheirType) {
  EXPECT_NE(errorOf("{"), "");
  EXPECT_EQ(errorOf("[1]"), "expected an object, found [1]");
  EXPECT_EQ(errorAfter([](json::Object &o) { o.erase("clock"); }),
            "clock: is missing; expected an object");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "memories", 1).erase("latency_cycles");
            }),
            "memories[1].latency_cycles: is missing; expected a number");
  EXPECT_EQ(
      errorAfter([](json::Object &o) { at(o, "units", 0)["n"] = "eight"; }),
      "units[0].n: expected a whole number from 1 to 1048576, found "
      "\"eight\"");
  EXPECT_EQ(errorAfter([](json::Object &o) { at(o, "units", 0)["n"] = 1.5; }),
            "units[0].n: expected a whole number from 1 to 1048576, found 1.5");
  EXPECT_EQ(
      errorAfter([](json::Object &o) { at(o, "memories", 0)["bytes"] = -1; }),
      "memories[0].bytes: expected a whole number from 1 to 1000000000000000, "
      "found -1");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "copy_engines", 0)["gather"] = 1;
            }),
            "copy_engines[0].gather: expected true or false, found 1");
  EXPECT_EQ(errorAfter([](json::Object &o) { o["units"] = json::Object(); }),
            "units: expected a list, found {}");
  EXPECT_EQ(errorAfter([](json::Object &o) { o["workers"] = 3; }),
            "workers: expected an object, found 3");
  EXPECT_EQ(errorAfter([](json::Object &o) { o["cores"] = 3; }).substr(0, 44),
            "cores: is not a field of a machine file; fie");
}

TEST(MachineFile, EveryFigureHasASource) {
  EXPECT_EQ(
      errorAfter([](json::Object &o) { at(o, "units", 0).erase("source"); }),
      "units[0].source: is missing; expected a text, or one for each "
      "figure");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              (*o.getObject("costs"))["source"] =
                  json::Object{{"launch_ns", "measured"}};
            }),
            "costs.barrier_ns: has no source; add \"source\": {\"barrier_ns\": "
            "\"where the number comes from\"}");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              (*o.getObject("costs"))["source"] =
                  json::Object{{"", "measured"}, {"lunch_ns", "measured"}};
            }),
            "costs.source.lunch_ns: there is no figure of this name");
}

TEST(MachineFile, FiguresMustNotContradictEachOther) {
  EXPECT_EQ(errorAfter(
                [](json::Object &o) { at(o, "memories", 1)["bytes"] = 16384; }),
            "memories[1].bytes: expected at least those of 'l1', which is "
            "nearer, 32768, found 16384");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "memories", 1)["read_bytes_per_cycle"] = 100;
            }),
            "memories[1]: expected to read at most as fast as 'l1', which is "
            "nearer, 64.00 bytes a cycle, found 100.00");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "memories", 1)["read_bytes_per_second"] = 1e9;
            }),
            "memories[1].read_bytes_per_cycle: expected it or "
            "read_bytes_per_second, found both");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "memories", 0).erase("write_bytes_per_cycle");
            }),
            "memories[0].write_bytes_per_cycle: expected it or "
            "write_bytes_per_second, found neither");
  EXPECT_EQ(
      errorAfter([](json::Object &o) { at(o, "memories", 0).erase("bytes"); }),
      "memories[0].bytes: is missing; only the last memory may be as "
      "large as need be");
  EXPECT_EQ(
      errorAfter([](json::Object &o) { at(o, "memories", 0)["ways"] = 7; }),
      "memories[0].bytes: expected a multiple of line_bytes times ways, "
      "448, found 32768");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "memories", 2)["shared_by"] = 64;
            }),
            "memories[2].shared_by: expected at most workers.count, 4, found "
            "64");
  EXPECT_EQ(
      errorAfter([](json::Object &o) { at(o, "memories", 1)["name"] = "l1"; }),
      "memories[1].name: expected a name of its own, found 'l1' a second "
      "time");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "memories", 2)["latency_cycles"] = 1;
            }),
            "memories[2].latency_cycles: expected at least that of 'l2', which "
            "is nearer, 12, found 1");
}

TEST(MachineFile, ScopesAreGridsThenGroups) {
  auto withScopes = [](const char *scopes, const char *unit = nullptr) {
    return errorAfter([&](json::Object &o) {
      o["scopes"] = cantFail(json::parse(scopes));
      if (unit)
        at(o, "units", 0)["scope"] = unit;
    });
  };
  constexpr const char *good =
      R"([{"name": "workgroup", "kind": "grid", "source": "-"},
          {"name": "subgroup", "kind": "group", "count": 4,
           "register_bytes": 4096, "source": "-"}])";
  EXPECT_EQ(withScopes(good, "subgroup"), "");
  EXPECT_EQ(withScopes(good, "lane"),
            "units[0].scope: expected the name of a scope, found 'lane'");
  EXPECT_EQ(withScopes(R"([{"name": "a", "kind": "row", "source": "-"}])"),
            "scopes[0].kind: expected grid, group or lane, found 'row'");
  EXPECT_EQ(withScopes(R"([{"name": "a", "kind": "group", "count": 1,
                            "source": "-"}])"),
            "scopes[0].kind: expected grid, found group");
  EXPECT_EQ(withScopes(R"([{"name": "a", "kind": "grid", "source": "-"},
                           {"name": "b", "kind": "group", "source": "-"}])"),
            "scopes[1].count: is missing; only grids have any number");
  EXPECT_EQ(withScopes(R"([{"name": "a", "kind": "grid", "source": "-"},
                           {"name": "b", "kind": "group", "count": 1,
                            "source": "-"},
                           {"name": "c", "kind": "grid", "source": "-"}])"),
            "scopes[2].kind: expected group, since those above are groups, "
            "found grid");
  EXPECT_EQ(withScopes(R"([{"name": "a", "kind": "grid", "source": "-"},
                           {"name": "b", "kind": "lane", "count": 1,
                            "source": "-"}])"),
            "scopes[1].kind: expected lanes once and of a group, found them of "
            "a grid");
  EXPECT_EQ(withScopes(R"([{"name": "a", "kind": "grid", "source": "-"},
                           {"name": "subgroup", "kind": "group", "count": 1,
                            "source": "-"},
                           {"name": "c", "kind": "lane", "count": 16,
                            "register_bytes": 4, "source": "-"}])"),
            "scopes[2].register_bytes: expected none of a lane, found 4");
  EXPECT_EQ(withScopes(R"([{"name": "a", "kind": "grid", "source": "-"},
                           {"name": "a", "kind": "grid", "source": "-"}])"),
            "scopes[1].name: expected a name of its own, found 'a' a second "
            "time");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "memories", 0)["per_group_bytes"] = 65536;
            }),
            "memories[0].per_group_bytes: expected at most bytes, 32768, found "
            "65536");
  EXPECT_EQ(
      errorAfter([](json::Object &o) { at(o, "units", 0)["most_n"] = 12; }),
      "units[0].most_n: expected a multiple of n, 8, found 12");
}

TEST(MachineFile, FragmentsMustCoverSums) {
  auto errorOf = [](std::string_view fragment) {
    return errorAfter([&](json::Object &o) {
      at(o, "units", 0)["fragment"] = llvm::cantFail(json::parse(fragment));
    });
  };
  EXPECT_EQ(errorOf(R"({"registers": [{"rows": 3}], "lanes": []})"),
            "units[0].fragment: expected powers of two, each once, along rows "
            "or columns, found 3 rows, 0 columns");
  EXPECT_EQ(errorOf(R"({"registers": [{"rows": 1}], "lanes": [{"rows": 1}]})"),
            "units[0].fragment: expected powers of two, each once, along rows "
            "or columns, found 1 rows, 0 columns");
  EXPECT_NE(errorOf(R"({"registers": [{"rows": 1024}], "lanes": []})")
                .find("units[0].fragment: expected to cover its "),
            std::string::npos);
}

TEST(MachineFile, UnitsMustFitTheRest) {
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "units", 0)["accumulators"] = 17;
            }),
            "units[0].accumulators: expected at most vectors.count, 16 (an "
            "accumulator takes 1), found 17");
  EXPECT_EQ(errorAfter([](json::Object &o) { at(o, "units", 0)["n"] = 16; }),
            "units[0].accumulators: expected at most vectors.count, 16 (an "
            "accumulator takes 2), found 16");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(at(o, "units", 0), "types", 0)["left"] = "f33";
            }),
            "units[0].types[0]: expected element types such as f32, bf16, s8, "
            "u8, found 'f33'");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "units", 0)["left_from"] = json::Array{"l9"};
            }),
            "units[0].left_from: expected 'vectors', the unit's "
            "accumulator_space or a memory, found 'l9'");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "units", 0)["requires"] = json::Array{"amx-tile"};
            }),
            "units[0].requires: expected features that stand in code.features, "
            "found amx-tile");
  EXPECT_EQ(errorAfter([](json::Object &o) { o["units"] = json::Array(); }),
            "units: expected at least one");
  EXPECT_EQ(errorAfter(
                [](json::Object &o) { at(o, "copy_engines", 0)["to"] = "l7"; }),
            "copy_engines[0].to: expected the name of a memory, found 'l7'");
  EXPECT_EQ(errorAfter([](json::Object &o) {
              at(o, "copy_engines", 0)["boxes"] =
                  json::Object{{"rank", 5}, {"size", 256}, {"scope", "nobody"}};
            }),
            "copy_engines[0].boxes.scope: expected the name of a scope of the "
            "kind 'group', found 'nobody'");
  EXPECT_EQ(
      errorAfter([](json::Object &o) {
        at(o, "copy_engines", 0)["asynchronous"] = false;
        at(o, "copy_engines", 0)["tiles_ahead"] = 1;
      }),
      "copy_engines[0].tiles_ahead: expected none of an engine that is not "
      "asynchronous, found 1");
}

TEST(MachineFile, OneEngineMayTakeResults) {
  auto takeResults = [](json::Object &o, size_t i) -> json::Object & {
    json::Object &engine = at(o, "copy_engines", i);
    engine["from"] = "l1";
    engine["to"] = "main";
    engine["boxes"] =
        json::Object{{"rank", 5}, {"size", 256}, {"scope", "nobody"}};
    return engine;
  };
  EXPECT_EQ(
      errorAfter([&](json::Object &o) { takeResults(o, 0)["to"] = "l2"; }),
      "copy_engines[0].to: expected the farthest memory, 'main', of an "
      "engine of boxes from the nearest, which takes results, found "
      "'l2'");
  EXPECT_EQ(errorAfter([&](json::Object &o) {
              takeResults(o, 0)["zero_fill"] = true;
            }),
            "copy_engines[0]: expected one that takes results to be "
            "asynchronous, without zero_fill and multicast");
  EXPECT_EQ(errorAfter([&](json::Object &o) {
              takeResults(o, 0);
              at(o, "copy_engines", 0)["boxes"] = nullptr;
              at(o, "copy_engines", 0).erase("boxes");
              takeResults(o, 1);
            }),
            "copy_engines[1].boxes.scope: expected the name of a scope of the "
            "kind 'group', found 'nobody'");
}

TEST(MachineFile, TheTargetRefusesWhatItHasNoCodeFor) {
  MachineModel machine = cpu::machineFor("x86-64-v3");
  machine.code.features.push_back("sve");
  EXPECT_EQ(cpu::checkCPUMachine(machine).substr(0, 60),
            "code.features: 'sve' is none that this target makes code for");
  machine = cpu::machineFor("x86-64-v3");
  machine.vectors.bytes = 64;
  EXPECT_EQ(cpu::checkCPUMachine(machine),
            "vectors.bytes: expected at most 32 with these code.features, "
            "found 64");
  machine = cpu::machineFor("x86-64-v3");
  machine.vectors.count = 32;
  EXPECT_EQ(cpu::checkCPUMachine(machine),
            "vectors.count: expected at most 16 with these code.features, "
            "found 32");
  machine = cpu::machineFor("x86-64-v3");
  machine.code.triple = "riscv64-unknown-linux-gnu";
  EXPECT_EQ(cpu::checkCPUMachine(machine),
            "code.triple: expected x86_64-unknown-linux-gnu, "
            "aarch64-unknown-linux-gnu or riscv64-unknown-elf, found "
            "'riscv64-unknown-linux-gnu'");
  machine = cpu::machineFor("x86-64-v3");
  machine.code.format = "elf-aarch64";
  EXPECT_EQ(cpu::checkCPUMachine(machine),
            "code.format: expected 'elf-x86_64' for x86_64-unknown-linux-gnu, "
            "found 'elf-aarch64'");
  machine = cpu::machineFor("x86-64-v3");
  machine.code.processor = "pentium";
  EXPECT_EQ(cpu::checkCPUMachine(machine),
            "code.processor: expected 'x86-64', to which code.features add, "
            "found 'pentium'");
}

TEST(MachineModel, FindsTheFastestUnit) {
  MachineModel machine = cpu::machineFor("sapphirerapids");
  EXPECT_EQ(machine.unit({"f32", "f32", "f32"})->name, "fma");
  EXPECT_EQ(machine.unit({"bf16", "bf16", "f32"})->name, "tile-bf16");
  EXPECT_EQ(machine.unit({"u8", "s8", "s32"})->name, "tile-int8");
  EXPECT_EQ(machine.unit({"f16", "f16", "f32"}), nullptr);
  // 16 x 16 x 32 products in 16 cycles.
  EXPECT_EQ(machine.unit({"bf16", "bf16", "f32"})->flopsPerCycle(), 1024);
}

TEST(MachineModel, SharesBandwidth) {
  MachineModel machine = cpu::machineFor("x86-64-v3");
  machine.clock.hz = 1e9;
  Memory main = *machine.memory("main");
  main.readBytesPerSecond = 10e9;
  main.sharedBytesPerSecond = 20e9;
  main.sharedBy = 4;
  EXPECT_EQ(machine.sharedReadBytesPerCycle(main, 1), 10);
  EXPECT_EQ(machine.sharedReadBytesPerCycle(main, 2), 10);
  EXPECT_EQ(machine.sharedReadBytesPerCycle(main, 4), 5);
  EXPECT_EQ(machine.sharedReadBytesPerCycle(main, 100), 5);
}
} // namespace
