// The code of programs written for the existing frontend, in its various forms. Most of it only has to compile; main()
// runs the part that needs no target.
#include <complex.h>  // defines the macro I

#include <cudnn_frontend.h>
#include <cudnn_frontend_utils.h>
#include <cudnn_frontend_version.h>

namespace client {
#include <cudnn_frontend.h>
}

#include "expect.h"

#include <type_traits>
#include <utility>

#if defined(NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING)
void* cudnn_frontend::cudnn_dlhandle = nullptr;
#endif

#if !defined(__CUDA_FP16_H__)
struct __half {
    unsigned short bits;
};
struct __nv_bfloat16 {
    unsigned short bits;
};
#endif

#if defined(CUDNN_FRONTEND_SKIP_JSON_LIB)
struct json {};  // then the name is the program's
#endif

namespace fe = cudnn_frontend;
using fe::graph::Graph;
using fe::graph::SDPA_attributes;
using fe::graph::SDPA_backward_attributes;
using fe::graph::Tensor_attributes;
using Tensor = std::shared_ptr<Tensor_attributes>;
using Uids = std::unordered_map<std::int64_t, void*>;
using Tensors = std::unordered_map<Tensor, void*>;

namespace {

// Names that shared headers rely on.
#if !defined(CUDNN_FRONTEND_SKIP_JSON_LIB) && __has_include(<nlohmann/json.hpp>)
static_assert(std::is_same_v<::json, nlohmann::json>);
#endif
static_assert(std::is_class_v<fe::Tensor> && std::is_class_v<fe::Operation> && std::is_class_v<fe::PointWiseDesc>);
static_assert(std::is_enum_v<fe::ConvolutionMode_t> && std::is_enum_v<fe::MoeGroupedMatmulMode_t>);

// Versions.
#if CUDNN_FRONTEND_MAJOR_VERSION < 1 || (CUDNN_FRONTEND_MAJOR_VERSION == 1 && CUDNN_FRONTEND_MINOR_VERSION < 5)
#error "the version macros are tested by the preprocessor"
#endif
static_assert(CUDNN_FRONTEND_VERSION > 11200);

// Error types.
static_assert(std::is_same_v<fe::error_t, fe::error_object>);
static_assert(!std::is_aggregate_v<fe::error_t>);
static_assert(!std::is_convertible_v<fe::error_t, bool>);
static_assert(std::is_same_v<decltype(fe::error_t::code), fe::error_code_t>);
static_assert(std::is_same_v<decltype(fe::error_t::err_msg), std::string>);
static_assert(int(fe::error_code_t::OK) == 0 && int(fe::error_code_t::INVALID_VARIANT_PACK) == 4);
static_assert(int(fe::error_code_t::GRAPH_NOT_SUPPORTED) == 5 && int(fe::error_code_t::HANDLE_ERROR) == 13);
static_assert(int(fe::error_code_t::INVALID_VALUE) == 14 && int(fe::error_code_t::NVRTC_COMPILATION_FAILED) == 15);

// Graph: how it is held, and the return types of its members.
static_assert(std::is_default_constructible_v<Graph> && std::is_copy_constructible_v<Graph>);
static_assert(std::is_nothrow_move_constructible_v<Graph> && std::is_nothrow_move_assignable_v<Graph>);
static_assert(std::has_virtual_destructor_v<Graph> && !std::is_final_v<Graph>);

template <class... Arguments>
using Sdpa = decltype(std::declval<Graph&>().sdpa(std::declval<Arguments>()...));
static_assert(std::is_same_v<Sdpa<Tensor&, Tensor, Tensor const&, SDPA_attributes>, std::array<Tensor, 2>>);
static_assert(std::is_same_v<Sdpa<Tensor, Tensor, Tensor, SDPA_attributes&>, std::array<Tensor, 2>>);
template <class... Arguments>
using Backward = decltype(std::declval<Graph&>().sdpa_backward(std::declval<Arguments>()...));
static_assert(std::is_same_v<Backward<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, SDPA_backward_attributes>,
                             std::array<Tensor, 3>>);
template <class... Arguments>
using Fp8 = decltype(std::declval<Graph&>().sdpa_fp8(std::declval<Arguments>()...));
static_assert(std::is_same_v<Fp8<Tensor&, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor const&,
                                 fe::graph::SDPA_fp8_attributes>,
                             std::array<Tensor, 4>>);
template <class... Arguments>
using Fp8_backward = decltype(std::declval<Graph&>().sdpa_fp8_backward(std::declval<Arguments>()...));
static_assert(std::is_same_v<Fp8_backward<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor,
                                          Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor,
                                          fe::graph::SDPA_fp8_backward_attributes>,
                             std::array<Tensor, 7>>);
// The overloads with block scales.
static_assert(
    std::is_same_v<Fp8<Tensor&, Tensor, Tensor const&, Tensor, Tensor, Tensor, fe::graph::SDPA_fp8_attributes>,
                   std::array<Tensor, 3>>);
static_assert(std::is_same_v<
              Fp8_backward<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor,
                           Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, fe::graph::SDPA_fp8_backward_attributes>,
              std::array<Tensor, 6>>);
static_assert(std::is_same_v<fe::graph::SDPA_fp8_attributes, SDPA_attributes>);
static_assert(std::is_same_v<fe::graph::Scaled_dot_product_flash_attention_attributes, SDPA_attributes>);
static_assert(
    std::is_same_v<fe::graph::Scaled_dot_product_flash_attention_backward_attributes, SDPA_backward_attributes>);

#define RETURNS(Type, Object, expression) \
    static_assert(std::is_same_v<decltype(std::declval<Object>().expression), Type>)
RETURNS(Graph&, Graph&, set_io_data_type(fe::DataType_t::HALF));
RETURNS(Graph&, Graph&, set_intermediate_data_type(fe::DataType_t::FLOAT));
RETURNS(Graph&, Graph&, set_compute_data_type(fe::DataType_t::FLOAT));
RETURNS(Graph&, Graph&, set_name("graph"));
RETURNS(Tensor, Graph&, tensor_like(Tensor()));
RETURNS(Tensor, Graph&, tensor_like(Tensor(), "copy"));
RETURNS(Tensor, Graph&, output(Tensor()));
RETURNS(Tensor, Graph&, pointwise(Tensor(), fe::graph::Pointwise_attributes()));
RETURNS(Tensor, Graph&, pointwise(Tensor(), Tensor(), fe::graph::Pointwise_attributes()));
RETURNS(Tensor, Graph&, pointwise(Tensor(), Tensor(), Tensor(), fe::graph::Pointwise_attributes()));
RETURNS(Tensor, Graph&, matmul(Tensor(), Tensor(), fe::graph::Matmul_attributes()));
RETURNS(Tensor, Graph&, reduction(Tensor(), fe::graph::Reduction_attributes()));
RETURNS(Tensor, Graph&, slice(Tensor(), fe::graph::Slice_attributes()));
RETURNS(Tensor, Graph&, reshape(Tensor(), fe::graph::Reshape_attributes()));
RETURNS(Tensor, Graph&, transpose(Tensor(), fe::graph::Transpose_attributes()));
RETURNS(fe::error_t, Graph&, validate());
RETURNS(fe::error_t, Graph&, create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}));
RETURNS(fe::error_t, Graph&, check_support());
RETURNS(std::size_t, Graph&, key());
RETURNS(std::int64_t, Graph const&, get_workspace_size());
RETURNS(std::int64_t, Graph const&, get_execution_plan_count());
RETURNS(std::vector<std::int64_t>, Graph const&, get_variant_pack_uids_sorted());
RETURNS(std::string, Graph const&, print());

