// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory by file descriptor is a memfd, sealed so that nobody who has it can
// make it smaller: a page that is gone would end whoever touches it.

#include "CpuExternal.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace ashlar::runtime {

static Status noMemory(uint64_t size) {
  return failure(
      ASHLAR_OUT_OF_BUDGET,
      concat("the system has no ", size,
             " bytes of memory for a file descriptor: ", std::strerror(errno),
             "; take less, or close descriptors"));
}

static Status refuse(int descriptor, const char *why) {
  return invalidArgument(
      concat("descriptor ", descriptor, " ", why,
             "; give one that ashlar_memory_export made, or a memfd with the "
             "seal F_SEAL_SHRINK"),
      "descriptor");
}

static Status granularity(void *, uint64_t *outBytes) {
  *outBytes = uint64_t(sysconf(_SC_PAGESIZE));
  return {};
}

/// Pages larger than the system's are mapped and given back as a whole.
static bool hasLargePages(int descriptor) {
  constexpr decltype(statfs::f_type) hugetlbfs = 0x958458f6;
  struct statfs known;
  return fstatfs(descriptor, &known) == 0 && known.f_type == hugetlbfs;
}

/// The file's pages reach as far as `size`, and will: its size is read behind
/// the seal that keeps it.
static Status checkImport(int descriptor, uint64_t size) {
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0)
    return refuse(descriptor, errno == EBADF ? "is not open in this process"
                                             : "is no memory");
  if (!(seals & F_SEAL_SHRINK))
    return refuse(descriptor, "is not sealed: others could take it away");
  if (hasLargePages(descriptor))
    return refuse(descriptor, "has pages of another size than the system's");
  struct stat known;
  if (fstat(descriptor, &known) != 0)
    return refuse(descriptor, "has no size");
  const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE)),
                 bytes = uint64_t(known.st_size);
  if (size > (bytes + page - 1) / page * page)
    return invalidArgument(concat("descriptor ", descriptor, " has ", bytes,
                                  " bytes; import as many as were created"),
                           "bytes");
  return {};
}

static int makeFile(uint64_t size) {
  const int made = memfd_create("ashlar", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0)
    return -1;
  if (off_t(size) >= 0 && ftruncate(made, off_t(size)) == 0 &&
      fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
    return made;
  const int why = off_t(size) < 0 ? EFBIG : errno;
  close(made);
  errno = why;
  return -1;
}

static Status open(void *, int descriptor, uint64_t size, ExternalMemory *out) {
  if (descriptor >= 0)
    ASHLAR_RETURN_IF_ERROR(checkImport(descriptor, size));
  const int file =
      descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : makeFile(size);
  if (file < 0)
    return noMemory(size);
  void *address =
      mmap(nullptr, size_t(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (address != MAP_FAILED) {
    *out = {{address, 0}, size, uint64_t(file)};
    return {};
  }
  // Sealed against writing, or opened to read alone.
  const bool isReadOnly = errno == EPERM || errno == EACCES;
  const Status status =
      isReadOnly ? refuse(descriptor, "is not to be written") : noMemory(size);
  close(file);
  return status;
}

static Status share(void *, const ExternalMemory &memory, int *outDescriptor) {
  *outDescriptor = fcntl(int(memory.handle), F_DUPFD_CLOEXEC, 0);
  return *outDescriptor < 0 ? noMemory(memory.size) : Status();
}

static void release(void *, const ExternalMemory &memory) {
  munmap(memory.address.base, size_t(memory.size));
  close(int(memory.handle));
}

const ExternalOps cpuExternalOps = {granularity, open, share, release};

} // namespace ashlar::runtime
