// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_PYTHON_SESSION_H
#define ASHLAR_PYTHON_SESSION_H

#include "Arrays.h"
#include "Module.h"
#include <atomic>
#include <mutex>

namespace ashlar::python {

class Bindings;

/// A run that was started and may still write its outputs.
class Flight {
public:
  ~Flight(); ///< waits for it
  Handle<ashlar_event_t, ashlar_event_release> event;
  std::unique_ptr<Arguments> arguments;  ///< null: of bindings
  Bindings *bindings = nullptr;          ///< unless they are gone
  const ashlar_entry_t *entry = nullptr; ///< of the arguments
  /// Raises where a fork lies between its start and now.
  void checkProcess() const;
  /// Whether it has ended within the time; keeps how. Without the GIL.
  bool wait(uint64_t nanoseconds);
  /// Of one that has ended: takes the shapes that its outputs came to, once, as
  /// long as the session has had no other run.
  void settle(ashlar_session_t *session);
  KeptStatus status;

private:
  std::mutex mutex;
  bool isDone = false, hasShapes = false;
};

class Session {
public:
  Session(nb::object module, const Budget *budget, nb::object name,
          uint32_t threads, bool poison, bool reserveAll);
  ~Session();
  void close();
  bool isClosed() const { return !handle.get(); }
  ashlar_session_t *get() const { return handle.get(); }
  const Module &module() const { return *nb::cast<const Module *>(owner); }

  nb::dict run(nb::handle inputs, nb::handle out, nb::handle entry);
  std::shared_ptr<Flight> start(nb::handle inputs, nb::handle out,
                                const Entry &entry);

  /// For as long as it lives, this thread is the session's only user; raises
  /// where another is, a run is in flight, or the session cannot be used.
  class Use {
  public:
    explicit Use(Session &session);
    ~Use() { session.isBusy = false; }

  private:
    Session &session;
  };
  std::shared_ptr<Flight> flight; ///< of the last start, while in use

private:
  nb::object owner;
  nb::object budgetOwner;
  Handle<ashlar_session_t, ashlar_session_release> handle;
  std::atomic<bool> isBusy{false};
};

void bindSession(nb::module_ &module);
void bindRun(nb::module_ &module);

} // namespace ashlar::python

#endif // ASHLAR_PYTHON_SESSION_H
