// The user's handle to a tensor of a graph.
#pragma once

#include "scalar.h"
#include "status.h"
#include "types.h"

#include <memory>
#include <string>
#include <vector>

namespace cudnn_frontend {

namespace graph {
class Tensor_attributes;
}

namespace detail {
struct Tensor_access;
struct Pass_by_values;

// Marks a value that validation inferred. In a copy of the tensor the value counts as set by the user.
struct Inferred_mark {
    bool is_set = false;

    Inferred_mark() = default;
    Inferred_mark(Inferred_mark const&) {}
    Inferred_mark& operator=(Inferred_mark const&) { return *this = false; }
    Inferred_mark& operator=(bool value) {
        is_set = value;
        return *this;
    }
    explicit operator bool() const { return is_set; }
};

// The graph that registered a tensor, 0 for none, and the tensor's place there. A copy has no owner; a tensor that is
// assigned to keeps its own.
struct Tensor_owner {
    std::uint64_t graph_id = 0;
    std::size_t place = 0;

    Tensor_owner() = default;
    Tensor_owner(Tensor_owner const&) {}
    Tensor_owner& operator=(Tensor_owner const&) { return *this; }
};

// The members of a tensor. A separate base, so that they are copied all or not at all.
class Tensor_fields {
   protected:
    std::string name_;
    std::vector<std::int64_t> dim_;
    std::vector<std::int64_t> stride_;
    std::shared_ptr<graph::Tensor_attributes> ragged_offset_;
    detail::Scalar scalar_;
    std::int64_t uid_ = 0;
    std::int64_t alignment_ = 16;
    std::int64_t vector_count_ = 1;
    std::int64_t vector_dimension_ = -1;
    std::int64_t ragged_offset_multiplier_ = 1;
    detail::Tensor_owner owner_;
    DataType_t data_type_ = DataType_t::NOT_SET;
    TensorReordering_t reordering_ = TensorReordering_t::NONE;
    bool is_virtual_ = false;
    bool is_by_value_ = false;
    bool is_constant_ = false;
    bool has_uid_ = false;
    bool has_automatic_uid_ = false;
    bool is_incomplete_ = false;  // memory ran out in a setter
    // The values that validation filled in, so that a later validation infers them again.
    detail::Inferred_mark inferred_type_;
    detail::Inferred_mark inferred_dim_;
    detail::Inferred_mark inferred_stride_;
};

template <class T, class Result = int>
struct enable_if_16_bit_float {};
template <class Result>
struct enable_if_16_bit_float<float16, Result> {
    using type = Result;
};
template <class Result>
struct enable_if_16_bit_float<bfloat16, Result> {
    using type = Result;
};
template <class Result>
struct enable_if_16_bit_float<::__half, Result> {
    using type = Result;
};
template <class Result>
struct enable_if_16_bit_float<::__nv_bfloat16, Result> {
    using type = Result;
};
}  // namespace detail

namespace graph {

enum class ScalarType { RUNTIME_PARAM, COMPILE_TIME_CONST };

// Name, type and layout of one tensor. Setters return the object, so that calls chain. Validation fills in values that
// are empty and can be inferred; the library never changes an explicit value. No setter throws: if memory runs out, the
// graph to which it is passed reports it. None is overloaded: programs form pointers to them.
class SDPA_GRAPH_API Tensor_attributes : private detail::Tensor_fields {
   public:
    using uid_t = std::int64_t;

    Tensor_attributes() noexcept;
    Tensor_attributes(Tensor_attributes const&) noexcept;
    Tensor_attributes(Tensor_attributes&&) noexcept;
    Tensor_attributes& operator=(Tensor_attributes const&) noexcept;
    Tensor_attributes& operator=(Tensor_attributes&&) noexcept;
    ~Tensor_attributes();

