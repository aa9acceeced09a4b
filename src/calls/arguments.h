// The tensors of a call, by the enumerators of its function's arguments.
#pragma once

#include <sdpa_graph/tensor_view.h>

#include <array>
#include <cstddef>
#include <optional>

namespace sdpa_graph::calls {

// Null where no tensor was passed. The views have to outlive this.
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

}  // namespace sdpa_graph::calls
