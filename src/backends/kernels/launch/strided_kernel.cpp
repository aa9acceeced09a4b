#include "kernels/launch/strided_kernel.h"

#include "kernels/launch/code_kernel.h"

#include <cstdint>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

std::vector<Parameter> parameters_of(Problem const& problem) {
    std::vector<Parameter> parameters;
    for (NamedOperand const& named : problem.operands) {
        parameters.push_back({named.name, static_cast<std::uintptr_t>(named.element_bytes())});
    }
    return parameters;
}

class StridedKernel final : public CodeKernel<KernelArguments> {
   public:
    StridedKernel(Problem const& problem, LaunchForms forms, std::shared_ptr<Code const> code)
        : CodeKernel(std::move(code), parameters_of(problem)), forms_(std::move(forms)) {
        for (NamedOperand const& named : problem.operands) slots_.push_back(named.slot);
    }

    // The source of a problem without vectors may have no function for them.
    error_t load() const override {
        SDPA_GRAPH_TRY(load(forms_.elements));
        return forms_.vectors ? load(*forms_.vectors) : error_t();
    }

   private:
    Result<CUkernel> function(LaunchForm const& form) const {
        return code()->function(static_cast<std::size_t>(form.share));
    }

    error_t load(LaunchForm const& form) const {
        auto const found = function(form);
        return found.is_bad() ? found.error() : cuda::load_here(found.value());
    }

    bool allows_vectors(Pointers pointers) const {
        if (!forms_.vectors) return false;
        for (std::size_t i = 0; i < pointers.size(); ++i) {
            if (reinterpret_cast<std::uintptr_t>(pointers[i]) % forms_.vector_alignments[i] != 0) return false;
        }
        return true;
    }

    Result<Bound> bind(Pointers pointers) const override {
        LaunchForm const& form = allows_vectors(pointers) ? *forms_.vectors : forms_.elements;
        auto const found = function(form);
        if (found.is_bad()) return found.error();
        Bound bound{found.value(), form.blocks, form.threads, 0, form.arguments};
        for (std::size_t i = 0; i < pointers.size(); ++i) bound.arguments.operands[slots_[i]].start = pointers[i];
        return bound;
    }

    LaunchForms forms_;
    std::vector<int> slots_;  // in the kernel's argument, of each pointer
};

CodeName name_of(Problem const& problem, LaunchForms const& forms, DeviceFacts const& device) {
    return strided_code(problem.kernel, problem.operands.front().operand->type,
                        problem.operands[problem.result].operand->type, forms.is_wide, device.compute_capability);
}

}  // namespace

CodeName strided_code(std::string const& kernel, DataType_t from, DataType_t to, bool is_wide, int compute_capability) {
    return {kernel,
            {kernel + "_elements", kernel + "_vectors", kernel + "_pairs"},  // in the order of Share
            {std::string("X=") + element_name(from), std::string("Y=") + element_name(to),
             std::string("INDEX=unsigned") + (is_wide ? " long long" : "")},
            {compute_capability}};
}

Result<KernelPointer> compile(Problem const& problem, DeviceFacts const& device) {
    SDPA_GRAPH_TRY(check_device(problem.kernel, device));
    SDPA_GRAPH_TRY(check(problem));
    LaunchForms forms = launch_forms(problem, device.multiprocessors);
    auto code = find_code(name_of(problem, forms, device));
    if (code.is_bad()) return code.error();
    return KernelPointer(std::make_shared<StridedKernel>(problem, std::move(forms), std::move(code).value()));
}

Result<KernelPointer> load(Problem const& problem, DeviceFacts const& device, std::string_view stored) {
    SDPA_GRAPH_TRY(check(problem));
    LaunchForms forms = launch_forms(problem, device.multiprocessors);
    auto code = stored_code(name_of(problem, forms, device), stored);
    if (code.is_bad()) return code.error();
    return KernelPointer(std::make_shared<StridedKernel>(problem, std::move(forms), std::move(code).value()));
}

}  // namespace cudnn_frontend::kernels
