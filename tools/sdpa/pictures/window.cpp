#include "pictures/window.h"

#include "output.h"
#include "pictures/visibility.h"

#include <algorithm>

namespace sdpa {
namespace {

// One axis of docs/spec.md's section on neighborhood attention.
struct Axis {
    std::int64_t length = 1, size = 1, dilation = 1, query = 0;
    bool is_causal = false;

    bool sees(std::int64_t key) const {
        std::int64_t const group = query % dilation;
        if (key % dilation != group) return false;
        std::int64_t const members = (length - group + dilation - 1) / dilation, place = query / dilation;
        std::int64_t const first = is_causal ? std::max<std::int64_t>(place - size + 1, 0)
                                             : std::clamp<std::int64_t>(place - size / 2, 0, members - size);
        std::int64_t const last = is_causal ? place : first + size - 1;
        return first <= key / dilation && key / dilation <= last;
    }
};

Sizes space_of(Json const& document, Json const& node) {
    Json const& inputs = node["inputs"];
    std::string const port = inputs.contains("Q") ? "Q" : "Attn";
    Sizes const dim = document["tensors"][inputs[port].get<std::string>()]["dim"].get<Sizes>();
    bool const has_heads_first = node["tag"].get<std::string>().find("_QK") != std::string::npos || port == "Attn";
    auto const first = dim.begin() + (has_heads_first ? 2 : 1);
    return {first, first + static_cast<std::ptrdiff_t>(member(node, "fields")["kernel_size"].size())};
}

void check_query(Sizes const& space, Sizes const& query) {
    bool fits = query.size() == space.size();
    for (std::size_t a = 0; fits && a < query.size(); ++a) fits = query[a] >= 0 && query[a] < space[a];
    if (!fits) throw Failure("--query", list_text(query), "a place in the space " + list_text(space));
}

std::vector<Axis> axes_of(Json const& document, Json const& node, Sizes const& query) {
    Json const& fields = member(node, "fields");
    Sizes const space = space_of(document, node);
    std::vector<Axis> axes;
    for (std::size_t a = 0; a < space.size(); ++a)
        axes.push_back({space[a], fields["kernel_size"][a].get<std::int64_t>(),
                        fields.contains("dilation") ? fields["dilation"][a].get<std::int64_t>() : 1, query[a],
                        fields.contains("is_causal") && fields["is_causal"][a].get<bool>()});
    return axes;
}

double visible_pairs_of(Axis axis) {
    double pairs = 0.0;
    for (axis.query = 0; axis.query < axis.length; ++axis.query)
        pairs += static_cast<double>(axis.is_causal ? std::min(axis.size, axis.query / axis.dilation + 1) : axis.size);
    return pairs;
}

// The last cell of the sample at or before the place.
std::size_t cell_of(Sizes const& drawn, std::int64_t place) {
    return static_cast<std::size_t>(std::upper_bound(drawn.begin(), drawn.end(), place) - drawn.begin()) - 1;
}

}  // namespace

Json const* neighborhood_node(Json const& document) {
    for (Json const& node : document.at("nodes")) {
        if (node["tag"].get<std::string>().starts_with("NEIGHBORHOOD")) return &node;
    }
    return nullptr;
}

Sizes middle_query(Json const& document, Json const& node) {
    Sizes query = space_of(document, node);
    for (std::int64_t& place : query) place /= 2;
    return query;
}

double visible_pairs(Json const& document, Json const& node) {
    double pairs = 1.0;
    for (Axis const& axis : axes_of(document, node, middle_query(document, node))) pairs *= visible_pairs_of(axis);
    return pairs;
}

Mask_picture window_picture(Json const& document, Json const& node, Sizes const& query, std::int64_t most_rows,
                            std::int64_t most_columns) {
    check_query(space_of(document, node), query);
    std::vector<Axis> axes = axes_of(document, node, query);
    std::string const caption =
        "the keys that are visible to the query at " + list_text(query) + " in " + list_text(space_of(document, node));
    if (axes.size() == 1) axes.insert(axes.begin(), Axis());
    Axis const &down = axes[axes.size() - 2], &across = axes.back();
    Sizes const rows = sample(down.length, most_rows), columns = sample(across.length, most_columns);
    Mask_picture picture{caption, down.length, across.length, {}, {}};
    for (std::int64_t const row : rows) {
        std::vector<bool> line;
        for (std::int64_t const column : columns) line.push_back(down.sees(row) && across.sees(column));
        picture.visible.push_back(std::move(line));
    }
    picture.query = {cell_of(rows, down.query), cell_of(columns, across.query)};
    return picture;
}

}  // namespace sdpa
