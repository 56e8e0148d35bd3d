// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules and functions. Only PTX text is a module: of machine code the double
// looks at which chip and kernels it is for, and runs the PTX that it was made
// from.

#include "CudaExport.h"
#include "CudaLimits.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

namespace {

/// Where the caller wants to read what went wrong.
struct Logs {
  char *error = nullptr, *info = nullptr;
  size_t errorSize = 0, infoSize = 0;
  void **errorSizeOut = nullptr, **infoSizeOut = nullptr;

  static void write(const std::string &text, char *to, size_t size,
                    void **sizeOut) {
    if (!to || size == 0)
      return;
    size_t length = std::min(text.size(), size - 1);
    std::memcpy(to, text.data(), length);
    to[length] = 0;
    // The size option gives back how much there is.
    if (sizeOut)
      *sizeOut = reinterpret_cast<void *>(length);
  }
  void finish(const std::string &errors) {
    write(errors, error, errorSize, errorSizeOut);
    write("", info, infoSize, infoSizeOut);
  }
};

/// The PTX version that a driver knows, times ten: the manual's release notes.
int newestPtx(int driver) {
  int major = driver / 1000, minor = driver % 1000 / 10;
  if (major < 11)
    return 65;
  if (major == 11)
    return 70 + minor;
  if (major == 12)
    return minor <= 5 ? 80 + minor : minor == 6 ? 85 : 79 + minor;
  return 90 + minor;
}

/// Why a device does not take it; empty: it does.
std::string whyNot(const ashlar::ptx::Module &module, CUresult &code) {
  const State &all = state();
  int major = 0, minor = 0;
  std::sscanf(module.version.c_str(), "%d.%d", &major, &minor);
  int version = major * 10 + minor, newest = newestPtx(all.driver);
  if (version > newest) {
    code = UNSUPPORTED_PTX_VERSION;
    return "ptxas: Unsupported .version " + module.version +
           "; current version is '" + std::to_string(newest / 10) + "." +
           std::to_string(newest % 10) + "'";
  }
  code = INVALID_PTX;
  int chip = 0;
  char variant = 0;
  if (std::sscanf(module.target.c_str(), "sm_%d%c", &chip, &variant) < 1)
    return "ptxas: unknown .target '" + module.target + "'";
  int own = all.major * 10 + all.minor;
  if (chip > own || (variant == 'a' && chip != own) ||
      (variant == 'f' && chip / 10 != own / 10))
    return "ptxas: .target '" + module.target + "' on a device of sm_" +
           std::to_string(own);
  // More than this is dynamic, and asked for by cuFuncSetAttribute.
  uint64_t most = uint64_t(limitsOf(all.major, all.minor).sharedPerBlock);
  for (auto &[name, function] : module.functions)
    if (function->isEntry && function->isDefined &&
        module.sharedOf(*function) > most)
      return "ptxas: Entry function '" + name +
             "' uses too much shared data (" +
             std::to_string(module.sharedOf(*function)) + " bytes, " +
             std::to_string(most) + " max)";
  return "";
}

/// What machine code is run as: see CudaDouble.h.
std::string sourceOfCode() {
  if (const char *given = ashlar_cuda_double.sourceOfCode)
    return given;
  const char *path = std::getenv("ASHLAR_CUDA_DOUBLE_PTX");
  std::ifstream file(path ? path : "");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Of an ELF file for CUDA, as LLVM's ELF.h names its flags: the chip, and
/// whether it is for that chip alone ("sm_90a").
bool runsHere(const char *image) {
  auto number = [&](size_t at, auto value) {
    std::memcpy(&value, image + at, sizeof(value));
    return value;
  };
  constexpr uint16_t cudaMachine = 190;
  if (number(0x12, uint16_t()) != cudaMachine)
    return false;
  const uint32_t flags = number(0x30, uint32_t());
  const bool isNew = number(8, uint8_t()) >= 8; // e_ident's ABI version
  const int chip = int(isNew ? flags >> 8 & 0xff : flags & 0xff);
  const bool isAlone = flags & (isNew ? 0x8 : 0x800);
  const int own = state().major * 10 + state().minor;
  return isAlone ? chip == own : chip / 10 == own / 10 && chip <= own;
}

/// The PTX in its place; empty: the driver does not take it.
std::string textOfCode(const char *image, std::string &why) {
  std::string source = sourceOfCode();
  if (source.empty())
    why = "the driver is too old for this machine code";
  else if (!runsHere(image))
    why = "the machine code is not for this device";
  return why.empty() ? source : "";
}

CUresult load(Call &call, CUmodule *module, const void *image, Logs logs) {
  if (!module || !image)
    return call.misuse(INVALID_VALUE, "module or image is null");
  const char *text = static_cast<const char *>(image);
  std::string source, why;
  if (std::memcmp(text,
                  "\x7f"
                  "ELF",
                  4) == 0) {
    source = textOfCode(text, why);
    if (source.empty()) {
      logs.finish(why);
      return NO_BINARY_FOR_GPU;
    }
    text = source.c_str();
    ++ashlar_cuda_double.codeLoads;
  }
  auto made = std::make_shared<LoadedModule>();
  made->context = call.context;
  try {
    ashlar::ptx::Module parsed = ashlar::ptx::parse(text);
    CUresult code = SUCCESS;
    if (std::string why = whyNot(parsed, code); !why.empty()) {
      logs.finish(why);
      return code;
    }
    made->program = std::make_unique<ashlar::ptx::Program>(
        std::move(parsed), call.context->memory);
  } catch (const ashlar::ptx::Error &error) {
    logs.finish(std::string("ptxas: ") + error.what());
    return INVALID_PTX;
  }
  logs.finish("");
  uint64_t handle = state().newHandle();
  state().modules[handle] = made;
  count(CudaDouble::Modules, 1);
  *module = reinterpret_cast<CUmodule>(handle);
  return SUCCESS;
}

} // namespace

ASHLAR_CUDA_EXPORT cuModuleLoadData(CUmodule *module, const void *image) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return load(call, module, image, {});
}

