// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From here on every target has IR of its own, since types, layouts and
// fusion differ between them.
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/ModelNodes.h"
#include "ashlar/Transforms/Place/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_CLONEPROGRAMSPASS
#include "ashlar/Transforms/Place/Passes.h.inc"
} // namespace ashlar

namespace {
struct ClonePrograms : ashlar::impl::CloneProgramsPassBase<ClonePrograms> {
  using CloneProgramsPassBase::CloneProgramsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> originals;
    for (Operation &op : *module.getBody())
      originals.push_back(&op);
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    for (auto [i, text] : llvm::enumerate(targets)) {
      SmallVector<StringRef> devices;
      StringRef(text).split(devices, '+');
      SmallVector<Attribute> described;
      for (StringRef device : devices) {
        auto [name, preset] = device.split(':');
        described.push_back(exec::TargetAttr::get(&getContext(), name, preset));
      }
      auto program =
          ModuleOp::create(b, module.getLoc(), "program_" + std::to_string(i));
      program->setAttr(exec::targetAttrName, described.front());
      if (described.size() > 1)
        program->setAttr(
            exec::companionsAttrName,
            b.getArrayAttr(ArrayRef<Attribute>(described).drop_front()));
      if (llvm::is_contained(standsIn, unsigned(i)))
        program->setAttr(exec::standsInAttrName, b.getUnitAttr());
      for (StringRef name : {modelNodesAttrName, nodeOperatorsAttrName})
        if (Attribute nodes = module->getAttr(name))
          program->setAttr(name, nodes);
      OpBuilder inner = OpBuilder::atBlockEnd(program.getBody());
      for (Operation *op : originals)
        inner.clone(*op);
    }
    for (Operation *op : originals)
      op->erase();
    module->removeAttr(modelNodesAttrName);
    module->removeAttr(nodeOperatorsAttrName);
  }
};
} // namespace
