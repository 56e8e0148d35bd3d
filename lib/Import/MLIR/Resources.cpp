// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants and locations as the later stages expect them.
#include "EntryImporter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::mlir_import;

/// As in the other importers: what is larger is a weight, not an attribute.
static constexpr int64_t maximumInlineBytes = 1024;

/// A resource must be in the file, whole.
static LogicalResult checkResource(arith::ConstantOp constant,
                                   DenseResourceElementsAttr resource) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return constant.emitError()
           << "resource '" << resource.getRawHandle().getKey()
           << "' is not in the file; was it elided when printed?";
  // Bits are packed in attributes, but bytes in resources.
  uint64_t expected = byteSize(resource.getType());
  if (blob->getData().size() != expected)
    return constant.emitError()
           << "resource '" << resource.getRawHandle().getKey() << "' holds "
           << blob->getData().size() << " bytes, but its type "
           << resource.getType() << " needs " << expected;
  return success();
}

LogicalResult
ashlar::mlir_import::moveConstantsToResources(func::FuncOp entry) {
  unsigned count = 0;
  WalkResult walk = entry.walk([&](arith::ConstantOp constant) {
    if (auto resource =
            dyn_cast<DenseResourceElementsAttr>(constant.getValue())) {
      if (failed(checkResource(constant, resource)))
        return WalkResult::interrupt();
      return WalkResult::advance();
    }
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || dense.isSplat() || dense.getElementType().isInteger(1) ||
        !dense.getElementType().isIntOrFloat() ||
        byteSize(dense.getType()) <= maximumInlineBytes)
      return WalkResult::advance();
    // The attribute lives as long as the context, as the blob does.
    AsmResourceBlob blob =
        UnmanagedAsmResourceBlob::allocateInferAlign(dense.getRawData());
    std::string key = "weight" + std::to_string(count++);
    if (auto name = dyn_cast<NameLoc>(constant.getLoc()))
      key = name.getName().str();
    constant.setValueAttr(DenseResourceElementsAttr::get(
        cast<RankedTensorType>(dense.getType()), key, std::move(blob)));
    return WalkResult::advance();
  });
  return success(!walk.wasInterrupted());
}

namespace {
/// The first name in a location, and the first place in a file.
struct Place {
  StringAttr name;
  FileLineColLoc file;
};
} // namespace

static Place findPlace(Location location) {
  Place place;
  location->walk([&](Location inner) {
    if (auto name = dyn_cast<NameLoc>(inner); name && !place.name)
      place.name = name.getName();
    if (auto file = dyn_cast<FileLineColLoc>(inner); file && !place.file)
      place.file = file;
    return WalkResult::advance();
  });
  return place;
}

static std::string nameOf(StringRef what, FileLineColLoc place) {
  return what.str() + "@" + std::to_string(place.getLine()) + ":" +
         std::to_string(place.getColumn());
}

ModelOps ashlar::mlir_import::listModelOps(ModuleOp module) {
  ModelOps ops;
  Builder b(module.getContext());
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    Place place = findPlace(op->getLoc());
    StringRef what = op->getName().getStringRef();
    if (place.file)
      ops.names.try_emplace({place.file.getLine(), place.file.getColumn()},
                            nameOf(what, place.file));
    bool computes = op->getNumResults() != 0 &&
                    !op->hasTrait<OpTrait::ConstantLike>() &&
                    !isa<tensor::EmptyOp, func::CallOp>(op) &&
                    !op->getParentOfType<linalg::LinalgOp>();
    if (computes && place.name)
      ops.nodes.insert(place.name);
    else if (computes && place.file)
      ops.nodes.insert(b.getStringAttr(nameOf(what, place.file)));
  });
  return ops;
}

void ashlar::mlir_import::nameLocations(ModuleOp module, const ModelOps &ops) {
  Builder b(module.getContext());
  auto rename = [&](Location location, StringRef what) -> Location {
    Place place = findPlace(location);
    if (place.name)
      return NameLoc::get(place.name);
    if (!place.file)
      return NameLoc::get(b.getStringAttr(what));
    auto known = ops.names.find({place.file.getLine(), place.file.getColumn()});
    return NameLoc::get(b.getStringAttr(
        known != ops.names.end() ? known->second : nameOf(what, place.file)));
  };
  module->walk([&](Operation *op) {
    op->setLoc(rename(op->getLoc(), op->getName().getStringRef()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(rename(argument.getLoc(), "argument"));
  });
}
