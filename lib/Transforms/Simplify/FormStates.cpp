// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An input and the output that it becomes get one place: what was there stays,
// and what is new is written behind it or into it. That is so where the output
// is the input and something new joined behind it, which leaves nothing to
// compute for what was there before; and where it is the input with elements
// replaced, and nobody else reads what was there, who might come too late.
#include "ElementUpdates.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_FORMSTATESPASS
#include "ashlar/Transforms/Simplify/Passes.h.inc"
} // namespace ashlar

namespace {
/// How a state changes: it grows by `added` behind what was there, along `dim`,
/// or elements of it are replaced.
struct Change {
  Value added; ///< null: it does not grow
  int64_t dim = 0;
  std::optional<ElementUpdates> updates;
};

std::string spell(ArrayRef<int64_t> shape) {
  return llvm::join(
      llvm::map_range(shape, [](int64_t d) { return std::to_string(d); }), "x");
}

/// Who reads what a state is before elements of it are replaced; null: nobody.
Operation *findOtherReader(BlockArgument before, scf::ForOp loop) {
  Value initial = loop.getInitArgs()[0];
  for (Value value : {Value(before), initial})
    for (Operation *user : value.getUsers())
      if (user != loop && user != initial.getDefiningOp())
        return user;
  return nullptr;
}

class StateFormer {
public:
  StateFormer(func::FuncOp entry, unsigned number, DictionaryAttr wanted)
      : entry(entry), before(entry.getArgument(number)),
        output(wanted.getAs<StringAttr>("output")),
        largest(llvm::to_vector(
            wanted.getAs<DenseI64ArrayAttr>("shape").asArrayRef())) {}

  LogicalResult run() {
    auto ret = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
    for (unsigned i = 0; i != entry.getNumResults(); ++i)
      if (entry.getResultAttrOfType<StringAttr>(i, "ashlar.name") == output)
        returned = &ret->getOpOperand(i);
    if (!returned)
      return refuse() << "found no output of that name";
    auto own = cast<RankedTensorType>(before.getType());
    auto after = cast<RankedTensorType>(returned->get().getType());
    if (own.getElementType() != after.getElementType())
      return refuse() << "found elements of " << own.getElementType()
                      << " that become " << after.getElementType();
    Change change;
    if (failed(match(change)))
      return failure();
    if (largest.empty())
      largest.assign(after.getShape().begin(), after.getShape().end());
    for (auto [size, most] : llvm::zip(after.getShape(), largest))
      if (size > most)
        return refuse() << "found the shape " << spell(after.getShape())
                        << ", which is larger than the largest, "
                        << spell(largest);
    rewrite(change);
    return success();
  }

private:
  StringRef name() {
    auto attribute = entry.getArgAttrOfType<StringAttr>(before.getArgNumber(),
                                                        "ashlar.name");
    return attribute ? attribute.getValue() : StringRef();
  }
  InFlightDiagnostic refuse() {
    Operation *made = returned ? returned->get().getDefiningOp() : nullptr;
    return (made ? made->emitError() : entry.emitError())
           << "--state=" << name() << "=" << output.getValue()
           << ": expected an output that is the input with something new "
              "joined behind it (Concat) or elements of it replaced "
              "(ScatterND, ScatterElements, TensorScatter), ";
  }

