#include "cudnn/library/lowered_graph.h"

#include "attention/attention_operands.h"
#include "attention/block_scale.h"
#include "core/names.h"
#include "cudnn/library/backend_enums.h"
#include "cudnn/library/lower_tensors.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace cudnn_frontend::cudnn {
namespace {

using ir::ValueId;

constexpr auto kBlockSize = static_cast<std::int32_t>(attention::kScaleBlock);

// The attributes of cuDNN's one operation for forward attention that hold its operands.
struct SdpaOperand {
    attention::Port port;
    SdpaForwardAttribute attribute;
    SdpaForwardAttribute of_sums = attribute;  // where lengths are cumulative
};

constexpr SdpaOperand kSdpaOperands[] = {
    {attention::Q, SdpaForwardAttribute::Q},
    {attention::K, SdpaForwardAttribute::K},
    {attention::V, SdpaForwardAttribute::V},
    {attention::O, SdpaForwardAttribute::O},
    {attention::Stats, SdpaForwardAttribute::Stats},
    {attention::AttnScale, SdpaForwardAttribute::Scale},
    {attention::BlockMask, SdpaForwardAttribute::BlockMask},
    {attention::PageTableK, SdpaForwardAttribute::PageTableK},
    {attention::PageTableV, SdpaForwardAttribute::PageTableV},
    {attention::SeqLenQ, SdpaForwardAttribute::SeqLenQ, SdpaForwardAttribute::CuSeqLenQ},
    {attention::SeqLenKv, SdpaForwardAttribute::SeqLenKv, SdpaForwardAttribute::CuSeqLenKv},
};

// The operands for which it has no attribute. Limits refuse such graphs before they are lowered.
constexpr attention::Port kWithoutPlace[] = {
    attention::Bias,         attention::Seed,      attention::Offset, attention::RngDump, attention::DropoutMask,
    attention::DropoutScale, attention::SinkToken, attention::Max,    attention::SumExp,
};

// Whether an operand of forward attention is in exactly one of the two lists, once.
constexpr bool has_one_place(attention::Operand const& row) {
    bool const is_operand = attention::is_of_operation(row) && attention::is_used(row.forward);
    auto const places =
        std::ranges::count(kSdpaOperands, row.port, &SdpaOperand::port) + std::ranges::count(kWithoutPlace, row.port);
    return places == (is_operand ? 1 : 0);
}
static_assert(std::ranges::all_of(attention::kOperands, has_one_place));

struct OperandAttribute {
    cudnnBackendAttributeName_t attribute;
    ValueId value;
};

bool is_backward(PointwiseMode_t mode) { return std::string_view(core::name_of(mode)).ends_with("_BWD"); }

class OperationLowering {
   public:
    OperationLowering(TensorLowering& tensors, Api const& api, LoweringOptions const& options, ir::Op const& op)
        : tensors_(tensors), api_(api), options_(options), op_(op), subject_("operation '" + op.name + "'") {}

    Result<Descriptor> lower() {
        Descriptor operation = std::visit([&](auto const& body) { return make(body); }, op_.body);
        if (error_.is_bad()) return error_;
        SDPA_GRAPH_TRY(tensors_.error());
        SDPA_GRAPH_TRY(operation.finalize());
        return operation;
    }

   private:
    Descriptor parameter(cudnnBackendDescriptorType_t type) { return {api_, type, "the parameters of " + subject_}; }

    // The operation with its parameters, if any, and its connected operands.
    Descriptor operation(cudnnBackendDescriptorType_t type, std::initializer_list<OperandAttribute> operands) {
        Descriptor made(api_, type, subject_);
        for (OperandAttribute const& operand : operands) connect(made, operand);
        return made;
    }

    void connect(Descriptor& made, OperandAttribute const& operand) {
        if (operand.value == ir::kNoValue) return;
        if (cudnnBackendDescriptor_t const tensor = tensors_.tensor(operand.value)) made.set(operand.attribute, tensor);
    }

