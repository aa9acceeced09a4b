// A program's function of attention's scores, applied after their scale and before their bias.
#pragma once

#include "export.h"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace cudnn_frontend {

namespace graph {
class Graph;
class Tensor_attributes;
}  // namespace graph

namespace detail {

// Any callable (graph, scores) -> modified scores. Not std::function, since <functional> would slow down each file that
// includes the graph API. An empty std::function or null pointer is no modifier.
class SDPA_GRAPH_API Score_modifier {
   public:
    using Tensor = std::shared_ptr<graph::Tensor_attributes>;
    using Owner = std::shared_ptr<graph::Graph>;

    Score_modifier() = default;
    Score_modifier(std::nullptr_t) {}
    template <class Callable, class = std::enable_if_t<!std::is_same_v<Callable, Score_modifier>>>
    Score_modifier(Callable callable) {
        if (!is_set(callable, 0)) return;
        state_ = std::make_shared<Callable>(std::move(callable));
        call_ = [](void* state, Owner const& graph, Tensor const& scores) -> Tensor {
            auto& held = *static_cast<Callable*>(state);
            if constexpr (std::is_invocable_v<Callable&, Owner const&, Tensor const&>) return held(graph, scores);
            else return held(Owner(graph), Tensor(scores));
        };
    }

    explicit operator bool() const { return call_ != nullptr; }
    Tensor operator()(Owner const& graph, Tensor const& scores) const { return call_(state_.get(), graph, scores); }

   private:
    // Callables that can be empty convert to bool, as std::function does, or are pointers.
    template <class Callable>
    static auto is_set(Callable const& callable, int) -> decltype(callable.operator bool()) {
        return static_cast<bool>(callable);
    }
    template <class Callable>
    static bool is_set(Callable const& callable, long) {
        if constexpr (std::is_pointer_v<Callable>) return callable != nullptr;
        else return true;
    }

    std::shared_ptr<void> state_;
    Tensor (*call_)(void* state, Owner const& graph, Tensor const& scores) = nullptr;
};

}  // namespace detail
}  // namespace cudnn_frontend
