// The calls that PyTorch's operator for attention by other libraries serves, and how one gets arguments that the
// operator does not have.
#pragma once

#include "flash_calls.h"
#include "torch_c.h"

#include <sdpa_graph/attention.h>

#include <memory>
#include <vector>

namespace binding {

class Operator_call {
   public:
    struct Inputs {
        sdpa_graph::Tensor_view q, k, v;
    };
    struct Results {
        torch_c::Tensor o, stats, probabilities;
    };
    struct Gradients {
        torch_c::Tensor dq, dk, dv;
    };

    Operator_call() = default;
    virtual ~Operator_call() = default;
    Operator_call(Operator_call const&) = delete;
    Operator_call& operator=(Operator_call const&) = delete;

    // Both throw std::runtime_error.
    virtual Results run(Inputs const& inputs, bool needs_stats) const = 0;
    virtual Gradients differentiate(Inputs const& inputs, Results const& results, torch_c::Tensor grad_o) const = 0;
};

// Attention as a function.
class Attention_call : public Operator_call {
   public:
    // `others` has the inputs except q, k and v.
    explicit Attention_call(sdpa_graph::attention::Options options, sdpa_graph::attention::Inputs others = {});

    Results run(Inputs const& inputs, bool needs_stats) const override;
    Gradients differentiate(Inputs const& inputs, Results const& results, torch_c::Tensor grad_o) const override;

   private:
    sdpa_graph::attention::Inputs all(Inputs const& inputs) const;

    sdpa_graph::attention::Options options_;
    sdpa_graph::attention::Inputs others_;
};

// A call that has more arguments than the operator, in the place of whose bias comes a tensor over the memory of
// `number`. Autograd keeps that tensor for backward, the tensor keeps this object, and this one the tensors among the
// arguments.
class Carried_call {
   public:
    Carried_call(sdpa_graph::attention::Options const& options, py::dict tensors);
    Carried_call(Flash_numbers const& numbers, py::dict tensors);
    ~Carried_call();
    Carried_call(Carried_call const&) = delete;
    Carried_call& operator=(Carried_call const&) = delete;

    // Null if no object has the number: a program may have passed any.
    static Carried_call const* find(std::int64_t number);

    Operator_call const& call() const { return *call_; }
    // Throws std::runtime_error if a tensor has been changed in place, as autograd does. Needs no lock of Python.
    void expect_unchanged() const;

    std::int64_t* number() { return &number_; }

   private:
    py::dict owners_;
    std::vector<std::int64_t> versions_;
    Tensors tensors_;
    std::unique_ptr<Operator_call const> call_;  // may refer to tensors_
    std::int64_t number_;
};

}  // namespace binding
