/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Ashlar's runtime: loads module files (.ash) and runs them.
 *
 * CONVENTIONS, which hold for every function unless it says otherwise
 *
 * Errors       Every call that can fail returns an ashlar_status_t by value.
 *              Its strings are never NULL and stay valid until the same
 *              thread's next call into this library; copy what you keep. No
 *              call prints, exits or throws. Out-parameters are set to NULL
 *              or zero before anything else happens. A null pointer where
 *              none is allowed gives INVALID_ARGUMENT.
 * Ownership    Handles are counted: _create, _load and the like give the
 *              caller one reference, _release drops it, NULL is allowed there.
 *              What is in use stays alive: a session keeps its module, a
 *              module its runtime and budget. Memory that the caller passes is
 *              the caller's, never freed here and not kept beyond the call
 *              unless the function says so. Returned strings belong to the
 *              object they were asked of.
 * Threads      Runtime, budget, module, entry and device: any thread at any
 *              time. Session and its bindings: one thread at a time; sessions
 *              of one module run in parallel. Event: any thread.
 * fork         A child made by fork may create sessions of its parent's modules
 *              on the device cpu, and anything of its own. Sessions, bindings,
 *              arenas, memories and events of the parent are refused there with
 *              INVALID_ARGUMENT, since the threads are the parent's; their
 *              _query goes on. Releasing what the parent made does nothing in
 *              the child and gives nothing back. The drivers behind other
 *              devices outlive no fork: there a child may only exec or _exit.
 *              The same holds where, at the fork, a run was in flight or
 *              another thread was in a call.
 * Sizes        Bytes, unless the name says otherwise. Times end in their unit.
 * Versions     Structs passed by pointer begin with `size`; set it with the
 *              _INIT macro. A library that is older or newer than the caller
 *              reads and writes only the fields that both know. Fields and
 *              functions are only ever appended within one soname.
 *
 *   ashlar_runtime_t *runtime;
 *   ashlar_module_t *module;
 *   ashlar_session_t *session;
 *   ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
 *   load.allow_native_code = 1;
 *   ashlar_runtime_create(NULL, &runtime);
 *   ashlar_module_load_file(runtime, "model.ash", &load, &module);
 *   ashlar_session_create(module, NULL, NULL, &session);
 *   ashlar_session_run(session, "main", inputs, 1, outputs, 1);
 */
#ifndef ASHLAR_RUNTIME_API_H
#define ASHLAR_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ASHLAR_API __attribute__((visibility("default")))
#else
#define ASHLAR_API
#endif

/*===-- Version ----------------------------------------------------------===*/

#define ASHLAR_VERSION_MAJOR 0
#define ASHLAR_VERSION_MINOR 1
#define ASHLAR_VERSION_PATCH 0

/* The library's own version, "0.1.0". */
ASHLAR_API const char *ashlar_runtime_version(void);

/*===-- Status -----------------------------------------------------------===*/

typedef enum ashlar_status_code_t {
  ASHLAR_OK = 0,
  ASHLAR_INVALID_ARGUMENT = 1, /* the caller can mend the call */
  ASHLAR_NOT_FOUND = 2,        /* no file, entry or device of that name */
  ASHLAR_OUT_OF_BUDGET = 3,    /* refused before anything was allocated */
  ASHLAR_UNSUPPORTED = 4,      /* sound, but not here or not allowed */
  ASHLAR_CORRUPT = 5,          /* the module contradicts itself */
  ASHLAR_DEVICE_LOST = 6,      /* the device failed; the message is the first
                                  failure it had */
  ASHLAR_CANCELLED = 7,        /* ended by a cancel, or its time was over */
  ASHLAR_INTERNAL = 8          /* our fault, or the system is out of memory */
} ashlar_status_code_t;

typedef struct ashlar_status_t {
  int32_t code;        /* ashlar_status_code_t */
  const char *message; /* a sentence: what was expected, found, what to do */
  const char *place;   /* argument, file, kernel or table it is about; "" */
} ashlar_status_t;

/* "OUT_OF_BUDGET" for ASHLAR_OUT_OF_BUDGET; "UNKNOWN" for other numbers. */
ASHLAR_API const char *ashlar_status_code_name(int32_t code);

/*===-- Tensors ----------------------------------------------------------===*/

/* The numbers are those of the module's schema. */
typedef enum ashlar_element_type_t {
  ASHLAR_TYPE_NONE = 0,
  ASHLAR_TYPE_BOOL = 1, /* one byte, 0 or 1 */
  ASHLAR_TYPE_I8 = 2,
  ASHLAR_TYPE_I16 = 3,
  ASHLAR_TYPE_I32 = 4,
  ASHLAR_TYPE_I64 = 5,
  ASHLAR_TYPE_U8 = 6,
  ASHLAR_TYPE_U16 = 7,
  ASHLAR_TYPE_U32 = 8,
  ASHLAR_TYPE_U64 = 9,
  ASHLAR_TYPE_F16 = 10,
  ASHLAR_TYPE_BF16 = 11,
  ASHLAR_TYPE_F32 = 12,
  ASHLAR_TYPE_F64 = 13,
  /* Floats of a byte or less by their codes, and small integers by their
   * values: one element a byte, whatever its width. */
  ASHLAR_TYPE_F8E4M3FN = 14,
  ASHLAR_TYPE_F8E4M3FNUZ = 15,
  ASHLAR_TYPE_F8E5M2 = 16,
  ASHLAR_TYPE_F8E5M2FNUZ = 17,
  ASHLAR_TYPE_F8E8M0 = 18,
  ASHLAR_TYPE_F4E2M1 = 19,
  ASHLAR_TYPE_I4 = 20,
  ASHLAR_TYPE_U4 = 21,
  ASHLAR_TYPE_I2 = 22,
  ASHLAR_TYPE_U2 = 23
} ashlar_element_type_t;

/* Bytes of one element, 0 for an unknown type. */
ASHLAR_API size_t ashlar_element_type_size(uint32_t type);
/* "f32"; "unknown" for other numbers. */
ASHLAR_API const char *ashlar_element_type_name(uint32_t type);

#define ASHLAR_MAX_RANK 16

typedef struct ashlar_runtime_t ashlar_runtime_t;
typedef struct ashlar_device_t ashlar_device_t;
typedef struct ashlar_budget_t ashlar_budget_t;
typedef struct ashlar_memory_t ashlar_memory_t;
typedef struct ashlar_module_t ashlar_module_t;
typedef struct ashlar_entry_t ashlar_entry_t;
typedef struct ashlar_arena_t ashlar_arena_t;
typedef struct ashlar_session_t ashlar_session_t;
typedef struct ashlar_bindings_t ashlar_bindings_t;
typedef struct ashlar_event_t ashlar_event_t;

