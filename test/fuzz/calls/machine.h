// The objects on which sequences of calls work: graphs, tensors, attributes and stored plans, in any state that calls
// can leave them in. Some tensors are null.
#pragma once

#include <cudnn_frontend/graph.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fuzz {

using cudnn_frontend::error_t;
using cudnn_frontend::Target;
using cudnn_frontend::graph::Graph;
using cudnn_frontend::graph::Tensor_attributes;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

struct Machine {
    std::array<std::shared_ptr<Graph>, 3> graphs{std::make_shared<Graph>(), std::make_shared<Graph>(),
                                                 std::make_shared<Graph>()};
    std::array<Tensor_ptr, 12> tensors;
    cudnn_frontend::graph::SDPA_attributes forward;
    cudnn_frontend::graph::SDPA_backward_attributes backward;
    cudnn_frontend::graph::SDPA_fp8_backward_attributes fp8_backward;
    cudnn_frontend::graph::Pointwise_attributes pointwise;
    cudnn_frontend::graph::Matmul_attributes matmul;
    cudnn_frontend::graph::Reduction_attributes reduction;
    cudnn_frontend::graph::Slice_attributes slice;
    cudnn_frontend::graph::Reshape_attributes reshape;
    cudnn_frontend::graph::Transpose_attributes transpose;
    cudnn_frontend::graph::Neighborhood_attributes neighborhood;
    cudnn_frontend::graph::Neighborhood_backward_attributes neighborhood_backward;
    cudnn_frontend::graph::Neighborhood_qk_attributes neighborhood_qk;
    cudnn_frontend::graph::Neighborhood_av_attributes neighborhood_av;
    std::array<std::shared_ptr<cudnn_frontend::KernelCache>, 2> caches;
    std::array<std::vector<std::uint8_t>, 2> plans;
    std::array<std::string, 2> documents;
    bool was_built = false;  // whether any graph could ever run
    std::string fault;       // the first violated guarantee

    // Checks that an error has a text; any result is allowed otherwise.
    void note(error_t const& error);
    void expect(bool holds, char const* promise);
};

// The numbers of a call. Any number is a valid index, taken modulo the list's size.
class Numbers {
   public:
    explicit Numbers(std::array<std::int64_t, 4> const& values) : values_(values) {}

    std::int64_t operator[](std::size_t i) const { return values_[i]; }
    template <class List>
    auto& in(List& list, std::size_t i) const {
        return list[static_cast<std::uint64_t>(values_[i]) % std::size(list)];
    }
    template <class Enum>
    Enum as(std::size_t i, std::uint64_t count) const {
        return static_cast<Enum>(static_cast<std::uint64_t>(values_[i]) % count);
    }
    bool flag(std::size_t i) const { return values_[i] % 2 != 0; }

   private:
    std::array<std::int64_t, 4> values_;
};

struct Call {
    char const* name;  // occurs in kept files, so never change it
    void (*run)(Machine& machine, Numbers const& numbers);
};

std::span<Call const> tensor_calls();
std::span<Call const> attribute_calls();
std::span<Call const> graph_calls();
std::span<Call const> stage_calls();
std::span<Call const> question_calls();
std::span<Call const> run_calls();
std::span<Call const> life_calls();
std::span<Call const> flash_calls();
std::span<Call const> attention_calls();

}  // namespace fuzz
