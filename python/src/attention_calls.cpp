// Attention as functions on tensors of torch and arrays of NumPy.
#include "bindings.h"
#include "torch_calls.h"
#include "torch_operators.h"

#include <sdpa_graph/attention.h>
#include <sdpa_graph/plan_store.h>

#include <pybind11/stl.h>

namespace binding {
namespace {

namespace functions = sdpa_graph::attention;

functions::Options options_of(float scale, std::optional<std::int64_t> left_bound,
                              std::optional<std::int64_t> right_bound, bool is_bottom_right, bool has_alibi,
                              std::optional<float> softcap, float dropout_p, bool is_deterministic,
                              std::int64_t longest_q, std::int64_t longest_kv) {
    functions::Options options;
    options.scale = scale;
    options.left_bound = left_bound;
    options.right_bound = right_bound;
    options.is_bottom_right = is_bottom_right;
    options.has_alibi = has_alibi;
    options.softcap = softcap;
    options.dropout_p = dropout_p;
    options.is_deterministic = is_deterministic;
    options.longest_q = longest_q;
    options.longest_kv = longest_kv;
    return options;
}

using Target = std::optional<fe::Target>;
using Target_name = std::optional<std::string>;

Target target_named(Target_name const& name) { return name ? Target(target_of(*name)) : std::nullopt; }

functions::Inputs inputs_of(Tensors const& t) {
    return {t.at("q"),
            t.at("k"),
            t.at("v"),
            t.maybe("bias"),
            t.maybe("sink"),
            t.maybe("seq_len_q"),
            t.maybe("seq_len_kv"),
            t.maybe("cu_seqlens_q"),
            t.maybe("cu_seqlens_kv"),
            t.maybe("page_table"),
            t.maybe("seed")};
}

sdpa_graph::Place with_target(sdpa_graph::Place place, Target const& target) {
    place.target = target;
    return place;
}

void forward(py::dict const& tensors, functions::Options const& options, py::function const& workspace,
             Target_name const& name) {
    Target const target = target_named(name);
    run_call(tensors, workspace, [&](Tensors const& t, sdpa_graph::Place const& place) {
        functions::Forward_results results{t.at("o"), t.at("stats")};
        return functions::forward(inputs_of(t), options, results.stats.data != nullptr, with_target(place, target),
                                  results);
    });
}

void backward(py::dict const& tensors, functions::Options const& options, py::function const& workspace,
              Target_name const& name) {
    Target const target = target_named(name);
    run_call(tensors, workspace, [&](Tensors const& t, sdpa_graph::Place const& place) {
        functions::Backward_results results{t.at("dq"), t.at("dk"), t.at("dv"), t.at("dbias"), t.at("dsink")};
        return functions::backward(t.at("grad_o"), inputs_of(t), t.at("o"), t.at("stats"), options,
                                   with_target(place, target), results);
    });
}

}  // namespace

void bind_attention_calls(py::module_& module) {
    py::class_<functions::Options>(module, "_Attention_options",
                                   "The arguments of attention as a function that are no tensors.")
        .def(py::init(&options_of), py::arg("scale"), py::arg("left_bound"), py::arg("right_bound"),
             py::arg("is_bottom_right"), py::arg("has_alibi"), py::arg("softcap"), py::arg("dropout_p"),
             py::arg("is_deterministic"), py::arg("longest_q"), py::arg("longest_kv"));
    module.def(
        "set_plan_store",
        [](std::string const& folder, bool is_frozen) {
            sdpa_graph::set_plan_store({folder, is_frozen});
        },
        py::arg("folder"), py::arg("frozen") = false,
        "Plans of the functions over tensors, on GPUs, are read from files of the folder, and written there unless it "
        "is frozen. None if it is empty.");
    module.def("_register_torch_operators", &register_torch_operators);
    module.def("_attention_forward", &forward, py::arg("tensors"), py::arg("options"), py::arg("workspace"),
               py::arg("target") = py::none());
    module.def("_attention_backward", &backward, py::arg("tensors"), py::arg("options"), py::arg("workspace"),
               py::arg("target") = py::none());
    module.def(
        "plan_counts",
        [] {
            sdpa_graph::Plan_counts const counts = sdpa_graph::plan_counts();
            return py::dict(py::arg("built") = counts.built, py::arg("found") = counts.found,
                            py::arg("loaded") = counts.loaded);
        },
        "How many plans the functions over tensors of this process built, and how often they found one that was "
        "there.");
}

}  // namespace binding
