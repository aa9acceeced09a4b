#include "cudnn/quirks/fp8_limits.h"

#include "core/data_type.h"
#include "core/names.h"
#include "nodes/attention/fp8.h"
#include "nodes/attention/paging.h"
#include "nodes/schema/schema.h"

namespace cudnn_frontend::quirks {

Found fp8_architecture(Facts const& facts, Capabilities const& here) {
    bool const is_taken_later = is_consumer_blackwell(here) && !facts.is_backward && here.cudnn_version >= 91900;
    if (is_hopper_or_datacenter(here) || is_taken_later) return {};
    return Violation{-1, std::string(facts.is_backward ? "FP8 backward" : "FP8 attention") + " on " +
                             architecture_of(here) + " with " + version(here.cudnn_version)};
}

Found fp8_pages(Facts const& facts, Capabilities const& here) {
    if (!is_hopper(here) || !nodes::has_pages(facts.node) || here.cudnn_version >= 91900) return {};
    return Violation{-1, "pages in FP8 attention with " + version(here.cudnn_version)};
}

Found fp8_head_dims(Facts const& facts, Capabilities const& here) {
    bool const is_exact = facts.is_backward && is_hopper(here);
    bool const is_small = facts.is_backward || is_consumer_blackwell(here), has_bound = is_small || is_hopper(here);
    std::int64_t const largest = is_small ? 128 : 256;
    return bad_head_dim(facts, [&](std::int64_t dim) {
        return dim % 16 != 0 || (has_bound && dim > largest) || (is_exact && dim != largest);
    });
}

Found fp8_results(Facts const& facts, Capabilities const& here) {
    for (int const port : {Port::O, Port::dQ, Port::dK, Port::dV}) {
        nodes::TensorSpec const* const tensor = facts.tensor(port);
        bool const is_read = port == Port::O && facts.is_backward;
        if (tensor == nullptr || is_read || core::is_fp8(tensor->data_type) || is_datacenter(here)) continue;
        return Violation{
            port, std::string("the data type ") + core::name_of(tensor->data_type) + " on " + architecture_of(here)};
    }
    return {};
}

Found fp8_sink(Facts const& facts, Capabilities const& here) {
    int const port = facts.is_backward ? Port::dSink_token : Port::Sink_token;
    if (!is_hopper(here) || !facts.has(port)) return {};
    char const* const what = facts.is_backward ? "a dSink" : "a sink token";
    return Violation{port, std::string(what) + " in FP8 attention on " + architecture_of(here)};
}

Found fp8_wide_o(Facts const& facts, Capabilities const& here) {
    nodes::TensorSpec const* const o = facts.tensor(Port::O);
    if (!facts.has(Port::Descale_o) || !is_hopper(here) || core::is_fp8(o->data_type)) return {};
    return Violation{Port::O,
                     std::string("O of ") + core::name_of(o->data_type) + " in backward on " + architecture_of(here)};
}

Found fp8_of_one_query(Facts const& facts, Capabilities const& here) {
    if (facts.is_backward || is_datacenter(here) || facts.queries() > 1) return {};
    return Violation{Port::Q, "one query in FP8 attention on " + architecture_of(here)};
}

Found fp8_dropout(Facts const& facts, Capabilities const& here) {
    if (!is_consumer_blackwell(here)) return {};
    if (!draws_dropout(facts)) return {};
    return Violation{-1, "a dropout probability in FP8 attention on " + architecture_of(here)};
}

Found fp8_modifier_gradient(Facts const& facts, Capabilities const& here) {
    if (is_hopper(here) || !facts.has(Port::dScore_mod)) return {};
    if (!has_backward_activation(facts)) return {};
    return Violation{Port::dScore_mod,
                     "TANH_BWD or another backward activation in a modifier's gradient on " + architecture_of(here)};
}

Found fp8_ragged(Facts const& facts, Capabilities const& here) {
    int const port = first_row_port(facts, true);
    if (!is_hopper(here) || port < 0) return {};
    return Violation{port, "a ragged offset in FP8 attention on " + architecture_of(here)};
}

Found fp8_deterministic(Facts const& facts, Capabilities const&) {
    if (!is_deterministic(facts)) return {};
    return Violation{-1, "the deterministic algorithm in FP8 attention"};
}

Found fp8_ignored(Facts const& facts, Capabilities const& here) {
    if (!is_hopper(here)) return {};
    auto const found = [&](int port, char const* what) {
        return Violation{port, std::string(what) + " in FP8 attention on " + architecture_of(here)};
    };
    if (facts.has(Port::Score)) return found(Port::Score_mod, "a modifier");
    if (facts.has(Port::Dropout_mask)) return found(Port::Dropout_mask, "a dropout mask");
    if (draws_dropout(facts)) return found(-1, "a dropout probability");
    if (facts.is_backward) return {};
    if (facts.has(Port::Bias)) return found(Port::Bias, "a bias");
    if (facts.fields.alibi_mask) return found(-1, "an alibi mask");
    return {};
}

Found fp8_rows(Facts const& facts, Capabilities const& here) {
    if (!is_hopper(here) || !facts.is_backward || facts.queries() % 16 == 0) return {};
    return Violation{Port::Q, std::to_string(facts.queries()) + " queries in FP8 backward on " + architecture_of(here)};
}

Found fp8_heads(Facts const& facts, Capabilities const& here) {
    auto const heads = [&](int port) { return facts.tensor(port)->dim[1]; };
    bool const k_has_fewer = heads(Port::K) < heads(Port::Q), v_has_fewer = heads(Port::V) < heads(Port::Q);
    if (!is_hopper_or_datacenter(here) || !facts.is_backward || k_has_fewer == v_has_fewer) return {};
    return Violation{k_has_fewer ? Port::K : Port::V, std::to_string(heads(Port::K)) + " heads in K and " +
                                                          std::to_string(heads(Port::V)) + " in V beside Q's " +
                                                          std::to_string(heads(Port::Q)) + " in FP8 backward on " +
                                                          architecture_of(here)};
}

Found fp8_band(Facts const& facts, Capabilities const& here) {
    auto const& fields = facts.fields;
    bool const is_moved = fields.padding_mask && fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    if (!is_hopper(here) || facts.is_backward || !fields.left_bound || !is_moved) return {};
    return Violation{
        -1, "a left bound from the bottom right corner beside lengths in FP8 attention on " + architecture_of(here)};
}

Found fp8_extremes(Facts const& facts, Capabilities const& here) {
    if (!is_hopper(here) || facts.is_backward) return {};
    for (int const port : {Port::Max, Port::Sum_exp}) {
        if (!facts.has(port)) continue;
        return Violation{port, std::string(nodes::port_name(facts.node.kind(), port)) + " in FP8 attention on " +
                                   architecture_of(here)};
    }
    return {};
}

// Its kernel reads them from the GPU's memory, whatever the graph says.
Found fp8_factors(Facts const& facts, Capabilities const& here) {
    if (!is_hopper(here) || !facts.is_backward) return {};
    for (int port = 0; port < Port::kPorts; ++port) {
        nodes::TensorSpec const* const factor = nodes::is_fp8_port(port) ? facts.tensor(port) : nullptr;
        if (factor == nullptr || !(factor->is_by_value || factor->value)) continue;
        return Violation{port, std::string("a factor on the host on ") + architecture_of(here)};
    }
    return {};
}

}  // namespace cudnn_frontend::quirks