// Tensor_attributes.
static_assert(std::is_same_v<Tensor_attributes::uid_t, std::int64_t>);
static_assert(std::is_same_v<std::unordered_map<Tensor_attributes::uid_t, void*>, Uids>);
RETURNS(std::string, Tensor_attributes const&, get_name());
RETURNS(fe::DataType_t, Tensor_attributes const&, get_data_type());
RETURNS(std::vector<std::int64_t>, Tensor_attributes const&, get_dim());
RETURNS(std::vector<std::int64_t>, Tensor_attributes const&, get_stride());
RETURNS(std::int64_t, Tensor_attributes const&, get_volume());
RETURNS(bool, Tensor_attributes const&, get_is_virtual());
RETURNS(bool, Tensor_attributes const&, get_is_pass_by_value());
RETURNS(bool, Tensor_attributes const&, get_has_compile_time_constant());
RETURNS(std::optional<fe::graph::pass_by_values_t>, Tensor_attributes const&, get_pass_by_value());
RETURNS(std::optional<fe::graph::pass_by_values_t>, Tensor_attributes const&, get_compile_time_constant());
RETURNS(fe::TensorReordering_t, Tensor_attributes const&, get_reordering_type());
RETURNS(std::int64_t, Tensor_attributes const&, get_alignment());
RETURNS(std::int64_t, Tensor_attributes const&, get_vector_count());
RETURNS(std::int64_t, Tensor_attributes const&, get_vector_dimension());
RETURNS(std::int64_t, Tensor_attributes const&, get_uid());
RETURNS(std::int64_t, Tensor_attributes const&, has_uid());
RETURNS(Tensor, Tensor_attributes&, get_ragged_offset());
RETURNS(fe::error_t, Tensor_attributes const&, validate());

