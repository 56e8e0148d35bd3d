// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests that are joined: each gets what it would get alone, and only what is
// wrong with itself.

#include "ashlar/runtime/batching.h"
#include "Loaded.h"

#include <atomic>
#include <random>
#include <thread>

using namespace ashlar::test;
namespace fb = ashlar::fb;
using ashlar::BatchTicket;
using ashlar::Status;
using fb::SizeOpcode;
using fb::Storage;
using std::chrono::hours;
using std::chrono::milliseconds;

namespace {

constexpr int64_t mostRows = 16, mostColumns = 8;

void addSymbol(ModuleBuilder &b, const char *name, int64_t maximum) {
  auto symbol = std::make_unique<fb::SymbolT>();
  symbol->name = name;
  symbol->minimum = 1;
  symbol->maximum = maximum;
  b.module.symbols.push_back(std::move(symbol));
}

std::vector<Size> shapeOf(Size first, Size second) {
  std::vector<Size> shape;
  shape.push_back(std::move(first));
  shape.push_back(std::move(second));
  return shape;
}

Size times(int64_t factor, int64_t largest) {
  return expression({{SizeOpcode::Symbol, 0},
                     {SizeOpcode::Constant, factor},
                     {SizeOpcode::Multiply, 0}},
                    factor * largest);
}

/// z = x times factor[0] on float[N, W]; a row that begins with a negative
/// number is an error. A group is a row.
ModuleBuilder rowsModule() {
  ModuleBuilder b;
  b.addKernelCode();
  uint32_t kernel = b.addKernel("rows_f32", 3, 3);
  addSymbol(b, "N", mostRows);
  addSymbol(b, "max_len", mostColumns);
  auto matrix = [] {
    return shapeOf(symbol(0, mostRows), symbol(1, mostColumns));
  };
  std::vector<Size> one;
  one.push_back(constant(1));
  b.addInput("x", matrix());
  b.addInput("factor", std::move(one));
  b.addOutput("z", matrix());
  auto bytes = [] {
    return expression({{SizeOpcode::Symbol, 0},
                       {SizeOpcode::Symbol, 1},
                       {SizeOpcode::Multiply, 0},
                       {SizeOpcode::Constant, sizeof(float)},
                       {SizeOpcode::Multiply, 0}},
                      mostRows * mostColumns * int64_t(sizeof(float)));
  };
  std::vector<std::unique_ptr<fb::BindingT>> bindings;
  bindings.push_back(b.bind(Storage::Input, 0, constant(0), bytes(), false));
  bindings.push_back(
      b.bind(Storage::Input, 1, constant(0), constant(sizeof(float)), false));
  bindings.push_back(b.bind(Storage::Output, 0, constant(0), bytes(), true));
  std::vector<Size> parameters;
  parameters.push_back(symbol(0, mostRows));
  parameters.push_back(constant(1));
  parameters.push_back(symbol(1, mostColumns));
  b.dispatch(kernel, std::move(bindings), std::move(parameters),
             symbol(0, mostRows));
  return b;
}

/// z = 2 x, from 2 N floats in one shape to as many in another.
ModuleBuilder pairsModule(std::vector<Size> from, std::vector<Size> to) {
  ModuleBuilder b;
  b.addKernelCode();
  uint32_t kernel = b.addKernel("double_f32", 2, 2, 2 * sizeof(float));
  addSymbol(b, "N", mostRows);
  b.addInput("x", std::move(from));
  b.addOutput("z", std::move(to));
  std::vector<std::unique_ptr<fb::BindingT>> bindings;
  for (Storage storage : {Storage::Input, Storage::Output})
    bindings.push_back(b.bind(storage, 0, constant(0),
                              times(2 * sizeof(float), mostRows),
                              storage == Storage::Output));
  std::vector<Size> parameters;
  parameters.push_back(times(2, mostRows));
  parameters.push_back(constant(2));
  b.contract().scratch_bytes_per_worker = 2 * sizeof(float);
  b.dispatch(kernel, std::move(bindings), std::move(parameters),
             symbol(0, mostRows));
  return b;
}

/// An embedder's threads that begin when they may.
class Blocker {
public:
  ashlar_executor_t executor() { return {this, 2, run}; }
  void block() {
    std::lock_guard<std::mutex> lock(mutex);
    isOpen = false;
  }
  /// Lets a run go on, and knows that it does.
  void open() {
    std::unique_lock<std::mutex> lock(mutex);
    isOpen = true;
    changed.notify_all();
    changed.wait(lock, [&] { return !isBlocked; });
  }
  /// Until a run has come.
  void awaitRun() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return isBlocked; });
  }

