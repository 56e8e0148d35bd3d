// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules, functions and launches: what can be wrong is wrong at once, then the
// kernel is run by whoever does that (HipCode.h).

#include "CudaExport.h"
#include "HipCode.h"
#include "HipEmulator.h"
#include "HipLimits.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

/// What stands in for a code object; empty: nothing does.
static std::string standIn() {
  if (const char *given = ashlar_cuda_double.sourceOfCode)
    return given;
  const char *path = std::getenv("ASHLAR_HIP_DOUBLE_PTX");
  std::ifstream file(path ? path : ASHLAR_STAND_IN);
  return {std::istreambuf_iterator<char>(file), {}};
}

static RunCode runner() {
  if (void *given = ashlar_cuda_double.runCode.load())
    return reinterpret_cast<RunCode>(given);
  return emulator();
}

/// EF_AMDGPU_MACH of the device's version.
static uint32_t chipOfDevice() {
  switch (state().major * 10 + state().minor) {
  case 90:
    return 0x3f; // gfx90a
  case 110:
    return 0x41; // gfx1100
  case 120:
    return 0x4e; // gfx1201
  default:
    return 0x4c; // gfx942
  }
}

ASHLAR_CUDA_EXPORT hipModuleLoadData(CUmodule *module, const void *image) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(module)
  ASHLAR_CUDA_NOT_NULL(image)
  std::string why;
  std::shared_ptr<CodeObject> object = readCode(image, why);
  if (!object)
    return call.misuse(INVALID_IMAGE, why);
  if (object->chip != chipOfDevice())
    return NO_BINARY_FOR_GPU;
  auto made = std::make_shared<LoadedModule>();
  made->context = call.context;
  made->object = object;
  if (!runner()) {
    const std::string text = standIn();
    if (text.empty())
      return NO_BINARY_FOR_GPU;
    made->program = std::make_unique<ashlar::ptx::Program>(
        ashlar::ptx::parse(text.c_str()), call.context->memory);
  }
  ++ashlar_cuda_double.codeLoads;
  uint64_t handle = state().newHandle();
  state().modules[handle] = made;
  count(CudaDouble::Modules, 1);
  *module = reinterpret_cast<CUmodule>(handle);
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT hipModuleGetFunction(CUfunction *function, CUmodule handle,
                                        const char *name) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(function)
  ASHLAR_CUDA_NOT_NULL(name)
  auto module = call.find(state().modules, handle, "module");
  if (!module)
    return call.refusal;
  auto found = module->object->kernels.find(name);
  if (found == module->object->kernels.end())
    return NOT_FOUND;
  CUfunction &known = module->functions[name];
  if (!known) {
    auto made = std::make_shared<Kernel>();
    made->context = call.context;
    made->module = module;
    made->form = &found->second;
    if (module->program)
      made->code = module->program->kernel(name);
    uint64_t key = state().newHandle();
    state().kernels[key] = made;
    known = reinterpret_cast<CUfunction>(key);
  }
  *function = known;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT hipFuncGetAttribute(int *value, int attribute,
                                       CUfunction handle) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(value)
  auto kernel = call.find(state().kernels, handle, "function");
  if (!kernel)
    return call.refusal;
  const CodeKernel &form = *kernel->form;
  switch (attribute) {
  case MaxThreadsPerBlock:
    *value = int(form.mostThreads);
    return SUCCESS;
  case SharedSizeBytes:
    *value = int(form.sharedBytes);
    return SUCCESS;
  case LocalSizeBytes:
    *value = int(form.privateBytes);
    return SUCCESS;
  case NumRegs:
    *value = int(form.registers);
    return SUCCESS;
  }
  return call.misuse(INVALID_VALUE, "the double does not know attribute " +
                                        std::to_string(attribute));
}

