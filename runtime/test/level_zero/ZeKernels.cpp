// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ZeKernels.h"

#include "devices/opencl/OpenCLApi.h"

#include <cstring>
#include <dlfcn.h>
#include <mutex>

using namespace ashlar::runtime::opencl;

namespace {

struct OpenCL : Functions {
  Code (*SetKernelArgSVMPointer)(Kernel, uint32_t, const void *) = nullptr;
  Program (*CreateProgramWithSource)(Context, uint32_t, const char **,
                                     const size_t *, Code *) = nullptr;
  Code (*CompileProgram)(Program, uint32_t, const DeviceId *, const char *,
                         uint32_t, const Program *, const char **, void *,
                         void *) = nullptr;
  Program (*LinkProgram)(Context, uint32_t, const DeviceId *, const char *,
                         uint32_t, const Program *, void *, void *,
                         Code *) = nullptr;
  DeviceId device = nullptr;
  Context context = nullptr;
  bool rounds = false;

  bool open() {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return false;
    bool hasAll = true;
    auto find = [&](auto &member, const char *name) {
      void *address = dlsym(library, name);
      std::memcpy(static_cast<void *>(&member), &address, sizeof(address));
      hasAll &= address != nullptr;
    };
#define ASHLAR_FIND(RESULT, NAME, ARGUMENTS) find(NAME, "cl" #NAME);
    ASHLAR_OPENCL_FUNCTIONS(ASHLAR_FIND)
#undef ASHLAR_FIND
    find(SetKernelArgSVMPointer, "clSetKernelArgSVMPointer");
    find(CreateProgramWithSource, "clCreateProgramWithSource");
    find(CompileProgram, "clCompileProgram");
    find(LinkProgram, "clLinkProgram");
    return hasAll && choose();
  }

private:
  bool isFit(DeviceId id) {
    enum : uint32_t { svmCapabilities = 0x1053, fineGrainSystem = 8 };
    uint64_t svm = 0;
    char versions[256] = "";
    return GetDeviceInfo(id, svmCapabilities, sizeof(svm), &svm, nullptr) ==
               0 &&
           (svm & fineGrainSystem) &&
           GetDeviceInfo(id, deviceIlVersion, sizeof(versions), versions,
                         nullptr) == 0 &&
           std::strstr(versions, "SPIR-V");
  }
  bool choose() {
    Platform platforms[16];
    uint32_t count = 0;
    if (GetPlatformIDs(16, platforms, &count) != 0)
      return false;
    for (uint32_t i = 0; i < count && i < 16; ++i) {
      DeviceId ids[16];
      uint32_t here = 0;
      if (GetDeviceIDs(platforms[i], deviceTypeAll, 16, ids, &here) != 0)
        continue;
      for (uint32_t j = 0; j < here && j < 16; ++j)
        if (isFit(ids[j]))
          return use(platforms[i], ids[j]);
    }
    return false;
  }
  bool use(Platform platform, DeviceId id) {
    const intptr_t properties[] = {contextPlatform,
                                   reinterpret_cast<intptr_t>(platform), 0};
    Code code = 0;
    uint64_t config = 0;
    GetDeviceInfo(id, deviceSingleFpConfig, sizeof(config), &config, nullptr);
    rounds = config & correctlyRounded;
    device = id;
    context = CreateContext(properties, 1, &device, nullptr, nullptr, &code);
    return context != nullptr;
  }
};

/// Never closed; null: there is no such device.
OpenCL *opencl() {
  static OpenCL *known = [] {
    auto *found = new OpenCL;
    return found->open() ? found : nullptr;
  }();
  return known;
}

class Built : public ashlar::ze::Runnable {
public:
  explicit Built(Program program) : program(program) {}
  ~Built() override {
    for (auto &[name, kernel] : made)
      cl.ReleaseKernel(kernel);
    cl.ReleaseProgram(program);
  }

  uint64_t localBytes(const std::string &name) override {
    std::lock_guard<std::mutex> lock(mutex);
    uint64_t bytes = 0;
    Kernel kernel = find(name);
    return kernel && cl.GetKernelWorkGroupInfo(
                         kernel, cl.device, kernelLocalMemSize, sizeof(bytes),
                         &bytes, nullptr) == 0
               ? bytes
               : 0;
  }

