/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs in a second of some threads with a session each:
 * thread_calls MODEL.ash THREADS SECONDS */
#include "bound_session.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { MaxThreads = 64 };

static ashlar_module_t *module;
static ashlar_entry_t *entry;
static pthread_barrier_t begin;
static atomic_int isOver;

static void *go(void *counted) {
  bound_t bound = bindZeros(module, entry);
  double runs = 0;
  check(ashlar_bindings_run(bound.bindings));
  pthread_barrier_wait(&begin);
  for (; !atomic_load_explicit(&isOver, memory_order_relaxed); ++runs)
    check(ashlar_bindings_run(bound.bindings));
  *(double *)counted = runs;
  release(bound);
  return NULL;
}

int main(int argc, char **argv) {
  ashlar_runtime_t *runtime;
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  int threads = argc > 2 ? atoi(argv[2]) : 1;
  double seconds = argc > 3 ? atof(argv[3]) : 1, all = 0;
  pthread_t ids[MaxThreads];
  double counted[MaxThreads];
  struct timespec first, last, pause;
  if (threads < 1 || threads > MaxThreads) {
    fprintf(stderr, "expected 1 to %d threads\n", MaxThreads);
    return 2;
  }
  pause.tv_sec = (time_t)seconds;
  pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
  load.allow_native_code = 1;
  check(ashlar_runtime_create(NULL, &runtime));
  check(ashlar_module_load_file(runtime, argv[1], &load, &module));
  check(ashlar_module_entry_at(module, 0, &entry));
  pthread_barrier_init(&begin, NULL, threads + 1);
  for (int i = 0; i < threads; ++i)
    pthread_create(&ids[i], NULL, go, &counted[i]);
  pthread_barrier_wait(&begin);
  clock_gettime(CLOCK_MONOTONIC, &first);
  nanosleep(&pause, NULL);
  atomic_store(&isOver, 1);
  for (int i = 0; i < threads; ++i)
    pthread_join(ids[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &last);
  for (int i = 0; i < threads; ++i)
    all += counted[i];
  printf("%.1f\n", all / ((double)(last.tv_sec - first.tv_sec) +
                          (double)(last.tv_nsec - first.tv_nsec) / 1e9));
  pthread_barrier_destroy(&begin);
  ashlar_module_release(module);
  ashlar_runtime_release(runtime);
  return 0;
}
