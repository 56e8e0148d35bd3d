// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the layers of BERT-base and ResNet50 cost on a machine, one by one:
//   systolic-layers [PRESET [BATCH [WORDS-OF-A-NAME]]]
// Each layer is a kernel of its own, from its first byte to its last, with a
// bias and a relu.
#include "Machines.h"
#include "SystolicContracts.h"
#include "systolic/Utilisation.h"
#include <cstdio>
#include <cstdlib>

using namespace ashlar;
using namespace ashlar::systolic::test;

namespace {
struct Layer {
  std::string model, name;
  int64_t times;
  Contract contract;
};

std::vector<Layer> bert(const std::string &type, int64_t batch) {
  int64_t rows = 128 * batch, heads = 12 * batch;
  auto named = [&](const char *name, int64_t times, Contract contract) {
    return Layer{"bert-base", name, times, contract};
  };
  return {
      named("queries, keys, values", 12,
            withBias(product(type, rows, 2304, 768, false))),
      named("projection", 12, withBias(product(type, rows, 768, 768, false))),
      named("feed forward", 12,
            withBias(product(type, rows, 3072, 768, false))),
      named("and back", 12, withBias(product(type, rows, 768, 3072, false))),
      named("scores", 12, batched(type, heads, 128, 128, 64, true)),
      named("weighted values", 12, batched(type, heads, 128, 64, 128, false))};
}

std::vector<Layer> resnet50(const std::string &type, int64_t batch) {
  std::vector<Layer> layers;
  bool isBF16 = type == "bf16";
  auto add = [&](int64_t times, int64_t size, int64_t in, int64_t out,
                 int64_t filter, int64_t stride, int64_t margin) {
    Convolution c;
    c.images = batch;
    c.height = c.width = (size - 1) * stride + filter;
    c.channels = in;
    c.filters = out;
    c.filterHeight = c.filterWidth = filter;
    c.stride = stride;
    c.margin = margin;
    char name[80];
    std::snprintf(name, sizeof(name), "%dx%d %d to %d, %dx%d, step %d",
                  int(filter), int(filter), int(in), int(out), int(size),
                  int(size), int(stride));
    Contract contract = convolution(type, c);
    if (isBF16)
      contract = withBias(contract);
    layers.push_back({"resnet50", name, times, contract});
  };
  add(1, 112, 3, 64, 7, 2, 1);
  add(1, 56, 64, 64, 1, 1, 1);
  add(2, 56, 256, 64, 1, 1, 1);
  add(3, 56, 64, 64, 3, 1, 0);
  add(4, 56, 64, 256, 1, 1, 0);
  struct {
    int64_t size, channels, blocks;
  } const stages[] = {{28, 128, 4}, {14, 256, 6}, {7, 512, 3}};
  for (auto [size, channels, blocks] : stages) {
    add(1, size * 2, channels * 2, channels, 1, 1, 1);
    add(1, size, channels, channels, 3, 2, 0);
    add(1, size, channels * 2, channels * 4, 1, 2, 0);
    add(blocks, size, channels, channels * 4, 1, 1, 0);
    add(blocks - 1, size, channels * 4, channels, 1, 1, 1);
    add(blocks - 1, size, channels, channels, 3, 1, 0);
  }
  layers.push_back({"resnet50", "classes", 1,
                    withBias(product(type, batch, 1000, 2048, false))});
  return layers;
}
} // namespace

int main(int argc, char **argv) {
  std::string preset = argc > 1 ? argv[1] : "tpu-128";
  int64_t batch = argc > 2 ? std::atoll(argv[2]) : 1;
  std::string filter = argc > 3 ? argv[3] : "";
  systolic::Machine machine =
      systolic::streamMachine(systolic::machineFor(preset));
  bool isBF16 = machine.input == ASHLAR_SYSTOLIC_BF16;
  std::string type = isBF16 ? "bf16" : "i8";
  std::vector<Layer> layers = bert(type, batch);
  for (const Layer &layer : resnet50(type, batch))
    layers.push_back(layer);
  double work = 0, cycles = 0;
  std::string model;
  auto finish = [&] {
    if (cycles)
      std::printf("%-10s %-34s %5s %10.0f %28.1f %%\n", model.c_str(),
                  "all of them", "", cycles,
                  100 * work / cycles / machine.dim / machine.dim /
                      machine.arrays);
    work = cycles = 0;
  };
  std::printf("%-10s %-34s %5s %10s %8s %8s\n", "model", "layer", "times",
              "cycles", "commands", "bound");
  for (const Layer &layer : layers) {
    if ((layer.model + layer.name).find(filter) == std::string::npos)
      continue;
    if (layer.model != model)
      finish();
    model = layer.model;
    Compiled compiled = compile(layer.contract, machine);
    if (!compiled.error.empty()) {
      std::printf("%s, %s: %s\n", model.c_str(), layer.name.c_str(),
                  compiled.error.c_str());
      continue;
    }
    systolic::KernelUse use;
    std::string why = systolic::measureUse(machine, compiled.kernel, use);
    std::printf("%-10s %-34s %5d %10llu %8zu %8s %8.1f %% %s\n", model.c_str(),
                layer.name.c_str(), int(layer.times),
                (unsigned long long)use.cycles, compiled.kernel.commands.size(),
                use.regions.empty() ? "" : use.regions[0].bound,
                100 * use.utilisation, why.c_str());
    std::fflush(stdout);
    work += double(layer.times) * double(use.multiplyAdds);
    cycles += double(layer.times) * double(use.cycles);
  }
  finish();
  return 0;
}
