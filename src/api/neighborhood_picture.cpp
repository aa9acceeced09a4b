#include <cudnn_frontend/neighborhood_picture.h>

#include "api/graph_impl.h"
#include "core/guard.h"
#include "core/text.h"
#include "nodes/neighborhood/neighborhood_schema.h"
#include "nodes/schema/validate.h"

#include <algorithm>

namespace cudnn_frontend::graph {
namespace {

using neighborhood::Axis;

constexpr std::int64_t kMostPositions = 1 << 16;

enum class Mark { Unseen, Key, Query };

// Planes of rows of positions: a picture is one plane, and a line one row of it.
class Window {
   public:
    Window(std::vector<Axis> axes, core::Dims query) : axes_(std::move(axes)), query_(std::move(query)) {
        axes_.insert(axes_.begin(), nodes::kMostAxes - axes_.size(), Axis());
        query_.insert(query_.begin(), nodes::kMostAxes - query_.size(), 0);
    }

    std::int64_t planes() const { return axes_[0].length; }
    std::int64_t rows() const { return axes_[1].length; }
    std::int64_t columns() const { return axes_[2].length; }

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
    std::vector<Axis> axes_;
    core::Dims query_;
};

std::string to_text(Window const& window) {
    std::string text;
    for (std::int64_t plane = 0; plane < window.planes(); ++plane) {
        if (plane > 0) text += "\n";
        for (std::int64_t row = 0; row < window.rows(); ++row) {
            for (std::int64_t column = 0; column < window.columns(); ++column) {
                Mark const mark = window.at({plane, row, column});
                text += mark == Mark::Query ? "◆" : mark == Mark::Key ? "█" : "·";
            }
            text += "\n";
        }
    }
    return text;
}

std::string square(Mark mark, std::int64_t x, std::int64_t y) {
    char const* const kind = mark == Mark::Query ? "query" : mark == Mark::Key ? "key" : "unseen";
    return core::text("  <rect x='", x, "' y='", y, "' width='10' height='10' class='", kind, "'/>\n");
}

std::string to_svg(Window const& window) {
    constexpr std::int64_t kMargin = 12, kStep = 12;
    std::string squares;
    std::int64_t y = kMargin;
    for (std::int64_t plane = 0; plane < window.planes(); ++plane, y += kMargin) {
        for (std::int64_t row = 0; row < window.rows(); ++row, y += kStep) {
            for (std::int64_t column = 0; column < window.columns(); ++column) {
                squares += square(window.at({plane, row, column}), kMargin + column * kStep, y);
            }
        }
    }
    return core::text("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 ", 2 * kMargin + window.columns() * kStep,
                      " ", y, "'>\n",
                      "  <style>\n"
                      "    .unseen { fill: none; stroke: #c8d1da } .key { fill: #0969da } .query { fill: #cf222e }\n"
                      "    @media (prefers-color-scheme: dark) { .unseen { stroke: #3d444d } }\n"
                      "  </style>\n",
                      squares, "</svg>\n");
}

error_t check_query(core::Dims const& query, core::Dims const& space) {
    bool fits = query.size() == space.size();
    for (std::size_t a = 0; fits && a < query.size(); ++a) fits = query[a] >= 0 && query[a] < space[a];
    if (fits) return {};
    return {error_code_t::INVALID_VALUE,
            core::text("found a query at ", query, "; needed a place in the space ", space,
                       ". Try: one number for each axis, from 0 up to its length less one")};
}

error_t check_size(core::Dims const& space) {
    if (core::volume(space).value_or(kMostPositions + 1) <= kMostPositions) return {};
    return {error_code_t::INVALID_VALUE,
            core::text("found the space ", space, "; needed at most ", kMostPositions,
                       " positions, which a picture still shows. Try: draw the same windows in a smaller space")};
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
            return {error_code_t::INVALID_VALUE,
                    "found a graph without windows; needed a node of neighborhood attention. Try: add one with "
                    "neighborhood_attention(), neighborhood_qk() or neighborhood_av()"};
        }
        core::Dims const space = nodes::neighborhood_sizes(spec, *node)->space;
        SDPA_GRAPH_TRY(check_query(query, space));
        SDPA_GRAPH_TRY(check_size(space));
        Window const window(core::axes_of(*nodes::neighborhood_fields(*node), space), query);
        picture = format == WindowPicture::SVG ? to_svg(window) : to_text(window);
        return {};
    });
}

}  // namespace cudnn_frontend::graph