enum UnscopedUid { Q = 1, K, V, O = 0 };
#define STATS_UID 7

Tensor_attributes every_tensor_setter(Tensor const& offset) {
    int const b = 2, h = 4;
    std::int64_t const s = 128, d = 64;
    return Tensor_attributes()
        .set_name("Q")
        .set_dim({b, h, s, d})
        .set_stride({{h * s * d, s * d, d, 1}})
        .set_dim(std::vector<std::int64_t>({b, h, 128, 64}))
        .set_stride({2147483647, s * d, d, 1})
        .set_uid(UnscopedUid::Q)
        .set_uid(STATS_UID)
        .clear_uid()
        .set_data_type(fe::DataType_t::BFLOAT16)
        .set_is_virtual(false)
        .set_output(true)
        .set_is_pass_by_value(false)
        .set_as_runtime_parameter()
        .set_reordering_type(fe::TensorReordering_t::F8_128x4)
        .set_alignment(16)
        .set_vector_count_and_dimension(1, -1)
        .set_ragged_offset(offset)
        .set_ragged_offset_multiplier(64);
}

void constants() {
    fe::graph::pass_by_values_t const value = 2.5f;
    auto constant = Tensor_attributes().set_compile_time_constant(value).set_compile_time_constant(3.0);
    auto other = Tensor_attributes(1.0f, fe::graph::ScalarType::COMPILE_TIME_CONST);
    (void)constant;
    (void)other;
}

// All setters that the two directions share, in either one.
template <class Attributes>
Attributes shared_options(Tensor const& tensor, std::int64_t length) {
    double const scale = 0.125, probability = 0.1;
    Attributes attributes;
    attributes = Attributes()
                     .set_causal_mask(true)
                     .set_name("attention")
                     .set_compute_data_type(fe::DataType_t::FLOAT)
                     .set_attn_scale(tensor)
                     .set_attn_scale(0.5f)
                     .set_attn_scale(scale)
                     .set_bias(tensor)
                     .set_alibi_mask(true)
                     .set_padding_mask(true)
                     .set_seq_len_q(tensor)
                     .set_cu_seq_len_q(tensor)
                     .set_cu_seq_len_kv(tensor)
                     .set_seq_len_kv(tensor)
                     .set_causal_mask_bottom_right(false)
                     .set_sliding_window_length(128)
                     .set_diagonal_alignment(fe::DiagonalAlignment_t::BOTTOM_RIGHT)
                     .set_diagonal_band_left_bound(int(length))
                     .set_diagonal_band_right_bound(0)
                     .set_dropout(0.1f, tensor, tensor)
                     .set_dropout(probability, tensor, tensor)
                     .set_rng_dump(tensor)
                     .set_sink_token(tensor)
                     .set_score_mod(nullptr);
    attributes.set_diagonal_band_left_bound(length);
    attributes.name = "renamed";
    attributes.compute_data_type = fe::DataType_t::FLOAT;
    return attributes;
}

