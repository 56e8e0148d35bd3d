// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches: what can be wrong is wrong at once, then the interpreter has it.

#include "CudaExport.h"
#include "CudaLimits.h"

#include <algorithm>
#include <cstring>

using namespace ashlar::cuda;

namespace {

struct Shape {
  unsigned grid[3], block[3], shared;
  CUstream stream;
  unsigned cluster[3] = {0, 0, 0}; // 0: none is given
};

/// By the entry's parameters, from pointers to each or from one buffer.
CUresult collect(Call &call, const ashlar::ptx::Function &function,
                 void **parameters, void **extra, std::vector<uint8_t> &bytes) {
  bytes.assign(function.parameterBytes, 0);
  if (parameters && extra)
    return call.misuse(INVALID_VALUE, "both kernelParams and extra are given");
  if (extra) {
    const void *buffer = nullptr;
    size_t size = 0;
    for (void **at = extra; *at; at += 2)
      switch (reinterpret_cast<uint64_t>(*at)) {
      case 1: // CU_LAUNCH_PARAM_BUFFER_POINTER
        buffer = at[1];
        break;
      case 2: // CU_LAUNCH_PARAM_BUFFER_SIZE
        size = *static_cast<size_t *>(at[1]);
        break;
      default:
        return call.misuse(INVALID_VALUE, "extra names what there is not");
      }
    if (size != bytes.size())
      return call.misuse(INVALID_VALUE, "a buffer of " + std::to_string(size) +
                                            " bytes for the parameters' " +
                                            std::to_string(bytes.size()));
    if (size)
      std::memcpy(bytes.data(), buffer, size);
    return SUCCESS;
  }
  if (!parameters && !function.parameters.empty())
    return call.misuse(INVALID_VALUE,
                       "no parameters; '" + function.name + "' has " +
                           std::to_string(function.parameters.size()));
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const ashlar::ptx::Variable &each = *function.parameters[i];
    if (!parameters[i])
      return call.misuse(INVALID_VALUE, "the pointer to parameter " +
                                            std::to_string(i) + " is null");
    std::memcpy(bytes.data() + each.offset, parameters[i], each.size);
  }
  return SUCCESS;
}

/// The blocks that run together, as the launch or the kernel has them.
CUresult checkCluster(Call &call, const Kernel &kernel, const Shape &shape) {
  const ashlar::ptx::Function &function = *kernel.code->function;
  std::string name = "'" + function.name + "': ";
  const auto &required = function.reqnctapercluster;
  uint64_t blocks = 1;
  for (int k = 0; k < 3; ++k) {
    unsigned given = shape.cluster[0] ? shape.cluster[k] : required[k];
    if (shape.cluster[0] && required[0] && given != required[k])
      return call.misuse(INVALID_VALUE,
                         name + "a cluster that is not its .reqnctapercluster");
    if (given && shape.grid[k] % given)
      return call.misuse(INVALID_VALUE,
                         name + "a grid that is not of whole clusters");
    blocks *= given ? given : 1;
  }
  if (function.isOfClusters && !shape.cluster[0] && !required[0])
    return call.misuse(INVALID_VALUE,
                       name + "no cluster; it has .explicitcluster");
  unsigned most = kernel.allowsLargeClusters ? 16 : 8;
  if (blocks > most ||
      (function.maxClusterRank && blocks > function.maxClusterRank))
    return call.misuse(INVALID_CLUSTER_SIZE, name + "a cluster of " +
                                                 std::to_string(blocks) +
                                                 " blocks");
  return SUCCESS;
}