    // A scalar whose value is part of the graph.
    Tensor_attributes(float const& value, ScalarType kind = ScalarType::RUNTIME_PARAM) noexcept;
    Tensor_attributes(double const& value, ScalarType kind = ScalarType::RUNTIME_PARAM) noexcept;
    Tensor_attributes(std::int32_t const& value, ScalarType kind = ScalarType::RUNTIME_PARAM) noexcept;
    Tensor_attributes(std::int64_t const& value, ScalarType kind = ScalarType::RUNTIME_PARAM) noexcept;
    template <class T, typename detail::enable_if_16_bit_float<T>::type = 0>
    Tensor_attributes(T const& value, ScalarType kind = ScalarType::RUNTIME_PARAM)
        : Tensor_attributes(detail::make_scalar(value), kind) {}
    Tensor_attributes(detail::Scalar const& value, ScalarType kind) noexcept;

    Tensor_attributes& set_name(std::string const& name) noexcept;
    Tensor_attributes& set_data_type(DataType_t const type) noexcept;
    Tensor_attributes& set_dim(std::vector<std::int64_t> const& dim) noexcept;
    Tensor_attributes& set_stride(std::vector<std::int64_t> const& stride) noexcept;  // in elements
    Tensor_attributes& set_is_virtual(bool const is_virtual) noexcept;
    Tensor_attributes& set_output(bool const is_output) noexcept;  // an output is a tensor that is not virtual
    Tensor_attributes& set_is_pass_by_value(bool const by_value) noexcept;
    template <class T>
    Tensor_attributes& set_compile_time_constant(T const& value) {
        return embed(detail::make_scalar(value), ScalarType::COMPILE_TIME_CONST);
    }
    Tensor_attributes& set_as_runtime_parameter() noexcept;
    Tensor_attributes& set_reordering_type(TensorReordering_t const reordering) noexcept;
    Tensor_attributes& set_alignment(std::int64_t const bytes) noexcept;
    Tensor_attributes& set_vector_count_and_dimension(std::int64_t const count, std::int64_t const dimension) noexcept;
    Tensor_attributes& set_uid(uid_t uid) noexcept;  // any value from 0 on
    Tensor_attributes& clear_uid() noexcept;
    // Where each batch entry starts, and where the last one ends: in elements, or in units that the multiplier sets, so
    // that one tensor of offsets in tokens serves tensors with rows of different widths.
    Tensor_attributes& set_ragged_offset(std::shared_ptr<Tensor_attributes> const& offset) noexcept;
    Tensor_attributes& set_ragged_offset_multiplier(std::int64_t const elements) noexcept;

    std::string get_name() const;
    DataType_t get_data_type() const;
    std::vector<std::int64_t> get_dim() const;
    std::vector<std::int64_t> get_stride() const;
    std::int64_t get_volume() const;  // the number of elements; 0 if no dims are set, -1 on overflow
    bool get_is_virtual() const;
    bool get_is_pass_by_value() const;
    bool get_has_compile_time_constant() const;
    // The embedded scalar as an optional variant, defined in <cudnn_frontend/pass_by_value.h>.
    template <class Values = detail::Pass_by_values>
    auto get_pass_by_value() const {
        return Values::from(is_constant_ ? detail::Scalar() : scalar_);
    }
    template <class Values = detail::Pass_by_values>
    auto get_compile_time_constant() const {
        return Values::from(is_constant_ ? scalar_ : detail::Scalar());
    }
    TensorReordering_t get_reordering_type() const;
    std::int64_t get_alignment() const;
    std::int64_t get_vector_count() const;
    std::int64_t get_vector_dimension() const;
    uid_t get_uid() const;
    uid_t has_uid() const;
    std::shared_ptr<Tensor_attributes> get_ragged_offset() const;
    std::int64_t get_ragged_offset_multiplier() const;

    // Checks the tensor by itself: dims and strides of equal length, sizes in range.
    error_t validate() const;

   private:
    friend struct detail::Tensor_access;

    Tensor_attributes& embed(detail::Scalar const& value, ScalarType kind) noexcept;
};

}  // namespace graph
}  // namespace cudnn_frontend
