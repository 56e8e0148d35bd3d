// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An exact search for a plan within a capacity.
//
// In a plan that is pushed down, each item lies at 0 or on another one. So a
// node of the search asks of the item that can lie lowest: is it there, or does
// it rest on something that is not placed yet? Both answers raise the lowest
// offsets of others, and what they imply is drawn before the next question:
//
//   floors     a section's floor is the lowest offset of what is left there; an
//              item lies above the floors of all its sections
//   resting    an item that was refused its lowest offset lies above the lowest
//              top of what is left beside it
//   energy     what is left of a section at or above some height must fit
//              between that height and the capacity
//   twins      of equal items the earlier lies lower
//   parts      when no item left joins two stretches of time, they are solved
//              apart, and the failure of one is the failure of both
//   memory     items left with lowest offsets that failed once fail again,
//              whatever lies below them
#ifndef ASHLAR_LIB_PLANNER_SEARCH_H
#define ASHLAR_LIB_PLANNER_SEARCH_H

#include "Problem.h"
#include "Spending.h"
#include <unordered_map>

namespace ashlar::planner {

class Search {
public:
  enum class Outcome { Found, Impossible, Limit };

  Search(const Problem &problem, int64_t capacity, Spending &spending);

  /// Of items that can lie equally low, the one with the largest key goes
  /// first. Gives up after `nodes`.
  Outcome run(const std::vector<double> &keys, int64_t nodes);

  /// By item, after Outcome::Found.
  const std::vector<int64_t> &offsets() const { return lowest; }
  /// How often each section was where a branch failed.
  const std::vector<int64_t> &failures() const { return failureCounts; }

private:
  /// What the items left in a section allow.
  struct Section {
    int64_t floor = 0;
    /// The two lowest tops of items left, and whose the lowest is.
    int64_t lowTop = 0, nextTop = 0;
    int lowItem = -1;
  };
  struct SavedItem {
    int item;
    int64_t lowest;
    bool raised;
  };

  /// How much had been done at some point, to go back to it.
  struct Mark {
    size_t placements, items, sections;
  };

  Outcome solve(int from, int to);
  Outcome solveParts(int from, int to, int changedFrom, int changedTo);
  void place(int item);
  void unplace(int item);
  Mark mark() const;
  void undo(const Mark &mark);
  bool refuseLowest(int item);
  bool propagate();
  bool propagateSection(int s);
  bool checkEnergy(int s);
  bool raise(int item, int64_t to);
  int64_t restingHeight(int item) const;
  int chooseItem(int from, int to) const;
  uint64_t leftIn(int from, int to) const;
  std::vector<int64_t> lowestLeft(int from, int to) const;
  bool hasFailed(uint64_t left, const std::vector<int64_t> &offsets);
  void remember(uint64_t left, std::vector<int64_t> offsets);
  void markDirty(int s);
  void markItemDirty(int item);
  void abandonDirty();
  void reset();

  const Problem &problem;
  int64_t capacity, roundedCapacity;
  Spending &spending;
  int64_t nodesLeft = 0;
  const std::vector<double> *keys = nullptr;

  /// Of items: what every loop reads, apart from the rest.
  std::vector<int64_t> sizes;
  std::vector<int> twins;
  std::vector<int64_t> lowest; ///< by item; its offset once placed
  std::vector<char> raised;    ///< refused its lowest offset: rests on others
  std::vector<char> placed;
  std::vector<Section> sections;
  Members all;
  /// Items left in a section: the first leftCount[s] of its members.
  std::vector<int> members, leftCount;
  std::vector<int> positions, positionStarts; ///< of an item in its sections
  std::vector<int64_t> leftSize;
  std::vector<int> crossing;    ///< items left in both s and s + 1
  std::vector<uint64_t> hashes; ///< of the items left that begin in a section
  std::vector<int> itemStarts;  ///< the first item that begins in a section

  std::vector<int> placements; ///< in the order of time
  std::vector<SavedItem> savedItems;
  std::vector<std::pair<int, Section>> savedSections;
  std::vector<int> dirty, touched;
  std::vector<char> isDirty, isTouched;
  std::vector<std::pair<int64_t, int64_t>> energy; // scratch
  /// By the items left: lowest offsets with which they did not fit.
  std::unordered_map<uint64_t, std::vector<std::vector<int64_t>>> failed;
  size_t rememberedOffsets = 0;
  std::vector<int64_t> failureCounts;
};

} // namespace ashlar::planner

#endif // ASHLAR_LIB_PLANNER_SEARCH_H
