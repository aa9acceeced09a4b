#include "calls/argument_checks.h"

#include "calls/view_properties.h"

namespace sdpa_graph::calls {

void expect_memory(Reporter const& reporter, std::span<Named const> tensors) {
    for (auto const& [name, view] : tensors) {
        if (view->data != nullptr || is_empty(*view)) continue;
        reporter.report(name, "no memory", "the address of the first element", "pass a tensor that has data");
    }
}

void expect_one_device(Reporter const& reporter, std::span<Named const> tensors) {
    for (auto const& [name, view] : tensors) {
        Tensor_view const& first = *tensors.front().view;
        bool const is_same = view->device == first.device && view->device_index == first.device_index;
        if (is_same && view->device != Device_kind::UNKNOWN) continue;
        std::string const wanted = first.device == Device_kind::UNKNOWN
                                       ? std::string("a CPU or a GPU")
                                       : text(device_text(first), ", as of ", tensors.front().name);
        reporter.report(name, device_text(*view), wanted, "copy the tensor to the device of the others");
    }
}

void expect_target_there(Reporter const& reporter, Place const& place, Tensor_view const& tensor) {
    using Kind = fe::Target::Kind;
    if (!place.target || tensor.device == Device_kind::UNKNOWN) return;
    Kind const kind = place.target->kind();
    bool const is_on_cpu = fe::runs_on_host(kind);
    if (tensor.device == Device_kind::CPU ? is_on_cpu : kind == Kind::CUDA) return;
    reporter.report({}, text("the target ", to_string(kind), " for tensors of ", device_text(tensor)),
                    "a target that runs there", "leave the target out: the tensors say where they are");
}

void expect_type(Reporter const& reporter, std::span<Named const> tensors, fe::DataType_t type, std::string_view why) {
    for (auto const& [name, view] : tensors) {
        if (view->type == type) continue;
        reporter.report(name, text("the type ", view->type), text(type, why), "convert the tensor");
    }
}

void expect_contiguous(Reporter const& reporter, std::span<Named const> tensors) {
    for (auto const& [name, view] : tensors) {
        if (!is_sound(*view) || is_contiguous(*view)) continue;
        reporter.report(name, text("strides ", view->stride, " of dims ", view->dim), "row-major strides without gaps",
                        "make the tensor contiguous");
    }
}

void expect_writable(Reporter const& reporter, std::span<Named const> results, char const* fix) {
    for (auto const& [name, view] : results) {
        if (view->is_read_only) reporter.report(name, "memory that is read-only", "memory that may be written", fix);
    }
}

}  // namespace sdpa_graph::calls
