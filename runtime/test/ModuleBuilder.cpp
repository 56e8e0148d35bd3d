// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModuleBuilder.h"

#include "ashlar/runtime/gpu_abi.h"
#include "ashlar/runtime/opencl_abi.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace ashlar::test {

ModuleBytes::ModuleBytes(size_t size)
    : byteCount(size), bytes(static_cast<uint8_t *>(
                           std::aligned_alloc(64, (size + 64) / 64 * 64))) {
  std::memset(bytes.get(), 0, size);
}

ModuleBytes::ModuleBytes(const ModuleBytes &other)
    : ModuleBytes(other.byteCount) {
  std::memcpy(data(), other.data(), byteCount);
}

void ModuleBytes::Free::operator()(uint8_t *address) const {
  std::free(address);
}

Size constant(int64_t value) {
  auto size = std::make_unique<fb::SizeExpressionT>();
  size->constant = value;
  return size;
}

Size symbol(int64_t number, int64_t largest) {
  return expression({{fb::SizeOpcode::Symbol, number}}, largest);
}

Size expression(std::vector<fb::SizeInstruction> code, int64_t largest) {
  auto size = constant(largest);
  size->code = std::move(code);
  return size;
}

Size copyOf(const Size &size) {
  return std::make_unique<fb::SizeExpressionT>(*size);
}

ModuleBuilder::ModuleBuilder() {
  module.entries.push_back(std::make_unique<fb::EntryT>());
  entry().name = "main";
  module.programs.push_back(std::make_unique<fb::ProgramT>());
  program().target = "cpu";
  program().preset = "test";
  program().device_type = "cpu";
  program().entries.push_back(std::make_unique<fb::ProgramEntryT>());
  programEntry().contract = std::make_unique<fb::ContractT>();
  module.provenance = std::make_unique<fb::ProvenanceT>();
  module.provenance->version = "test";
}

uint32_t ModuleBuilder::addSection(fb::SectionKind kind,
                                   std::vector<uint8_t> bytes) {
  auto section = std::make_unique<fb::SectionT>();
  section->kind = kind;
  section->size = bytes.size();
  module.sections.push_back(std::move(section));
  sectionBytes.push_back(std::move(bytes));
  return uint32_t(sectionBytes.size() - 1);
}

uint32_t ModuleBuilder::addWeight(const std::string &name,
                                  const std::vector<float> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  auto weight = std::make_unique<fb::WeightT>();
  weight->name = name;
  weight->type = fb::ElementType::F32;
  weight->shape = {int64_t(values.size())};
  weight->size = bytes.size();
  weight->section = addSection(fb::SectionKind::Weights, std::move(bytes));
  contract().weights_bytes += weight->size;
  module.weights.push_back(std::move(weight));
  return uint32_t(module.weights.size() - 1);
}

