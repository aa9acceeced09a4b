// The content of a Graph, and the snapshot of it that the stages work on.
#pragma once

#include "api/attributes/attributes_access.h"
#include "nodes/validation/checked_graphs.h"
#include "plan/seam/settings.h"

#include <cudnn_frontend/graph.h>

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

namespace cudnn_frontend {

namespace plan {
class Plan;
class Planner;
class ShapePlans;
struct MeasuredTimes;
}

namespace graph {

using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

struct Graph::Impl : nodes::GraphHead {
    std::uint64_t id;                 // distinguishes this graph's tensors from others
    std::vector<Tensor_ptr> tensors;  // registered: made by tensor() or returned by a node
    std::vector<nodes::Draft> nodes;
    plan::Settings settings;
    nodes::CheckedGraphPointer checked;      // the result of the last validation of the description
    std::shared_ptr<plan::Planner> planner;  // the result of the build stages
    bool is_known = false;                   // its proposals were there from an earlier build
    // The graph from which planner was made, and its plans for other shapes, where they may be overridden.
    nodes::CheckedGraphPointer planned;
    Target::Kind planned_for = Target::Kind::CUDA;
    std::optional<Target> asked_for;  // the target of the last build, also of one that failed
    std::shared_ptr<plan::ShapePlans> shape_plans;
    std::vector<HeurMode_t> modes;                      // of planner's candidates, and of plans for other shapes
    std::optional<bool> first_run_verification;         // else the process's setting
    bool verifies_first_run = false;                    // of the plans of planner
    int running_modifiers = 0;                          // score modifiers that are being called, one within another
    std::vector<nodes::ModifierFault> modifier_faults;  // of the innermost of them
    // The exception of a builder call, for the stages to report, and the tensor that the call returned.
    std::exception_ptr failure;
    Tensor_ptr stand_in = std::make_shared<Tensor_attributes>();

    // Copies of a graph share its tensors. Hold this to read them for a snapshot, or to fill in inferred values.
    std::shared_ptr<std::mutex> tensors_mutex = std::make_shared<std::mutex>();

    Impl();

    // Registers a tensor.
    void own(Tensor_ptr const& tensor);

    // Keeps the planner that a build stage made of a graph for a target.
    void take(std::shared_ptr<plan::Planner> made, nodes::CheckedGraphPointer graph, Target const& target);

    // The planner, whose programs run on engines that the filters let pass where there are any.
    std::shared_ptr<plan::Planner> filtered() const;

    // Chooses the current one of these plans, or another that is clearly faster, and keeps the times in the plan store.
    void choose_by_times(std::vector<plan::Plan const*> const& plans, std::vector<plan::MeasuredTimes> const& times);

    // The fields in which the graph that was planned differs from the nearest one that the process keeps; empty where
    // it was known, or no other one is kept.
    std::string difference_from_known() const;

    // While a score modifier runs, the call that runs it works on these parts: a call that would replace or move them
    // is refused, and the modifier has a fault.
    static bool refuses_to_go(Impl* const& impl) noexcept;
    // The parts, which the owner loses; null where there are none to take.
    static Impl* take(Impl*& impl) noexcept;

    // Calls a setter's body and keeps its exception; false if there was one.
    template <class Body>
    static bool completes(Impl* const& impl, Body const& body) noexcept;
    // The same for a builder, which returns tensors.
    template <class Body>
    static auto guarded(Impl* const& impl, Body const& body) noexcept -> decltype(body());
};

struct Graph::Input {
    int port;
    Tensor_ptr const& tensor;
};

template <class Body>
bool Graph::Impl::completes(Impl* const& impl, Body const& body) noexcept {
    try {
        body();
        return true;
    } catch (...) {
        if (impl != nullptr) impl->failure = std::current_exception();
        return false;
    }
}

template <class Body>
auto Graph::Impl::guarded(Impl* const& impl, Body const& body) noexcept -> decltype(body()) {
    decltype(body()) results;
    bool const is_complete = completes(impl, [&] { results = body(); });
    if (is_complete || impl == nullptr) return results;
    if constexpr (std::is_same_v<decltype(results), Tensor_ptr>) results = impl->stand_in;
    else results.fill(impl->stand_in);
    return results;
}

// Connects a new tensor to an output port: virtual until the user says otherwise.
Tensor_ptr make_output(nodes::Draft& node, int port, char const* name, Graph::Impl& graph);

// An error in a graph that cannot be replaced now.
error_t check_replaceable(Graph::Impl* impl);

// The graph as a value.
struct Snapshot {
    nodes::GraphSpec spec;
};

}  // namespace graph

namespace detail {

// Access of the other layers to a Graph.
struct Graph_access {
    static graph::Graph::Impl* parts(graph::Graph const& graph) { return graph.impl_; }
    static graph::Snapshot snapshot(graph::Graph const& graph);
    // The tensor of that uid as it is; false where there is none.
    static bool copy_of_uid(graph::Graph const& graph, std::int64_t uid, graph::Tensor_attributes& copy);
    // Replaces the description by the spec's; the plan is dropped.
    static void assign(graph::Graph& graph, nodes::GraphSpec spec);
    // Adds the fault of a score modifier that cannot use its arguments.
    static void refuse_modifier(graph::Graph& graph, std::string found, std::string needed);
    static bool owns(graph::Graph const& graph, graph::Tensor_attributes const& tensor);
};

}  // namespace detail
}  // namespace cudnn_frontend
