// Edits that give tensors other sizes.
#include "core/text.h"
#include "edits/editor.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cudnn_frontend::edits {
namespace {

using nodes::GraphSpec;
using nodes::TensorId;
using nodes::TensorSpec;

constexpr std::array<int, 4> kLikeQ = {Port::Q, Port::K, Port::DQ, Port::DK};
constexpr std::array<int, 4> kLikeV = {Port::V, Port::O, Port::DO, Port::DV};

std::int64_t rounded_up(std::int64_t number, std::int64_t step) {
    return number > std::int64_t{1} << 40 ? number : (number + step - 1) / step * step;
}

// Gives the tensors of ports another size of one dim.
void set_size(GraphSpec& graph, TensorIds const& ids, std::size_t axis, std::int64_t size) {
    for (TensorId const id : ids) {
        TensorSpec& tensor = graph.tensors[static_cast<std::size_t>(id)];
        if (tensor.dim.size() != 4 || tensor.dim[axis] == size) continue;
        core::Dims dim = tensor.dim;
        dim[axis] = size;
        resize(tensor, dim);
    }
}

// Columns of Q and K, and of V.
void pad_heads(Editor& editor, std::array<std::int64_t, 2> const& columns, int cost) {
    GraphSpec changed = editor.graph();
    std::string text;
    std::array<std::int64_t, 2> const now = {editor.dim_at(Port::Q)[3], editor.dim_at(Port::V)[3]};
    for (std::size_t const side : {std::size_t{0}, std::size_t{1}}) {
        if (now[side] == columns[side]) continue;
        TensorIds const ids = editor.at_ports(side == 0 ? kLikeQ : kLikeV);
        set_size(changed, ids, 3, columns[side]);
        text += core::text(text.empty() ? "" : ", ", "head dim ", now[side], " -> ", columns[side], " for ",
                           editor.names(ids));
    }
    editor.add(cost, text + ": zeros in the added columns, the same attn_scale", std::move(changed), "head dim");
}

void head_dims(Editor& editor) {
    core::Dims const q = editor.dim_at(Port::Q), v = editor.dim_at(Port::V);
    if (q.empty() || v.empty()) return;
    for (std::int64_t const step : {8, 16, 64, 128})
        pad_heads(editor, {rounded_up(q[3], step), rounded_up(v[3], step)}, cost::kPadding);
    for (std::int64_t const step : {8, 128}) {
        std::int64_t const both = rounded_up(std::max(q[3], v[3]), step);
        pad_heads(editor, {both, both}, cost::kPadding + 1);
    }
}

// Another size of a port's tensor.
void fit(Editor& editor, int port, core::Dims const& dim, int cost = cost::kOtherSize) {
    for (TensorId const id : editor.at_ports({port})) {
        core::Dims const now = editor.tensor(id).dim;
        if (now == dim) continue;
        GraphSpec changed = editor.graph();
        TensorSpec& tensor = changed.tensors[static_cast<std::size_t>(id)];
        tensor.dim = dim;
        tensor.stride = packed_like(dim, tensor.stride);
        editor.add(cost, core::text("give ", editor.name_of(id), " the dims ", dim, " in place of ", now),
                   std::move(changed));
    }
}

void equal_heads(Editor& editor) {
    core::Dims const q = editor.dim_at(Port::Q), k = editor.dim_at(Port::K), v = editor.dim_at(Port::V);
    if (q.empty() || k.empty() || v.empty()) return;
    bool const divide = k[1] > 0 && v[1] > 0 && q[1] % k[1] == 0 && q[1] % v[1] == 0;
    GraphSpec changed = editor.graph();
    set_size(changed, editor.at_ports({Port::K, Port::V, Port::DK, Port::DV}), 1, q[1]);
    if (divide)
        editor.add(cost::kPadding + 1, core::text("repeat the heads of K and V: as many as Q has, ", q[1]),
                   std::move(changed));
    else editor.add(cost::kOtherSize, core::text("give K and V as many heads as Q, ", q[1]), std::move(changed));
}

// Sizes that others determine.
void equal_sizes(Editor& editor) {
    core::Dims const q = editor.dim_at(Port::Q), k = editor.dim_at(Port::K), v = editor.dim_at(Port::V);
    if (q.empty() || k.empty() || v.empty()) return;
    if (!editor.has(Port::PageTableK)) {
        fit(editor, Port::K, {q[0], k[1], k[2], q[3]});
        fit(editor, Port::V, {q[0], v[1], k[2], v[3]});
        fit(editor, Port::Q, {q[0], q[1], q[2], k[3]});
        fit(editor, Port::Bias, {1, q[1], q[2], k[2]});
    }
    fit(editor, Port::O, {q[0], q[1], q[2], v[3]});
    fit(editor, Port::DO, {q[0], q[1], q[2], v[3]});
    for (int const port : {Port::Stats, Port::Max, Port::SumExp}) fit(editor, port, {q[0], q[1], q[2], 1});
    for (int const port : {Port::SinkToken, Port::DSinkToken}) fit(editor, port, {1, q[1], 1, 1});
    for (int const port : {Port::SeqLenQ, Port::SeqLenKv}) fit(editor, port, {q[0], 1, 1, 1}, cost::kCopy);
    for (int const port : {Port::CuSeqLenQ, Port::CuSeqLenKv}) fit(editor, port, {q[0] + 1, 1, 1, 1}, cost::kCopy);
    for (int const port : {Port::Seed, Port::Offset, Port::AttnScale}) fit(editor, port, {1, 1, 1, 1}, cost::kCopy);
}

// Tensors like the scores may have 1 where they are shared: with all rows and columns, each value is repeated.
void repeated_scores(Editor& editor) {
    core::Dims const q = editor.dim_at(Port::Q), k = editor.dim_at(Port::K);
    if (q.empty() || k.empty()) return;
    for (int const port : {Port::Bias, Port::DropoutMask}) {
        for (TensorId const id : editor.at_ports({port})) {
            core::Dims dim = editor.tensor(id).dim;
            if (dim.size() != 4) continue;
            dim[2] = q[2], dim[3] = k[2];
            GraphSpec changed = editor.graph();
            resize(changed.tensors[static_cast<std::size_t>(id)], dim);
            if (port == Port::Bias) {
                for (TensorId const gradient : editor.at_ports({Port::DBias}))
                    resize(changed.tensors[static_cast<std::size_t>(gradient)], dim);
            }
            editor.add(cost::kCopy + 2,
                       core::text("repeat the rows and columns of ", editor.name_of(id), ": dims ", dim),
                       std::move(changed));
        }
    }
    core::Dims const bias = editor.dim_at(Port::Bias);
    if (!bias.empty()) fit(editor, Port::DBias, {bias[0], bias[1], q[2], k[2]}, cost::kCopy + 1);
    fit(editor, Port::DBias, {1, q[1], q[2], k[2]}, cost::kCopy + 1);
}

bool has_bottom_right_band(GraphSpec const& graph) {
    return std::ranges::any_of(graph.nodes, [](nodes::Node const& node) {
        nodes::AttentionFields const* const fields = nodes::attention_fields(node);
        return fields != nullptr && fields->diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT &&
               (fields->left_bound || fields->right_bound);
    });
}

// Adds a query for kernels that serve more than one. Without lengths, the diagonal of a bottom-right band would end at
// the added row.
void second_query(Editor& editor) {
    core::Dims const q = editor.dim_at(Port::Q);
    bool const has_lengths = editor.has(Port::SeqLenQ) || editor.has(Port::CuSeqLenQ);
    if (q.empty() || q[2] != 1 || (!has_lengths && has_bottom_right_band(editor.graph()))) return;
    TensorIds ids;
    for (Port::Operand const& row : Port::kOperands) {
        if (!Port::has_query_rows(row)) continue;
        for (TensorId const id : editor.at_ports({row.port})) ids.push_back(id);
    }
    GraphSpec changed = editor.graph();
    set_size(changed, ids, 2, 2);
    std::string const lengths = has_lengths ? "; the lengths of the queries stay 1" : "";
    editor.add(cost::kPadding + 1,
               "give " + editor.names(ids) + " a second row of queries, which is not used" + lengths,
               std::move(changed));
}

}  // namespace

void add_size_edits(Editor& editor) {
    head_dims(editor);
    equal_sizes(editor);
    equal_heads(editor);
    repeated_scores(editor);
    second_query(editor);
}

}  // namespace cudnn_frontend::edits
