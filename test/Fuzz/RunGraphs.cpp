// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles graphs for a target and for `reference`, runs both on the same
// inputs and says how far their results are from each other. Each graph has a
// process of its own, so that one that brings the compiler down is only a line
// of output.
//
// A line of input is FOLDER TARGET THREADS and flags of ashlar-compile:
// --exact-convolution, --fuse=LEVEL, --machine=FILE. The folder is in the
// layout of ONNX's tests. Where it has expected outputs, the
// reference's are measured against them, too. A line of output is a JSON
// object, in the order of the input. --write-reference keeps what the
// reference computed in FOLDER/reference/output_K.pb.
//
// With --dim=N=1..8 and --shape=x=Nx3 a graph is compiled for open sizes, and
// at each of --at=1/2/8 (1,16/8,16 with two symbols) held against the compile
// for that size alone. Its inputs are the folder's, repeated or cut.
#include "ashlar/Check/ModelRun.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <csignal>
#include <cstring>
#include <iostream>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;
namespace json = llvm::json;

namespace {
llvm::cl::opt<unsigned>
    seconds("seconds", llvm::cl::desc("Limit of one, of the processor"),
            llvm::cl::init(30));
llvm::cl::opt<unsigned> jobs("jobs", llvm::cl::desc("Graphs at a time"),
                             llvm::cl::init(2));
llvm::cl::opt<bool> writeReference("write-reference",
                                   llvm::cl::desc("Keep its results"));

struct Job {
  std::string folder;
  std::vector<TargetRequest> targets;
  unsigned threads = 1;
  CompileOptions flags;
  /// With open sizes: where to look, values of all symbols each.
  std::vector<std::vector<int64_t>> points;
};

/// A job that is running, or its answer.
struct Child {
  size_t job;
  pid_t process;
  int pipe;
  std::string received;
};
} // namespace

static Expected<std::vector<Tensor>> readTensors(const std::string &prefix) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    std::string path = prefix + "_" + std::to_string(i) + ".pb";
    if (!llvm::sys::fs::exists(path))
      return tensors;
    Expected<Tensor> tensor = readTensor(path);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
}

/// Compiles and loads; otherwise says in `answer` what stopped it.
static bool prepare(ModelRun &run, const Job &job,
                    const std::vector<TargetRequest> &targets,
                    CompileOptions options, json::Object &answer) {
  options.input = job.folder + "/model.onnx";
  options.targets = targets;
  options.threads = 1;
  auto stop = [&](const char *status, const std::string &why) {
    answer["status"] = status;
    answer["target"] = targets.front().target;
    answer["why"] = why;
    return false;
  };
  auto compiled = run.compile(options);
  if (!compiled)
    return stop("refused", llvm::toString(compiled.takeError()));
  switch (compiled->result.status) {
  case CompileStatus::Done:
    break;
  case CompileStatus::Unsupported:
    return stop("unsupported", compiled->result.unsupported.front().op + ", " +
                                   compiled->result.unsupported.front().reason);
  case CompileStatus::OurFault:
    return stop("fault", compiled->error);
  default:
    return stop("refused", compiled->error);
  }
  if (Error error = run.load(job.threads))
    return stop("not loaded", llvm::toString(std::move(error)));
  return true;
}

