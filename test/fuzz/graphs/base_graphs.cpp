#include "fuzz/graphs/base_graphs.h"

#include "fuzz/graphs/base_neighborhoods.h"
#include "fuzz/graphs/elements.h"
#include "reference/cases/random_case.h"
#include "reference/checks/session.h"

#include <algorithm>
#include <stdexcept>

namespace fuzz {
namespace {

using sdpa_test::AttentionCase;
using sdpa_test::HostTensor;
using sdpa_test::Index4;
using sdpa_test::Session;

std::int64_t shortened(std::int64_t size, std::int64_t most) { return size <= most ? size : 1 + size % most; }

void shorten_lengths(std::optional<std::vector<std::int64_t>>& lengths, std::int64_t most) {
    if (!lengths) return;
    for (std::int64_t& length : *lengths) length = length == 0 ? 0 : shortened(length, most);
}

// Dims of a bias or a mask follow those of the scores.
void fit_scores(std::optional<Index4>& dim, AttentionCase const& c) {
    if (!dim) return;
    if ((*dim)[2] > 1) (*dim)[2] = c.s_q;
    if ((*dim)[3] > 1) (*dim)[3] = c.s_kv;
}

AttentionCase small_case(std::uint64_t index) {
    AttentionCase c = sdpa_test::random_case(index);
    bool const is_square = c.s_q == c.s_kv;
    c.s_q = shortened(c.s_q, 7);
    c.s_kv = is_square ? c.s_q : shortened(c.s_kv, 9);
    bool const has_one_width = c.d_qk == c.d_v;
    c.d_qk = shortened(c.d_qk, 6);
    c.d_v = has_one_width ? c.d_qk : shortened(c.d_v, 6);
    shorten_lengths(c.len_q, c.s_q);
    shorten_lengths(c.len_kv, c.s_kv);
    fit_scores(c.bias, c);
    fit_scores(c.mask, c);
    c.paging.states_length = true;
    c.explicit_uids = true;
    c.nan_in_padding = false;
    return c;
}

// These have only shapes: the data of backward's inputs is part of the case.
sdpa_test::BackwardInputs backward_inputs(AttentionCase const& c) {
    oracle::Forward forward;
    forward.o = oracle::Array(c.b, c.h_q, c.s_q, c.d_v);
    forward.stats = oracle::Array(c.b, c.h_q, c.s_q, 1);
    return sdpa_test::make_backward_inputs(c, forward);
}

// All elements in the tensor's memory, from its first one on.
std::vector<std::int64_t> integers_of(HostTensor const& tensor) {
    auto const bytes = static_cast<std::int64_t>(bytes_of(tensor.type));
    std::vector<std::int64_t> values;
    for (std::int64_t at = tensor.first; (at + 1) * bytes <= tensor.memory->size(); ++at) {
        values.push_back(static_cast<std::int64_t>(load(tensor.type, tensor.memory->data() + at * bytes)));
    }
    return values;
}

GraphDocument as_case(cudnn_frontend::graph::Graph const& graph, std::uint64_t seed) {
    std::string text;
    if (auto const error = graph.serialize_as_version(1, text); error.is_bad()) throw std::runtime_error(error.err_msg);
    GraphDocument c{Json::parse(text), seed, {}, {}};
    std::int64_t next = 1000;
    for (auto& [id, tensor] : c.graph["tensors"].items()) {
        if (!tensor.contains("uid")) tensor["uid"] = next++;
    }
    return c;
}

GraphDocument as_case(Session const& session, std::uint64_t seed) {
    GraphDocument c = as_case(session.graph(), seed);
    for (Session::Entry const& entry : session.entries()) {
        if (!is_floating(entry.memory.type)) c.integers[entry.tensor->get_uid()] = integers_of(entry.memory);
    }
    return c;
}

GraphDocument make_base(std::size_t index) {
    if (index % 8 == 7) return as_case(neighborhood_graph(index / 8), index);
    AttentionCase const c = small_case(index);
    sdpa_test::Inputs const inputs = sdpa_test::make_inputs(c);
    if (index % 2 == 0 || !c.has_backward()) {
        return as_case(Session(c, inputs, sdpa_test::make_forward_outputs(c)), c.seed);
    }
    return as_case(Session(c, inputs, backward_inputs(c), sdpa_test::make_backward_outputs(c)), c.seed);
}

}  // namespace

GraphDocument const& base_graph(std::size_t index) {
    static std::map<std::size_t, GraphDocument> made;
    auto const found = made.find(index);
    return found != made.end() ? found->second : made.emplace(index, make_base(index)).first->second;
}

}  // namespace fuzz
