// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts and placements beside all that there are, on small random graphs.
#include "ashlar/Cost/ChooseDevices.h"
#include "ashlar/Cost/MinimumCut.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace ashlar;

namespace {
int64_t pick(std::mt19937 &random, int64_t least, int64_t most) {
  return least + int64_t(random() % uint64_t(most - least + 1));
}

struct Edge {
  unsigned from, to;
  int64_t capacity;
};

// A cut is the least of all, and of the least ones has the fewest nodes with
// the last end; what is unlimited is whole.
TEST(MinimumCut, IsTheLeastOfAll) {
  for (unsigned seed = 0; seed != 400; ++seed) {
    std::mt19937 random(seed);
    unsigned nodes = 2 + unsigned(pick(random, 1, 7));
    std::vector<Edge> edges;
    for (int64_t i = pick(random, 1, 24); i != 0; --i) {
      unsigned from = unsigned(pick(random, 0, nodes - 1));
      unsigned to = unsigned(pick(random, 0, nodes - 1));
      // Between the ends themselves there may be no unlimited way.
      bool isInner = from > 1 && to > 1;
      edges.push_back({from, to,
                       isInner && pick(random, 0, 4) == 0
                           ? MinimumCut::unlimited
                           : pick(random, 0, 6)});
    }
    MinimumCut cut;
    for (unsigned i = 2; i != nodes; ++i)
      EXPECT_EQ(cut.addNode(), i);
    for (const Edge &edge : edges)
      cut.addEdge(edge.from, edge.to, edge.capacity);
    auto costOf = [&](unsigned withLast) {
      withLast = withLast << 2 | 2;
      int64_t cost = 0;
      for (const Edge &edge : edges)
        if (!(withLast >> edge.from & 1) && withLast >> edge.to & 1) {
          if (edge.capacity == MinimumCut::unlimited)
            return MinimumCut::unlimited;
          cost += edge.capacity;
        }
      return cost;
    };
    int64_t least = MinimumCut::unlimited;
    int fewest = 0;
    for (unsigned withLast = 0; withLast != 1u << (nodes - 2); ++withLast) {
      int64_t cost = costOf(withLast);
      int count = __builtin_popcount(withLast);
      if (cost < least || (cost == least && count < fewest)) {
        least = cost;
        fewest = count;
      }
    }
    ASSERT_EQ(cut.solve(), least) << "seed " << seed;
    unsigned found = 0;
    for (unsigned i = 2; i != nodes; ++i)
      found |= unsigned(cut.isWithLast(i)) << (i - 2);
    EXPECT_EQ(costOf(found), least) << "seed " << seed;
    EXPECT_EQ(__builtin_popcount(found), fewest) << "seed " << seed;
  }
}

// A way as long as a large model needs no stack.
TEST(MinimumCut, TakesLongWays) {
  MinimumCut cut;
  unsigned node = MinimumCut::first;
  for (unsigned i = 0; i != 200000; ++i) {
    unsigned next = cut.addNode();
    cut.addEdge(node, next, i == 77777 ? 3 : MinimumCut::unlimited);
    node = next;
  }
  cut.addEdge(node, MinimumCut::last, MinimumCut::unlimited);
  EXPECT_EQ(cut.solve(), 3);
  EXPECT_FALSE(cut.isWithLast(2 + 77776));
  EXPECT_TRUE(cut.isWithLast(2 + 77777));
}

// Where each cut has something unlimited, that is said.
TEST(MinimumCut, SaysThatThereIsNone) {
  MinimumCut cut;
  unsigned node = cut.addNode();
  cut.addEdge(MinimumCut::first, MinimumCut::last, 4);
  cut.addEdge(MinimumCut::first, node, MinimumCut::unlimited);
  cut.addEdge(node, MinimumCut::last, MinimumCut::unlimited);
  EXPECT_EQ(cut.solve(), MinimumCut::unlimited);
}

/// A program in the words of its devices, with its time by the book.
struct Program {
  struct Value {
    unsigned maker;
    std::vector<unsigned> readers;
    std::vector<int64_t> out, in; ///< by device
  };
  struct Pair {
    unsigned one, other;
    std::vector<int64_t> saved;
  };

