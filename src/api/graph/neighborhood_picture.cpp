#include <cudnn_frontend/neighborhood_picture.h>

#include "api/graph/graph_impl.h"
#include "core/findings.h"
#include "core/guard.h"
#include "core/text.h"
#include "nodes/neighborhood/neighborhood_schema.h"
#include "nodes/validation/validate.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cudnn_frontend::graph {
namespace {

using neighborhood::Axis;

constexpr std::int64_t kMostPositions = 1 << 16;

enum class Mark { Unseen, Key, Query };

// Planes of rows of positions: a picture is one plane, and a line one row of it.
class Window {
   public:
    Window(std::vector<Axis> axes, core::Dims query)
        : axes_of_space_(axes.size()), axes_(std::move(axes)), query_(std::move(query)) {
        axes_.insert(axes_.begin(), nodes::kMostAxes - axes_.size(), Axis());
        query_.insert(query_.begin(), nodes::kMostAxes - query_.size(), 0);
    }

    bool has_planes() const { return axes_of_space_ == 3; }
    bool has_rows() const { return axes_of_space_ >= 2; }
    std::int64_t planes() const { return axes_[0].length; }
    std::int64_t rows() const { return axes_[1].length; }
    std::int64_t columns() const { return axes_[2].length; }

    std::int64_t visible_keys() const {
        std::int64_t count = 1;
        for (std::size_t a = 0; a < axes_.size(); ++a) count *= neighborhood::keys_of(axes_[a], query_[a]).count;
        return count;
    }

    Mark at(core::Dims const& key) const {
        if (key == query_) return Mark::Query;
        for (std::size_t a = 0; a < key.size(); ++a) {
            neighborhood::Positions const seen = neighborhood::keys_of(axes_[a], query_[a]);
            std::int64_t const distance = key[a] - seen.first;
            if (distance < 0 || distance % axes_[a].dilation != 0) return Mark::Unseen;
            if (distance / axes_[a].dilation >= seen.count) return Mark::Unseen;
        }
        return Mark::Key;
    }

