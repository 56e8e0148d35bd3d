// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside batching.h: requests that wait, by what can be joined, and the threads
// that run them, one for each session. One lock guards all of it; nothing is
// copied and nothing runs under it.
//
// A request's memory is used while it is `copying`. In between, while a joined
// batch runs, it may be given up at once; so may one that waits.

#ifndef ASHLAR_RUNTIME_DETAIL_BATCH_QUEUE_H
#define ASHLAR_RUNTIME_DETAIL_BATCH_QUEUE_H

#include "ashlar/runtime/detail/batch_request.h"

#include <algorithm>
#include <thread>

namespace ashlar {

/// Of a Batcher, since it was made.
struct BatchingStatistics {
  uint64_t requests = 0; // that were taken
  uint64_t batches = 0;  // that were run, whatever they came to
  uint64_t rows = 0;     // of all batches together
  uint64_t splits = 0;   // batches that failed and were run again in halves
};

namespace detail {

class BatchQueue {
public:
  struct Settings {
    ashlar_entry_t *entry = nullptr;
    std::vector<JoinedTensor> inputs, outputs;
    int64_t maximumSize = 0;
    size_t maximumWaiting = 0;
  };

  Status start(Settings given, std::vector<Session> sessions) {
    settings = std::move(given);
    for (Session &session : sessions)
      workers.emplace_back(std::move(session));
    Status status = guarded([&]() -> Status {
      for (Worker &worker : workers) {
        worker.inputs.resize(settings.inputs.size());
        worker.thread = std::thread([this, &worker] { serve(worker); });
      }
      return {};
    });
    if (!status.ok())
      close(/*drops=*/true);
    return status;
  }

  Status submit(std::shared_ptr<BatchRequest> request) {
    std::lock_guard<std::mutex> lock(mutex);
    if (isClosing)
      return failure(ASHLAR_CANCELLED, "the batcher is closed");
    if (waitingCount >= settings.maximumWaiting)
      return failure(ASHLAR_OUT_OF_BUDGET,
                     std::to_string(waitingCount) +
                         " requests wait already, as many as may",
                     "maximumWaiting");
    Group &group = groupFor(*request);
    group.rows += request->rows;
    group.members.push_back(std::move(request));
    ++waitingCount;
    ++counts.requests;
    work.notify_one();
    return {};
  }

  /// False if it has not ended by then.
  bool wait(BatchRequest &request, BatchClock::time_point until,
            Status &result) {
    std::unique_lock<std::mutex> lock(mutex);
    while (request.state != BatchRequest::ended) {
      auto now = BatchClock::now();
      if (now >= request.deadline && !request.isGivenUp) {
        giveUp(request, "the request's time was over");
        continue;
      }
      if (now >= until)
        return false;
      auto next = std::min(until, request.deadline);
      if (request.isGivenUp) {
        // A cancel that comes before the run is not heard.
        cancelRun(request);
        next = std::min(until, now + std::chrono::milliseconds(1));
      }
      sleep(request.changed, lock, next);
    }
    result = request.result;
    return true;
  }

  void cancel(BatchRequest &request) {
    std::lock_guard<std::mutex> lock(mutex);
    giveUp(request, "the request was cancelled");
  }

  /// Runs what waits, or drops it; then no thread is left.
  void close(bool drops) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isClosing = true;
      if (drops) {
        for (Group &group : groups)
          for (auto &member : group.members)
            end(*member, failure(ASHLAR_CANCELLED, "the batcher is closed"));
        groups.clear();
        waitingCount = 0;
      }
      work.notify_all();
    }
    // Whoever comes second finds them gone, and waits for the first.
    std::lock_guard<std::mutex> lock(closing);
    for (Worker &worker : workers)
      if (worker.thread.joinable())
        worker.thread.join();
    workers.clear();
  }

  BatchingStatistics statistics() {
    std::lock_guard<std::mutex> lock(mutex);
    return counts;
  }

  Settings settings;

private:
  /// A session, its thread and where its batches are joined.
  struct Worker {
    explicit Worker(Session session) : session(std::move(session)) {}
    Session session;
    BatchRun run = {session.get(), 0};
    std::vector<AlignedBytes> inputs;
    std::thread thread;
  };
  /// Requests that can be joined, in the order they came in.
  struct Group {
    BatchList members;
    int64_t rows = 0;
  };

  Group &groupFor(const BatchRequest &request) {
    for (Group &group : groups) {
      const BatchRequest &other = *group.members.front();
      size_t i = 0;
      while (i < settings.inputs.size() &&
             canJoin(settings.inputs[i], request.inputs[i], other.inputs[i]))
        ++i;
      if (i == settings.inputs.size())
        return group;
    }
    return groups.emplace_back();
  }

