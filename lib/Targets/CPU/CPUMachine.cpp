// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CPUMachine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace ashlar::cpu;

static constexpr const char *x86Triple = "x86_64-unknown-linux-gnu";
static constexpr const char *armTriple = "aarch64-unknown-linux-gnu";

/// Levels of the x86-64 psABI, section 3.1.1, as far as code uses them.
static const std::vector<std::string> level3 = {
    "avx",   "avx2",  "bmi",    "bmi2",   "f16c",   "fma",
    "lzcnt", "movbe", "popcnt", "sse4.1", "sse4.2", "ssse3"};
static const std::vector<std::string> level4 = {
    "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"};
/// What may come on top of level 4.
static const std::vector<std::string> extensions = {
    "avx512bf16", "avx512vnni", "amx-bf16", "amx-int8", "amx-tile"};

static void append(std::vector<std::string> &to,
                   const std::vector<std::string> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

static CPUMachine x86(const char *tune, std::vector<std::string> features) {
  CPUMachine machine;
  machine.triple = x86Triple;
  machine.cpu = "x86-64";
  machine.tune = tune;
  machine.features = std::move(features);
  machine.format = "elf-x86_64";
  if (llvm::is_contained(machine.features, "avx512f")) {
    machine.vectorBytes = 64;
    machine.registers = 32;
  } else if (llvm::is_contained(machine.features, "avx2")) {
    machine.vectorBytes = 32;
  }
  return machine;
}

static CPUMachine aarch64() {
  CPUMachine machine;
  machine.triple = armTriple;
  machine.cpu = machine.tune = "generic";
  machine.format = "elf-aarch64";
  machine.registers = 32;
  return machine;
}

static CPUMachine host() {
  if (llvm::Triple(llvm::sys::getDefaultTargetTriple()).isAArch64())
    return aarch64();
  llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  auto hasAll = [&](const std::vector<std::string> &features) {
    return llvm::all_of(features, [&](const std::string &feature) {
      return present.lookup(feature);
    });
  };
  std::vector<std::string> features;
  if (hasAll(level3)) {
    append(features, level3);
    if (hasAll(level4)) {
      append(features, level4);
      for (const std::string &feature : extensions)
        if (present.lookup(feature))
          features.push_back(feature);
    }
  }
  static const std::string name = llvm::sys::getHostCPUName().str();
  return x86(name.c_str(), features);
}

CPUMachine ashlar::cpu::machineFor(llvm::StringRef preset) {
  if (preset == "aarch64")
    return aarch64();
  std::vector<std::string> features;
  if (preset == "x86-64")
    return x86("generic", features);
  append(features, level3);
  if (preset == "x86-64-v3")
    return x86("x86-64-v3", features);
  append(features, level4);
  if (preset == "x86-64-v4")
    return x86("x86-64-v4", features);
  append(features, extensions);
  if (preset == "sapphirerapids")
    return x86("sapphirerapids", features);
  return host();
}
