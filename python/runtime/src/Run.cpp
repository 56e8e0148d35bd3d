// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Run.h"
#include "Gil.h"
#include <algorithm>
#include <chrono>
#include <cmath>

using namespace ashlar;
using namespace ashlar::python;

Bindings::Bindings(nb::handle session, nb::handle inputs, nb::handle out,
                   nb::handle entry)
    : owner(nb::borrow(session)), of(nb::cast<Session &>(session)),
      chosen(of.module().entry(entry)) {
  Session::Use use(of);
  arguments =
      std::make_unique<Arguments>(chosen.inputs, chosen.outputs, inputs, out);
  KeptStatus status;
  {
    ReleasedGil released;
    status = ashlar_bindings_create(
        of.get(), chosen.handle, arguments->inputs(), arguments->inputCount(),
        arguments->outputs(), arguments->outputCount(), handle.out());
  }
  arguments->explained(status).check();
  outputs = arguments->named();
  for (const Port &port : chosen.outputs)
    isFixed &= port.isFixed();
}

Bindings::~Bindings() {
  if (of.flight && of.flight->bindings == this)
    of.flight->bindings = nullptr;
  if (!handle.get() || handle.isOfParent())
    return;
  ReleasedGil released;
  handle.reset();
}

KeptStatus Bindings::takeShapes() {
  for (size_t i = 0; !isFixed && i < arguments->outputCount(); ++i) {
    KeptStatus status = ashlar_bindings_output_shape(
        handle.get(), i, arguments->outputs()[i].shape);
    if (status.code != ASHLAR_OK)
      return status;
  }
  // Nothing of Python runs here: who asks for them makes the arrays.
  areNamed &= isFixed;
  hasRun = true;
  return {};
}

nb::dict Bindings::results() {
  if (!areNamed)
    outputs = arguments->named();
  areNamed = true;
  return outputs;
}

nb::dict Bindings::lastResults() {
  if (of.flight && of.flight->bindings == this) {
    of.flight->checkProcess();
    if (!of.flight->wait(0))
      raise(ASHLAR_INVALID_ARGUMENT,
            "expected a run that has ended, found one in flight, which writes "
            "them; wait for it",
            "outputs");
    of.flight->settle(of.get());
  }
  if (!hasRun)
    raise(ASHLAR_INVALID_ARGUMENT,
          "expected a run that has ended, found none, so that they hold "
          "nothing yet; run() gives them, and so does what run_async() gives",
          "outputs");
  return results();
}

nb::dict Bindings::run() {
  Session::Use use(of);
  KeptStatus status;
  {
    ReleasedGil released;
    status = ashlar_bindings_run(handle.get());
  }
  status.check();
  takeShapes().check();
  return results();
}

std::shared_ptr<Flight> Bindings::start() {
  Session::Use use(of);
  auto started = std::make_shared<Flight>();
  started->bindings = this;
  KeptStatus status;
  {
    ReleasedGil released;
    status = ashlar_bindings_run_async(handle.get(), started->event.out());
  }
  status.check();
  return of.flight = started;
}

bool Run::isDone() {
  flight->checkProcess();
  return flight->wait(0);
}

nb::object Run::wait(double seconds) {
  using Clock = std::chrono::steady_clock;
  flight->checkProcess();
  if (std::isnan(seconds) || seconds < 0)
    raise(ASHLAR_INVALID_ARGUMENT,
          "expected seconds from 0 on, found " + std::to_string(seconds),
          "timeout");
  // Signals are looked at now and then, so that Ctrl-C is heard.
  Clock::time_point begin = Clock::now();
  while (true) {
    double left =
        seconds - std::chrono::duration<double>(Clock::now() - begin).count();
    bool done;
    {
      ReleasedGil released;
      done = flight->wait(uint64_t(std::clamp(left, 0.0, 0.05) * 1e9));
    }
    if (done)
      break;
    if (PyErr_CheckSignals())
      throw nb::python_error();
    if (left <= 0)
      return nb::none();
  }
  flight->status.check();
  if (!results.is_valid()) {
    // Who took the session further has settled it.
    Session &of = nb::cast<Session &>(session);
    if (of.flight == flight && !of.isClosed())
      flight->settle(of.get());
    flight->status.check();
    results = bindings.is_valid() ? nb::cast<Bindings &>(bindings).results()
                                  : flight->arguments->named();
  }
  return results;
}

void Run::cancel() {
  flight->checkProcess();
  if (!flight->wait(0))
    check(ashlar_event_cancel(flight->event.get()));
}

void python::bindRun(nb::module_ &module) {
  nb::class_<Run> run(
      module, "Run",
      "A run that was started. `await` gives its outputs, as wait() "
      "does.");
  refuseCopies(run);
  run.def_prop_ro("done", &Run::isDone, "Whether it has ended, well or not.")
      .def("_wait", &Run::wait, nb::arg("seconds"),
           nb::sig("def _wait(self, seconds: float) -> typing.Any"))
      .def(
          "wait",
          [](nb::object self, nb::object timeout) {
            return nb::module_::import_("ashlar._session")
                .attr("wait")(self, timeout);
          },
          nb::arg("timeout").none() = nb::none(),
          nb::sig("def wait(self, timeout: float | None = None) -> "
                  "dict[str, typing.Any]"),
          "Gives the outputs by name once the run has ended. Ctrl-C is heard;\n"
          "the run goes on then.\n\n"
          "timeout: seconds; TimeoutError is raised when they are over.\n"
          "Raises what ended the run: Cancelled, DeviceLost, Internal.")
      .def(
          "__await__",
          [](nb::object self) {
            return nb::module_::import_("ashlar._session").attr("waited")(self);
          },
          nb::sig("def __await__(self) -> typing.Generator[typing.Any, None, "
                  "dict[str, typing.Any]]"))
      .def("cancel", &Run::cancel,
           "Asks the run to end early; waiting for it then raises Cancelled,\n"
           "unless it had ended before.");

  nb::class_<Bindings> bindings(
      module, "Bindings",
      "Arguments that a session has checked once. Their memory "
      "is kept; what the\ninputs hold may change between runs.");
  refuseCopies(bindings);
  bindings
      .def(
          "run", &Bindings::run,
          nb::sig("def run(self) -> dict[str, typing.Any]"),
          "Runs with them and gives the outputs by name: the same arrays each\n"
          "time, except where sizes depend on data.")
      .def(
          "run_async",
          [](nb::handle_t<Bindings> self) {
            Bindings &bindings = nb::cast<Bindings &>(self);
            return Run(bindings.session(), bindings.start(), nb::borrow(self));
          },
          "Starts a run with them: a Run. All runs of the same bindings have\n"
          "the same outputs, so wait for one before the next is started.")
      .def_prop_ro(
          "outputs", &Bindings::lastResults,
          nb::for_getter(nb::sig("def outputs(self) -> dict[str, typing.Any]")),
          "The outputs by name, as the last run left them. Raises\n"
          "InvalidArgument before the first, and while a run that was\n"
          "started writes them.");
}
