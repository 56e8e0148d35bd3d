// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpenCLProgram.h"

#include "../LaunchedKernels.h"
#include "SpirvVerifier.h"
#include "ashlar/runtime/opencl_abi.h"

namespace ashlar::runtime {

using namespace opencl;

OpenCLProgram::~OpenCLProgram() {
  if (program)
    device.cl.ReleaseProgram(program);
}

String OpenCLProgram::buildLog() const {
  size_t size = 0;
  device.cl.GetProgramBuildInfo(program, device.id, programBuildLog, 0, nullptr,
                                &size);
  String log(size, 0);
  if (size == 0 ||
      device.cl.GetProgramBuildInfo(program, device.id, programBuildLog, size,
                                    &log[0], nullptr) != 0)
    return "it left no log";
  log.resize(size - 1); // without the end of the text
  // What is wrong stands first or last, by driver; messages are not long.
  constexpr size_t most = 1200;
  if (log.size() > most)
    log.replace(most / 2, log.size() - most, "\n...\n");
  return concat("its log: ", log);
}

Status OpenCLProgram::create(const void *image, uint64_t size) {
  Code code = 0, status = 0;
  if (isBitcode(image, size)) {
    auto *bytes = static_cast<const unsigned char *>(image);
    size_t length = size_t(size);
    program = device.cl.CreateProgramWithBinary(
        device.context, 1, &device.id, &length, &bytes, &status, &code);
    return program ? Status()
                   : device.failed("clCreateProgramWithBinary", code);
  }
  if (!device.createProgram)
    return failure(
        ASHLAR_UNSUPPORTED,
        concat(device.name,
               " takes no SPIR-V: install a driver "
               "that does",
               device.takesSpir ? ", or compile for opencl:pocl" : ""),
        device.name);
  program = device.createProgram(device.context, image, size_t(size), &code);
  return program ? Status() : device.failed("clCreateProgramWithIL", code);
}

Status OpenCLProgram::build(const void *image, uint64_t size) {
  ASHLAR_RETURN_IF_ERROR(create(image, size));
  String options = buildOptions();
  if (isBitcode(image, size))
    options += " -x spir -spir-std=1.2";
  Code code = device.cl.BuildProgram(program, 1, &device.id, options.c_str(),
                                     nullptr, nullptr);
  if (code == 0)
    return {};
  Status cause = device.failed("clBuildProgram", code);
  return failure(cause.code() == ASHLAR_INTERNAL ? ASHLAR_UNSUPPORTED
                                                 : cause.code(),
                 concat(cause.message(), "; ", buildLog()), device.name);
}

static Status tooMuch(const KernelForm &form, const String &needs,
                      const String &device, uint64_t most) {
  return failure(ASHLAR_UNSUPPORTED,
                 concat("kernel ", form.symbol, " needs ", needs, ", and ",
                        device, " has ", most,
                        " at most; compile for opencl:generic"),
                 form.symbol);
}

static String threadsOf(const KernelForm &form) {
  return concat("workgroups of ", form.block[0], " threads");
}

Status OpenCLProgram::checkForm(const KernelForm &form) const {
  ASHLAR_RETURN_IF_ERROR(requireOneDimension(form, device.name));
  uint64_t most = 0;
  ASHLAR_RETURN_IF_ERROR(device.ask(deviceMaxWorkGroupSize, most));
  return form.block[0] <= most
             ? Status()
             : tooMuch(form, threadsOf(form), device.name, most);
}

Status OpenCLProgram::checkGroup(Kernel kernel, const KernelForm &form) const {
  uint64_t local = 0;
  size_t most = 0;
  Code code = device.cl.GetKernelWorkGroupInfo(
      kernel, device.id, kernelWorkGroupSize, sizeof(most), &most, nullptr);
  if (code == 0)
    code = device.cl.GetKernelWorkGroupInfo(
        kernel, device.id, kernelLocalMemSize, sizeof(local), &local, nullptr);
  ASHLAR_RETURN_IF_ERROR(device.check("clGetKernelWorkGroupInfo", code));
  if (form.block[0] > most)
    return tooMuch(form, threadsOf(form), device.name, most);
  uint64_t has = 0;
  ASHLAR_RETURN_IF_ERROR(device.ask(deviceLocalMemSize, has));
  return local <= has
             ? Status()
             : tooMuch(form,
                       concat(local, " bytes of local memory of a workgroup"),
                       device.name, has);
}

Status OpenCLProgram::checkArguments(Kernel kernel,
                                     const KernelForm &form) const {
  uint32_t found = 0;
  Code code = device.cl.GetKernelInfo(kernel, kernelNumArgs, sizeof(found),
                                      &found, nullptr);
  ASHLAR_RETURN_IF_ERROR(device.check("clGetKernelInfo", code));
  uint32_t expected = ASHLAR_OPENCL_ARGUMENTS(form.bindings, form.integers);
  if (found == expected)
    return {};
  return corrupt(concat("kernel ", form.symbol, " takes ", found,
                        " arguments; expected ", expected, ", for ",
                        form.bindings, " bindings and ", form.integers,
                        " integers"),
                 form.symbol);
}

Status OpenCLProgram::find(const KernelForm &form, const void **outKernel) {
  ASHLAR_RETURN_IF_ERROR(checkForm(form));
  OpenCLKernel found = {program, form.symbol, form.bindings, form.integers,
                        form.block[0]};
  Code code = 0;
  Kernel kernel = found.make(device, code);
  if (!kernel)
    return code == invalidKernelName
               ? corrupt(
                     concat("the SPIR-V module lacks the kernel ", form.symbol),
                     form.symbol)
               : device.failed("clCreateKernel", code);
  Status sound = checkArguments(kernel, form);
  if (sound.ok())
    sound = checkGroup(kernel, form);
  device.cl.ReleaseKernel(kernel);
  ASHLAR_RETURN_IF_ERROR(sound);
  std::lock_guard<std::mutex> lock(mutex);
  kernels.push_back(std::make_unique<OpenCLKernel>(std::move(found)));
  *outKernel = kernels.back().get();
  return {};
}

} // namespace ashlar::runtime