SDPA_attributes forward_options(Tensor const& tensor) {
    auto attributes = shared_options<SDPA_attributes>(tensor, 64);
    std::int64_t const most_keys = 4096;
    return attributes.set_is_inference(false)
        .set_generate_stats(true)
        .set_dropout(tensor, tensor)
        .set_paged_attention_k_table(tensor)
        .set_paged_attention_v_table(tensor)
        .set_paged_attention_max_seq_len_kv(most_keys)
        .set_block_mask(tensor)
        .set_logit_max(tensor)
        .set_score_sum_exp(tensor)
        .set_implementation(fe::AttentionImplementation_t::AUTO)
        .set_unfuse_fma(true)
        .set_stats_use_log2(true)
        .set_max_total_seq_len_q(4096)
        .set_max_total_seq_len_kv(most_keys);
}

SDPA_backward_attributes backward_options(Tensor const& tensor) {
    std::int64_t const most_tokens = 4096;
    return shared_options<SDPA_backward_attributes>(tensor, 64)
        .set_dbias(tensor)
        .set_dsink_token(tensor)
        .set_score_mod_bprop(nullptr)
        .set_max_total_seq_len_q(4096)
        .set_max_total_seq_len_kv(most_tokens)
        .set_stats_use_log2(true)
        .set_deterministic_algorithm(true)
        .set_dropout(tensor, tensor, tensor);
}

void small_nodes(Graph& graph, Tensor const& x) {
    auto sum =
        graph.pointwise(x, x, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD).set_name("a"));
    auto index = graph.pointwise(x, fe::graph::Pointwise_attributes()
                                        .set_mode(fe::PointwiseMode_t::GEN_INDEX)
                                        .set_axis(2)
                                        .set_compute_data_type(fe::DataType_t::INT32));
    auto clipped = fe::graph::Pointwise_attributes()
                       .set_relu_lower_clip(0.f)
                       .set_relu_upper_clip(6.f)
                       .set_relu_lower_clip_slope(0.1f)
                       .set_swish_beta(1.f)
                       .set_elu_alpha(1.f)
                       .set_softplus_beta(1.f);
    clipped.set_mode(fe::PointwiseMode_t::RELU_FWD);
    auto product = graph.matmul(
        sum, index,
        fe::graph::Matmul_attributes().set_m_override(x).set_n_override(x).set_k_override(x).set_padding(0.));
    auto total = graph.reduction(
        product, fe::graph::Reduction_attributes().set_mode(fe::ReductionMode_t::ADD).set_is_deterministic(true));
    total->set_output(true);
}

// Arrays: structured bindings, indexing, std::apply, a test for null.
void results(Graph& graph, Tensor q, Tensor k, Tensor v) {
    auto [o, stats] = graph.sdpa(q, k, v, forward_options(q));
    o->set_output(true).set_uid(UnscopedUid::O);
    if (stats) stats->set_output(true).set_data_type(fe::DataType_t::FLOAT).set_uid(STATS_UID);
    auto options = backward_options(q);
    auto gradients = graph.sdpa_backward(q, k, v, o, o, stats, std::move(options));
    gradients[0]->set_output(true);
    std::apply([](auto const&... gradient) { (gradient->set_output(true), ...); }, gradients);
    Tensor dQ, dK, dV;
    std::tie(dQ, dK, dV) = std::tuple_cat(gradients);
    auto older = graph.scaled_dot_product_flash_attention(
        q, k, v, fe::graph::Scaled_dot_product_flash_attention_attributes().set_is_inference(true));
    older[0]->set_output(true);
    auto older_gradients = graph.scaled_dot_product_flash_attention_backward(
        q, k, v, o, o, stats, fe::graph::Scaled_dot_product_flash_attention_backward_attributes());
    older_gradients[2]->set_output(true);
}

