#include "attention_options.h"

#include <pybind11/stl.h>

namespace binding {
namespace {

using fe::graph::SDPA_attributes;
using fe::graph::SDPA_backward_attributes;
using fe::graph::SDPA_fp8_backward_attributes;

template <class Attributes>
struct Option {
    char const* name;
    void (*set)(Attributes& attributes, Option_call const& call, char const* name, py::handle value);
};

template <class Attributes>
using Options = std::vector<Option<Attributes>>;

template <class Setter>
struct Value_of;
template <class Result, class Class, class Value>
struct Value_of<Result (Class::*)(Value) noexcept> {
    using type = std::decay_t<Value>;
};

[[noreturn]] void refuse(Option_call const& call, char const* name, py::handle value, char const* needed) {
    throw std::runtime_error(std::string(call.function) + ": " + name + " is a " + Py_TYPE(value.ptr())->tp_name +
                             ": " + needed + " is needed");
}

template <class Value>
constexpr char const* kNeeded = "an enumerator of the option's own kind";
template <>
constexpr char const* kNeeded<Tensor_ptr> = "a tensor of the graph";
template <>
constexpr char const* kNeeded<bool> = "True or False";
template <>
constexpr char const* kNeeded<int> = "an integer";
template <>
constexpr char const* kNeeded<std::int64_t> = "an integer";
template <>
constexpr char const* kNeeded<float> = "a number";

template <class Value>
Value value_of(Option_call const& call, char const* name, py::handle object) {
    // Python makes a bool of anything, and a number of a bool.
    if (std::is_same_v<Value, bool> != static_cast<bool>(PyBool_Check(object.ptr())))
        refuse(call, name, object, kNeeded<Value>);
    try {
        return object.cast<Value>();
    } catch (py::cast_error const&) {
        refuse(call, name, object, kNeeded<Value>);
    }
}

template <class Attributes, auto kSetter>
constexpr Option<Attributes> row(char const* option) {
    return {option, [](Attributes& attributes, Option_call const& call, char const* name, py::handle value) {
                using Value = typename Value_of<decltype(kSetter)>::type;
                (attributes.*kSetter)(value_of<Value>(call, name, value));
            }};
}

// A row for tensors that the node writes.
template <class Attributes, auto kSetter>
constexpr Option<Attributes> output_row(char const* option) {
    return {option, [](Attributes& attributes, Option_call const& call, char const* name, py::handle value) {
                (attributes.*kSetter)(call.graph.writes(value_of<Tensor_ptr>(call, name, value)));
            }};
}

// An exception that Python raises inside a modifier is stored: the library knows no exceptions.
template <class Attributes, auto kSetter>
constexpr Option<Attributes> modifier_row(char const* option) {
    return {option, [](Attributes& attributes, Option_call const& call, char const* name, py::handle value) {
                if (PyCallable_Check(value.ptr()) == 0)
                    refuse(call, name, value, "a callable (graph, score) -> tensor");
                auto const function = py::reinterpret_borrow<py::object>(value);
                py::object const self = call.self;
                Graph& graph = call.graph;
                (attributes.*kSetter)([function, self, &graph](auto const&, Tensor_ptr const& score) -> Tensor_ptr {
                    try {
                        py::object const result = function(self, score);
                        if (py::isinstance<fe::graph::Tensor_attributes>(result)) return result.cast<Tensor_ptr>();
                        throw py::type_error(std::string("a score modifier returned a ") +
                                             Py_TYPE(result.ptr())->tp_name +
                                             ": a tensor made of the scores is needed");
                    } catch (...) {
                        graph.modifier_failure = std::current_exception();
                        return nullptr;
                    }
                });
            }};
}

template <class Attributes>
void set_scale(Attributes& attributes, Option_call const& call, char const* name, py::handle value) {
    if (py::isinstance<fe::graph::Tensor_attributes>(value)) attributes.set_attn_scale(value.cast<Tensor_ptr>());
    else if (PyNumber_Check(value.ptr()) != 0 && !PyBool_Check(value.ptr()))
        attributes.set_attn_scale(py::float_(py::reinterpret_borrow<py::object>(value)).cast<float>());
    else refuse(call, name, value, "a number or a tensor of the graph");
}

// Accepts (probability, seed, offset), or the mask with its scale, and in backward its inverse.
template <class Attributes>
void set_dropout(Attributes& attributes, Option_call const& call, char const* name, py::handle value) {
    constexpr bool is_forward = std::is_same_v<Attributes, SDPA_attributes>;
    constexpr char const* needed = is_forward ? "(probability, seed, offset) or (mask, scale)"
                                              : "(probability, seed, offset) or (mask, scale, scale_inv)";
    if (!py::isinstance<py::tuple>(value)) refuse(call, name, value, needed);
    auto const parts = py::reinterpret_borrow<py::tuple>(value);
    std::vector<Tensor_ptr> tensors;
    for (py::handle const part : parts)
        if (py::isinstance<fe::graph::Tensor_attributes>(part)) tensors.push_back(part.cast<Tensor_ptr>());
    bool const has_chance =
        parts.size() == 3 && tensors.size() == 2 && (PyFloat_Check(parts[0].ptr()) || PyLong_Check(parts[0].ptr()));
    if (has_chance) {
        attributes.set_dropout(parts[0].cast<float>(), tensors[0], tensors[1]);
        return;
    }
    if constexpr (is_forward) {
        if (parts.size() == 2 && tensors.size() == 2)
            return static_cast<void>(attributes.set_dropout(tensors[0], tensors[1]));
    } else {
        if (tensors.size() == 3) return static_cast<void>(attributes.set_dropout(tensors[0], tensors[1], tensors[2]));
    }
    refuse(call, name, value, needed);
}

template <class A>
Options<A> common_options() {
    return {
        {"attn_scale", &set_scale<A>},
        {"dropout", &set_dropout<A>},
        row<A, &A::set_bias>("bias"),
        row<A, &A::set_alibi_mask>("use_alibi_mask"),
        row<A, &A::set_sink_token>("sink_token"),
        row<A, &A::set_padding_mask>("use_padding_mask"),
        row<A, &A::set_seq_len_q>("seq_len_q"),
        row<A, &A::set_seq_len_kv>("seq_len_kv"),
        row<A, &A::set_cu_seq_len_q>("cu_seq_len_q"),
        row<A, &A::set_cu_seq_len_kv>("cu_seq_len_kv"),
        row<A, &A::set_diagonal_alignment>("diagonal_alignment"),
        row<A, &A::set_diagonal_band_left_bound>("diagonal_band_left_bound"),
        row<A, &A::set_diagonal_band_right_bound>("diagonal_band_right_bound"),
        row<A, &A::set_causal_mask>("use_causal_mask"),
        row<A, &A::set_causal_mask_bottom_right>("use_causal_mask_bottom_right"),
        row<A, &A::set_sliding_window_length>("sliding_window_length"),
        row<A, &A::set_stats_use_log2>("stats_use_log2"),
        row<A, &A::set_max_total_seq_len_q>("max_total_seq_len_q"),
        row<A, &A::set_max_total_seq_len_kv>("max_total_seq_len_kv"),
        output_row<A, &A::set_rng_dump>("rng_dump"),
        modifier_row<A, &A::set_score_mod>("score_mod"),
        // Names that the methods for 8-bit tensors have for options above.
        row<A, &A::set_diagonal_band_left_bound>("left_bound"),
        row<A, &A::set_diagonal_band_right_bound>("right_bound"),
        row<A, &A::set_sliding_window_length>("sliding_window"),
        modifier_row<A, &A::set_score_mod>("fn"),
    };
}

template <class Attributes>
Options<Attributes> with(Options<Attributes> options, Options<Attributes> const& more) {
    options.insert(options.end(), more.begin(), more.end());
    return options;
}

template <class A>
Options<A> backward_options() {
    return with<A>(common_options<A>(), {
                                            row<A, &A::set_deterministic_algorithm>("use_deterministic_algorithm"),
                                            output_row<A, &A::set_dsink_token>("dSink_token"),
                                            modifier_row<A, &A::set_score_mod_bprop>("score_mod_bprop"),
                                        });
}

template <class Attributes>
Options<Attributes> const& options_of();

template <>
Options<SDPA_attributes> const& options_of() {
    using A = SDPA_attributes;
    static auto const* const options = new Options<A>(with<A>(
        common_options<A>(), {
                                 row<A, &A::set_generate_stats>("generate_stats"),
                                 row<A, &A::set_is_inference>("is_inference"),
                                 row<A, &A::set_implementation>("implementation"),
                                 row<A, &A::set_unfuse_fma>("unfuse_fma"),
                                 row<A, &A::set_block_mask>("block_mask"),
                                 row<A, &A::set_paged_attention_k_table>("paged_attention_k_table"),
                                 row<A, &A::set_paged_attention_v_table>("paged_attention_v_table"),
                                 row<A, &A::set_paged_attention_max_seq_len_kv>("paged_attention_max_seq_len_kv"),
                                 output_row<A, &A::set_logit_max>("score_max"),
                                 output_row<A, &A::set_score_sum_exp>("score_sum_exp"),
                             }));
    return *options;
}

template <>
Options<SDPA_backward_attributes> const& options_of() {
    using A = SDPA_backward_attributes;
    static auto const* const options =
        new Options<A>(with<A>(backward_options<A>(), {output_row<A, &A::set_dbias>("dBias")}));
    return *options;
}

template <>
Options<SDPA_fp8_backward_attributes> const& options_of() {
    static auto const* const options =
        new Options<SDPA_fp8_backward_attributes>(backward_options<SDPA_fp8_backward_attributes>());
    return *options;
}

template <class Attributes>
void read_option(Attributes& attributes, Option_call const& call, std::string const& name, py::handle value) {
    for (Option<Attributes> const& option : options_of<Attributes>())
        if (name == option.name) return option.set(attributes, call, option.name, value);
    throw py::type_error(std::string(call.function) + "() got an unexpected keyword argument '" + name + "'");
}

}  // namespace

template <class Attributes>
Attributes read_options(Option_call const& call, py::dict const& values) {
    Attributes attributes;
    for (std::pair<py::handle, py::handle> const entry : values) {
        auto const name = entry.first.cast<std::string>();
        py::handle const value = entry.second;
        if (value.is_none()) continue;
        if (name == "name") attributes.set_name(value.cast<std::string>());
        else if (name == "compute_data_type") attributes.set_compute_data_type(data_type_of(value));
        else read_option(attributes, call, name, value);
    }
    return attributes;
}

template <class Attributes>
std::vector<std::string> option_names() {
    std::vector<std::string> names;
    for (Option<Attributes> const& option : options_of<Attributes>()) names.emplace_back(option.name);
    return names;
}

template SDPA_attributes read_options(Option_call const&, py::dict const&);
template SDPA_backward_attributes read_options(Option_call const&, py::dict const&);
template SDPA_fp8_backward_attributes read_options(Option_call const&, py::dict const&);
template std::vector<std::string> option_names<SDPA_attributes>();
template std::vector<std::string> option_names<SDPA_backward_attributes>();
template std::vector<std::string> option_names<SDPA_fp8_backward_attributes>();

}  // namespace binding
