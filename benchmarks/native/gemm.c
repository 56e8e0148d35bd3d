/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One matrix product in f32, several contenders in turns in one process.
 *
 *   gemm M N K SECONDS EVICT_BYTES THREADS B.raw NAME=KIND:PATH...
 *
 * KIND: cblas (a library with cblas_sgemm), cblas64 (NumPy's OpenBLAS), dnnl
 * (dnnl_sgemm), ash2 (a module that takes A and B), ash1 (a module that holds
 * B). Before each timed call EVICT_BYTES are read, more than L2 has, and A and
 * C touched again: so weights come from where they are in a whole net, while
 * activations are near. A contender's turn begins with a call that does not
 * count. Prints one JSON object; ends with 1 where somebody's numbers are
 * wrong.
 */
#include "measure.h"
#include <ashlar/runtime/api.h>
#include <dlfcn.h>
#include <math.h>
#include <string.h>

typedef void (*cblas_t)(int, int, int, int, int, int, float, const float *, int,
                        const float *, int, float, float *, int);
typedef void (*cblas64_t)(int, int, int, int64_t, int64_t, int64_t, float,
                          const float *, int64_t, const float *, int64_t, float,
                          float *, int64_t);
typedef int (*dnnl_t)(char, char, int64_t, int64_t, int64_t, float,
                      const float *, int64_t, const float *, int64_t, float,
                      float *, int64_t);

enum { MOST_CONTENDERS = 8, MOST_TIMES = 4096 };

struct contender {
  const char *name;
  cblas_t cblas;
  cblas64_t cblas64;
  dnnl_t dnnl;
  ashlar_bindings_t *bindings;
  double times[MOST_TIMES];
  size_t count;
  double error;
};

static int M, N, K, threads;
static float *A, *B, *C;
static char *evicted;
static size_t evict_bytes;
static ashlar_runtime_t *runtime;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "gemm: %s: %s\n", what, why);
  exit(2);
}

static void check(ashlar_status_t status) {
  if (status.code != ASHLAR_OK)
    fail(status.place, status.message);
}

static void *symbol(void *library, const char *name, const char *path) {
  void *found = dlsym(library, name);
  if (!found)
    fail(path, name);
  return found;
}

static ashlar_tensor_t matrix(float *data, int rows, int columns) {
  ashlar_tensor_t tensor = {0};
  tensor.data = data;
  tensor.capacity = (uint64_t)rows * (uint64_t)columns * sizeof(float);
  tensor.type = ASHLAR_TYPE_F32;
  tensor.rank = 2;
  tensor.shape[0] = rows;
  tensor.shape[1] = columns;
  return tensor;
}

static void open_module(struct contender *contender, const char *path,
                        size_t inputs) {
  ashlar_module_t *module;
  ashlar_session_t *session;
  ashlar_entry_t *entry;
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  load.allow_native_code = 1;
  options.threads = (uint32_t)threads;
  if (!runtime)
    check(ashlar_runtime_create(NULL, &runtime));
  check(ashlar_module_load_file(runtime, path, &load, &module));
  check(ashlar_module_entry_at(module, 0, &entry));
  check(ashlar_session_create(module, NULL, &options, &session));
  ashlar_tensor_t in[2] = {matrix(A, M, K), matrix(B, K, N)};
  ashlar_tensor_t out = matrix(C, M, N);
  check(ashlar_bindings_create(session, entry, in, inputs, &out, 1,
                               &contender->bindings));
}

static void open_contender(struct contender *contender, char *text) {
  char *kind = strchr(text, '='), *path = kind ? strchr(kind, ':') : NULL;
  if (!path)
    fail(text, "expected NAME=KIND:PATH");
  *kind++ = 0;
  *path++ = 0;
  contender->name = text;
  if (strncmp(kind, "ash", 3) == 0)
    return open_module(contender, path, kind[3] == '2' ? 2 : 1);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(path, dlerror());
  if (strcmp(kind, "cblas") == 0)
    contender->cblas = (cblas_t)symbol(library, "cblas_sgemm", path);
  else if (strcmp(kind, "cblas64") == 0)
    contender->cblas64 =
        (cblas64_t)symbol(library, "scipy_cblas_sgemm64_", path);
  else if (strcmp(kind, "dnnl") == 0)
    contender->dnnl = (dnnl_t)symbol(library, "dnnl_sgemm", path);
  else
    fail(kind, "no such kind");
}

static void call(struct contender *c) {
  enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
  if (c->bindings)
    check(ashlar_bindings_run(c->bindings));
  else if (c->cblas)
    c->cblas(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, M, N, K, 1, A, K, B, N, 0,
             C, N);
  else if (c->cblas64)
    c->cblas64(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, M, N, K, 1, A, K, B, N, 0,
               C, N);
  else
    c->dnnl('N', 'N', M, N, K, 1, A, K, B, N, 0, C, N);
}

