// The tensors of a call, and the checks of them that functions over tensor views share.
#pragma once

#include "core/findings.h"
#include "core/text.h"

#include <sdpa_graph/place.h>
#include <sdpa_graph/tensor_view.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;
using fe::error_t;
using fe::core::text;

// The tensors of a call, by the enumerators of its function's arguments. Null where no tensor was passed. The views
// have to outlive this.
template <class Argument, std::size_t kCount>
struct Arguments {
    std::array<Tensor_view const*, kCount> tensors{};

    Tensor_view const* at(Argument argument) const { return tensors[static_cast<std::size_t>(argument)]; }
    bool has(Argument argument) const { return at(argument) != nullptr; }
    void set(Argument argument, Tensor_view const& view) { tensors[static_cast<std::size_t>(argument)] = &view; }
    void set(Argument argument, std::optional<Tensor_view> const& view) {
        if (view) set(argument, *view);
    }
    void set_if_given(Argument argument, Tensor_view const& view) {
        if (view.data != nullptr) set(argument, view);
    }
};

// An argument that was passed.
struct Named {
    char const* name;
    Tensor_view const* view;
};

using fe::core::Reporter;

// The input of a check of a function's call. Arguments with the same fault become one finding.
template <class Call, class Sizes>
struct Scope : Reporter {
    Call const& call;
    std::optional<Sizes> const& sizes;  // empty where tensors lack the dims from which sizes follow

    using Reporter::report;
    template <class Argument>
    requires std::is_enum_v<Argument>
    void report(Argument argument, std::string found, std::string needed, std::string fix) const {
        report(std::string(name_of(argument)), std::move(found), std::move(needed), std::move(fix));
    }
};

// All findings against the rules, as one error.
template <class Call, class Sizes>
error_t check(char const* function, Call const& call, std::optional<Sizes> const& sizes,
              std::span<fe::core::RuleFor<Scope<Call, Sizes>> const> rules) {
    fe::core::Findings findings;
    for (auto const& rule : rules) rule.check({{rule, findings, function}, call, sizes});
    return findings.to_error();
}

void expect_memory(Reporter const& reporter, std::span<Named const> tensors);
// All tensors are on the device of the first, a CPU or a GPU.
void expect_one_device(Reporter const& reporter, std::span<Named const> tensors);
// The place's target runs where the tensor is.
void expect_target_there(Reporter const& reporter, Place const& place, Tensor_view const& tensor);
void expect_type(Reporter const& reporter, std::span<Named const> tensors, fe::DataType_t type, std::string_view why);
void expect_contiguous(Reporter const& reporter, std::span<Named const> tensors);
void expect_writable(Reporter const& reporter, std::span<Named const> results, char const* fix);

}  // namespace sdpa_graph::calls
