#include "kernels/joints/joint_kernels.h"

#include "cuda/cuda_graph.h"

namespace cudnn_frontend::kernels {
namespace {

class KernelExecutable final : public plan::Executable {
   public:
    KernelExecutable(KernelPointer kernel, bool reads_result)
        : kernel_(std::move(kernel)), reads_result_(reads_result) {}

    std::int64_t workspace_size() const override { return 0; }

    error_t launch(plan::Launch const& launch) const override {
        return with_operands(
            launch, [&](Pointers operands) { return kernel_->launch(static_cast<CUstream>(launch.stream), operands); });
    }
    error_t capture(plan::Launch const& launch, plan::Recording recording) const override {
        return with_operands(launch, [&](Pointers operands) {
            return kernel_->add_node(static_cast<CUgraph>(recording), {}, operands).error();
        });
    }
    error_t update(plan::Launch const& launch, plan::Recording recording) const override {
        auto const node = cuda::node_after(static_cast<CUgraph>(recording), nullptr);
        if (node.is_bad()) return node.error();
        return with_operands(launch, [&](Pointers operands) { return kernel_->update_node(node.value(), operands); });
    }

    error_t warm_up(plan::Queue) const override { return kernel_->load(); }
    Result<std::string> serialize() const override { return kernel_->serialize(); }
    // The attentions that it joins have the device among their facts.
    Result<plan::ExecutableFacts> facts() const override { return plan::ExecutableFacts{.kernels = {kernel_->name()}}; }

   private:
    template <class Call>
    error_t with_operands(plan::Launch const& launch, Call const& call) const {
        if (!reads_result_) return call(launch.pointers);
        void* const operands[] = {launch.pointers[0], launch.pointers[1], launch.pointers[1]};
        return call(operands);
    }

    KernelPointer kernel_;
    bool reads_result_;  // then it is an operand twice, the second time to be read
};

Operand operand(rewrite::View const& view) { return {view.type, view.dim, view.stride}; }

// Each compiles only what is not stored.
using StoredCode = std::optional<std::string_view>;

Result<KernelPointer> kernel_of(rewrite::Merge const& merge, DeviceFacts const& facts, StoredCode stored) {
    MergeProblem problem{operand(merge.partial_o), operand(merge.partial_stats), operand(merge.o)};
    if (merge.stats) problem.stats = operand(*merge.stats);
    if (merge.partial_lengths) problem.partial_lengths = operand(*merge.partial_lengths);
    return stored ? load_merge(problem, facts, *stored) : compile_merge(problem, facts);
}

Result<KernelPointer> kernel_of(rewrite::Sum const& sum, DeviceFacts const& facts, StoredCode stored) {
    SumProblem const problem{operand(sum.terms), operand(sum.result), sum.accumulates};
    return stored ? load_sum(problem, facts, *stored) : compile_sum(problem, facts);
}

Result<KernelPointer> kernel_of(rewrite::SplitLengths const& split, DeviceFacts const& facts, StoredCode stored) {
    SplitLengthsProblem const problem{operand(split.queries),   operand(split.keys), operand(split.rows),
                                      operand(split.part_keys), split.group,         split.chunk,
                                      split.first_query,        split.most_queries,  split.first_key};
    return stored ? load_split_lengths(problem, facts, *stored) : compile_split_lengths(problem, facts);
}

template <IsOfSlots Joint>
Result<KernelPointer> kernel_of(Joint const& joint, DeviceFacts const& facts, StoredCode stored) {
    return slot_kernel(joint, facts, stored);
}

}  // namespace

Result<std::shared_ptr<plan::Executable const>> join(rewrite::Joint const& joint, cuda::DeviceFacts const& facts,
                                                     std::optional<std::string_view> stored) {
    auto kernel = std::visit([&](auto const& kind) { return kernel_of(kind, facts, stored); }, joint);
    if (kernel.is_bad()) return kernel.error();
    auto const* sum = std::get_if<rewrite::Sum>(&joint);
    bool const reads_result = sum != nullptr && sum->accumulates;
    return std::shared_ptr<plan::Executable const>(
        std::make_shared<KernelExecutable>(std::move(kernel).value(), reads_result));
}

}  // namespace cudnn_frontend::kernels