/* Reads what pushes everything else out of L2, then A, and C as it is written.
 */
static void make_cold(void) {
  static volatile char sink;
  char sum = 0;
  for (size_t i = 0; i < evict_bytes; i += 64)
    sum ^= evicted[i];
  for (size_t i = 0; i < (size_t)M * (size_t)K; i += 16)
    sum ^= (char)A[i];
  for (size_t i = 0; i < (size_t)M * (size_t)N; i += 16)
    C[i] = 0;
  sink = sum;
  (void)sink;
}

/* The worst of some elements, by what an exact sum of such products is worth.
 */
static double worst_error(void) {
  uint64_t state = 12345;
  double worst = 0;
  for (int s = 0; s < 400; ++s) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    size_t i = (size_t)(state >> 33) % (size_t)M;
    state = state * 6364136223846793005u + 1442695040888963407u;
    size_t j = (size_t)(state >> 33) % (size_t)N;
    double exact = 0, scale = 0;
    for (size_t k = 0; k < (size_t)K; ++k) {
      double product =
          (double)A[i * (size_t)K + k] * (double)B[k * (size_t)N + j];
      exact += product;
      scale += fabs(product);
    }
    double error = fabs((double)C[i * (size_t)N + j] - exact) / (scale + 1e-30);
    if (!(error <= worst))
      worst = error;
  }
  return worst;
}

static void turn(struct contender *c, double seconds) {
  enum { MOST_CALLS = 16 };
  /* Threads of whoever ran before may still be looking for work. */
  if (threads > 1) {
    struct timespec pause = {0, 50000000};
    nanosleep(&pause, NULL);
  }
  double start = seconds_now();
  /* One that takes long reads its weights anew within each call. */
  if (!c->count || c->times[c->count - 1] < 0.05)
    call(c);
  for (int i = 0; i < MOST_CALLS && c->count < MOST_TIMES; ++i) {
    make_cold();
    double before = seconds_now();
    call(c);
    c->times[c->count++] = seconds_now() - before;
    if (seconds_now() - start > seconds)
      break;
  }
}

static void read_file(const char *path, float *values, size_t count) {
  FILE *file = fopen(path, "rb");
  if (!file || fread(values, sizeof(float), count, file) != count)
    fail(path, "cannot be read, or is too short");
  fclose(file);
}

int main(int argc, char **argv) {
  static struct contender contenders[MOST_CONTENDERS];
  if (argc < 9 || argc - 8 > MOST_CONTENDERS)
    fail("usage", "M N K SECONDS EVICT_BYTES THREADS B.raw NAME=KIND:PATH...");
  M = atoi(argv[1]), N = atoi(argv[2]), K = atoi(argv[3]);
  double seconds = atof(argv[4]);
  evict_bytes = strtoull(argv[5], NULL, 10);
  threads = atoi(argv[6]);
  int count = argc - 8;
  A = allocate((size_t)M * (size_t)K * sizeof(float));
  B = allocate((size_t)K * (size_t)N * sizeof(float));
  C = allocate((size_t)M * (size_t)N * sizeof(float));
  evicted = allocate(evict_bytes + 64);
  memset(evicted, 1, evict_bytes + 64);
  fill_random(A, (size_t)M * (size_t)K, 1);
  read_file(argv[7], B, (size_t)K * (size_t)N);

  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    open_contender(&contenders[i], argv[8 + i]);
    memset(C, 0xff, (size_t)M * (size_t)N * sizeof(float));
    call(&contenders[i]);
    contenders[i].error = worst_error();
    wrong |= !(contenders[i].error < 1e-5);
  }
  double begin = seconds_now();
  /* Three rounds, unless somebody takes ten times what was asked for. */
  for (int round = 0;; ++round) {
    double spent = seconds_now() - begin;
    if (round > 0 && (spent > 10 * seconds || (round > 2 && spent > seconds)))
      break;
    for (int i = 0; i < count; ++i)
      turn(&contenders[i], seconds / count / 3);
  }

  printf("{\"m\": %d, \"n\": %d, \"k\": %d, \"threads\": %d", M, N, K, threads);
  for (int i = 0; i < count; ++i) {
    struct contender *c = &contenders[i];
    printf(", \"%s\": {\"us\": %.3f, \"runs\": %zu, \"error\": %.2g}", c->name,
           1e6 * median(c->times, c->count), c->count, c->error);
  }
  printf("}\n");
  return wrong;
}
