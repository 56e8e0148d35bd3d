// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels on the device opencl are given, and how they say that they
// failed: ashlar/runtime/opencl_abi.h. Kernels.cl looks at it from their side.

#include "NeedsOpenCL.h"
#include "OpenDevice.h"
#include "ashlar/runtime/kernel_abi.h"

using namespace ashlar::runtime;
using namespace ashlar::test;

namespace {

class OpenCLKernels : public testing::Test, protected OpenDevice {
protected:
  void SetUp() override {
    if (std::string why = whyNoOpenCL(); !why.empty())
      GTEST_SKIP() << why;
    open(openclDeviceOps, 0);
    std::vector<uint8_t> code = openclKernels();
    ASSERT_TRUE(
        ops().loadExecutable(state(), code.data(), code.size(), &program).ok());
  }
  void TearDown() override {
    for (void *queue : own)
      ops().destroyQueue(queue);
    if (program)
      ops().unloadExecutable(state(), program);
  }

  Status find(const char *symbol, uint32_t bindings, uint32_t integers,
              const void **out, uint32_t block = 0) {
    KernelForm form = {symbol,    bindings, integers, {block, block, block},
                       {1, 1, 1}, 0,        {}};
    return ops().findKernel(program, form, out);
  }
  void *makeQueue(uint32_t workers, DeviceAddress scratch = {},
                  uint64_t scratchBytes = 0) {
    QueueOptions options = {};
    options.workers = workers;
    options.scratch = scratch;
    options.scratchBytes = scratchBytes;
    void *queue = nullptr;
    EXPECT_TRUE(ops().createQueue(state(), options, &queue).ok());
    own.push_back(queue);
    return queue;
  }
  void destroyLastQueue() {
    ops().destroyQueue(own.back());
    own.pop_back();
  }

  void *program = nullptr;
  std::vector<void *> own;
};

/// A list of dispatches.
struct Dispatches {
  CommandList list;
  RunControl control;
  LoopCounters counters = {};

