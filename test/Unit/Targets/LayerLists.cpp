// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LayerLists.h"
#include "LowerKernel.h"
#include "ReadContract.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/InitAll.h"
#include "mlir/Parser/Parser.h"
#include <cstdio>
#include <filesystem>

using namespace mlir;
using namespace ashlar;
using namespace ashlar::systolic;
using namespace ashlar::systolic::test;

namespace {
Layer layerOf(const std::string &model, const std::string &name, int64_t times,
              const Contract &contract) {
  return {model, name, times,
          [contract](const Machine &machine, const SearchOptions &options) {
            return compile(contract, machine, 0, options);
          }};
}

std::vector<Layer> bert(const std::string &type, int64_t batch) {
  int64_t rows = 128 * batch, heads = 12 * batch;
  auto named = [&](const char *name, int64_t times, Contract contract) {
    return layerOf("bert-base", name, times, contract);
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
    layers.push_back(layerOf("resnet50", name, times, contract));
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
  layers.push_back(layerOf("resnet50", "classes", 1,
                           withBias(product(type, batch, 1000, 2048, false))));
  return layers;
}
} // namespace

std::vector<Layer> ashlar::systolic::test::knownLayers(const std::string &type,
                                                       int64_t batch) {
  std::vector<Layer> layers = bert(type, batch);
  for (const Layer &layer : resnet50(type, batch))
    layers.push_back(layer);
  return layers;
}

namespace {
/// A module with the context that it lives in.
struct Program {
  explicit Program(const std::string &path)
      : context(registry(), MLIRContext::Threading::DISABLED),
        module(parseSourceFile<ModuleOp>(path, &context)) {}

  static DialectRegistry registry() {
    DialectRegistry all;
    registerAllDialects(all);
    return all;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

std::vector<Layer> ashlar::systolic::test::layersOf(const std::string &path,
                                                    bool isApart,
                                                    std::string &error) {
  auto program = std::make_shared<Program>(path);
  std::vector<Layer> layers;
  if (!program->module) {
    error = path + ": expected what ashlar-compile --until=schedule prints";
    return layers;
  }
  llvm::StringMap<int64_t> launches;
  program->module->walk([&](exec::LaunchOp op) { ++launches[op.getKernel()]; });
  SymbolTable symbols(*program->module);
  auto add = [&](exec::KernelOp kernel, func::FuncOp body,
                 std::vector<tile::ContractOp> ops) {
    Layer layer;
    layer.model = std::filesystem::path(path).stem();
    layer.name = kernel.getSymName();
    layer.times = launches.lookup(kernel.getSymName());
    layer.compile = [program, name = layer.name, body, ops,
                     bindings = kernel.getNumBindings()](
                        const Machine &machine, const SearchOptions &options) {
      func::FuncOp function = body;
      Compiled compiled;
      std::vector<Contraction> contractions(ops.size());
      Chosen chosen;
      for (auto [op, contraction] : llvm::zip_equal(ops, contractions))
        if (compiled.error.empty())
          compiled.error = readContract(op, machine, contraction).value_or("");
      if (compiled.error.empty())
        compiled.error =
            chooseParts(contractions, std::vector<std::string>(ops.size()),
                        machine, options, innerBinding(function), chosen);
      if (compiled.error.empty())
        compiled.error =
            writeParts(chosen.parts, machine, name, bindings, compiled.kernel);
      compiled.alternatives = std::move(chosen.lowered.alternatives);
      return compiled;
    };
    layers.push_back(std::move(layer));
  };
  program->module->walk([&](exec::KernelOp kernel) {
    auto body = symbols.lookup<func::FuncOp>(*kernel.getBody());
    std::vector<tile::ContractOp> contracts;
    body.walk([&](tile::ContractOp op) { contracts.push_back(op); });
    if (kernel.getDevice() == 0 || contracts.empty())
      return;
    if (!isApart)
      return add(kernel, body, contracts);
    for (tile::ContractOp op : contracts)
      add(kernel, body, {op});
  });
  return layers;
}
