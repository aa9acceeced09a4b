// Kernels that launch compiled code: their common part, whatever their argument is.
#pragma once

#include "cuda/module.h"
#include "kernels/launch/code.h"
#include "kernels/launch/kernel.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::kernels {

// The facts about an operand that errors and launches need once the problem is gone.
struct Parameter {
    std::string name;
    std::uintptr_t alignment;  // in bytes
};

// An error if there is not one pointer for each, not null and aligned.
error_t check_pointers(std::string const& kernel, std::vector<Parameter> const& parameters, Pointers pointers);

error_t check_device(std::string const& kernel, DeviceFacts const& device);

template <class Arguments>
class CodeKernel : public Kernel {
   public:
    CodeKernel(std::shared_ptr<Code const> code, std::vector<Parameter> parameters)
        : code_(std::move(code)), parameters_(std::move(parameters)) {}

    error_t launch(CUstream stream, Pointers pointers) const override {
        auto const bound = checked(pointers);
        return bound.is_bad() ? bound.error() : cuda::launch(call(bound.value()), stream);
    }
    Result<CUgraphNode> add_node(CUgraph graph, std::span<CUgraphNode const> after, Pointers pointers) const override {
        auto const bound = checked(pointers);
        if (bound.is_bad()) return bound.error();
        return cuda::add_node(call(bound.value()), graph, after);
    }
    error_t update_node(CUgraphNode node, Pointers pointers) const override {
        auto const bound = checked(pointers);
        return bound.is_bad() ? bound.error() : cuda::set_node(call(bound.value()), node);
    }
    error_t update_node(CUgraphNode node, CUgraphExec instance, Pointers pointers) const override {
        auto const bound = checked(pointers);
        return bound.is_bad() ? bound.error() : cuda::set_node(call(bound.value()), node, instance);
    }

    error_t load() const override {
        for (std::size_t i = 0; i < code_->name().functions.size(); ++i) {
            auto const function = code_->function(i);
            if (function.is_bad()) return function.error();
            SDPA_GRAPH_TRY(cuda::load_here(function.value()));
        }
        return {};
    }

    std::string serialize() const override { return to_store(*code_); }
    std::string name() const override { return code_->name().source; }
    std::shared_ptr<Code const> const& code() const override { return code_; }

   protected:
    // A launch with its pointers; the call points into it.
    struct Bound {
        CUkernel function;
        unsigned blocks, threads, shared_bytes;
        Arguments arguments;
    };
    // The pointers were checked before.
    virtual Result<Bound> bind(Pointers pointers) const = 0;

   private:
    Result<Bound> checked(Pointers pointers) const {
        SDPA_GRAPH_TRY(check_pointers(code_->name().source, parameters_, pointers));
        return bind(pointers);
    }
    static cuda::KernelCall call(Bound const& bound) {
        return {bound.function, bound.blocks, bound.threads, bound.shared_bytes, &bound.arguments};
    }

    std::shared_ptr<Code const> code_;
    std::vector<Parameter> parameters_;
};

}  // namespace cudnn_frontend::kernels
