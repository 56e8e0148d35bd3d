// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boykov, Veksler and Zabih, "Fast approximate energy minimization via graph
// cuts", PAMI 23 (2001): a move takes any of the operations to one device, and
// the best of all such moves is a minimum cut. That a value crosses once for
// all its readers is one more node of the graph (Kohli, Ladicky and Torr,
// "Robust higher order potentials", IJCV 82 (2009)).
#include "ashlar/Cost/ChooseDevices.h"
#include "ashlar/Cost/MinimumCut.h"
#include <algorithm>
#include <cassert>

using namespace ashlar;

unsigned DeviceChoice::addOperation(std::vector<int64_t> ofDevices) {
  assert(ofDevices.size() == devices && "a time for each device");
  for (int64_t &time : ofDevices)
    if (time < never)
      time = std::min(time, longest);
  times.push_back(std::move(ofDevices));
  return unsigned(times.size()) - 1;
}

void DeviceChoice::addValue(unsigned device, unsigned maker,
                            const std::vector<unsigned> &readers, int64_t out,
                            int64_t in) {
  for (bool enters : {false, true})
    if (int64_t time = std::min(enters ? in : out, longest))
      crossings.push_back({device, enters, time, maker, readers});
}

void DeviceChoice::addPair(unsigned device, unsigned one, unsigned other,
                           int64_t saved) {
  // Saved if `one` is there, and paid again if `other` is not.
  saved = std::min(saved, longest);
  if (saved == 0 || times[one][device] >= never)
    return;
  times[one][device] -= saved;
  crossings.push_back({device, false, saved, one, {other}});
}

void DeviceChoice::addTie(unsigned device, unsigned one, unsigned other) {
  assert(times[one][device] < never && times[other][device] < never &&
         "tied where one cannot be");
  for (bool enters : {false, true})
    crossings.push_back({device, enters, never, one, {other}});
}

int64_t DeviceChoice::time(const std::vector<unsigned> &placement) const {
  int64_t total = 0;
  for (size_t i = 0; i != times.size(); ++i) {
    if (times[i][placement[i]] >= never)
      return never;
    total += times[i][placement[i]];
  }
  for (const Crossing &crossing : crossings) {
    auto pays = [&](unsigned reader) {
      return (placement[reader] == crossing.device) == crossing.enters;
    };
    if ((placement[crossing.maker] == crossing.device) != crossing.enters &&
        std::any_of(crossing.readers.begin(), crossing.readers.end(), pays)) {
      if (crossing.time >= never)
        return never;
      total += crossing.time;
    }
  }
  return total;
}

std::vector<unsigned> DeviceChoice::best(const Move &move) const {
  // With the first end: it stays.
  MinimumCut cut;
  std::vector<unsigned> nodes;
  for (size_t i = 0; i != times.size(); ++i) {
    unsigned node = cut.addNode();
    nodes.push_back(node);
    int64_t stay = times[i][move.stays[i]], go = times[i][move.moves[i]];
    if (stay >= never && go >= never)
      return {};
    int64_t least = std::min(stay, go);
    auto more = [&](int64_t time) {
      return time >= never ? MinimumCut::unlimited : time - least;
    };
    cut.addEdge(node, cut.last, more(stay));
    cut.addEdge(cut.first, node, more(go));
  }
  for (const Crossing &crossing : crossings) {
    unsigned device = crossing.device;
    // Operations leave the device by moving, or come to it; never both.
    bool leave = false;
    auto look = [&](unsigned i) {
      leave |= move.stays[i] == device && move.moves[i] != device;
    };
    look(crossing.maker);
    for (unsigned reader : crossing.readers)
      look(reader);
    // Whoever is there, or is not, in both cases is as good as an end.
    auto nodeOf = [&](unsigned i) {
      bool before = move.stays[i] == device, after = move.moves[i] == device;
      if (before != after) {
        assert(before == leave && "some come and some leave");
        return nodes[i];
      }
      return before == leave ? cut.first : cut.last;
    };
    // Paid if the maker is on the first end's side and a reader is not, or the
    // other way round.
    bool forward = leave != crossing.enters;
    int64_t time =
        crossing.time >= never ? MinimumCut::unlimited : crossing.time;
    unsigned maker = nodeOf(crossing.maker);
    auto add = [&](unsigned from, unsigned to, int64_t most) {
      forward ? cut.addEdge(from, to, most) : cut.addEdge(to, from, most);
    };
    if (crossing.readers.size() == 1) {
      add(maker, nodeOf(crossing.readers.front()), time);
      continue;
    }
    unsigned all = cut.addNode();
    add(maker, all, time);
    for (unsigned reader : crossing.readers)
      add(all, nodeOf(reader), MinimumCut::unlimited);
  }
  // Ties may leave no way out.
  if (cut.solve() >= MinimumCut::unlimited)
    return {};
  std::vector<unsigned> result;
  for (size_t i = 0; i != times.size(); ++i)
    result.push_back(cut.isWithLast(nodes[i]) ? move.moves[i] : move.stays[i]);
  return result;
}

std::vector<unsigned>
DeviceChoice::choose(const std::vector<unsigned> &otherwise) const {
  std::vector<unsigned> chosen = otherwise;
  int64_t least = time(chosen);
  assert(least < never && "what is left otherwise is possible");
  auto improve = [&](const Move &move) {
    std::vector<unsigned> other = best(move);
    if (other.empty() || time(other) >= least)
      return false;
    least = time(other);
    chosen = std::move(other);
    return true;
  };
  auto everywhere = [&](unsigned device) {
    return std::vector<unsigned>(times.size(), device);
  };
  for (unsigned a = 0; a != devices; ++a)
    for (unsigned b = a + 1; b != devices; ++b)
      improve({everywhere(a), everywhere(b)});
  // Times are whole numbers that fall: it ends.
  for (bool improved = devices > 2; improved;) {
    improved = false;
    for (unsigned device = 0; device != devices; ++device)
      improved |= improve({chosen, everywhere(device)});
  }
  return chosen;
}
