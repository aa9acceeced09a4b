#include "kernels/joints/joint_kernels.h"

#include "core/data_type.h"
#include "kernels/launch/code_kernel.h"
#include "kernels/rows/row_worker.h"
#include "rows/row_passes.h"

namespace cudnn_frontend::kernels {
namespace {

std::vector<Parameter> parameters_of(rewrite::Joint const& joint) {
    std::vector<Parameter> parameters;
    for (rewrite::StepOperand const& operand : rewrite::operands_of(joint)) {
        parameters.push_back({operand.role, static_cast<std::uintptr_t>(core::size_of(operand.view.type))});
    }
    return parameters;
}

// The kernels of work on rows have a function for each kind of work. Tables have that of the work before a pass.
rows::Forward_start argument_of(rewrite::SlotTables const& tables, Pointers pointers) {
    return {{rewrite::work_of(tables, pointers), {}}};
}
rows::Padding argument_of(rewrite::ClearPadding const& padding, Pointers pointers) {
    return rewrite::work_of(padding, pointers);
}
rows::Documents argument_of(rewrite::DocumentTables const& tables, Pointers pointers) {
    return rewrite::work_of(tables, pointers);
}
rows::Dropout_mask argument_of(rewrite::DropoutMask const& mask, Pointers pointers) {
    return rewrite::work_of(mask, pointers);
}
template <class Joint>
using ArgumentOf = decltype(argument_of(std::declval<Joint const&>(), {}));

template <class Joint>
class SlotKernel final : public CodeKernel<ArgumentOf<Joint>> {
    using Base = CodeKernel<ArgumentOf<Joint>>;

   public:
    SlotKernel(Joint const& joint, std::shared_ptr<Code const> code)
        : Base(std::move(code), parameters_of(joint)), joint_(joint) {}

   private:
    Result<typename Base::Bound> bind(Pointers pointers) const override {
        auto const work = argument_of(joint_, pointers);
        auto const function = this->code()->function(rows::Work(work).index());
        if (function.is_bad()) return function.error();
        auto const blocks = blocks_of_rows(work.threads());
        if (blocks.is_bad()) return blocks.error();
        return typename Base::Bound{function.value(), blocks.value(), kThreadsOfRows, 0, work};
    }

    Joint joint_;
};

}  // namespace

// These kinds of work do the same for all types of elements: the code is that of one of them.
template <IsOfSlots Joint>
Result<KernelPointer> slot_kernel(Joint const& joint, DeviceFacts const& device,
                                  std::optional<std::string_view> stored) {
    CodeName const name = name_of_rows(DataType_t::HALF, device.compute_capability);
    SDPA_GRAPH_TRY(check_device(name.source, device));
    auto code = stored ? stored_code(name, *stored) : find_code(name);
    if (code.is_bad()) return code.error();
    return KernelPointer(std::make_shared<SlotKernel<Joint>>(joint, std::move(code).value()));
}

using Stored = std::optional<std::string_view>;
template Result<KernelPointer> slot_kernel(rewrite::SlotTables const&, DeviceFacts const&, Stored);
template Result<KernelPointer> slot_kernel(rewrite::ClearPadding const&, DeviceFacts const&, Stored);
template Result<KernelPointer> slot_kernel(rewrite::DocumentTables const&, DeviceFacts const&, Stored);
template Result<KernelPointer> slot_kernel(rewrite::DropoutMask const&, DeviceFacts const&, Stored);

}  // namespace cudnn_frontend::kernels
