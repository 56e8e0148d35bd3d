// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Session.h"
#include "Gil.h"
#include "Run.h"

using namespace ashlar;
using namespace ashlar::python;

Flight::~Flight() {
  if (!event.get() || event.isOfParent())
    return;
  // It may write into memory that goes next.
  ReleasedGil released;
  wait(ASHLAR_FOREVER);
}

void Flight::checkProcess() const {
  if (event.isOfParent())
    raise(ASHLAR_INVALID_ARGUMENT,
          "expected a run of this process, found one started before a fork, "
          "which the parent's threads do; make a session in the child",
          "run");
}

bool Flight::wait(uint64_t nanoseconds) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (isDone)
      return true;
  }
  // Outside of the lock: who only asks must not wait for one who waits.
  int32_t done = 0;
  KeptStatus ended = ashlar_event_wait(event.get(), nanoseconds, &done);
  if (!done && ended.code == ASHLAR_OK)
    return false;
  std::lock_guard<std::mutex> lock(mutex);
  if (!isDone)
    status = ended;
  return isDone = true;
}

void Flight::settle(ashlar_session_t *session) {
  if (hasShapes || status.code != ASHLAR_OK)
    return;
  hasShapes = true;
  if (!arguments) {
    if (bindings)
      status = bindings->takeShapes();
    return;
  }
  for (size_t i = 0; i != arguments->outputCount(); ++i) {
    KeptStatus found = ashlar_session_output_shape(
        session, entry, i, arguments->outputs()[i].shape);
    if (found.code != ASHLAR_OK)
      status = found;
  }
}

Session::Session(nb::object module, const Budget *budget, nb::object name,
                 uint32_t threads, bool poison, bool reserveAll)
    : owner(std::move(module)) {
  if (budget)
    budget->checkOf(this->module().runtimeId());
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  std::string nameText;
  if (!name.is_none()) {
    nameText = nb::cast<std::string>(name);
    options.name = nameText.c_str();
  }
  options.threads = threads;
  options.poison = poison;
  options.reserve_all = reserveAll;
  ashlar_module_t *of = nb::cast<const Module &>(owner).get();
  KeptStatus status;
  {
    ReleasedGil released;
    status = ashlar_session_create(of, Budget::handleOf(budget), &options,
                                   handle.out());
  }
  status.check();
}

Session::~Session() { flight.reset(); }

Session::Use::Use(Session &session) : session(session) {
  if (session.handle.isOfParent())
    raise(ASHLAR_INVALID_ARGUMENT,
          "expected a session of this process, found one made before a fork, "
          "whose threads are the parent's; make a session in the child",
          "session");
  if (session.isBusy.exchange(true))
    raise(ASHLAR_INVALID_ARGUMENT,
          "expected a session that is not in use, found one that another "
          "thread uses now; make a session for each thread",
          "session");
  const char *why = nullptr;
  if (session.isClosed())
    why = "expected an open session, found one that was closed; make another";
  else if (session.flight && !session.flight->wait(0))
    why = "expected a session that is not in use, found one whose run is in "
          "flight; await that first, or make another session";
  if (why) {
    session.isBusy = false;
    raise(ASHLAR_INVALID_ARGUMENT, why, "session");
  }
  // Sizes that depend on data are known until the session's next run.
  if (session.flight)
    session.flight->settle(session.get());
  session.flight.reset();
}

void Session::close() {
  if (isClosed())
    return;
  Use use(*this);
  ReleasedGil released;
  handle.reset();
}

nb::dict Session::run(nb::handle inputs, nb::handle out, nb::handle entry) {
  Use use(*this);
  const Entry &chosen = module().entry(entry);
  Arguments arguments(chosen.inputs, chosen.outputs, inputs, out);
  KeptStatus status;
  {
    ReleasedGil released;
    status = ashlar_session_run_entry(
        handle.get(), chosen.handle, arguments.inputs(), arguments.inputCount(),
        arguments.outputs(), arguments.outputCount());
  }
  arguments.explained(status).check();
  return arguments.named();
}

std::shared_ptr<Flight> Session::start(nb::handle inputs, nb::handle out,
                                       const Entry &entry) {
  auto started = std::make_shared<Flight>();
  started->entry = entry.handle;
  started->arguments =
      std::make_unique<Arguments>(entry.inputs, entry.outputs, inputs, out);
  Arguments &arguments = *started->arguments;
  KeptStatus status;
  {
    ReleasedGil released;
    status = ashlar_session_run_async(
        handle.get(), entry.handle, arguments.inputs(), arguments.inputCount(),
        arguments.outputs(), arguments.outputCount(), started->event.out());
  }
  arguments.explained(status).check();
  return flight = started;
}