   private:
    std::size_t axes_of_space_;
    std::vector<Axis> axes_;
    core::Dims query_;
};

using Lines = std::vector<std::string>;

Lines caption_of(Window const& window, neighborhood::Options const& options, core::Dims const& query) {
    std::int64_t const keys = window.planes() * window.rows() * window.columns();
    std::string set = core::text("kernel_size ", options.kernel_size);
    if (!options.dilation.empty()) set += core::text(", dilation ", options.dilation);
    if (!options.is_causal.empty()) set += core::text(", is_causal ", options.is_causal);
    return {core::text("the query at ", query, " sees ", window.visible_keys(), " of ", keys, " keys"), set};
}

// Every so many columns have their number above them, so that numbers do not touch.
std::int64_t tick_step(Window const& window) { return window.columns() > 1000 ? 10 : 5; }

std::string right_aligned(std::int64_t number, std::size_t width) {
    std::string const text = std::to_string(number);
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

// The width of the numbers of rows, at the left of them.
std::size_t row_digits(Window const& window) {
    return window.has_rows() ? std::to_string(window.rows() - 1).size() : 0;
}

std::string column_numbers(Window const& window) {
    std::string line(window.has_rows() ? row_digits(window) + 1 : 0, ' ');
    std::size_t const margin = line.size();
    for (std::int64_t column = 0; column < window.columns(); column += tick_step(window)) {
        line.resize(margin + static_cast<std::size_t>(column), ' ');
        line += std::to_string(column);
    }
    return line + "\n";
}

std::string to_text(Window const& window, Lines const& caption) {
    std::string text;
    for (std::string const& line : caption) text += line + "\n";
    for (std::int64_t plane = 0; plane < window.planes(); ++plane) {
        if (plane > 0) text += "\n";
        if (window.has_planes()) text += core::text("plane ", plane, "\n");
        text += column_numbers(window);
        for (std::int64_t row = 0; row < window.rows(); ++row) {
            if (window.has_rows()) text += right_aligned(row, row_digits(window)) + " ";
            for (std::int64_t column = 0; column < window.columns(); ++column) {
                Mark const mark = window.at({plane, row, column});
                text += mark == Mark::Query ? "◆" : mark == Mark::Key ? "█" : "·";
            }
            text += "\n";
        }
    }
    return text;
}

class WindowSvg {
   public:
    WindowSvg(Window const& window, Lines const& caption)
        : window_(window), left_(kMargin + static_cast<std::int64_t>(row_digits(window)) * kTickGlyph) {
        for (std::string const& line : caption) {
            text(kMargin, y_ + kLine - 4, "caption", line);
            width_ = std::max(width_, static_cast<std::int64_t>(line.size()) * kGlyph);
            y_ += kLine;
        }
        for (std::int64_t plane = 0; plane < window.planes(); ++plane) draw_plane(plane);
        width_ = std::max(width_, left_ - kMargin + window.columns() * kStep + kTickGlyph * 2);
    }

    std::string run() && {
        return core::text(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 ", width_ + 2 * kMargin, " ", y_ + kMargin,
            "' font-family='monospace'>\n",
            "  <style>\n"
            "    text { fill: #1f2328 } .caption { font-size: 12px } .tick { font-size: 8px }\n"
            "    .unseen { fill: none; stroke: #c8d1da } .key { fill: #0969da } .query { fill: #cf222e }\n"
            "    @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .unseen { stroke: #3d444d } }\n"
            "  </style>\n",
            body_, "</svg>\n");
    }

   private:
    // Pixels; glyphs are those of captions and of ticks in a monospaced font.
    static constexpr std::int64_t kMargin = 12, kStep = 12, kLine = 18, kGlyph = 8, kTickGlyph = 6;

    void text(std::int64_t x, std::int64_t y, char const* kind, std::string const& words,
              char const* anchor = "start") {
        body_ += core::text("  <text x='", x, "' y='", y, "' class='", kind, "' text-anchor='", anchor, "'>", words,
                            "</text>\n");
    }

    void draw_plane(std::int64_t plane) {
        if (window_.has_planes()) {
            text(kMargin, y_ + kLine - 4, "caption", core::text("plane ", plane));
            y_ += kLine;
        }
        y_ += kStep;
        for (std::int64_t column = 0; column < window_.columns(); column += tick_step(window_)) {
            text(left_ + column * kStep + 5, y_ - 3, "tick", std::to_string(column), "middle");
        }
        for (std::int64_t row = 0; row < window_.rows(); ++row, y_ += kStep) {
            if (window_.has_rows()) text(left_ - 3, y_ + 8, "tick", std::to_string(row), "end");
            for (std::int64_t column = 0; column < window_.columns(); ++column) {
                square(window_.at({plane, row, column}), left_ + column * kStep);
            }
        }
    }

    void square(Mark mark, std::int64_t x) {
        char const* const kind = mark == Mark::Query ? "query" : mark == Mark::Key ? "key" : "unseen";
        body_ += core::text("  <rect x='", x, "' y='", y_, "' width='10' height='10' class='", kind, "'/>\n");
    }

    Window const& window_;
    std::int64_t left_;
    std::int64_t width_ = 0, y_ = 0;
    std::string body_;
};

error_t refused(std::string found, std::string needed, std::string fix) {
    return core::error_at("", error_code_t::INVALID_VALUE, std::move(found), std::move(needed), std::move(fix));
}

error_t check_query(core::Dims const& query, core::Dims const& space) {
    bool fits = query.size() == space.size();
    for (std::size_t a = 0; fits && a < query.size(); ++a) fits = query[a] >= 0 && query[a] < space[a];
    if (fits) return {};
    return refused(core::text("a query at ", query), core::text("a place in the space ", space),
                   "one number for each axis, from 0 up to its length less one");
}

error_t check_size(core::Dims const& space) {
    if (core::volume(space).value_or(kMostPositions + 1) <= kMostPositions) return {};
    return refused(core::text("the space ", space),
                   core::text("at most ", kMostPositions, " positions, which a picture still shows"),
                   "draw the same windows in a smaller space");
}

}  // namespace

error_t draw_window(Graph const& graph, std::vector<std::int64_t> const& query, std::string& picture,
                    WindowPicture format) {
    return core::guarded([&]() -> error_t {
        nodes::Validation const validation = nodes::validate(detail::Graph_access::snapshot(graph).spec);
        if (!validation.graph) return validation.report.to_error();
        nodes::GraphSpec const& spec = validation.graph->spec();
        auto const node = std::ranges::find_if(
            spec.nodes, [](nodes::Node const& one) { return nodes::neighborhood_fields(one) != nullptr; });
        if (node == spec.nodes.end()) {
            return refused("a graph without windows", "a node of neighborhood attention",
                           "add one with neighborhood_attention(), neighborhood_qk() or neighborhood_av()");
        }
        core::Dims const space = nodes::neighborhood_sizes(spec, *node)->space;
        SDPA_GRAPH_TRY(check_query(query, space));
        SDPA_GRAPH_TRY(check_size(space));
        neighborhood::Options const& options = *nodes::neighborhood_fields(*node);
        Window const window(neighborhood::axes_of(options, space), query);
        Lines const caption = caption_of(window, options, query);
        picture = format == WindowPicture::SVG ? WindowSvg(window, caption).run() : to_text(window, caption);
        return {};
    });
}

}  // namespace cudnn_frontend::graph