namespace {

/// Those that a kernel reads of how it was launched; others are zeros.
uint64_t hiddenValue(const std::string &kind, const CodeLaunch &launch) {
  constexpr std::string_view groups = "hidden_block_count_",
                             threads = "hidden_group_size_";
  const unsigned axis = unsigned(kind.back() - 'x') % 3;
  if (kind.compare(0, groups.size(), groups) == 0)
    return launch.grid[axis];
  if (kind.compare(0, threads.size(), threads) == 0)
    return launch.block[axis];
  if (kind == "hidden_grid_dims")
    return launch.grid[2] > 1 ? 3 : launch.grid[1] > 1 ? 2 : 1;
  if (kind == "hidden_dynamic_lds_size")
    return launch.dynamicShared;
  return 0;
}

/// The kernel's arguments from pointers to each.
CUresult collect(Call &call, void **parameters, CodeLaunch &launch) {
  launch.arguments.assign(launch.kernel->argumentBytes, 0);
  size_t next = 0;
  for (const CodeKernel::Argument &each : launch.kernel->arguments) {
    uint8_t *to = launch.arguments.data() + each.offset;
    if (each.kind.compare(0, 7, "hidden_") == 0) {
      const uint64_t value = hiddenValue(each.kind, launch);
      std::memcpy(to, &value, std::min<uint64_t>(each.size, sizeof(value)));
      continue;
    }
    if (!parameters || !parameters[next])
      return call.misuse(INVALID_VALUE, "the pointer to parameter " +
                                            std::to_string(next) + " is null");
    std::memcpy(to, parameters[next++], each.size);
  }
  return SUCCESS;
}

/// What the stand-in is given: the same, as its own parameters lie.
ashlar::ptx::Launch standInLaunch(const Kernel &kernel,
                                  const CodeLaunch &launch) {
  ashlar::ptx::Launch made;
  std::copy_n(launch.grid, 3, made.grid);
  std::copy_n(launch.block, 3, made.block);
  made.dynamicShared = launch.dynamicShared;
  const ashlar::ptx::Function &function = *kernel.code->function;
  made.parameters.assign(function.parameterBytes, 0);
  size_t next = 0;
  for (const CodeKernel::Argument &each : launch.kernel->arguments)
    if (each.kind.compare(0, 7, "hidden_") != 0 &&
        next < function.parameters.size()) {
      const ashlar::ptx::Variable &to = *function.parameters[next++];
      std::memcpy(made.parameters.data() + to.offset,
                  launch.arguments.data() + each.offset,
                  std::min<uint64_t>(to.size, each.size));
    }
  return made;
}

} // namespace

ASHLAR_CUDA_EXPORT hipModuleLaunchKernel(CUfunction handle, unsigned gridX,
                                         unsigned gridY, unsigned gridZ,
                                         unsigned blockX, unsigned blockY,
                                         unsigned blockZ, unsigned shared,
                                         CUstream on, void **parameters,
                                         void **extra) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  auto kernel = call.find(state().kernels, handle, "function");
  if (!kernel)
    return call.refusal;
  auto stream = call.stream(on);
  if (!stream)
    return call.refusal;
  const CodeKernel &form = *kernel->form;
  const std::string name = "'" + form.name + "': ";
  const uint64_t threads = uint64_t(blockX) * blockY * blockZ;
  if (extra)
    return call.misuse(INVALID_VALUE, name + "the double takes no extra");
  if (!gridX || !gridY || !gridZ || !threads)
    return call.misuse(INVALID_VALUE, name + "a grid or a block of nothing");
  if (uint64_t(gridX) * blockX > hip::mostOfGrid ||
      uint64_t(gridY) * blockY > hip::mostOfGrid ||
      uint64_t(gridZ) * blockZ > hip::mostOfGrid)
    return call.misuse(INVALID_VALUE, name + "more threads than a launch has");
  if (threads > form.mostThreads)
    return call.misuse(INVALID_VALUE, name + "more threads than its "
                                             ".max_flat_workgroup_size");
  if (form.sharedBytes + shared > hip::sharedBytes)
    return call.misuse(INVALID_VALUE, name + "more LDS than there is");
  CodeLaunch launch = {
      kernel->module->object.get(), &form,  {gridX, gridY, gridZ},
      {blockX, blockY, blockZ},     shared, {},
      &call.context->memory};
  if (CUresult code = collect(call, parameters, launch))
    return code;
  Task task;
  task.what = "a launch";
  task.isLaunch = true;
  task.uses = usedBy(*call.context, launch.arguments);
  task.keeps = kernel->module;
  if (RunCode run = runner()) {
    task.run = [run, launch = std::move(launch)] { run(launch); };
  } else if (!kernel->code) {
    return call.misuse(INVALID_VALUE, name + "the stand-in has no such kernel");
  } else {
    const ashlar::ptx::Program *program = kernel->module->program.get();
    task.run = [program, entry = form.name,
                made = standInLaunch(*kernel, launch)] {
      ashlar_cuda_double.instructions +=
          ashlar::ptx::run(*program, entry, made).instructions;
    };
  }
  submit(stream, std::move(task));
  return SUCCESS;
}