/* A dense row-major tensor.
 *
 * As an input: data is read in place if it is aligned to 64 bytes, otherwise
 * copied (the copy is charged to the session's budget).
 * As an output: with data, results are written there, in place if aligned to
 * 64 bytes; type may be NONE, rank and shape are overwritten. With data NULL
 * the session provides the memory; all fields are set, and data stays valid
 * until the session's next run or release. Where a size depends on data there
 * must be room for the largest; the shape says how much of it was used.
 * A state (ashlar_tensor_info_t.state_input) is one place for an input and the
 * output that it becomes: the input has the memory, of the state's bytes
 * (maximum_bytes) whatever its shape, aligned to 64 bytes and where the
 * module's inputs are; the output has the same data, or NULL. Elements lie
 * there as in a tensor of the largest shape, so that what grows stays where it
 * is.
 *
 * Either may be in the memory of any device of the session's runtime, whatever
 * the module runs on; data is then the address that the device's driver gives
 * that memory. Where the module's inputs and outputs are in that memory too, it
 * is used in place if aligned; else it is copied, which counts as staged. */
typedef struct ashlar_tensor_t {
  void *data;
  ashlar_device_t *device; /* where data lives; NULL: host memory, which that of
                              cpu:0 is as well */
  uint64_t capacity;       /* bytes that may be used at data */
  uint32_t type;           /* ashlar_element_type_t */
  uint32_t rank;
  int64_t shape[ASHLAR_MAX_RANK]; /* the first `rank` count */
} ashlar_tensor_t;

/* What an entry expects or gives. */
typedef struct ashlar_tensor_info_t {
  size_t size;
  const char *name;
  const char *shape_text; /* "Nx3x48xW": symbols by name */
  uint32_t type;
  uint32_t rank;
  int64_t shape[ASHLAR_MAX_RANK];   /* -1 where symbols or data decide */
  int64_t maximum[ASHLAR_MAX_RANK]; /* the largest shape there can be */
  uint64_t maximum_bytes;
  int64_t state_input; /* of an output: the input whose place it has; else -1 */
} ashlar_tensor_info_t;
#define ASHLAR_TENSOR_INFO_INIT                                                \
  {sizeof(ashlar_tensor_info_t), 0, 0, 0, 0, {0}, {0}, 0, -1}

/*===-- Runtime ----------------------------------------------------------===*/

/* One share of a parallel step. Shares do not wait for each other, so an
 * executor may run them one after another. */
typedef void (*ashlar_task_function_t)(void *task, uint32_t share);

/* An embedder's own threads in place of the library's. `run` calls
 * function(task, i) once for each i in [0, shares), on threads of its choice,
 * and returns when all have returned. It may be called from several sessions
 * at the same time. */
typedef struct ashlar_executor_t {
  void *context;
  uint32_t shares; /* how finely to split: usually the number of threads */
  void (*run)(void *context, uint32_t shares, ashlar_task_function_t function,
              void *task);
} ashlar_executor_t;

/* An embedder's own memory for what budgets count of the host's memory (and of
 * devices that share it): arenas, outputs, staging and scratch. Weights and
 * code are mapped from the file, memory of other devices is their driver's.
 * `device` names whose memory it is ("cpu:0"; "host" for outputs on other
 * devices), kind is an ashlar_memory_kind_t. Each call follows its charge; what
 * sessions allocate is then as large as it will ever be, for it cannot grow in
 * place. Any thread, several at the same time. */
typedef struct ashlar_allocator_t {
  void *context;
  /* Aligned to 64 bytes, contents undefined; NULL: there is no such memory. */
  void *(*allocate)(void *context, const char *device, uint32_t kind,
                    uint64_t bytes);
  void (*free)(void *context, const char *device, uint32_t kind, void *memory,
               uint64_t bytes);
} ashlar_allocator_t;

typedef enum ashlar_log_level_t {
  ASHLAR_LOG_DEBUG = 0,   /* memory given back */
  ASHLAR_LOG_INFO = 1,    /* which program was taken, and why not others */
  ASHLAR_LOG_WARNING = 2, /* a device that could not serve, a refusal */
  ASHLAR_LOG_ERROR = 3    /* a device is lost */
} ashlar_log_level_t;

/* Where the library says what it did, beside the statuses of calls. place is a
 * module, session, budget, device or file; strings are valid during the call.
 * Called on the thread that asked, or on the one that runs; several at the same
 * time. It must not call back into sessions. */
typedef struct ashlar_logger_t {
  void *context;
  uint32_t level; /* ashlar_log_level_t: what is below is left out */
  uint32_t reserved;
  void (*log)(void *context, uint32_t level, const char *place,
              const char *message);
} ashlar_logger_t;

/* An embedder's own time in place of the system's monotonic clock: of
 * deadlines, of waits with a limit, of statistics and traces. now_ns gives
 * nanoseconds from any moment on and never goes back. Any thread, several at
 * the same time, also while the library holds locks: it must not call back.
 * Waits look at it once a millisecond of the system's time. */
typedef struct ashlar_clock_t {
  void *context; /* stays as long as the runtime and all events of it */
  uint64_t (*now_ns)(void *context);
} ashlar_clock_t;

/* Bytes of a public key of Ed25519. */
#define ASHLAR_SIGNATURE_KEY_BYTES 32

/* The library takes no random numbers, so there is no source of them to give.
 */