ASHLAR_CUDA_EXPORT cuModuleLoadDataEx(CUmodule *module, const void *image,
                                      unsigned count, int *options,
                                      void **values) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  if (count && (!options || !values))
    return call.misuse(INVALID_VALUE, "options or their values are null");
  Logs logs;
  for (unsigned i = 0; i < count; ++i)
    switch (options[i]) {
    case JitInfoLogBuffer:
      logs.info = static_cast<char *>(values[i]);
      break;
    case JitErrorLogBuffer:
      logs.error = static_cast<char *>(values[i]);
      break;
    case JitInfoLogBufferSize:
      logs.infoSize = unsigned(reinterpret_cast<uint64_t>(values[i]));
      logs.infoSizeOut = &values[i];
      break;
    case JitErrorLogBufferSize:
      logs.errorSize = unsigned(reinterpret_cast<uint64_t>(values[i]));
      logs.errorSizeOut = &values[i];
      break;
    case JitWallTime: {
      float none = 0;
      std::memcpy(&values[i], &none, sizeof(none));
      break;
    }
    default:
      if (options[i] < 0 || options[i] > JitCacheMode)
        return call.misuse(INVALID_VALUE, "the double does not know option " +
                                              std::to_string(options[i]));
    }
  return load(call, module, image, logs);
}

ASHLAR_CUDA_EXPORT cuModuleGetFunction(CUfunction *function, CUmodule handle,
                                       const char *name) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(function)
  ASHLAR_CUDA_NOT_NULL(name)
  auto module = call.find(state().modules, handle, "module");
  if (!module)
    return call.refusal;
  const ashlar::ptx::Code *code = module->program->kernel(name);
  if (!code)
    return NOT_FOUND;
  CUfunction &known = module->functions[name];
  if (!known) {
    auto made = std::make_shared<Kernel>();
    made->context = call.context;
    made->module = module;
    made->code = code;
    uint64_t key = state().newHandle();
    state().kernels[key] = made;
    known = reinterpret_cast<CUfunction>(key);
  }
  *function = known;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size,
                                        CUmodule handle, const char *name) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(name)
  auto module = call.find(state().modules, handle, "module");
  if (!module)
    return call.refusal;
  uint64_t bytes = 0, found = module->program->addressOf(name, &bytes);
  if (!found)
    return NOT_FOUND;
  if (address)
    *address = found;
  if (size)
    *size = bytes;
  return SUCCESS;
}