fe::error_t stages(Graph& graph, cudnnHandle_t handle) {
    fe::error_t status = graph.validate();
    if (status.is_good()) status = graph.build_operation_graph(handle);
    if (status.is_good()) status = graph.build_operation_graph(nullptr);
    if (status.is_good()) status = graph.build_operation_graph();
    if (status.is_good()) status = graph.check_support(handle);
    if (status.is_good()) status = graph.check_support(nullptr);
    if (status.is_good()) status = graph.build_plans();
    if (status.is_good()) status = graph.build_plans(handle);
    if (status.is_good()) status = graph.build_plans(nullptr);
    if (status.is_good()) status = graph.build_plans(fe::BuildPlanPolicy_t::ALL);
    if (status.is_good()) status = graph.build_plans(handle, fe::BuildPlanPolicy_t::HEURISTICS_CHOICE, false);
    if (status.is_good()) status = graph.build(handle, {fe::HeurMode_t::A});
    if (status.is_good()) status = graph.build(nullptr, {fe::HeurMode_t::A, fe::HeurMode_t::B});
    if (status.is_good()) status = graph.build({fe::HeurMode_t::A});
    return status;
}

// The choice of plans, in the words of programs that make it.
static_assert(std::is_same_v<decltype(fe::Knob::type), fe::KnobType_t>);
static_assert(std::is_constructible_v<fe::Knob, fe::KnobType_t, std::int64_t, std::int64_t, std::int64_t>);
static_assert(std::is_default_constructible_v<fe::KernelCache> && !std::is_copy_constructible_v<fe::KernelCache>);
static_assert(std::is_default_constructible_v<fe::DeviceProperties>);
static_assert(std::is_nothrow_move_constructible_v<fe::DeviceProperties>);
static_assert(!std::is_copy_constructible_v<fe::DeviceProperties>);
RETURNS(std::string, fe::KernelCache const&, describe());
RETURNS(bool, fe::KernelCache&, is_finalized());
RETURNS(fe::error_t, fe::KernelCache&, status());
RETURNS(fe::DeviceProperties&, fe::DeviceProperties&, set_device_id(0));
RETURNS(fe::DeviceProperties&, fe::DeviceProperties&, set_handle(nullptr));
RETURNS(fe::error_t, fe::DeviceProperties&, build());
RETURNS(fe::error_t, fe::DeviceProperties const&, status());
RETURNS(std::int64_t, Graph const&, get_workspace_size_plan_at_index(0));
RETURNS(std::int64_t, Graph const&, get_autotune_workspace_size());

void settings(Graph& graph) {
    std::vector<fe::BehaviorNote_t> const notes = {fe::BehaviorNote_t::RUNTIME_COMPILATION};
    std::vector<fe::NumericalNote_t> const numeric = {fe::NumericalNote_t::TENSOR_CORE};
    std::shared_ptr<fe::DeviceProperties const> const device = std::make_shared<fe::DeviceProperties>();
    graph.set_device_properties(device)
        .set_device_properties(std::make_shared<fe::DeviceProperties>())
        .set_sm_count(132)
        .set_sm_version(90)
        .set_dynamic_shape_enabled(true)
        .set_kernel_cache(std::make_shared<fe::KernelCache>())
        .set_override_shape_enabled(true)
        .deselect_workspace_greater_than(0)
        .deselect_shared_mem_greater_than(1 << 16)
        .deselect_engines({"eng2", "eng1_k24=3"})
        .select_behavior_notes(notes)
        .deselect_behavior_notes({fe::BehaviorNote_t::RUNTIME_COMPILATION})
        .select_numeric_notes(numeric)
        .deselect_numeric_notes({fe::NumericalNote_t::FFT, fe::NumericalNote_t::NONDETERMINISTIC});
}

fe::error_t plans(Graph& graph, cudnnHandle_t handle) {
    std::int64_t count = 0, value = 3;
    std::vector<fe::Knob> knobs;
    fe::error_t status = graph.get_engine_count(count);
    if (status.is_good()) status = graph.get_knobs_for_engine(0, knobs);
    std::unordered_map<fe::KnobType_t, std::int64_t> by_hash = {{fe::KnobType_t::TILE_M, 1}};
    std::map<fe::KnobType_t, std::int64_t> const by_order = {{fe::KnobType_t::TILE_N, 1}};
    if (status.is_good()) status = graph.create_execution_plan(count - 1, by_hash);
    if (status.is_good()) status = graph.create_execution_plan(0, by_order);
    if (status.is_good()) status = graph.create_execution_plan(0, {});
    if (status.is_good()) status = graph.create_execution_plan(0, {{fe::KnobType_t::STAGES, value}});
    if (status.is_good()) {
        status = graph.create_execution_plan(0, {{fe::KnobType_t::STAGES, 1}, {fe::KnobType_t::TILEK, value}});
    }
    if (status.is_good()) status = graph.get_engine_and_knobs_at_index(0, count, by_hash);
    if (status.is_good()) status = graph.build_plan_at_index(0);
    if (status.is_good()) status = graph.build_plan_at_index(count);
    if (status.is_good()) status = graph.build_plan_at_index(handle, count);
    if (status.is_good()) status = graph.build_plan_at_index(nullptr, 0);
    if (status.is_good())
        status = graph.build({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}, fe::BuildPlanPolicy_t::ALL);
    if (status.is_good()) status = graph.build(handle, {fe::HeurMode_t::A}, fe::BuildPlanPolicy_t::ALL, true);
    if (status.is_good()) status = graph.warmup(handle);
    return status;
}

