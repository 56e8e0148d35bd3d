// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processor itself.

#include "CpuDevice.h"

#include "CodeImage.h"
#include "CpuExternal.h"
#include "CpuFeatures.h"
#include "CpuQueue.h"
#include "ElfVerifier.h"
#include "PerfMap.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace ashlar::runtime {

static uint32_t cpuCount() { return 1; }

static Status cpuOpen(uint32_t, void **outDevice) {
  static char state;
  *outDevice = &state;
  return {};
}

static void cpuClose(void *) {}

static String cpuFeatures(void *) {
  // The permission for tiles is asked for once per process.
  static const String features = [] {
    OwnMemory::Scope ofAll(nullptr); // whichever runtime asks first
    return detectCpuFeatures();
  }();
  return features;
}

static bool cpuAccepts(void *, std::string_view format) {
  return format == hostElfFormat();
}

// The system tells when pages are touched.
static Status cpuCheckMemory(void *, uint64_t size) {
  uint64_t all =
      uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  if (size <= all)
    return {};
  return failure(ASHLAR_OUT_OF_BUDGET, concat("the machine has ", all,
                                              " bytes of memory, not ", size));
}

// Pages come zeroed and only when touched, and go back to the system at once.
static Status cpuAllocate(void *, uint64_t size, ashlar_memory_kind_t,
                          DeviceAddress *outAddress) {
  void *address = mmap(nullptr, size ? size : 1, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    return failure(ASHLAR_OUT_OF_BUDGET,
                   concat("the system has no ", size, " bytes of memory"));
  // A hint: large pages save translation misses on large arenas.
  if (size >= (4u << 20))
    madvise(address, size, MADV_HUGEPAGE);
  *outAddress = {address, 0};
  return {};
}

static void cpuFree(void *, DeviceAddress address, uint64_t size) {
  munmap(address.base, size ? size : 1);
}

static Status cpuLoadExecutable(void *, const void *image, uint64_t size,
                                void **outExecutable) {
  std::unique_ptr<CodeImage> code;
  ASHLAR_RETURN_IF_ERROR(CodeImage::load(image, size, code));
  *outExecutable = code.release();
  return {};
}

static void cpuUnloadExecutable(void *, void *executable) {
  delete static_cast<CodeImage *>(executable);
}

static Status cpuFindKernel(void *executable, const KernelForm &form,
                            const void **outKernel) {
  ASHLAR_RETURN_IF_ERROR(requirePlain(form, "cpu"));
  const char *symbol = form.symbol;
  *outKernel = static_cast<CodeImage *>(executable)->find(symbol);
  if (!*outKernel)
    return corrupt(concat("the code lacks the function ", symbol), symbol);
  recordForPerf(*outKernel, symbol);
  return {};
}

static Status cpuCreateQueue(void *, const QueueOptions &options,
                             void **outQueue) {
  auto queue = std::make_unique<CpuQueue>(options);
  ASHLAR_RETURN_IF_ERROR(queue->start());
  *outQueue = queue.release();
  return {};
}

static void cpuDestroyQueue(void *queue) {
  delete static_cast<CpuQueue *>(queue);
}

static Status cpuSubmit(void *queue, const Submission &submission) {
  static_cast<CpuQueue *>(queue)->submit(submission);
  return {};
}

static Status cpuFollow(void *queue, Sequencer &sequencer) {
  static_cast<CpuQueue *>(queue)->follow(sequencer);
  return {};
}

// The caller's thread is worker 0: waking another one would take longer than
// many a call does.
const DeviceOps cpuDeviceOps = {
    "cpu",
    /*programs=*/"cpu",
    MemoryKind::Host,
    /*runsNativeCode=*/true,
    /*isOffered=*/true,
    /*returnsEarly=*/false,
    cpuCount,
    cpuOpen,
    cpuClose,
    cpuFeatures,
    cpuAccepts,
    cpuCheckMemory,
    cpuAllocate,
    cpuFree,
    cpuLoadExecutable,
    cpuUnloadExecutable,
    cpuFindKernel,
    cpuCreateQueue,
    cpuDestroyQueue,
    finished::copy,
    cpuSubmit,
    finished::readBack,
    cpuFollow,
    finished::createEvent,
    finished::destroyEvent,
    finished::record,
    finished::waitFor,
    finished::wait,
    /*encode=*/nullptr,
    /*capture=*/nullptr,
    /*launch=*/nullptr,
    /*destroyGraph=*/nullptr,
    /*useCache=*/nullptr,
    /*needs=*/nullptr,
    /*rank=*/nullptr,
    /*takesStreams=*/false,
    &cpuExternalOps,
};

} // namespace ashlar::runtime
