#include "support/one_query_limits.h"

#include "nodes/paging.h"

namespace cudnn_frontend::inline v1::support {
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
    for (nodes::TensorSpec const* const tensor : tensors_of_modifiers(facts)) {
        if (is_for_heads_alone(*tensor)) {
            return Violation{Port::Score_mod, "numbers for heads alone in '" + tensor->name + "' of the modifier"};
        }
    }
    return {};
}

bool shares_any_heads(Facts const& facts) {
    return shares_key_heads(facts) || facts.tensor(Port::V)->dim[1] < facts.tensor(Port::Q)->dim[1];
}

}  // namespace

Found mask_of_one_query(Facts const& facts, Capabilities const&) {
    if (!is_forward_of_one_row(facts) || !is_of_batches_and_heads(facts, Port::Dropout_mask)) return {};
    return Violation{Port::Dropout_mask, "one query, and one column for each batch entry and head"};
}

Found bias_of_one_query(Facts const& facts, Capabilities const&) {
    if (!is_forward_of_one_row(facts)) return {};
    std::string const found = "one query, and one column for each batch entry and head";
    if (is_of_batches_and_heads(facts, Port::Bias)) return Violation{Port::Bias, found};
    for (nodes::TensorSpec const* const tensor : tensors_of_modifiers(facts)) {
        if (!is_of_batches_and_heads(tensor->dim)) continue;
        return Violation{Port::Score_mod, found + " in '" + tensor->name + "' of the modifier"};
    }
    return {};
}

Found single_score(Facts const& facts, Capabilities const& here) {
    if (!facts.is_backward || facts.queries() != 1 || facts.keys() != 1 || here.cudnn_version >= 91900) return {};
    return Violation{-1, "one query and one key with " + version(here.cudnn_version)};
}

// Forward splits so many keys within a cluster of blocks, which draws by positions in each part; more of them are not
// split beside a generator. Backward would have to draw what no forward drew. On 10.x, asked, another engine takes it.
Found drawn_dropout_of_one_query(Facts const& facts, Capabilities const& here) {
    bool const is_split = facts.keys() > 256 && facts.keys() <= 512 && !is_datacenter(here);
    if (facts.queries() != 1 || !is_split || !draws_dropout(facts)) return {};
    return Violation{
        -1, "one query of " + number(facts.keys()) + " keys with a dropout probability on " + architecture_of(here)};
}

// The kernel takes the heads that share keys for rows.
Found heads_of_one_query_in_pages(Facts const& facts, Capabilities const&) {
    if (!is_forward_of_one_query(facts) || !nodes::has_pages(facts.node) || !shares_any_heads(facts)) return {};
    Found found = facts.has(Port::Sink_token) ? Violation{Port::Sink_token, "a sink token"} : numbers_of_heads(facts);
    if (found) found->found += " beside one query, pages and shared key heads";
    return found;
}

// Where the keys are split, each part counts the sink.
Found sink_of_one_query_in_pages(Facts const& facts, Capabilities const& here) {
    bool const is_split = facts.keys() > 512 && here.cudnn_version >= 91500;
    if (!is_forward_of_one_query(facts) || !nodes::has_pages(facts.node) || !is_split) return {};
    if (!facts.has(Port::Sink_token) || shares_any_heads(facts)) return {};  // cudnn.s89
    return Violation{Port::Sink_token, "a sink token beside one query and pages of " + number(facts.keys()) +
                                           " keys with " + version(here.cudnn_version)};
}

}  // namespace cudnn_frontend::inline v1::support