struct ConvertsToCudaGraph {
    operator CUgraph_st*() const { return nullptr; }
};

// Maps that are const or not, plans by index, shapes of one call, pointers in order.
fe::error_t run(Graph& graph, cudnnHandle_t handle, Uids& by_uid, Tensors const& by_tensor) {
    std::vector<std::int64_t> const uids = {UnscopedUid::Q};
    std::vector<std::vector<std::int64_t>> const dims = {{1, 1, 8, 8}}, strides = {{64, 64, 8, 1}};
    std::vector<void*> sorted = {nullptr};
    fe::error_t status = graph.execute(nullptr, by_uid, nullptr);
    if (status.is_good()) status = graph.execute(handle, by_uid, nullptr, uids, dims, strides);
    if (status.is_good())
        status = graph.execute(handle, by_uid, nullptr, {UnscopedUid::Q}, {{1, 1, 8, 8}}, {{64, 64, 8, 1}});
    if (status.is_good()) status = graph.execute(handle, sorted.data(), 1, nullptr);
    if (status.is_good()) status = graph.execute_plan_at_index(handle, by_tensor, nullptr, 0);
    if (status.is_good()) status = graph.execute_plan_at_index(handle, by_uid, nullptr, 0);
    if (status.is_good()) status = graph.execute_plan_at_index(handle, by_uid, nullptr, 0, uids, dims, strides);
    if (status.is_good()) status = graph.execute_plan_at_index(handle, sorted.data(), 1, nullptr, 0);
    if (status.is_good())
        status = graph.execute_plan_at_index(handle, sorted.data(), 1, nullptr, 0, uids, dims, strides);
    if (status.is_good()) status = graph.autotune(handle, by_uid, nullptr);
    if (status.is_good()) status = graph.autotune(handle, by_tensor, nullptr, nullptr);
    if (status.is_good()) status = graph.populate_cuda_graph(handle, by_uid, nullptr, ConvertsToCudaGraph());
    if (status.is_good()) status = graph.update_cuda_graph(handle, by_tensor, nullptr, nullptr);
    return status;
}

fe::error_t store(Graph& graph, cudnnHandle_t handle) {
    std::vector<std::uint8_t> bytes;
    std::string name, text = graph.print();
    std::vector<fe::BehaviorNote_t> notes;
    std::int64_t size = 0;
    fe::error_t status = static_cast<Graph const&>(graph).serialize(bytes);
    if (status.is_good()) status = graph.deserialize(handle, bytes);
    if (status.is_good()) status = graph.deserialize(nullptr, std::vector<std::uint8_t>(text.begin(), text.end()));
    if (status.is_good()) status = graph.get_plan_name_at_index(0, name);
    if (status.is_good()) status = graph.get_behavior_notes_for_plan_at_index(0, notes);
    if (status.is_good()) status = graph.get_workspace_size_plan_at_index(0, size);
    return status;
}

void check_versions() {
    static_assert(std::is_same_v<decltype(fe::detail::get_backend_version()), std::size_t>);
#if defined(CUDNN_VERSION)
    static_assert(fe::detail::get_compiled_version() == CUDNN_VERSION);
    static_assert(std::is_same_v<decltype(fe::detail::create_handle(nullptr)), cudnnStatus_t>);
    static_assert(std::is_same_v<decltype(fe::detail::destroy_handle(nullptr)), cudnnStatus_t>);
    static_assert(std::is_same_v<decltype(fe::detail::set_stream(nullptr, cudaStream_t())), cudnnStatus_t>);
    static_assert(std::is_base_of_v<std::runtime_error, fe::cudnnException>);
    static_assert(std::is_same_v<decltype(std::declval<fe::cudnnException&>().getCudnnStatus()), cudnnStatus_t>);
    static_assert(std::is_convertible_v<cudaGraph_t, CUgraph_st*>);
#endif
}