CUresult launch(Call &call, CUfunction handle, const Shape &shape,
                void **parameters, void **extra) {
  auto kernel = call.find(state().kernels, handle, "function");
  if (!kernel)
    return call.refusal;
  auto stream = call.stream(shape.stream);
  if (!stream)
    return call.refusal;
  const ashlar::ptx::Function &function = *kernel->code->function;
  std::string name = "'" + function.name + "': ";
  static constexpr uint64_t mostGrid[] = {0x7fffffff, 65535, 65535};
  static constexpr uint64_t mostBlock[] = {1024, 1024, 64};
  uint64_t threads = 1;
  for (int k = 0; k < 3; ++k) {
    if (shape.grid[k] == 0 || shape.grid[k] > mostGrid[k] ||
        shape.block[k] == 0 || shape.block[k] > mostBlock[k])
      return call.misuse(INVALID_VALUE,
                         name +
                             "a grid or a block of a size that there is "
                             "not, in dimension " +
                             "xyz"[k]);
    threads *= shape.block[k];
  }
  if (threads > 1024)
    return call.misuse(INVALID_VALUE, name + "a block of " +
                                          std::to_string(threads) +
                                          " threads; 1024 at most");
  const auto &most = function.maxntid, &required = function.reqntid;
  if (most[0] && threads > uint64_t(most[0]) * most[1] * most[2])
    return call.misuse(INVALID_VALUE, name + "more threads than its .maxntid");
  for (int k = 0; k < 3; ++k)
    if (required[0] && required[k] != shape.block[k])
      return call.misuse(INVALID_VALUE,
                         name + "a block that is not its .reqntid");
  if (CUresult code = checkCluster(call, *kernel, shape))
    return code;
  Limits limits = limitsOf(state().major, state().minor);
  const auto &module = kernel->module->program->module();
  uint64_t fixed = module.sharedOf(function);
  uint64_t allowed = kernel->maxDynamicShared
                         ? fixed + uint64_t(kernel->maxDynamicShared)
                         : uint64_t(limits.sharedPerBlock);
  if (fixed > uint64_t(limits.sharedPerBlock) || fixed + shape.shared > allowed)
    return call.misuse(INVALID_VALUE,
                       name + std::to_string(fixed) + " static and " +
                           std::to_string(shape.shared) +
                           " dynamic bytes of shared memory; allowed are " +
                           std::to_string(allowed));
  ashlar::ptx::Launch made;
  std::copy_n(shape.grid, 3, made.grid);
  std::copy_n(shape.block, 3, made.block);
  std::copy_n(shape.cluster, 3, made.cluster);
  made.dynamicShared = shape.shared;
  if (CUresult code =
          collect(call, function, parameters, extra, made.parameters))
    return code;
  Task task;
  task.what = "a launch";
  task.isLaunch = true;
  task.uses = usedBy(*call.context, made.parameters);
  task.keeps = kernel->module;
  const ashlar::ptx::Program *program = kernel->module->program.get();
  task.run = [program, entry = function.name, made = std::move(made)] {
    ashlar::ptx::Executed done = ashlar::ptx::run(*program, entry, made);
    ashlar_cuda_double.instructions += done.instructions;
  };
  submit(stream, std::move(task));
  return SUCCESS;
}

} // namespace

ASHLAR_CUDA_EXPORT cuLaunchKernel(CUfunction function, unsigned gridX,
                                  unsigned gridY, unsigned gridZ,
                                  unsigned blockX, unsigned blockY,
                                  unsigned blockZ, unsigned shared,
                                  CUstream stream, void **parameters,
                                  void **extra) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return launch(
      call, function,
      {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared, stream, {}},
      parameters, extra);
}

ASHLAR_CUDA_EXPORT cuLaunchKernelEx(const CUlaunchConfig *config,
                                    CUfunction function, void **parameters,
                                    void **extra) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(config)
  Shape shape = {{config->gridDimX, config->gridDimY, config->gridDimZ},
                 {config->blockDimX, config->blockDimY, config->blockDimZ},
                 config->sharedMemBytes,
                 config->hStream,
                 {}};
  if (config->numAttrs && !config->attrs)
    return call.misuse(INVALID_VALUE, "attributes are null");
  for (unsigned k = 0; k < config->numAttrs; ++k) {
    const CUlaunchAttribute &each = config->attrs[k];
    switch (each.id) {
    case LaunchClusterDimension:
      if (state().major < 9)
        return NOT_SUPPORTED;
      shape.cluster[0] = each.value.clusterDim.x;
      shape.cluster[1] = each.value.clusterDim.y;
      shape.cluster[2] = each.value.clusterDim.z;
      if (!shape.cluster[0] || !shape.cluster[1] || !shape.cluster[2])
        return call.misuse(INVALID_VALUE, "a cluster of no blocks");
      break;
    case LaunchClusterSchedulingPolicy:
    case LaunchProgrammaticStreamSerialization:
      if (state().major < 9)
        return NOT_SUPPORTED;
      break;
    case LaunchIgnore:
    case LaunchPriority:
      break;
    default:
      return NOT_SUPPORTED;
    }
  }
  return launch(call, function, shape, parameters, extra);
}

ASHLAR_CUDA_EXPORT
cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                            int threads, size_t shared) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(blocks)
  auto kernel = call.find(state().kernels, function, "function");
  if (!kernel)
    return call.refusal;
  if (threads <= 0)
    return call.misuse(INVALID_VALUE, "no threads");
  Limits limits = limitsOf(state().major, state().minor);
  int warps = (threads + 31) / 32;
  int most = limits.threadsPerMultiprocessor / 32 / warps;
  uint64_t each =
      kernel->module->program->module().sharedOf(*kernel->code->function) +
      shared + uint64_t(limits.sharedReserved);
  if (each)
    most = std::min<int>(most,
                         int(uint64_t(limits.sharedPerMultiprocessor) / each));
  *blocks = std::min(most, limits.blocksPerMultiprocessor);
  return SUCCESS;
}