    void attach(Descriptor& made, cudnnBackendAttributeName_t attribute, Descriptor& parameters) {
        keep(parameters.finalize());
        if (error_.is_good()) made.set(attribute, parameters);
    }

    void keep(error_t error) {
        if (error_.is_good()) error_ = std::move(error);
    }

    template <class Ours>
    auto backend_value(Ours value, char const* what) {
        auto const theirs = to_backend(value);
        if (!theirs) {
            keep({error_code_t::GRAPH_NOT_SUPPORTED,
                  subject_ + " has the " + what + " " + core::name_of(value) + ", which cuDNN's graphs lack"});
        }
        return theirs.value_or(typename decltype(theirs)::value_type{});
    }

    cudnnDataType_t compute_type() { return backend_value(op_.compute_type, "compute type"); }

    Descriptor make(ir::MatmulOp const& op) {
        Descriptor parameters = parameter(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
        parameters.set(CUDNN_ATTR_MATMUL_COMP_TYPE, compute_type());
        if (op.padding != 0.0) parameters.set(CUDNN_ATTR_MATMUL_PADDING_VALUE, op.padding);
        Descriptor made = operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
                                    {{CUDNN_ATTR_OPERATION_MATMUL_ADESC, op.a},
                                     {CUDNN_ATTR_OPERATION_MATMUL_BDESC, op.b},
                                     {CUDNN_ATTR_OPERATION_MATMUL_CDESC, op.c},
                                     {CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, op.m_override},
                                     {CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, op.n_override},
                                     {CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, op.k_override}});
        attach(made, CUDNN_ATTR_OPERATION_MATMUL_DESC, parameters);
        return made;
    }

