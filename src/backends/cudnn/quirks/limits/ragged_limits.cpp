#include "core/dims.h"
#include "cudnn/quirks/quirk_rows.h"
#include "nodes/attention/attention_node.h"
#include "nodes/attention/attention_schema.h"

#include <limits>

namespace cudnn_frontend::quirks {
namespace {

bool is_result(Facts const& facts, int port) {
    Port::Operand const& row = Port::operand(port);
    return Port::makes(facts.is_backward ? row.backward : row.forward);
}

// The type of the offsets that dense tensors get (passes/given_offsets.cpp).
DataType_t type_of_offsets(Facts const& facts) {
    nodes::TensorSpec const& ragged = *facts.tensor(row_ports(facts, true).front());
    return facts.graph.tensors[static_cast<std::size_t>(ragged.ragged_offset)].data_type;
}

// Why a dense tensor cannot be given offsets in a graph with ragged ones; empty if it can.
std::string obstacle_to_offsets(Facts const& facts, int port, nodes::TensorSpec const& tensor) {
    std::int64_t const entries = tensor.dim[0], distance = tensor.stride[0];
    if (nodes::is_fp8(facts.node)) return "FP8 attention";
    if (entries != facts.tensor(Port::Q)->dim[0] || (entries > 1 && distance == 0)) return "shared batch entries";
    if (is_result(facts, port)) {
        if (!nodes::has_rows_of_all_heads(tensor)) return "rows that do not hold all heads";
        if (core::span_of(tensor.dim, tensor.stride) != core::volume(tensor.dim)) return "rows with gaps";
    }
    bool const is_narrow = type_of_offsets(facts) == DataType_t::INT32;
    if (is_narrow && distance > std::numeric_limits<std::int32_t>::max() / entries) {
        return "batch entries beyond INT32 offsets";
    }
    return {};
}

Found partly_ragged(Facts const& facts) {
    if (!has_ragged_rows(facts)) return {};
    return wrong_at(facts, row_ports(facts, false), [&](int port, nodes::TensorSpec const& tensor) {
        std::string const obstacle = obstacle_to_offsets(facts, port, tensor);
        return obstacle.empty() ? "" : obstacle + " and no ragged offset, where other tensors have one";
    });
}

Found ragged_stats_of_one_query(Facts const& facts) {
    if (facts.is_backward || facts.queries() != 1 || !shares_key_heads(facts)) return {};
    return wrong_at(facts, std::array{Port::Stats, Port::Max, Port::SumExp}, [](int, nodes::TensorSpec const& tensor) {
        return is_ragged(&tensor) ? "a ragged offset with one query and shared key heads" : "";
    });
}

Found any_ragged(Facts const& facts) { return violation_at(row_ports(facts, true), {"a ragged offset"}); }

Found ragged_backward(Facts const& facts) { return facts.is_backward ? any_ragged(facts) : std::nullopt; }

Found ragged_product_of_dq(Facts const& facts) {
    Found found = needs_product_of_dq(facts) ? any_ragged(facts) : std::nullopt;
    if (found) found->found += is_deterministic(facts) ? " with the deterministic algorithm" : " with a dBias";
    return found;
}

// Gaps such as those of one buffer with K and V.
Found ragged_gaps_between_rows(Facts const& facts) {
    if (!facts.is_backward) return {};
    auto const text = [&](int, nodes::TensorSpec const& tensor) {
        std::int64_t const row = tensor.dim[1] * tensor.dim[3];
        if (!has_ragged_rows(facts) || tensor.stride[2] <= row) return std::string();
        return "rows of " + number(row) + " elements with a stride of " + number(tensor.stride[2]) + ",";
    };
    return wrong_at(facts, std::array{Port::Q, Port::DO}, text);
}

Found ragged_wide_heads(Facts const& facts) {
    if (!facts.is_backward || !has_ragged_rows(facts)) return {};
    Found found = bad_head_dim(facts, [](std::int64_t dim) { return dim > 128; });
    if (found) found->found += " with a ragged offset";
    return found;
}

Found ragged_heads_of_v(Facts const& facts) {
    if (!facts.is_backward || !has_ragged_rows(facts)) return {};
    std::int64_t const of_k = facts.tensor(Port::K)->dim[1], of_v = facts.tensor(Port::V)->dim[1];
    if (of_k == of_v) return {};
    return Violation{Port::V, number(of_v) + " heads in V and " + number(of_k) + " in K, with a ragged offset"};
}

// The columns of dQ and dK from 128 on are left out.
Found ragged_unequal_heads(Facts const& facts) {
    bool const is_affected = facts.qk_dim() > 192 && facts.v_dim() <= 128;
    if (!facts.is_backward || !is_affected || !has_ragged_rows(facts)) return {};
    return Violation{
        Port::V, "head dims of " + number(facts.qk_dim()) + " and " + number(facts.v_dim()) + " with a ragged offset"};
}

constexpr bool is_gradient_with_rows(Port::Operand const& row) {
    return row.gradient_of != Port::PortCount && Port::makes(row.backward) && Port::may_be_ragged(row);
}

Found gradient_offsets(Facts const& facts) {
    if (!facts.is_backward) return {};
    auto const text = [&](int port, nodes::TensorSpec const& gradient) {
        nodes::TensorSpec const* const of = facts.tensor(Port::operand(port).gradient_of);
        bool const are_dense = !is_ragged(&gradient) && !is_ragged(of);
        bool const is_given_another = are_dense && has_ragged_rows(facts) && gradient.stride[0] != of->stride[0];
        bool const is_same = gradient.ragged_offset == of->ragged_offset && !is_given_another;
        return is_same ? "" : "another ragged offset than its tensor's";
    };
    return wrong_at(facts, Port::kPortsWhere<is_gradient_with_rows>, text);
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.s21",
     .cudnn = {0, 91801},
     .on = kOlder | kAmpere,
     .evidence = Evidence::ToldByNvidia,
     .summary = "cuDNN 9.18.1 or newer for ragged offsets",
     .fix = "install 9.18.1 or newer, or pad the sequences",
     .seen =
         "9.14.0 has engines for forward on 8.x, of which nothing is known; asked offline, it has none for backward",
     .check = any_ragged},
    {.id = "cudnn.s21",
     .cudnn = {0, 91801},
     .on = kConsumerBlackwell,
     .evidence = Evidence::ToldByNvidia,
     .summary = "cuDNN 9.18.1 or newer for ragged offsets in backward",
     .fix = "install 9.18.1 or newer, or pad the sequences",
     .seen = "asked offline, 9.14.0 has no engine",
     .check = ragged_backward},
    {.id = "cudnn.s22",
     .evidence = Evidence::Crash,
     .verified = {91900, kH200},
     .summary = "in a graph with ragged tensors, dense tensors that can be given offsets (cudnn.w25): batch entries of "
                "their own, at distances within the type of the other offsets; for results, rows that hold all heads, "
                "without gaps; no FP8 attention",
     .fix = "give the tensor a ragged offset, or lay it out in the order batch, token, head, element",
     .seen = "mixed as they are, an illegal instruction, which ends the process's use of the GPU: 42 of 95 runs "
             "failed, 53 were right; 10 more had no engine",
     .check = partly_ragged},
    {.id = "cudnn.s23",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "for one query and shared key heads no ragged Stats, Max and Sum_exp: cuDNN leaves some unwritten",
     .fix = "leave these out, or give Q two rows",
     .seen = "28 of 31 runs wrong, one without an engine",
     .check = ragged_stats_of_one_query},
    {.id = "cudnn.s24",
     .on = kEvery - kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "neither dBias nor the deterministic algorithm with ragged offsets in backward",
     .fix = "leave these out, or pad the sequences",
     .check = ragged_product_of_dq},
    {.id = "cudnn.s25",
     .cudnn = {0, 91900},
     .evidence = Evidence::WrongNumbers,
     .verified = {91400, kH200},
     .summary = "heads of 128 at most for ragged offsets in backward: this release may compute larger ones wrong",
     .fix = "install 9.19 or newer, or pad the sequences",
     .seen = "9.14.0: 17 of 34 runs wrong; right with heads of 192 and 72",
     .check = ragged_wide_heads},
    {.id = "cudnn.s26",
     .cudnn = {0, 91900},
     .evidence = Evidence::WrongNumbers,
     .verified = {91400, kH200},
     .summary = "one ragged offset for Q and dQ, K and dK, V and dV: this release may compute others wrong",
     .fix = "set_ragged_offset() of both to the same tensor",
     .seen = "9.14.0: 2 of 8 runs wrong, one of which wrote outside its tensor",
     .check = gradient_offsets},
    {.id = "cudnn.s66",
     .on = kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "packed Q and dO in backward in rows without anything between them",
     .fix = "copy the tensor to a buffer of its own, or pad the sequences",
     .seen = "\"interleaved layouts are not supported\", where rows have gaps as in one buffer with K and V; K, V, O "
             "and the gradients may have them",
     .check = ragged_gaps_between_rows},
    {.id = "cudnn.s80",
     .cudnn = {91900, 0},
     .on = kHopper,
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "backward of ragged tensors: head dims of Q and K up to 192, or of V above 128; else cuDNN leaves out "
                "columns of dQ and dK",
     .fix = "pad V, O, dO and dV with columns of zeros to a head dim of 136, or pad the sequences",
     .seen =
         "52 of 56 runs wrong (256 and 72, 256 and 128, 200 and 72, 200 and 128): columns from 128 on are 0 or NaN; "
         "right were cases of 256 and 128 with an empty sequence. Right in general: 256 and 136, 256 and 248, 256, "
         "248, 192 and 72, 192 and 136, 160 and 64, 136 and 128, 128 and 256",
     .check = ragged_unequal_heads},
    {.id = "cudnn.s81",
     .on = kOlder | kAmpere | kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "as many heads in V as in K for backward of ragged tensors",
     .fix = "repeat the heads of the one that has fewer, and add up their gradients",
     .check = ragged_heads_of_v},
};

}  // namespace

std::span<Quirk const> ragged_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