  void add(const void *kernel, int64_t groups,
           std::vector<DeviceAddress> addresses, std::vector<int64_t> numbers) {
    Command made =
        command(Command::Dispatch, uint32_t(list.addresses.size()), groups);
    made.kernel = kernel;
    made.pointers = uint32_t(addresses.size());
    made.firstParameter = uint32_t(list.parameters.size());
    list.commands.push_back(made);
    for (DeviceAddress address : addresses) {
      list.addresses.push_back(address);
      list.pointers.push_back(nullptr);
      list.extents.push_back({0, true});
    }
    list.parameters.insert(list.parameters.end(), numbers.begin(),
                           numbers.end());
  }
  void barrier() { list.commands.push_back(command(Command::Barrier)); }
  Submission submission() {
    return {list, {0, list.commands.size()}, control, counters};
  }
  /// The command that failed with a code, -1: none has.
  int64_t failedWith(int32_t expected) {
    uint32_t index;
    int32_t code;
    if (!control.failed(index, code))
      return -1;
    EXPECT_EQ(code, expected);
    return index;
  }
};

TEST_F(OpenCLKernels, BindingsBeginWhereTheirOffsetsSay) {
  constexpr int64_t count = 100, stride = 512;
  const void *add = nullptr;
  ASSERT_TRUE(find("add_f32", 3, 2, &add).ok());
  void *queue = makeQueue(2);
  DeviceAddress memory = allocate(4 * stride);
  std::vector<float> in(4 * stride / sizeof(float)), out(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = float(i);
  copyIn(queue, memory, in);
  Dispatches work;
  // The last binding lies in front of the others.
  work.add(add, 7, {memory + 3 * stride, memory + stride, memory + 64},
           {count, 16});
  ASSERT_TRUE(ops().submit(queue, work.submission()).ok());
  ASSERT_TRUE(
      ops()
          .readBack(queue, memory, out.data(), out.size() * sizeof(float))
          .ok());
  std::vector<float> expected = in;
  constexpr size_t row = stride / sizeof(float);
  for (size_t i = 0; i < count; ++i)
    expected[16 + i] = in[3 * row + i] + in[row + i];
  EXPECT_EQ(out, expected);
}

TEST_F(OpenCLKernels, GroupsAreSharedOutAmongWorkgroupsWithScratchEach) {
  constexpr uint64_t scratchBytes = 128, before = 192;
  const void *describe = nullptr;
  ASSERT_TRUE(find("describe", 1, 2, &describe).ok());
  for (int64_t workers : {1, 3, 4})
    for (int64_t groups : {1, 2, 3, 7, 100}) {
      DeviceAddress scratch = allocate(before + workers * scratchBytes),
                    out = allocate(groups * 32);
      void *queue =
          makeQueue(uint32_t(workers), scratch + before, scratchBytes);
      std::vector<int64_t> clean((before + workers * scratchBytes) / 8, -1);
      copyIn(queue, scratch, clean);
      Dispatches work;
      work.add(describe, groups, {out}, {1000, 1});
      ASSERT_TRUE(ops().submit(queue, work.submission()).ok());
      std::vector<int64_t> said(groups * 4), left(clean.size());
      ASSERT_TRUE(ops().readBack(queue, out, said.data(), groups * 32).ok());
      ASSERT_TRUE(
          ops().readBack(queue, scratch, left.data(), left.size() * 8).ok());
      int64_t count = std::min(groups, workers);
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t g = groups * i / count; g < groups * (i + 1) / count;
             ++g) {
          EXPECT_EQ(said[4 * g], i);
          EXPECT_EQ(said[4 * g + 1], count);
          EXPECT_EQ(said[4 * g + 2], 999);
          EXPECT_EQ(said[4 * g + 3], int64_t(scratchBytes));
        }
        // What the workgroup's last group wrote, at its own place.
        clean[(before + uint64_t(i) * scratchBytes) / 8] =
            groups * (i + 1) / count - 1;
      }
      EXPECT_EQ(left, clean) << groups << " groups, " << workers << " workers";
    }
}

TEST_F(OpenCLKernels, WithoutScratchThereIsNone) {
  const void *describe = nullptr;
  ASSERT_TRUE(find("describe", 1, 2, &describe).ok());
  void *queue = makeQueue(2);
  DeviceAddress out = allocate(64);
  Dispatches work;
  work.add(describe, 2, {out}, {5, 7});
  ASSERT_TRUE(ops().submit(queue, work.submission()).ok());
  int64_t said[8];
  ASSERT_TRUE(ops().readBack(queue, out, said, sizeof(said)).ok());
  EXPECT_EQ(said[2], -2);
  EXPECT_EQ(said[3], 0);
}

TEST_F(OpenCLKernels, NoGroupsAreNoLaunch) {
  const void *describe = nullptr;
  ASSERT_TRUE(find("describe", 1, 2, &describe).ok());
  void *queue = makeQueue(2);
  DeviceAddress out = allocate(32);
  std::vector<int64_t> in(4, 42), said(4);
  copyIn(queue, out, in);
  Dispatches work;
  work.add(describe, 0, {out}, {1, 2});
  ASSERT_TRUE(ops().submit(queue, work.submission()).ok());
  ASSERT_TRUE(ops().readBack(queue, out, said.data(), 32).ok());
  EXPECT_EQ(said, in);
}

TEST_F(OpenCLKernels, BuffersAreAligned) {
  const void *misalignment = nullptr;
  ASSERT_TRUE(find("misalignment", 1, 0, &misalignment).ok());
  void *queue = makeQueue(1);
  for (uint64_t size : {72, 4096, 100000}) {
    DeviceAddress memory = allocate(size);
    Dispatches work;
    work.add(misalignment, 1, {memory + 64}, {});
    ASSERT_TRUE(ops().submit(queue, work.submission()).ok());
    uint64_t found = 1;
    ASSERT_TRUE(ops().readBack(queue, memory + 64, &found, 8).ok());
    EXPECT_EQ(found, 0u);
  }
}