  struct Tie {
    unsigned device, one, other;
  };

  Program(unsigned seed, unsigned devices) : devices(devices) {
    std::mt19937 random(seed);
    unsigned count = unsigned(pick(random, 1, devices == 2 ? 9 : 6));
    for (unsigned i = 0; i != count; ++i) {
      std::vector<int64_t> ofDevices;
      for (unsigned d = 0; d != devices; ++d)
        // Inputs are the first's; all others it may be able to run, too.
        ofDevices.push_back((i == 0 && d != 0) ||
                                    (d != 0 && pick(random, 0, 3) == 0)
                                ? DeviceChoice::never
                                : pick(random, 0, 30));
      times.push_back(ofDevices);
    }
    for (unsigned i = 0; i + 1 < count; ++i) {
      Value value = {i, {}, {0}, {0}};
      for (unsigned reader = 0; reader != count; ++reader)
        if (reader != i && pick(random, 0, 2) == 0)
          value.readers.push_back(reader);
      for (unsigned d = 1; d != devices; ++d) {
        value.out.push_back(pick(random, 0, 12));
        value.in.push_back(pick(random, 0, 12));
      }
      if (!value.readers.empty())
        values.push_back(value);
    }
    for (unsigned i = 0; i + 1 < count; ++i) {
      if (pick(random, 0, 1))
        continue;
      Pair pair = {i, i + 1, {}};
      for (unsigned d = 0; d != devices; ++d)
        pair.saved.push_back(pick(random, 0, 9));
      pairs.push_back(pair);
    }
    for (unsigned i = 0; i + 1 < count; ++i)
      for (unsigned d = 1; d != devices; ++d)
        if (pick(random, 0, 3) == 0 && times[i][d] != DeviceChoice::never &&
            times[i + 1][d] != DeviceChoice::never)
          ties.push_back({d, i, i + 1});
  }

  int64_t time(const std::vector<unsigned> &placement) const {
    int64_t total = 0;
    for (size_t i = 0; i != times.size(); ++i) {
      if (times[i][placement[i]] == DeviceChoice::never)
        return DeviceChoice::never;
      total += times[i][placement[i]];
    }
    // Through the first device, and once to each that reads.
    for (const Value &value : values) {
      std::vector<bool> reads(devices, false);
      for (unsigned reader : value.readers)
        reads[placement[reader]] = true;
      unsigned home = placement[value.maker];
      reads[home] = false;
      if (home != 0 && std::count(reads.begin(), reads.end(), true))
        total += value.out[home];
      for (unsigned d = 1; d != devices; ++d)
        if (reads[d])
          total += value.in[d];
    }
    for (const Pair &pair : pairs)
      if (placement[pair.one] == placement[pair.other])
        total -= pair.saved[placement[pair.one]];
    for (const Tie &tie : ties)
      if ((placement[tie.one] == tie.device) !=
          (placement[tie.other] == tie.device))
        return DeviceChoice::never;
    return total;
  }

  DeviceChoice choice() const {
    DeviceChoice choice(devices);
    for (const auto &ofDevices : times)
      choice.addOperation(ofDevices);
    for (const Value &value : values)
      for (unsigned d = 1; d != devices; ++d)
        choice.addValue(d, value.maker, value.readers, value.out[d],
                        value.in[d]);
    for (const Pair &pair : pairs)
      for (unsigned d = 0; d != devices; ++d)
        choice.addPair(d, pair.one, pair.other, pair.saved[d]);
    for (const Tie &tie : ties)
      choice.addTie(tie.device, tie.one, tie.other);
    return choice;
  }

  /// The least time with `allowed` alone.
  int64_t least(const std::vector<unsigned> &allowed) const {
    int64_t found = DeviceChoice::never;
    std::vector<unsigned> digits(times.size(), 0), placement(times.size());
    for (;;) {
      for (size_t i = 0; i != digits.size(); ++i)
        placement[i] = allowed[digits[i]];
      found = std::min(found, time(placement));
      size_t i = 0;
      while (i != digits.size() && ++digits[i] == allowed.size())
        digits[i++] = 0;
      if (i == digits.size())
        return found;
    }
  }

