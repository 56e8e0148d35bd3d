// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MemoryMap.h"

#include "Bytes.h"

#include <algorithm>
#include <cstdio>

namespace ashlar::tools {

std::string escapeMarkup(const std::string &text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      // XML has no other control characters.
      result += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  return result;
}

namespace {
constexpr double left = 90, top = 64, width = 1460, height = 720, below = 70;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", value);
  return text;
}

std::string attribute(const char *name, const std::string &value) {
  return std::string(" ") + name + "=\"" + value + "\"";
}

std::string textAt(double x, double y, const std::string &words,
                   const char *anchor = "start", const char *kind = "label") {
  return "<text" + attribute("x", number(x)) + attribute("y", number(y)) +
         attribute("text-anchor", anchor) + attribute("class", kind) + ">" +
         escapeMarkup(words) + "</text>\n";
}

std::string lineFrom(double x1, double y1, double x2, double y2,
                     const char *kind) {
  return "<line" + attribute("x1", number(x1)) + attribute("y1", number(y1)) +
         attribute("x2", number(x2)) + attribute("y2", number(y2)) +
         attribute("class", kind) + "/>\n";
}

/// The first letters of a name are often those of all names.
std::string shortened(const std::string &name, size_t letters) {
  if (name.size() <= letters)
    return name;
  size_t begin = name.size() - letters + 1;
  // Never from the middle of a letter.
  while (begin < name.size() && (name[begin] & 0xC0) == 0x80)
    ++begin;
  return "\xE2\x80\xA6" + name.substr(begin);
}

std::string joined(const std::vector<std::string> &names, size_t most) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i)
    text += (i ? ", " : "") + names[i];
  if (names.size() > most)
    text += ", and " + std::to_string(names.size() - most) + " more";
  return text;
}

/// A step that gives some eight lines.
uint64_t tickStep(uint64_t most) {
  uint64_t step = 64;
  while (most / step > 8)
    step *= 2;
  return step;
}

class Picture {
public:
  Picture(const MemoryMap &map) : map(map) {
    most = std::max({map.arenaBytes, map.lowerBoundBytes, uint64_t(64)});
    steps = std::max<size_t>(map.commands.size(), 1);
  }

  std::string body(const std::string &title) const {
    std::string text = textAt(left, 26, title, "start", "title");
    text += textAt(left, 48, summary());
    text += axes();
    for (size_t i = 0; i < map.values.size(); ++i)
      text += rectangle(i);
    text += marks();
    return text;
  }

  std::string summary() const {
    std::string text = "arena " + formatBytes(map.arenaBytes) +
                       ", lower bound " + formatBytes(map.lowerBoundBytes) +
                       ", " + std::to_string(map.values.size()) + " values, " +
                       std::to_string(map.commands.size()) + " commands";
    if (!map.commands.empty())
      text += "; peak at " + map.commands[map.peakCommand].name();
    return text;
  }

  std::string story(size_t i) const {
    const MemoryMap::Value &value = map.values[i];
    const MemoryMap::Command &writer = map.commands[value.writer];
    std::string text =
        writer.name() + "\n" + formatBytes(value.bytes) + " at " +
        std::to_string(value.offset) + "\nalive during commands " +
        std::to_string(value.first) + " to " + std::to_string(value.last) +
        " of " + std::to_string(map.commands.size()) + "\nkernel " +
        (writer.kernelName.empty() ? "none: a copy" : writer.kernelName);
    if (writer.nodes.size() > 1)
      text += "\nnodes " + joined(writer.nodes, 8);
    if (value.inPlace >= 0)
      text += "\nin the place of " +
              map.commands[map.values[value.inPlace].writer].name();
    return text;
  }

private:
  double xOf(double command) const {
    return left + width * command / double(steps);
  }
  double yOf(uint64_t address) const {
    return top + height * (1 - double(address) / double(most));
  }

