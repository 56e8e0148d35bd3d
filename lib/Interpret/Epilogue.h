// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What contractions and drains do with a sum.
#ifndef ASHLAR_LIB_INTERPRET_EPILOGUE_H
#define ASHLAR_LIB_INTERPRET_EPILOGUE_H

#include "Accesses.h"
#include "LinearMap.h"

namespace ashlar::interpret {

class Epilogue {
public:
  /// `places` are the cells of the operands, and then of the target; `maps`,
  /// one for each, are over the same dims. `isClipped`: what lies outside of
  /// the target is left out.
  Epilogue(Machine &machine, Fiber &fiber, mlir::Operation *op,
           mlir::Block &body, llvm::ArrayRef<unsigned> places,
           llvm::ArrayRef<mlir::Attribute> maps, bool isClipped = false)
      : machine(machine), fiber(fiber), op(op), body(body),
        isClipped(isClipped) {
    for (auto [place, map] : llvm::zip_equal(places, maps))
      parts.push_back(
          {fiber.get<View>(place),
           LinearMap(llvm::cast<mlir::AffineMapAttr>(map).getValue())});
    arguments.resize(parts.size());
  }

  /// Puts a sum through the body and stores what it yields at `at`.
  Outcome store(Number sum, llvm::ArrayRef<int64_t> at) {
    if (isClipped && !parts.back().memory->holds(parts.back().map(at)))
      return Outcome::Done;
    arguments[0].number = sum;
    for (size_t i = 0; i + 1 != parts.size(); ++i)
      if (load(machine, op, *parts[i].memory, parts[i].map(at),
               arguments[1 + i].number) != Outcome::Done)
        return Outcome::Failed;
    if (machine.evaluate(fiber, body, arguments) != Outcome::Done)
      return Outcome::Failed;
    return interpret::store(machine, op, *parts.back().memory,
                            parts.back().map(at), fiber.yielded.front().number);
  }

private:
  struct Part {
    std::shared_ptr<View> memory;
    LinearMap map;
  };
  Machine &machine;
  Fiber &fiber;
  mlir::Operation *op;
  mlir::Block &body;
  bool isClipped;
  std::vector<Part> parts;
  std::vector<Cell> arguments;
};

} // namespace ashlar::interpret

#endif // ASHLAR_LIB_INTERPRET_EPILOGUE_H
