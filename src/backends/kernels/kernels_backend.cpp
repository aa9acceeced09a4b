#include "kernels/kernels_backend.h"

#include "kernels/merge.h"
#include "kernels/sum.h"

namespace cudnn_frontend::kernels {
namespace {

class KernelExecutable final : public plan::Executable {
   public:
    KernelExecutable(KernelPointer kernel, bool reads_result)
        : kernel_(std::move(kernel)), reads_result_(reads_result) {}

    std::int64_t workspace_size() const override { return 0; }

    error_t launch(plan::Launch const& launch) const override {
        auto* const stream = static_cast<CUstream>(launch.stream);
        if (!reads_result_) return kernel_->launch(stream, launch.pointers);
        void* const pointers[] = {launch.pointers[0], launch.pointers[1], launch.pointers[1]};
        return kernel_->launch(stream, pointers);
    }

    error_t warm_up(plan::Queue) const override { return kernel_->load(); }
    Result<std::string> serialize() const override { return kernel_->serialize(); }

   private:
    KernelPointer kernel_;
    bool reads_result_;  // it is an operand twice, the second time to be read
};

Operand operand(rewrite::View const& view) { return {view.type, view.dim, view.stride}; }

Result<KernelPointer> compile(rewrite::Joint const& joint, cuda::DeviceFacts const& facts) {
    if (auto const* sum = std::get_if<rewrite::Sum>(&joint)) {
        return compile_sum({operand(sum->terms), operand(sum->result), sum->accumulates}, facts);
    }
    auto const& merge = std::get<rewrite::Merge>(joint);
    MergeProblem problem{operand(merge.partial_o), operand(merge.partial_stats), operand(merge.o), {}};
    if (merge.stats) problem.stats = operand(*merge.stats);
    return compile_merge(problem, facts);
}

}  // namespace

Result<std::shared_ptr<plan::Proposal const>> Backend::propose(plan::PlanningInput const&) const {
    return error_t(error_code_t::GRAPH_NOT_SUPPORTED,
                   "kernels of this library join partial results, and run no graphs");
}

bool Backend::joins(Target const& target) const {
    return target.kind() == Target::Kind::CUDA || target.kind() == Target::Kind::OFFLINE;
}

Result<std::shared_ptr<plan::Executable const>> Backend::join(rewrite::Joint const& joint, Target const& target,
                                                              plan::Settings const& settings) const {
    auto const facts = find_facts_(target, settings);
    if (facts.is_bad()) return facts.error();
    auto kernel = compile(joint, facts.value());
    if (kernel.is_bad()) return kernel.error();
    auto const* sum = std::get_if<rewrite::Sum>(&joint);
    bool const reads_result = sum != nullptr && sum->accumulates;
    return std::shared_ptr<plan::Executable const>(
        std::make_shared<KernelExecutable>(std::move(kernel).value(), reads_result));
}

}  // namespace cudnn_frontend::kernels
