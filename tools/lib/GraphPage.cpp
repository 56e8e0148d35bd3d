// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bytes.h"
#include "MemoryMap.h"

#include "IndexVerifier.h"
#include "SizeExpression.h"

#include <algorithm>
#include <cstdio>

namespace ashlar::tools {

using namespace ashlar::runtime;

namespace {
uint64_t constantOf(const fb::SizeExpression *size) {
  int64_t value = 0;
  return size && evaluateSize(*size, nullptr, value) ? uint64_t(value) : 0;
}

std::string listed(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + escapeMarkup(name);
  return text;
}

/// The operators of a command's nodes, each as often as it is there: "Conv, 2
/// Relu". Empty: not known. Its kernel may be other nodes' as well.
std::string operatorsOf(const fb::Kernel &kernel,
                        const std::vector<std::string> &nodes) {
  std::vector<std::pair<std::string, int>> counts;
  for (uint32_t i = 0; i < count(kernel.operators()); ++i) {
    std::string name = kernel.operators()->Get(i)->str();
    bool isOwn = i < count(kernel.nodes()) &&
                 std::find(nodes.begin(), nodes.end(),
                           kernel.nodes()->Get(i)->str()) != nodes.end();
    if (!isOwn || name.empty())
      continue;
    auto found = std::find_if(counts.begin(), counts.end(),
                              [&](auto &known) { return known.first == name; });
    if (found != counts.end())
      ++found->second;
    else
      counts.emplace_back(name, 1);
  }
  std::string text;
  for (auto &[name, times] : counts)
    text += (text.empty() ? "" : ", ") +
            (times > 1 ? std::to_string(times) + " " : "") + name;
  return escapeMarkup(text);
}

std::string joined(const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts)
    all += (all.empty() ? "" : ", ") + text;
  return all;
}

class Page {
public:
  Page(const MemoryMap &map, const fb::Program &program)
      : map(map), program(program), operands(map.commands.size()) {
    for (size_t i = 0; i < map.values.size(); ++i)
      for (size_t reader : map.values[i].readers)
        if (reader < operands.size())
          operands[reader].push_back(i);
  }

  std::string rows() const {
    std::string text;
    for (size_t i = 0; i < map.commands.size(); ++i)
      text += row(i);
    return text;
  }

  /// From command to command, and how much.
  std::string arcs() const {
    std::string text = "[";
    for (size_t i = 0; i < operands.size(); ++i)
      for (size_t value : operands[i])
        if (map.values[value].writer < i)
          text += (text.size() > 1 ? ",[" : "[") +
                  std::to_string(map.values[value].writer) + "," +
                  std::to_string(i) + "," +
                  std::to_string(map.values[value].bytes) + "]";
    return text + "]";
  }

  /// Nodes that no command computes.
  std::string others() const {
    std::string views, folded;
    for (uint32_t i = 0; i < count(program.absent_nodes()); ++i) {
      const fb::AbsentNode &node = *program.absent_nodes()->Get(i);
      std::string &list = node.fate() == fb::NodeFate::Folded ? folded : views;
      list += (list.empty() ? "" : ", ") + escapeMarkup(node.name()->str());
    }
    std::string text;
    if (!views.empty())
      text += "<details><summary>Nodes that are views or decide what runs"
              "</summary><p>" +
              views + "</details>\n";
    if (!folded.empty())
      text += "<details><summary>Nodes that the compiler has folded</summary>"
              "<p>" +
              folded + "</details>\n";
    return text;
  }

private:
  std::string row(size_t i) const {
    const MemoryMap::Command &command = map.commands[i];
    std::string name = escapeMarkup(command.name());
    if (command.nodes.size() > 1)
      name +=
          " <i>and " + std::to_string(command.nodes.size() - 1) + " more</i>";
    std::string flops = "-", bytes = "-", bound = "-", by;
    std::string operators = command.kernel >= 0 ? "" : "copy";
    if (command.kernel >= 0) {
      const fb::Kernel &kernel = *program.kernels()->Get(command.kernel);
      operators = operatorsOf(kernel, command.nodes);
      char number[32];
      std::snprintf(number, sizeof(number), "%.3f",
                    double(constantOf(kernel.flops())) / 1e6);
      flops = number;
      bytes = formatBytes(constantOf(kernel.bytes()));
      std::snprintf(number, sizeof(number), "%.1f",
                    double(kernel.bound_cycles()) / 1e3);
      bound = number;
      by = kernel.bound() ? kernel.bound()->str() : "";
    }
    return "<details class=\"command\"><summary><b>" + std::to_string(i) +
           "</b><span class=\"name\">" + name + "</span><span class=\"name\">" +
           operators + "</span><span class=\"name\">" +
           escapeMarkup(joined(command.makes)) + "</span><span>" + flops +
           "</span><span>" + bytes + "</span><span>" + bound + "</span><span>" +
           escapeMarkup(by) + "</span><span>" +
           escapeMarkup(program.device_type()->str()) + "</span></summary>" +
           story(i) + "</details>\n";
  }

