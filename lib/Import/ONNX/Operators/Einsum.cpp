// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Einsum: the operands are contracted in pairs from the left, each pair over
// the labels that neither the result nor a later operand names.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <map>

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// Letters name themselves; the dimensions of an ellipsis, counted from its
/// right end, have numbers from 256 on.
using Labels = SmallVector<int>;

struct Equation {
  SmallVector<Labels> operands;
  Labels result;
  std::map<int, int64_t> sizes;
};

struct Term {
  Value value;
  Labels labels;
};
} // namespace

static constexpr int firstOfEllipsis = 256;

/// Reads one term; `ellipsis` is the number of dimensions that it stands for.
static FailureOr<Labels> parseTerm(NodeImporter &node, StringRef term,
                                   int64_t ellipsis) {
  Labels labels;
  bool seen = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (llvm::isAlpha(term[i])) {
      labels.push_back(term[i]);
      continue;
    }
    if (!term.substr(i).starts_with("...") || seen)
      return node.invalid("expected letters and one ellipsis in a term of the "
                          "equation, found '" +
                          term + "'");
    seen = true;
    i += 2;
    for (int64_t dim = ellipsis; dim-- > 0;)
      labels.push_back(firstOfEllipsis + dim);
  }
  return labels;
}

static FailureOr<Equation> parseEquation(NodeImporter &node) {
  std::string text = node.stringAttribute("equation", "");
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  bool isExplicit = StringRef(text).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != node.numOperands())
    return node.invalid("expected one term for each of the " +
                        Twine(node.numOperands()) + " operands, found " +
                        Twine(terms.size()) + " in '" + text + "'");
  Equation equation;
  int64_t widest = 0;
  std::map<int, int> uses;
  for (auto [i, term] : llvm::enumerate(terms)) {
    if (!node.hasOperand(i))
      return node.invalid("input " + Twine(i) + " is missing");
    int64_t letters = llvm::count_if(term, llvm::isAlpha);
    int64_t ellipsis = term.contains('.') ? node.rank(i) - letters : 0;
    FailureOr<Labels> labels =
        parseTerm(node, term, std::max<int64_t>(ellipsis, 0));
    if (failed(labels))
      return failure();
    if (int64_t(labels->size()) != node.rank(i))
      return node.invalid("expected term '" + term + "' to have a label for " +
                          "each dimension of input " + Twine(i) +
                          ", whose shape is " + spellShape(node.shape(i)));
    widest = std::max(widest, ellipsis);
    for (auto [label, dim] : llvm::zip(*labels, node.shape(i))) {
      ++uses[label];
      auto [it, isNew] = equation.sizes.try_emplace(label, dim);
      if (it->second == 1)
        it->second = dim;
      else if (dim != 1 && dim != it->second)
        return node.invalid("one label of the equation has sizes " +
                            Twine(it->second) + " and " + Twine(dim));
    }
    equation.operands.push_back(*labels);
  }
  if (isExplicit) {
    FailureOr<Labels> labels = parseTerm(node, right, widest);
    if (failed(labels))
      return failure();
    equation.result = *labels;
  } else {
    for (int64_t dim = widest; dim-- > 0;)
      equation.result.push_back(firstOfEllipsis + dim);
    for (auto [label, count] : uses)
      if (label < firstOfEllipsis && count == 1)
        equation.result.push_back(label);
  }
  Labels seen;
  for (int label : equation.result) {
    if (!equation.sizes.count(label) || llvm::is_contained(seen, label))
      return node.invalid("expected labels of the operands, each once, in the "
                          "result of equation '" +
                          text + "'");
    seen.push_back(label);
  }
  return equation;
}

/// Where the labels of a term stand among `loops`.
static AffineMap mapOf(const Term &term, ArrayRef<int> loops,
                       const Equation &equation) {
  MLIRContext *context = term.value.getContext();
  auto type = cast<RankedTensorType>(term.value.getType());
  SmallVector<AffineExpr> exprs;
  for (auto [label, dim] : llvm::zip(term.labels, type.getShape())) {
    bool broadcasts = dim == 1 && equation.sizes.at(label) != 1;
    exprs.push_back(
        broadcasts ? getAffineConstantExpr(0, context)
                   : getAffineDimExpr(llvm::find(loops, label) - loops.begin(),
                                      context));
  }
  return AffineMap::get(loops.size(), 0, exprs, context);
}

