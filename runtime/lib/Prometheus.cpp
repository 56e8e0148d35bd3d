// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All budgets of a tree and what ran below them, as Prometheus reads it: text
// format 0.0.4, one family of lines after the other.

#include "Budget.h"

namespace ashlar::runtime {

namespace {
struct Writer {
  String text;

  void family(const char *name, const char *type, const char *help) {
    text += concat("# HELP ashlar_", name, " ", help, "\n# TYPE ashlar_", name,
                   " ", type, "\n");
  }
  void line(std::string_view name, const String &labels, const String &value) {
    bool any = !labels.empty();
    text += concat("ashlar_", name, any ? "{" : "", labels, any ? "} " : " ",
                   value, "\n");
  }
  void line(std::string_view name, const String &labels, uint64_t value) {
    line(name, labels,
         value == ASHLAR_UNLIMITED ? String("+Inf") : String(concat(value)));
  }
};
} // namespace

/// Seconds, to the nanosecond.
static String seconds(uint64_t nanoseconds) {
  String rest = concat(nanoseconds % 1000000000);
  return concat(nanoseconds / 1000000000, ".",
                String(9 - rest.size(), '0') + rest);
}

static String quoted(const char *label, const String &value) {
  String text = concat(label, "=\"");
  for (char c : value) {
    if (c == '\\' || c == '"')
      text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text + "\"";
}

static void writeHistogram(Writer &out, const char *name, const String &labels,
                           const ashlar_histogram_t &of) {
  uint64_t sum = 0;
  String bucket = concat(name, "_bucket");
  for (unsigned i = 0; i < ASHLAR_HISTOGRAM_BUCKETS; ++i) {
    sum += of.buckets[i];
    bool isLast = i + 1 == ASHLAR_HISTOGRAM_BUCKETS;
    out.line(bucket,
             concat(labels, ",le=\"",
                    isLast ? "+Inf" : seconds(uint64_t(1024) << i), "\""),
             sum);
  }
  out.line(String(concat(name, "_sum")), labels, seconds(of.sum_ns));
  out.line(String(concat(name, "_count")), labels, sum);
}

/// Path, account and statistics of each budget, the root first.
void Budget::collect(const String &path, Vector<Snapshot> &out) const {
  Snapshot own = {quoted("budget", path),
                  limit,
                  peak,
                  refusals,
                  saved,
                  accounts,
                  ownStats()};
  out.push_back(std::move(own));
  for (const Budget *child : children)
    child->collect(concat(path, "/", child->name), out);
}

String Budget::prometheus() const {
  Vector<Snapshot> all;
  {
    std::lock_guard<std::mutex> guard(lock());
    collect(name, all);
  }
  Writer out;
  out.family("memory_bytes", "gauge",
             "Charged to the budget and those below it, by memory and kind.");
  for (const Snapshot &of : all)
    for (const Account &account : of.accounts) {
      String labels =
          concat(of.label, ",", quoted("memory", account.place), ",kind=\"");
      uint64_t sum = 0;
      for (uint32_t kind = 0; kind < ASHLAR_MEMORY_KINDS; ++kind) {
        sum += account.currentOf[kind];
        out.line("memory_bytes", concat(labels, memoryKindName(kind), "\""),
                 account.currentOf[kind]);
      }
      out.line("memory_bytes", labels + "set aside\"", account.current - sum);
    }
  auto each = [&](const char *name, const char *type, const char *help,
                  uint64_t (*get)(const Snapshot &)) {
    out.family(name, type, help);
    for (const Snapshot &of : all)
      out.line(name, of.label, get(of));
  };
  each("memory_limit_bytes", "gauge", "The budget's limit of all memory.",
       [](const Snapshot &of) { return of.limit; });
  each("memory_peak_bytes", "gauge", "The most that was charged at once.",
       [](const Snapshot &of) { return of.peak; });
  each("memory_saved_bytes", "gauge",
       "Weights and code that would be there again if modules shared none.",
       [](const Snapshot &of) { return of.saved; });
  each("memory_refusals_total", "counter", "Requests that did not fit here.",
       [](const Snapshot &of) { return of.refusals; });
  // No budget's.
  if (const OwnMemory *own = memory()) {
    auto ownLine = [&](const char *name, const char *help, uint64_t value) {
      out.family(name, "gauge", help);
      out.line(name, "", value);
    };
    ownLine("own_memory_bytes", "What the runtime allocates for itself.",
            own->current());
    ownLine("own_memory_peak_bytes", "The most of these at once.", own->peak());
  }
  // Of what is below, each budget says its own.
  each("runs_total", "counter",
       "Runs of the budget's own sessions, ended well.",
       [](const Snapshot &of) { return of.stats.runs; });
  each("failures_total", "counter", "Runs that ended with an error.",
       [](const Snapshot &of) { return of.stats.failures; });
  each("cancelled_total", "counter", "Runs cancelled or past their deadline.",
       [](const Snapshot &of) { return of.stats.cancelled; });
  each("copies_total", "counter", "Tensors copied for runs.",
       [](const Snapshot &of) { return of.stats.copies; });
  each("copied_bytes_total", "counter", "Bytes of these copies.",
       [](const Snapshot &of) { return of.stats.copied_bytes; });
  each("fallbacks_total", "counter", "Devices asked for that could not serve.",
       [](const Snapshot &of) { return of.stats.fallbacks; });
  out.family("wait_seconds", "histogram", "From a call to the run's begin.");
  for (const Snapshot &of : all)
    writeHistogram(out, "wait_seconds", of.label, of.stats.waiting);
  out.family("run_seconds", "histogram", "From a run's begin to its end.");
  for (const Snapshot &of : all)
    writeHistogram(out, "run_seconds", of.label, of.stats.running);
  return std::move(out.text);
}

} // namespace ashlar::runtime
