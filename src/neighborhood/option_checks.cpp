// Checks of windows, scale and hints.
#include "core/data_type.h"
#include "neighborhood/rules.h"

#include <algorithm>
#include <cmath>

namespace sdpa_graph::neighborhood::checks {
namespace {

constexpr std::int64_t kVectorBytes = 16;

bool is_below(std::vector<std::int64_t> const& list, std::int64_t least) {
    return std::ranges::any_of(list, [least](std::int64_t entry) { return entry < least; });
}

bool has_even(std::vector<std::int64_t> const& list) {
    return std::ranges::any_of(list, [](std::int64_t entry) { return entry % 2 == 0; });
}

// The bias, or its gradient.
Port bias_port(Call const& call) { return call.has(Port::RelPosBias) ? Port::RelPosBias : Port::DRelPosBias; }

bool has_bias(Call const& call) { return call.has(bias_port(call)); }

}  // namespace

void windows_have_keys(Scope const& scope) {
    if (!is_below(scope.call.options.kernel_size, 2)) return;
    scope.report("kernel_size", text(scope.call.options.kernel_size), "at least 2 along each axis",
                 "describe a graph, which allows 1 for an axis along which a query sees its own position alone");
}

void dilation_is_positive(Scope const& scope) {
    if (!is_below(scope.call.options.dilation, 1)) return;
    scope.report("dilation", text(scope.call.options.dilation), "at least 1 along each axis",
                 "pass 1 for neighbors without gaps");
}

void windows_fit(Scope const& scope) {
    Call const& call = scope.call;
    if (!scope.sizes || is_below(call.options.kernel_size, 1) || is_below(call.options.dilation, 1)) return;
    for (std::size_t axis = 0; axis < call.rank(); ++axis) {
        std::int64_t const kernel = call.options.kernel_size[axis], dilation = call.options.dilation[axis];
        std::int64_t const length = scope.sizes->space[axis];
        if (kernel <= length / dilation) continue;
        scope.report("kernel_size", text(kernel, " with a dilation of ", dilation, " along axis ", axis),
                     text("kernel_size times dilation of at most ", length, ", the length of that axis"),
                     "pass a smaller kernel_size or dilation there");
    }
}

void vectors_are_whole(Scope const& scope) {
    Call const& call = scope.call;
    std::int64_t const bytes = fe::core::size_of(call.leading().type);
    if (!call.is_fused() || !scope.sizes || bytes == 0) return;
    std::int64_t const step = kVectorBytes / bytes, width = scope.sizes->width;
    if (width > 0 && width % step == 0) return;
    scope.report(name_of(call, fe::neighborhood::leading_port(call.function)), text("a head dim of ", width),
                 text("a multiple of ", step), "add columns of zeros to query, key and value, or describe a graph");
}

void bias_excludes_causal_axes(Scope const& scope) {
    if (!has_bias(scope.call) || std::ranges::count(scope.call.options.is_causal, true) == 0) return;
    scope.report(name_of(scope.call, bias_port(scope.call)),
                 text("a relative position bias with is_causal ", scope.call.options.is_causal),
                 "no causal axis with it", "leave out the bias, or pass is_causal as false");
}

void bias_needs_odd_kernels(Scope const& scope) {
    if (!scope.call.is_fused() || !has_bias(scope.call) || !has_even(scope.call.options.kernel_size)) return;
    scope.report("kernel_size", text(scope.call.options.kernel_size, " with a relative position bias"),
                 "odd sizes, so that windows are centered", "make the even sizes odd, or leave out the bias");
}

void products_need_odd_kernels(Scope const& scope) {
    if (scope.call.is_fused() || !has_even(scope.call.options.kernel_size)) return;
    scope.report("kernel_size", text(scope.call.options.kernel_size), "odd sizes, so that windows are centered",
                 "make the even sizes odd, or use the fused functions, which support them");
}

void scale_is_finite(Scope const& scope) {
    if (std::isfinite(scope.call.attn_scale)) return;
    scope.report("attn_scale", text(scope.call.attn_scale), "a finite number",
                 "pass 1 over the square root of the head dim");
}

void hints_are_positive(Scope const& scope) {
    for (Hint const& hint : scope.call.hints) {
        if (!is_below(hint.sizes, 1)) continue;
        scope.report(hint.name, text(hint.sizes), "at least 1 along each axis",
                     "pass any positive sizes: they change no result");
    }
}

}  // namespace sdpa_graph::neighborhood::checks
