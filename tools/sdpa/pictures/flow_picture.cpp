#include "pictures/flow_picture.h"

#include "output.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

namespace sdpa {
namespace {

// Sizes in pixels.
constexpr std::int64_t kLetter = 7, kLine = 16, kPadding = 8, kGap = 24, kArrow = 56, kMargin = 12;

struct Box {
    std::vector<std::string> lines;
    bool is_operation = false, is_dashed = false;
    std::size_t layer = 0;
    std::int64_t x = 0, y = 0, width = 0, height = 0;  // of its middle, and its size
};

struct Arrow {
    std::size_t from, to;
    std::string label;
    std::size_t place = 0, places = 1;  // among the arrows to its box, from left to right
};

struct Flow {
    std::vector<Box> boxes;
    std::vector<Arrow> arrows;
};

// The lines of a label, in which \n separates them and other characters after a backslash stand for themselves.
std::vector<std::string> label_of(std::string_view line) {
    constexpr std::string_view kStart = "label=\"";
    std::vector<std::string> lines(1);
    for (std::size_t at = line.find(kStart) + kStart.size(); at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\' && line[++at] == 'n') lines.emplace_back();
        else lines.back() += line[at];
    }
    return lines;
}

Flow parse(std::string const& dot) {
    Flow flow;
    std::map<std::string, std::size_t> places;
    std::istringstream text(dot);
    for (std::string line; std::getline(text, line);) {
        if (line.find("label=\"") == std::string::npos) continue;
        std::string from, arrow, to;
        std::istringstream words(line);
        words >> from >> arrow >> to;
        if (arrow == "->") {
            flow.arrows.push_back({places.at(from), places.at(to), label_of(line).front()});
            continue;
        }
        places[from] = flow.boxes.size();
        Box box{label_of(line), line.find("shape=box") != std::string::npos, line.find("dashed") != std::string::npos};
        for (std::string const& part : box.lines)
            box.width = std::max(box.width, static_cast<std::int64_t>(part.size()) * kLetter + 2 * kPadding);
        box.height = static_cast<std::int64_t>(box.lines.size()) * kLine + kPadding;
        flow.boxes.push_back(std::move(box));
    }
    return flow;
}

// A box is next when all arrows to it have begun. Where only boxes of a circle are left, such as that of attention and
// its score modifier, it is the one to which most arrows have.
std::size_t next_box(std::vector<bool> const& is_done, std::vector<std::size_t> const& begun,
                     std::vector<std::size_t> const& all) {
    std::size_t best = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_done[i]) continue;
        if (begun[i] == all[i]) return i;
        if (best == all.size() || begun[i] > begun[best]) best = i;
    }
    return best;
}

void choose_layers(Flow& flow) {
    std::vector<std::size_t> begun(flow.boxes.size()), all(flow.boxes.size());
    for (Arrow const& arrow : flow.arrows) ++all[arrow.to];
    std::vector<bool> is_done(flow.boxes.size());
    for (std::size_t count = 0; count < flow.boxes.size(); ++count) {
        std::size_t const box = next_box(is_done, begun, all);
        is_done[box] = true;
        for (Arrow const& arrow : flow.arrows) {
            if (arrow.from != box || is_done[arrow.to]) continue;
            std::size_t& layer = flow.boxes[arrow.to].layer;
            layer = std::max(layer, flow.boxes[box].layer + 1);
            ++begun[arrow.to];
        }
    }
    std::map<std::size_t, std::size_t> firsts;  // the first layer to which a box at the top leads
    for (Arrow const& arrow : flow.arrows) {
        std::size_t const layer = flow.boxes[arrow.to].layer;
        if (flow.boxes[arrow.from].layer != 0 || layer == 0) continue;
        auto const [first, is_new] = firsts.emplace(arrow.from, layer);
        if (!is_new) first->second = std::min(first->second, layer);
    }
    for (auto const& [box, layer] : firsts) flow.boxes[box].layer = layer - 1;
}

// Boxes of a layer from left to right, below those that lead to them; where none does, on the right.
std::vector<std::vector<std::size_t>> ordered_layers(Flow const& flow) {
    std::vector<std::vector<std::size_t>> layers;
    std::vector<double> sums(flow.boxes.size()), counts(flow.boxes.size());
    for (std::size_t i = 0; i < flow.boxes.size(); ++i) {
        layers.resize(std::max(layers.size(), flow.boxes[i].layer + 1));
        layers[flow.boxes[i].layer].push_back(i);
    }
    for (auto& layer : layers) {
        auto const place = [&](std::size_t box) {
            return counts[box] == 0.0 ? static_cast<double>(flow.boxes.size()) : sums[box] / counts[box];
        };
        std::ranges::stable_sort(layer, {}, place);
        for (std::size_t i = 0; i < layer.size(); ++i) {
            for (Arrow const& arrow : flow.arrows) {
                if (arrow.from != layer[i]) continue;
                sums[arrow.to] += static_cast<double>(i);
                counts[arrow.to] += 1.0;
            }
        }
    }
    return layers;
}

