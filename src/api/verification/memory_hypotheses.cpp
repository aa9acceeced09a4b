// Hypotheses about memory: operands that were exchanged, heads, layouts, factors, and steps of backward.
#include "api/verification/hypotheses.h"

#include "attention/attention_operands.h"
#include "core/data_type.h"
#include "core/text.h"

#include <cmath>
#include <utility>

namespace cudnn_frontend::verification {
namespace {

using core::text;
using nodes::AttentionFields;
using nodes::Node;

std::function<void(Problem&)> swapped(int a, int b) {
    return [a, b](Problem& problem) {
        for_each_attention(problem, [&](Node& node, AttentionFields&) {
            std::swap(node.ports[static_cast<std::size_t>(a)], node.ports[static_cast<std::size_t>(b)]);
        });
    };
}

bool have_same_dims(Problem const& problem, int a, int b) {
    if (!has_memory(problem, a) || !has_memory(problem, b)) return false;
    return problem.tensor(tensor_at(problem, a)).dim == problem.tensor(tensor_at(problem, b)).dim;
}

// Query head h of the graph reads key head h / group. Where a kernel reads h % (number of key heads) instead, the
// graph with its query heads in another order gives the kernel's results in that order.
void interleave_heads(Problem& problem) {
    std::int64_t const heads = problem.tensor(tensor_at(problem, attention::Q)).dim[1];
    std::int64_t const key_heads = problem.tensor(tensor_at(problem, attention::K)).dim[1];
    std::int64_t const group = heads / key_heads;
    std::vector<TensorId> done;
    for_each_attention(problem, [&](Node& node, AttentionFields&) {
        for (attention::Operand const& row : attention::kOperands) {
            TensorId const id = node.ports[static_cast<std::size_t>(row.port)];
            bool const has_heads = row.shape.sizes[1] == attention::Size::Hq;
            if (!has_heads || id == nodes::kNoTensor || std::ranges::find(done, id) != done.end()) continue;
            done.push_back(id);
            if (problem.data(id) == nullptr || problem.tensor(id).dim[1] != heads) continue;
            Elements const old = elements_of(problem, id);
            rewrite(problem, id, [&](Dims index) {
                index[1] = index[1] / group + index[1] % group * key_heads;
                return old.get(index);
            });
        }
    });
}

bool can_interleave(Problem const& problem, AttentionFields const& fields) {
    using namespace attention;
    if (!has_memory(problem, Q) || !have_same_dims(problem, K, K)) return false;
    std::int64_t const heads = problem.tensor(tensor_at(problem, Q)).dim[1];
    std::int64_t const key_heads = problem.tensor(tensor_at(problem, K)).dim[1];
    bool const same = problem.tensor(tensor_at(problem, V)).dim[1] == key_heads;
    bool const counts_heads = fields.alibi_mask || fields.dropout_probability || fields.block_scaled;
    return same && !counts_heads && key_heads > 1 && heads > key_heads;
}

// The layouts of a tensor {B, H, S, D} without gaps.
Dims heads_first(Dims const& dim) { return core::packed_strides(dim); }
Dims rows_first(Dims const& dim) { return {dim[1] * dim[2] * dim[3], dim[3], dim[1] * dim[3], 1}; }

// The strides of the other layout; empty where the tensor has neither, or where both are the same.
Dims other_layout(nodes::TensorSpec const& tensor) {
    bool const is_regular =
        tensor.dim.size() == 4 && tensor.ragged_offset == nodes::kNoTensor && tensor.dim[1] > 1 && tensor.dim[2] > 1;
    if (!is_regular) return {};
    if (tensor.stride == heads_first(tensor.dim)) return rows_first(tensor.dim);
    return tensor.stride == rows_first(tensor.dim) ? heads_first(tensor.dim) : Dims();
}

std::function<void(Problem&)> in_other_layout(std::vector<int> const& ports) {
    return [ports](Problem& problem) {
        std::vector<TensorId> done;
        for (int const port : ports) {
            TensorId const id = tensor_at(problem, port);
            if (id == nodes::kNoTensor || std::ranges::find(done, id) != done.end()) continue;
            done.push_back(id);
            Dims const stride = problem.data(id) == nullptr ? Dims() : other_layout(problem.tensor(id));
            if (!stride.empty()) problem.tensor(id).stride = stride;
        }
    };
}

void add_layouts(Problem const& problem, Hypotheses& list) {
    using namespace attention;
    std::vector<int> const all = {Q, K, V, O, DO, DQ, DK, DV};
    std::vector<int> inputs, results;
    for (int const port : all) {
        if (!has_memory(problem, port) || other_layout(problem.tensor(tensor_at(problem, port))).empty()) continue;
        bool const is_result = attention_use(problem.spec, tensor_at(problem, port)).is_result;
        (is_result ? results : inputs).push_back(port);
    }
    auto const add = [&](std::vector<int> const& ports, std::string const& subject) {
        if (ports.empty()) return;
        Dims const& dim = problem.tensor(tensor_at(problem, ports.front())).dim;
        bool const has_heads_first = problem.tensor(tensor_at(problem, ports.front())).stride == heads_first(dim);
        list.push_back(
            {"layout",
             text(subject, " with heads and rows exchanged: as ", has_heads_first ? "{B, S, H, D}" : "{B, H, S, D}",
                  ", and the graph's strides are those of ", has_heads_first ? "{B, H, S, D}" : "{B, S, H, D}"),
             in_other_layout(ports)});
    };
    std::vector<int> both = inputs;
    both.insert(both.end(), results.begin(), results.end());
    add(both, "all tensors are read and written");
    add(inputs, "all inputs are read");
    for (int const port : both) {
        bool const is_result = std::ranges::find(results, port) != results.end();
        add({port}, std::string(operand(port).name) + (is_result ? " is written" : " is read"));
    }
}

// K, for example, as {D, S} in place of {S, D}: a copy, since the last stride of attention's tensors is 1.
void add_transposed(Problem const& problem, Hypotheses& list) {
    using namespace attention;
    for (int const port : {Q, K, V}) {
        if (!has_memory(problem, port)) continue;
        nodes::TensorSpec const& tensor = problem.tensor(tensor_at(problem, port));
        if (tensor.ragged_offset != nodes::kNoTensor || tensor.stride != heads_first(tensor.dim)) continue;
        list.push_back(
            {"transposed", text(operand(port).name, " is read as {B, H, D, S}, transposed"), [port](Problem& changed) {
                 TensorId const id = tensor_at(changed, port);
                 Elements old = elements_of(changed, id);
                 Dims const dim = old.dim;
                 old.stride = {dim[1] * dim[2] * dim[3], dim[2] * dim[3], 1, dim[2]};
                 rewrite(changed, id, [&](Dims const& index) { return old.get(index); });
             }});
    }
}

void add_factors(Problem const& problem, Hypotheses& list) {
    for (attention::Operand const& row : attention::kOperands) {
        bool const is_factor = row.part == attention::Part::Fp8 && row.port <= attention::ScaleDP;
        if (!is_factor || !has_memory(problem, row.port) || number_at(problem, row.port) == 1.0) continue;
        bool const is_one = problem.tensor(tensor_at(problem, row.port)).data_type == DataType_t::FLOAT;
        if (!is_one) continue;
        list.push_back({"factor_left_out", text(row.name, " counts as 1"), [port = row.port](Problem& changed) {
                            rewrite(changed, tensor_at(changed, port), [](Dims const&) { return 1.0; });
                        }});
    }
}

// The first batch entry's keys and values for all.
void share_batch(Problem& problem) {
    for (int const port : {attention::K, attention::V}) {
        nodes::TensorSpec& tensor = problem.tensor(tensor_at(problem, port));
        if (tensor.dim[0] > 1) tensor.stride[0] = 0;
    }
}

void multiply(Problem& problem, int port, double factor) {
    TensorId const id = tensor_at(problem, port);
    Elements const old = elements_of(problem, id);
    rewrite(problem, id, [&](Dims const& index) { return factor * old.get(index); });
}

}  // namespace

void add_memory_hypotheses(Problem const& problem, Hypotheses& list) {
    using namespace attention;
    AttentionFields const& fields = first_fields(problem);
    if (have_same_dims(problem, K, V)) list.push_back({"k_and_v_swapped", "K and V are exchanged", swapped(K, V)});
    if (have_same_dims(problem, Q, K) && !fields.padding_mask)
        list.push_back({"q_and_k_swapped", "Q and K are exchanged", swapped(Q, K)});
    if (can_interleave(problem, fields))
        list.push_back({"heads_interleaved",
                        "query head h reads head h % H of K and V, which have H heads: interleaved, in place of groups "
                        "of neighboring heads, h / (Hq / H)",
                        interleave_heads});
    bool const has_batches = has_memory(problem, K) && has_memory(problem, V) &&
                             problem.tensor(tensor_at(problem, K)).dim[0] > 1 &&
                             tensor_at(problem, PageTableK) == nodes::kNoTensor;
    if (has_batches)
        list.push_back({"batch_ignored", "K and V of the first batch entry are read for all", share_batch});
    add_layouts(problem, list);
    add_transposed(problem, list);
    add_factors(problem, list);
}

void add_gradient_hypotheses(Problem const& problem, Hypotheses& list) {
    using namespace attention;
    if (!has_memory(problem, DQ) || !has_memory(problem, DK)) return;
    if (have_same_dims(problem, DK, DV))
        list.push_back({"dk_and_dv_swapped", "dK and dV are exchanged", swapped(DK, DV)});
    bool const is_forward_too = attention_use(problem.spec, tensor_at(problem, O)).is_result;
    if (has_memory(problem, O) && !is_forward_too) {
        list.push_back({"delta_missing", "the sum of dO * O of each row is not subtracted", [](Problem& changed) {
                            rewrite(changed, tensor_at(changed, O), [](Dims const&) { return 0.0; });
                        }});
    }
    AttentionFields const& fields = first_fields(problem);
    double const scale = number_at(problem, AttnScale).value_or(fields.attn_scale ? double{*fields.attn_scale} : 1.0);
    if (scale == 1.0) return;
    auto const add = [&](std::vector<int> const& ports, char const* names) {
        list.push_back(
            {"gradient_scale_missing", text(names, " not multiplied by the scale"), [ports, scale](Problem& changed) {
                 for (int const port : ports) multiply(changed, port, scale);
             }});
    };
    add({DQ, DK}, "dQ and dK are");
    add({DQ}, "dQ is");
    add({DK}, "dK is");
}

}  // namespace cudnn_frontend::verification