/// Every float a little larger or smaller, as rounding might have left it: what
/// that does to the results is what rounding may do to them.
static std::vector<Tensor> disturb(std::vector<Tensor> tensors) {
  uint32_t state = 1;
  auto up = [&] {
    state = state * 1664525 + 1013904223;
    return state >> 31;
  };
  for (Tensor &tensor : tensors)
    for (int64_t i = 0, count = tensor.elementCount(); i != count; ++i) {
      char *data =
          tensor.bytes.data() + i * ashlar_element_type_size(tensor.type);
      if (tensor.type == ASHLAR_TYPE_F32) {
        float value;
        std::memcpy(&value, data, 4);
        value *= up() ? 1 + 0x1p-20f : 1 - 0x1p-20f;
        std::memcpy(data, &value, 4);
      } else if (tensor.type == ASHLAR_TYPE_F64) {
        double value;
        std::memcpy(&value, data, 8);
        value *= up() ? 1 + 0x1p-48 : 1 - 0x1p-48;
        std::memcpy(data, &value, 8);
      } else if (tensor.type == ASHLAR_TYPE_F16 ||
                 tensor.type == ASHLAR_TYPE_BF16) {
        // Neighbours have neighbouring bits; zeros and what follows them stay.
        uint16_t bits, most = tensor.type == ASHLAR_TYPE_F16 ? 0x7bff : 0x7f7f;
        std::memcpy(&bits, data, 2);
        if ((bits & 0x7fff) > 1 && (bits & 0x7fff) < most)
          bits += up() ? 1 : -1;
        std::memcpy(data, &bits, 2);
      }
    }
  return tensors;
}

static json::Object describe(const Difference &difference,
                             const std::vector<int64_t> &shape) {
  auto finite = [](double value) -> json::Value {
    return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
  };
  return json::Object{{"other_type", difference.otherType},
                      {"largest", finite(difference.largest)},
                      {"scale", finite(difference.scale)},
                      {"unequal", difference.unequal},
                      {"apart", difference.apart},
                      {"at", spellIndex(difference.place, shape)},
                      {"found", difference.found},
                      {"expected", difference.expected},
                      {"ulps", difference.ulps}};
}

/// A tensor of another shape from the elements of this one.
static Tensor reshaped(const Tensor &tensor, std::vector<int64_t> shape) {
  Tensor other = tensor;
  other.shape = std::move(shape);
  size_t size = other.elementCount() * ashlar_element_type_size(tensor.type);
  other.bytes.resize(size);
  for (size_t i = tensor.bytes.size(); i < size; ++i)
    other.bytes[i] =
        tensor.bytes.empty() ? 0 : tensor.bytes[i % tensor.bytes.size()];
  return other;
}

/// The options for one size of the open ones.
static CompileOptions optionsAt(const CompileOptions &open,
                                const std::vector<int64_t> &point) {
  CompileOptions fixed = open;
  fixed.sizes.clear();
  fixed.symbolicShapes.clear();
  for (auto &[name, dims] : open.symbolicShapes)
    for (const std::string &dim : dims)
      fixed.shapes[name].push_back(sizeOfDim(dim, open.sizes, point));
  return fixed;
}

/// Open sizes at one point, beside a compile for it.
static json::Object runAt(const Job &job, ModelRun &open,
                          const std::vector<Tensor> &given,
                          const std::vector<int64_t> &point) {
  json::Object answer{
      {"at",
       llvm::join(llvm::map_range(
                      point, [](int64_t size) { return std::to_string(size); }),
                  ",")}};
  CompileOptions options = optionsAt(job.flags, point);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i != given.size(); ++i) {
    auto info = open.input(i);
    auto shape = options.shapes.end();
    if (info)
      shape = options.shapes.find(info->name);
    else
      llvm::consumeError(info.takeError());
    inputs.push_back(shape == options.shapes.end()
                         ? given[i]
                         : reshaped(given[i], shape->second));
  }
  auto found = open.run(inputs, ModelRun::Guard::Before);
  if (!found) {
    answer["status"] = "refused";
    answer["why"] = llvm::toString(found.takeError());
    return answer;
  }
  ModelRun fixed;
  if (!prepare(fixed, job, job.targets, options, answer)) {
    answer["status"] = "served";
    return answer;
  }
  auto again = open.run(inputs, ModelRun::Guard::Behind);
  auto expected = fixed.run(inputs);
  auto disturbed = fixed.run(disturb(inputs));
  for (auto *results : {&again, &expected, &disturbed})
    if (!*results) {
      answer["status"] = results == &again ? "failed" : "served";
      answer["why"] = llvm::toString(results->takeError());
    }
  if (answer.get("status"))
    return answer;
  answer["status"] = "ran";
  json::Array outputs;
  for (auto [i, ours] : llvm::enumerate(*expected))
    for (const Tensor *of : {&(*found)[i], &(*again)[i]})
      outputs.push_back(json::Object{
          {"name", ours.name},
          {"index", int64_t(i)},
          {"type", spellType(ours.type, ours.shape.data(), ours.shape.size())},
          {"found_type",
           spellType(of->type, of->shape.data(), of->shape.size())},
          {"target", describe(measure(*of, ours), ours.shape)},
          {"noise", describe(measure((*disturbed)[i], ours), ours.shape)}});
  answer["outputs"] = std::move(outputs);
  return answer;
}