  unsigned devices;
  std::vector<std::vector<int64_t>> times;
  std::vector<Value> values;
  std::vector<Pair> pairs;
  std::vector<Tie> ties;
};

// Times are counted as the book says, wherever anything is.
TEST(ChooseDevices, CountsTimes) {
  for (unsigned seed = 0; seed != 200; ++seed) {
    Program program(seed, 3);
    DeviceChoice choice = program.choice();
    std::mt19937 random(seed);
    for (int i = 0; i != 8; ++i) {
      std::vector<unsigned> placement;
      for (size_t k = 0; k != program.times.size(); ++k)
        placement.push_back(unsigned(pick(random, 0, 2)));
      int64_t expected = program.time(placement);
      EXPECT_EQ(choice.time(placement), expected) << "seed " << seed;
    }
  }
}

// Of two devices the best, exactly.
TEST(ChooseDevices, IsExactForTwo) {
  for (unsigned seed = 0; seed != 500; ++seed) {
    Program program(seed, 2);
    std::vector<unsigned> host(program.times.size(), 0);
    auto chosen = program.choice().choose(host);
    EXPECT_EQ(program.time(chosen), program.least({0, 1})) << "seed " << seed;
  }
}

// Of more it is never worse than any two, nor than what there was; mostly it is
// the best.
TEST(ChooseDevices, IsNeverWorseThanTwo) {
  unsigned best = 0, count = 0;
  for (unsigned devices : {3u, 4u})
    for (unsigned seed = 0; seed != 200; ++seed) {
      Program program(seed, devices);
      std::mt19937 random(seed + 1);
      std::vector<unsigned> before;
      for (const auto &times : program.times) {
        unsigned device = unsigned(pick(random, 0, devices - 1));
        before.push_back(times[device] == DeviceChoice::never ? 0 : device);
      }
      if (program.time(before) == DeviceChoice::never)
        std::fill(before.begin(), before.end(), 0);
      int64_t found = program.time(program.choice().choose(before));
      EXPECT_LE(found, program.time(before)) << "seed " << seed;
      for (unsigned a = 0; a != devices; ++a)
        for (unsigned b = a + 1; b != devices; ++b)
          EXPECT_LE(found, program.least({a, b})) << "seed " << seed;
      std::vector<unsigned> all;
      for (unsigned d = 0; d != devices; ++d)
        all.push_back(d);
      int64_t least = program.least(all);
      EXPECT_GE(found, least) << "seed " << seed;
      best += found == least;
      ++count;
    }
  EXPECT_GE(best * 100, count * 95) << best << " of " << count;
}

// Of a pair of devices that ties leave no way on, nothing is chosen.
TEST(ChooseDevices, PassesOverTornTies) {
  DeviceChoice choice(3);
  choice.addOperation({DeviceChoice::never, 1, 1});
  choice.addOperation({5, 1, DeviceChoice::never});
  choice.addOperation({9, DeviceChoice::never, 1});
  choice.addTie(1, 0, 1);
  choice.addTie(2, 0, 2);
  EXPECT_GE(choice.time({1, 1, 2}), DeviceChoice::never);
  EXPECT_EQ(choice.choose({1, 1, 0}), (std::vector<unsigned>{2, 0, 2}));
}

// What takes as little stays as it was; of equals, else, the first device's.
TEST(ChooseDevices, KeepsEquals) {
  DeviceChoice choice(2);
  choice.addOperation({5, 5});
  choice.addOperation({7, 7});
  EXPECT_EQ(choice.choose({0, 1}), (std::vector<unsigned>{0, 1}));
  choice.addOperation({9, 1});
  EXPECT_EQ(choice.choose({1, 1, 0}), (std::vector<unsigned>{0, 0, 1}));
}
} // namespace
