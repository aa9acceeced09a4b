// Checks of the tensors: memory, dims, strides, types and devices.
#include "calls/view_properties.h"
#include "functions/attention/rules.h"

#include <algorithm>

namespace sdpa_graph::attention::checks {
namespace {

using enum Argument;
bool is_floating_point(DataType_t type) {
    return type == DataType_t::HALF || type == DataType_t::BFLOAT16 || type == DataType_t::FLOAT;
}

// Calls are checked each time, so that the checks do not allocate memory.
using Passed = fe::core::ShortList<calls::Named, kArguments>;

constexpr std::array kTables = {SeqLenQ, SeqLenKv, CuSeqlensQ, CuSeqlensKv, PageTable};

template <class Arguments>
Passed passed(Scope const& scope, Arguments const& arguments) {
    Passed tensors;
    for (Argument const argument : arguments) {
        if (scope.call.has(argument)) tensors.push_back({name_of(argument), scope.call.at(argument)});
    }
    return tensors;
}

Passed all_passed(Scope const& scope) {
    Passed tensors;
    for (std::size_t i = 0; i < kArguments; ++i) {
        auto const argument = static_cast<Argument>(i);
        if (scope.call.has(argument)) tensors.push_back({name_of(argument), scope.call.at(argument)});
    }
    return tensors;
}

std::initializer_list<Argument> results_of(Call const& call) {
    static constexpr std::initializer_list<Argument> forward = {O, Stats}, backward = {DQ, DK, DV, DBias, DSink};
    return call.is_backward ? backward : forward;
}

bool has_lengths_for(Scope const& scope, Argument argument) {
    std::int64_t const ends = argument == CuSeqlensQ || argument == CuSeqlensKv ? 1 : 0;
    return calls::elements_of(*scope.call.at(argument)) == scope.sizes->batches + ends;
}

void expect_dims(Scope const& scope, Argument argument, Few_dims const& wanted) {
    Tensor_view const& view = *scope.call.at(argument);
    if (view.dim.size() != wanted.size() || std::ranges::equal(view.dim, wanted)) return;
    scope.report(argument, text("dims ", view.dim), text("dims ", std::vector(wanted.begin(), wanted.end())),
                 "pass a tensor of these dims");
}

}  // namespace

std::size_t rank_of(Call const& call, Argument argument) {
    if (std::ranges::count(kRowTensors, argument) > 0)
        return call.is_packed(argument) && !(is_of_keys(argument) && call.has_pages()) ? 3 : 4;
    switch (argument) {
        case CuSeqlensQ:
        case CuSeqlensKv:
        case Seed: return 1;
        case PageTable: return 2;
        default: return 4;
    }
}

void tensors_have_memory(Scope const& scope) { calls::expect_memory(scope, all_passed(scope)); }

void tensors_have_ranks(Scope const& scope) {
    for (auto const& [name, view] : all_passed(scope)) {
        auto const argument =
            static_cast<Argument>(std::ranges::find(scope.call.tensors, view) - scope.call.tensors.begin());
        bool const is_of_lengths = argument == SeqLenQ || argument == SeqLenKv;
        std::size_t const wanted = rank_of(scope.call, argument);
        bool const fits = view->dim.size() == wanted || (is_of_lengths && view->dim.size() == 1);
        if (fits && calls::is_sound(*view)) continue;
        scope.report(argument, text("dims ", view->dim, " and strides ", view->stride),
                     text(is_of_lengths ? std::string("1 or 4") : std::to_string(wanted), calls::kSoundDims),
                     "look at the shapes of docs/attention-functions.md");
    }
}

void one_device(Scope const& scope) { calls::expect_one_device(scope, all_passed(scope)); }

void target_fits(Scope const& scope) { calls::expect_target_there(scope, scope.call.place, *scope.call.at(Q)); }

void last_stride_is_one(Scope const& scope) {
    for (Argument const argument : kRowTensors) {
        Tensor_view const* const view = scope.call.at(argument);
        if (view == nullptr || view->stride.empty() || view->stride.size() != view->dim.size()) continue;
        if (view->stride.back() == 1 || view->dim.back() <= 1) continue;
        scope.report(argument, text(view->stride.back(), " as the stride of the last dim"), "1",
                     "make the tensor contiguous");
    }
}

void types_fit(Scope const& scope) {
    Call const& call = scope.call;
    for (Argument const argument : {Q, Bias}) {
        if (!call.has(argument) || is_floating_point(call.at(argument)->type)) continue;
        scope.report(argument, text("the type ", call.at(argument)->type), "HALF, BFLOAT16 or FLOAT",
                     "convert the tensor");
    }
    calls::expect_type(scope, passed(scope, kTables), DataType_t::INT32, "");
    calls::expect_type(scope, passed(scope, std::array{Seed}), DataType_t::INT64, "");
    calls::expect_type(scope, passed(scope, std::array{Stats, Sink, DSink}), DataType_t::FLOAT, "");
    DataType_t const type = call.at(Q)->type;
    calls::expect_type(scope, passed(scope, std::array{K, V, O, GradO, DQ, DK, DV}), type, ", the type of q");
    if (call.has(Bias))
        calls::expect_type(scope, passed(scope, std::array{DBias}), call.at(Bias)->type, ", the type of the bias");
}

void dims_fit(Scope const& scope) {
    if (!scope.sizes) return;
    std::int64_t const sequences = std::max<std::int64_t>(scope.sizes->batches, 0);
    for (Argument const argument : kRowTensors) {
        if (scope.call.has(argument)) expect_dims(scope, argument, wanted_dims(scope.call, *scope.sizes, argument));
    }
    for (Argument const argument : {SeqLenQ, SeqLenKv, CuSeqlensQ, CuSeqlensKv}) {
        if (!scope.call.has(argument)) continue;
        bool const has_ends = argument == CuSeqlensQ || argument == CuSeqlensKv;
        bool const has_first = !has_ends || scope.call.at(argument)->dim[0] > 0;
        if (has_first && has_lengths_for(scope, argument)) continue;
        scope.report(argument, text("dims ", scope.call.at(argument)->dim),
                     text(sequences + (has_ends ? 1 : 0), " numbers for ", sequences, " sequences"),
                     has_ends ? "pass 0 and the end of each sequence" : "pass a length for each sequence");
    }
    if (Tensor_view const* const table = scope.call.at(PageTable); table != nullptr && table->dim.size() == 2)
        expect_dims(scope, PageTable, {scope.sizes->batches, table->dim[1]});
    if (scope.call.has(Seed)) expect_dims(scope, Seed, {2});
    for (Argument const argument : {Sink, DSink}) {
        if (scope.call.has(argument)) expect_dims(scope, argument, {1, scope.sizes->heads, 1, 1});
    }
}

void tables_are_contiguous(Scope const& scope) {
    calls::expect_contiguous(scope, passed(scope, kTables));
    calls::expect_contiguous(scope, passed(scope, std::array{Seed, Sink, DSink}));
}

void results_are_writable(Scope const& scope) {
    calls::expect_writable(scope, passed(scope, results_of(scope.call)),
                           "pass another tensor, or leave it out to have one allocated");
}

}  // namespace sdpa_graph::attention::checks
