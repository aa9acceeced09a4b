#include "cudnn/quirks/quirk_rows.h"

#include "core/data_type.h"

#include <array>

namespace cudnn_frontend::quirks {
namespace {

std::string stride_text(nodes::TensorSpec const& tensor, std::size_t axis) {
    return "a stride of " + number(tensor.stride[axis]) + " in dim " + number(std::int64_t(axis));
}

// The fault in the strides along a tensor's one dim; empty where there is none.
std::string gap_between_numbers(nodes::TensorSpec const& tensor, std::size_t axis) {
    if (tensor.dim[axis] == 1 || tensor.stride[axis] == 1) return {};
    return stride_text(tensor, axis);
}

std::string gap_between_offsets(Facts const& facts, nodes::TensorSpec const& tensor) {
    if (!is_ragged(&tensor)) return {};
    std::string const gap = gap_between_numbers(facts.graph.tensors[static_cast<std::size_t>(tensor.ragged_offset)], 0);
    return gap.empty() ? gap : gap + " of its ragged offsets";
}

// The dim along which cuDNN reads a tensor's numbers as neighbors, if there is one. In backward only the gradient reads
// the sink, and it follows the strides; in forward Stats are written by their strides.
std::optional<std::size_t> axis_of_neighbors(Facts const& facts, int port) {
    switch (port) {
        case Port::SeqLenQ:
        case Port::SeqLenKv:
        case Port::CuSeqLenQ:
        case Port::CuSeqLenKv: return facts.fields.padding_mask ? std::optional<std::size_t>(0) : std::nullopt;
        case Port::DSinkToken: return 1;
        case Port::SinkToken: return facts.is_backward ? std::nullopt : std::optional<std::size_t>(1);
        case Port::Stats:
            if (!facts.is_backward) return {};
            [[fallthrough]];
        case Port::Bias:
        case Port::DropoutMask: return is_per_head(*facts.tensor(port)) ? std::optional<std::size_t>(1) : std::nullopt;
        default: return {};
    }
}

std::string gap_at(Facts const& facts, int port, nodes::TensorSpec const& tensor) {
    auto const axis = axis_of_neighbors(facts, port);
    return axis ? gap_between_numbers(tensor, *axis) : gap_between_offsets(facts, tensor);
}

// Whether the rows have no gaps and another limit refuses their head dim (cudnn.s04): its fix is also that of the
// stride.
bool follows_head_dim(Facts const& facts, nodes::TensorSpec const& tensor, std::size_t axis) {
    return refuses_head_dim(facts, tensor.dim[3]) && tensor.stride[axis] % tensor.dim[3] == 0;
}

// Hopper's engines read these tensors through descriptors that hold strides in units of 16 bytes.
Found stride_multiple(Facts const& facts) {
    return wrong_at(facts, Port::kPortsWhere<is_matrix>, [&](int, nodes::TensorSpec const& tensor) -> std::string {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            bool const is_offset = axis == 0 && is_ragged(&tensor);
            bool const is_used = tensor.dim[axis] > 1 && !is_offset && !follows_head_dim(facts, tensor, axis);
            std::int64_t const bytes = tensor.stride[axis] * core::size_of(tensor.data_type);
            if (!is_used || bytes % 16 == 0) continue;
            return "a stride of " + number(bytes) + " bytes in dim " + number(std::int64_t(axis));
        }
        return {};
    });
}

// Holds for dBias and dumps of dropout masks.
Found gaps_between_scores(Facts const& facts) {
    auto const gap = [](int, nodes::TensorSpec const& tensor) -> std::string {
        core::Dims const packed = core::packed_strides(tensor.dim);
        for (std::size_t axis = 0; axis < 4; ++axis) {
            if (tensor.dim[axis] == 1 || tensor.stride[axis] == packed[axis]) continue;
            return stride_text(tensor, axis) + ", where packed is " + number(packed[axis]);
        }
        return {};
    };
    return wrong_at(facts, std::array{Port::RngDump, Port::DBias}, gap);
}

Found last_stride_not_one(Facts const& facts) {
    return wrong_at(facts, std::array{Port::Bias, Port::DropoutMask}, [](int, nodes::TensorSpec const& tensor) {
        bool const is_apart = tensor.dim[3] > 1 && tensor.stride[3] != 1;
        return is_apart ? number(tensor.stride[3]) + " as the stride of the last dim" : "";
    });
}

Found numbers_apart(Facts const& facts) {
    auto const text = [&](int port, nodes::TensorSpec const& tensor) { return gap_at(facts, port, tensor); };
    if (Found found = wrong_at(facts, Port::kPortsWhere<is_any>, text)) return found;
    return wrong_in_modifier(facts, [](nodes::TensorSpec const& tensor) {
        std::string const gap = is_per_head(tensor) ? gap_between_numbers(tensor, 1) : "";
        return gap.empty() ? gap : gap + " of";
    });
}

Found page_sizes(Facts const& facts) {
    if (!facts.has(Port::PageTableK) || !facts.has(Port::PageTableV)) return {};
    std::int64_t const of_k = facts.tensor(Port::K)->dim[2], of_v = facts.tensor(Port::V)->dim[2];
    if (of_k == of_v) return {};
    return Violation{Port::V, "pages of " + number(of_v) + " rows in V and of " + number(of_k) + " in K"};
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.s06",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "strides that are multiples of 16 bytes, except the stride of the last dim",
     .fix = "copy the tensor, or pad its rows",
     .seen = "plans compile, and 9 of 9 runs failed",
     .check = stride_multiple},
    {.id = "cudnn.s35",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "pages of as many rows in V as in K: cuDNN uses K's number for both",
     .fix = "give both one page size",
     .seen = "17 of 38 runs wrong",
     .check = page_sizes},
    {.id = "cudnn.s85",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "rng_dump and dBias packed in the order of their dims",
     .fix = "set_stride() to {H*Sq*Skv, Sq*Skv, Skv, 1}, of the dims that it has, and copy after the run",
     .seen = "asked of 9.14.0, 9.19.0 and 9.28.0 for 8.0, 9.0 and 10.0: \"row major\"",
     .check = gaps_between_scores},
    {.id = "cudnn.s86",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "1 as the stride of the last dim",
     .fix = "copy the tensor, so that the stride of the last dim is 1",
     .seen = "a bias or a dropout mask with another stride: 8 of 32 runs wrong with misaligned addresses where rows "
             "and columns are 128, with 9.14.0 and 9.19.0, which do not check the stride. 9.28.0 accepts no "
             "transposed bias (asked offline: \"bias layout should be row major\")",
     .check = last_stride_not_one},
    {.id = "cudnn.s87",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "lengths, ragged offsets, a sink token, its gradient and per-head values without gaps between them: "
                "cuDNN does not look at the strides of these",
     .fix = "copy the tensor to one without gaps",
     .seen = "344 of 352 runs wrong; right were the offsets of one sequence. Page tables, documents, prefixes, values "
             "for rows, Stats, Max and Sum_exp of any stride are right",
     .check = numbers_apart},
};

}  // namespace

std::span<Quirk const> layout_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