  std::string rectangle(size_t i) const {
    const MemoryMap::Value &value = map.values[i];
    double x = xOf(double(value.first)), w = xOf(double(value.last + 1)) - x;
    double y = yOf(value.offset + value.bytes), h = yOf(value.offset) - y;
    const std::string name = map.commands[value.writer].name();
    bool isAtPeak = map.isAliveAt(value, map.peakCommand);
    // Neighbours differ; the peak's values are strong.
    std::string color = "hsl(" + std::to_string(value.writer * 137 % 360) +
                        (isAtPeak ? ",70%,62%)" : ",45%,80%)");
    std::string text = "<g class=\"value\"><title>" + escapeMarkup(story(i)) +
                       "</title><rect" + attribute("x", number(x)) +
                       attribute("y", number(y)) +
                       attribute("width", number(std::max(w, 0.5))) +
                       attribute("height", number(std::max(h, 0.5))) +
                       attribute("fill", color) + "/>";
    // Along the longer side, if there is room for some letters.
    bool isUpright = h > w && w >= 11 && w < 60;
    double length = isUpright ? h : w, across = isUpright ? w : h;
    size_t letters = size_t(std::max(0.0, (length - 6) / 6.7));
    if (across >= 11 && letters >= 4) {
      double cx = x + w / 2, cy = y + h / 2;
      text += "<text" + attribute("x", number(cx)) +
              attribute("y", number(cy + 3.5)) + " class=\"name\"";
      if (isUpright)
        text += attribute("transform",
                          "rotate(-90 " + number(cx) + " " + number(cy) + ")");
      text += ">" + escapeMarkup(shortened(name, letters)) + "</text>";
    }
    return text + "</g>\n";
  }

  std::string axes() const {
    std::string text;
    uint64_t step = tickStep(most);
    for (uint64_t address = 0; address <= most; address += step) {
      text += lineFrom(left, yOf(address), left + width, yOf(address), "grid");
      text += textAt(left - 8, yOf(address) + 4, formatBytes(address), "end");
    }
    size_t every = std::max<size_t>(1, (steps + 11) / 12);
    for (size_t i = 0; i < steps; i += every) {
      text += lineFrom(xOf(double(i)), top + height, xOf(double(i)),
                       top + height + 5, "axis");
      text += textAt(xOf(double(i)), top + height + 18, std::to_string(i),
                     "middle");
    }
    text += lineFrom(left, top + height, left + width, top + height, "axis");
    text += textAt(left + width / 2, top + height + 36,
                   "commands in the order in which they run", "middle");
    return text;
  }

  std::string marks() const {
    std::string text;
    text += lineFrom(left, yOf(map.lowerBoundBytes), left + width,
                     yOf(map.lowerBoundBytes), "bound");
    text += textAt(left + width, yOf(map.lowerBoundBytes) - 5,
                   "lower bound " + formatBytes(map.lowerBoundBytes), "end",
                   "bound-name");
    if (map.commands.empty())
      return text;
    double x = xOf(double(map.peakCommand) + 0.5);
    text += lineFrom(x, top - 4, x, top + height, "peak");
    bool isLate = map.peakCommand * 2 > steps;
    text += textAt(x + (isLate ? -4 : 4), top + height + 54,
                   "peak: " + formatBytes(map.peakBytes) + " at " +
                       shortened(map.commands[map.peakCommand].name(), 60),
                   isLate ? "end" : "start", "peak-name");
    return text;
  }

  const MemoryMap &map;
  uint64_t most;
  size_t steps;
};

const char style[] =
    "text{font-family:system-ui,sans-serif;font-size:12px;fill:#333}"
    ".title{font-size:18px;font-weight:600}"
    ".name{font-size:10.5px;text-anchor:middle;pointer-events:none;fill:#111}"
    ".value rect{stroke:#fff;stroke-width:.6}"
    ".value:hover rect{stroke:#000;stroke-width:1.6}"
    ".grid{stroke:#ddd;stroke-width:.6}.axis{stroke:#888}"
    ".bound{stroke:#067a3a;stroke-dasharray:8 4;stroke-width:1.4}"
    ".bound-name{fill:#067a3a;font-weight:600}"
    ".peak{stroke:#c00;stroke-width:1.2}.peak-name{fill:#c00;font-weight:600}";

std::string openSvg(const char *more) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" +
         attribute("viewBox", "0 0 " + number(left + width + 30) + " " +
                                  number(top + height + below)) +
         more + ">\n";
}