  LogicalResult match(Change &change) {
    Value after = returned->get();
    auto own = cast<RankedTensorType>(before.getType()),
         type = cast<RankedTensorType>(after.getType());
    if (after == before)
      return success();
    auto concat = after.getDefiningOp<tensor::ConcatOp>();
    if (concat && concat.getInputs()[0] == before) {
      change.dim = concat.getDim();
      ValueRange rest = concat.getInputs().drop_front();
      if (llvm::is_contained(rest, before))
        return refuse() << "found it joined with itself";
      ImplicitLocOpBuilder b(concat.getLoc(), concat);
      change.added = rest.size() == 1
                         ? rest[0]
                         : tensor::ConcatOp::create(b, change.dim, rest);
      return success();
    }
    // Nothing was there: all is new.
    if (own.getNumElements() == 0 && own.getRank() == type.getRank()) {
      SmallVector<int64_t> dims;
      for (int64_t d = 0; d != own.getRank(); ++d)
        if (own.getDimSize(d) != type.getDimSize(d))
          dims.push_back(d);
      if (dims.size() == 1 && own.getDimSize(dims[0]) == 0) {
        change = {after, dims[0], std::nullopt};
        return success();
      }
    }
    if ((change.updates = matchElementUpdates(after, before)))
      return checkReaders(change.updates->loop);
    if (concat && llvm::is_contained(concat.getInputs(), before))
      return refuse() << "found something joined in front of it: what was "
                         "there would have to move";
    if (Operation *made = after.getDefiningOp())
      return refuse() << "found that it is computed by '" << made->getName()
                      << "'";
    return refuse() << "found another input";
  }

  /// Elements that are replaced must not be read afterwards.
  LogicalResult checkReaders(scf::ForOp loop) {
    Operation *reader = findOtherReader(before, loop);
    if (!reader)
      return success();
    InFlightDiagnostic diagnostic =
        refuse() << "found that what was there before has another reader, "
                    "which may come after the change; let it read '"
                 << output.getValue() << "'";
    diagnostic.attachNote(reader->getLoc()) << "which is here";
    return diagnostic;
  }

  void rewrite(const Change &change) {
    auto own = cast<RankedTensorType>(before.getType());
    Value after = returned->get();
    auto type = cast<RankedTensorType>(after.getType());
    MLIRContext *context = entry.getContext();
    auto whole = RankedTensorType::get(largest, own.getElementType());
    SmallVector<int64_t> zeros(own.getRank(), 0), ones(own.getRank(), 1);
    auto attributes = [&](ArrayRef<int64_t> numbers) {
      return getAsIndexOpFoldResult(context, numbers);
    };
    auto read = [&](ImplicitLocOpBuilder &b, Value from, RankedTensorType of) {
      return tensor::ExtractSliceOp::create(b, of, from, attributes(zeros),
                                            attributes(of.getShape()),
                                            attributes(ones))
          .getResult();
    };
    before.setType(whole);
    Operation *maker = after.getDefiningOp();
    // Who reads what was there reads a part of the place.
    ImplicitLocOpBuilder b(before.getLoc(), context);
    b.setInsertionPointToStart(&entry.getBody().front());
    if (maker)
      b.setLoc(maker->getLoc());
    Value old = read(b, before, own);
    before.replaceAllUsesExcept(old, old.getDefiningOp());
    Value changed = before;
    if (change.updates) {
      changed = updateInPlace(*change.updates, before);
      b.setInsertionPointAfter(change.updates->loop);
      replaceUpdated(b, *change.updates, read(b, changed, type));
    } else if (change.added) {
      auto added = cast<RankedTensorType>(change.added.getType());
      SmallVector<int64_t> offsets = zeros;
      offsets[change.dim] = own.getDimSize(change.dim);
      b.setInsertionPointAfterValue(change.added);
      if (maker)
        b.setLoc(maker->getLoc());
      changed = tensor::InsertSliceOp::create(
          b, change.added, before, attributes(offsets),
          attributes(added.getShape()), attributes(ones));
      // All is read from the place as well, but for what is written there.
      if (change.added != after) {
        b.setInsertionPointAfter(maker);
        after.replaceAllUsesWith(read(b, changed, type));
        maker->erase();
      }
    }
    returned->set(changed);
    unsigned argument = before.getArgNumber(),
             result = returned->getOperandNumber();
    Builder types(context);
    entry.removeArgAttr(argument, stateOfAttrName);
    entry.setArgAttr(argument, stateShapeAttrName,
                     types.getDenseI64ArrayAttr(own.getShape()));
    entry.setResultAttr(result, stateShapeAttrName,
                        types.getDenseI64ArrayAttr(type.getShape()));
    entry.setResultAttr(result, stateAttrName,
                        types.getI64IntegerAttr(argument));
    auto arguments = llvm::to_vector(entry.getArgumentTypes()),
         results = llvm::to_vector(entry.getResultTypes());
    arguments[argument] = results[result] = whole;
    entry.setFunctionType(types.getFunctionType(arguments, results));
  }

