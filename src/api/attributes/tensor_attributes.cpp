#include <cudnn_frontend/report.h>
#include <cudnn_frontend/tensor.h>

#include "api/attributes/tensor_access.h"
#include "core/data_type.h"
#include "core/dims.h"
#include "core/immortal.h"
#include "nodes/schema/rule.h"
#include "nodes/validation/validate.h"

#include <initializer_list>
#include <new>
#include <utility>

namespace cudnn_frontend {
namespace graph {

Tensor_attributes::Tensor_attributes() noexcept = default;
// NOLINTNEXTLINE(bugprone-copy-constructor-init): copied in the body, since memory may run out
Tensor_attributes::Tensor_attributes(Tensor_attributes const& other) noexcept { *this = other; }
Tensor_attributes::Tensor_attributes(Tensor_attributes&&) noexcept = default;
Tensor_attributes& Tensor_attributes::operator=(Tensor_attributes const& other) noexcept {
    detail::Tensor_access::assign<detail::Tensor_fields>(*this, *this, other);
    return set_ragged_offset(std::exchange(ragged_offset_, nullptr));
}
Tensor_attributes& Tensor_attributes::operator=(Tensor_attributes&& other) noexcept {
    Tensor_fields::operator=(std::move(other));
    return set_ragged_offset(std::exchange(ragged_offset_, nullptr));
}
// A chain of offsets is destroyed iteratively: recursion along a long one would overflow the stack.
Tensor_attributes::~Tensor_attributes() {
    auto rest = std::move(ragged_offset_);
    while (rest && rest.use_count() == 1) rest = std::exchange(rest->ragged_offset_, nullptr);
}

Tensor_attributes::Tensor_attributes(float const& value, ScalarType kind) noexcept
    : Tensor_attributes(detail::make_scalar(value), kind) {}
Tensor_attributes::Tensor_attributes(double const& value, ScalarType kind) noexcept
    : Tensor_attributes(detail::make_scalar(value), kind) {}
Tensor_attributes::Tensor_attributes(std::int32_t const& value, ScalarType kind) noexcept
    : Tensor_attributes(detail::make_scalar(value), kind) {}
Tensor_attributes::Tensor_attributes(std::int64_t const& value, ScalarType kind) noexcept
    : Tensor_attributes(detail::make_scalar(value), kind) {}
Tensor_attributes::Tensor_attributes(detail::Scalar const& value, ScalarType kind) noexcept { embed(value, kind); }

Tensor_attributes& Tensor_attributes::embed(detail::Scalar const& value, ScalarType kind) noexcept {
    scalar_ = value;
    is_constant_ = kind == ScalarType::COMPILE_TIME_CONST;
    is_by_value_ = !is_constant_;
    // The setters accept vectors, which cannot be made here: nothing may throw.
    std::initializer_list<std::int64_t> const one = {1};
    detail::Tensor_access::assign(*this, dim_, one);
    detail::Tensor_access::assign(*this, stride_, one);
    inferred_dim_ = inferred_stride_ = false;
    return set_data_type(value.type);
}

Tensor_attributes& Tensor_attributes::set_name(std::string const& name) noexcept {
    detail::Tensor_access::assign(*this, name_, name);
    return *this;
}
Tensor_attributes& Tensor_attributes::set_data_type(DataType_t const type) noexcept {
    data_type_ = type;
    inferred_type_ = false;
    return *this;
}
Tensor_attributes& Tensor_attributes::set_dim(std::vector<std::int64_t> const& dim) noexcept {
    detail::Tensor_access::assign(*this, dim_, dim);
    inferred_dim_ = false;
    return *this;
}
Tensor_attributes& Tensor_attributes::set_stride(std::vector<std::int64_t> const& stride) noexcept {
    detail::Tensor_access::assign(*this, stride_, stride);
    inferred_stride_ = false;
    return *this;
}
Tensor_attributes& Tensor_attributes::set_is_virtual(bool const is_virtual) noexcept {
    is_virtual_ = is_virtual;
    return *this;
}
Tensor_attributes& Tensor_attributes::set_output(bool const is_output) noexcept { return set_is_virtual(!is_output); }
Tensor_attributes& Tensor_attributes::set_is_pass_by_value(bool const by_value) noexcept {
    is_by_value_ = by_value;
    return *this;
}
Tensor_attributes& Tensor_attributes::set_as_runtime_parameter() noexcept {
    if (scalar_.type != DataType_t::NOT_SET) is_by_value_ = true;
    is_constant_ = false;
    return *this;
}
Tensor_attributes& Tensor_attributes::set_reordering_type(TensorReordering_t const reordering) noexcept {
    reordering_ = reordering;
    return *this;
}
Tensor_attributes& Tensor_attributes::set_alignment(std::int64_t const bytes) noexcept {
    alignment_ = bytes;
    return *this;
}
Tensor_attributes& Tensor_attributes::set_vector_count_and_dimension(std::int64_t const count,
                                                                     std::int64_t const dimension) noexcept {
    vector_count_ = count;
    vector_dimension_ = dimension;
    return *this;
}
Tensor_attributes& Tensor_attributes::set_uid(uid_t uid) noexcept {
    uid_ = uid;
    has_uid_ = true;
    has_automatic_uid_ = false;
    return *this;
}
Tensor_attributes& Tensor_attributes::clear_uid() noexcept {
    uid_ = 0;
    has_uid_ = has_automatic_uid_ = false;
    return *this;
}
Tensor_attributes& Tensor_attributes::set_ragged_offset(std::shared_ptr<Tensor_attributes> const& offset) noexcept {
    bool const may_close_ring = offset && (offset.get() == this || offset->ragged_offset_);
    if (!may_close_ring) {
        ragged_offset_ = offset;
        return *this;
    }
    detail::Tensor_access::guarded(*this, [&] { ragged_offset_ = detail::Tensor_access::chained_copy(*offset); });
    return *this;
}
Tensor_attributes& Tensor_attributes::set_ragged_offset_multiplier(std::int64_t const elements) noexcept {
    ragged_offset_multiplier_ = elements;
    return *this;
}

std::string Tensor_attributes::get_name() const { return name_; }
DataType_t Tensor_attributes::get_data_type() const { return data_type_; }
std::vector<std::int64_t> Tensor_attributes::get_dim() const { return dim_; }
std::vector<std::int64_t> Tensor_attributes::get_stride() const { return stride_; }
std::int64_t Tensor_attributes::get_volume() const { return dim_.empty() ? 0 : core::volume(dim_).value_or(-1); }
bool Tensor_attributes::get_is_virtual() const { return is_virtual_; }
bool Tensor_attributes::get_is_pass_by_value() const { return is_by_value_; }
bool Tensor_attributes::get_has_compile_time_constant() const { return is_constant_; }
TensorReordering_t Tensor_attributes::get_reordering_type() const { return reordering_; }
std::int64_t Tensor_attributes::get_alignment() const { return alignment_; }
std::int64_t Tensor_attributes::get_vector_count() const { return vector_count_; }
std::int64_t Tensor_attributes::get_vector_dimension() const { return vector_dimension_; }
Tensor_attributes::uid_t Tensor_attributes::get_uid() const { return uid_; }
Tensor_attributes::uid_t Tensor_attributes::has_uid() const { return has_uid_ ? 1 : 0; }
std::shared_ptr<Tensor_attributes> Tensor_attributes::get_ragged_offset() const { return ragged_offset_; }
std::int64_t Tensor_attributes::get_ragged_offset_multiplier() const { return ragged_offset_multiplier_; }

// A tensor is checked by itself with the rules that a graph has for its tensors.
error_t Tensor_attributes::validate() const {
    nodes::GraphSpec spec;
    detail::Tensor_access::describe(*this, spec.tensors.emplace_back());
    // The type may still come from the graph.
    if (spec.tensors[0].data_type == DataType_t::NOT_SET) spec.tensors[0].data_type = DataType_t::FLOAT;
    nodes::Uses const uses = nodes::uses_of_tensors(spec);
    core::Findings findings;
    for (nodes::Rule const& rule : nodes::graph_rules()) {
        rule.check(nodes::RuleScope(spec, uses, nullptr, rule, findings));
    }
    return findings.to_error();
}

}  // namespace graph

namespace detail {

std::shared_ptr<graph::Tensor_attributes> Tensor_access::chained_copy(graph::Tensor_attributes const& offset) {
    auto const copy_without_offset = [&] {
        auto copy = std::make_shared<graph::Tensor_attributes>();
        copy->set_name(offset.name_).set_data_type(offset.data_type_);
        copy->set_dim(offset.dim_).set_stride(offset.stride_);
        return copy;
    };
    auto copy = copy_without_offset();
    copy->ragged_offset_ = copy_without_offset();
    return copy;
}

static core::Dims const& no_dims() {
    static core::Immortal<core::Dims> const none;
    return *none;
}

core::Dims const& Tensor_access::described_dim(graph::Tensor_attributes const& tensor) {
    return tensor.inferred_dim_ ? no_dims() : tensor.dim_;
}

std::string const& Tensor_access::described_name(graph::Tensor_attributes const& tensor) { return tensor.name_; }

void Tensor_access::describe(graph::Tensor_attributes const& tensor, nodes::TensorSpec& spec) {
    if (tensor.is_incomplete_) throw std::bad_alloc();
    auto const if_so = [](bool is_so, auto const& value) { return is_so ? std::optional(value) : std::nullopt; };
    spec.name = tensor.name_;
    spec.uid = if_so(tensor.has_uid_ && !tensor.has_automatic_uid_, tensor.uid_);
    spec.automatic_uid = if_so(tensor.has_automatic_uid_, tensor.uid_);
    spec.data_type = tensor.inferred_type_ ? DataType_t::NOT_SET : tensor.data_type_;
    spec.dim = described_dim(tensor);
    spec.stride = tensor.inferred_stride_ ? no_dims() : tensor.stride_;
    spec.is_virtual = tensor.is_virtual_;
    spec.is_by_value = tensor.is_by_value_;
    spec.value = if_so(tensor.scalar_.type != DataType_t::NOT_SET, tensor.scalar_);
    spec.is_constant = tensor.is_constant_;
    spec.alignment = tensor.alignment_;
    spec.ragged_offset_multiplier = tensor.ragged_offset_multiplier_;
    spec.reordering = tensor.reordering_;
    spec.vector_count = tensor.vector_count_;
    spec.vector_dimension = tensor.vector_dimension_;
}

void Tensor_access::fill_inferred(graph::Tensor_attributes& tensor, nodes::TensorSpec const& spec) {
    // Values that are already there are not written again: another thread may execute a graph with the same tensors.
    auto const fill = [](auto& member, auto const& value, bool is_set, Inferred_mark& inferred) {
        if ((is_set && !inferred) || (inferred && member == value)) return;
        member = value;
        inferred = true;
    };
    fill(tensor.data_type_, spec.data_type, tensor.data_type_ != DataType_t::NOT_SET, tensor.inferred_type_);
    fill(tensor.dim_, spec.dim, !tensor.dim_.empty(), tensor.inferred_dim_);
    fill(tensor.stride_, spec.stride, !tensor.stride_.empty(), tensor.inferred_stride_);
    bool const has_uid = tensor.has_uid_ && (!tensor.has_automatic_uid_ || tensor.uid_ == spec.uid);
    if (has_uid || !spec.uid) return;
    tensor.uid_ = *spec.uid;
    tensor.has_uid_ = tensor.has_automatic_uid_ = true;
}

graph::Tensor_attributes Tensor_access::make(nodes::TensorSpec const& spec) {
    graph::Tensor_attributes tensor;
    tensor.name_ = spec.name;
    if (spec.uid) tensor.set_uid(*spec.uid);
    tensor.data_type_ = spec.data_type;
    tensor.dim_ = spec.dim;
    tensor.stride_ = spec.stride;
    tensor.is_virtual_ = spec.is_virtual;
    tensor.is_by_value_ = spec.is_by_value;
    if (spec.value) tensor.scalar_ = *spec.value;
    tensor.is_constant_ = spec.is_constant;
    tensor.alignment_ = spec.alignment;
    tensor.ragged_offset_multiplier_ = spec.ragged_offset_multiplier;
    tensor.reordering_ = spec.reordering;
    tensor.vector_count_ = spec.vector_count;
    tensor.vector_dimension_ = spec.vector_dimension;
    return tensor;
}

}  // namespace detail
}  // namespace cudnn_frontend
