// Attention as a kernel of PyTorch's own operator for attention by other libraries, which has its gradient in C++.
#include "torch_operators.h"

#include "operator_calls.h"

#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace binding {
namespace {

namespace functions = sdpa_graph::attention;
using sdpa_graph::Device_kind;
using sdpa_graph::Tensor_view;
using torch_c::Guard;
using torch_c::Tensor;
using torch_c::Value;

double number_of(Value value) {
    double number = 0;
    std::memcpy(&number, &value, sizeof number);
    return number;
}

bool is_set(Value value) { return (value & 1) != 0; }

// An optional argument lies behind a pointer that the kernel owns.
std::optional<Value> optional_of(Value value) {
    if (value == 0) return std::nullopt;
    auto* const inner = reinterpret_cast<Value*>(value);
    Value const found = *inner;
    delete inner;
    return found;
}

functions::Options options_of(Value is_causal, std::optional<Value> scale) {
    functions::Options options;
    if (is_set(is_causal)) options.right_bound = 0;
    if (scale) options.scale = static_cast<float>(number_of(*scale));
    return options;
}

// The call whose number is in the place of the bias.
Carried_call const& carried_by(Tensor const& bias) {
    Tensor_view const view = bias.view();
    bool const may_be_number = view.device == Device_kind::CPU && view.type == fe::DataType_t::INT64 &&
                               view.dim == std::vector<std::int64_t>{1};
    if (!may_be_number) throw std::runtime_error("sdpa_graph.torch serves bias and dropout itself");
    Carried_call const* const call = Carried_call::find(*static_cast<std::int64_t const*>(view.data));
    if (call == nullptr)
        throw std::runtime_error(
            "the arguments of this call are gone: the saved tensor that stands for them was copied, and then dropped");
    return *call;
}

// (query, key, value, attn_bias?, dropout_p, is_causal, return_debug_mask, scale?) -> (output, logsumexp, cum_seq_q,
// cum_seq_k, max_q, max_k, philox_seed, philox_offset, debug_attn_mask). return_debug_mask says that no gradient
// follows.
void forward_kernel(Value* stack, std::uint64_t, std::uint64_t) {
    Tensor const q(stack[0]), k(stack[1]), v(stack[2]), bias(optional_of(stack[3]).value_or(0));
    Attention_call const plain(options_of(stack[5], optional_of(stack[7])));
    bool const needs_stats = !is_set(stack[6]);
    if (number_of(stack[4]) != 0.0) throw std::runtime_error("sdpa_graph.torch serves bias and dropout itself");
    Operator_call::Inputs const inputs{q.view(), k.view(), v.view()};
    Guard const guard(inputs.q);
    Operator_call::Results made = (bias.is_defined() ? carried_by(bias).call() : plain).run(inputs, needs_stats);
    stack[0] = made.o.release();
    stack[1] = made.stats.release();
    for (int const unused : {2, 3, 6, 7}) stack[unused] = Tensor::undefined().release();
    stack[4] = stack[5] = 0;
    stack[8] = made.probabilities.release();
}

// (grad_out, query, key, value, attn_bias, grad_input_mask, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k,
// dropout_p, is_causal, philox_seed, philox_offset, scale?) -> the gradients of query, key, value and attn_bias.
void backward_kernel(Value* stack, std::uint64_t, std::uint64_t) {
    Tensor grad_o(stack[0]);
    Tensor const q(stack[1]), k(stack[2]), v(stack[3]), bias(stack[4]);
    torch_c::destroy_list(stack[5]);
    Operator_call::Results const made{Tensor(stack[6]), Tensor(stack[7]), {}};
    Tensor const unused[] = {Tensor(stack[8]), Tensor(stack[9]), Tensor(stack[14]), Tensor(stack[15])};
    Attention_call const plain(options_of(stack[13], optional_of(stack[16])));
    Operator_call::Inputs const inputs{q.view(), k.view(), v.view()};
    if (!grad_o.is_defined()) {  // a gradient of None, which stands for zeros
        for (int result = 0; result < 4; ++result) stack[result] = Tensor::undefined().release();
        return;
    }
    Guard const guard(inputs.q);
    grad_o = std::move(grad_o).with_last_dim_packed();
    Carried_call const* const carried = bias.is_defined() ? &carried_by(bias) : nullptr;
    if (carried != nullptr) carried->expect_unchanged();
    Operator_call const& call = carried != nullptr ? carried->call() : plain;
    Operator_call::Gradients gradients = call.differentiate(inputs, made, std::move(grad_o));
    stack[0] = gradients.dq.release();
    stack[1] = gradients.dk.release();
    stack[2] = gradients.dv.release();
    stack[3] = Tensor::undefined().release();
}

bool implement(char const* key) {
    return torch_c::implement(key, {{"_scaled_dot_product_fused_attention_overrideable", &forward_kernel},
                                    {"_scaled_dot_product_fused_attention_overrideable_backward", &backward_kernel}});
}

}  // namespace

bool register_torch_operators() {
    static bool const is_registered =
        torch_c::load() && implement("CPU") && (!torch_c::has_cuda() || implement("CUDA"));
    return is_registered;
}

}  // namespace binding