// Everything that a program does with a finished graph, through a const reference.
fe::error_t use(Graph const& graph, cudnnHandle_t handle, Tensor const& tensor) {
    Uids by_uid = {{UnscopedUid::Q, nullptr}, {STATS_UID, nullptr}};
    Tensors by_tensor = {{tensor, nullptr}};
    std::int64_t bytes = graph.get_workspace_size();
    fe::error_t status = graph.get_workspace_size(bytes);
    if (status.is_good()) status = graph.execute(handle, by_uid, nullptr);
    if (status.is_good()) status = graph.execute(handle, by_tensor, nullptr);
    std::string name, text = graph.print();
    if (status.is_good()) status = graph.get_plan_name(name);
    std::vector<fe::BehaviorNote_t> notes;
    if (status.is_good()) status = graph.get_behavior_notes(notes);
    Tensor_attributes found;
    if (status.is_good()) status = graph.query_tensor_attributes_of_uid(UnscopedUid::Q, found);
    if (status.is_good()) status = graph.serialize(text);
    std::cout << graph;
    return status;
}

// Clients derive from Graph, hide its members and call them by their qualified names.
class DerivedGraph : public Graph {
   public:
    Tensor tensor(std::string const& name, std::vector<std::int64_t> const& dim) {
        return Graph::tensor(Tensor_attributes().set_name(name).set_dim(dim));
    }
    fe::error_t build(cudnnHandle_t handle) {
        set_io_data_type(fe::DataType_t::HALF);
        return Graph::build(handle, {fe::HeurMode_t::A});
    }
};

struct Holder {
    Graph graph;
    std::shared_ptr<Graph> shared;
    std::vector<Graph> many;
};

Holder hold(Graph graph) {
    Holder holder{std::move(graph), std::make_shared<Graph>(), {}};
    holder.many.push_back(std::move(holder.graph));
    holder.many.emplace_back();
    return holder;
}

// Errors: comparison by value, a switch, brace returns, a specialization.
bool differs(fe::error_t error, fe::error_code_t code) { return error != code; }

int category(fe::error_t const& error) {
    switch (error.get_code()) {
        case fe::error_code_t::OK: return 0;
        case fe::error_code_t::GRAPH_NOT_SUPPORTED: return 1;
        default: return int(error.get_code());
    }
}

fe::error_t make_error(bool bad) {
    if (bad) return {fe::error_code_t::INVALID_VALUE, "text"};
    return {};
}

template <class T>
struct Traits;
template <>
struct Traits<fe::error_t> {
    static bool ok(fe::error_t const& error) { return error.is_good(); }
};

void check_errors() {
    auto const good = make_error(false), bad = make_error(true);
    fe::error_object const& reference = bad;
    EXPECT(good.is_good() && !good.is_bad() && good.err_msg.empty());
    EXPECT(bad.is_bad() && reference.err_msg == "text" && make_error(true).get_message() == "text");
    EXPECT(differs(bad, fe::error_code_t::OK) && !differs(good, fe::error_code_t::OK));
    EXPECT(bad == fe::error_code_t::INVALID_VALUE && category(bad) == 14 && category(good) == 0);
    EXPECT(Traits<fe::error_t>::ok(good));
    std::ostringstream stream;
    stream << bad << bad.code;
    EXPECT(stream.str().find("text") != std::string::npos);
}

