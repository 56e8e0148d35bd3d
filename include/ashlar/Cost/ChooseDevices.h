// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which device computes what, by the least time of all together: of operations
// where they run, of values that cross, less what is saved where two run
// together. Numbers only; PlaceOperations makes them of a program.
//
// Time is what one device after the other takes: nothing runs at once. That is
// how programs are run, and it is what makes the choice exact for two devices:
// it is the cheapest cut of a graph.
#ifndef ASHLAR_COST_CHOOSEDEVICES_H
#define ASHLAR_COST_CHOOSEDEVICES_H

#include <cstdint>
#include <vector>

namespace ashlar {

class DeviceChoice {
public:
  /// A device that refuses. Other times, in picoseconds, are at most `longest`.
  static constexpr int64_t never = int64_t(1) << 61;
  static constexpr int64_t longest = int64_t(1) << 50;

  explicit DeviceChoice(unsigned devices) : devices(devices) {}

  /// Of an operation on each device; somewhere it can run. Returns its number,
  /// from 0 on.
  unsigned addOperation(std::vector<int64_t> times);
  /// `out` if `maker` runs on `device` and somebody of `readers` elsewhere,
  /// `in` if `maker` runs elsewhere and somebody of them on `device`; once,
  /// however many they are.
  void addValue(unsigned device, unsigned maker,
                const std::vector<unsigned> &readers, int64_t out, int64_t in);
  /// Less time by `saved` where both are on `device`.
  void addPair(unsigned device, unsigned one, unsigned other, int64_t saved);
  /// Both are on `device`, where both can be, or none of them.
  void addTie(unsigned device, unsigned one, unsigned other);

  /// Of all together; at least never: some device refuses, or a tie is torn.
  int64_t time(const std::vector<unsigned> &placement) const;
  /// A device for each operation. Two devices: no other choice takes less. More
  /// (alpha-expansion): none by one device or by any two takes less, nor any
  /// that moves some operations to one device. `otherwise`, which must be
  /// possible, stays where it takes as little.
  std::vector<unsigned> choose(const std::vector<unsigned> &otherwise) const;

private:
  /// Paid if `maker` is on `device` and some reader is not; entering, the other
  /// way round. Never: it must not be.
  struct Crossing {
    unsigned device;
    bool enters;
    int64_t time;
    unsigned maker;
    std::vector<unsigned> readers;
  };
  /// Each operation's device in two cases: it stays or it moves.
  struct Move {
    std::vector<unsigned> stays, moves;
  };
  /// The best of all 2^n ways to take some of a move; empty: none is possible.
  /// Wherever some operations may leave a device, none may come to it.
  std::vector<unsigned> best(const Move &move) const;

  unsigned devices;
  std::vector<std::vector<int64_t>> times; ///< by operation and device
  std::vector<Crossing> crossings;
};

} // namespace ashlar

#endif // ASHLAR_COST_CHOOSEDEVICES_H