private:
  static void run(void *context, uint32_t shares,
                  ashlar_task_function_t function, void *task) {
    auto &self = *static_cast<Blocker *>(context);
    {
      std::unique_lock<std::mutex> lock(self.mutex);
      self.isBlocked = !self.isOpen;
      self.changed.notify_all();
      self.changed.wait(lock, [&] { return self.isOpen; });
      self.isBlocked = false;
      self.changed.notify_all();
    }
    for (uint32_t i = 0; i < shares; ++i)
      function(task, i);
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = true, isBlocked = false;
};

/// Of rowsModule.
struct Request {
  explicit Request(int64_t rows = 1, int64_t columns = 3, float first = 1,
                   float factor = 2)
      : x(size_t(rows * columns)), z(x.size(), -999), factor(factor) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = first + float(i);
    inputs = {ashlar::tensor(x.data(), {rows, columns}),
              ashlar::tensor(&this->factor, {1})};
    outputs = {ashlar::tensor(z.data(), {rows, columns})};
    outputs[0].type = ASHLAR_TYPE_NONE;
    outputs[0].rank = 0;
  }
  Request(const Request &) = delete;
  void expectResult() const {
    ASSERT_EQ(outputs[0].rank, 2u);
    EXPECT_EQ(outputs[0].shape[0], inputs[0].shape[0]);
    EXPECT_EQ(outputs[0].shape[1], inputs[0].shape[1]);
    EXPECT_EQ(outputs[0].type, uint32_t(ASHLAR_TYPE_F32));
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(z[i], x[i] * factor) << i;
  }
  void expectNothing() const {
    for (float each : z)
      ASSERT_EQ(each, -999);
  }
  std::vector<float> x, z;
  float factor;
  std::vector<ashlar_tensor_t> inputs, outputs;
};

void expectOk(const Status &status) {
  EXPECT_TRUE(status.ok()) << status.message() << " [" << status.place() << "]";
}
void expectFails(const Status &status, int32_t code, const char *words) {
  EXPECT_STREQ(status.codeName(), ashlar_status_code_name(code));
  EXPECT_NE(status.message().find(words), std::string::npos)
      << status.message() << " [" << status.place() << "]";
}

class Batching : public testing::Test {
protected:
  void SetUp() override {
    ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
    ashlar_executor_t executor = blocker.executor();
    options.threads = 2;
    options.executor = &executor;
    runtime = std::make_unique<ashlar::Runtime>(&options);
    load(rowsModule());
    settings.symbol = "N";
  }
  void load(ModuleBuilder builder) {
    bytes = std::make_unique<ModuleBytes>(builder.build());
    ashlar_load_options_t options = trusting();
    module = {};
    expectOk(
        module.tryLoad(runtime->get(), bytes->data(), bytes->size(), &options));
    ASSERT_OK(ashlar_module_entry_at(module.get(), 0, &entry));
  }
  ashlar::Batcher batcher() { return {module, entry, settings}; }
  void expectRefused(const char *words) {
    ashlar::Batcher refused;
    expectFails(refused.tryCreate(module.get(), entry, settings),
                ASHLAR_INVALID_ARGUMENT, words);
  }