  bool run(const std::string &name, const std::vector<uint32_t> &sizes,
           const std::vector<std::vector<uint8_t>> &values, uint32_t groups,
           uint32_t threads) override {
    // Arguments are the kernel object's own until it has run.
    std::lock_guard<std::mutex> lock(mutex);
    Kernel kernel = find(name);
    if (!kernel)
      return false;
    for (uint32_t i = 0; i < sizes.size(); ++i) {
      Code code;
      if (sizes[i] == 0) {
        void *address;
        std::memcpy(&address, values[i].data(), sizeof(address));
        code = cl.SetKernelArgSVMPointer(kernel, i, address);
      } else {
        code = cl.SetKernelArg(kernel, i, sizes[i], values[i].data());
      }
      if (code != 0)
        return false;
    }
    Code code = 0;
    CommandQueue queue = cl.CreateCommandQueue(cl.context, cl.device, 0, &code);
    if (!queue)
      return false;
    const size_t each = threads, all = size_t(groups) * threads;
    code = cl.EnqueueNDRangeKernel(queue, kernel, 1, nullptr, &all, &each, 0,
                                   nullptr, nullptr);
    if (code == 0)
      code = cl.Finish(queue);
    cl.ReleaseCommandQueue(queue);
    return code == 0;
  }

private:
  Kernel find(const std::string &name) {
    Kernel &kernel = made[name];
    Code code = 0;
    if (!kernel)
      kernel = cl.CreateKernel(program, name.c_str(), &code);
    return kernel;
  }

  const OpenCL &cl = *opencl();
  const Program program;
  std::mutex mutex;
  std::map<std::string, Kernel> made;
};

std::string logOf(Program program) {
  const OpenCL &cl = *opencl();
  size_t size = 0;
  if (cl.GetProgramBuildInfo(program, cl.device, programBuildLog, 0, nullptr,
                             &size) != 0)
    return "";
  std::string log(size, 0);
  cl.GetProgramBuildInfo(program, cl.device, programBuildLog, size, &log[0],
                         nullptr);
  return log.c_str();
}

} // namespace

bool ashlar::ze::hasDevice() { return opencl(); }

/// Adds what a GPU's compiler knows by itself; null: an error is in the log.
static Program linkMatrices(Program kernels, const char *options,
                            std::string &log) {
  const OpenCL &cl = *opencl();
  Code code = 0;
  const char *source = ashlar::ze::matrixFunctions;
  Program parts[] = {kernels, cl.CreateProgramWithSource(cl.context, 1, &source,
                                                         nullptr, &code)};
  const std::string standard = std::string(options) + " -cl-std=CL3.0";
  Program linked = nullptr;
  for (Program part : parts) {
    if (code == 0)
      code = cl.CompileProgram(part, 1, &cl.device,
                               part == kernels ? options : standard.c_str(), 0,
                               nullptr, nullptr, nullptr, nullptr);
    if (code != 0 && part && log.empty())
      log = "error: " + logOf(part);
  }
  if (code == 0)
    linked = cl.LinkProgram(cl.context, 1, &cl.device, nullptr, 2, parts,
                            nullptr, nullptr, &code);
  if (code != 0 && log.empty())
    log = "error: " + (linked ? logOf(linked) : "no link");
  if (code != 0 && linked)
    cl.ReleaseProgram(linked);
  for (Program part : parts)
    if (part)
      cl.ReleaseProgram(part);
  return code == 0 ? linked : nullptr;
}

static Program buildAlone(Program program, const char *options,
                          std::string &log) {
  const OpenCL &cl = *opencl();
  if (cl.BuildProgram(program, 1, &cl.device, options, nullptr, nullptr) == 0)
    return program;
  log = "error: " + logOf(program);
  cl.ReleaseProgram(program);
  return nullptr;
}

static std::shared_ptr<ashlar::ze::Runnable>
build(std::string_view image, bool rounds, std::string &log) {
  const OpenCL &cl = *opencl();
  Code code = 0;
  Program program =
      cl.CreateProgramWithIL(cl.context, image.data(), image.size(), &code);
  if (!program) {
    log = "error: this is no SPIR-V";
    return nullptr;
  }
  const char *options =
      rounds && cl.rounds ? "-cl-fp32-correctly-rounded-divide-sqrt" : "";
  const bool hasMatrices =
      image.find("_matrix_mad_k") != std::string_view::npos;
  program = hasMatrices ? linkMatrices(program, options, log)
                        : buildAlone(program, options, log);
  if (!program)
    return nullptr;
  auto built = std::make_shared<Built>(program);
  built->kernels = ashlar::ze::readKernels(image);
  return built;
}

std::shared_ptr<ashlar::ze::Runnable>
ashlar::ze::buildModule(std::string_view image, bool rounds, std::string &log) {
  // Tests load the same again and again.
  static std::mutex mutex;
  static auto &before = *new std::map<std::string, std::shared_ptr<Runnable>>;
  std::lock_guard<std::mutex> lock(mutex);
  auto &known = before[std::string(image) + (rounds ? '+' : '-')];
  if (!known)
    known = build(image, rounds, log);
  return known;
}