typedef struct ashlar_runtime_options_t {
  size_t size;
  uint32_t threads; /* default of sessions; 0: as many as CPUs are allowed */
  uint32_t reserved;
  const ashlar_executor_t *executor;   /* NULL: threads of our own; copied */
  const ashlar_allocator_t *allocator; /* NULL: mapped memory; copied */
  /* How many workers of all sessions run at the same time: runs beyond wait,
   * and tenants, which are the budgets right below the runtime's, take turns by
   * their shares. A run that has begun is not interrupted, so none waits longer
   * than those take that are ahead of its tenant's share. 0: no limit, the
   * system shares out its processors. */
  uint32_t worker_limit;
  uint32_t reserved2;
  const ashlar_logger_t *logger; /* NULL: nothing is said; copied */
  /* A folder that is there, for what drivers compile when a module is loaded:
   * later loads, of other processes too, take it from there. What is wrong with
   * it is a warning in the log, not an error. Nothing is ever deleted there.
   * Whoever may write to it runs code in this process. NULL or "": nothing is
   * written; copied. */
  const char *driver_cache;
  /* Whom to trust: public keys of Ed25519, one behind the other; copied. With
   * any, a module is loaded or checked only if one of them has signed all of
   * its bytes (ashlar-compile --sign-key), and before anything but its header
   * is looked at: else UNSUPPORTED (not signed, or by another key) or CORRUPT
   * (altered or cut off), with "signature" as the place. Each load reads the
   * whole file then. 0: signatures are not looked at. libsodium checks them,
   * which must be installed: UNSUPPORTED, with "options.signature_keys" as the
   * place, where it is not. */
  const void *signature_keys;
  size_t signature_key_count;  /* each of ASHLAR_SIGNATURE_KEY_BYTES */
  const ashlar_clock_t *clock; /* NULL: the system's; copied */
  /* How long the library waits at a time for a GPU, in nanoseconds of the
   * system's clock. One that has not ended by then what it was given, such as a
   * kernel without an end, is lost: DEVICE_LOST, with the kernels that were
   * under way. What the device may still use (its own memory, its streams) is
   * then never given back, so release all and end the process when you can.
   * 0: ten minutes; UINT64_MAX: no limit. */
  uint64_t device_wait_ns;
} ashlar_runtime_options_t;
#define ASHLAR_RUNTIME_OPTIONS_INIT                                            \
  {sizeof(ashlar_runtime_options_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* options may be NULL. Opens no device. INVALID_ARGUMENT, UNSUPPORTED,
 * INTERNAL. */
ASHLAR_API ashlar_status_t ashlar_runtime_create(
    const ashlar_runtime_options_t *options, ashlar_runtime_t **out_runtime);
/* What was made of it, such as a module or a budget, keeps it. */
ASHLAR_API void ashlar_runtime_release(ashlar_runtime_t *runtime);

/* From _start to _stop it is recorded what runs and what is held; _stop writes
 * a JSON file in the trace-event format, which ui.perfetto.dev opens, with
 * times in microseconds from _start on: kernels and copies of a run, on the
 * thread that did them; copies of the caller's tensors with their bytes, and to
 * other devices as long as it took to ask for them; a line for each session, in
 * a group for its budget ("runtime/tenant-a"): waits and runs, with the trace
 * context, where the session has one; a counter for each memory of each budget,
 * in bytes, whenever it changes, and with worker_limit one of the runs that
 * wait. At most a million of all these are kept, then the rest is dropped and
 * counted in the file. INVALID_ARGUMENT when started twice or stopped without a
 * start, or the file cannot be written. */
ASHLAR_API ashlar_status_t ashlar_trace_start(ashlar_runtime_t *runtime,
                                              const char *path);
/* Ends what ashlar_trace_start began and writes its file. */
ASHLAR_API ashlar_status_t ashlar_trace_stop(ashlar_runtime_t *runtime);

/*===-- Devices ----------------------------------------------------------===*/

/* Opens the device on first use. "cpu" means "cpu:0". The handle lives as long
 * as the runtime. NOT_FOUND: the error lists what there is. */
ASHLAR_API ashlar_status_t ashlar_device_open(ashlar_runtime_t *runtime,
                                              const char *name,
                                              ashlar_device_t **out_device);
/* The names of those there are, the preferred first: "cpu:0, systolic:0". */
ASHLAR_API const char *ashlar_device_names(ashlar_runtime_t *runtime);
/* "cpu:0" */
ASHLAR_API const char *ashlar_device_name(const ashlar_device_t *device);
/* Instruction sets the device has, in LLVM's names, separated by commas. */
ASHLAR_API const char *ashlar_device_features(const ashlar_device_t *device);
/* OK, or DEVICE_LOST with the first failure. */
ASHLAR_API ashlar_status_t ashlar_device_status(const ashlar_device_t *device);

typedef struct ashlar_virtual_device_options_t {
  size_t size;
  uint64_t memory_bytes; /* all that is ever charged in it; at least 1 */
  uint32_t workers;      /* of all its sessions, at the same time; at least 1 */
  uint32_t reserved;
} ashlar_virtual_device_options_t;
#define ASHLAR_VIRTUAL_DEVICE_OPTIONS_INIT                                     \
  {sizeof(ashlar_virtual_device_options_t), 0, 0, 0}

/* Cuts a part off a device, with memory and workers of its own that never
 * change: "cpu:0/tenant-a", the device's name, '/' and 1 to 63 letters, digits,
 * '.', '_' or '-'. From then on ashlar_device_open and the devices of load
 * options take that name.
 *
 * memory_bytes are set aside in the device's memory, in the runtime's budget:
 * nobody else gets them. Weights, code, arenas, scratch, staging and, where the
 * device's memory is the host's, outputs of what is loaded for the part count
 * there, beside the budgets they are charged to, which see a memory of the
 * part's name. What a device that a program brings along holds, does not.
 * A session has at most `workers`; runs beyond wait, the highest priority
 * first. Tensors in the device's memory are in the part's as well. A device
 * that is lost is lost with all its parts.
 *
 * The handle lives until _destroy or as long as the runtime. NOT_FOUND: there
 * is no such device. INVALID_ARGUMENT for bad or double names, and where all
 * parts of a device would have more workers than the runtime's `threads`;
 * OUT_OF_BUDGET where it has not that much memory left. */
ASHLAR_API ashlar_status_t
ashlar_virtual_device_create(ashlar_runtime_t *runtime, const char *name,
                             const ashlar_virtual_device_options_t *options,
                             ashlar_device_t **out_device);
/* Gives memory and workers back to the device, and the handle up.
 * INVALID_ARGUMENT, and nothing changes, while a module is loaded for it or an
 * ashlar_memory_t is there, or for a device that is no virtual one. */
ASHLAR_API ashlar_status_t ashlar_virtual_device_destroy(
    ashlar_runtime_t *runtime, ashlar_device_t *device);

/*===-- Budgets ----------------------------------------------------------===*/

typedef enum ashlar_memory_kind_t {
  ASHLAR_MEMORY_WEIGHTS = 0, /* once per module */
  ASHLAR_MEMORY_CODE = 1,    /* once per module */
  ASHLAR_MEMORY_ARENA = 2,   /* one per session */
  ASHLAR_MEMORY_OUTPUTS = 3, /* outputs that a session provides, and what
                                ashlar_memory_create and _import give */
  ASHLAR_MEMORY_STAGING = 4, /* copies of unaligned or remote tensors */
  ASHLAR_MEMORY_SCRATCH = 5, /* per worker of a session */
  ASHLAR_MEMORY_KINDS = 6
} ashlar_memory_kind_t;

/* A kind that only holders have: what a budget below sets aside and does not
 * use. */
#define ASHLAR_MEMORY_SET_ASIDE 16

typedef struct ashlar_budget_statistics_t {
  size_t size;
  uint64_t limit;
  uint64_t current; /* what budgets below set aside included */
  uint64_t peak;
  uint64_t current_of[ASHLAR_MEMORY_KINDS]; /* by ashlar_memory_kind_t */
  uint64_t refusals;                        /* requests that did not fit here */
  uint64_t reserved; /* set aside by ashlar_budget_reserve, used or not */
  /* Weights and code that would be charged again if modules did not share them
   * (share_content); of all memory, 0 where one is asked for. */
  uint64_t saved;
} ashlar_budget_statistics_t;
#define ASHLAR_BUDGET_STATISTICS_INIT                                          \
  {sizeof(ashlar_budget_statistics_t), 0, 0, 0, {0}, 0, 0, 0}

/* One charge that a budget carries now, or one below it. */
typedef struct ashlar_holder_t {
  char name[64]; /* of the module or session, cut to fit; of a budget below,
                    behind its path: "tenant-a/model" */
  uint32_t kind; /* ashlar_memory_kind_t, or ASHLAR_MEMORY_SET_ASIDE */
  uint32_t reserved;
  uint64_t bytes;
} ashlar_holder_t;

#define ASHLAR_UNLIMITED UINT64_MAX

/* Budgets form a tree: the runtime's own is the root, tenants may be below it,
 * models below those, sessions below these. What is charged to one is charged
 * to all above it, at once; no limit of any is ever passed. A refusal's place
 * is the name of the budget that lacks the bytes; the message says how many,
 * who holds the rest, and who would have to go.
 *
 * A budget of `limit` bytes that modules and sessions share, right below the
 * runtime's. */
ASHLAR_API ashlar_status_t ashlar_budget_create(ashlar_runtime_t *runtime,
                                                const char *name,
                                                uint64_t limit,
                                                ashlar_budget_t **out_budget);
/* The same below another budget, which it keeps. */
ASHLAR_API ashlar_status_t
ashlar_budget_create_below(ashlar_budget_t *parent, const char *name,
                           uint64_t limit, ashlar_budget_t **out_budget);
/* The root, without a limit at first: a reference to be released. */
ASHLAR_API ashlar_status_t ashlar_runtime_budget(ashlar_runtime_t *runtime,
                                                 ashlar_budget_t **out_budget);
/* It stays, with what is charged to it, as long as modules, sessions, arenas or
 * budgets below it use it. */
ASHLAR_API void ashlar_budget_release(ashlar_budget_t *budget);
/* INVALID_ARGUMENT below what is in use. */
ASHLAR_API ashlar_status_t ashlar_budget_set_limit(ashlar_budget_t *budget,
                                                   uint64_t limit);
/* A limit of its own for one memory: a device's, or with NULL the host's, which
 * is also that of devices that share it, such as cpu:0. */
ASHLAR_API ashlar_status_t ashlar_budget_set_device_limit(
    ashlar_budget_t *budget, const ashlar_device_t *device, uint64_t limit);
/* Sets bytes of a memory aside: the budgets above count them as in use from now
 * on, so that nobody else takes them; what is charged here uses them up first.
 * Takes the place of what was set aside before; 0 gives it back.
 * OUT_OF_BUDGET where a budget above has less left. */
ASHLAR_API ashlar_status_t ashlar_budget_reserve(ashlar_budget_t *budget,
                                                 const ashlar_device_t *device,
                                                 uint64_t bytes);
/* The same figures as ashlar_budget_query, of one memory. */
ASHLAR_API ashlar_status_t ashlar_budget_query_device(
    const ashlar_budget_t *budget, const ashlar_device_t *device,
    ashlar_budget_statistics_t *out_statistics);
/* Its limit and what is in use of it, over all memories. Any thread. */
ASHLAR_API ashlar_status_t ashlar_budget_query(
    const ashlar_budget_t *budget, ashlar_budget_statistics_t *out_statistics);
/* Writes up to `capacity` holders, largest first; *out_count is how many there
 * are. holders may be NULL with capacity 0. */
ASHLAR_API ashlar_status_t ashlar_budget_holders(const ashlar_budget_t *budget,
                                                 ashlar_holder_t *holders,
                                                 size_t capacity,
                                                 size_t *out_count);

/* Of the workers that `worker_limit` allows: a tenant of share 3 gets three
 * times what one of share 1 gets, while both want more. 1 at first. Counts at
 * budgets right below the runtime's. INVALID_ARGUMENT for 0. */
ASHLAR_API ashlar_status_t ashlar_budget_set_share(ashlar_budget_t *budget,
                                                   uint32_t share);

/*===-- Memory that a file descriptor stands for -------------------------===*/

/* Memory of a device for the caller's tensors, which other runtimes, libraries
 * and processes can have as well: their writes are seen here, and ours there,
 * once the run or copy that made them has ended. Its address and device go into
 * an ashlar_tensor_t.
 *
 * At least `bytes` of the device, contents undefined, charged to `budget`
 * (NULL: the runtime's) under `name` as OUTPUTS: as many as the device gives at
 * once (2 MiB on today's GPUs, a page on cpu). UNSUPPORTED where the device, or
 * its driver, has no such memory; INVALID_ARGUMENT for 0 bytes, and for a
 * device of another runtime; OUT_OF_BUDGET. */
ASHLAR_API ashlar_status_t ashlar_memory_create(
    ashlar_runtime_t *runtime, ashlar_device_t *device, ashlar_budget_t *budget,
    const char *name, uint64_t bytes, ashlar_memory_t **out_memory);
/* The same of the memory that a descriptor stands for: one from
 * ashlar_memory_export, of whichever process, or from another library that
 * exports the device's memory so. cuda:N: by cuMemExportToShareableHandle, for
 * the same GPU. cpu: a memfd sealed against shrinking. Another process's must
 * have come through a socket (SCM_RIGHTS) or by inheritance: its number alone
 * means nothing. The descriptor stays the caller's, who may close it at once.
 * It is charged as well, since the memory stays as long as anybody has it.
 * INVALID_ARGUMENT, too, for a descriptor of something else or of less. */
ASHLAR_API ashlar_status_t ashlar_memory_import(ashlar_runtime_t *runtime,
                                                ashlar_device_t *device,
                                                ashlar_budget_t *budget,
                                                const char *name,
                                                int descriptor, uint64_t bytes,
                                                ashlar_memory_t **out_memory);
/* A new descriptor for it, which the caller closes. It keeps the memory there
 * when the handle is released. Imported memory can be exported again. */
ASHLAR_API ashlar_status_t ashlar_memory_export(const ashlar_memory_t *memory,
                                                int *out_descriptor);

typedef struct ashlar_memory_info_t {
  size_t size;
  void *data;     /* ashlar_tensor_t.data; the host reaches it on cpu alone */
  uint64_t bytes; /* that are there, and charged */
  ashlar_device_t *device; /* ashlar_tensor_t.device */
} ashlar_memory_info_t;
#define ASHLAR_MEMORY_INFO_INIT {sizeof(ashlar_memory_info_t), 0, 0, 0}
/* Where it lies and how large it is. Any thread. */
ASHLAR_API ashlar_status_t ashlar_memory_query(const ashlar_memory_t *memory,
                                               ashlar_memory_info_t *out_info);
/* No run uses it any more, and no session or bindings will. It keeps its
 * runtime and device. */
ASHLAR_API void ashlar_memory_release(ashlar_memory_t *memory);

/*===-- Statistics -------------------------------------------------------===*/

#define ASHLAR_HISTOGRAM_BUCKETS 24

/* Times. Bucket i counts those up to 1024 << i ns and above the bucket before:
 * 1 us, 2 us, ... 4.3 s; the last one all that are longer. */
typedef struct ashlar_histogram_t {
  uint64_t count;
  uint64_t sum_ns;
  uint64_t buckets[ASHLAR_HISTOGRAM_BUCKETS];
} ashlar_histogram_t;

/* Of all sessions charged to a budget or below, also of those that are gone. */
typedef struct ashlar_stats_t {
  size_t size;
  uint64_t runs;         /* ended well */
  uint64_t failures;     /* ended with an error */
  uint64_t cancelled;    /* cancelled, or late for their deadline */
  uint64_t copies;       /* tensors staged or taken from device to device */
  uint64_t copied_bytes; /* of these */
  uint64_t fallbacks;    /* devices that modules asked for in vain */
  uint64_t refusals;     /* requests for memory that did not fit */
  ashlar_histogram_t waiting; /* from a call to the run's begin */
  ashlar_histogram_t running; /* from there to its end */
} ashlar_stats_t;
#define ASHLAR_STATS_INIT                                                      \
  {                                                                            \
    sizeof(ashlar_stats_t), 0, 0, 0, 0, 0, 0, 0, {0, 0, {0}}, { 0, 0, {0} }    \
  }

/* Counts go on meanwhile. The runtime's are those of its own budget. */
ASHLAR_API ashlar_status_t ashlar_stats_query(const ashlar_budget_t *budget,
                                              ashlar_stats_t *out_stats);
/* What a runtime allocates of the host's memory for itself, beside what models
 * need: handles, names, resolved commands, the copy of a file's index, tables
 * of devices and drivers, a trace's records (as many as it may hold), the
 * state of the simulator, and 16 bytes more for each block. No budget counts
 * it. Neither is here what libraries below allocate: stacks of threads, the
 * buffers of an open file, drivers. */
typedef struct ashlar_own_memory_t {
  size_t size;
  uint64_t current; /* bytes */
  uint64_t peak;    /* likewise, the most at once */
  /* What the process keeps beside all runtimes, for as long as the library is
   * loaded: which devices and drivers there are. */
  uint64_t process_bytes;
} ashlar_own_memory_t;
#define ASHLAR_OWN_MEMORY_INIT {sizeof(ashlar_own_memory_t), 0, 0, 0}

/* runtime NULL: of all runtimes of the process together; once all that they
 * gave is released, current is 0. */
ASHLAR_API ashlar_status_t ashlar_stats_own_memory(
    const ashlar_runtime_t *runtime, ashlar_own_memory_t *out_memory);

/* All budgets of the runtime, their memory and their runs, and what the runtime
 * has for itself, as Prometheus reads it (text format 0.0.4). *out_bytes is the
 * text's length without the NUL that ends it; text may be NULL with capacity 0,
 * to ask how long it is. What is longer than capacity - 1 is cut: ask again. */
ASHLAR_API ashlar_status_t ashlar_stats_prometheus(ashlar_runtime_t *runtime,
                                                   char *text, size_t capacity,
                                                   size_t *out_bytes);

/*===-- Modules ----------------------------------------------------------===*/

typedef enum ashlar_placement_t {
  ASHLAR_PLACEMENT_STRICT = 0, /* a device that cannot serve is an error */
  ASHLAR_PLACEMENT_SOFT = 1    /* falls back to the next program, also where a
                                  device is lost while it loads; counted */
} ashlar_placement_t;

typedef struct ashlar_load_options_t {
  size_t size;
  /* Weights and code are charged to it, and kept; NULL: no limit. */
  ashlar_budget_t *budget;
  /* Shown in budgets, logs and traces. NULL: the file's name. */
  const char *name;
  /* Modules hold machine code that runs with the process's own rights. Set it
   * to 1 for files you trust as much as a shared library. */
  uint32_t allow_native_code;
  /* 1: hash the weights too, about 20 ms per 400 MB. */
  uint32_t verify_weights;
  /* Devices to choose a program for, in order of preference; NULL: any. */
  const char *const *devices;
  size_t device_count;
  uint32_t placement; /* ashlar_placement_t */
  uint32_t reserved;
  /* 1: weights and code that are the same, byte for byte, in modules loaded
   * with this option, for one budget and one device, are in memory once. They
   * are charged to that budget once, under the names of all these modules,
   * until the last is gone: no unload makes another module cost more. The
   * others use the first one's file: leave it as it is until they are gone,
   * too. Memory lent to ashlar_module_load_memory is not used for others. Such
   * loads and checks for one budget go one after the other. */
  uint32_t share_content;
  uint32_t reserved2;
} ashlar_load_options_t;
#define ASHLAR_LOAD_OPTIONS_INIT                                               \
  {sizeof(ashlar_load_options_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Maps the file, checks it and takes a program: of those for the same targets,
 * the first that the machine meets; of these, the one predicted to be fastest.
 * Weights are read from the mapping: while the module lives, replace the file
 * by renaming another over it, never by writing into it. NOT_FOUND, INTERNAL,
 * INVALID_ARGUMENT, CORRUPT, OUT_OF_BUDGET, UNSUPPORTED; DEVICE_LOST, where a
 * device that might have served is. */
ASHLAR_API ashlar_status_t ashlar_module_load_file(
    ashlar_runtime_t *runtime, const char *path,
    const ashlar_load_options_t *options, ashlar_module_t **out_module);
/* The same from memory, read in place and to be left as it is until the module
 * is gone. data must be aligned to 64 bytes. */
ASHLAR_API ashlar_status_t ashlar_module_load_memory(
    ashlar_runtime_t *runtime, const void *data, size_t size,
    const ashlar_load_options_t *options, ashlar_module_t **out_module);
/* Unloads it once its sessions are gone, too; its budget has the bytes back
 * then. */
ASHLAR_API void ashlar_module_release(ashlar_module_t *module);

typedef struct ashlar_module_info_t {
  size_t size;
  const char *name;
  const char *target;        /* of the program taken */
  const char *preset;        /* its machine model */
  const char *device;        /* "cpu:0" */
  const char *placement_log; /* a line per program: taken, or why not */
  size_t entry_count;
  size_t program_count; /* in the file */
  uint64_t weights_bytes;
  uint64_t code_bytes;
  uint64_t load_ns;
  uint64_t fallbacks;    /* devices asked for that could not serve */
  uint64_t shared_bytes; /* of weights and code, what was in memory already when
                            it was loaded, and not charged again */
} ashlar_module_info_t;
#define ASHLAR_MODULE_INFO_INIT                                                \
  {sizeof(ashlar_module_info_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
/* Which program was taken and why, what it was charged, how long it took to
 * load. The strings are the module's. Any thread. */
ASHLAR_API ashlar_status_t ashlar_module_query(const ashlar_module_t *module,
                                               ashlar_module_info_t *out_info);

/* What the model says of itself, such as the names of its classes: of an ONNX
 * model its metadata_props, each by its own key, and as "onnx.producer_name",
 * "onnx.producer_version", "onnx.domain", "onnx.model_version",
 * "onnx.doc_string", "onnx.graph_name" and "onnx.graph_doc_string" what else is
 * there. Empty strings are left out. */
typedef struct ashlar_metadata_t {
  size_t size;
  const char *key;      /* ends with NUL; the module's, as long as it lives */
  const char *value;    /* likewise; UTF-8 if the model keeps to ONNX's rules */
  uint64_t value_bytes; /* without that NUL; there may be others within */
} ashlar_metadata_t;
#define ASHLAR_METADATA_INIT {sizeof(ashlar_metadata_t), 0, 0, 0}
/* 0 for NULL, and for modules without any. */
ASHLAR_API size_t ashlar_module_metadata_count(const ashlar_module_t *module);
/* By number, in the order of the model. NOT_FOUND. */
ASHLAR_API ashlar_status_t
ashlar_module_metadata_at(const ashlar_module_t *module, size_t index,
                          ashlar_metadata_t *out_metadata);
/* By key, each of which is there once. NOT_FOUND. */
ASHLAR_API ashlar_status_t
ashlar_module_metadata(const ashlar_module_t *module, const char *key,
                       ashlar_metadata_t *out_metadata);

/*===-- Entries ----------------------------------------------------------===*/

/* Entries belong to their module. NOT_FOUND lists the names there are. */
ASHLAR_API ashlar_status_t ashlar_module_entry(ashlar_module_t *module,
                                               const char *name,
                                               ashlar_entry_t **out_entry);
/* By position, 0 being the first. */
ASHLAR_API ashlar_status_t ashlar_module_entry_at(ashlar_module_t *module,
                                                  size_t index,
                                                  ashlar_entry_t **out_entry);
/* The module's, as long as it lives; "" for NULL. */
ASHLAR_API const char *ashlar_entry_name(const ashlar_entry_t *entry);
/* How many tensors a run takes; 0 for NULL. */
ASHLAR_API size_t ashlar_entry_input_count(const ashlar_entry_t *entry);
/* How many tensors a run gives; 0 for NULL. */
ASHLAR_API size_t ashlar_entry_output_count(const ashlar_entry_t *entry);
/* Name, type and shape of input `index`, from 0 on, in the model's order. The
 * name is the module's. NOT_FOUND for an index that there is not. */
ASHLAR_API ashlar_status_t ashlar_entry_input(const ashlar_entry_t *entry,
                                              size_t index,
                                              ashlar_tensor_info_t *out_info);
/* The same of an output; of a size that depends on data or on the call, -1 in
 * `shape` and the largest in `maximum`. */
ASHLAR_API ashlar_status_t ashlar_entry_output(const ashlar_entry_t *entry,
                                               size_t index,
                                               ashlar_tensor_info_t *out_info);

/* What running the entry costs, to the byte, symbols at their largest. Where
 * parts of the sizes have programs of their own, each figure is the largest of
 * all, but weights and code are those of all together. */
typedef struct ashlar_contract_t {
  size_t size;
  uint64_t weights_bytes; /* shared by all sessions of a module */
  uint64_t code_bytes;    /* likewise */
  uint64_t arena_bytes;   /* one per session */
  uint64_t arena_lower_bound_bytes;
  uint64_t outputs_bytes; /* only if the session provides the outputs */
  uint64_t staging_bytes; /* only if tensors are unaligned or remote */
  uint64_t scratch_bytes_per_worker;
  uint64_t peak_bytes;  /* the sum, for one worker */
  uint64_t state_bytes; /* of states, in the caller's memory: beside the sum */
} ashlar_contract_t;
#define ASHLAR_CONTRACT_INIT                                                   \
  {sizeof(ashlar_contract_t), 0, 0, 0, 0, 0, 0, 0, 0, 0}
/* The contract of the entry, known before anything has run. Any thread. */
ASHLAR_API ashlar_status_t ashlar_entry_contract(const ashlar_entry_t *entry,
                                                 ashlar_contract_t *out_cost);
/* The same for the sizes of these inputs, before any are bound: what a session
 * that has run nothing else comes to. Of the tensors only type, rank and shape
 * are read; memory is not. A session grows its arena to what its largest call
 * needed, and takes all of it at once on devices whose memory cannot grow.
 * INVALID_ARGUMENT for shapes that a run would refuse, with the ranges there
 * are. Any thread. */
ASHLAR_API ashlar_status_t ashlar_entry_contract_at(
    const ashlar_entry_t *entry, const ashlar_tensor_t *inputs,
    size_t input_count, ashlar_contract_t *out_cost);

/*===-- Sessions ---------------------------------------------------------===*/

/* Memory of arenas in which sessions take turns, of any modules of the runtime:
 * as much as the largest of them needs, charged to `budget` (NULL: the
 * runtime's) under `name`, in place of an arena for each. Scratch, outputs and
 * staging stay the session's own. It takes nothing before a session joins,
 * through its options, and when one leaves it gives back what only that needed.
 * Memory that cannot grow in place, a device's own and an ashlar_allocator_t's,
 * stays as it is until the last one has left. */
ASHLAR_API ashlar_status_t ashlar_arena_create(ashlar_runtime_t *runtime,
                                               ashlar_budget_t *budget,
                                               const char *name,
                                               ashlar_arena_t **out_arena);
/* Sessions keep it. */
ASHLAR_API void ashlar_arena_release(ashlar_arena_t *arena);

/* What a run does while another session's goes on in the same arena. */
typedef enum ashlar_arena_busy_t {
  ASHLAR_ARENA_WAIT = 0, /* for its turn: the highest priority first */
  ASHLAR_ARENA_REFUSE =
      1 /* CANCELLED, the place is the arena's name; nothing has run */
} ashlar_arena_busy_t;

typedef struct ashlar_session_options_t {
  size_t size;
  const char *name; /* shown in budgets and traces; NULL: the module's */
  uint32_t threads; /* 0: the runtime's default */
  uint32_t poison;  /* 1: fill the arena with 0xA5 before every run, to show
                       results that depend on an earlier one */
  /* 1: allocate all of the contract's outputs and staging now, so that no
   * later run can be refused for its budget. */
  uint32_t reserve_all;
  uint32_t reserved;
  /* Where sizes are the caller's, memory grows in steps of so many bytes, at
   * most 1 TiB; 0: by what is needed. */
  uint64_t growth_bytes;
  /* A run that leaves the session with more than so many bytes gives back all
   * but outputs, as ashlar_session_trim does; 0: never. */
  uint64_t high_water_bytes;
  /* Where a tenant's runs wait for workers, those of higher priority go first;
   * between tenants shares decide. */
  int32_t priority;
  uint32_t arena_busy; /* ashlar_arena_busy_t */
  /* NULL: an arena of its own. Else the session joins this one, and its runs
   * take turns with those of all others that did. Its creation waits for a run
   * that goes on where the arena must become larger than it ever was; memory
   * that cannot grow in place is then there twice for a moment, and charged
   * so: create the largest session first. */
  ashlar_arena_t *arena;
  /* A queue of a device's driver that the caller has; NULL: the session makes
   * one. The first of the program's devices that has such queues takes it
   * (cuda:N: a CUstream of the device's primary context), and all of a run
   * there comes behind what it was given before; the call returns when the run
   * is finished, as ever. It lives longer than the session, is not being
   * captured, and is not used by others while a run goes on. INVALID_ARGUMENT
   * where no device of the program has such queues. */
  void *stream;
} ashlar_session_options_t;
#define ASHLAR_SESSION_OPTIONS_INIT                                            \
  {sizeof(ashlar_session_options_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* What loading a file and so many sessions would take, as the budgets would
 * count it; how many bytes of it each device's memory holds is left out. */
typedef struct ashlar_module_cost_t {
  size_t size;
  uint64_t weights_bytes;
  uint64_t code_bytes;
  /* Of one session: what it is charged when it is created, and what it may come
   * to with all outputs and staging at their largest; of options with an arena,
   * without arenas. */
  uint64_t session_bytes;
  uint64_t session_peak_bytes;
  /* What weights_bytes and code_bytes leave out, since modules that share have
   * it in memory already. */
  uint64_t shared_bytes;
} ashlar_module_cost_t;
#define ASHLAR_MODULE_COST_INIT {sizeof(ashlar_module_cost_t), 0, 0, 0, 0, 0}

/* Whether the module and `sessions` sessions of it fit now: the answer that
 * loading and creating them all would give, in one piece, from the file's index
 * alone; with share_content also from bytes that may be there already. Sessions
 * count with their peak where session_options->reserve_all is set, else with
 * what they are created with; session_budget NULL: the runtime's; an arena of
 * the options with what it would have to grow by.
 * Nothing is kept: reserve the bytes to be sure of them. out_cost is
 * filled in for OUT_OF_BUDGET, too. Errors are those of loading. */
ASHLAR_API ashlar_status_t ashlar_module_check_file(
    ashlar_runtime_t *runtime, const char *path,
    const ashlar_load_options_t *options, ashlar_budget_t *session_budget,
    const ashlar_session_options_t *session_options, uint32_t sessions,
    ashlar_module_cost_t *out_cost);

/* Allocates the arena and starts the threads. budget NULL: no limit. options
 * may be NULL. OUT_OF_BUDGET says how much is missing and who holds the rest.
 * INVALID_ARGUMENT for an arena of another runtime.
 */
ASHLAR_API ashlar_status_t ashlar_session_create(
    ashlar_module_t *module, ashlar_budget_t *budget,
    const ashlar_session_options_t *options, ashlar_session_t **out_session);
/* Waits for a run in flight. */
ASHLAR_API void ashlar_session_release(ashlar_session_t *session);

/* ashlar_session_warm_up, in ashlar/runtime/warm_up.h, runs an entry once with
 * zeros, so that the next run is as quick as later ones. */

/* Gives back the arena's, scratch's, outputs' and staging's memory, and what
 * was charged for it, until the next run, which asks for it again and may be
 * refused. Outputs that the session provided are no longer valid. Addresses
 * stay, so prepared bindings remain usable. Does nothing on devices with a
 * memory of their own and where an ashlar_allocator_t serves. Waits for a run
 * in flight. *out_bytes, which may be NULL: how much it was. */
ASHLAR_API ashlar_status_t ashlar_session_trim(ashlar_session_t *session,
                                               uint64_t *out_bytes);

/* Runs the entry and returns when the outputs are there. INVALID_ARGUMENT for
 * tensors that do not fit the entry (nothing has run then), OUT_OF_BUDGET for
 * outputs or copies that do not fit, DEVICE_LOST, INTERNAL for a kernel that
 * failed: the message names it and the model's nodes. */
ASHLAR_API ashlar_status_t ashlar_session_run(
    ashlar_session_t *session, const char *entry, const ashlar_tensor_t *inputs,
    size_t input_count, ashlar_tensor_t *outputs, size_t output_count);
/* The same with an entry looked up before. */
ASHLAR_API ashlar_status_t
ashlar_session_run_entry(ashlar_session_t *session, const ashlar_entry_t *entry,
                         const ashlar_tensor_t *inputs, size_t input_count,
                         ashlar_tensor_t *outputs, size_t output_count);
/* Checks the arguments, starts the run and returns; `outputs` is filled in
 * already, the memory behind it once the event has come. Tensors' memory must
 * stay until then. Runs of one session do not overlap: a call made during
 * another waits for it first. */
ASHLAR_API ashlar_status_t ashlar_session_run_async(
    ashlar_session_t *session, const ashlar_entry_t *entry,
    const ashlar_tensor_t *inputs, size_t input_count, ashlar_tensor_t *outputs,
    size_t output_count, ashlar_event_t **out_event);

/* The same within a time, waiting for an earlier run and for workers included:
 * a run that is late is ended before its next piece of work, with CANCELLED;
 * its outputs are undefined. A piece is a sixteenth of a kernel that one worker
 * computes, and a quarter of a worker's part of one that several share; on
 * other devices and in an executor's share a kernel or stream. timeout_ns 0: no
 * limit. */
ASHLAR_API ashlar_status_t ashlar_session_run_within(
    ashlar_session_t *session, const ashlar_entry_t *entry,
    const ashlar_tensor_t *inputs, size_t input_count, ashlar_tensor_t *outputs,
    size_t output_count, uint64_t timeout_ns);
/* As ashlar_session_run_async, and within a time. */
ASHLAR_API ashlar_status_t ashlar_session_run_async_within(
    ashlar_session_t *session, const ashlar_entry_t *entry,
    const ashlar_tensor_t *inputs, size_t input_count, ashlar_tensor_t *outputs,
    size_t output_count, uint64_t timeout_ns, ashlar_event_t **out_event);
/* Asks whatever the session runs to end early, before its next piece of work,
 * which without a deadline is a kernel where one worker computes it; that run
 * gives CANCELLED. Any thread, while the session lives. Nothing where it runs
 * nothing.
 */
ASHLAR_API ashlar_status_t ashlar_session_cancel(ashlar_session_t *session);

/* Whose request the session's next runs serve, those with bindings too:
 * OpenTelemetry's span context as a W3C traceparent, 55 characters,
 * "00-<32 digits>-<16 digits>-<2 digits>", which is copied; NULL: nobody's, as
 * at first. A trace shows it with each run and its wait, as `traceparent`; it
 * changes nothing else. Waits for a run in flight. INVALID_ARGUMENT for what is
 * no traceparent; the one before stays. */
ASHLAR_API ashlar_status_t ashlar_session_set_trace_context(
    ashlar_session_t *session, const char *traceparent);

typedef struct ashlar_session_statistics_t {
  size_t size;
  uint64_t runs;           /* ended well */
  uint64_t failures;       /* ended with an error, or early */
  uint64_t staged_tensors; /* copied: unaligned or elsewhere, over all runs */
  uint64_t staged_bytes;
  uint64_t arena_bytes;
  uint64_t scratch_bytes; /* of all workers */
  uint64_t last_run_ns;
  uint32_t threads;
  uint32_t reserved;
} ashlar_session_statistics_t;
#define ASHLAR_SESSION_STATISTICS_INIT                                         \
  {sizeof(ashlar_session_statistics_t), 0, 0, 0, 0, 0, 0, 0, 0, 0}
/* The shape of output `index` as the session's last run of the entry left it
 * (runs with bindings do not count); `out_shape` has room for the output's
 * rank. ashlar_session_run sets the shapes itself: this is for sizes that
 * depend on data, after a run that was started with _async. Waits for the run
 * in flight. Before a run the sizes are the largest there can be. */
ASHLAR_API ashlar_status_t ashlar_session_output_shape(
    ashlar_session_t *session, const ashlar_entry_t *entry, size_t index,
    int64_t *out_shape);

/* What the session has run and copied so far, and the memory that it holds. */
ASHLAR_API ashlar_status_t
ashlar_session_query(const ashlar_session_t *session,
                     ashlar_session_statistics_t *out_statistics);

/*===-- Bindings: arguments checked once ---------------------------------===*/

/* Checks the tensors as a run does and keeps their addresses: the memory must
 * stay until the bindings are released, its contents may change between runs.
 * `outputs` is filled in. Waits for a run in flight; so does _release, whose
 * event stays valid. Bindings keep their session. */
ASHLAR_API ashlar_status_t ashlar_bindings_create(
    ashlar_session_t *session, const ashlar_entry_t *entry,
    const ashlar_tensor_t *inputs, size_t input_count, ashlar_tensor_t *outputs,
    size_t output_count, ashlar_bindings_t **out_bindings);
/* The same of the bindings' last run. */
ASHLAR_API ashlar_status_t ashlar_bindings_output_shape(
    ashlar_bindings_t *bindings, size_t index, int64_t *out_shape);
/* Waits for a run in flight first. */
ASHLAR_API void ashlar_bindings_release(ashlar_bindings_t *bindings);
/* As ashlar_session_run_entry, on the tensors that were bound. */
ASHLAR_API ashlar_status_t ashlar_bindings_run(ashlar_bindings_t *bindings);
/* As ashlar_session_run_async. */
ASHLAR_API ashlar_status_t ashlar_bindings_run_async(
    ashlar_bindings_t *bindings, ashlar_event_t **out_event);
/* As ashlar_session_run_within. */
ASHLAR_API ashlar_status_t
ashlar_bindings_run_within(ashlar_bindings_t *bindings, uint64_t timeout_ns);
/* As ashlar_session_run_async_within. */
ASHLAR_API ashlar_status_t ashlar_bindings_run_async_within(
    ashlar_bindings_t *bindings, uint64_t timeout_ns,
    ashlar_event_t **out_event);

/*===-- Events -----------------------------------------------------------===*/

#define ASHLAR_FOREVER UINT64_MAX

/* Returns the run's own status once it has ended; *out_done says whether it
 * had within timeout_ns (0: only asks). While it has not, the status is OK. */
ASHLAR_API ashlar_status_t ashlar_event_wait(ashlar_event_t *event,
                                             uint64_t timeout_ns,
                                             int32_t *out_done);
/* Asks the run to end early; its status is then CANCELLED, unless it had ended
 * before. Outputs are undefined. */
ASHLAR_API ashlar_status_t ashlar_event_cancel(ashlar_event_t *event);
/* May be called before the run has ended; the run goes on. */
ASHLAR_API void ashlar_event_release(ashlar_event_t *event);

/*===-- Layouts: no version of this soname moves a field; structs that begin
 *      with their size grow at their end --------------------------------===*/

#ifdef __cplusplus
#define ASHLAR_LAYOUT_ASSERT(condition) static_assert(condition, #condition)
#else
#define ASHLAR_LAYOUT_ASSERT(condition) _Static_assert(condition, #condition)
#endif
#if UINTPTR_MAX == UINT64_MAX
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_status_t) == 24);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_tensor_t) == 160);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_tensor_t, shape) == 32);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_holder_t) == 80);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_executor_t) == 24);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_allocator_t) == 24);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_logger_t) == 24);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_module_cost_t) == 48);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_histogram_t) == 208);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_stats_t) == 480);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_own_memory_t) == 32);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_tensor_info_t) == 304);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_clock_t) == 16);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_runtime_options_t) == 88);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_virtual_device_options_t) == 24);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_memory_info_t) == 32);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_budget_statistics_t) == 104);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_load_options_t) == 64);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_module_info_t) == 104);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_contract_t) == 80);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_session_options_t) == 72);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_session_statistics_t) == 72);
#endif
#undef ASHLAR_LAYOUT_ASSERT

#ifdef __cplusplus
}
#endif
#endif /* ASHLAR_RUNTIME_API_H */
