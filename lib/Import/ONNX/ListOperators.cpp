// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is imported, told from the table that the importer itself uses.
#include "Signatures.h"
#include "ashlar/Import/ONNX/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

/// Later than any operator set.
static constexpr int64_t newest = 1 << 20;

void ashlar::listOperators(llvm::raw_ostream &out) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  operatorRegistry().forEach([&](StringRef domain, StringRef op,
                                 ArrayRef<int64_t> importers) {
    // The definitions that the importers serve, newest first.
    SmallVector<std::string> versions;
    SmallVector<StringRef> types;
    const Signature *last =
        domain.empty() ? lookupSignature(op, newest) : nullptr;
    for (const Signature *at = last; at && at->since >= importers.front();
         at = lookupSignature(op, at->since - 1))
      versions.push_back(std::to_string(at->since));
    if (versions.empty())
      for (int64_t version : llvm::reverse(importers))
        versions.push_back(std::to_string(version));
    std::reverse(versions.begin(), versions.end());
    for (int bit = 1; last && bit != 63; ++bit) {
      auto type = static_cast<ElementType>(bit);
      if (inputTypes(*last) >> bit & 1 && convertElementType(&context, type))
        types.push_back(elementTypeName(type));
    }
    out << (domain.empty() ? "" : domain + ".") << op << "\t"
        << llvm::join(versions, " ") << "\t" << llvm::join(types, " ") << "\n";
  });
}