  std::string story(size_t i) const {
    const MemoryMap::Command &command = map.commands[i];
    std::string text =
        "<dl><dt>kernel<dd>" + (command.kernelName.empty()
                                    ? "none: a copy"
                                    : escapeMarkup(command.kernelName));
    if (!command.nodes.empty())
      text += "<dt>nodes<dd>" + listed(command.nodes);
    if (command.kernel >= 0)
      if (std::string operators = operatorsOf(
              *program.kernels()->Get(command.kernel), command.nodes);
          !operators.empty())
        text += "<dt>operators<dd>" + operators;
    if (!command.takes.empty())
      text += "<dt>operands<dd>" + listed(command.takes);
    if (!command.makes.empty())
      text += "<dt>results<dd>" + listed(command.makes);
    std::string reads;
    for (size_t value : operands[i])
      reads += (reads.empty() ? "" : ", ") +
               valueName(map.values[value].writer, map.values[value]);
    for (const std::string &input : command.inputs)
      reads += (reads.empty() ? "input " : ", input ") + escapeMarkup(input);
    if (command.weightBytes != 0)
      reads += (reads.empty() ? "" : ", ") + formatBytes(command.weightBytes) +
               " of weights";
    if (!reads.empty())
      text += "<dt>reads<dd>" + reads;
    std::string writes;
    for (const MemoryMap::Value &value : map.values)
      if (value.writer == i) {
        writes += (writes.empty() ? "" : ", ") + formatBytes(value.bytes) +
                  " at " + std::to_string(value.offset);
        if (value.inPlace >= 0)
          writes += ", in place";
        std::string readers;
        for (size_t reader : value.readers)
          readers += (readers.empty() ? ", read by " : ", ") +
                     std::to_string(reader) + " " +
                     escapeMarkup(map.commands[reader].name());
        writes += readers;
      }
    for (const std::string &output : command.outputs)
      writes +=
          (writes.empty() ? "output " : ", output ") + escapeMarkup(output);
    if (!writes.empty())
      text += "<dt>writes<dd>" + writes;
    return text + "</dl>";
  }

  std::string valueName(size_t writer, const MemoryMap::Value &value) const {
    return std::to_string(writer) + " " +
           escapeMarkup(map.commands[writer].name()) + " (" +
           formatBytes(value.bytes) + ")";
  }

  const MemoryMap &map;
  const fb::Program &program;
  std::vector<std::vector<size_t>> operands; ///< values read, by command
};
} // namespace