struct Extent {
    std::int64_t width = 0, height = 0;
};

// Gives each box its place, every layer in the middle.
Extent place(Flow& flow) {
    auto const layers = ordered_layers(flow);
    auto const width_of = [&](std::vector<std::size_t> const& layer) {
        std::int64_t width = 2 * kMargin - kGap;
        for (std::size_t const box : layer) width += flow.boxes[box].width + kGap;
        return width;
    };
    Extent extent{0, kMargin};
    for (auto const& layer : layers) extent.width = std::max(extent.width, width_of(layer));
    for (auto const& layer : layers) {
        std::int64_t x = (extent.width - width_of(layer)) / 2 + kMargin, height = 0;
        for (std::size_t const box : layer) height = std::max(height, flow.boxes[box].height);
        for (std::size_t const at : layer) {
            Box& box = flow.boxes[at];
            box.x = x + box.width / 2;
            box.y = extent.height + height / 2;
            x += box.width + kGap;
        }
        extent.height += height + kArrow;
    }
    extent.height += kMargin - kArrow;
    return extent;
}

// Arrows to one box end next to each other, in the order of their beginnings.
void spread_ends(Flow& flow) {
    std::vector<std::vector<Arrow*>> ends(flow.boxes.size());
    for (Arrow& arrow : flow.arrows) ends[arrow.to].push_back(&arrow);
    for (auto& arrows : ends) {
        std::ranges::stable_sort(arrows, {}, [&](Arrow const* arrow) { return flow.boxes[arrow->from].x; });
        for (std::size_t i = 0; i < arrows.size(); ++i) {
            arrows[i]->place = i;
            arrows[i]->places = arrows.size();
        }
    }
}

std::string attribute(char const* name, std::int64_t value) {
    return std::string(" ") + name + "='" + std::to_string(value) + "'";
}

std::string text_at(std::int64_t x, std::int64_t y, std::string const& text, char const* kind) {
    return "<text" + attribute("x", x) + attribute("y", y) + " class='" + kind + "'>" + escaped(text) + "</text>\n";
}

std::string svg_of(Arrow const& arrow, std::vector<Box> const& boxes, std::int64_t width) {
    Box const &from = boxes[arrow.from], &to = boxes[arrow.to];
    auto const place = static_cast<std::int64_t>(arrow.place), places = static_cast<std::int64_t>(arrow.places);
    std::int64_t const begin = from.y + from.height / 2, end = to.y - to.height / 2, middle = (begin + end) / 2;
    std::int64_t const x = to.x - to.width / 2 + to.width * (place + 1) / (places + 1);
    auto const point = [](std::int64_t left, std::int64_t top) {
        return std::to_string(left) + " " + std::to_string(top);
    };
    // The labels are below each other, and within the picture.
    auto const half = static_cast<std::int64_t>(arrow.label.size()) * kLetter / 2;
    std::int64_t const label = end - kPadding - kArrow * 2 / 3 * (places - 1 - place) / places;
    return "<path d='M" + point(from.x, begin) + "C" + point(from.x, middle) + " " + point(x, middle) + " " +
           point(x, end) + "' marker-end='url(#tip)'/>\n" +
           text_at(std::clamp(x, half, std::max(half, width - half)), label, arrow.label, "port");
}

std::string svg_of(Box const& box) {
    std::string text = "<rect" + attribute("x", box.x - box.width / 2) + attribute("y", box.y - box.height / 2) +
                       attribute("width", box.width) + attribute("height", box.height) +
                       attribute("rx", box.is_operation ? 2 : box.height / 2) +
                       (box.is_dashed ? " stroke-dasharray='4'" : "") + "/>\n";
    std::int64_t y = box.y - box.height / 2 + kLine;
    for (std::string const& line : box.lines) {
        text += text_at(box.x, y, line, "label");
        y += kLine;
    }
    return text;
}

}  // namespace

std::string svg_of_dot(std::string const& dot) {
    Flow flow = parse(dot);
    choose_layers(flow);
    Extent const extent = place(flow);
    spread_ends(flow);
    std::string text = "<svg xmlns='http://www.w3.org/2000/svg'" + attribute("width", extent.width) +
                       attribute("height", extent.height) +
                       ">\n<style>text{font:12px monospace;text-anchor:middle;fill:#1f2328}.port{font-size:10px;"
                       "fill:#59636e}rect,path{fill:none;stroke:#59636e}rect{fill:#f6f8fa}"
                       "@media(prefers-color-scheme:dark){text{fill:#d1d7e0}rect{fill:#212830}}</style>\n"
                       "<marker id='tip' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='8' markerHeight='8' "
                       "orient='auto'><path d='M0 0L8 4L0 8'/></marker>\n";
    for (Arrow const& arrow : flow.arrows) text += svg_of(arrow, flow.boxes, extent.width);
    for (Box const& box : flow.boxes) text += svg_of(box);
    return text + "</svg>\n";
}

}  // namespace sdpa