/// Who holds memory at the peak, as rows of a table.
std::string holderRows(const MemoryMap &map) {
  std::string rows;
  for (size_t i : map.holders()) {
    const MemoryMap::Value &value = map.values[i];
    const MemoryMap::Command &writer = map.commands[value.writer];
    std::string place;
    if (value.inPlace >= 0)
      place = map.commands[map.values[value.inPlace].writer].name();
    rows +=
        "<tr><td>" + formatBytes(value.bytes) + "<td>" +
        std::to_string(value.first) + "\xE2\x80\x93" +
        std::to_string(value.last) + "<td>" +
        escapeMarkup(joined(writer.nodes.empty() ? std::vector{writer.name()}
                                                 : writer.nodes,
                            12)) +
        "<td>" + escapeMarkup(writer.kernelName) + "<td>" +
        escapeMarkup(place) + "</tr>\n";
  }
  return rows;
}

/// Zoom, drag, and what a value's node says.
const char *const script = R"js(
const map = document.getElementById("map"), story = document.getElementById("story");
const all = map.getAttribute("viewBox").split(" ").map(Number);
let view = all.slice();
const show = () => map.setAttribute("viewBox", view.join(" "));
const at = e => {
  const p = new DOMPoint(e.clientX, e.clientY)
      .matrixTransform(map.getScreenCTM().inverse());
  return [p.x, p.y];
};
map.addEventListener("wheel", e => {
  e.preventDefault();
  const [x, y] = at(e), by = Math.pow(1.002, e.deltaY);
  const factor = Math.min(by, all[2] / view[2]);
  view = [x - (x - view[0]) * factor, y - (y - view[1]) * factor,
          view[2] * factor, view[3] * factor];
  show();
}, {passive: false});
let held = null;
map.addEventListener("pointerdown", e => { held = at(e); });
addEventListener("pointerup", () => { held = null; });
map.addEventListener("pointermove", e => {
  if (!held) return;
  const [x, y] = at(e);
  view[0] += held[0] - x; view[1] += held[1] - y;
  show();
});
map.addEventListener("dblclick", () => { view = all.slice(); show(); });
for (const value of map.querySelectorAll(".value")) {
  value.addEventListener("pointerenter", () => {
    story.textContent = value.querySelector("title").textContent;
    story.style.display = "block";
  });
  value.addEventListener("pointerleave", () => { story.style.display = "none"; });
}
document.getElementById("find").addEventListener("input", e => {
  const wanted = e.target.value.toLowerCase();
  for (const value of map.querySelectorAll(".value"))
    value.style.opacity = !wanted || value.querySelector("title").textContent
        .toLowerCase().includes(wanted) ? 1 : .12;
});
document.body.dataset.ready = map.querySelectorAll(".value").length;
)js";
} // namespace

std::string drawMemoryMap(const MemoryMap &map, const std::string &title) {
  return openSvg("") + "<style>" + style + "</style>\n" +
         "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
         Picture(map).body(title) + "</svg>\n";
}

std::string memoryMapPage(const MemoryMap &map, const std::string &title) {
  Picture picture(map);
  return "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
         "<title>" +
         escapeMarkup(title) + "</title>\n<style>" + style +
         "body{margin:0 12px;font:13px system-ui,sans-serif;background:#fff}"
         "svg{width:100%;height:auto;cursor:grab;touch-action:none}"
         "table{border-collapse:collapse;margin:8px 0 24px}"
         "td,th{padding:2px 10px;border-bottom:1px solid #ddd;"
         "text-align:left;vertical-align:top}"
         "td:first-child{text-align:right;white-space:nowrap}"
         "#story{white-space:pre-line;position:fixed;right:16px;top:12px;"
         "background:#fffe;border:1px solid #999;padding:6px 10px;"
         "max-width:40em;display:none}</style>\n"
         "<p>Turn the wheel to zoom, drag to move, click twice to see all "
         "again. <label>Find a node: <input id=\"find\"></label>\n" +
         openSvg(" id=\"map\"") + picture.body(title) +
         "</svg>\n<div id=\"story\"></div>\n<h3>What holds memory at the "
         "peak</h3>\n<table><tr><th>bytes<th>alive<th>nodes<th>kernel<th>in "
         "the place of</tr>\n" +
         holderRows(map) + "</table>\n<script>\n" + script +
         "</script>\n</html>\n";
}

} // namespace ashlar::tools