/// Runs one job with open sizes.
static json::Object runOpen(const Job &job, const std::vector<Tensor> &inputs) {
  json::Object answer;
  ModelRun open;
  if (!prepare(open, job, job.targets, job.flags, answer))
    return answer;
  answer["status"] = "ran";
  json::Array sizes;
  for (const std::vector<int64_t> &point : job.points)
    sizes.push_back(runAt(job, open, inputs, point));
  answer["sizes"] = std::move(sizes);
  return answer;
}

/// Runs one job in this process.
static json::Object run(const Job &job) {
  json::Object answer;
  auto stop = [&](const char *target, Error error) {
    answer["status"] = "failed";
    answer["target"] = target;
    answer["why"] = llvm::toString(std::move(error));
    return std::move(answer);
  };
  auto inputs = readTensors(job.folder + "/test_data_set_0/input");
  if (!inputs)
    return stop("", inputs.takeError());
  if (!job.points.empty())
    return runOpen(job, *inputs);
  auto given = readTensors(job.folder + "/test_data_set_0/output");
  if (!given)
    return stop("", given.takeError());
  ModelRun reference, target;
  if (!prepare(reference, job, {{"reference", ""}}, {}, answer))
    return answer;
  auto expected = reference.run(*inputs);
  if (!expected)
    return stop("reference", expected.takeError());
  auto disturbed = reference.run(disturb(*inputs));
  if (!disturbed)
    return stop("reference", disturbed.takeError());
  if (writeReference) {
    std::string folder = job.folder + "/reference";
    llvm::sys::fs::create_directories(folder);
    for (auto [i, tensor] : llvm::enumerate(*expected))
      if (Error error = writeTensor(
              folder + "/output_" + std::to_string(i) + ".pb", tensor))
        return stop("reference", std::move(error));
  }
  if (!prepare(target, job, job.targets, job.flags, answer))
    return answer;
  auto found = target.run(*inputs);
  if (!found)
    return stop("target", found.takeError());
  answer["status"] = "ran";
  json::Array outputs;
  for (size_t i = 0; i != expected->size(); ++i) {
    const Tensor &ours = (*expected)[i];
    json::Object output{
        {"name", ours.name},
        {"type", spellType(ours.type, ours.shape.data(), ours.shape.size())},
        {"target", describe(measure((*found)[i], ours), ours.shape)},
        {"noise", describe(measure((*disturbed)[i], ours), ours.shape)}};
    if (i < given->size())
      output["oracle"] = describe(measure(ours, (*given)[i]), ours.shape);
    outputs.push_back(std::move(output));
  }
  answer["outputs"] = std::move(outputs);
  return answer;
}

static void start(std::vector<Child> &children, size_t index, const Job &job) {
  int ends[2];
  pid_t process = -1;
  if (pipe(ends) || (process = fork()) < 0) {
    std::perror("run-graphs");
    std::exit(1);
  }
  if (process == 0) {
    close(ends[0]);
    // Time of the processor, so that nothing ends on a busy machine that is
    // merely slow; by the clock, what waits for ever.
    rlimit limit = {seconds, seconds + 5};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(30 * seconds);
    std::string text = llvm::formatv("{0}", json::Value(run(job)));
    for (size_t at = 0; at < text.size();) {
      ssize_t written = write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0)
        break;
      at += written;
    }
    _exit(0);
  }
  close(ends[1]);
  children.push_back({index, process, ends[0], ""});
}

