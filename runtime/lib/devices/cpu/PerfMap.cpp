// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PerfMap.h"

#include "../../Status.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

namespace ashlar::runtime {

void recordForPerf(const void *function, const char *name) {
  const char *wanted = std::getenv("ASHLAR_PERF_MAP");
  if (!wanted || std::strcmp(wanted, "1") != 0)
    return;
  Dl_info library;
  const ElfW(Sym) *symbol = nullptr;
  if (!dladdr1(function, &library,
               reinterpret_cast<void **>(const_cast<ElfW(Sym) **>(&symbol)),
               RTLD_DL_SYMENT) ||
      !symbol)
    return;
  // The name is perf's. Not through a link that someone else put there.
  String path = concat("/tmp/perf-", getpid(), ".map");
  int file = open(path.c_str(),
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return;
  // One write per line, so that threads do not mix theirs.
  dprintf(file, "%lx %lx %s\n", reinterpret_cast<unsigned long>(function),
          static_cast<unsigned long>(symbol->st_size), name);
  close(file);
}

} // namespace ashlar::runtime