  /// Lets who read what the loops gave read `all`.
  void replaceUpdated(ImplicitLocOpBuilder &b, const ElementUpdates &updates,
                      Value all) {
    scf::ForOp loop = updates.loop;
    Value carried = loop.getResult(0), after = returned->get();
    after.replaceAllUsesExcept(all, all.getDefiningOp());
    Operation *back = after.getDefiningOp();
    if (back == loop)
      return;
    auto isOther = [&](OpOperand &use) {
      return use.getOwner() != back && use.getOwner() != all.getDefiningOp();
    };
    if (llvm::any_of(carried.getUses(), isOther)) {
      auto shape = applyPermutation(
          cast<RankedTensorType>(all.getType()).getShape(), updates.order);
      Value empty = tensor::EmptyOp::create(
          b, shape, getElementTypeOrSelf(all.getType()));
      Value moved = linalg::TransposeOp::create(b, all, empty, updates.order)
                        .getResult()[0];
      carried.replaceUsesWithIf(moved, isOther);
    }
    back->erase();
  }

  func::FuncOp entry;
  BlockArgument before;
  StringAttr output;
  SmallVector<int64_t> largest;
  OpOperand *returned = nullptr;
};

/// Says where an input and what grows out of it could have one place.
void suggestState(func::FuncOp entry, unsigned result, Value returned) {
  BlockArgument before;
  auto concat = returned.getDefiningOp<tensor::ConcatOp>();
  if (concat) {
    before = dyn_cast<BlockArgument>(concat.getInputs()[0]);
    if (!before || llvm::is_contained(concat.getInputs().drop_front(), before))
      return;
  } else if (returned.getDefiningOp()) {
    for (BlockArgument argument : entry.getArguments()) {
      if (argument.getType() != returned.getType() || isState(argument))
        continue;
      auto updates = matchElementUpdates(returned, argument);
      if (updates && !findOtherReader(argument, updates->loop))
        before = argument;
    }
  }
  if (!before || before.getOwner() != &entry.getBody().front())
    return;
  auto input =
      entry.getArgAttrOfType<StringAttr>(before.getArgNumber(), "ashlar.name");
  auto output = entry.getResultAttrOfType<StringAttr>(result, "ashlar.name");
  Operation *made = returned.getDefiningOp();
  if (input && output)
    remark::analysis(made->getLoc(), about(made, "State", "state"))
        << "'" << output.getValue() << "' is '" << input.getValue() << "' with "
        << (concat ? "something new behind it" : "elements replaced")
        << "; --state=" << input.getValue() << "=" << output.getValue()
        << " keeps both in one place, where each call writes what is new";
}

struct FormStates : ashlar::impl::FormStatesPassBase<FormStates> {
  using FormStatesPassBase::FormStatesPassBase;
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    // What asks for a shape only reads nothing.
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    for (unsigned i = 0; i != entry.getNumArguments(); ++i)
      if (auto wanted =
              entry.getArgAttrOfType<DictionaryAttr>(i, stateOfAttrName))
        if (failed(StateFormer(entry, i, wanted).run()))
          return signalPassFailure();
    Operation *ret = entry.getBody().front().getTerminator();
    for (auto [i, returned] : llvm::enumerate(ret->getOperands()))
      suggestState(entry, i, returned);
  }
};
} // namespace