class OpenCLFaults : public OpenCLKernels {
protected:
  void SetUp() override {
    OpenCLKernels::SetUp();
    if (!program)
      return;
    ASSERT_TRUE(find("check_f32", 2, 2, &check).ok());
    good = allocate(64), bad = allocate(64), worse = allocate(64),
    out = allocate(64);
    void *queue = makeQueue(1);
    std::vector<float> a(16, 5.0f), b(16, -1.0f), c(16, -2.0f);
    copyIn(queue, good, a);
    copyIn(queue, bad, b);
    copyIn(queue, worse, c);
    ASSERT_TRUE(finish(queue));
  }
  void add(Dispatches &work, DeviceAddress in) {
    work.add(check, 4, {in, out}, {16, 4});
  }
  const void *check = nullptr;
  DeviceAddress good, bad, worse, out;
};

TEST_F(OpenCLFaults, TheFirstIsReportedWhereTheHostWaits) {
  void *queue = makeQueue(2);
  char byte;
  for (int how = 0; how != 3; ++how) {
    Dispatches work, next;
    add(work, good);
    work.barrier();
    add(work, worse);
    work.barrier();
    add(work, bad);
    ASSERT_TRUE(ops().submit(queue, work.submission()).ok());
    if (how == 0)
      ASSERT_TRUE(finish(queue));
    else if (how == 1)
      ASSERT_TRUE(ops().readBack(queue, out, &byte, 1).ok());
    else
      destroyLastQueue();
    EXPECT_EQ(work.failedWith(77), 2);
    if (how == 2)
      break;
    // The next run begins clean, and says nothing to the last one's control.
    work.control.reset(Clock(), 0);
    add(next, good);
    ASSERT_TRUE(ops().submit(queue, next.submission()).ok());
    ASSERT_TRUE(finish(queue));
    EXPECT_EQ(next.failedWith(0), -1);
    EXPECT_EQ(work.failedWith(0), -1);
  }
}

TEST_F(OpenCLFaults, EachRunHearsOfItsOwn) {
  // Several runs, none of which is waited for before the next one begins.
  void *queue = makeQueue(1);
  Dispatches first, second, third;
  add(first, bad);
  add(second, good);
  third.barrier();
  add(third, worse);
  for (Dispatches *each : {&first, &second, &third})
    ASSERT_TRUE(ops().submit(queue, each->submission()).ok());
  ASSERT_TRUE(finish(queue));
  EXPECT_EQ(first.failedWith(ASHLAR_KERNEL_INDEX_OUT_OF_RANGE), 0);
  EXPECT_EQ(second.failedWith(0), -1);
  EXPECT_EQ(third.failedWith(77), 1);
}

TEST_F(OpenCLFaults, AQueueHearsOfNoOtherQueues) {
  void *one = makeQueue(1), *other = makeQueue(1);
  Dispatches failing, sound;
  add(failing, bad);
  add(sound, good);
  ASSERT_TRUE(ops().submit(one, failing.submission()).ok());
  ASSERT_TRUE(ops().submit(other, sound.submission()).ok());
  ASSERT_TRUE(finish(other));
  EXPECT_EQ(sound.failedWith(0), -1);
  ASSERT_TRUE(finish(one));
  EXPECT_EQ(failing.failedWith(ASHLAR_KERNEL_INDEX_OUT_OF_RANGE), 0);
}

TEST_F(OpenCLKernels, WhatIsNoKernelOfTheFormIsRefused) {
  const void *kernel = nullptr;
  Status status = find("absent", 1, 0, &kernel);
  EXPECT_EQ(status.code(), ASHLAR_CORRUPT);
  EXPECT_STREQ(status.message(), "the SPIR-V module lacks the kernel absent");
  status = find("bare", 1, 0, &kernel);
  EXPECT_EQ(status.code(), ASHLAR_CORRUPT);
  EXPECT_STREQ(status.message(), "kernel bare takes 1 arguments; expected 8, "
                                 "for 1 bindings and 0 integers");
  status = find("add_f32", 3, 2, &kernel, 32);
  EXPECT_EQ(status.code(), ASHLAR_UNSUPPORTED);
  EXPECT_NE(std::string(status.message()).find("does not have"),
            std::string::npos)
      << status.message();
  EXPECT_EQ(kernel, nullptr);
}

