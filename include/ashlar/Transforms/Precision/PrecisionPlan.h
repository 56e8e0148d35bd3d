// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of a model's nodes compute with fewer bits than the model says, as a
// file that people read and edit: a line a node, its type before its name.
//
//   bf16  "/layer1/conv1/Conv"       # contraction
//   f32   "/layer1/norm/Exp"         # exponential
//
// A node of a low type may read and write values of it where the rules allow
// (SensitiveOps.h), one of f32 neither reads nor writes anything lower.
#ifndef ASHLAR_TRANSFORMS_PRECISION_PRECISIONPLAN_H
#define ASHLAR_TRANSFORMS_PRECISION_PRECISIONPLAN_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ashlar {

enum class NumberType { F32, BF16, F16 };

const char *spell(NumberType type);
/// False, leaving `type` alone, for any other text.
bool parseNumberType(const std::string &text, NumberType &type);

struct PrecisionPlan {
  struct Line {
    NumberType type = NumberType::F32;
    unsigned number = 0; ///< in the file, from 1; 0: of no file
    std::string reason;  ///< of whoever made the plan; files have none
  };
  /// By node. What is not here stays f32.
  std::map<std::string, Line> nodes;
};

/// What is wrong with the text, "line 3: ..."; empty if nothing is.
std::string parsePrecisionPlan(const std::string &text, PrecisionPlan &plan);

/// What was decided for one node.
struct PrecisionNode {
  std::string name;
  NumberType type = NumberType::F32;
  /// What the rules alone choose.
  NumberType byRule = NumberType::F32;
  std::vector<std::string> rules; ///< that its ops fell under, each once
  /// Why it is not what the rules chose; empty: it is, or a plan says so.
  std::string reason;
  /// Cycles of one worker that the low type is predicted to save.
  double gain = 0;
  /// Something that it multiplies, reads or writes became low.
  bool isLow = false;
};

/// One place where a value is rounded, if all of its nodes are of a low type.
struct PrecisionSite {
  std::vector<unsigned> nodes;
  unsigned source = 0; ///< the node that rounds it
};

/// What was decided for a program, in the order of its operations.
struct PrecisionDecisions {
  std::vector<PrecisionNode> nodes;
  std::vector<PrecisionSite> sites;
  /// Nodes that round in the bodies of control flow, where an observation does
  /// not look; each once.
  std::vector<unsigned> unobserved;
  /// Of one worker, for the products of one call in f32.
  double cycles = 0;
  /// Of inputs of integers that are indices: the largest that makes sense.
  std::map<std::string, int64_t> largestInputs;
  /// Lines of the plan whose nodes the program does not have.
  std::vector<std::string> unknown;
};

std::string printPrecisionPlan(const std::vector<PrecisionNode> &nodes,
                               const std::vector<std::string> &heading);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_PRECISION_PRECISIONPLAN_H