void check_tensors() {
    Graph graph;
    auto const offset = graph.tensor(Tensor_attributes().set_name("offset"));
    auto const q = graph.tensor(every_tensor_setter(offset));
    EXPECT(q->get_name() == "Q" && q->get_dim() == std::vector<std::int64_t>{2, 4, 128, 64});
    EXPECT(q->get_stride() == std::vector<std::int64_t>{2147483647, 8192, 64, 1} && !q->has_uid());
    EXPECT(q->get_ragged_offset() == offset && q->get_data_type() == fe::DataType_t::BFLOAT16);
    EXPECT(graph.tensor(1.5f)->get_data_type() == fe::DataType_t::FLOAT);
    EXPECT(graph.tensor(int(3))->get_data_type() == fe::DataType_t::INT32);
    EXPECT(graph.tensor(std::int64_t(3))->get_data_type() == fe::DataType_t::INT64);
    EXPECT(graph.tensor(3.0)->get_data_type() == fe::DataType_t::DOUBLE);
    EXPECT(graph.tensor(__half())->get_data_type() == fe::DataType_t::HALF);
    EXPECT(graph.tensor(__nv_bfloat16())->get_data_type() == fe::DataType_t::BFLOAT16);
    EXPECT(graph.tensor(fe::float16(1.f))->get_data_type() == fe::DataType_t::HALF);
    auto const constant = graph.tensor(2.5f, fe::graph::ScalarType::COMPILE_TIME_CONST);
    EXPECT(std::get<float>(*constant->get_compile_time_constant()) == 2.5f && !constant->get_pass_by_value());
    EXPECT(std::get<float>(*graph.tensor(1.5f)->get_pass_by_value()) == 1.5f);
    fe::graph::pass_by_values_t const value = std::int64_t(9);
    auto const embedded = Tensor_attributes().set_compile_time_constant(value).get_compile_time_constant();
    EXPECT(embedded && std::get<std::int64_t>(*embedded) == 9);
    auto const like = graph.tensor_like(q, "like");
    EXPECT(like->get_dim() == q->get_dim() && like->get_name() == "like");
}

void check_small_attributes() {
    auto pointwise = fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::GEN_INDEX);
    EXPECT(!pointwise.get_axis() && !pointwise.get_swish_beta() &&
           pointwise.get_mode() == fe::PointwiseMode_t::GEN_INDEX);
    std::optional<std::int64_t> const axis = pointwise.set_axis(2).get_axis();
    std::optional<float> const beta = pointwise.set_swish_beta(0.5f).get_swish_beta();
    EXPECT(axis == 2 && beta == 0.5f);
    fe::graph::Reduction_attributes reduction;
    EXPECT(!reduction.get_mode().has_value() && !reduction.get_is_deterministic());
    EXPECT(*reduction.set_mode(fe::ReductionMode_t::MAX).get_mode() == fe::ReductionMode_t::MAX);
    auto const reshape = fe::graph::Reshape_attributes().set_name("rows").set_dim({6, 4}).set_stride({4, 1});
    EXPECT(reshape.get_dim() == std::vector<std::int64_t>({6, 4}) && reshape.get_stride().back() == 1);
    EXPECT(reshape.get_reshape_mode() == fe::ReshapeMode_t::VIEW_ONLY);
    EXPECT(fe::graph::Transpose_attributes().set_permutation({1, 0}).get_permutation().front() == 1);
    std::vector<std::pair<std::int64_t, std::int64_t>> const slices{{0, 2}, {1, 4}};
    fe::graph::Slice_attributes().set_slices(slices).set_strides({1, 2}).set_name("part");
}

void check_graphs() {
    DerivedGraph derived;
    EXPECT(derived.tensor("named", {1, 2})->get_name() == "named");
    auto const holder = hold(Graph());
    EXPECT(holder.many.size() == 2);
    Graph graph;
    small_nodes(graph, graph.tensor(Tensor_attributes().set_name("x").set_dim({1, 1, 8, 8})));
    std::ostringstream stream;
    stream << graph;
    EXPECT(!stream.str().empty() && !graph.print().empty());
}

}  // namespace

int main() {
    // Compiled, not run here: these need data or a device.
    static_cast<void>(&results);
    static_cast<void>(&stages);
    static_cast<void>(&settings);
    static_cast<void>(&plans);
    static_cast<void>(&run);
    static_cast<void>(&store);
    static_cast<void>(&use);
    check_versions();
    constants();
    check_errors();
    check_tensors();
    check_small_attributes();
    check_graphs();
    return failures == 0 ? 0 : 1;
}