  void end(BatchRequest &request, Status status) {
    request.state = BatchRequest::ended;
    request.run = nullptr;
    request.result = std::move(status);
    request.changed.notify_all();
  }

  static void cancelRun(const BatchRequest &request) {
    if (request.run)
      (void)ashlar_session_cancel(request.run->session);
  }

  void giveUp(BatchRequest &request, const char *why) {
    if (request.state == BatchRequest::ended || request.isGivenUp)
      return;
    Status status = failure(ASHLAR_CANCELLED, why);
    BatchRun *run = request.run;
    switch (request.state) {
    case BatchRequest::waiting:
      leave(request);
      return end(request, std::move(status));
    case BatchRequest::running:
      if (--run->wanted == 0)
        cancelRun(request);
      return end(request, std::move(status));
    default:
      request.isGivenUp = true;
      request.result = std::move(status);
      cancelRun(request);
    }
  }

  void leave(const BatchRequest &request) {
    for (auto group = groups.begin(); group != groups.end(); ++group)
      for (auto it = group->members.begin(); it != group->members.end(); ++it)
        if (it->get() == &request) {
          // The last reference may be the list's.
          BatchList gone;
          gone.splice(gone.end(), group->members, it);
          --waitingCount;
          group->rows -= request.rows;
          if (group->members.empty())
            groups.erase(group);
          return;
        }
  }

  void dropLate(BatchClock::time_point now) {
    for (bool isOver = false; !isOver;) {
      isOver = true;
      for (Group &group : groups)
        for (auto &member : group.members)
          if (isOver && member->deadline <= now) {
            auto kept = member;
            giveUp(*kept, "the request's time was over");
            isOver = false;
            break;
          }
    }
  }

  /// As many of a group as a batch may have.
  BatchList take(std::list<Group>::iterator group) {
    BatchList taken;
    int64_t rows = 0;
    auto &members = group->members;
    do {
      BatchRequest &first = *members.front();
      first.state = BatchRequest::copying;
      rows += first.rows;
      group->rows -= first.rows;
      --waitingCount;
      taken.splice(taken.end(), members, members.begin());
    } while (!members.empty() &&
             rows + members.front()->rows <= settings.maximumSize);
    if (members.empty())
      groups.erase(group);
    return taken;
  }

  /// Waits for a batch; an empty one is the end.
  BatchList collect(std::unique_lock<std::mutex> &lock) {
    while (true) {
      auto now = BatchClock::now();
      dropLate(now);
      auto soonest = never, chosenDeparture = never;
      auto chosen = groups.end();
      for (auto group = groups.begin(); group != groups.end(); ++group) {
        bool isFull = isClosing || group->rows >= settings.maximumSize;
        auto departure = never;
        for (auto &member : group->members)
          departure = std::min(departure, member->departure);
        if ((isFull || departure <= now) &&
            (chosen == groups.end() || departure < chosenDeparture)) {
          chosen = group;
          chosenDeparture = departure;
        }
        soonest = std::min(soonest, departure);
      }
      if (chosen != groups.end())
        return take(chosen);
      if (isClosing)
        return {};
      sleep(work, lock, soonest);
    }
  }

