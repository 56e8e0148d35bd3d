/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A server of three tenants in one process, watched while models are loaded,
 * grow, are trimmed, refused and unloaded; then what a call costs from one to
 * eight sessions on two threads, and a run of STEADY with a trace and without,
 * by turns. Prints one JSON object. With TRACE.json, the tenants alone, of
 * whose middle it writes a trace.
 *
 *   serving STEADY.ash GROWING.ash SMALL.ash ONE_OP.ash SECONDS [TRACE.json]
 *
 * STEADY and SMALL have static inputs; GROWING has one input with one open
 * dim, the last.
 */
#include "measure.h"
#include <ashlar/runtime/api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TENSORS = 8, MOST_SAMPLES = 4000, TENANTS = 3, MOST_SESSIONS = 8 };
static const char *const names[TENANTS] = {"steady", "growing", "greedy"};

static void check(ashlar_status_t status) {
  if (status.code != ASHLAR_OK) {
    fprintf(stderr, "serving: %s: %s\n", status.place, status.message);
    exit(2);
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* What this thread has had of a processor: whatever else the machine does. */
static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static ashlar_runtime_t *runtime;
static ashlar_budget_t *tenants[TENANTS];

static ashlar_module_t *load(const char *path, ashlar_budget_t *budget) {
  ashlar_module_t *module;
  ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
  options.allow_native_code = 1;
  options.budget = budget;
  check(ashlar_module_load_file(runtime, path, &options, &module));
  return module;
}

/* Arguments with memory for the largest sizes; outputs are the session's. */
struct arguments {
  ashlar_entry_t *entry;
  size_t inputs, outputs;
  ashlar_tensor_t in[MOST_TENSORS], out[MOST_TENSORS];
};

static void prepare(ashlar_module_t *module, struct arguments *of) {
  memset(of, 0, sizeof(*of));
  check(ashlar_module_entry_at(module, 0, &of->entry));
  of->inputs = ashlar_entry_input_count(of->entry);
  of->outputs = ashlar_entry_output_count(of->entry);
  if (of->inputs > MOST_TENSORS || of->outputs > MOST_TENSORS)
    exit(2);
  for (size_t i = 0; i < of->inputs; ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    check(ashlar_entry_input(of->entry, i, &info));
    of->in[i].data = allocate(info.maximum_bytes);
    memset(of->in[i].data, 0, info.maximum_bytes);
    of->in[i].capacity = info.maximum_bytes;
    of->in[i].type = info.type;
    of->in[i].rank = info.rank;
    memcpy(of->in[i].shape, info.maximum, sizeof(info.maximum));
  }
}

static void dispose(struct arguments *of) {
  for (size_t i = 0; i < of->inputs; ++i)
    free(of->in[i].data);
}

static ashlar_status_t run(ashlar_session_t *session, struct arguments *of) {
  for (size_t i = 0; i < of->outputs; ++i)
    of->out[i].data = NULL;
  return ashlar_session_run_entry(session, of->entry, of->in, of->inputs,
                                  of->out, of->outputs);
}

/* One tenant's life, between two times after the start. */
struct life {
  int tenant;
  ashlar_module_t *module;
  double from, until, start;
  uint64_t runs;
};

static void *live(void *opaque) {
  struct life *life = opaque;
  struct arguments a;
  ashlar_session_t *session;
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  options.threads = 1;
  options.name = names[life->tenant];
  while (seconds() < life->start + life->from)
    usleep(1000);
  prepare(life->module, &a);
  check(ashlar_session_create(life->module, tenants[life->tenant], &options,
                              &session));
  double length = life->until - life->from;
  int64_t largest = a.in[0].shape[a.in[0].rank - 1];
  int trimmed = 0;
  for (double now; (now = seconds() - life->start - life->from) < length;) {
    if (life->tenant == 1) {
      /* Wider and wider, given back at half time, and again. */
      double part = now / length * 2;
      if (part >= 1 && !trimmed) {
        check(ashlar_session_trim(session, NULL));
        trimmed = 1;
      }
      part -= part >= 1;
      int64_t width = (int64_t)(part * (double)largest) / 32 * 32;
      a.in[0].shape[a.in[0].rank - 1] = width < 32        ? 32
                                        : width > largest ? largest
                                                          : width;
    }
    check(run(session, &a));
    ++life->runs;
  }
  ashlar_session_release(session);
  dispose(&a);
  return NULL;
}

/* Of it, `of_files` are pages of files, such as the libraries' code. */
static uint64_t resident_and(uint64_t *of_files) {
  unsigned long long pages = 0, shared = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%*u %llu %llu", &pages, &shared) != 2)
    exit(2);
  fclose(file);
  *of_files = shared * (uint64_t)sysconf(_SC_PAGESIZE);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t resident(void) {
  uint64_t of_files;
  return resident_and(&of_files);
}

static uint64_t in_use(const ashlar_budget_t *budget) {
  ashlar_budget_statistics_t now = ASHLAR_BUDGET_STATISTICS_INIT;
  check(ashlar_budget_query(budget, &now));
  return now.current;
}

/* Long enough for a run of each. */
static void write_trace(const char *path) {
  check(ashlar_trace_start(runtime, path));
  usleep(120000);
  check(ashlar_trace_stop(runtime));
}

static void tell_tenants(char **files, double length, const char *trace) {
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.worker_limit = 2;
  check(ashlar_runtime_create(&options, &runtime));
  for (int i = 0; i < TENANTS; ++i)
    check(ashlar_budget_create(runtime, names[i], 48 << 20, &tenants[i]));
  uint64_t files_before, files_after;
  uint64_t before = resident_and(&files_before);
  ashlar_module_t *modules[TENANTS];
  for (int i = 0; i < TENANTS; ++i)
    modules[i] = load(files[i], tenants[i]);
  /* Steady all the time, growing in the middle, two greedy ones late. */
  double start = seconds();
  struct life lives[] = {
      {0, modules[0], 0, length, start, 0},
      {1, modules[1], length * 0.15, length * 0.85, start, 0},
      {2, modules[2], length * 0.4, length * 0.7, start, 0},
      {2, modules[2], length * 0.4, length * 0.7, start, 0}};
  enum { LIVES = sizeof(lives) / sizeof(*lives) };
  pthread_t threads[LIVES];
  for (int i = 0; i < LIVES; ++i)
    pthread_create(&threads[i], NULL, live, &lives[i]);
  printf("\"limit_bytes\":%d,\"samples\":[", 48 << 20);
  const char *separator = "";
  for (int i = 0; i < MOST_SAMPLES && seconds() < start + length; ++i) {
    printf("%s[%.3f,%llu", separator, seconds() - start,
           (unsigned long long)(resident() - before));
    for (int j = 0; j < TENANTS; ++j)
      printf(",%llu", (unsigned long long)in_use(tenants[j]));
    printf("]");
    separator = ",";
    if (trace && seconds() > start + length / 2) {
      write_trace(trace);
      trace = NULL;
    }
    usleep((useconds_t)(length * 1e6 / 200));
  }
  for (int i = 0; i < LIVES; ++i)
    pthread_join(threads[i], NULL);
  printf("],\"tenants\":{");
  for (int i = 0; i < TENANTS; ++i) {
    ashlar_stats_t stats = ASHLAR_STATS_INIT;
    ashlar_budget_statistics_t memory = ASHLAR_BUDGET_STATISTICS_INIT;
    check(ashlar_stats_query(tenants[i], &stats));
    check(ashlar_budget_query(tenants[i], &memory));
    printf("%s\"%s\":{\"runs\":%llu,\"peak_bytes\":%llu,\"mean_run_us\":%.1f,"
           "\"mean_wait_us\":%.1f}",
           i ? "," : "", names[i], (unsigned long long)stats.runs,
           (unsigned long long)memory.peak,
           (double)stats.running.sum_ns / 1e3 / (double)stats.running.count,
           (double)stats.waiting.sum_ns / 1e3 / (double)stats.waiting.count);
    ashlar_module_release(modules[i]);
  }
  uint64_t after = resident_and(&files_after);
  printf("},\"resident_after_unload_bytes\":%lld,"
         "\"of_files_after_unload_bytes\":%lld",
         (long long)after - (long long)before,
         (long long)files_after - (long long)files_before);
  for (int i = 0; i < TENANTS; ++i) {
    if (in_use(tenants[i]) != 0)
      exit(2);
    ashlar_budget_release(tenants[i]);
  }
  ashlar_runtime_release(runtime);
}

/* Calls of prepared bindings, by turns over a thread's sessions. */
struct caller {
  ashlar_bindings_t *bindings[MOST_SESSIONS];
  int sessions;
  atomic_int *quit;
  uint64_t calls;
  double processor;
};

static void *call(void *opaque) {
  struct caller *caller = opaque;
  double start = processor_seconds();
  while (!atomic_load_explicit(caller->quit, memory_order_relaxed))
    for (int i = 0; i < caller->sessions; ++i) {
      check(ashlar_bindings_run(caller->bindings[i]));
      ++caller->calls;
    }
  caller->processor = processor_seconds() - start;
  return NULL;
}

static void tell_calls(const char *file, double length) {
  check(ashlar_runtime_create(NULL, &runtime));
  ashlar_module_t *module = load(file, NULL);
  printf("\"calls\":[");
  for (int count = 1; count <= MOST_SESSIONS; ++count) {
    struct arguments arguments[MOST_SESSIONS];
    ashlar_session_t *sessions[MOST_SESSIONS];
    atomic_int quit = 0;
    struct caller callers[2] = {{{0}, 0, &quit, 0, 0}, {{0}, 0, &quit, 0, 0}};
    for (int i = 0; i < count; ++i) {
      struct caller *to = &callers[i % 2];
      ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
      options.threads = 1;
      prepare(module, &arguments[i]);
      check(ashlar_session_create(module, NULL, &options, &sessions[i]));
      check(ashlar_bindings_create(sessions[i], arguments[i].entry,
                                   arguments[i].in, arguments[i].inputs,
                                   arguments[i].out, arguments[i].outputs,
                                   &to->bindings[to->sessions++]));
    }
    pthread_t threads[2];
    int used = count > 1 ? 2 : 1;
    double start = seconds();
    for (int i = 0; i < used; ++i)
      pthread_create(&threads[i], NULL, call, &callers[i]);
    usleep((useconds_t)(length * 1e6));
    atomic_store(&quit, 1);
    for (int i = 0; i < used; ++i)
      pthread_join(threads[i], NULL);
    double took = seconds() - start;
    uint64_t calls = callers[0].calls + callers[1].calls;
    printf("%s{\"sessions\":%d,\"threads\":%d,\"ns_per_call\":%.1f,"
           "\"processor_ns\":%.1f}",
           count > 1 ? "," : "", count, used, took * 1e9 * used / (double)calls,
           1e9 * (callers[0].processor + callers[1].processor) / (double)calls);
    for (int i = 0; i < count; ++i) {
      ashlar_bindings_release(callers[i % 2].bindings[i / 2]);
      ashlar_session_release(sessions[i]);
      dispose(&arguments[i]);
    }
  }
  printf("]");
  ashlar_module_release(module);
  ashlar_runtime_release(runtime);
}

/* Medians of runs by turns, so that what else the machine does falls on both.
 */
static void tell_trace(const char *file, double length) {
  enum { MOST_RUNS = 4000 };
  static double times[2][MOST_RUNS];
  struct arguments arguments;
  size_t count = 0;
  check(ashlar_runtime_create(NULL, &runtime));
  ashlar_module_t *module = load(file, NULL);
  ashlar_session_t *session;
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  ashlar_bindings_t *bindings;
  options.threads = 1;
  prepare(module, &arguments);
  check(ashlar_session_create(module, NULL, &options, &session));
  check(ashlar_bindings_create(session, arguments.entry, arguments.in,
                               arguments.inputs, arguments.out,
                               arguments.outputs, &bindings));
  check(ashlar_bindings_run(bindings));
  for (double end = seconds() + length;
       count < MOST_RUNS && (seconds() < end || count < 8); ++count)
    for (int turn = 0; turn < 2; ++turn) {
      int on = turn ^ (count & 1);
      if (on)
        check(ashlar_trace_start(runtime, "/dev/null"));
      /* The first of a trace also writes down the names of kernels. */
      check(ashlar_bindings_run(bindings));
      double start = processor_seconds();
      check(ashlar_bindings_run(bindings));
      times[on][count] = processor_seconds() - start;
      if (on)
        check(ashlar_trace_stop(runtime));
    }
  printf("\"trace\":{\"runs\":%zu,\"off_us\":%.2f,\"on_us\":%.2f}", count,
         1e6 * median(times[0], count), 1e6 * median(times[1], count));
  ashlar_bindings_release(bindings);
  ashlar_session_release(session);
  dispose(&arguments);
  ashlar_module_release(module);
  ashlar_runtime_release(runtime);
}

int main(int argc, char **argv) {
  if (argc != 6 && argc != 7) {
    fprintf(stderr,
            "usage: serving STEADY.ash GROWING.ash SMALL.ash ONE_OP.ash "
            "SECONDS [TRACE.json]\n");
    return 2;
  }
  double length = atof(argv[5]);
  printf("{");
  tell_tenants(argv + 1, length, argc == 7 ? argv[6] : NULL);
  if (argc == 6) {
    printf(",");
    tell_calls(argv[4], length / 20);
    printf(",");
    tell_trace(argv[1], length);
  }
  printf("}\n");
  return 0;
}
