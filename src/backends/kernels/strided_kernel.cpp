#include "kernels/strided_kernel.h"

#include "cuda/nvrtc.h"
#include "kernels/code.h"
#include "kernels/loops.h"

#include <bit>
#include <cstdint>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

constexpr int kOldestCapability = 80;

// What errors and launches need of an operand once the problem is gone.
struct Parameter {
    std::string name;
    std::uintptr_t element_bytes;
};

class StridedKernel final : public Kernel {
   public:
    StridedKernel(Problem const& problem, LaunchForms forms, std::shared_ptr<Code const> code)
        : forms_(std::move(forms)), code_(std::move(code)) {
        for (NamedOperand const& named : problem.operands) {
            parameters_.push_back({named.name, static_cast<std::uintptr_t>(named.element_bytes())});
        }
    }

    error_t launch(CUstream stream, Pointers pointers) const override {
        auto const bound = bind(pointers);
        return bound.is_bad() ? bound.error() : cuda::launch(call(bound.value()), stream);
    }
    Result<CUgraphNode> add_node(CUgraph graph, std::span<CUgraphNode const> after, Pointers pointers) const override {
        auto const bound = bind(pointers);
        if (bound.is_bad()) return bound.error();
        return cuda::add_node(call(bound.value()), graph, after);
    }
    error_t update_node(CUgraphNode node, Pointers pointers) const override {
        auto const bound = bind(pointers);
        return bound.is_bad() ? bound.error() : cuda::set_node(call(bound.value()), node);
    }
    error_t update_node(CUgraphNode node, CUgraphExec instance, Pointers pointers) const override {
        auto const bound = bind(pointers);
        return bound.is_bad() ? bound.error() : cuda::set_node(call(bound.value()), node, instance);
    }

    error_t load() const override {
        for (bool const by_vectors : {true, false}) {
            auto const function = code_->function(by_vectors);
            if (function.is_bad()) return function.error();
            SDPA_GRAPH_TRY(cuda::load_here(function.value()));
        }
        return {};
    }

    std::string serialize() const override { return code_->name().text() + "\n" + code_->cubin(); }

   private:
    // A launch with its pointers; the call points into it.
    struct Bound {
        CUkernel function;
        LaunchForm form;
    };
    static cuda::KernelCall call(Bound const& bound) {
        return {bound.function, bound.form.blocks, bound.form.threads, &bound.form.arguments};
    }

    error_t check(Pointers pointers) const {
        auto const fault = [&](std::string const& problem) {
            return error_t(error_code_t::INVALID_VARIANT_PACK, code_->name().kernel + ": " + problem);
        };
        if (pointers.size() != parameters_.size()) {
            return fault("found " + std::to_string(pointers.size()) + " pointers; needed is one for each of its " +
                         std::to_string(parameters_.size()) + " operands");
        }
        for (std::size_t i = 0; i < pointers.size(); ++i) {
            auto const& [name, bytes] = parameters_[i];
            if (pointers[i] == nullptr) return fault("the pointer to " + name + " is null; pass GPU memory");
            if (std::bit_cast<std::uintptr_t>(pointers[i]) % bytes == 0) continue;
            return fault("the pointer to " + name + " is not a multiple of its elements' " + std::to_string(bytes) +
                         " bytes; pass one that is");
        }
        return {};
    }

    bool allows_vectors(Pointers pointers) const {
        if (!forms_.vectors) return false;
        for (std::size_t i = 0; i < pointers.size(); ++i) {
            if (std::bit_cast<std::uintptr_t>(pointers[i]) % forms_.vector_alignments[i] != 0) return false;
        }
        return true;
    }

    Result<Bound> bind(Pointers pointers) const {
        SDPA_GRAPH_TRY(check(pointers));
        bool const by_vectors = allows_vectors(pointers);
        auto const function = code_->function(by_vectors);
        if (function.is_bad()) return function.error();
        Bound bound{function.value(), by_vectors ? *forms_.vectors : forms_.elements};
        for (std::size_t i = 0; i < pointers.size(); ++i) bound.form.arguments.operands[i].start = pointers[i];
        return bound;
    }

    LaunchForms forms_;
    std::shared_ptr<Code const> code_;
    std::vector<Parameter> parameters_;
};

error_t check_device(Problem const& problem, DeviceFacts const& device) {
    if (device.compute_capability >= kOldestCapability) return {};
    return {error_code_t::GRAPH_NOT_SUPPORTED, std::string(problem.kernel) + ": found compute capability " +
                                                   std::to_string(device.compute_capability / 10) + "." +
                                                   std::to_string(device.compute_capability % 10) +
                                                   "; needed is 8.0 or newer, as for attention by cuDNN"};
}

CodeName name_of(Problem const& problem, LaunchForms const& forms, DeviceFacts const& device) {
    return {problem.kernel, problem.operands.front().operand->type, problem.operands[problem.result].operand->type,
            forms.is_wide, device.compute_capability};
}

}  // namespace

error_t check_compiler() { return cuda::nvrtc().error(); }

Result<KernelPointer> compile(Problem const& problem, DeviceFacts const& device) {
    SDPA_GRAPH_TRY(check_device(problem, device));
    SDPA_GRAPH_TRY(check(problem));
    LaunchForms forms = launch_forms(problem, device.multiprocessors);
    auto code = find_code(name_of(problem, forms, device));
    if (code.is_bad()) return code.error();
    return KernelPointer(std::make_shared<StridedKernel>(problem, std::move(forms), std::move(code).value()));
}

Result<KernelPointer> load(Problem const& problem, DeviceFacts const& device, std::string_view stored) {
    SDPA_GRAPH_TRY(check(problem));
    LaunchForms forms = launch_forms(problem, device.multiprocessors);
    CodeName const name = name_of(problem, forms, device);
    std::string_view const found = stored.substr(0, stored.find('\n'));
    if (found != name.text() || found.size() == stored.size()) {
        return error_t(error_code_t::INVALID_VALUE, "the stored kernel is \"" + std::string(found.substr(0, 100)) +
                                                        "\"; needed is \"" + name.text() +
                                                        "\"; plan the graph again and store that plan");
    }
    auto code = find_code(name, stored.substr(found.size() + 1));
    return KernelPointer(std::make_shared<StridedKernel>(problem, std::move(forms), std::move(code)));
}

}  // namespace cudnn_frontend::kernels
