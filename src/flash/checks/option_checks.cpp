// Checks of sizes and options.
#include "calls/view_properties.h"
#include "flash/checks/rules.h"
#include "flash/lengths.h"

#include <cmath>

namespace sdpa_graph::flash::checks {
namespace {

constexpr std::int64_t kMostWidth = 256, kWidthStep = 8, kPageStep = 256;

bool is_numbers(Tensor_view const* view, std::int64_t count) {
    return view != nullptr && view->type == DataType_t::INT64 && calls::elements_of(*view) == count &&
           view->data != nullptr;
}

}  // namespace

void packed_has_sequences(Scope const& scope) {
    if (!scope.sizes || !scope.call.is_packed || scope.sizes->batches > 0) return;
    scope.report(Argument::CuSeqlensQ, text("dims ", scope.call.at(Argument::CuSeqlensQ)->dim),
                 "one element more than there are sequences, and a sequence at least",
                 "skip the call where there is no sequence");
}

void head_size_is_bounded(Scope const& scope) {
    if (!scope.sizes || scope.sizes->width <= kMostWidth) return;
    scope.report(Argument::Q, text("a head dim of ", scope.sizes->width), text("at most ", kMostWidth),
                 "describe a graph for Target::cpu(), which has no such bound");
}

void head_size_is_even(Scope const& scope) {
    if (!scope.sizes || (scope.sizes->width > 0 && scope.sizes->width % kWidthStep == 0)) return;
    scope.report(Argument::Q, text("a head dim of ", scope.sizes->width), text("a multiple of ", kWidthStep),
                 "add columns of zeros to q, k and v");
}

void heads_divide(Scope const& scope) {
    if (!scope.sizes) return;
    Sizes const& sizes = *scope.sizes;
    if (sizes.key_heads > 0 && sizes.heads > 0 && sizes.heads % sizes.key_heads == 0) return;
    scope.report(Argument::K, text(sizes.key_heads, " heads with ", sizes.heads, " in q"),
                 "a number of heads that divides that of q", "check the order of the dims");
}

void pages_have_rows(Scope const& scope) {
    if (!scope.sizes || !scope.call.has_pages()) return;
    std::int64_t const rows = scope.call.at(Argument::K)->dim[1];
    if (rows > 0 && rows % kPageStep == 0) return;
    scope.report(Argument::K, text("pages of ", rows, " rows"), text("a multiple of ", kPageStep),
                 "keep keys and values in larger pages, or describe a graph: it supports any power of two");
}

void pages_have_whole_steps(Scope const& scope) {
    if (!scope.sizes || !scope.call.has_pages() || scope.call.at(Argument::K)->dim[1] < 1) return;
    for (Argument const argument : {Argument::K, Argument::V}) {
        Tensor_view const& view = *scope.call.at(argument);
        if (view.dim != scope.call.at(Argument::K)->dim || view.stride.size() != 4) continue;
        if (has_whole_steps(scope.call, argument)) continue;
        scope.report(argument, text("pages of ", view.dim[1], " rows with strides ", view.stride),
                     "pages that lie side by side, as in k", "make k and v contiguous");
    }
}

void dropout_is_a_chance(Scope const& scope) {
    float const p = scope.call.p_dropout;
    if (p >= 0.0f && p < 1.0f) return;
    scope.report({}, text("p_dropout of ", p), "at least 0 and less than 1", "pass the chance that a value is dropped");
}

void softmax_needs_dropout(Scope const& scope) {
    if (!scope.call.return_softmax || scope.call.has_dropout()) return;
    scope.report({}, "return_softmax without dropout", "p_dropout above 0, since p is there to show what is dropped",
                 "pass return_softmax as false");
}

void softcap_excludes_dropout(Scope const& scope) {
    if (!scope.call.has_softcap() || !scope.call.has_dropout()) return;
    scope.report({}, text("softcap of ", scope.call.softcap, " and p_dropout of ", scope.call.p_dropout),
                 "one of the two", "pass a softcap of 0, or a p_dropout of 0");
}

void numbers_are_finite(Scope const& scope) {
    Call const& call = scope.call;
    if (std::isfinite(call.softmax_scale) && std::isfinite(call.softcap)) return;
    scope.report({}, text("softmax_scale of ", call.softmax_scale, " and softcap of ", call.softcap), "finite numbers",
                 "1 over the square root of the head dim, and a softcap of 0 for none");
}

void dropout_has_generator(Scope const& scope) {
    Call const& call = scope.call;
    if (!call.has_dropout()) return;
    Tensor_view const *const seed = call.at(Argument::Seed), *const offset = call.at(Argument::Offset);
    if (offset == nullptr ? is_numbers(seed, 2) : is_numbers(seed, 1) && is_numbers(offset, 1)) return;
    scope.report(
        {},
        seed == nullptr ? std::string("no generator") : text("a seed of type ", seed->type, " with dims ", seed->dim),
        "{seed, offset} as two INT64, or each as one",
        call.is_backward ? "pass forward's rng_state as philox_seed" : "pass the generator as gen_");
}

void pages_exclude_dropout(Scope const& scope) {
    if (!scope.call.has_pages() || !scope.call.has_dropout()) return;
    scope.report({}, text("a block table and p_dropout of ", scope.call.p_dropout), "one of the two",
                 "pass a p_dropout of 0: pages are for inference");
}

void lengths_are_counts(Scope const& scope) {
    Call const& call = scope.call;
    if (call.max_seqlen_q >= 0 && call.max_seqlen_k >= 0) return;
    scope.report({}, text("max_seqlen_q of ", call.max_seqlen_q, " and max_seqlen_k of ", call.max_seqlen_k),
                 "at least 0", "pass the lengths of the longest sequences");
}

}  // namespace sdpa_graph::flash::checks
