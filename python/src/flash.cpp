// The flash-attention functions on tensors of torch.
#include "bindings.h"
#include "enums.h"
#include "errors.h"

#include <sdpa_graph/flash.h>

#include <pybind11/stl.h>

#include <exception>
#include <map>
#include <string>

namespace binding {
namespace {

namespace flash = sdpa_graph::flash;
using sdpa_graph::Device_kind;
using sdpa_graph::Tensor_view;

// By address, shape and strides, so that tensors that require gradients serve as well. None: a view without data.
Tensor_view view_of_torch(py::handle tensor) {
    Tensor_view view;
    if (tensor.is_none()) return view;
    view.data = reinterpret_cast<void*>(tensor.attr("data_ptr")().cast<std::uintptr_t>());
    view.dim = py::tuple(tensor.attr("shape")).cast<std::vector<std::int64_t>>();
    view.stride = tensor.attr("stride")().cast<std::vector<std::int64_t>>();
    view.type = data_type_of(tensor.attr("dtype"));
    py::object const device = tensor.attr("device");
    auto const kind = device.attr("type").cast<std::string>();
    view.device = kind == "cpu" ? Device_kind::CPU : kind == "cuda" ? Device_kind::CUDA : Device_kind::UNKNOWN;
    if (view.device == Device_kind::CUDA) view.device_index = device.attr("index").cast<std::int32_t>();
    return view;
}

// The tensors of a call by the names of the arguments and results.
class Tensors {
   public:
    explicit Tensors(py::dict const& tensors) {
        for (auto const& [name, tensor] : tensors)
            views_.emplace(name.cast<std::string>(), view_of_torch(py::reinterpret_borrow<py::object>(tensor)));
    }

    bool has(char const* name) const { return views_.count(name) > 0 && views_.at(name).data != nullptr; }
    Tensor_view at(char const* name) const { return views_.count(name) > 0 ? views_.at(name) : Tensor_view(); }
    flash::Optional_tensor maybe(char const* name) const {
        return has(name) ? flash::Optional_tensor(at(name)) : std::nullopt;
    }

   private:
    std::map<std::string, Tensor_view> views_;
};

// A workspace is asked for from Python: a callable from a number of bytes to a tensor, which it keeps.
struct Workspaces {
    py::function make;
    std::exception_ptr failure;

    flash::Place place(std::uintptr_t stream) {
        flash::Place place;
        place.stream = reinterpret_cast<CUstream_st*>(stream);
        place.allocator.context = this;
        place.allocator.allocate = [](void* context, char const*, Tensor_view const& wanted) -> void* {
            auto& workspaces = *static_cast<Workspaces*>(context);
            py::gil_scoped_acquire const lock;
            try {
                return view_of_torch(workspaces.make(wanted.dim)).data;
            } catch (...) {
                workspaces.failure = std::current_exception();
                return nullptr;
            }
        };
        return place;
    }
    void check_call(fe::error_t const& error) const {
        if (failure != nullptr) std::rethrow_exception(failure);
        check(error);
    }
};

// What is not a tensor, for packed tensors and for padded ones.
struct Numbers {
    int max_seqlen_q, max_seqlen_k;
    float p_dropout, softmax_scale;
    bool is_causal;
    int window_left, window_right;
    float softcap;
    bool is_deterministic, returns_softmax;
};

fe::error_t run_forward(Tensors const& t, Numbers const& n, flash::Place const& place,
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

fe::error_t run_backward(Tensors const& t, Numbers const& n, flash::Place const& place,
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

void forward(py::dict const& tensors, Numbers const& numbers, std::uintptr_t stream, py::function const& workspace) {
    Tensors const t(tensors);
    flash::Forward_results results;
    results.out = t.at("out");
    results.softmax_lse = t.at("softmax_lse");
    results.p = t.at("p");
    Workspaces workspaces{workspace, nullptr};
    fe::error_t error;
    {
        py::gil_scoped_release const unlocked;
        error = run_forward(t, numbers, workspaces.place(stream), results);
    }
    workspaces.check_call(error);
}

void backward(py::dict const& tensors, Numbers const& numbers, std::uintptr_t stream, py::function const& workspace) {
    Tensors const t(tensors);
    flash::Backward_results results;
    results.dq = t.at("dq");
    results.dk = t.at("dk");
    results.dv = t.at("dv");
    results.softmax_d = t.at("softmax_d");
    Workspaces workspaces{workspace, nullptr};
    fe::error_t error;
    {
        py::gil_scoped_release const unlocked;
        error = run_backward(t, numbers, workspaces.place(stream), results);
    }
    workspaces.check_call(error);
}

}  // namespace

void bind_flash(py::module_& module) {
    py::class_<Numbers>(module, "_Flash_numbers", "The arguments of a flash-attention function that are no tensors.")
        .def(py::init<int, int, float, float, bool, int, int, float, bool, bool>(), py::kw_only(),
             py::arg("max_seqlen_q"), py::arg("max_seqlen_k"), py::arg("p_dropout"), py::arg("softmax_scale"),
             py::arg("is_causal"), py::arg("window_left"), py::arg("window_right"), py::arg("softcap"),
             py::arg("is_deterministic"), py::arg("returns_softmax"));
    module.def("_flash_forward", &forward, py::arg("tensors"), py::arg("numbers"), py::arg("stream"),
               py::arg("workspace"));
    module.def("_flash_backward", &backward, py::arg("tensors"), py::arg("numbers"), py::arg("stream"),
               py::arg("workspace"));
}

}  // namespace binding
