#include "modifier_problem.h"

#include "../random.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace sdpa_test {

namespace {

using cudnn_frontend::error_t;
using cudnn_frontend::Target;
using cudnn_frontend::graph::Graph;
using cudnn_frontend::graph::SDPA_attributes;
using cudnn_frontend::graph::SDPA_backward_attributes;
using cudnn_frontend::graph::Tensor_attributes;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;
using Uid = ModifierProblem::Uid;

constexpr float kScale = 0.25f;

Term term_of(std::shared_ptr<Graph> graph, Tensor_ptr score) { return {std::move(graph), std::move(score)}; }

}  // namespace

ModifierProblem::ModifierProblem(NamedModifier const* modifier, DataType_t type, ModifierSizes const& sizes)
    : modifier_(modifier), type_(type), sizes_(sizes) {
    for (Uid const uid : {Q, DQ}) add(uid, sizes.heads, sizes.queries, sizes.columns, type);
    for (Uid const uid : {K, DK}) add(uid, sizes.key_heads, sizes.keys, sizes.columns, type);
    for (Uid const uid : {O, DO}) add(uid, sizes.heads, sizes.queries, sizes.value_columns, type);
    for (Uid const uid : {V, DV}) add(uid, sizes.key_heads, sizes.keys, sizes.value_columns, type);
    add(Stats, sizes.heads, sizes.queries, 1, DataType_t::FLOAT);
    if (sizes.has_bias) add(Bias, sizes.heads, sizes.queries, sizes.keys, type);
}

void ModifierProblem::add(Uid uid, std::int64_t heads, std::int64_t rows, std::int64_t columns, DataType_t type) {
    HostTensor const made = make_tensor(type, {sizes_.batches, heads, rows, columns});
    Random random(static_cast<std::uint64_t>(uid));
    made.fill([&](Index4 const&) { return random.real(-1.5, 1.5); });
    tensors_.emplace(uid, made);
}

Graph ModifierProblem::empty_graph() const {
    Graph graph;
    graph.set_io_data_type(type_)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT);
    return graph;
}

Tensor_ptr ModifierProblem::input(Graph& graph, Uid uid) const {
    HostTensor const& memory = tensor(uid);
    return graph.tensor(Tensor_attributes()
                            .set_uid(uid)
                            .set_data_type(memory.type)
                            .set_dim({memory.dim.begin(), memory.dim.end()})
                            .set_stride({memory.stride.begin(), memory.stride.end()}));
}

void ModifierProblem::output(Tensor_ptr const& result, Uid uid) const {
    HostTensor const& memory = tensor(uid);
    result->set_output(true).set_uid(uid).set_data_type(memory.type);
    result->set_stride({memory.stride.begin(), memory.stride.end()});
}

template <class Attributes>
void ModifierProblem::add_bias(Graph& graph, Attributes& options) const {
    if (sizes_.has_bias) options.set_bias(input(graph, Bias));
}

// The callables share the place: the gradient reads what the score made.
template <class Attributes>
std::shared_ptr<ModifierPlace> ModifierProblem::modify(Attributes& options) const {
    auto place =
        std::make_shared<ModifierPlace>(Index4{sizes_.batches, sizes_.heads, sizes_.queries, sizes_.keys}, OfModifier);
    if (modifier_ == nullptr) return place;
    options.set_score_mod([place, modify = modifier_->modify](auto graph, Tensor_ptr score) {
        return modify(term_of(graph, std::move(score)), *place).tensor;
    });
    if constexpr (std::is_same_v<Attributes, SDPA_backward_attributes>) {
        if (modifier_->gradient == nullptr) return place;
        options.set_score_mod_bprop([place, modify = modifier_->gradient](auto graph, Tensor_ptr gradient) {
            return modify(term_of(graph, std::move(gradient)), *place).tensor;
        });
    }
    return place;
}

