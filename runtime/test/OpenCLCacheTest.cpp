// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A second load takes what the driver compiled in the first, and gives the same
// results; whatever is wrong with that costs a compilation and no more. Runs
// with the shim as its loader, which counts.

#include "DriverCache.h"
#include "OpenCLShimmed.h"
#include "TemporaryFolder.h"

#include <thread>

using namespace ashlar::test;

namespace {

class OpenCLCaches : public OpenCLShimmed {
protected:
  void SetUp() override {
    OpenCLShimmed::SetUp();
    logger = {this, ASHLAR_LOG_INFO, 0,
              [](void *self, uint32_t, const char *, const char *message) {
                auto &all = static_cast<OpenCLCaches *>(self)->logged;
                if (std::strstr(message, "compile"))
                  all.push_back(message);
              }};
    runtimeOptions.driver_cache = folder.path.c_str();
    runtimeOptions.logger = &logger;
  }

  /// Serves, and expects so many programs of each origin.
  void expectServed(uint64_t fromSpirv, uint64_t fromBinary) {
    logged.clear();
    shim->fromSpirv = shim->fromBinary = 0;
    ashlar_status_t status = serve(*there, "opencl:0");
    EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
    EXPECT_EQ(shim->fromSpirv, fromSpirv);
    EXPECT_EQ(shim->fromBinary, fromBinary);
    expectNothingAlive();
  }

  TemporaryFolder folder;
  ashlar_logger_t logger = {};
  std::vector<std::string> logged;
};

TEST_F(OpenCLCaches, ASecondLoadCompilesNothing) {
  expectServed(1, 0);
  ASSERT_EQ(folder.files().size(), 1u);
  for (int round = 0; round < 3; ++round)
    expectServed(0, 1);
  EXPECT_TRUE(logged.empty());
  EXPECT_EQ(folder.files().size(), 1u);
}

TEST_F(OpenCLCaches, WithoutAFolderNothingIsKept) {
  runtimeOptions.driver_cache = nullptr;
  expectServed(1, 0);
  expectServed(1, 0);
}

TEST_F(OpenCLCaches, BrokenEntriesAreCompiledAnew) {
  expectServed(1, 0);
  ASSERT_EQ(folder.files().size(), 1u);
  std::string name = folder.files()[0], sound = folder.read(name);
  std::string flipped = sound, other = sound;
  flipped[sound.size() / 2] ^= 1;
  flipped.back() ^= 1;
  // Another device's, by its name.
  size_t driver = sound.find("opencl\n");
  ASSERT_NE(driver, sound.npos);
  other[driver + 8] ^= 1;
  for (const std::string &bytes :
       {std::string(), sound.substr(0, 40), sound.substr(0, sound.size() - 1),
        flipped, other}) {
    folder.write(name, bytes);
    expectServed(1, 0);
    EXPECT_EQ(logged.size(), 1u);
    expectServed(0, 1);
  }
}

TEST_F(OpenCLCaches, AFolderThatIsNotThereIsAWarning) {
  std::string missing = folder.path + "/missing";
  runtimeOptions.driver_cache = missing.c_str();
  expectServed(1, 0);
  EXPECT_EQ(logged.size(), 1u);
  expectServed(1, 0);
}

TEST_F(OpenCLCaches, ManyLoadTheSameAtTheSameTime) {
  // Statuses' strings are each thread's own, results are checked by serve().
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        std::string message;
        failed += serve(*there, "opencl:0", message).code != ASHLAR_OK;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(folder.files().size(), 1u);
  expectNothingAlive();
  expectServed(0, 1);
}

TEST_F(OpenCLCaches, WhatTheDriverRefusesIsCompiledAnew) {
  expectServed(1, 0);
  int refused = 0;
  // Each call of a load that finds an entry fails once.
  for (uint64_t failing = 1; refused < 2 && failing < 500; ++failing) {
    shim->start(failing, -42 /* CL_INVALID_BINARY */, false);
    ashlar_status_t status = serve(*there, "opencl:0");
    const char *call = shim->failed;
    expectNothingAlive();
    shim->start(0, 0, false);
    if (!call)
      break;
    if (std::strcmp(call, "clCreateProgramWithBinary") != 0 &&
        std::strcmp(call, "clBuildProgram") != 0)
      continue;
    EXPECT_EQ(status.code, ASHLAR_OK) << call << ": " << status.message;
    ASSERT_FALSE(logged.empty()) << call;
    EXPECT_NE(logged.back().find("refused"), std::string::npos);
    ++refused;
    expectServed(0, 1);
  }
  EXPECT_EQ(refused, 2);
}

TEST_F(OpenCLCaches, WhatIsNoBinaryIsCompiledAnew) {
  expectServed(1, 0);
  // An entry that is sound in all but what the driver is to make of it.
  std::string name = folder.files().at(0), entry = folder.read(name);
  uint64_t sizes[2];
  std::memcpy(sizes, &entry[16], sizeof(sizes));
  size_t driver = entry.find("opencl\n"), code = 48 + sizes[0];
  ashlar::runtime::DriverCache::Source source = {
      {&entry[driver], code - driver}, {&entry[code], sizes[1]}};
  ashlar::runtime::Logger silent;
  ashlar::runtime::DriverCache cache(folder.path, silent);
  std::string binary(cache.find(source));
  ASSERT_EQ(binary, entry.substr(code + sizes[1]));
  for (const std::string &other :
       {std::string("no binary"), std::string(source.code),
        binary.substr(0, 100)}) {
    cache.keep(source, other);
    logged.clear();
    ashlar_status_t status = serve(*there, "opencl:0");
    EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
    expectNothingAlive();
    EXPECT_EQ(logged.size(), 1u);
    EXPECT_EQ(std::string(cache.find(source)), binary);
  }
}

TEST_F(OpenCLCaches, WhatTheDriverDoesNotGiveIsNotKept) {
  int silent = 0;
  for (uint64_t failing = 1; silent < 2 && failing < 500; ++failing) {
    shim->start(failing, -6, false);
    ashlar_status_t status = serve(*there, "opencl:0");
    const char *call = shim->failed;
    shim->start(0, 0, false);
    if (!call)
      break;
    if (std::strcmp(call, "clGetProgramInfo") == 0) {
      EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
      EXPECT_TRUE(folder.files().empty());
      ++silent;
    }
    for (const std::string &name : folder.files())
      std::filesystem::remove(folder.path + "/" + name);
  }
  EXPECT_EQ(silent, 2);
}

} // namespace