TEST_F(OpenCLKernels, BrokenCodeDoesNotReachTheDriver) {
  const std::vector<uint8_t> sound = openclKernels();
  auto load = [&](std::vector<uint8_t> code, const char *why) {
    void *loaded = nullptr;
    Status status =
        ops().loadExecutable(state(), code.data(), code.size(), &loaded);
    EXPECT_EQ(status.code(), ASHLAR_CORRUPT);
    EXPECT_EQ(loaded, nullptr);
    EXPECT_NE(std::string(status.message()).find(why), std::string::npos)
        << status.message();
  };
  auto changed = [&](size_t at, uint8_t to) {
    std::vector<uint8_t> code = sound;
    code[at] = to;
    return code;
  };
  auto begin = sound.begin();
  load({}, "does not begin");
  load({begin, begin + 20}, "does not begin");
  load({begin, sound.end() - 1}, "does not begin");
  load(changed(0, 1), "does not begin");
  load(changed(5, 5), "version 1.5; expected 1.0 to 1.4");
  load(changed(6, 2), "version 2.");
  load({begin, sound.end() - 4}, "does not end with a function");
  load({begin, begin + 36}, "memory model");
  // Behind the first of its functions, too.
  size_t end = 20;
  for (uint32_t op = 0; op != 56;
       end += 4 * (sound[end + 2] | sound[end + 3] << 8))
    op = uint32_t(sound[end] | sound[end + 1] << 8);
  load({begin, begin + long(end)}, "lacks the function of a kernel");
  // Every cut is seen, wherever it is.
  for (size_t size = 24; size < sound.size(); size += 4 * 61)
    load({begin, begin + long(size)}, "no SPIR-V module for OpenCL");
  std::vector<uint8_t> endless = sound;
  endless[22] = endless[23] = 0; // an instruction of no words
  load(endless, "cut off");
}

TEST_F(OpenCLKernels, WhatTheDriverDoesNotBuildIsAStatusWithItsLog) {
  std::vector<uint8_t> code = openclUnresolved();
  void *loaded = nullptr;
  Status status =
      ops().loadExecutable(state(), code.data(), code.size(), &loaded);
  EXPECT_EQ(loaded, nullptr);
  EXPECT_EQ(status.code(), ASHLAR_UNSUPPORTED);
  std::string said = status.message();
  EXPECT_EQ(said.find("clBuildProgram failed with CL_"), 0u) << said;
  EXPECT_NE(said.find(" on opencl:0 ("), said.npos) << said;
  EXPECT_NE(said.find("log: "), said.npos) << said;
  EXPECT_NE(said.find("nowhere"), said.npos) << said;
  // And the device goes on.
  std::vector<uint8_t> sound = openclKernels();
  ASSERT_TRUE(
      ops().loadExecutable(state(), sound.data(), sound.size(), &loaded).ok());
  ops().unloadExecutable(state(), loaded);
}

TEST_F(OpenCLKernels, SaysWhatTheDriverHas) {
  EXPECT_TRUE(device->hasFeature("cl_khr_global_int32_base_atomics"));
  EXPECT_EQ(device->features.find(' '), std::string::npos);
  EXPECT_FALSE(device->hasFeature(""));
  EXPECT_FALSE(ops().accepts(state(), "elf-x86_64"));
  Status status = ops().checkMemory(state(), uint64_t(1) << 50);
  EXPECT_EQ(status.code(), ASHLAR_OUT_OF_BUDGET);
  EXPECT_NE(std::string(status.message()).find("opencl:0 ("), std::string::npos)
      << status.message();
}

} // namespace
