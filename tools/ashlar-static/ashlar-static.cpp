// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's tools as one program with LLVM inside, which is what the
// Python wheel holds: it is the tool that it is called as.
#include <cstdio>
#include <cstring>

// The tools' own main, each compiled under another name.
int ashlarCheckMain(int argc, char **argv);
int ashlarCompileMain(int argc, char **argv);
int ashlarOptMain(int argc, char **argv);
int ashlarPlanMain(int argc, char **argv);

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(int, char **);
  } tools[] = {{"ashlar-check", ashlarCheckMain},
               {"ashlar-compile", ashlarCompileMain},
               {"ashlar-opt", ashlarOptMain},
               {"ashlar-plan", ashlarPlanMain}};
  const char *name = argc > 0 ? argv[0] : "";
  if (const char *slash = std::strrchr(name, '/'))
    name = slash + 1;
  for (const auto &tool : tools)
    if (std::strcmp(name, tool.name) == 0)
      return tool.run(argc, argv);
  std::fprintf(stderr,
               "ashlar-static: expected to be called as ashlar-check, "
               "ashlar-compile, ashlar-opt or ashlar-plan, found '%s'\n",
               name);
  return 2;
}