/// Contracts one or two terms to `labels`, in the type `compute`.
static FailureOr<Term> contractTerms(NodeImporter &node,
                                     const Equation &equation,
                                     ArrayRef<Term> terms, const Labels &labels,
                                     Type compute) {
  ImplicitLocOpBuilder &b = node.b;
  SmallVector<int64_t> shape;
  for (int label : labels)
    shape.push_back(equation.sizes.at(label));
  if (failed(expectSize(node, shape, compute)))
    return failure();
  Labels loops = labels;
  for (const Term &term : terms)
    for (int label : term.labels)
      if (!llvm::is_contained(loops, label))
        loops.push_back(label);
  Value init = fill(b, shape, arith::ConstantOp::create(b, zeroOf(compute)));
  SmallVector<AffineMap> maps;
  for (const Term &term : terms)
    maps.push_back(mapOf(term, loops, equation));
  maps.push_back(mapOf({init, labels}, loops, equation));
  if (terms.size() == 2)
    return Term{contract(b, terms[0].value, terms[1].value, init, maps,
                         isUnsigned(node.operandType(0)),
                         isUnsigned(node.operandType(0))),
                labels};
  SmallVector<utils::IteratorType> iterators(loops.size(),
                                             utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), labels.size(), utils::IteratorType::parallel);
  Value sum =
      linalg::GenericOp::create(
          b, init.getType(), ValueRange{terms[0].value}, ValueRange{init}, maps,
          iterators,
          [&](OpBuilder &b, Location loc, ValueRange args) {
            Value x = args[0];
            if (isa<FloatType>(compute))
              x = resizeFloat(b, loc, x, compute);
            linalg::YieldOp::create(b, loc, scalarAdd(b, loc, args[1], x));
          })
          .getResult(0);
  return Term{sum, labels};
}

/// The labels of `terms` that stand in the result or in a later operand, those
/// of the result first and in its order.
static Labels keptLabels(const Equation &equation, ArrayRef<Term> terms,
                         size_t nextOperand) {
  auto isUsed = [&](int label) {
    return llvm::any_of(terms, [&](const Term &term) {
      return llvm::is_contained(term.labels, label);
    });
  };
  Labels kept;
  for (int label : equation.result)
    if (isUsed(label))
      kept.push_back(label);
  for (size_t i = nextOperand; i < equation.operands.size(); ++i)
    for (int label : equation.operands[i])
      if (isUsed(label) && !llvm::is_contained(kept, label))
        kept.push_back(label);
  return kept;
}

static LogicalResult importEinsum(NodeImporter &node) {
  FailureOr<Equation> equation = parseEquation(node);
  if (failed(equation))
    return failure();
  ElementType type = node.operandType(0), wide = computeType(type);
  Type compute = convertElementType(node.b.getContext(), wide);
  Term sum;
  for (auto [i, labels] : llvm::enumerate(equation->operands)) {
    Term term{node.operand(i), labels};
    if (i == 0 && equation->operands.size() > 1) {
      sum = term;
      continue;
    }
    SmallVector<Term> terms = {term};
    if (i > 0) {
      terms.insert(terms.begin(), sum);
      if (getElementTypeOrSelf(sum.value) != getElementTypeOrSelf(term.value))
        terms[1].value = castTensor(node.b, term.value, type, wide);
    }
    FailureOr<Term> contracted = contractTerms(
        node, *equation, terms, keptLabels(*equation, terms, i + 1), compute);
    if (failed(contracted))
      return failure();
    sum = *contracted;
  }
  node.setResult(0, castTensor(node.b, sum.value, wide, type), type);
  return success();
}

void ashlar::onnx_import::registerEinsumOperators(OperatorRegistry &registry) {
  registry.add("Einsum", 12, importEinsum);
}
