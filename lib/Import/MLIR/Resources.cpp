// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants and locations as the later stages expect them.
#include "EntryImporter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

void ashlar::mlir_import::nameLocations(ModuleOp module) {
  Builder b(module.getContext());
  auto rename = [&](Location location, StringRef what) -> Location {
    Place place = findPlace(location);
    if (place.name)
      return NameLoc::get(place.name);
    std::string name = what.str();
    if (place.file)
      name += "@" + std::to_string(place.file.getLine()) + ":" +
              std::to_string(place.file.getColumn());
    return NameLoc::get(b.getStringAttr(name));
  };
  module->walk([&](Operation *op) {
    op->setLoc(rename(op->getLoc(), op->getName().getStringRef()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(rename(argument.getLoc(), "argument"));
  });
}
