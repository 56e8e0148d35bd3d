// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What drivers compiled comes back as it was, or not at all.

#include "DriverCache.h"
#include "TemporaryFolder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace ashlar::runtime;
using namespace ashlar::test;

namespace {

class DriverCaches : public testing::Test {
protected:
  DriverCaches() {
    logger.use({this, ASHLAR_LOG_WARNING, 0,
                [](void *self, uint32_t, const char *, const char *message) {
                  static_cast<DriverCaches *>(self)->said.push_back(message);
                }});
  }
  /// By another object, as another process would.
  std::string find(DriverCache::Source what) {
    return std::string(DriverCache(folder.path, logger).find(what));
  }
  void keep(DriverCache::Source what, std::string_view binary) {
    DriverCache(folder.path, logger).keep(what, binary);
  }

  TemporaryFolder folder;
  Logger logger;
  std::vector<std::string> said;
  const DriverCache::Source source = {"a driver, version 1", "code of some"};
  const std::string binary = std::string("\0binary\0", 8);
};

TEST_F(DriverCaches, WhatWasKeptIsFound) {
  EXPECT_EQ(find(source), "");
  keep(source, binary);
  EXPECT_EQ(find(source), binary);
  keep(source, "newer");
  EXPECT_EQ(find(source), "newer");
  EXPECT_EQ(folder.files().size(), 1u);
  EXPECT_TRUE(said.empty());
}

TEST_F(DriverCaches, AnotherSourceIsAnotherEntry) {
  keep(source, binary);
  EXPECT_EQ(find({"a driver, version 2", source.code}), "");
  EXPECT_EQ(find({source.driver, "code of same"}), "");
  // The same letters, cut elsewhere.
  EXPECT_EQ(find({"a driver, version 1c", "ode of some"}), "");
  keep({"a driver, version 2", source.code}, "other");
  EXPECT_EQ(find(source), binary);
  EXPECT_EQ(folder.files().size(), 2u);
  // And under this one's name it is not taken for it.
  std::string first = folder.read(folder.files()[0]);
  folder.write(folder.files()[0], folder.read(folder.files()[1]));
  folder.write(folder.files()[1], first);
  EXPECT_EQ(find(source), "");
}

TEST_F(DriverCaches, BrokenEntriesAreIgnoredAndRewritten) {
  keep(source, binary);
  std::string name = folder.files().at(0), sound = folder.read(name);
  auto expectIgnored = [&](const std::string &bytes, const std::string &what) {
    folder.write(name, bytes);
    EXPECT_EQ(find(source), "") << what;
  };
  // All of the header and of the end, and some of the long text between.
  for (size_t i = 0; i < sound.size();
       i += i < 64 || i + 64 > sound.size() ? 1 : 13) {
    expectIgnored(sound.substr(0, i), "cut at " + std::to_string(i));
    std::string flipped = sound;
    flipped[i] ^= 4;
    expectIgnored(flipped, "flipped at " + std::to_string(i));
  }
  expectIgnored(sound + "x", "longer");
  keep(source, binary);
  EXPECT_EQ(find(source), binary);
  EXPECT_EQ(folder.files().size(), 1u);
}

TEST_F(DriverCaches, AFolderThatIsOfNoUseIsSaidOnce) {
  for (std::string path :
       {folder.path + "/missing", std::string("/dev/null"),
        std::string("/proc"), folder.path + std::string(5000, 'x')}) {
    said.clear();
    DriverCache cache(path, logger);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(cache.find(source), "");
      cache.keep(source, binary);
    }
    ASSERT_EQ(said.size(), 1u) << path;
    EXPECT_NE(said[0].find("compiled on each load"), std::string::npos);
  }
}

TEST_F(DriverCaches, AFolderThatCannotBeWrittenIsRead) {
  if (geteuid() == 0)
    GTEST_SKIP() << "root writes everywhere";
  keep(source, binary);
  chmod(folder.path.c_str(), 0500);
  EXPECT_EQ(find(source), binary);
  keep({"other", source.code}, binary);
  EXPECT_EQ(said.size(), 1u);
  chmod(folder.path.c_str(), 0700);
  EXPECT_EQ(folder.files().size(), 1u);
}

TEST_F(DriverCaches, AnEntryThatIsNoFileStays) {
  keep(source, binary);
  std::string path = folder.path + "/" + folder.files()[0];
  unlink(path.c_str());
  mkdir(path.c_str(), 0700);
  DriverCache cache(folder.path, logger);
  EXPECT_EQ(cache.find(source), "");
  cache.keep(source, binary);
  EXPECT_EQ(said.size(), 1u);
  EXPECT_EQ(rmdir(path.c_str()), 0);
}

TEST_F(DriverCaches, ManyKeepAndFindAtTheSameTime) {
  const std::string large(100000, 'b');
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        keep(source, large);
        wrong += find(source) != large;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(said.empty());
  EXPECT_EQ(folder.files().size(), 1u);
}

TEST_F(DriverCaches, ShorterOptionsHaveNone) {
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  ashlar_runtime_t *runtime = nullptr;
  options.driver_cache = "";
  EXPECT_EQ(ashlar_runtime_create(&options, &runtime).code, ASHLAR_OK);
  ashlar_runtime_release(runtime);
  // Who was compiled before the field was there has something else behind.
  options.size = offsetof(ashlar_runtime_options_t, driver_cache);
  options.driver_cache = reinterpret_cast<const char *>(1);
  EXPECT_EQ(ashlar_runtime_create(&options, &runtime).code, ASHLAR_OK);
  ashlar_runtime_release(runtime);
}

} // namespace