std::string graphPage(const MemoryMap &map, const fb::Program &program,
                      const std::string &title) {
  Page page(map, program);
  return "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
         "<title>" +
         escapeMarkup(title) + R"css(</title>
<style>
body{margin:0 16px;font:13px system-ui,sans-serif;background:#fff;color:#222}
#graph{position:relative;padding-left:190px;margin:8px 0 24px}
#arcs{position:absolute;left:0;top:0;width:190px;pointer-events:none}
#arcs path{fill:none;stroke:#8aa4c8;stroke-opacity:.75}
#arcs path.strong{stroke:#c00;stroke-opacity:1}
summary{cursor:pointer}
.command>summary,.head{display:grid;list-style:none;gap:10px;
  grid-template-columns:3em minmax(12em,1fr) minmax(7em,14em) 11em 7em 7em 6em 9em 4em;
  padding:2px 4px;border-bottom:1px solid #e4e4e4}
.command>summary span:nth-child(n+5):nth-child(-n+7){text-align:right}
.head span:nth-child(n+5):nth-child(-n+7){text-align:right}
.command>summary:hover{background:#eef4ff}
.command[open]>summary{background:#f4f4f4}
.name{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.head{font-weight:600;position:sticky;top:0;background:#fff;z-index:1}
dl{display:grid;grid-template-columns:5em 1fr;margin:4px 0 8px 3em;gap:2px 8px}
dt{color:#666}dd{margin:0;overflow-wrap:anywhere}
.away{display:none}
</style>
)css" + "<h2>" +
         escapeMarkup(title) +
         "</h2>\n<p>Commands run from top to bottom; an arc goes from where "
         "data is made to where it is read, the thicker the more. Click a "
         "line for its nodes, operands and results with their types and "
         "shapes. <button id=\"open\">Open "
         "all</button> <button id=\"close\">Close all</button> <label>Find: "
         "<input id=\"find\"></label></p>\n<div id=\"graph\"><svg id=\"arcs\">"
         "</svg>\n<div "
         "class=\"head\"><b>#</b><span>node</span><span>operators</span>"
         "<span>result</span><span>Mflop"
         "</span><span>moved</span><span>kilocycles</span><span>bound by"
         "</span><span>device</span></div>\n" +
         page.rows() + "</div>\n" + page.others() +
         "<script>\nconst arcs = " + page.arcs() + R"js(;
const rows = [...document.querySelectorAll(".command")];
const svg = document.getElementById("arcs"), graph = document.getElementById("graph");
let over = -1;
function draw() {
  const from = graph.getBoundingClientRect().top;
  const middle = rows.map(row => {
    const box = row.firstElementChild.getBoundingClientRect();
    return box.height ? box.top + box.height / 2 - from : -1;
  });
  svg.setAttribute("height", graph.offsetHeight);
  svg.innerHTML = arcs.map(([a, b, bytes]) => {
    if (middle[a] < 0 || middle[b] < 0) return "";
    const reach = Math.min(170, 8 + 14 * Math.sqrt(b - a));
    const width = Math.max(.6, Math.log2(bytes + 1) / 7);
    const strong = a === over || b === over ? "strong" : "";
    return `<path class="${strong}" stroke-width="${width}" d="M188 ${middle[a]}` +
        ` C${188 - reach * 1.3} ${middle[a]} ${188 - reach * 1.3} ${middle[b]} 188 ${middle[b]}"/>`;
  }).join("");
}
rows.forEach((row, i) => {
  row.addEventListener("toggle", draw);
  row.firstElementChild.addEventListener("pointerenter", () => { over = i; draw(); });
});
addEventListener("resize", draw);
document.getElementById("open").onclick = () => rows.forEach(r => r.open = true);
document.getElementById("close").onclick = () => rows.forEach(r => r.open = false);
document.getElementById("find").addEventListener("input", e => {
  const wanted = e.target.value.toLowerCase();
  rows.forEach(r => r.classList.toggle(
      "away", wanted && !r.textContent.toLowerCase().includes(wanted)));
  draw();
});
draw();
document.body.dataset.ready = rows.length;
)js" + "</script>\n</html>\n";
}

} // namespace ashlar::tools
