/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * unload LIBRARY MODULE: opens the runtime, loads, runs on several threads and
 * lets go of everything, eight times. No handler or mask of a signal is
 * another one meanwhile; afterwards no thread, no mapping of the library and
 * no file is left. */
#define _GNU_SOURCE
#include <ashlar/runtime/api.h>
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail(const char *what, const char *detail) {
  fprintf(stderr, "%s: %s\n", what, detail);
  exit(1);
}

static void check(ashlar_status_t status) {
  if (status.code != ASHLAR_OK)
    fail(status.place, status.message);
}

/*===-- What a process has -----------------------------------------------===*/

struct signals {
  struct sigaction actions[_NSIG];
  sigset_t mask;
};

static void read_signals(struct signals *out) {
  memset(out, 0, sizeof(*out));
  for (int i = 1; i < _NSIG; ++i)
    sigaction(i, NULL, &out->actions[i]);
  pthread_sigmask(SIG_SETMASK, NULL, &out->mask);
}

static void expect_signals(const struct signals *before, const char *when) {
  static struct signals now;
  char number[16];
  read_signals(&now);
  for (int i = 1; i < _NSIG; ++i) {
    const struct sigaction *x = &before->actions[i], *y = &now.actions[i];
    snprintf(number, sizeof(number), "signal %d", i);
    if (x->sa_handler != y->sa_handler || x->sa_flags != y->sa_flags)
      fail(when, number);
    if (sigismember(&before->mask, i) != sigismember(&now.mask, i))
      fail(when, "the mask of signals is another one");
  }
}

static unsigned count(const char *folder) {
  unsigned entries = 0;
  DIR *listed = opendir(folder);
  if (!listed)
    fail(folder, "cannot be listed");
  while (readdir(listed))
    ++entries;
  closedir(listed);
  return entries;
}

/* A thread that was joined may be listed for a moment more. */
static unsigned count_threads(unsigned expected) {
  unsigned found = count("/proc/self/task");
  for (int i = 0; i < 1000 && found != expected; ++i) {
    usleep(10000);
    found = count("/proc/self/task");
  }
  return found;
}

/* The files, one a line, without that of the folder itself. */
static void read_files(char *text, size_t capacity) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < 1024; ++i) {
    char link[64], path[512];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", i);
    ssize_t bytes = readlink(link, path, sizeof(path) - 1);
    if (bytes < 0)
      continue;
    path[bytes] = '\0';
    used += (size_t)snprintf(text + used, capacity - used, "%d %s\n", i, path);
    if (used >= capacity)
      fail("files", "too many are open");
  }
}

static int is_mapped(const char *name) {
  char line[1024];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  if (!maps)
    fail("/proc/self/maps", "cannot be read");
  while (fgets(line, sizeof(line), maps))
    found |= strstr(line, name) != NULL;
  fclose(maps);
  return found;
}

/*===-- Once -------------------------------------------------------------===*/

#define FUNCTION(name)                                                         \
  __typeof__(ashlar_##name) *name = NULL;                                      \
  *(void **)&name = dlsym(library, "ashlar_" #name);                           \
  if (!name)                                                                   \
  fail("ashlar_" #name, "is missing")

static void use(const char *path, const char *file, unsigned threads,
                const struct signals *signals) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail("dlopen", dlerror());
  FUNCTION(runtime_create);
  FUNCTION(runtime_release);
  FUNCTION(module_load_file);
  FUNCTION(module_entry_at);
  FUNCTION(module_release);
  FUNCTION(session_create);
  FUNCTION(session_run_async);
  FUNCTION(session_run_entry);
  FUNCTION(session_release);
  FUNCTION(event_wait);
  FUNCTION(event_release);
  FUNCTION(device_open);
  FUNCTION(memory_create);
  FUNCTION(memory_export);
  FUNCTION(memory_release);
  ashlar_runtime_t *runtime;
  ashlar_module_t *module;
  ashlar_session_t *session;
  ashlar_entry_t *entry;
  ashlar_event_t *event;
  ashlar_device_t *cpu;
  ashlar_memory_t *memory;
  int descriptor;
  int32_t done = 0;
  static float in[2][256] __attribute__((aligned(64)));
  ashlar_tensor_t inputs[2] = {{0}}, outputs[1] = {{0}};
  for (int i = 0; i < 2; ++i) {
    inputs[i].data = in[i];
    inputs[i].capacity = sizeof(in[i]);
    inputs[i].type = ASHLAR_TYPE_F32;
    inputs[i].rank = 1;
    inputs[i].shape[0] = 256;
  }
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  load.allow_native_code = 1;
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  options.threads = 3;
  check(runtime_create(NULL, &runtime));
  check(module_load_file(runtime, file, &load, &module));
  expect_signals(signals, "after the load");
  check(module_entry_at(module, 0, &entry));
  check(session_create(module, NULL, &options, &session));
  check(session_run_entry(session, entry, inputs, 2, outputs, 1));
  check(session_run_async(session, entry, inputs, 2, outputs, 1, &event));
  check(event_wait(event, ASHLAR_FOREVER, &done));
  check(device_open(runtime, "cpu", &cpu));
  check(memory_create(runtime, cpu, NULL, "frames", 1 << 20, &memory));
  check(memory_export(memory, &descriptor));
  close(descriptor);
  memory_release(memory);
  expect_signals(signals, "after the run");
  if (!is_mapped("libashlar_runtime"))
    fail(path, "is not found among the mappings, so the test sees nothing");
  if (count("/proc/self/task") < threads + 3)
    fail("threads", "fewer than the session has, so the test sees nothing");
  event_release(event);
  session_release(session);
  module_release(module);
  runtime_release(runtime);
  expect_signals(signals, "after the release");
  if (dlclose(library))
    fail("dlclose", dlerror());
}

static void *nothing(void *argument) { return argument; }

int main(int argc, char **argv) {
  static struct signals signals;
  static char before[65536], after[65536];
  if (argc != 3)
    fail("usage", "unload LIBRARY MODULE");
  /* A sanitizer may start a thread of its own with the first one. */
  pthread_t first;
  if (pthread_create(&first, NULL, nothing, NULL) || pthread_join(first, NULL))
    fail("pthread_create", "does not work");
  read_signals(&signals);
  read_files(before, sizeof(before));
  unsigned threads = count("/proc/self/task");
  for (int i = 0; i < 8; ++i) {
    use(argv[1], argv[2], threads, &signals);
    expect_signals(&signals, "after dlclose");
    if (count_threads(threads) != threads)
      fail("threads", "some are left");
    if (is_mapped("libashlar_runtime"))
      fail("dlclose", "the library is still mapped");
    read_files(after, sizeof(after));
    if (strcmp(before, after))
      fail("files are not those of before", after);
  }
  printf("opened and closed 8 times\n");
  return 0;
}
