// Calls on tensors; graphs that use a tensor notice the change.
#include "fuzz/calls/machine.h"

#include <utility>

namespace fuzz {
namespace {

using cudnn_frontend::DataType_t;
using cudnn_frontend::TensorReordering_t;

constexpr std::uint64_t kTypes = 23;  // some are not enumerators

// Runs the change on the tensor of the first number, unless that is null.
template <class Change>
void on_tensor(Machine& machine, Numbers const& n, Change change) {
    if (Tensor_ptr const& tensor = n.in(machine.tensors, 0)) change(*tensor);
}

// The list with one number replaced, extended if it is too short.
std::vector<std::int64_t> replaced(std::vector<std::int64_t> list, std::int64_t place, std::int64_t value) {
    std::size_t const at = static_cast<std::uint64_t>(place) % 6;
    if (at >= list.size()) list.resize(at + 1, 1);
    list[at] = value;
    return list;
}

void make(Machine& m, Numbers const& n) { n.in(m.tensors, 0) = std::make_shared<Tensor_attributes>(); }
void drop(Machine& m, Numbers const& n) { n.in(m.tensors, 0) = nullptr; }
void share(Machine& m, Numbers const& n) { n.in(m.tensors, 0) = n.in(m.tensors, 1); }

void set_size(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.set_dim(replaced(t.get_dim(), n[1], n[2])); });
}
void set_stride(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.set_stride(replaced(t.get_stride(), n[1], n[2])); });
}
void set_layout(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.set_dim({n[1], n[2], n[3], 1}).set_stride({n[3], n[2], 1, 1}); });
}
void clear_layout(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.set_dim({}).set_stride(std::vector<std::int64_t>()); });
}
void set_uid(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.set_uid(n[1]); });
}
void clear_uid(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.clear_uid(); });
}
void set_type(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.set_data_type(n.as<DataType_t>(1, kTypes)); });
}
void set_flags(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) {
        if (n.flag(1)) t.set_output(n.flag(2));
        else if (n.flag(3)) t.set_is_virtual(n.flag(2));
        else t.set_is_pass_by_value(n.flag(2));
    });
}
void set_offset(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.set_ragged_offset(n.in(m.tensors, 1)); });
}
void set_multiplier(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.set_ragged_offset_multiplier(n[1]); });
}
void set_alignment(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.set_alignment(n[1]); });
}
void set_vector(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) {
        t.set_vector_count_and_dimension(n[1], n[2]).set_reordering_type(n.as<TensorReordering_t>(3, 5));
    });
}
void set_name(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) { t.set_name(std::string(static_cast<std::size_t>(n[2] & 0xff), 'x')); });
}
void embed(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) {
        if (n.flag(1)) t.set_compile_time_constant(static_cast<float>(n[2]));
        else t = Tensor_attributes(n[2]);
    });
}
void copy(Machine& m, Numbers const& n) {
    Tensor_ptr const from = n.in(m.tensors, 1);
    if (from) on_tensor(m, n, [&](Tensor_attributes& t) { t = *from; });
}
void move(Machine& m, Numbers const& n) {
    Tensor_ptr const from = n.in(m.tensors, 1);
    if (from) on_tensor(m, n, [&](Tensor_attributes& t) { t = std::move(*from); });
}

void ask(Machine& m, Numbers const& n) {
    on_tensor(m, n, [&](Tensor_attributes& t) {
        m.note(t.validate());
        m.expect(t.get_volume() >= -1, "a volume is a number of elements, or -1");
        m.expect(t.get_name().size() <= 0xff, "a name is what was set");
        m.expect(t.get_dim().size() <= 6 && t.get_stride().size() <= 6, "a tensor has the dims that were set");
    });
}

constexpr Call kCalls[] = {
    {"tensor.make", make},
    {"tensor.drop", drop},
    {"tensor.share", share},
    {"tensor.set_size", set_size},
    {"tensor.set_stride", set_stride},
    {"tensor.set_layout", set_layout},
    {"tensor.clear_layout", clear_layout},
    {"tensor.set_uid", set_uid},
    {"tensor.clear_uid", clear_uid},
    {"tensor.set_type", set_type},
    {"tensor.set_flags", set_flags},
    {"tensor.set_offset", set_offset},
    {"tensor.set_multiplier", set_multiplier},
    {"tensor.set_alignment", set_alignment},
    {"tensor.set_vector", set_vector},
    {"tensor.set_name", set_name},
    {"tensor.embed", embed},
    {"tensor.copy", copy},
    {"tensor.move", move},
    {"tensor.ask", ask},
};

}  // namespace

std::span<Call const> tensor_calls() { return kCalls; }

}  // namespace fuzz