    Descriptor pointwise_parameters(ir::PointwiseOp const& op) {
        Descriptor parameters = parameter(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
        parameters.set(CUDNN_ATTR_POINTWISE_MODE, backend_value(op.mode, "pointwise mode"))
            .set(CUDNN_ATTR_POINTWISE_MATH_PREC, compute_type());
        if (op.axis >= 0) parameters.set(CUDNN_ATTR_POINTWISE_AXIS, op.axis);
        auto const set_number = [&](cudnnBackendAttributeName_t attribute, std::optional<float> const& value) {
            if (value) parameters.set(attribute, double{*value});
        };
        set_number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, op.relu_lower_clip);
        set_number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, op.relu_upper_clip);
        set_number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, op.relu_lower_clip_slope);
        set_number(CUDNN_ATTR_POINTWISE_ELU_ALPHA, op.elu_alpha);
        set_number(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, op.softplus_beta);
        set_number(CUDNN_ATTR_POINTWISE_SWISH_BETA, op.swish_beta);
        return parameters;
    }

    Descriptor make(ir::PointwiseOp const& op) {
        constexpr auto kType = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
        Descriptor parameters = pointwise_parameters(op);
        Descriptor made = is_backward(op.mode) ? operation(kType, {{CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, op.in[0]},
                                                                   {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, op.in[1]},
                                                                   {CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, op.out}})
                                               : operation(kType, {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, op.in[0]},
                                                                   {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, op.in[1]},
                                                                   {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, op.in[2]},
                                                                   {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, op.out}});
        attach(made, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, parameters);
        return made;
    }

    Descriptor make(ir::ReductionOp const& op) {
        Descriptor parameters = parameter(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
        parameters.set(CUDNN_ATTR_REDUCTION_OPERATOR, backend_value(op.mode, "reduction mode"))
            .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, compute_type());
        if (op.is_deterministic && api_.get_version() >= 91100) parameters.set(kReductionIsDeterministic, true);
        Descriptor made =
            operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
                      {{CUDNN_ATTR_OPERATION_REDUCTION_XDESC, op.x}, {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, op.y}});
        attach(made, CUDNN_ATTR_OPERATION_REDUCTION_DESC, parameters);
        return made;
    }

    Descriptor make(ir::RngOp const& op) {
        Descriptor parameters = parameter(CUDNN_BACKEND_RNG_DESCRIPTOR);
        parameters.set(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_RNG_DISTRIBUTION_BERNOULLI)
            .set(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, op.probability);
        Descriptor made =
            operation(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, {{CUDNN_ATTR_OPERATION_RNG_YDESC, op.y},
                                                               {CUDNN_ATTR_OPERATION_RNG_SEED, op.seed},
                                                               {CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, op.offset}});
        attach(made, CUDNN_ATTR_OPERATION_RNG_DESC, parameters);
        return made;
    }

    Descriptor make(ir::ReshapeOp const& op) {
        Descriptor made =
            operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
                      {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, op.x}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, op.y}});
        bool const moves = op.mode == ReshapeMode_t::LOGICAL && !(is_packed(op.x) && is_packed(op.y));
        if (moves) made.set(kReshapeMode, ReshapeMode::Logical);
        return made;
    }

    // Whether the row-major order of indices is the order in memory.
    bool is_packed(ValueId id) const {
        ir::Value const& value = tensors_.value(id);
        return value.stride == core::packed_strides(value.dim);
    }

    Descriptor make(ir::SliceOp const& op) {
        core::Dims limit = op.start;
        core::Dims const& kept = tensors_.value(op.y).dim;
        for (std::size_t d = 0; d < limit.size(); ++d) limit[d] += (kept[d] - 1) * op.step[d] + 1;
        Descriptor made = operation(kSliceOperation, {{kSliceX, op.x}, {kSliceY, op.y}});
        made.set_list(kSliceStart, std::span(op.start))
            .set_list(kSliceLimit, std::span<std::int64_t const>(limit))
            .set_list(kSliceSteps, std::span(op.step));
        return made;
    }

    Descriptor make(ir::TransposeOp const& op) {
        Descriptor made = operation(kTransposeOperation, {{kTransposeX, op.x}, {kTransposeY, op.y}});
        made.set_list(kTransposePermutation, std::span(op.permutation));
        return made;
    }

    // Engines accept loaded keys only in the transposed form in which the product reads them.
    Descriptor make(ir::PagedLoadOp const& op) {
        return operation(CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR,
                         {{CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC, op.container},
                          {CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC, op.table},
                          {CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_SEQUENCE_DESC, op.length},
                          {CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC, tensors_.view_of(op.y)}});
    }

    Descriptor make(ir::BlockDequantizeOp const& op) {
        Descriptor made = operation(CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR,
                                    {{CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_XDESC, op.x},
                                     {CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_SCALE_DESC, op.scale},
                                     {CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_YDESC, op.y}});
        made.set(CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_MATH_PREC, compute_type())
            .set_list(CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_BLOCK_SIZE, std::span(&kBlockSize, 1));
        return made;
    }

    Descriptor make(ir::BlockQuantizeOp const&) {
        keep(
            {error_code_t::GRAPH_NOT_SUPPORTED,
             subject_ + " finds scales for blocks between two products, for which cuDNN's attention has no operation"});
        return {};
    }

    Descriptor make(ir::BlockMaskOp const&) {
        keep({error_code_t::GRAPH_NOT_SUPPORTED,
              subject_ + " reads a block mask, which cuDNN has as a part of its unified attention alone"});
        return {};
    }

    Descriptor make_window() {
        keep({error_code_t::GRAPH_NOT_SUPPORTED,
              subject_ + " reads windows of neighbors, for which cuDNN has no operation"});
        return {};
    }
    Descriptor make(ir::WindowProductOp const&) { return make_window(); }
    Descriptor make(ir::WindowBiasOp const&) { return make_window(); }
    Descriptor make(ir::WindowBiasSumOp const&) { return make_window(); }
    Descriptor make(ir::NeighborhoodOp const&) { return make_window(); }

    // The operation accepts cumulative lengths as they are.
    OperandAttribute place_of(SdpaOperand const& operand, ValueId id) const {
        auto const at = [](SdpaForwardAttribute a) { return static_cast<cudnnBackendAttributeName_t>(a); };
        ValueId const sums = tensors_.sums_of(id);
        return sums == ir::kNoValue ? OperandAttribute{at(operand.attribute), id}
                                    : OperandAttribute{at(operand.of_sums), sums};
    }

    Descriptor make(ir::SdpaForwardOp const& op) {
        if (op.options.stats_in_base_2) {
            keep({error_code_t::GRAPH_NOT_SUPPORTED,
                  subject_ +
                      " gives Stats in base 2, which cuDNN's unified attention writes as natural logarithms only"});
            return {};
        }
        using enum SdpaForwardAttribute;
        auto const at = [](SdpaForwardAttribute a) { return static_cast<cudnnBackendAttributeName_t>(a); };
        Descriptor made(api_, kSdpaForwardOperation, subject_);
        for (SdpaOperand const& operand : kSdpaOperands) {
            connect(made, place_of(operand, op.operands[operand.port]));
        }
        if (options_.unfuses_multiplication) made.set(at(UnfuseFma), true);
        if (op.options.scale_value) {
            made.set(at(Scale), tensors_.number(op_.name + "::scale", *op.options.scale_value));
        }
        return made;
    }

    Descriptor make(ir::SdpaBackwardOp const&) {
        keep({error_code_t::GRAPH_NOT_SUPPORTED, subject_ + " is fused backward attention, which cuDNN lacks"});
        return {};
    }

    TensorLowering& tensors_;
    Api const& api_;
    LoweringOptions const& options_;
    ir::Op const& op_;
    std::string subject_;
    error_t error_;
};

}  // namespace

