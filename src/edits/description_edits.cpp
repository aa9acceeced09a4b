// Additions to a description, and the removal of parts that contradict others.
#include "core/findings.h"
#include "core/text.h"
#include "edits/editor.h"

#include <array>
#include <set>
#include <utility>

namespace cudnn_frontend::edits {
namespace {

using nodes::GraphSpec;
using nodes::TensorId;
using nodes::TensorSpec;

void inferred_results(Editor& editor) {
    for (nodes::Node const& node : editor.graph().nodes) {
        nodes::for_each_port(node, nodes::Direction::Output, [&](nodes::PortRow const&, TensorId id) {
            GraphSpec changed = editor.graph();
            TensorSpec& tensor = changed.tensors[static_cast<std::size_t>(id)];
            tensor.dim.clear();
            tensor.stride.clear();
            editor.add(cost::kDescription, "set no dims and strides for " + editor.name_of(id) + ": they are inferred",
                       changed);
        });
    }
}

void own_uids(Editor& editor) {
    editor.add_for_tensors(cost::kDescription, "give ", " a uid that no other tensor has", [](GraphSpec& changed) {
        std::set<std::int64_t> used;
        TensorIds ids;
        for (std::size_t i = 0; i < changed.tensors.size(); ++i) {
            auto& uid = changed.tensors[i].uid;
            if (!uid || used.insert(*uid).second) continue;
            uid.reset();
            ids.push_back(static_cast<TensorId>(i));
        }
        return ids;
    });
}

void missing_strides(Editor& editor) {
    editor.add_for_tensors(cost::kDescription, "set the strides of ", ", row-major", [](GraphSpec& changed) {
        TensorIds ids;
        for (std::size_t i = 0; i < changed.tensors.size(); ++i) {
            TensorSpec& tensor = changed.tensors[i];
            if (tensor.dim.empty() || tensor.dim.size() == tensor.stride.size()) continue;
            tensor.stride = packed_like(tensor.dim, {});
            ids.push_back(static_cast<TensorId>(i));
        }
        return ids;
    });
}

void context_types(Editor& editor) {
    GraphSpec changed = editor.graph();
    changed.compute_data_type = DataType_t::FLOAT;
    for (nodes::Node& node : changed.nodes) node.compute_data_type = DataType_t::NOT_SET;
    editor.add(cost::kDescription, "compute in FLOAT: set_compute_data_type(DataType_t::FLOAT)", std::move(changed));
    if (editor.graph().io_data_type == DataType_t::NOT_SET) {
        changed = editor.graph();
        changed.io_data_type = DataType_t::HALF;
        editor.add(cost::kDescription, "name the type of the tensors: set_io_data_type(DataType_t::HALF)", changed);
    }
    if (editor.graph().intermediate_data_type == DataType_t::NOT_SET) {
        changed = editor.graph();
        changed.intermediate_data_type = DataType_t::FLOAT;
        editor.add(cost::kDescription, "call set_intermediate_data_type(DataType_t::FLOAT)", changed);
    }
}

void asked_results(Editor& editor) {
    editor.add_for_tensors(cost::kDescription, "call set_output(true) for ", "", [](GraphSpec& changed) {
        TensorIds ids;
        std::set<TensorId> read;
        auto const note = [&](nodes::PortRow const&, TensorId id) { read.insert(id); };
        for (nodes::Node const& node : changed.nodes) nodes::for_each_port(node, nodes::Direction::Input, note);
        auto const ask = [&](nodes::PortRow const&, TensorId id) {
            TensorSpec& tensor = changed.tensors[static_cast<std::size_t>(id)];
            if (!tensor.is_virtual || read.contains(id)) return;
            tensor.is_virtual = false;
            ids.push_back(id);
        };
        for (nodes::Node const& node : changed.nodes) nodes::for_each_port(node, nodes::Direction::Output, ask);
        return ids;
    });
}

void stats(Editor& editor) {
    core::Dims const q = editor.dim_at(Port::Q);
    GraphSpec generated = editor.graph(), passed = editor.graph();
    for (nodes::Node& node : generated.nodes) {
        auto* const forward = std::get_if<nodes::SdpaForwardFields>(&node.fields);
        if (forward != nullptr) forward->generate_stats = node.ports[Port::Stats] != nodes::kNoTensor;
    }
    editor.add(cost::kSetting,
               editor.has(Port::Stats) ? "call set_generate_stats(true)" : "call set_generate_stats(false)",
               std::move(generated));
    if (q.empty()) return;
    core::Dims const dim = {q[0], q[1], q[2], 1};
    for (std::size_t n = 0; n < passed.nodes.size(); ++n) {
        nodes::Node& node = passed.nodes[n];
        if (node.kind() != nodes::NodeKind::SdpaBackward || node.ports[Port::Stats] != nodes::kNoTensor) continue;
        node.ports[Port::Stats] = add_tensor(passed, "Stats", DataType_t::FLOAT, dim);
    }
    editor.add(cost::kCopy,
               "pass Stats, FLOAT " + core::to_string(dim) + ", which forward writes with set_generate_stats(true)",
               std::move(passed));
}

// Asks for Stats that need not be read. On some GPUs the kernels for 8-bit types and one query that write Stats serve
// all sizes, and the others some of them.
void unread_stats(Editor& editor) {
    core::Dims const q = editor.dim_at(Port::Q);
    GraphSpec changed = editor.graph();
    for (std::size_t n = 0; n < changed.nodes.size(); ++n) {
        auto* const forward = std::get_if<nodes::SdpaForwardFields>(&changed.nodes[n].fields);
        if (q.empty() || q[2] != 1 || forward == nullptr) continue;
        bool const is_fp8 = changed.nodes[n].ports[Port::DescaleQ] != nodes::kNoTensor;
        bool const has_stats = changed.nodes[n].ports[Port::Stats] != nodes::kNoTensor;
        if (!is_fp8 || has_stats) continue;
        forward->generate_stats = true;
        TensorId const id = add_tensor(changed, "Stats", DataType_t::FLOAT, {q[0], q[1], q[2], 1});
        changed.nodes[n].ports[Port::Stats] = id;
    }
    editor.add(cost::kCopy, "ask for Stats, set_generate_stats(true), which need not be read", std::move(changed));
}

// Connects lengths of sequences to a node that lacks them, and returns their names.
std::vector<std::string> add_lengths(GraphSpec& graph, nodes::Node& node, std::int64_t batches) {
    std::vector<std::string> added;
    auto const is_connected = [&](int port) { return node.ports[static_cast<std::size_t>(port)] != nodes::kNoTensor; };
    for (Port::LengthPorts const& pair : {Port::kQueryLengths, Port::kKeyLengths}) {
        if (is_connected(pair.lengths) || is_connected(pair.sums)) continue;
        char const* const name = Port::operand(pair.lengths).name;
        node.ports[static_cast<std::size_t>(pair.lengths)] =
            add_tensor(graph, name, DataType_t::INT32, {batches, 1, 1, 1});
        added.emplace_back(name);
    }
    return added;
}

void padding_mask(Editor& editor) {
    GraphSpec changed = editor.graph();
    for (nodes::Node& node : changed.nodes) {
        bool const has_lengths = is_attention(node) && (node.ports[Port::SeqLenQ] != nodes::kNoTensor ||
                                                        node.ports[Port::CuSeqLenQ] != nodes::kNoTensor);
        if (has_lengths) attention_fields(node)->padding_mask = true;
    }
    editor.add(cost::kSetting, "call set_padding_mask(true)", std::move(changed));
}

void missing_lengths(Editor& editor) {
    core::Dims const q = editor.dim_at(Port::Q);
    if (q.empty()) return;
    GraphSpec changed = editor.graph();
    std::vector<std::string> names;
    bool is_masked = true;
    for (std::size_t n = 0; n < changed.nodes.size(); ++n) {
        nodes::Node node = changed.nodes[n];
        auto* const fields = attention_fields(node);
        if (fields == nullptr) continue;
        is_masked = is_masked && fields->padding_mask;
        fields->padding_mask = true;
        if (auto added = add_lengths(changed, node, q[0]); !added.empty()) names = std::move(added);
        changed.nodes[n] = std::move(node);
    }
    if (names.empty()) return;
    editor.add(cost::kCopy,
               core::text("pass ", core::listed(names, "and"), ", INT32 ", core::Dims{q[0], 1, 1, 1},
                          is_masked ? "" : ", and call set_padding_mask(true)"),
               std::move(changed));
}

void generator(Editor& editor) {
    GraphSpec changed = editor.graph();
    for (std::size_t n = 0; n < changed.nodes.size(); ++n) {
        nodes::Node node = changed.nodes[n];
        auto const* const fields = nodes::attention_fields(node);
        if (fields == nullptr || !fields->dropout_probability || node.ports[Port::DropoutMask] != nodes::kNoTensor)
            continue;
        for (int const port : {Port::Seed, Port::Offset}) {
            if (node.ports[static_cast<std::size_t>(port)] != nodes::kNoTensor) continue;
            node.ports[static_cast<std::size_t>(port)] =
                add_tensor(changed, Port::operand(port).name, DataType_t::INT64, {1, 1, 1, 1});
        }
        changed.nodes[n] = std::move(node);
    }
    editor.add(cost::kCopy, "pass seed and offset, INT64 [1, 1, 1, 1]", std::move(changed));
}

// Running totals in the ports of lengths.
void sums_of_lengths(Editor& editor) {
    core::Dims const q = editor.dim_at(Port::Q);
    if (q.empty()) return;
    editor.add_for_tensors(cost::kSetting, "pass ",
                           " by set_cu_seq_len_q() and set_cu_seq_len_kv(): they are running totals",
                           [&](GraphSpec& changed) {
                               TensorIds ids;
                               for (nodes::Node& node : changed.nodes) {
                                   if (!is_attention(node)) continue;
                                   for (Port::LengthPorts const& pair : {Port::kQueryLengths, Port::kKeyLengths}) {
                                       TensorId& at = node.ports[static_cast<std::size_t>(pair.lengths)];
                                       if (at == nodes::kNoTensor) continue;
                                       TensorSpec& tensor = changed.tensors[static_cast<std::size_t>(at)];
                                       if (core::volume(tensor.dim) != q[0] + 1) continue;
                                       tensor.dim = {q[0] + 1, 1, 1, 1};
                                       tensor.stride = packed_like(tensor.dim, {});
                                       ids.push_back(at);
                                       std::swap(at, node.ports[static_cast<std::size_t>(pair.sums)]);
                                   }
                               }
                               return ids;
                           });
}

}  // namespace

void add_description_edits(Editor& editor) {
    inferred_results(editor);
    own_uids(editor);
    missing_strides(editor);
    context_types(editor);
    asked_results(editor);
    stats(editor);
    unread_stats(editor);
    padding_mask(editor);
    missing_lengths(editor);
    generator(editor);
    sums_of_lengths(editor);
}

}  // namespace cudnn_frontend::edits
