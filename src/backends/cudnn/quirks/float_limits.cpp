#include "cudnn/quirks/float_limits.h"

#include "nodes/attention/unified.h"

namespace cudnn_frontend::quirks {

// Backward takes none at all, which is another limit's.
static bool are_floats(Facts const& facts) {
    return !facts.is_backward && facts.tensor(Port::Q)->data_type == DataType_t::FLOAT;
}

Found dropout_of_floats(Facts const& facts, Capabilities const&) {
    if (!are_floats(facts)) return {};
    if (facts.has(Port::Dropout_mask)) return Violation{Port::Dropout_mask, "a dropout mask beside Q of FLOAT"};
    if (!draws_dropout(facts)) return {};
    return Violation{-1, "a dropout probability beside Q of FLOAT"};
}

Found head_dims_of_floats(Facts const& facts, Capabilities const& here) {
    if (!are_floats(facts)) return {};
    auto const found = [&](int port, std::int64_t dim) {
        return Violation{port, "a head dim of " + number(dim) + " beside Q of FLOAT on " + architecture_of(here)};
    };
    if (facts.v_dim() > 128) return found(Port::V, facts.v_dim());
    if (has_little_shared_memory(here) && facts.qk_dim() > 128) return found(Port::Q, facts.qk_dim());
    return {};
}

Found one_query_of_floats(Facts const& facts, Capabilities const&) {
    if (!are_floats(facts) || facts.queries() != 1 || !shares_key_heads(facts)) return {};
    return Violation{Port::K, "one query of FLOAT, with shared key heads"};
}

Found sink_of_floats(Facts const& facts, Capabilities const& here) {
    if (!are_floats(facts) || !facts.has(Port::Sink_token) || here.cudnn_version >= 91900) return {};
    return Violation{Port::Sink_token, "a sink token beside Q of FLOAT, with " + version(here.cudnn_version)};
}

Found unified_floats(Facts const& facts, Capabilities const&) {
    if (!are_floats(facts) || !nodes::is_told_as_unified(facts.graph, facts.node)) return {};
    return Violation{Port::Q, "Q of FLOAT with the unified operation"};
}

}  // namespace cudnn_frontend::quirks
