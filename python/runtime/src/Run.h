// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run in flight, and arguments that are bound once.
#ifndef ASHLAR_PYTHON_RUN_H
#define ASHLAR_PYTHON_RUN_H

#include "Session.h"

namespace ashlar::python {

class Bindings {
public:
  Bindings(nb::handle session, nb::handle inputs, nb::handle out,
           nb::handle entry);
  ~Bindings(); ///< waits for a run of theirs
  nb::dict run();
  std::shared_ptr<Flight> start();
  /// After a run, while the session has had no other.
  KeptStatus takeShapes();
  /// As the last run that has ended left them.
  nb::dict results();
  /// The same, for who knows of no run.
  nb::dict lastResults();
  nb::object session() const { return owner; }

private:
  nb::object owner;
  Session &of;
  const Entry &chosen;
  std::unique_ptr<Arguments> arguments;
  Handle<ashlar_bindings_t, ashlar_bindings_release> handle;
  bool isFixed = true; ///< no output's shape depends on data
  bool hasRun = false, areNamed = true;
  nb::dict outputs;
};

class Run {
public:
  Run(nb::object session, std::shared_ptr<Flight> flight,
      nb::object bindings = {})
      : session(std::move(session)), bindings(std::move(bindings)),
        flight(std::move(flight)) {}
  bool isDone();
  /// Null where the time is over first.
  nb::object wait(double seconds);
  void cancel();

private:
  nb::object session, bindings;
  std::shared_ptr<Flight> flight;
  nb::object results;
};

} // namespace ashlar::python

#endif // ASHLAR_PYTHON_RUN_H