static uint64_t staticShared(const Kernel &kernel) {
  return kernel.module->program->module().sharedOf(*kernel.code->function);
}

static int mostThreads(const Kernel &kernel) {
  const ashlar::ptx::Function &function = *kernel.code->function;
  const uint32_t *size =
      function.reqntid[0] ? function.reqntid : function.maxntid;
  return size[0] ? int(size[0] * size[1] * size[2]) : 1024;
}

ASHLAR_CUDA_EXPORT cuFuncGetAttribute(int *value, int attribute,
                                      CUfunction handle) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(value)
  auto kernel = call.find(state().kernels, handle, "function");
  if (!kernel)
    return call.refusal;
  const State &all = state();
  switch (attribute) {
  case MaxThreadsPerBlock:
    *value = mostThreads(*kernel);
    return SUCCESS;
  case SharedSizeBytes:
    *value = int(staticShared(*kernel));
    return SUCCESS;
  case ConstSizeBytes:
    *value = 0;
    return SUCCESS;
  case LocalSizeBytes:
    *value = int(kernel->code->function->localBytes);
    return SUCCESS;
  case NumRegs:
    *value = 32;
    return SUCCESS;
  case PtxVersion:
  case BinaryVersion:
    *value = all.major * 10 + all.minor;
    return SUCCESS;
  case CacheModeCa:
    *value = 0;
    return SUCCESS;
  case MaxDynamicSharedSizeBytes:
    *value = kernel->maxDynamicShared
                 ? kernel->maxDynamicShared
                 : limitsOf(all.major, all.minor).sharedPerBlock -
                       int(staticShared(*kernel));
    return SUCCESS;
  case PreferredSharedMemoryCarveout:
    *value = -1;
    return SUCCESS;
  case ClusterSizeMustBeSet:
    *value = kernel->code->function->isOfClusters &&
             !kernel->code->function->reqnctapercluster[0];
    return SUCCESS;
  case RequiredClusterWidth:
  case RequiredClusterHeight:
  case RequiredClusterDepth:
    *value = int(kernel->code->function
                     ->reqnctapercluster[attribute - RequiredClusterWidth]);
    return SUCCESS;
  case NonPortableClusterSizeAllowed:
    *value = kernel->allowsLargeClusters;
    return SUCCESS;
  }
  return call.misuse(INVALID_VALUE, "the double does not know attribute " +
                                        std::to_string(attribute));
}

ASHLAR_CUDA_EXPORT cuFuncSetAttribute(CUfunction handle, int attribute,
                                      int value) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  auto kernel = call.find(state().kernels, handle, "function");
  if (!kernel)
    return call.refusal;
  if (attribute == PreferredSharedMemoryCarveout) {
    if (value < -1 || value > 100)
      return call.misuse(INVALID_VALUE, "a carveout of no percentage");
    return SUCCESS;
  }
  if (attribute == NonPortableClusterSizeAllowed) {
    if (state().major < 9)
      return NOT_SUPPORTED;
    kernel->allowsLargeClusters = value != 0;
    return SUCCESS;
  }
  if (attribute != MaxDynamicSharedSizeBytes)
    return call.misuse(INVALID_VALUE, "an attribute that is not to be set");
  int most = limitsOf(state().major, state().minor).sharedOptIn;
  if (value < 0 || uint64_t(value) + staticShared(*kernel) > uint64_t(most))
    return INVALID_VALUE;
  kernel->maxDynamicShared = value;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuFuncSetCacheConfig(CUfunction handle, int config) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  if (!call.find(state().kernels, handle, "function"))
    return call.refusal;
  if (config < 0 || config > 3)
    return call.misuse(INVALID_VALUE, "a preference that there is not");
  return SUCCESS;
}
