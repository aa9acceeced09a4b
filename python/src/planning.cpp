// Settings that restrict a graph's plans, and the planner's texts about them.
#include "bindings.h"
#include "words.h"

#include <cudnn_frontend/explanation.h>

#include <pybind11/stl.h>

#include <optional>
#include <variant>

namespace binding {
namespace {

using Rewrites = std::variant<fe::RewritePolicy_t, std::vector<fe::Rewrite_t>>;

void set_rewrites(Graph& graph, Rewrites const& rewrites) {
    std::visit([&](auto const& chosen) { graph.inner.set_rewrites(chosen); }, rewrites);
}

std::string candidates(Graph const& graph) {
    std::string text;
    check(graph.inner.print_candidates(text));
    return in_python(text);
}

std::string draw_plan(Graph const& graph, bool is_svg) {
    using enum fe::graph::PictureFormat;
    std::string picture;
    check(graph.inner.draw_plan(picture, is_svg ? SVG : DOT));
    return picture;
}

struct Explained {
    std::string text, json, html;
    bool has_plan;
};

Explained explain(Graph const& graph, fe::Target const& target, std::int64_t search_milliseconds) {
    py::gil_scoped_release const released;
    fe::Explanation const found = graph.inner.explain(target, search_milliseconds);
    return {in_python(found.to_text()), found.to_json(), in_python(found.to_html()), found.has_plan()};
}

py::tuple explain_for(Graph const& graph, std::string const& target, std::int64_t search_milliseconds) {
    Explained const found = explain(graph, target_of(target), search_milliseconds);
    return py::make_tuple(found.text, found.json, found.html, found.has_plan);
}

// The workspace of a candidate; empty if it is not built.
std::optional<std::int64_t> workspace_if_built(Graph const& graph, std::int64_t index) {
    std::int64_t bytes = 0;
    return graph.inner.get_workspace_size_plan_at_index(index, bytes).is_good() ? std::optional(bytes) : std::nullopt;
}

}  // namespace

void bind_planning(Graph_class& graph) {
    graph
        .def(
            "set_shape_policy", [](Graph& self, fe::ShapePolicy_t policy) { self.inner.set_shape_policy(policy); },
            py::arg("policy"), "Whether the plan serves this graph's shapes alone, or all of their class.")
        .def(
            "set_batch_invariant", [](Graph& self, bool is_on) { self.inner.set_batch_invariant(is_on); },
            py::arg("is_on") = true,
            "Asks for a plan in which the bits of a query's results depend on its own sequence alone.")
        .def("set_rewrites", &set_rewrites, py::arg("rewrites"),
             "Which rewrites of the graph may stand in for it: a policy, or a list of those to try before the graph as "
             "it is.")
        .def(
            "set_workspace_limit", [](Graph& self, std::int64_t bytes) { self.inner.set_workspace_limit(bytes); },
            py::arg("bytes"),
            "Keeps the workspace to so many bytes: deselects engines that need more, and offers backward in slices.")
        .def(
            "set_first_run_verification", [](Graph& self, bool is_on) { self.inner.set_first_run_verification(is_on); },
            py::arg("is_on") = true,
            "Compares the results of a plan's first run with the reference; a plan that is wrong is put aside, and the "
            "next one runs.")
        .def("print_candidates", &candidates,
             "A line for each candidate, with what is against it, then one for each backend that has none.")
        .def("_explain", &explain_for, py::arg("target"), py::arg("search_milliseconds"))
        .def("_draw_plan", &draw_plan, py::arg("is_svg"))
        .def("_workspace_if_built", &workspace_if_built, py::arg("index"));
}

}  // namespace binding
