// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code objects that are cut short or altered are refused, or harmless.

#include "Loaded.h"
#include "NeedsHip.h"
#include "Sanitized.h"
#include "devices/hip/HsacoImage.h"

#include <elf.h>

using namespace ashlar::test;
using namespace ashlar::runtime;
using namespace ashlar::runtime::hip;

namespace {

class HsacoImage : public testing::Test {
protected:
  void SetUp() override {
    std::vector<uint8_t> kernels = hipKernels();
    if (kernels.empty())
      GTEST_SKIP() << "no kernels for HIP: the build found no clang-22 or lld";
    whole.assign(kernels.begin(), kernels.end());
  }
  template <typename T> T &at(std::string &image, size_t offset) {
    return *reinterpret_cast<T *>(image.data() + offset);
  }
  Elf64_Ehdr &header(std::string &image) { return at<Elf64_Ehdr>(image, 0); }
  Elf64_Phdr &segment(std::string &image, uint32_t type) {
    Elf64_Ehdr &head = header(image);
    for (unsigned i = 0;; ++i) {
      auto &one =
          at<Elf64_Phdr>(image, size_t(head.e_phoff) + i * sizeof(Elf64_Phdr));
      if (one.p_type == type)
        return one;
    }
  }
  Elf64_Shdr &section(std::string &image, uint32_t type) {
    Elf64_Ehdr &head = header(image);
    for (unsigned i = 0;; ++i) {
      auto &one =
          at<Elf64_Shdr>(image, size_t(head.e_shoff) + i * sizeof(Elf64_Shdr));
      if (one.sh_type == type)
        return one;
    }
  }
  void expectCorrupt(const std::string &image, const char *words) {
    Status status = checkHsaco(image);
    EXPECT_EQ(status.code(), ASHLAR_CORRUPT) << words;
    EXPECT_NE(std::strstr(status.message(), words), nullptr)
        << status.message();
  }
  std::string whole;
};

TEST_F(HsacoImage, OfACompilerIsTaken) {
  Status status = checkHsaco(whole);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(countHsacoParameters(whole, "add_f32"), 10);
  EXPECT_EQ(countHsacoParameters(whole, "bare"), 1);
  EXPECT_EQ(countHsacoParameters(whole, "nowhere"), -1);
}

TEST_F(HsacoImage, CutShortAnywhereIsRefused) {
  for (size_t size = 0; size < whole.size(); ++size) {
    // No byte behind it is looked at: under ASan, that ends the test.
    std::unique_ptr<char[]> part(new char[size]);
    std::memcpy(part.get(), whole.data(), size);
    Status status = checkHsaco({part.get(), size});
    ASSERT_EQ(status.code(), ASHLAR_CORRUPT) << size;
  }
}

TEST_F(HsacoImage, AlteredAnywhereIsRefusedOrHarmless) {
  size_t refused = 0;
  for (size_t i = 0; i < whole.size(); ++i)
    for (uint8_t with : changesAt(i, {0x01, 0x80, 0xff})) {
      std::string image = whole;
      image[i] = char(uint8_t(image[i]) ^ with);
      if (!checkHsaco(image).ok()) {
        ++refused;
        continue;
      }
      for (const char *kernel : {"add_f32", "check_f32", "bare"})
        (void)countHsacoParameters(image, kernel);
    }
  EXPECT_GT(refused, whole.size() / 10);
}

TEST_F(HsacoImage, TablesAndSegmentsOutsideAreRefused) {
  std::string image = whole;
  header(image).e_phoff = UINT64_MAX - 8;
  expectCorrupt(image, "its tables lie outside");
  image = whole;
  header(image).e_shoff = image.size();
  expectCorrupt(image, "its tables lie outside");
  image = whole;
  header(image).e_machine = EM_X86_64;
  expectCorrupt(image, "no ELF for AMD's GPUs");
  image = whole;
  segment(image, PT_LOAD).p_filesz = image.size() + 1;
  expectCorrupt(image, "lies outside of it");
  image = whole;
  segment(image, PT_LOAD).p_memsz = UINT64_MAX;
  expectCorrupt(image, "cannot be loaded where it says");
  image = whole;
  segment(image, PT_NOTE).p_type = PT_NULL;
  expectCorrupt(image, "does not describe its kernels");
}

TEST_F(HsacoImage, SymbolsOutsideAreRefused) {
  std::string image = whole;
  auto &symbols = section(image, SHT_DYNSYM);
  auto symbol = [&](unsigned i) -> Elf64_Sym & {
    return at<Elf64_Sym>(image,
                         size_t(symbols.sh_offset) + i * sizeof(Elf64_Sym));
  };
  symbol(1).st_name = 1u << 30;
  expectCorrupt(image, "a name that is not there");
  std::memcpy(image.data(), whole.data(), whole.size());
  symbol(1).st_size = UINT64_MAX;
  expectCorrupt(image, "symbol 1 lies outside");
  std::memcpy(image.data(), whole.data(), whole.size());
  symbol(1).st_shndx = SHN_UNDEF;
  expectCorrupt(image, "needs symbols of others");
  std::memcpy(image.data(), whole.data(), whole.size());
  symbols.sh_link = 0xffff;
  expectCorrupt(image, "belongs to one that is not there");
}

/// Its own description of the kernels, altered.
TEST_F(HsacoImage, DescriptionsThatDoNotHoldAreRefused) {
  const std::string size = "\xa5.size", kernarg = ".kernarg_segment_size";
  std::string image = whole;
  // The first argument's: more than a launch passes, then outside.
  size_t found = image.find(size);
  ASSERT_NE(found, image.npos);
  image[found + size.size()] = 0x10;
  Status status = checkHsaco(image);
  EXPECT_EQ(status.code(), ASHLAR_UNSUPPORTED) << status.message();
  EXPECT_NE(std::strstr(status.message(), "has 16 bytes"), nullptr);
  image = whole;
  found = image.find(kernarg) + kernarg.size();
  ASSERT_LT(found, image.size());
  // One byte, or the second of two or three.
  const uint8_t form = uint8_t(image[found]);
  size_t digit = form == 0xcd ? found + 2 : form == 0xcc ? found + 1 : found;
  image[digit] = char(image[digit] ^ 1);
  expectCorrupt(image, "");
  image = whole;
  found = image.find("amdhsa.kernels");
  image[found] = 'x';
  expectCorrupt(image, "does not describe its kernels");
}

} // namespace