/// What a child said, or how it ended without a word.
static std::string finish(Child &child) {
  close(child.pipe);
  int status = 0;
  waitpid(child.process, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !child.received.empty())
    return child.received;
  json::Object answer{{"status", "crashed"}, {"target", ""}};
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    answer["why"] =
        llvm::formatv("used more than {0} s of the processor", seconds).str();
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    answer["why"] =
        llvm::formatv("still running after {0} s", 30 * seconds).str();
  else if (WIFSIGNALED(status))
    answer["why"] = strsignal(WTERMSIG(status));
  else
    answer["why"] = llvm::formatv("ended with {0}", WEXITSTATUS(status)).str();
  return llvm::formatv("{0}", json::Value(std::move(answer)));
}

/// Reads what children say until one has ended.
static void waitForOne(std::vector<Child> &children,
                       std::vector<std::string> &answers) {
  while (true) {
    std::vector<pollfd> waiting;
    for (const Child &child : children)
      waiting.push_back({child.pipe, POLLIN, 0});
    poll(waiting.data(), waiting.size(), -1);
    for (size_t i = 0; i != waiting.size(); ++i) {
      if (!waiting[i].revents)
        continue;
      char buffer[4096];
      ssize_t size = read(children[i].pipe, buffer, sizeof(buffer));
      if (size > 0) {
        children[i].received.append(buffer, size);
        continue;
      }
      answers[children[i].job] = finish(children[i]);
      children.erase(children.begin() + i);
      return;
    }
  }
}

static bool parseJob(llvm::StringRef line, Job &job) {
  llvm::SmallVector<llvm::StringRef> words;
  line.split(words, ' ', -1, false);
  if (words.size() < 3 || !parseTargets(words[1].str(), job.targets) ||
      words[2].getAsInteger(10, job.threads))
    return false;
  job.folder = words[0].str();
  std::vector<std::string> shapes;
  for (llvm::StringRef word : llvm::drop_begin(words, 3)) {
    if (word.consume_front("--machine="))
      job.flags.machine = word.str();
    else if (word.consume_front("--fuse="))
      (void)parseFuseLevel(word.str(), job.flags.fuse);
    else if (word == "--exact-convolution")
      job.flags.exactConvolution = true;
    else if (word.consume_front("--dim=")) {
      std::string why;
      if (!parseSizeRanges(word.str(), job.flags.sizes, why))
        return false;
    } else if (word.consume_front("--shape="))
      shapes.push_back(word.str());
    else if (word.consume_front("--at=")) {
      for (llvm::StringRef point : llvm::split(word, '/')) {
        std::vector<int64_t> &sizes = job.points.emplace_back();
        for (llvm::StringRef size : llvm::split(point, ','))
          if (size.getAsInteger(10, sizes.emplace_back()))
            return false;
      }
    } else
      return false;
  }
  return llvm::all_of(shapes, [&](const std::string &shape) {
    std::string name;
    std::vector<std::string> dims;
    if (std::string why;
        !parseSymbolicShape(shape, job.flags.sizes, name, dims, why))
      return false;
    job.flags.symbolicShapes[name] = dims;
    return true;
  });
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "Graphs on two targets\n");
  std::vector<Job> all;
  for (std::string line; std::getline(std::cin, line);) {
    all.emplace_back();
    if (!parseJob(line, all.back())) {
      std::cerr
          << "run-graphs: expected FOLDER TARGET THREADS and flags, found "
          << line << "\n";
      return 2;
    }
  }
  std::vector<std::string> answers(all.size());
  std::vector<Child> children;
  size_t next = 0, said = 0;
  while (said != all.size()) {
    while (next != all.size() && children.size() < std::max(+jobs, 1u))
      start(children, next, all[next]), ++next;
    if (!children.empty())
      waitForOne(children, answers);
    for (; said != all.size() && !answers[said].empty(); ++said)
      std::cout << answers[said] << std::endl;
  }
  return 0;
}
