// The flash-attention functions on tensors of torch.
#include "bindings.h"
#include "torch_calls.h"

#include <sdpa_graph/flash.h>

namespace binding {
namespace {

namespace flash = sdpa_graph::flash;

// The arguments that are not tensors, for packed tensors and for padded ones.
struct Numbers {
    int max_seqlen_q, max_seqlen_k;
    float p_dropout, softmax_scale;
    bool is_causal;
    int window_left, window_right;
    float softcap;
    bool is_deterministic, returns_softmax;
};

fe::error_t run_forward(Tensors const& t, Numbers const& n, sdpa_graph::Place const& place,
                        flash::Forward_results& results) {
    if (!t.has("cu_seqlens_q")) {
        return flash::mha_fwd(t.at("q"), t.at("k"), t.at("v"), {}, t.maybe("alibi_slopes"), n.p_dropout,
                              n.softmax_scale, n.is_causal, n.window_left, n.window_right, n.softcap, n.returns_softmax,
                              t.maybe("rng_state"), place, results);
    }
    return flash::mha_varlen_fwd(t.at("q"), t.at("k"), t.at("v"), {}, t.at("cu_seqlens_q"), t.at("cu_seqlens_k"),
                                 t.maybe("seqused_k"), t.maybe("block_table"), t.maybe("alibi_slopes"), n.max_seqlen_q,
                                 n.max_seqlen_k, n.p_dropout, n.softmax_scale, false, n.is_causal, n.window_left,
                                 n.window_right, n.softcap, n.returns_softmax, t.maybe("rng_state"), place, results);
}

fe::error_t run_backward(Tensors const& t, Numbers const& n, sdpa_graph::Place const& place,
                         flash::Backward_results& results) {
    if (!t.has("cu_seqlens_q")) {
        return flash::mha_bwd(t.at("dout"), t.at("q"), t.at("k"), t.at("v"), t.at("out"), t.at("softmax_lse"), {}, {},
                              {}, t.maybe("alibi_slopes"), n.p_dropout, n.softmax_scale, n.is_causal, n.window_left,
                              n.window_right, n.softcap, n.is_deterministic, t.at("rng_state"), {}, place, results);
    }
    return flash::mha_varlen_bwd(t.at("dout"), t.at("q"), t.at("k"), t.at("v"), t.at("out"), t.at("softmax_lse"), {},
                                 {}, {}, t.at("cu_seqlens_q"), t.at("cu_seqlens_k"), t.maybe("alibi_slopes"),
                                 n.max_seqlen_q, n.max_seqlen_k, n.p_dropout, n.softmax_scale, false, n.is_causal,
                                 n.window_left, n.window_right, n.softcap, n.is_deterministic, t.at("rng_state"), {},
                                 place, results);
}

void forward(py::dict const& tensors, Numbers const& numbers, py::function const& workspace) {
    run_call(tensors, workspace, [&](Tensors const& t, sdpa_graph::Place place) {
        place.is_deterministic = numbers.is_deterministic;
        flash::Forward_results results{t.at("out"), t.at("softmax_lse"), {}, t.at("p")};
        return run_forward(t, numbers, place, results);
    });
}

void backward(py::dict const& tensors, Numbers const& numbers, py::function const& workspace) {
    run_call(tensors, workspace, [&](Tensors const& t, sdpa_graph::Place place) {
        place.is_deterministic = numbers.is_deterministic;
        flash::Backward_results results{t.at("dq"), t.at("dk"), t.at("dv"), t.at("softmax_d")};
        return run_backward(t, numbers, place, results);
    });
}

}  // namespace

void bind_flash(py::module_& module) {
    py::class_<Numbers>(module, "_Flash_numbers", "The arguments of a flash-attention function that are no tensors.")
        .def(py::init<int, int, float, float, bool, int, int, float, bool, bool>(), py::arg("max_seqlen_q"),
             py::arg("max_seqlen_k"), py::arg("p_dropout"), py::arg("softmax_scale"), py::arg("is_causal"),
             py::arg("window_left"), py::arg("window_right"), py::arg("softcap"), py::arg("is_deterministic"),
             py::arg("returns_softmax"))
        .def_readonly("max_seqlen_q", &Numbers::max_seqlen_q)
        .def_readonly("max_seqlen_k", &Numbers::max_seqlen_k)
        .def_readonly("p_dropout", &Numbers::p_dropout)
        .def_readonly("returns_softmax", &Numbers::returns_softmax);
    module.def("_flash_forward", &forward, py::arg("tensors"), py::arg("numbers"), py::arg("workspace"));
    module.def("_flash_backward", &backward, py::arg("tensors"), py::arg("numbers"), py::arg("workspace"));
}

}  // namespace binding