void ModifierProblem::keep_tensors_of(std::shared_ptr<ModifierPlace> const& place) {
    for (auto const& [uid, made] : place->tensors) tensors_.insert_or_assign(uid, made);
}

Graph ModifierProblem::forward() {
    Graph graph = empty_graph();
    auto options = SDPA_attributes().set_name("sdpa").set_generate_stats(true).set_attn_scale(kScale);
    add_bias(graph, options);
    auto const place = modify(options);
    auto const [o, stats] = graph.sdpa(input(graph, Q), input(graph, K), input(graph, V), options);
    output(o, O);
    output(stats, Stats);
    keep_tensors_of(place);
    return graph;
}

Graph ModifierProblem::backward() {
    Graph graph = empty_graph();
    auto options = SDPA_backward_attributes().set_name("sdpa").set_attn_scale(kScale);
    add_bias(graph, options);
    auto const place = modify(options);
    auto const [d_q, d_k, d_v] = graph.sdpa_backward(input(graph, Q), input(graph, K), input(graph, V), input(graph, O),
                                                     input(graph, DO), input(graph, Stats), options);
    output(d_q, DQ);
    output(d_k, DK);
    output(d_v, DV);
    keep_tensors_of(place);
    return graph;
}

void ModifierProblem::copy(ModifierProblem const& from, Uid uid) const {
    tensor(uid).fill([&](Index4 const& at) { return from.tensor(uid).get(at); });
}

double error_of(HostTensor const& found, HostTensor const& expected) {
    double square = 0.0, square_of_error = 0.0;
    for_each_index(expected.dim, [&](Index4 const& at) {
        double const a = found.get(at), b = expected.get(at);
        if (a == b) return;  // infinities among them
        square_of_error += (a - b) * (a - b);
    });
    for_each_index(expected.dim, [&](Index4 const& at) {
        double const b = expected.get(at);
        square += std::isfinite(b) ? b * b : 0.0;
    });
    double const error = std::sqrt(square_of_error / square);
    return std::isfinite(error) ? error : 1.0;
}

RunModifier run_on(Target const& target) {
    return [target](Graph& graph, ModifierProblem const& problem) -> error_t {
        if (auto error = graph.build(target); error.is_bad()) return error;
        std::map<std::int64_t, void*> pack;
        for (auto const& [uid, tensor] : problem.tensors()) pack[uid] = tensor.data();
        HostMemory const workspace(graph.get_workspace_size());
        return graph.execute(pack, workspace.data());
    };
}

namespace {

ModifierPass outcome_of(error_t const& failure, ModifierProblem const& found, ModifierProblem const& expected,
                        std::initializer_list<Uid> results) {
    ModifierPass pass{failure.is_bad() ? failure.get_message() : "", 0.0};
    if (failure.is_bad()) return pass;
    for (Uid const uid : results) pass.error = std::max(pass.error, error_of(found.tensor(uid), expected.tensor(uid)));
    return pass;
}

}  // namespace

ModifierOutcome compare_with_reference(NamedModifier const& modifier, DataType_t type, ModifierSizes const& sizes,
                                       RunModifier const& run) {
    ModifierProblem found(&modifier, type, sizes), expected(&modifier, type, sizes);
    RunModifier const reference = run_on(Target::reference());
    ModifierOutcome outcome;
    Graph own = found.forward(), exact = expected.forward();
    if (error_t const error = reference(exact, expected); error.is_bad()) return {{error.get_message()}, {}};
    outcome.forward = outcome_of(run(own, found), found, expected, {Uid::O, Uid::Stats});
    for (Uid const uid : {Uid::O, Uid::Stats}) found.copy(expected, uid);
    Graph own_backward = found.backward(), exact_backward = expected.backward();
    if (error_t const error = reference(exact_backward, expected); error.is_bad())
        return {outcome.forward, {error.get_message()}};
    outcome.backward = outcome_of(run(own_backward, found), found, expected, {Uid::DQ, Uid::DK, Uid::DV});
    return outcome;
}

}  // namespace sdpa_test
