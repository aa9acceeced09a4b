#include "cudnn/quirks/ragged_limits.h"

#include "nodes/schema/schema.h"

namespace cudnn_frontend::quirks {

Found partly_ragged(Facts const& facts, Capabilities const&) {
    int const dense = first_row_port(facts, false);
    if (dense < 0 || first_row_port(facts, true) < 0) return {};
    return Violation{dense, "no ragged offset, where other tensors have one"};
}

Found ragged_stats_of_one_query(Facts const& facts, Capabilities const&) {
    if (facts.is_backward || facts.queries() != 1 || !shares_key_heads(facts)) return {};
    for (int const port : {Port::Stats, Port::Max, Port::Sum_exp}) {
        if (!is_ragged(facts.tensor(port))) continue;
        return Violation{port, std::string("ragged ") + nodes::port_name(facts.node.kind(), port) +
                                   " of one query, with shared key heads"};
    }
    return {};
}

Found ragged_sink_gradient(Facts const& facts, Capabilities const&) {
    if (!facts.has(Port::dSink_token) || first_row_port(facts, true) < 0) return {};
    return Violation{Port::dSink_token, "a dSink beside ragged tensors"};
}

Found ragged_architecture(Facts const& facts, Capabilities const& here) {
    bool const is_affected = here.sm < 90 || (is_consumer_blackwell(here) && facts.is_backward);
    if (!is_affected || here.cudnn_version >= 91801) return {};
    int const port = first_row_port(facts, true);
    if (port < 0) return {};
    return Violation{port, "a ragged offset on " + architecture_of(here) + " with " + version(here.cudnn_version)};
}

Found ragged_product_of_dq(Facts const& facts, Capabilities const& here) {
    if (is_hopper(here) || !needs_product_of_dq(facts)) return {};
    int const port = first_row_port(facts, true);
    if (port < 0) return {};
    return Violation{port, std::string("a ragged offset beside ") +
                               (is_deterministic(facts) ? "the deterministic algorithm" : "a dBias") + " on " +
                               architecture_of(here)};
}

// Such as those of one buffer with K and V.
Found ragged_gaps_between_rows(Facts const& facts, Capabilities const& here) {
    if (!facts.is_backward || !is_consumer_blackwell(here)) return {};
    for (int const port : {Port::Q, Port::dO}) {
        nodes::TensorSpec const* const tensor = facts.tensor(port);
        std::int64_t const row = tensor->dim[1] * tensor->dim[3];
        if (!is_ragged(tensor) || tensor->stride[2] <= row) continue;
        return Violation{port, "rows of " + number(row) + " elements that lie " + number(tensor->stride[2]) +
                                   " apart, on " + architecture_of(here)};
    }
    return {};
}

Found ragged_heads_before_9_19(Facts const& facts, Capabilities const& here) {
    if (!facts.is_backward || here.cudnn_version >= 91900 || first_row_port(facts, true) < 0) return {};
    Found found = bad_head_dim(facts, [](std::int64_t dim) { return dim > 128; });
    if (found) found->found += " beside a ragged offset, with " + version(here.cudnn_version);
    return found;
}

Found ragged_heads_of_v(Facts const& facts, Capabilities const& here) {
    if (!facts.is_backward || is_hopper_or_datacenter(here) || first_row_port(facts, true) < 0) return {};
    std::int64_t const of_k = facts.tensor(Port::K)->dim[1], of_v = facts.tensor(Port::V)->dim[1];
    if (of_k == of_v) return {};
    return Violation{Port::V, number(of_v) + " heads beside K's " + number(of_k) + " and a ragged offset, on " +
                                  architecture_of(here)};
}

// The columns of dQ and dK from 128 on are left out.
Found ragged_unequal_heads(Facts const& facts, Capabilities const& here) {
    if (!is_hopper(here) || here.cudnn_version < 91900) return {};  // other limits'
    bool const is_affected = facts.qk_dim() > 192 && facts.v_dim() <= 128;
    if (!facts.is_backward || !is_affected || first_row_port(facts, true) < 0) return {};
    return Violation{Port::V, "head dims of " + number(facts.qk_dim()) + " and " + number(facts.v_dim()) +
                                  " beside a ragged offset"};
}

Found gradient_offsets_before_9_19(Facts const& facts, Capabilities const& here) {
    if (!facts.is_backward || here.cudnn_version >= 91900) return {};
    constexpr std::pair<int, int> kPairs[] = {{Port::Q, Port::dQ}, {Port::K, Port::dK}, {Port::V, Port::dV}};
    for (auto const& [of, gradient] : kPairs) {
        if (facts.tensor(gradient)->ragged_offset == facts.tensor(of)->ragged_offset) continue;
        return Violation{gradient, "another ragged offset than its tensor's, with " + version(here.cudnn_version)};
    }
    return {};
}

}  // namespace cudnn_frontend::quirks
