// Checks of the tensors: memory, dims, strides, types and devices.
#include "calls/view_properties.h"
#include "neighborhood/rules.h"

#include <vector>

namespace sdpa_graph::neighborhood::checks {
namespace {

using enum Port;

Port leading_port(Scope const& scope) { return fe::neighborhood::leading_port(scope.call.function); }

template <class Visit>
void for_all(Call const& call, Visit const& visit) {
    for (auto const& row : fe::neighborhood::kOperands) {
        if (call.has(row.port)) visit(row.port, *call.at(row.port));
    }
}

// The tensors for which the condition holds.
template <class Condition>
std::vector<calls::Named> passed(Scope const& scope, Condition const& condition) {
    std::vector<calls::Named> tensors;
    for_all(scope.call, [&](Port port, Tensor_view const& view) {
        if (condition(port)) tensors.push_back({name_of(scope.call, port), &view});
    });
    return tensors;
}

std::vector<calls::Named> all_passed(Scope const& scope) {
    return passed(scope, [](Port) { return true; });
}

bool is_result(Call const& call, Port port) {
    return fe::neighborhood::is_made(fe::neighborhood::kOperands[static_cast<std::size_t>(port)].use_in(call.function));
}

}  // namespace

void tensors_have_memory(Scope const& scope) { calls::expect_memory(scope, all_passed(scope)); }

void tensors_have_ranks(Scope const& scope) {
    for_all(scope.call, [&](Port port, Tensor_view const& view) {
        std::size_t const count = dims_count(scope.call, port);
        if (view.dim.size() == count && calls::is_sound(view)) return;
        scope.report(name_of(scope.call, port), text("dims ", view.dim, " and strides ", view.stride),
                     text(count, calls::kSoundDims), "look at the shapes of docs/neighborhood-functions.md");
    });
}

void one_device(Scope const& scope) { calls::expect_one_device(scope, all_passed(scope)); }

void target_fits(Scope const& scope) { calls::expect_target_there(scope, *scope.call.place, scope.call.leading()); }

void leading_type_is_wide(Scope const& scope) {
    DataType_t const type = scope.call.leading().type;
    if (type == DataType_t::HALF || type == DataType_t::BFLOAT16 || type == DataType_t::FLOAT) return;
    scope.report(name_of(scope.call, leading_port(scope)), text("the type ", type), "HALF, BFLOAT16 or FLOAT",
                 "convert all tensors to one of these types");
}

void one_type(Scope const& scope) {
    calls::expect_type(scope, passed(scope, [](Port port) { return port != Stats; }), scope.call.leading().type,
                       text(", the type of ", name_of(scope.call, leading_port(scope))));
}

void logsumexp_is_float(Scope const& scope) {
    calls::expect_type(scope, passed(scope, [](Port port) { return port == Stats; }), DataType_t::FLOAT, "");
}

void dims_fit(Scope const& scope) {
    if (!scope.sizes) return;
    Call const& call = scope.call;
    for_all(call, [&](Port port, Tensor_view const& view) {
        auto const wanted = fe::neighborhood::dims_of(call.function, *scope.sizes, call.options, port);
        if (view.dim.size() != wanted.size() || view.dim == wanted) return;
        scope.report(name_of(call, port), text("dims ", view.dim), text("dims ", wanted),
                     "pass a tensor of these dims");
    });
}

void tensors_are_contiguous(Scope const& scope) {
    calls::expect_contiguous(scope, passed(scope, [](Port port) { return port != Attn && port != DAttn; }));
}

void results_are_writable(Scope const& scope) {
    calls::expect_writable(scope, passed(scope, [&](Port port) { return is_result(scope.call, port); }),
                           "pass another tensor");
}

}  // namespace sdpa_graph::neighborhood::checks
