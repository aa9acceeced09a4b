// Checks of the tensors: memory, dims, strides, types and devices.
#include "calls/view_properties.h"
#include "flash/checks/rules.h"

#include <algorithm>

namespace sdpa_graph::flash::checks {
namespace {

using enum Argument;
using calls::is_empty;

// Calls visit(argument, view) for those arguments that were passed.
template <class Visit>
void for_each(Scope const& scope, std::initializer_list<Argument> arguments, Visit const& visit) {
    for (Argument const argument : arguments) {
        if (Tensor_view const* const view = scope.call.at(argument)) visit(argument, *view);
    }
}

template <class Visit>
void for_all(Scope const& scope, Visit const& visit) {
    for (std::size_t i = 0; i < kArguments; ++i) {
        auto const argument = static_cast<Argument>(i);
        if (Tensor_view const* const view = scope.call.at(argument)) visit(argument, *view);
    }
}

std::size_t rank_of(Call const& call, Argument argument) {
    bool const is_paged = call.has_pages() && (argument == K || argument == V);
    switch (argument) {
        case SoftmaxLse:
        case SoftmaxD: return call.is_packed ? 2 : 3;
        case P: return 4;
        case CuSeqlensQ:
        case CuSeqlensK:
        case SequsedK: return 1;
        case BlockTable: return 2;
        default: return call.is_packed && !is_paged ? 3 : 4;
    }
}

// Calls are checked each time, so that the checks do not allocate memory.
using PassedArguments = fe::core::ShortList<calls::Named, kArguments>;

PassedArguments passed(Scope const& scope, std::initializer_list<Argument> arguments) {
    PassedArguments tensors;
    for_each(scope, arguments, [&](Argument argument, Tensor_view const& view) {
        tensors.push_back({name_of(argument), &view});
    });
    return tensors;
}

PassedArguments all_passed(Scope const& scope) {
    PassedArguments tensors;
    for_all(scope, [&](Argument argument, Tensor_view const& view) { tensors.push_back({name_of(argument), &view}); });
    return tensors;
}

void expect_type(Scope const& scope, std::initializer_list<Argument> arguments, DataType_t type, char const* why) {
    calls::expect_type(scope, passed(scope, arguments), type, why);
}

}  // namespace

void tensors_have_memory(Scope const& scope) { calls::expect_memory(scope, all_passed(scope)); }

void tensors_have_ranks(Scope const& scope) {
    for_all(scope, [&](Argument argument, Tensor_view const& view) {
        if (argument == Seed || argument == Offset) return;
        std::size_t const rank = view.dim.size(), wanted = rank_of(scope.call, argument);
        bool const is_either = argument == AlibiSlopes;
        bool const fits = is_either ? rank == 1 || rank == 2 : rank == wanted;
        if (fits && calls::is_sound(view)) return;
        scope.report(argument, text("dims ", view.dim, " and strides ", view.stride),
                     text(is_either ? std::string("1 or 2") : std::to_string(wanted), calls::kSoundDims),
                     "look at the shapes of docs/flash.md");
    });
}

void one_device(Scope const& scope) { calls::expect_one_device(scope, all_passed(scope)); }

void target_fits(Scope const& scope) { calls::expect_target_there(scope, *scope.call.place, *scope.call.at(Q)); }

void q_has_16_bits(Scope const& scope) {
    DataType_t const type = scope.call.at(Q)->type;
    if (type == DataType_t::HALF || type == DataType_t::BFLOAT16) return;
    scope.report(Q, text("the type ", type), "HALF or BFLOAT16", "convert q, k and v, or describe a graph");
}

void one_type(Scope const& scope) {
    expect_type(scope, {K, V, DOut, Out, DQ, DK, DV, P}, scope.call.at(Q)->type, ", the type of q");
}

void integers_have_32_bits(Scope const& scope) {
    expect_type(scope, {CuSeqlensQ, CuSeqlensK, SequsedK, BlockTable}, DataType_t::INT32, "");
}

void numbers_are_floats(Scope const& scope) {
    expect_type(scope, {AlibiSlopes, SoftmaxLse, SoftmaxD}, DataType_t::FLOAT, "");
}

void last_stride_is_one(Scope const& scope) {
    auto const check = [&](Argument argument, Tensor_view const& view) {
        if (view.stride.empty() || view.stride.size() != view.dim.size()) return;
        if (view.stride.back() == 1 || view.dim.back() <= 1) return;
        scope.report(argument, text(view.stride.back(), " as the stride of the last dim"), "1",
                     "make the tensor contiguous");
    };
    for_each(scope, {Q, K, V, DOut, Out, DQ, DK, DV, BlockTable, AlibiSlopes}, check);
}

void dims_fit(Scope const& scope) {
    if (!scope.sizes) return;
    for_all(scope, [&](Argument argument, Tensor_view const& view) {
        if (argument == Seed || argument == Offset) return;
        bool const is_slopes = argument == AlibiSlopes && (view.dim.empty() || view.dim.size() > 2);
        if (is_slopes || (!is_slopes && argument != AlibiSlopes && view.dim.size() != rank_of(scope.call, argument)))
            return;
        Few_dims const wanted = wanted_dims(scope.call, *scope.sizes, argument);
        if (std::ranges::equal(view.dim, wanted)) return;
        scope.report(argument, text("dims ", view.dim), text("dims ", fe::core::Dims(wanted.begin(), wanted.end())),
                     "pass a tensor of these dims");
    });
}

void whole_tensors_are_contiguous(Scope const& scope) {
    calls::expect_contiguous(scope, passed(scope, {CuSeqlensQ, CuSeqlensK, SequsedK, SoftmaxD, P}));
    if (!scope.call.has_log_sums_by_row()) calls::expect_contiguous(scope, passed(scope, {SoftmaxLse}));
}

void rows_hold_all_heads(Scope const& scope) {
    if (!scope.call.is_packed) return;
    auto const check = [&](Argument argument, Tensor_view const& view) {
        if (view.dim.size() != 3 || !calls::is_sound(view) || view.dim[0] <= 1 || is_empty(view)) return;
        std::int64_t const span = (view.dim[1] - 1) * view.stride[1] + view.dim[2];
        if (view.stride[0] >= span) return;
        scope.report(argument, text("strides ", view.stride, " of dims ", view.dim),
                     text("a first stride of at least ", span, ", so that a row holds all heads"),
                     "make the tensor contiguous");
    };
    for_each(scope, {Q, K, V, DOut, Out, DQ, DK, DV}, check);
}

void results_are_writable(Scope const& scope) {
    auto const results = scope.call.is_backward ? passed(scope, {P, DQ, DK, DV, SoftmaxD})
                                                : passed(scope, {Out, SoftmaxLse, P, DQ, DK, DV, SoftmaxD});
    calls::expect_writable(scope, results, "pass another tensor, or leave it out to have one allocated");
}

}  // namespace sdpa_graph::flash::checks
