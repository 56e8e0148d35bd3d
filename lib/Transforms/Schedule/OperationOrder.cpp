// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OperationOrder.h"
#include <algorithm>
#include <cassert>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>

using namespace ashlar;

namespace {
using Words = std::vector<uint64_t>;

bool has(const Words &set, int i) { return set[i / 64] >> (i % 64) & 1; }
void insert(Words &set, int i) { set[i / 64] |= uint64_t(1) << (i % 64); }

struct HashWords {
  size_t operator()(const Words &words) const {
    uint64_t hash = 0x9E3779B97F4A7C15;
    for (uint64_t word : words) {
      hash = (hash ^ word) * 0xBF58476D1CE4E5B9;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

/// What one operation does to the bytes alive.
struct LiveBytes {
  int64_t during; ///< above what was alive before it
  int64_t after;  ///< likewise
};

/// What the problem says, the other way round.
class Graph {
public:
  explicit Graph(const OrderProblem &problem)
      : problem(problem), readers(problem.buffers.size()),
        writer(problem.buffers.size(), -1) {
    int n = size();
    for (int i = 0; i != n; ++i) {
      for (int buffer : problem.operations[i].reads)
        readers[buffer].push_back(i);
      for (int buffer : problem.operations[i].writes)
        writer[buffer] = i;
    }
    for (size_t b = 0; b != problem.buffers.size(); ++b)
      if (writer[b] < 0)
        atStart += problem.buffers[b].bytes;
  }

  int size() const { return int(problem.operations.size()); }

  bool isReady(const Words &done, int operation) const {
    if (has(done, operation))
      return false;
    for (int buffer : problem.operations[operation].reads)
      if (writer[buffer] >= 0 && !has(done, writer[buffer]))
        return false;
    return true;
  }

  LiveBytes step(const Words &done, int operation) const {
    const OrderProblem::Operation &op = problem.operations[operation];
    int64_t during = 0, after = 0;
    bool isTakenOver = op.writes.empty();
    for (int buffer : op.reads)
      if (dies(done, operation, buffer))
        after -= problem.buffers[buffer].bytes;
    for (int buffer : op.takesOver)
      if (!isTakenOver && dies(done, operation, buffer)) {
        isTakenOver = true;
        during -= problem.buffers[buffer].bytes;
      }
    for (int buffer : op.writes) {
      during += problem.buffers[buffer].bytes;
      if (!readers[buffer].empty() || problem.buffers[buffer].isKept)
        after += problem.buffers[buffer].bytes;
    }
    return {during, after};
  }

  /// No order has a lower peak: each operation has its operands and results at
  /// one time.
  int64_t lowestPeak() const {
    int64_t lowest = atStart;
    for (const OrderProblem::Operation &op : problem.operations) {
      int64_t bytes = 0, saved = 0;
      for (int buffer : op.reads)
        bytes += problem.buffers[buffer].bytes;
      for (int buffer : op.takesOver)
        saved = std::max(saved, problem.buffers[buffer].bytes);
      for (int buffer : op.writes)
        bytes += problem.buffers[buffer].bytes;
      lowest = std::max(lowest, bytes - (op.writes.empty() ? 0 : saved));
    }
    return lowest;
  }

  /// What is alive in the end, whatever the order.
  int64_t atEnd() const {
    int64_t bytes = 0;
    for (const OrderProblem::Buffer &buffer : problem.buffers)
      bytes += buffer.isKept ? buffer.bytes : 0;
    return bytes;
  }

  const OrderProblem &problem;
  int64_t atStart = 0;

private:
  bool dies(const Words &done, int operation, int buffer) const {
    if (problem.buffers[buffer].isKept)
      return false;
    for (int reader : readers[buffer])
      if (reader != operation && !has(done, reader))
        return false;
    return true;
  }

  std::vector<std::vector<int>> readers;
  std::vector<int> writer;
};

struct State {
  Words done;
  int64_t alive, peak;
  int count;  ///< operations done
  int before; ///< the state it came from
  int last;   ///< the operation that led here
};

class Search {
public:
  /// No order has a peak below `lowest`.
  Search(const Graph &graph, int64_t lowest) : graph(graph) {
    State start;
    start.done.assign((graph.size() + 63) / 64, 0);
    start.alive = graph.atStart;
    start.peak = std::max(start.alive, lowest);
    start.count = 0;
    start.before = start.last = -1;
    states.push_back(std::move(start));
  }

  /// How many have been looked at.
  size_t size() const { return states.size(); }

  /// An order with the lowest peak; empty: more than `most` states.
  std::vector<int> exactly(size_t most) {
    using Key = std::tuple<int64_t, int, int>; // peak, those left, state
    std::priority_queue<Key, std::vector<Key>, std::greater<>> open;
    std::unordered_map<Words, int64_t, HashWords> best;
    Words done;
    open.push({states[0].peak, graph.size(), 0});
    while (!open.empty()) {
      auto [peak, left, number] = open.top();
      open.pop();
      if (left == 0)
        return orderTo(number);
      if (best.count(states[number].done) && best[states[number].done] < peak)
        continue;
      if (states.size() > most)
        return {};
      for (int operation : successors(states[number])) {
        // Most are known already: they must not cost a state.
        done = states[number].done;
        insert(done, operation);
        int64_t peak = peakAfter(states[number], operation);
        auto [known, isNew] = best.try_emplace(done, peak);
        if (!isNew && known->second <= peak)
          continue;
        known->second = peak;
        State next = after(number, operation);
        open.push({peak, graph.size() - next.count, int(states.size())});
        states.push_back(std::move(next));
      }
    }
    assert(false && "operations read what is written later");
    return {};
  }

  /// Keeps the best `width` states of each number of operations.
  std::vector<int> approximately(size_t width) {
    std::vector<int> layer = {0};
    for (int i = 0; i != graph.size(); ++i) {
      std::unordered_map<Words, int, HashWords> seen;
      std::vector<int> next;
      for (int number : layer)
        for (int operation : successors(states[number])) {
          State state = after(number, operation);
          auto [place, isNew] = seen.try_emplace(state.done, int(next.size()));
          if (isNew) {
            next.push_back(int(states.size()));
            states.push_back(std::move(state));
          } else if (state.peak < states[next[place->second]].peak) {
            states[next[place->second]] = std::move(state);
          }
        }
      // Equal ones in the order in which they were found.
      std::sort(next.begin(), next.end(), [&](int x, int y) {
        return std::tuple(states[x].peak, states[x].alive, x) <
               std::tuple(states[y].peak, states[y].alive, y);
      });
      if (next.size() > width)
        next.resize(width);
      layer = std::move(next);
    }
    return orderTo(layer.front());
  }

private:
  /// Those that can run next; one alone where it may go first.
  std::vector<int> successors(const State &state) const {
    std::vector<int> ready;
    for (int i = 0; i != graph.size(); ++i) {
      if (!graph.isReady(state.done, i))
        continue;
      LiveBytes step = graph.step(state.done, i);
      if (step.after <= 0 && state.alive + step.during <= state.peak)
        return {i};
      ready.push_back(i);
    }
    return ready;
  }

  int64_t peakAfter(const State &state, int operation) const {
    LiveBytes step = graph.step(state.done, operation);
    return std::max(state.peak,
                    state.alive + std::max(step.during, step.after));
  }

  State after(int number, int operation) const {
    State next = states[number];
    next.peak = peakAfter(next, operation);
    next.alive += graph.step(next.done, operation).after;
    insert(next.done, operation);
    ++next.count;
    next.before = number;
    next.last = operation;
    return next;
  }

  std::vector<int> orderTo(int number) const {
    std::vector<int> order;
    for (; states[number].last >= 0; number = states[number].before)
      order.push_back(states[number].last);
    std::reverse(order.begin(), order.end());
    return order;
  }

  const Graph &graph;
  std::vector<State> states;
};
} // namespace

static std::vector<int64_t> loadsOf(const Graph &graph,
                                    const std::vector<int> &order) {
  Words done((graph.size() + 63) / 64, 0);
  std::vector<int64_t> loads;
  int64_t alive = graph.atStart;
  for (int operation : order) {
    assert(graph.isReady(done, operation) && "it reads what is written later");
    LiveBytes step = graph.step(done, operation);
    loads.push_back(alive + std::max(step.during, step.after));
    alive += step.after;
    insert(done, operation);
  }
  return loads;
}

static int64_t peakOf(const Graph &graph, const std::vector<int> &order) {
  int64_t peak = graph.atStart;
  for (int64_t load : loadsOf(graph, order))
    peak = std::max(peak, load);
  return peak;
}

std::vector<int64_t> ashlar::loadsOf(const OrderProblem &problem,
                                     const std::vector<int> &order) {
  return ::loadsOf(Graph(problem), order);
}

int64_t ashlar::peakOf(const OrderProblem &problem,
                       const std::vector<int> &order) {
  return ::peakOf(Graph(problem), order);
}

/// How far an order is from `target`: its peak, then what is beyond.
static std::pair<int64_t, int64_t> distance(const std::vector<int64_t> &loads,
                                            int64_t target) {
  int64_t peak = 0, beyond = 0;
  for (int64_t load : loads) {
    peak = std::max(peak, load);
    beyond += std::max<int64_t>(0, load - target);
  }
  return {peak, beyond};
}

std::optional<Rematerialization> ashlar::chooseRematerialization(
    const OrderProblem &problem, const std::vector<int> &order,
    const std::vector<bool> &repeatable, int64_t target) {
  std::vector<int64_t> loads = loadsOf(problem, order);
  std::pair<int64_t, int64_t> best = distance(loads, target);
  size_t peak = std::max_element(loads.begin(), loads.end()) - loads.begin();
  auto reads = [&](int operation, int buffer) {
    const std::vector<int> &list = problem.operations[operation].reads;
    return std::find(list.begin(), list.end(), buffer) != list.end();
  };
  std::optional<Rematerialization> chosen;
  for (size_t i = 0; i < peak; ++i) {
    const OrderProblem::Operation &op = problem.operations[order[i]];
    if (!repeatable[order[i]] || op.writes.size() != 1 ||
        problem.buffers[op.writes[0]].isKept)
      continue;
    int buffer = op.writes[0];
    std::vector<int> later;
    for (size_t k = peak + 1; k < order.size(); ++k)
      if (reads(order[k], buffer))
        later.push_back(order[k]);
    if (later.empty() || reads(order[peak], buffer))
      continue;
    // Another operation, which reads the same and writes a buffer of its own.
    OrderProblem changed = problem;
    int copy = int(changed.buffers.size());
    int repetition = int(changed.operations.size());
    changed.buffers.push_back(problem.buffers[buffer]);
    changed.operations.push_back({op.reads, {copy}, {}});
    for (int reader : later)
      for (std::vector<int> *list : {&changed.operations[reader].reads,
                                     &changed.operations[reader].takesOver})
        std::replace(list->begin(), list->end(), buffer, copy);
    std::vector<int> longer = order;
    longer.insert(std::find(longer.begin(), longer.end(), later.front()),
                  repetition);
    auto found = distance(loadsOf(changed, longer), target);
    if (found < best) {
      best = found;
      chosen = {order[i], later.front(), later};
    }
  }
  return chosen;
}

OperationOrder ashlar::orderForLowestPeak(const OrderProblem &problem,
                                          int64_t mostWork) {
  Graph graph(problem);
  OperationOrder result;
  result.order.resize(graph.size());
  std::iota(result.order.begin(), result.order.end(), 0);
  result.originalPeak = result.peak = ::peakOf(graph, result.order);
  int64_t lowest = graph.lowestPeak();
  result.isExact = result.peak <= std::max(lowest, graph.atEnd());
  if (result.isExact)
    return result;
  int64_t states = mostWork / graph.size();
  Search search(graph, lowest);
  std::vector<int> found = search.exactly(size_t(states));
  result.work = int64_t(search.size()) * graph.size();
  result.isExact = !found.empty();
  if (!result.isExact)
    found = Search(graph, lowest)
                .approximately(
                    size_t(std::clamp<int64_t>(states / graph.size(), 8, 256)));
  int64_t peak = ::peakOf(graph, found);
  if (peak < result.peak) {
    result.peak = peak;
    result.order = std::move(found);
  }
  return result;
}
