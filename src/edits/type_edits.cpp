// Edits that give tensors other data types.
#include "core/data_type.h"
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

void set_type(Editor& editor, std::span<int const> ports, DataType_t type, int cost) {
    std::string const behind = core::text(" the type ", type);
    editor.add_for_tensors(cost, "give ", behind, [&](GraphSpec& changed) {
        TensorIds ids;
        for (TensorId const id : editor.at_ports(ports)) {
            if (editor.type_of(editor.tensor(id)) == type) continue;
            changed.tensors[static_cast<std::size_t>(id)].data_type = type;
            ids.push_back(id);
        }
        return ids;
    });
}

// Reading the tensor's elements as other ones would be wrong: its writer has to convert.
void types_of_integers(Editor& editor) {
    for (int const port :
         {Port::SeqLenQ, Port::SeqLenKv, Port::CuSeqLenQ, Port::CuSeqLenKv, Port::PageTableK, Port::PageTableV})
        set_type(editor, std::array{port}, DataType_t::INT32, cost::kCopy);
    for (int const port : {Port::Seed, Port::Offset})
        set_type(editor, std::array{port}, DataType_t::INT64, cost::kCopy);
    set_type(editor, std::array{static_cast<int>(Port::BlockMask)}, DataType_t::UINT8, cost::kCopy);
}

void types_of_floats(Editor& editor) {
    constexpr std::array kFloats = {Port::Stats,           Port::Max,        Port::SumExp,
                                    Port::SinkToken,       Port::DSinkToken, Port::DropoutScale,
                                    Port::DropoutScaleInv, Port::RngDump,    Port::AttnScale};
    for (int const port : kFloats) set_type(editor, std::array{port}, DataType_t::FLOAT, cost::kPrecision);
    TensorIds const q = editor.at_ports({Port::Q});
    if (q.empty()) return;
    DataType_t const type = editor.type_of(editor.tensor(q.front()));
    set_type(editor, std::array<int, 5>{Port::O, Port::DO, Port::DQ, Port::DK, Port::DV}, type, cost::kPrecision);
    set_type(editor, std::array<int, 2>{Port::K, Port::V}, type, cost::kPrecision);
    if (TensorIds const k = editor.at_ports({Port::K}); !k.empty())
        set_type(editor, std::array<int, 1>{Port::Q}, editor.type_of(editor.tensor(k.front())), cost::kPrecision);
    set_type(editor, std::array<int, 2>{Port::Bias, Port::DBias}, type, cost::kPrecision);
    set_type(editor, std::array<int, 1>{Port::DropoutMask}, type, cost::kPrecision);
}

// Replaces single precision, and types that attention does not read. 8 bits without factors are among these.
void other_type(Editor& editor, DataType_t type) {
    GraphSpec changed = editor.graph();
    bool const has_factors = editor.has(Port::DescaleQ);
    for (TensorId const id : editor.at_ports(kMatrices)) {
        DataType_t const now = editor.type_of(editor.tensor(id));
        if (!core::is_half(now) && !(core::is_fp8(now) && has_factors))
            changed.tensors[static_cast<std::size_t>(id)].data_type = type;
    }
    editor.add(cost::kRounding, core::text("make Q, K, V and the results ", type), std::move(changed), "type");
}

// Replaces 8 bits, and leaves out the factors.
void without_fp8(Editor& editor, DataType_t type) {
    GraphSpec changed = editor.graph();
    bool is_fp8 = false;
    for (nodes::Node& node : changed.nodes) {
        auto* const fields = attention_fields(node);
        if (fields == nullptr) continue;
        fields->block_scaled = false;
        for (Port::Operand const& row : Port::kOperands) {
            TensorId& at = node.ports[static_cast<std::size_t>(row.port)];
            if (at == nodes::kNoTensor || row.part == Port::Part::Any) continue;
            at = nodes::kNoTensor;
            is_fp8 = true;
        }
    }
    for (TensorId const id : editor.at_ports(kMatrices)) changed.tensors[static_cast<std::size_t>(id)].data_type = type;
    if (is_fp8)
        editor.add(cost::kRounding + 2, core::text("make Q, K, V and the results ", type, ", without scales"),
                   std::move(changed), "type");
}

}  // namespace

void add_type_edits(Editor& editor) {
    types_of_integers(editor);
    types_of_floats(editor);
    for (DataType_t const type : {DataType_t::HALF, DataType_t::BFLOAT16}) {
        other_type(editor, type);
        without_fp8(editor, type);
    }
}

}  // namespace cudnn_frontend::edits
