// Attention as functions on tensors of torch and arrays of NumPy.
#include "attention_calls.h"
#include "bindings.h"
#include "torch_operators.h"

#include <sdpa_graph/plan_store.h>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>

namespace binding {
namespace {

namespace fs = std::filesystem;
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

py::dict fill(fs::path const& wanted, std::string const& device) {
    sdpa_graph::Filled_plans filled;
    check([&] {
        py::gil_scoped_release const others_may_run;
        return sdpa_graph::fill_plan_store(wanted.string(), device, filled);
    }());
    return py::dict(py::arg("compiled") = filled.compiled, py::arg("loaded") = filled.loaded,
                    py::arg("refused") = filled.refused);
}

}  // namespace

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

void bind_attention_calls(py::module_& module) {
    py::class_<functions::Options>(module, "_Attention_options",
                                   "The arguments of attention as a function that are no tensors.")
        .def(py::init(&options_of), py::arg("scale"), py::arg("left_bound"), py::arg("right_bound"),
             py::arg("is_bottom_right"), py::arg("has_alibi"), py::arg("softcap"), py::arg("dropout_p"),
             py::arg("is_deterministic"), py::arg("longest_q"), py::arg("longest_kv"));
    module.def(
        "set_plan_store",
        [](fs::path const& folder, bool is_frozen, fs::path const& wanted) {
            sdpa_graph::set_plan_store({folder.string(), is_frozen, wanted.string()});
        },
        py::arg("folder"), py::arg("frozen") = false, py::arg("wanted") = "",
        "Plans for GPUs are read from files of the folder, and written there unless it is frozen; none are if it is "
        "empty. The folder `wanted` gets each graph for which an engine of cuDNN was compiled.");
    module.def(
        "fill_plan_store", &fill, py::arg("wanted"), py::arg("device"),
        "Fills the process's store with plans of the graphs in a folder that set_plan_store(wanted=...) named, for "
        "a GPU by its name, such as \"h100\", which need not be here. Returns the numbers of engines that were "
        "compiled and loaded, and why graphs were refused. The process must not use a GPU otherwise.");
    module.def(
        "merge_plan_stores",
        [](fs::path const& from, fs::path const& into) {
            std::int64_t copied = 0;
            check(sdpa_graph::merge_plan_stores(from.string(), into.string(), copied));
            return copied;
        },
        py::arg("source"), py::arg("into"), "Copies the whole files that the other store lacks; returns how many.");
    module.def(
        "prune_plan_store",
        [](fs::path const& folder, std::uint64_t most_bytes) {
            std::int64_t removed = 0;
            check(sdpa_graph::prune_plan_store(folder.string(), most_bytes, removed));
            return removed;
        },
        py::arg("folder"), py::arg("most_bytes"),
        "Removes the files that were used least recently, until the others have at most so many bytes; returns how "
        "many.");
    module.def(
        "freeze_plan_store",
        [](fs::path const& folder, bool is_frozen) {
            check(sdpa_graph::freeze_plan_store(folder.string(), is_frozen));
        },
        py::arg("folder"), py::arg("frozen") = true,
        "Nothing is written to the store, and nothing removed, by any process until frozen=False.");
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
