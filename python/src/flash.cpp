// The flash-attention functions on tensors of torch.
#include "bindings.h"
#include "flash_calls.h"

namespace binding {
namespace {

namespace flash = sdpa_graph::flash;

void forward(py::dict const& tensors, Flash_numbers const& numbers, py::function const& workspace) {
    run_call(tensors, workspace, [&](Tensors const& t, sdpa_graph::Place const& place) {
        flash::Forward_results results{t.at("out"), t.at("softmax_lse"), {}, t.at("p")};
        return flash_forward({t.at("q"), t.at("k"), t.at("v")}, t, numbers, place, results);
    });
}

void backward(py::dict const& tensors, Flash_numbers const& numbers, py::function const& workspace) {
    run_call(tensors, workspace, [&](Tensors const& t, sdpa_graph::Place const& place) {
        flash::Backward_results results{t.at("dq"), t.at("dk"), t.at("dv"), t.at("softmax_d")};
        Flash_outputs const outputs{t.at("out"), t.at("softmax_lse"), t.at("dout")};
        return flash_backward({t.at("q"), t.at("k"), t.at("v")}, outputs, t, numbers, place, results);
    });
}

}  // namespace

void bind_flash(py::module_& module) {
    py::class_<Flash_numbers>(module, "_Flash_numbers",
                              "The arguments of a flash-attention function that are no tensors.")
        .def(py::init<int, int, float, float, bool, int, int, float, bool, bool>(), py::arg("max_seqlen_q"),
             py::arg("max_seqlen_k"), py::arg("p_dropout"), py::arg("softmax_scale"), py::arg("is_causal"),
             py::arg("window_left"), py::arg("window_right"), py::arg("softcap"), py::arg("is_deterministic"),
             py::arg("returns_softmax"));
    module.def("_flash_forward", &forward, py::arg("tensors"), py::arg("numbers"), py::arg("workspace"));
    module.def("_flash_backward", &backward, py::arg("tensors"), py::arg("numbers"), py::arg("workspace"));
}

}  // namespace binding