static bool is_implied(LegalGraph const& graph, ir::Op const& op) {
    auto const* const step = std::get_if<ir::PointwiseOp>(&op.body);
    auto const result = step == nullptr ? graph.implied.end() : graph.implied.find(step->in[0]);
    return result != graph.implied.end() && result->second == step->out;
}

// Whether this library computes what the operation writes.
static bool is_ours(LegalGraph const& graph, ir::Op const& op) {
    if (!graph.sink_gradient) return false;
    std::vector<ValueId> const& ours = graph.sink_gradient->steps;
    return std::ranges::any_of(
        outputs_of(op), [&](ir::NamedValue const& out) { return std::ranges::find(ours, out.value) != ours.end(); });
}

Result<LoweredGraph> lower(LegalGraph const& graph, Api const& api, LoweringOptions const& options) {
    TensorLowering tensors(graph, api);
    std::vector<Descriptor> operations;
    std::vector<cudnnBackendDescriptor_t> pointers;
    for (ir::Op const& op : graph.graph.ops()) {
        if (is_implied(graph, op) || is_ours(graph, op)) continue;
        auto operation = OperationLowering(tensors, api, options, op).lower();
        if (operation.is_bad()) return operation.error();
        operations.push_back(std::move(operation).value());
        pointers.push_back(operations.back().get());
    }
    LoweredGraph lowered;
    lowered.graph = Descriptor(api, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "the operation graph");
    lowered.graph.set_list(CUDNN_ATTR_OPERATIONGRAPH_OPS, std::span<cudnnBackendDescriptor_t const>(pointers));
    if (options.dynamic_shapes) lowered.graph.set(CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED, true);
    SDPA_GRAPH_TRY(lowered.graph.finalize());
    auto const engines = lowered.graph.read<std::int64_t>(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
    if (engines.is_bad()) return engines.error();
    lowered.engine_count = engines.value();
    lowered.bindings = tensors.take_bindings();
    return lowered;
}

}  // namespace cudnn_frontend::cudnn