  Blocker blocker;
  std::unique_ptr<ashlar::Runtime> runtime;
  std::unique_ptr<ModuleBytes> bytes;
  ashlar::Module module;
  ashlar_entry_t *entry = nullptr;
  ashlar::BatchingOptions settings;
};

TEST_F(Batching, EachCallerGetsItsOwnRows) {
  settings.sessions = 2;
  settings.maximumDelay = milliseconds(2);
  ashlar::Batcher joined = batcher();
  constexpr int threadCount = 4, rounds = 150;
  std::atomic<uint64_t> rows{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < threadCount; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random{unsigned(t)};
      ashlar::Session alone = module.session();
      for (int i = 0; i < rounds; ++i) {
        auto make = [&](int64_t count) {
          return std::make_unique<Request>(count, 1 + random() % 3,
                                           float(random() % 1000),
                                           float(1 + random() % 2));
        };
        // Several at a time, and once in a while one at fault.
        std::unique_ptr<Request> some[3];
        BatchTicket tickets[3];
        for (int k = 0; k < 3; ++k) {
          some[k] = make(1 + random() % 5);
          if (random() % 16 == 0)
            some[k]->x[0] = -1;
          rows += uint64_t(some[k]->inputs[0].shape[0]);
          tickets[k] = joined.start(some[k]->inputs, some[k]->outputs);
        }
        for (int k = 0; k < 3; ++k) {
          bool done = false;
          Status status = tickets[k].tryWait(done);
          EXPECT_TRUE(done);
          std::vector<float> found = some[k]->z;
          Status expected =
              alone.tryRun(entry, some[k]->inputs, some[k]->outputs);
          EXPECT_EQ(status.code(), expected.code()) << status.message();
          if (expected.ok())
            EXPECT_EQ(found, some[k]->z);
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  ashlar::BatchingStatistics counts = joined.statistics();
  EXPECT_EQ(counts.requests, uint64_t(3 * threadCount * rounds));
  EXPECT_GE(counts.rows, rows); // those of splits again
  EXPECT_LT(counts.batches, counts.requests);
  EXPECT_GT(counts.splits, 0u);
}

TEST_F(Batching, ABatchIsFullOrItsTimeHasCome) {
  settings.maximumSize = 8;
  settings.maximumDelay = hours(1);
  ashlar::Batcher joined = batcher();
  Request a(4), b(4, 3, 100), c(5, 3, 200), d(4, 3, 300);
  BatchTicket first = joined.start(a.inputs, a.outputs);
  bool done = true;
  expectOk(first.tryWait(done, milliseconds(10)));
  EXPECT_FALSE(done);
  BatchTicket second = joined.start(b.inputs, b.outputs);
  first.wait();
  second.wait();
  EXPECT_EQ(joined.statistics().batches, 1u);
  EXPECT_EQ(joined.statistics().rows, 8u);
  // What does not fit in goes into the next.
  first = joined.start(c.inputs, c.outputs);
  second = joined.start(d.inputs, d.outputs);
  first.wait();
  expectOk(second.tryWait(done, milliseconds(10)));
  EXPECT_FALSE(done);
  EXPECT_EQ(joined.statistics().rows, 13u);
  // It waits for half of its time.
  Request e(1, 2);
  joined.run(e.inputs, e.outputs, milliseconds(50));
  joined.close();
  second.wait();
  for (const Request *each : {&a, &b, &c, &d, &e})
    each->expectResult();
  settings.maximumDelay = milliseconds(5);
  joined = batcher();
  Request f(2);
  joined.run(f.inputs, f.outputs);
  f.expectResult();
}

TEST_F(Batching, OneBadRequestFailsAlone) {
  settings.maximumSize = 8;
  settings.maximumDelay = hours(1);
  ashlar::Batcher joined = batcher();
  std::unique_ptr<Request> requests[8];
  BatchTicket tickets[8];
  for (int i = 0; i < 8; ++i) {
    requests[i] = std::make_unique<Request>(1, 3, i == 5 ? -9 : float(i + 1));
    if (i == 2) // its caller has no room
      requests[i]->outputs[0].capacity = 8;
    tickets[i] = joined.start(requests[i]->inputs, requests[i]->outputs);
  }
  for (int i = 0; i < 8; ++i) {
    bool done = false;
    Status status = tickets[i].tryWait(done);
    EXPECT_TRUE(done);
    if (i == 2)
      expectFails(status, ASHLAR_INVALID_ARGUMENT, "room for 8 bytes");
    else if (i == 5)
      expectFails(status, ASHLAR_INTERNAL, "rows_f32");
    else
      requests[i]->expectResult();
    EXPECT_EQ(status.ok(), i != 2 && i != 5) << status.message();
  }
  requests[2]->expectNothing();
  EXPECT_EQ(joined.statistics().splits, 3u); // of 8, 4 and 2
}

TEST_F(Batching, WhatDiffersIsNotJoined) {
  settings.maximumDelay = hours(1);
  ashlar::Batcher joined = batcher();
  Request a(2), wider(2, 4), otherFactor(2, 3, 1, 5), same(2, 3, 50);
  BatchTicket tickets[4];
  int i = 0;
  for (Request *each : {&a, &wider, &otherFactor, &same})
    tickets[i++] = joined.start(each->inputs, each->outputs);
  joined.close();
  for (BatchTicket &ticket : tickets)
    ticket.wait();
  for (const Request *each : {&a, &wider, &otherFactor, &same})
    each->expectResult();
  EXPECT_EQ(joined.statistics().batches, 3u);
}

TEST_F(Batching, RequestsEndInTimeOrWhenTheyAreCancelled) {
  settings.maximumSize = 4;
  settings.maximumDelay = hours(1);
  ashlar::Batcher joined = batcher();
  Request a(2), b(2, 3, 10), c(2, 3, 20), d(2, 3, 30), late(1, 3, 40);
  bool done = false;
  // While it waits for others.
  BatchTicket first = joined.start(a.inputs, a.outputs);
  first.cancel();
  expectFails(first.tryWait(done, milliseconds(0)), ASHLAR_CANCELLED,
              "was cancelled");
  EXPECT_TRUE(done);
  // While its batch runs: at once.
  blocker.block();
  first = joined.start(a.inputs, a.outputs);
  BatchTicket second = joined.start(b.inputs, b.outputs);
  blocker.awaitRun();
  first.cancel();
  expectFails(first.tryWait(done, milliseconds(0)), ASHLAR_CANCELLED,
              "was cancelled");
  a.expectNothing();
  // While the only session is busy.
  expectFails(joined.tryRun(late.inputs, late.outputs, milliseconds(10)),
              ASHLAR_CANCELLED, "time was over");
  blocker.open();
  second.wait();
  b.expectResult();
  // All of a batch.
  blocker.block();
  first = joined.start(a.inputs, a.outputs);
  second = joined.start(b.inputs, b.outputs);
  blocker.awaitRun();
  first = {}; // which cancels
  second.cancel();
  blocker.open();
  expectFails(second.tryWait(done), ASHLAR_CANCELLED, "was cancelled");
  // One that is alone uses the caller's memory until its session lets go.
  blocker.block();
  Request alone(4, 3, 70);
  first = joined.start(alone.inputs, alone.outputs);
  blocker.awaitRun();
  first.cancel();
  expectOk(first.tryWait(done, milliseconds(0)));
  EXPECT_FALSE(done);
  blocker.open();
  expectFails(first.tryWait(done), ASHLAR_CANCELLED, "was cancelled");
  // The next ones are as if nothing had been.
  first = joined.start(c.inputs, c.outputs);
  second = joined.start(d.inputs, d.outputs);
  first.wait();
  second.wait();
  c.expectResult();
  d.expectResult();
}

TEST_F(Batching, ClosingIsClean) {
  settings.maximumDelay = hours(1);
  settings.maximumWaiting = 2;
  ashlar::Batcher joined = batcher();
  Request a, b, c;
  BatchTicket first = joined.start(a.inputs, a.outputs);
  BatchTicket second = joined.start(b.inputs, b.outputs);
  BatchTicket third;
  expectFails(joined.tryStart(c.inputs, c.outputs, third), ASHLAR_OUT_OF_BUDGET,
              "2 requests wait already");
  EXPECT_FALSE(third);
  joined.close(/*drops=*/true);
  joined.close();
  bool done = false;
  for (BatchTicket *each : {&first, &second})
    expectFails(each->tryWait(done), ASHLAR_CANCELLED, "closed");
  expectFails(joined.tryRun(c.inputs, c.outputs), ASHLAR_CANCELLED, "closed");
  expectFails(third.tryWait(done), ASHLAR_INVALID_ARGUMENT, "nothing");
  // Nothing is left of it.
  ashlar_holder_t holders[16];
  size_t count = 0;
  ashlar_budget_t *root = nullptr;
  ASSERT_OK(ashlar_runtime_budget(runtime->get(), &root));
  ASSERT_OK(ashlar_budget_holders(root, holders, 16, &count));
  for (size_t i = 0; i < std::min<size_t>(count, 16); ++i)
    EXPECT_LE(holders[i].kind, uint32_t(ASHLAR_MEMORY_CODE)) << holders[i].name;
  ashlar_budget_release(root);
  // From several threads, with callers under way.
  settings = {};
  settings.symbol = "N";
  joined = batcher();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0;; ++k) {
        Request mine(1 + k % 3);
        Status status = joined.tryRun(mine.inputs, mine.outputs);
        if (!status.ok())
          return expectFails(status, ASHLAR_CANCELLED, "closed");
        mine.expectResult();
      }
    });
  // Until some are waiting.
  while (joined.statistics().requests < 4)
    std::this_thread::yield();
  std::thread other([&] { joined.close(); });
  joined.close();
  other.join();
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(Batching, RowsMayLieAlongAnyDim) {
  auto run = [&](std::vector<int64_t> unit, size_t dim) {
    settings.maximumSize = 4;
    settings.maximumDelay = hours(1);
    ashlar::Batcher joined = batcher();
    std::vector<float> x[2], z[2];
    std::vector<ashlar_tensor_t> outputs[2];
    BatchTicket tickets[2];
    for (int i : {0, 1}) {
      int64_t rows = i ? 3 : 1;
      unit[dim] = rows;
      for (int64_t k = 0; k < 2 * rows; ++k)
        x[i].push_back(float(10 * i + k));
      z[i].resize(x[i].size());
      outputs[i] = {ashlar::tensor(z[i].data(), {2 * rows})};
      tickets[i] =
          joined.start({ashlar::tensor(x[i].data(), unit)}, outputs[i]);
    }
    for (int i : {0, 1}) {
      tickets[i].wait();
      for (size_t k = 0; k < x[i].size(); ++k)
        EXPECT_EQ(z[i][k], 2 * x[i][k]) << i << ", " << k;
    }
    EXPECT_EQ(joined.statistics().batches, 1u);
    EXPECT_EQ(outputs[1][0].shape[dim], unit[dim]);
  };
  auto columns = [] { return shapeOf(constant(2), symbol(0, mostRows)); };
  load(pairsModule(columns(), columns()));
  run({2, 0}, 1);
  settings.symbol.clear(); // by number
  settings.inputDims = {1};
  settings.outputDims = {1};
  run({2, 0}, 1);
}

TEST_F(Batching, AnOutputMayHaveSeveralRowsForEach) {
  std::vector<Size> flat;
  flat.push_back(times(2, mostRows));
  load(pairsModule(shapeOf(symbol(0, mostRows), constant(2)), std::move(flat)));
  // No dim of it is called so.
  expectRefused("no rows to give back");
  settings.symbol.clear();
  settings.maximumSize = 3;
  settings.maximumDelay = hours(1);
  ashlar::Batcher joined = batcher();
  float x[6] = {1, 2, 3, 4, 5, 6}, z[6] = {};
  std::vector<ashlar_tensor_t> one = {ashlar::tensor(z, {2})},
                               two = {ashlar::tensor(z + 2, {4})};
  BatchTicket first = joined.start({ashlar::tensor(x, {1, 2})}, one);
  BatchTicket second = joined.start({ashlar::tensor(x + 2, {2, 2})}, two);
  first.wait();
  second.wait();
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(z[i], 2 * x[i]);
  EXPECT_EQ(two[0].shape[0], 4);
}

TEST_F(Batching, WhatCannotBeIsSaid) {
  settings.symbol = "M";
  expectRefused("no dim of it is joined");
  settings.symbol.clear(); // the factor's first dim is fixed
  expectRefused("size 0 is fixed");
  settings.inputDims = {0};
  expectRefused("1 tensors; the entry has 2");
  settings.inputDims = {2, -1};
  settings.outputDims = {0};
  expectRefused("has no dim 2");
  settings.inputDims = {0, -1};
  ashlar::Batcher joined = batcher();
  settings.maximumSize = 17;
  expectRefused("at most 16");
  settings.maximumSize = 0;
  settings.sessions = 0;
  expectRefused("1 to 1024");
  settings.sessions = 1;
  settings.maximumDelay = hours(2);
  expectRefused("0 to an hour");
  ashlar::Batcher none;
  expectFails(none.tryCreate(nullptr, entry), ASHLAR_INVALID_ARGUMENT, "NULL");
  // Of a request, before it waits.
  Request a(2);
  auto expectBad = [&](const char *words, const char *place) {
    Status status = joined.tryRun(a.inputs, a.outputs);
    expectFails(status, ASHLAR_INVALID_ARGUMENT, words);
    EXPECT_EQ(status.place(), place);
  };
  const Request good(2);
  a.inputs.pop_back();
  expectBad("1 tensors; the entry has 2", "inputs");
  a.inputs = good.inputs;
  a.inputs[0].type = ASHLAR_TYPE_I32;
  expectBad("i32", "inputs[0] x");
  a.inputs[0] = good.inputs[0];
  a.inputs[0].shape[0] = 17;
  expectBad("17", "inputs[0] x");
  a.inputs[0] = good.inputs[0];
  a.inputs[0].data = nullptr;
  expectBad("needs 24 bytes; there are 0", "inputs[0] x");
  a.inputs[0] = good.inputs[0];
  a.outputs[0].data = nullptr;
  expectBad("data is NULL", "outputs[0] z");
  a.outputs[0] = good.outputs[0];
  a.outputs[0].type = ASHLAR_TYPE_I8;
  expectBad("its type is i8", "outputs[0] z");
  a.outputs = {};
  expectBad("0 tensors; the entry has 1", "outputs");
  EXPECT_EQ(joined.statistics().requests, 0u);
  load(sampleModule());
  settings = {};
  expectRefused("is fixed; compile it with --dim");
}

TEST(JoinTensors, NamesMayHaveAnX) {
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  info.shape_text = "max_lenx3xNx2*hx<=8";
  info.rank = 5;
  for (uint32_t i = 0; i < info.rank; ++i)
    info.shape[i] = i == 1 ? 3 : i == 4 ? 8 : -1;
  EXPECT_EQ(ashlar::detail::sizeTexts(info, "max_len"),
            (std::vector<std::string>{"max_len", "3", "N", "2*h", "<=8"}));
  info.shape_text = "max";
  info.rank = 1;
  info.shape[0] = -1;
  EXPECT_EQ(ashlar::detail::sizeTexts(info, ""),
            std::vector<std::string>{"max"});
}

} // namespace
