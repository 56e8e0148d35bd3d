// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a sample module to a file, for tests of the tools:
// write-sample KIND FILE.

#include "SampleModules.h"

#include <cstdio>
#include <string>

using namespace ashlar::test;

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  std::string kind = argv[1];
  ModuleBuilder builder = kind == "symbolic"   ? symbolicModule()
                          : kind == "checking" ? checkingModule()
                          : kind == "systolic" ? systolicModule()
                          : kind == "growing"  ? growingModule()
                          : kind == "control"  ? controlModule()
                          : kind == "shared"   ? sharedModule()
                          : kind == "ordered"  ? orderedModule()
                          : kind == "mapped"   ? mappedModule()
                          : kind == "random"   ? randomModule()
                                               : sampleModule();
  writeFile(argv[2], builder.build());
  return 0;
}