static std::vector<uint8_t> readCode(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

std::vector<uint8_t> openclKernels() {
  return readCode(ASHLAR_TEST_CODE "/Kernels.spv");
}
std::vector<uint8_t> openclUnresolved() {
  return readCode(ASHLAR_TEST_CODE "/Unresolved.spv");
}

std::vector<uint8_t> cudaKernels() {
  return readCode(ASHLAR_TEST_CODE "/KernelsGpu.ptx");
}

std::vector<uint8_t> hipKernels() {
  return readCode(ASHLAR_TEST_CODE "/KernelsGpu.hsaco");
}
std::vector<uint8_t> levelZeroKernels() {
  return readCode(ASHLAR_TEST_CODE "/KernelsAddresses.spv");
}

bool ModuleBuilder::useOpenCL() {
  return useCode(openclKernels(), ASHLAR_OPENCL_FORMAT, "opencl");
}
bool ModuleBuilder::useHip() {
  return useCode(hipKernels(), ASHLAR_HSACO_FORMAT, "hip");
}
bool ModuleBuilder::useLevelZero() {
  return useCode(levelZeroKernels(), ASHLAR_SPIRV_ADDRESSES_FORMAT,
                 "level-zero");
}
bool ModuleBuilder::useCuda() {
  return useCode(cudaKernels(), ASHLAR_PTX_FORMAT, "cuda");
}

bool ModuleBuilder::useCode(std::vector<uint8_t> code, const char *format,
                            const char *device) {
  if (code.empty())
    return false;
  fb::ExecutableT &executable = *program().executables.at(0);
  std::vector<uint8_t> &section = sectionBytes[executable.section];
  contract().code_bytes += code.size() - section.size();
  contract().peak_bytes += code.size() - section.size();
  section = std::move(code);
  module.sections[executable.section]->size = section.size();
  executable.format = format;
  program().device_type = device;
  program().target = device;
  return true;
}

uint32_t ModuleBuilder::addKernelCode() {
  std::vector<uint8_t> code = readCode(ASHLAR_TEST_KERNELS);
  contract().code_bytes += code.size();
  uint32_t section = addSection(fb::SectionKind::Code, std::move(code));
  auto executable = std::make_unique<fb::ExecutableT>();
#if defined(__x86_64__)
  executable->format = "elf-x86_64";
#else
  executable->format = "elf-aarch64";
#endif
  executable->section = section;
  program().executables.push_back(std::move(executable));
  return section;
}

uint32_t ModuleBuilder::addKernel(const std::string &symbolName,
                                  uint32_t bindings, uint32_t parameters,
                                  uint64_t scratchBytes) {
  auto kernel = std::make_unique<fb::KernelT>();
  kernel->name = symbolName + "." + std::to_string(program().kernels.size());
  kernel->symbol = symbolName;
  kernel->nodes = {"node_of_" + symbolName};
  kernel->flops = constant(1000);
  kernel->bytes = constant(2000);
  kernel->bindings = bindings;
  kernel->parameters = parameters;
  kernel->scratch_bytes = scratchBytes;
  program().kernels.push_back(std::move(kernel));
  return uint32_t(program().kernels.size() - 1);
}

static std::unique_ptr<fb::TensorDescriptionT> describe(const std::string &name,
                                                        std::vector<Size> shape,
                                                        fb::ElementType type) {
  auto tensor = std::make_unique<fb::TensorDescriptionT>();
  tensor->name = name;
  tensor->type = type;
  tensor->shape = std::move(shape);
  return tensor;
}

void ModuleBuilder::addInput(const std::string &name, std::vector<Size> shape,
                             fb::ElementType type) {
  entry().inputs.push_back(describe(name, std::move(shape), type));
}

void ModuleBuilder::addOutput(const std::string &name, std::vector<Size> shape,
                              fb::ElementType type) {
  entry().outputs.push_back(describe(name, std::move(shape), type));
}

std::unique_ptr<fb::BindingT> ModuleBuilder::bind(fb::Storage storage,
                                                  uint32_t index, Size offset,
                                                  Size length, bool written) {
  auto binding = std::make_unique<fb::BindingT>();
  binding->storage = storage;
  binding->index = index;
  binding->offset = std::move(offset);
  binding->length = std::move(length);
  binding->written = written;
  return binding;
}

void ModuleBuilder::dispatch(
    uint32_t kernel, std::vector<std::unique_ptr<fb::BindingT>> bindings,
    std::vector<Size> parameters, Size groups) {
  fb::DispatchT dispatch;
  dispatch.kernel = kernel;
  dispatch.bindings = std::move(bindings);
  dispatch.parameters = std::move(parameters);
  dispatch.groups = std::move(groups);
  fb::CommandUnion command;
  command.Set(std::move(dispatch));
  programEntry().commands.push_back(std::move(command));
}

void ModuleBuilder::barrier() {
  fb::CommandUnion command;
  command.Set(fb::BarrierT());
  programEntry().commands.push_back(std::move(command));
}

void ModuleBuilder::copy(std::unique_ptr<fb::BindingT> source,
                         std::unique_ptr<fb::BindingT> target) {
  fb::CopyT copy;
  copy.source = std::move(source);
  copy.target = std::move(target);
  fb::CommandUnion command;
  command.Set(std::move(copy));
  programEntry().commands.push_back(std::move(command));
}

std::vector<uint8_t> ModuleBuilder::packIndex() {
  flatbuffers::FlatBufferBuilder builder;
  // Offsets and hashes change between two packs; zeros must not be left out,
  // or the size would.
  builder.ForceDefaults(true);
  fb::FinishModuleBuffer(builder, fb::Module::Pack(builder, &module));
  return {builder.GetBufferPointer(),
          builder.GetBufferPointer() + builder.GetSize()};
}

static uint64_t pageUp(uint64_t value) { return (value + 4095) / 4096 * 4096; }

ModuleBytes ModuleBuilder::build() {
  uint64_t end = sizeof(ashlar_module_header_t) + packIndex().size();
  for (size_t i = 0; i < sectionBytes.size(); ++i) {
    fb::SectionT &section = *module.sections[i];
    section.offset = pageUp(end);
    section.size = sectionBytes[i].size();
    section.hash = XXH3_64bits(sectionBytes[i].data(), section.size);
    end = section.offset + section.size;
  }
  return buildUnchecked();
}

ModuleBytes ModuleBuilder::buildUnchecked() {
  std::vector<uint8_t> index = packIndex();
  uint64_t end = sizeof(ashlar_module_header_t) + index.size();
  std::vector<uint64_t> places;
  uint64_t place = end;
  for (const std::vector<uint8_t> &section : sectionBytes) {
    places.push_back(pageUp(place));
    place = end = places.back() + section.size();
  }
  ModuleBytes bytes(end);
  ashlar_module_header_t header = {};
  std::memcpy(header.magic, ASHLAR_MODULE_MAGIC, ASHLAR_MODULE_MAGIC_SIZE);
  header.major_version = ASHLAR_MODULE_MAJOR_VERSION;
  header.minor_version = ASHLAR_MODULE_MINOR_VERSION;
  header.header_size = sizeof(header);
  header.index_offset = sizeof(header);
  header.index_size = index.size();
  header.index_hash = XXH3_64bits(index.data(), index.size());
  header.file_size = end;
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), index.data(), index.size());
  for (size_t i = 0; i < sectionBytes.size(); ++i)
    if (!sectionBytes[i].empty())
      std::memcpy(bytes.data() + places[i], sectionBytes[i].data(),
                  sectionBytes[i].size());
  return bytes;
}

void rehashIndex(ModuleBytes &bytes) {
  ashlar_module_header_t header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.index_hash =
      XXH3_64bits(bytes.data() + header.index_offset, header.index_size);
  std::memcpy(bytes.data(), &header, sizeof(header));
}

void writeFile(const std::string &path, const ModuleBytes &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             std::streamsize(bytes.size()));
}

} // namespace ashlar::test
