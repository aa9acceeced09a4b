#include "operator_calls.h"

#include "attention_calls.h"
#include "bindings.h"

#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace binding {
namespace {

namespace flash = sdpa_graph::flash;
namespace functions = sdpa_graph::attention;
using sdpa_graph::Tensor_view;
using torch_c::Memory_of_call;
using torch_c::Tensor;

void expect_good(fe::error_t const& error) {
    if (error.is_bad()) throw std::runtime_error(error.get_message());
}

// Forward is fastest if the log-sum-exps of a row's heads are adjacent.
Tensor_view log_sums_like(Tensor_view const& q) {
    Tensor_view view = q;
    view.type = fe::DataType_t::FLOAT;
    view.dim.pop_back();
    view.stride = sdpa_graph::row_major(view.dim);
    std::swap(view.dim.end()[-1], view.dim.end()[-2]);
    std::swap(view.stride.end()[-1], view.stride.end()[-2]);
    return view;
}

class Flash_call : public Operator_call {
   public:
    Flash_call(Flash_numbers const& numbers, Tensors const& others) : numbers_(numbers), others_(others) {}

    Results run(Inputs const& inputs, bool) const override {
        if (inputs.q.dim.size() < 3) throw std::runtime_error("q has no heads");
        Memory_of_call memory(inputs.q);
        flash::Forward_results results;
        results.softmax_lse = memory.add("softmax_lse", log_sums_like(inputs.q));
        auto const& [q, k, v] = inputs;
        expect_good(flash_forward({q, k, v}, others_, numbers_, memory.place(), results));
        return {memory.take("out"), memory.take("softmax_lse"), memory.take("p")};
    }
    Gradients differentiate(Inputs const& inputs, Results const& made, Tensor grad_o) const override {
        Memory_of_call memory(inputs.q);
        flash::Backward_results results;
        auto const& [q, k, v] = inputs;
        Flash_outputs const outputs{made.o.view(), made.stats.view(), grad_o.view()};
        expect_good(flash_backward({q, k, v}, outputs, others_, numbers_, memory.place(), results));
        return {memory.take("dq"), memory.take("dk"), memory.take("dv")};
    }

   private:
    Flash_numbers numbers_;
    Tensors const& others_;
};

// The objects that are alive. Kernels run without Python's lock.
struct Known_calls {
    std::mutex lock;
    std::unordered_map<std::int64_t, Carried_call const*> by_number;
    std::int64_t last = 0x5d9a'27c1'0000'0000;  // no number that programs would write
};

// Lives as long as the process: tensors may end after the module.
Known_calls& known_calls() {
    static auto* const calls = new Known_calls();
    return *calls;
}

std::int64_t add(Carried_call const* call) {
    Known_calls& known = known_calls();
    std::scoped_lock const lock(known.lock);
    known.by_number.emplace(++known.last, call);
    return known.last;
}

// How often each tensor has been changed in place; 0 for those of inference, which do not count.
std::vector<std::int64_t> versions_of(py::dict const& tensors) {
    std::vector<std::int64_t> versions;
    for (auto const& [name, tensor] : tensors) {
        bool const counts = !tensor.attr("is_inference")().cast<bool>();
        versions.push_back(counts ? tensor.attr("_version").cast<std::int64_t>() : 0);
    }
    return versions;
}

}  // namespace

Attention_call::Attention_call(functions::Options options, functions::Inputs others)
    : options_(options), others_(std::move(others)) {}

functions::Inputs Attention_call::all(Inputs const& inputs) const {
    functions::Inputs all = others_;
    all.q = inputs.q;
    all.k = inputs.k;
    all.v = inputs.v;
    return all;
}

Operator_call::Results Attention_call::run(Inputs const& inputs, bool needs_stats) const {
    Memory_of_call memory(inputs.q);
    functions::Forward_results results;
    expect_good(functions::forward(all(inputs), options_, needs_stats, memory.place(), results));
    return {memory.take("o"), memory.take("stats"), Tensor::undefined()};
}

Operator_call::Gradients Attention_call::differentiate(Inputs const& inputs, Results const& made, Tensor grad_o) const {
    Memory_of_call memory(inputs.q);
    functions::Backward_results results;
    Tensor_view const o = made.o.view();
    // Which probabilities are dropped depends on the form of the call, which the gradient's strides must not change.
    if (options_.dropout_p > 0.0f) grad_o = std::move(grad_o).with_strides(o.stride);
    expect_good(
        functions::backward(grad_o.view(), all(inputs), o, made.stats.view(), options_, memory.place(), results));
    return {memory.take("dq"), memory.take("dk"), memory.take("dv")};
}

Carried_call::Carried_call(functions::Options const& options, py::dict tensors)
    : owners_(std::move(tensors)),
      versions_(versions_of(owners_)),
      tensors_(owners_),
      call_(std::make_unique<Attention_call>(options, inputs_of(tensors_))),
      number_(add(this)) {}

Carried_call::Carried_call(Flash_numbers const& numbers, py::dict tensors)
    : owners_(std::move(tensors)),
      versions_(versions_of(owners_)),
      tensors_(owners_),
      call_(std::make_unique<Flash_call>(numbers, tensors_)),
      number_(add(this)) {}

Carried_call::~Carried_call() {
    std::scoped_lock const lock(known_calls().lock);
    known_calls().by_number.erase(number_);
}

void Carried_call::expect_unchanged() const {
    if (versions_.empty()) return;
    py::gil_scoped_acquire const lock;
    if (versions_of(owners_) == versions_) return;
    throw std::runtime_error(
        "a tensor that the forward call read was changed in place before backward, which needs it as it was: change a "
        "copy of the mask, the lengths or the ends");
}

Carried_call const* Carried_call::find(std::int64_t number) {
    std::scoped_lock const lock(known_calls().lock);
    auto const found = known_calls().by_number.find(number);
    return found == known_calls().by_number.end() ? nullptr : found->second;
}

void bind_operator_calls(py::module_& module) {
    py::class_<Carried_call>(module, "_Carried_call", py::buffer_protocol(),
                             "The arguments of a call that torch's operator does not have, as memory of the number by "
                             "which the operator's kernel finds them.")
        .def(py::init<Flash_numbers const&, py::dict>(), py::arg("arguments"), py::arg("tensors"))
        .def(py::init<functions::Options const&, py::dict>(), py::arg("arguments"), py::arg("tensors"))
        .def_buffer([](Carried_call& call) { return py::buffer_info(call.number(), 1); });
}

}  // namespace binding
