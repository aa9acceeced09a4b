// Attention with a named modifier, forward and backward, as graphs with their memory.
#pragma once

#include "named_modifiers.h"

#include <cudnn_frontend/graph.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace sdpa_test {

struct ModifierSizes {
    std::int64_t batches = 2, heads = 4, key_heads = 2, queries = 72, keys = 88, columns = 16, value_columns = columns;
    bool has_bias = false;  // of the type of Q, with a number for each score
};

class ModifierProblem {
   public:
    enum Uid : std::int64_t { Q = 1, K, V, O, Stats, DO, DQ, DK, DV, Bias, OfModifier };

    // Q, K, V, O and their gradients have that type. Null: without a modifier.
    ModifierProblem(NamedModifier const* modifier, DataType_t type, ModifierSizes const& sizes = {});

    cudnn_frontend::graph::Graph forward();
    cudnn_frontend::graph::Graph backward();

    HostTensor const& tensor(std::int64_t uid) const { return tensors_.at(uid); }
    // All tensors, those of the modifier after a graph was made.
    std::map<std::int64_t, HostTensor> const& tensors() const { return tensors_; }
    // Copies the elements of that tensor from a problem of these sizes.
    void copy(ModifierProblem const& from, Uid uid) const;

   private:
    cudnn_frontend::graph::Graph empty_graph() const;
    void add(Uid uid, std::int64_t heads, std::int64_t rows, std::int64_t columns, DataType_t type);
    std::shared_ptr<cudnn_frontend::graph::Tensor_attributes> input(cudnn_frontend::graph::Graph& graph, Uid uid) const;
    void output(std::shared_ptr<cudnn_frontend::graph::Tensor_attributes> const& result, Uid uid) const;
    template <class Attributes>
    void add_bias(cudnn_frontend::graph::Graph& graph, Attributes& options) const;
    template <class Attributes>
    std::shared_ptr<ModifierPlace> modify(Attributes& options) const;
    void keep_tensors_of(std::shared_ptr<ModifierPlace> const& place);

    NamedModifier const* modifier_;
    DataType_t type_;
    ModifierSizes sizes_;
    std::map<std::int64_t, HostTensor> tensors_;
};

// The error that engines may have which round weights and results to BFLOAT16: some roundings of 2^-9.
inline constexpr double kRoundedModifierError = 0.01;

// The error of a result, as a part of what was expected: of the norms of both.
double error_of(HostTensor const& found, HostTensor const& expected);

// Runs a graph on the tensors of its problem, by whatever means.
using RunModifier = std::function<cudnn_frontend::error_t(cudnn_frontend::graph::Graph&, ModifierProblem const&)>;
// Runs on a CPU target, or on the reference.
RunModifier run_on(cudnn_frontend::Target const& target);

// Both passes, the second with the reference's output and Stats: the refusal or error of each, empty where it ran, and
// the largest error among its results, relative to those of the reference.
struct ModifierPass {
    std::string failure;
    double error = 0.0;
};
struct ModifierOutcome {
    ModifierPass forward, backward;
};
ModifierOutcome compare_with_reference(NamedModifier const& modifier, DataType_t type, ModifierSizes const& sizes,
                                       RunModifier const& run);

}  // namespace sdpa_test