  void serve(Worker &worker) {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      BatchList members = collect(lock);
      if (members.empty())
        return;
      lock.unlock();
      BatchList left = members;
      Status status = guarded([&]() -> Status {
        run(worker, members);
        return {};
      });
      lock.lock();
      for (auto &member : left)
        if (member->state != BatchRequest::ended)
          end(*member, status);
    }
  }

  void run(Worker &worker, BatchList &members) {
    if (members.size() == 1)
      return runAlone(worker, *members.front());
    Status status = runJoined(worker, members);
    std::unique_lock<std::mutex> lock(mutex);
    // One request may have spoiled it for all. What a device, a deadline or a
    // cancel ended would end again.
    if (status.ok() || status.code() == ASHLAR_DEVICE_LOST ||
        status.code() == ASHLAR_CANCELLED || members.size() < 2) {
      for (auto &member : members)
        endRun(*member, status);
      return;
    }
    ++counts.splits;
    lock.unlock();
    BatchList half;
    half.splice(half.end(), members, members.begin(),
                std::next(members.begin(), ptrdiff_t(members.size() / 2)));
    run(worker, half);
    run(worker, members);
  }

  void endRun(BatchRequest &request, const Status &status) {
    if (request.state != BatchRequest::ended)
      end(request, request.isGivenUp ? request.result : status);
  }

  static std::chrono::nanoseconds timeLeft(BatchClock::time_point deadline) {
    return deadline == never
               ? std::chrono::nanoseconds(0)
               : std::max<std::chrono::nanoseconds>(
                     deadline - BatchClock::now(), std::chrono::nanoseconds(1));
  }

  void count(int64_t rows) {
    ++counts.batches;
    counts.rows += uint64_t(rows);
  }

  void runAlone(Worker &worker, BatchRequest &request) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (request.isGivenUp)
        return endRun(request, {});
      request.run = &worker.run;
      count(request.rows);
    }
    Status status = ashlar_session_run_within(
        worker.session.get(), settings.entry, request.inputs.data(),
        request.inputs.size(), request.outputs, settings.outputs.size(),
        uint64_t(timeLeft(request.deadline).count()));
    std::lock_guard<std::mutex> lock(mutex);
    endRun(request, status);
  }

  /// Joins, runs and takes apart again. Those that have ended are left out of
  /// the members.
  Status runJoined(Worker &worker, BatchList &members) {
    std::vector<ashlar_tensor_t> inputs = members.front()->inputs;
    int64_t rows = 0;
    for (auto &member : members) {
      member->first = rows;
      rows += member->rows;
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      if (settings.inputs[i].dim >= 0)
        if (Status status = join(worker.inputs[i], i, members, rows, inputs[i]);
            !status.ok())
          return status;
    auto deadline = BatchClock::time_point::min();
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (auto &member : members)
        if (member->isGivenUp)
          endRun(*member, {});
      forgetEnded(members);
      for (auto &member : members) {
        deadline = std::max(deadline, member->deadline);
        member->state = BatchRequest::running;
        member->run = &worker.run;
      }
      worker.run.wanted = members.size();
      if (members.empty())
        return {};
      count(rows);
    }
    std::vector<ashlar_tensor_t> outputs(settings.outputs.size());
    Status status = worker.session.tryRun(settings.entry, inputs, outputs,
                                          timeLeft(deadline));
    {
      std::lock_guard<std::mutex> lock(mutex);
      forgetEnded(members);
      for (auto &member : members) {
        member->state = BatchRequest::copying;
        member->run = nullptr;
      }
    }
    if (!status.ok())
      return status;
    for (auto &member : members) {
      Status own = part(outputs, rows, *member);
      std::lock_guard<std::mutex> lock(mutex);
      endRun(*member, own);
    }
    return {};
  }

  static void forgetEnded(BatchList &members) {
    members.remove_if([](const std::shared_ptr<BatchRequest> &member) {
      return member->state == BatchRequest::ended;
    });
  }

  /// Input i of all members, in one tensor.
  Status join(AlignedBytes &memory, size_t i, const BatchList &members,
              int64_t rows, ashlar_tensor_t &out) {
    Extent extent(settings.inputs[i], out);
    out.capacity = extent.bytes(rows);
    if (Status status = memory.reserve(out.capacity); !status.ok())
      return status;
    out.data = memory.data();
    out.shape[settings.inputs[i].dim] = rows;
    for (const auto &member : members)
      copyRows({memory.data(), rows, member->first},
               {static_cast<char *>(member->inputs[i].data), member->rows, 0},
               member->rows, extent);
    return {};
  }

  /// A member's part of the results. An output may have several rows for each
  /// of the inputs'.
  Status part(const std::vector<ashlar_tensor_t> &results, int64_t rows,
              BatchRequest &member) {
    for (size_t i = 0; i < results.size(); ++i) {
      const ashlar_tensor_t &from = results[i];
      const JoinedTensor &tensor = settings.outputs[i];
      std::string place = placeOf(false, i, tensor);
      int64_t all = tensor.rows(from), each = rows == 0 ? 0 : all / rows;
      if (all != each * rows)
        return failure(ASHLAR_INVALID_ARGUMENT,
                       std::to_string(all) + " rows cannot be shared out to " +
                           std::to_string(rows) + "; join along another dim",
                       place);
      Extent extent(tensor, from);
      ashlar_tensor_t &to = member.outputs[i];
      int64_t own = each * member.rows;
      if (to.capacity < extent.bytes(own))
        return failure(ASHLAR_INVALID_ARGUMENT,
                       "there is room for " + std::to_string(to.capacity) +
                           " bytes; it has " +
                           std::to_string(extent.bytes(own)),
                       place);
      to.type = from.type;
      to.rank = from.rank;
      std::copy_n(from.shape, from.rank, to.shape);
      to.shape[tensor.dim] = own;
      copyRows({static_cast<char *>(to.data), own, 0},
               {static_cast<char *>(from.data), all, each * member.first}, own,
               extent);
    }
    return {};
  }

  std::mutex mutex;
  std::condition_variable work;
  std::list<Group> groups;
  size_t waitingCount = 0;
  bool isClosing = false;
  BatchingStatistics counts;
  std::mutex closing;
  std::list<Worker> workers;
};

} // namespace detail
} // namespace ashlar

#endif // ASHLAR_RUNTIME_DETAIL_BATCH_QUEUE_H
