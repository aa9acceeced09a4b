#include "cudnn/quirks/quirk_rows.h"

#include "core/data_type.h"
#include "core/names.h"
#include "nodes/attention/attention_node.h"

namespace cudnn_frontend::quirks {
namespace {

DataType_t type_of_q(Facts const& facts) { return facts.tensor(Port::Q)->data_type; }

std::string beside_q(DataType_t type, Facts const& facts) {
    return std::string("the data type ") + core::name_of(type) + " with Q of " + core::name_of(type_of_q(facts));
}

Found forward_io_type(Facts const& facts) {
    DataType_t const type = type_of_q(facts);
    if (facts.is_backward || core::is_half(type) || type == DataType_t::FLOAT) return {};
    return Violation{Port::Q, std::string("the data type ") + core::name_of(type)};
}

Found backward_io_type(Facts const& facts) {
    DataType_t const type = type_of_q(facts);
    if (!facts.is_backward || core::is_half(type)) return {};
    return Violation{Port::Q, std::string("the data type ") + core::name_of(type)};
}

Found result_types(Facts const& facts) {
    DataType_t const io = type_of_q(facts);
    bool const is_unified = nodes::is_told_as_unified(facts.graph, facts.node);
    auto const text = [&](int, nodes::TensorSpec const& tensor) -> std::string {
        bool const are_halves = core::is_half(io) && core::is_half(tensor.data_type);
        if (tensor.data_type == io || (are_halves && !facts.is_backward && !is_unified)) return {};
        return beside_q(tensor.data_type, facts) + (are_halves && is_unified ? " with the unified operation" : "");
    };
    return wrong_at(facts, std::array{Port::O, Port::DO, Port::DQ, Port::DK, Port::DV}, text);
}

Found bias_gradient_type(Facts const& facts) {
    nodes::TensorSpec const* const gradient = facts.tensor(Port::DBias);
    if (gradient == nullptr || gradient->data_type == type_of_q(facts)) return {};
    return Violation{Port::DBias, beside_q(gradient->data_type, facts)};
}

Found sink_type(Facts const& facts) {
    nodes::TensorSpec const* const sink = facts.tensor(Port::SinkToken);
    if (sink == nullptr || sink->data_type == DataType_t::FLOAT) return {};
    return Violation{Port::SinkToken, std::string("a sink token of type ") + core::name_of(sink->data_type)};
}

Found length_type(Facts const& facts) {
    if (!facts.fields.padding_mask) return {};
    return wrong_at(facts, std::array{Port::SeqLenQ, Port::SeqLenKv},
                    [](int, nodes::TensorSpec const& lengths) -> std::string {
                        if (lengths.data_type == DataType_t::INT32) return {};
                        return std::string("the data type ") + core::name_of(lengths.data_type);
                    });
}

Found stats_type(Facts const& facts) {
    nodes::TensorSpec const* const stats = facts.is_backward ? nullptr : facts.tensor(Port::Stats);
    if (stats == nullptr || stats->data_type == DataType_t::FLOAT) return {};
    return Violation{Port::Stats, std::string("Stats of type ") + core::name_of(stats->data_type)};
}

constexpr char const* kIsConverted =
    "set_data_type() on it with this type; where attention is the graph's only node, the tensor is not packed by "
    "lengths "
    "and kernels can be compiled, this library converts it";

constexpr Quirk kRows[] = {
    {.id = "cudnn.s03",
     .evidence = Evidence::NoEngine,
     .verified = {92800, kOffline},
     .summary = "HALF, BFLOAT16 or FLOAT for Q, K and V",
     .fix = "convert the tensors, or use Target::cpu()",
     .check = forward_io_type,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s03",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "HALF or BFLOAT16 for Q, K and V in backward",
     .fix = "convert the tensors, or use Target::cpu()",
     .seen = "each case that was run past the limit on an H200 had no engine either",
     .check = backward_io_type,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s13",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "a dBias of Q's data type: for others cuDNN has no engine, or computes it wrong",
     .fix = "give bias and dBias Q's data type",
     .seen = "FLOAT with halves: no engine in 8 of 8 cases; the other half type: wrong in 8 of 8",
     .check = bias_gradient_type,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s37",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "a sink token of FLOAT: cuDNN reads other types as if they were",
     .fix = "convert the sink token",
     .seen = "16 of 16 runs wrong",
     .check = sink_type},
    {.id = "cudnn.s74",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "O of HALF or BFLOAT16 with such Q, of FLOAT with FLOAT; with the unified operation Q's type, and in "
                "backward for dO and the gradients too: cuDNN reads other types as these",
     .fix = "set_data_type() on it with Q's type, and convert before or after the run; for the other half type in "
            "forward also set_implementation(AttentionImplementation_t::COMPOSITE)",
     .seen = "80 of 96 runs wrong, 8 had no engine; right was forward of one query with O of FLOAT with HALF and "
             "BFLOAT16. 9.14.0 the same",
     .check = result_types,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s95",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "INT32 for lengths",
     .fix = kIsConverted,
     .seen = "right in forward, 6 of 8 runs of backward wrong",
     .check = length_type},
    {.id = "cudnn.s96",
     .evidence = Evidence::AskedOffline,
     .verified = {91900, kOffline},
     .summary = "FLOAT for Stats",
     .fix = kIsConverted,
     .seen = "makes plans for 9.0 with Stats of HALF and BFLOAT16, which were not run: its documents name only FLOAT",
     .check = stats_type},
};

}  // namespace

std::span<Quirk const> type_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