static nb::dict statistics(Session &session) {
  Session::Use use(session);
  ashlar_session_statistics_t found = ASHLAR_SESSION_STATISTICS_INIT;
  check(ashlar_session_query(session.get(), &found));
  nb::dict result;
  result["runs"] = found.runs;
  result["failures"] = found.failures;
  result["staged_tensors"] = found.staged_tensors;
  result["staged_bytes"] = found.staged_bytes;
  result["arena_bytes"] = found.arena_bytes;
  result["scratch_bytes"] = found.scratch_bytes;
  result["last_run_ns"] = found.last_run_ns;
  result["threads"] = found.threads;
  return result;
}

void python::bindSession(nb::module_ &module) {
  nb::class_<Session> session(module, "_Session");
  refuseCopies(session);
  session
      .def(
          "__init__",
          [](Session *session, nb::object module, const Budget *budget,
             nb::object name, uint32_t threads, bool poison, bool reserveAll) {
            if (!nb::isinstance<Module>(module))
              throw nb::type_error("Session() expects an ashlar.Module");
            new (session)
                Session(module, budget, name, threads, poison, reserveAll);
          },
          nb::arg("module"), nb::arg("budget").none() = nb::none(),
          nb::arg("name") = nb::none(), nb::arg("threads") = 0,
          nb::arg("poison") = false, nb::arg("reserve_all") = false,
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "run", &Session::run, nb::arg("inputs").none(),
          nb::arg("out").none() = nb::none(),
          nb::arg("entry").none() = nb::none(),
          nb::sig("def run(self, inputs: typing.Any, out: typing.Any = None, "
                  "entry: str | None = None) -> dict[str, typing.Any]"),
          "Runs an entry and gives its outputs, a dict of arrays by name.\n\n"
          "inputs: a dict by name, a sequence in the entry's order, or the "
          "one\n"
          "array there is to give: NumPy or anything with DLPack, dense and "
          "in\n"
          "host memory. Arrays aligned to 64 bytes (ashlar.empty) are read in\n"
          "place, others copied by the library.\n"
          "out: arrays to write to, likewise; fresh ones where it is left "
          "out.\n"
          "entry: a name; the module's first where it is left out.\n\n"
          "Other threads of Python go on meanwhile. Raises InvalidArgument,\n"
          "OutOfBudget, DeviceLost, Internal.")
      .def(
          "run_async",
          [](nb::handle_t<Session> self, nb::handle inputs, nb::handle out,
             nb::handle entry) {
            Session &session = nb::cast<Session &>(self);
            Session::Use use(session);
            const Entry &chosen = session.module().entry(entry);
            return Run(nb::borrow(self), session.start(inputs, out, chosen));
          },
          nb::arg("inputs").none(), nb::arg("out").none() = nb::none(),
          nb::arg("entry").none() = nb::none(),
          nb::sig(
              "def run_async(self, inputs: typing.Any, out: typing.Any = None, "
              "entry: str | None = None) -> Run"),
          "Starts a run and gives a Run, which can be awaited, waited for and\n"
          "cancelled. Arguments as of run(); leave their memory alone until "
          "the\n"
          "run has ended. One run at a time.")
      .def(
          "bind",
          [](nb::handle_t<Session> self, nb::handle inputs, nb::handle out,
             nb::handle entry) {
            return new Bindings(self, inputs, out, entry);
          },
          nb::arg("inputs").none(), nb::arg("out").none() = nb::none(),
          nb::arg("entry").none() = nb::none(),
          nb::sig("def bind(self, inputs: typing.Any, out: typing.Any = None, "
                  "entry: str | None = None) -> Bindings"),
          "Checks the arguments once and keeps them: a Bindings, whose run()\n"
          "reads what the inputs hold then and writes the same outputs. NumPy\n"
          "resizes none of these arrays in place meanwhile.")
      .def("close", &Session::close,
           "Gives its memory and threads back. It cannot be used afterwards.")
      .def_prop_ro("closed", &Session::isClosed,
                   "Whether its memory and threads were given back.")
      .def_prop_ro(
          "statistics", &statistics,
          nb::for_getter(nb::sig("def statistics(self) -> dict[str, int]")),
          "Runs, failures, bytes copied since not aligned, nanoseconds "
          "of the last run,\nthreads and memory, by name.")
      .def("__exit__", [](Session &session, nb::args) { session.close(); });
}
