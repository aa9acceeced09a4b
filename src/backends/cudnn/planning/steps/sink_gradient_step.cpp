#include "cudnn/planning/steps/extra_step.h"

#include "kernels/joints/sink_gradient.h"

#include <utility>

namespace cudnn_frontend::cudnn {
namespace {

using kernels::SinkGradientProblem;

class SinkGradientStep final : public ExtraStep {
   public:
    SinkGradientStep(kernels::KernelPointer kernel, std::vector<std::size_t> slots)
        : kernel_(std::move(kernel)), slots_(std::move(slots)) {}

    error_t launch(plan::Launch const& launch, CUstream stream) const override {
        return kernel_->launch(stream, PointersOf(*this, launch).all());
    }
    error_t record(plan::Launch const& launch, CUgraph graph) const override {
        return kernel_->add_node(graph, {}, PointersOf(*this, launch).all()).error();
    }
    error_t update(plan::Launch const& launch, CUgraph graph) const override {
        auto const node = cuda::node_after(graph, nullptr);
        if (node.is_bad()) return node.error();
        return kernel_->update_node(node.value(), PointersOf(*this, launch).all());
    }
    error_t load() const override { return kernel_->load(); }
    std::string serialize() const override { return kernel_->serialize(); }

   private:
    // The kernel's pointers, without an allocation.
    class PointersOf {
       public:
        PointersOf(SinkGradientStep const& step, plan::Launch const& launch) : count_(step.slots_.size()) {
            for (std::size_t i = 0; i < count_; ++i) pointers_[i] = launch.pointers[step.slots_[i]];
        }
        kernels::Pointers all() const { return {pointers_, count_}; }

       private:
        void* pointers_[9];  // as many as the problem has operands, with lengths and offsets
        std::size_t count_;
    };

    kernels::KernelPointer kernel_;
    std::vector<std::size_t> slots_;  // of the pack, for each of the kernel's pointers
};

// Makes the problem of a graph, and finds the slots of its operands.
class ProblemCollector {
   public:
    ProblemCollector(ir::OpGraph const& graph, plan::PackLayout const& layout) : graph_(graph), layout_(layout) {}

    kernels::Operand operand(ir::ValueId id) {
        ir::Value const& value = graph_.value(id);
        slots_.push_back(slot_of(id));
        return {value.type, value.dim, value.stride};
    }
    SinkGradientProblem::RowsWithOffsets rows(ir::ValueId id) {
        SinkGradientProblem::RowsWithOffsets rows{operand(id)};
        ir::Ragged const& ragged = graph_.value(id).ragged;
        if (!ragged) return rows;
        rows.offsets = SinkGradientProblem::RaggedOffsets{graph_.value(ragged.offset).type, ragged.multiplier};
        offset_slots_.push_back(slot_of(ragged.offset));
        return rows;
    }
    Result<std::vector<std::size_t>> take_slots() {
        if (failure_.is_bad()) return failure_;
        slots_.insert(slots_.end(), offset_slots_.begin(), offset_slots_.end());
        return std::move(slots_);
    }

   private:
    std::size_t slot_of(ir::ValueId id) {
        auto const slot = layout_.slot_of(graph_.value(id).uid);
        if (!slot) failure_ = no_pointer(graph_.value(id));
        return slot.value_or(0);
    }

    ir::OpGraph const& graph_;
    plan::PackLayout const& layout_;
    std::vector<std::size_t> slots_, offset_slots_;
    error_t failure_;
};

}  // namespace

Result<std::shared_ptr<ExtraStep const>> sink_gradient_step(LegalGraph const& graph, plan::PackLayout const& layout,
                                                            kernels::DeviceFacts const& device,
                                                            std::optional<std::string_view> stored) {
    SinkGradient const& parts = *graph.sink_gradient;
    ProblemCollector collector(graph.graph, layout);
    SinkGradientProblem problem;
    problem.o = collector.rows(parts.o);
    problem.d_o = collector.rows(parts.d_o);
    problem.stats = collector.rows(parts.stats);
    problem.sink = collector.operand(parts.sink);
    problem.gradient = collector.operand(parts.gradient);
    if (parts.lengths != ir::kNoValue) problem.lengths = collector.operand(parts.lengths);
    auto slots = collector.take_slots();
    if (slots.is_bad()) return slots.error();
    auto kernel = stored ? kernels::load_sink_gradient(problem, device, *stored)
                         : kernels::compile_sink_gradient(problem, device);
    if (kernel.is_bad()) return kernel.error();
    return std::shared_ptr<ExtraStep const>(
        std::make_shared<SinkGradientStep>(std::move(kernel).value(), std::move(slots).value()));
}

}  // namespace cudnn_frontend::cudnn
