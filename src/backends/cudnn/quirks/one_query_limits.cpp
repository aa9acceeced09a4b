#include "cudnn/quirks/one_query_limits.h"

#include "nodes/attention/paging.h"

namespace cudnn_frontend::quirks {
namespace {

bool is_forward_of_one_query(Facts const& facts) { return !facts.is_backward && facts.queries() == 1; }

bool is_forward_of_one_row(Facts const& facts) { return is_forward_of_one_query(facts) && facts.keys() > 1; }

bool is_of_batches_and_heads(core::Dims const& dim) { return dim[0] > 1 && dim[1] > 1 && dim[3] == 1; }

bool is_of_batches_and_heads(Facts const& facts, int port) {
    nodes::TensorSpec const* const tensor = facts.tensor(port);
    return tensor != nullptr && is_of_batches_and_heads(tensor->dim);
}

// The first tensor with a number for each head, but for a sink token; of a modifier its port and its name.
Found numbers_of_heads(Facts const& facts) {
    for (int const port : {Port::Bias, Port::Dropout_mask}) {
        nodes::TensorSpec const* const tensor = facts.tensor(port);
        if (tensor != nullptr && is_for_heads_alone(*tensor)) return Violation{port, "numbers for heads alone"};
    }
    return wrong_in_modifier(facts, [](nodes::TensorSpec const& tensor) {
        return is_for_heads_alone(tensor) ? "numbers for heads alone in" : "";
    });
}

bool shares_any_heads(Facts const& facts) {
    return shares_key_heads(facts) || facts.tensor(Port::V)->dim[1] < facts.tensor(Port::Q)->dim[1];
}

}  // namespace

bool is_wrong_in_parts(Facts const& facts) {
    if (!is_forward_of_one_query(facts)) return false;
    return facts.has(Port::Sink_token) || draws_dropout(facts) || numbers_of_heads(facts);
}

Found mask_of_one_query(Facts const& facts, Capabilities const&) {
    if (!is_forward_of_one_row(facts) || !is_of_batches_and_heads(facts, Port::Dropout_mask)) return {};
    return Violation{Port::Dropout_mask, "one query, and one column for each batch entry and head"};
}

Found bias_of_one_query(Facts const& facts, Capabilities const&) {
    if (!is_forward_of_one_row(facts)) return {};
    std::string const found = "one query, and one column for each batch entry and head";
    if (is_of_batches_and_heads(facts, Port::Bias)) return Violation{Port::Bias, found};
    return wrong_in_modifier(facts, [&](nodes::TensorSpec const& tensor) {
        return is_of_batches_and_heads(tensor.dim) ? found + " in" : "";
    });
}

Found single_score(Facts const& facts, Capabilities const& here) {
    if (!facts.is_backward || facts.queries() != 1 || facts.keys() != 1 || here.cudnn_version >= 91900) return {};
    return Violation{-1, "one query and one key with " + version(here.cudnn_version)};
}

// The kernel takes the heads that share keys for rows.
Found heads_of_one_query_in_pages(Facts const& facts, Capabilities const& here) {
    bool const is_of_pages = is_forward_of_one_query(facts) && nodes::has_pages(facts.node);
    if (!is_of_pages || !shares_any_heads(facts) || here.cudnn_version < 91500) return {};
    Found found = facts.has(Port::Sink_token) ? Violation{Port::Sink_token, "a sink token"} : numbers_of_heads(facts);
    if (found) found->found += " beside one query, pages and shared key heads with " + version(here.cudnn_version);
    return found;
}

}  // namespace cudnn_frontend::quirks
