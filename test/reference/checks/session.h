// A case as a user's program: the graph, and the pack of pointers to run it with.
#pragma once

#include "reference/cases/case_data.h"

#include <cudnn_frontend/graph.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace sdpa_test {

using cudnn_frontend::error_t;
using cudnn_frontend::Target;
using cudnn_frontend::graph::Graph;
using TensorPtr = std::shared_ptr<cudnn_frontend::graph::Tensor_attributes>;

class Session {
   public:
    Session(AttentionCase const& c, Inputs const& inputs, ForwardOutputs const& outputs);
    Session(AttentionCase const& c, Inputs const& inputs, BackwardInputs const& more, BackwardOutputs const& outputs);

    error_t build(Target const& target) { return graph_.build(target); }
    // Runs with its own workspace, whose bounds are checked.
    error_t execute() const;
    error_t run(Target const& target);
    // The same, with the graph written to JSON and read back.
    error_t run_restored(Target const& target);

    Graph& graph() { return graph_; }
    Graph const& graph() const { return graph_; }
    // A tensor of the caller's with its memory. By-value ones stay on the host wherever the graph runs.
    struct Entry {
        TensorPtr tensor;
        HostTensor memory;
        std::int64_t row_of_offset = 0;  // for a ragged offset: the width of the rows that it counts
    };
    std::vector<Entry> const& entries() const { return entries_; }
    bool has_explicit_uids() const { return case_.explicit_uids; }
    // All tensors of the caller's. Call it after the build, which assigns uids.
    std::map<std::int64_t, void*> pack_by_uid() const;
    std::unordered_map<TensorPtr, void*> pack_by_tensor() const;
    // The tensor of the graph that was made for the memory; null if there is none.
    TensorPtr tensor_of(HostTensor const& tensor) const;

   private:
    TensorPtr input(char const* name, HostTensor const& memory);  // null for an empty one
    TensorPtr offset_input(HostTensor const& memory, std::int64_t row);
    TensorPtr scalar_input(char const* name, HostTensor const& memory);
    TensorPtr factor(char const* name, HostTensor const& memory);
    void output(TensorPtr const& tensor, HostTensor const& memory);   // not with an empty one
    TensorPtr requested(char const* name, HostTensor const& memory);  // an output that an option requests
    void declare(TensorPtr const& tensor, HostTensor const& memory);
    template <class Attributes>
    void apply_options(Attributes& options, Inputs const& inputs, HostTensor const& rng_dump);
    template <class Attributes>
    void apply_backward_options(Attributes& options, Inputs const& inputs, BackwardOutputs const& outputs);
    // FP8 attention with its scales.
    void add_fp8(std::array<TensorPtr, 3> const& qkv, cudnn_frontend::graph::SDPA_attributes const& options,
                 Inputs const& inputs, ForwardOutputs const& outputs);
    void add_fp8_backward(std::array<TensorPtr, 6> const& from_forward, Inputs const& inputs,
                          BackwardOutputs const& outputs);
    void apply_paging(cudnn_frontend::graph::SDPA_attributes& options, Inputs const& inputs);
    std::array<TensorPtr, 2> mask_and_scale(Inputs const& inputs);
    template <class Attributes>
    void apply_bounds(Attributes& options, std::initializer_list<HostTensor const*> of_queries,
                      std::initializer_list<HostTensor const*> of_keys);
    template <class Attributes>
    void apply_modifier(Attributes& options, Inputs const& inputs);
    template <class Attributes>
    void apply_band(Attributes& options);
    template <class Attributes>
    void apply_scale(Attributes& options, HostTensor const& scale);

    AttentionCase case_;
    Graph graph_;
    std::vector<Entry> entries_;
};

}  // namespace sdpa_test
