// Edits that give tensors other strides, offsets and orders of dims.
#include "core/text.h"
#include "edits/editor.h"

#include <array>
#include <utility>

namespace cudnn_frontend::edits {
namespace {

using nodes::GraphSpec;
using nodes::TensorId;
using nodes::TensorSpec;

void offsets_of_elements(Editor& editor) {
    editor.add_for_tensors(cost::kCopy, "count elements in the ragged offsets of ", ", with a multiplier of 1",
                           [](GraphSpec& changed) {
                               TensorIds ids;
                               for (std::size_t i = 0; i < changed.tensors.size(); ++i) {
                                   if (changed.tensors[i].ragged_offset_multiplier == 1) continue;
                                   changed.tensors[i].ragged_offset_multiplier = 1;
                                   ids.push_back(static_cast<TensorId>(i));
                               }
                               return ids;
                           });
}

void without_ragged_offsets(Editor& editor) {
    editor.add_for_tensors(cost::kPadding + 1, "pad the sequences of ", " to one length, without ragged offsets",
                           [](GraphSpec& changed) {
                               TensorIds ids;
                               for (std::size_t i = 0; i < changed.tensors.size(); ++i) {
                                   TensorSpec& tensor = changed.tensors[i];
                                   if (tensor.ragged_offset == nodes::kNoTensor) continue;
                                   tensor.ragged_offset = nodes::kNoTensor;
                                   tensor.ragged_offset_multiplier = 1;
                                   tensor.stride = packed_like(tensor.dim, tensor.stride);
                                   ids.push_back(static_cast<TensorId>(i));
                               }
                               return ids;
                           });
}

void packed_strides(Editor& editor) {
    GraphSpec all = editor.graph();
    TensorIds ids;
    for (std::size_t i = 0; i < all.tensors.size(); ++i) {
        TensorSpec& tensor = all.tensors[i];
        core::Dims const row_major = packed_like(tensor.dim, {});
        bool const is_right = tensor.stride.empty() || tensor.dim.empty() || tensor.stride == row_major;
        if (is_right || tensor.ragged_offset != nodes::kNoTensor) continue;
        auto const id = static_cast<TensorId>(i);
        GraphSpec changed = editor.graph();
        changed.tensors[i].stride = tensor.stride = row_major;
        editor.add(cost::kCopy, core::text("copy ", editor.name_of(id), " to contiguous memory, strides ", row_major),
                   changed);
        ids.push_back(id);
    }
    if (ids.size() > 1) editor.add(cost::kCopy, "copy " + editor.names(ids) + " to contiguous memory", std::move(all));
}

void swap_dims(GraphSpec& graph, TensorId id, std::size_t a, std::size_t b) {
    TensorSpec& tensor = graph.tensors[static_cast<std::size_t>(id)];
    for (core::Dims* const list : {&tensor.dim, &tensor.stride}) {
        if (list->size() == 4) std::swap((*list)[a], (*list)[b]);
    }
}

// Dims are batch, heads, rows, columns, whatever the order in memory is.
void rows_and_heads(Editor& editor) {
    GraphSpec changed = editor.graph();
    TensorIds const ids = editor.at_ports(kMatrices);
    for (TensorId const id : ids) swap_dims(changed, id, 1, 2);
    core::Dims const q = editor.dim_at(Port::Q);
    bool const is_likely = !q.empty() && q[1] > q[2];
    editor.add(is_likely ? cost::kDescription : cost::kOtherSize + 1,
               "swap dims 1 and 2 of " + editor.names(ids) + " and their strides: dims are batch, heads, rows, columns",
               std::move(changed));
}

void transposed_keys(Editor& editor) {
    core::Dims const q = editor.dim_at(Port::Q), k = editor.dim_at(Port::K);
    if (q.empty() || k.empty() || k[2] != q[3]) return;
    GraphSpec changed = editor.graph();
    TensorIds const ids = editor.at_ports({Port::K});
    for (TensorId const id : ids) swap_dims(changed, id, 2, 3);
    editor.add(cost::kDescription,
               "swap dims 2 and 3 of " + editor.names(ids) + " and their strides: K is not transposed",
               std::move(changed));
}

}  // namespace

void add_layout_edits(Editor& editor) {
    offsets_of_elements(editor);
    without_ragged_offsets(editor);
    packed_strides(editor);
    rows_and_heads(editor);
    transposed_keys(editor);
}

}  // namespace cudnn_frontend::edits
