// The op graph: mathematics as values and primitive operations. Expansion makes it and the CPU targets interpret it. A
// backend that accepts only other forms changes it in its own passes.
#pragma once

#include "attention/attention_operands.h"
#include "attention/neighborhood_operands.h"
#include "core/dims.h"
#include "core/result.h"

#include <cudnn_frontend/scalar.h>
#include <cudnn_frontend/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace cudnn_frontend::ir {

// Index of a value in its OpGraph.
using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;

enum class Role {
    Input,    // memory of the caller, read
    Output,   // memory of the caller, written
    Virtual,  // exists between operations only
    ByValue,  // one element in host memory that the caller points to at each run
    Constant  // elements whose values are part of the graph
};

// A tensor whose batch entries start where an offset says, and not at multiples of the first stride: sequences of
// different lengths, one after the other.
struct Ragged {
    ValueId offset = kNoValue;  // {B + 1, 1, 1, 1}: elements to the start of each entry; last, where the last one ends
    ValueId length = kNoValue;  // {B, 1, 1, 1}: rows of each entry; there is no memory for more
    std::int64_t rows_together = 1;  // for a page table: this many of the length's rows are one of its own
    std::int64_t multiplier = 1;     // elements that the offset counts as one
    std::int64_t most_rows = 0;      // up to the end of the last sequence; 0: no bound is set

    explicit operator bool() const { return offset != kNoValue; }

    friend bool operator==(Ragged const&, Ragged const&) = default;
};

struct Value {
    std::string name;
    DataType_t type = DataType_t::FLOAT;
    core::Dims dim;
    core::Dims stride;  // in elements
    Role role = Role::Virtual;
    std::int64_t uid = -1;      // of the user's tensor; -1 for a value that the expansion made
    detail::Scalar constant;    // of a Constant of one element
    std::vector<double> table;  // of a Constant of several elements, row-major; the executor uploads it
    Ragged ragged;              // the first stride then fits a dense copy
    // The input whose steps are these lengths {B, 1, 1, 1}: entry b is its entry b + 1 less its entry b. Known before
    // operations run.
    ValueId steps_of = kNoValue;
    ValueId view_of = kNoValue;  // the same elements as that value under other dims and strides
    TensorReordering_t reordering = TensorReordering_t::NONE;  // of block scales: strides then mean nothing
    bool is_factor = false;  // its element means nothing unless it is finite and above 0
};

// C = A * B over the last two dims. A batch dim of A or B may be smaller than C's: groups of C share its entries.
struct MatmulOp {
    ValueId a = kNoValue, b = kNoValue, c = kNoValue;
    // Lengths {B,1,1,1}: rows and columns of C from there on hold `padding`, and the sum over K stops there.
    ValueId m_override = kNoValue, n_override = kNoValue, k_override = kNoValue;
    double padding = 0.0;
    // A 0 in A stands for a pair that is masked or dropped: it adds nothing, whatever number is in B.
    bool a_masks = false;
    bool is_deterministic = false;  // the sum has one order, the same in each run

    friend bool operator==(MatmulOp const&, MatmulOp const&) = default;
};

// The operands of an operation that mark a pair as masked or dropped: in a difference by -inf, in a product and a
// quotient by 0. The result then marks it too, whatever the other operand is.
enum class MaskedBy { Neither, First, Second, Either };

// The function that a pointwise operation computes of each element.
struct PointwiseFunction {
    PointwiseMode_t mode = PointwiseMode_t::NOT_SET;
    std::int64_t axis = -1;  // of GEN_INDEX
    std::optional<float> relu_lower_clip, relu_upper_clip, relu_lower_clip_slope;
    std::optional<float> swish_beta, elu_alpha, softplus_beta;
    // Fully masked rows pass through softmax this way: -inf - -inf gives -inf, 0 / 0 gives 0, so that such rows have
    // probabilities of 0 and a log-sum-exp of -inf.
    MaskedBy masked_by = MaskedBy::Neither;

    friend bool operator==(PointwiseFunction const&, PointwiseFunction const&) = default;
};

// An operation on up to three inputs, broadcast to the output's dims. BINARY_SELECT(if true, if false, predicate);
// backward modes (dy, x).
struct PointwiseOp : PointwiseFunction {
    ValueId in[3] = {kNoValue, kNoValue, kNoValue};
    ValueId out = kNoValue;

    friend bool operator==(PointwiseOp const&, PointwiseOp const&) = default;
};

// Reduces each dim where y is smaller than x, in groups of x / y neighbors.
struct ReductionOp {
    ReductionMode_t mode = ReductionMode_t::NOT_SET;
    ValueId x = kNoValue, y = kNoValue;
    // Lengths {B,1,1,1}, where y has one batch entry and one row: rows of x from there on do not count.
    ValueId rows = kNoValue;
    bool is_deterministic = false;

    friend bool operator==(ReductionOp const&, ReductionOp const&) = default;
};

// Bernoulli 0/1 values from a counter-based generator.
struct RngOp {
    ValueId seed = kNoValue, offset = kNoValue, y = kNoValue;
    double probability = 1.0;  // of a 1

    friend bool operator==(RngOp const&, RngOp const&) = default;
};

// y holds x's elements under y's dims and strides: in the order in which they lie in memory, or, LOGICAL, in the
// row-major order of their indices.
struct ReshapeOp {
    ValueId x = kNoValue, y = kNoValue;
    ReshapeMode_t mode = ReshapeMode_t::VIEW_ONLY;

    friend bool operator==(ReshapeOp const&, ReshapeOp const&) = default;
};

// Sequences of the pages that a table names: y[b,h,s,d] = container[table[b,0,s / n,0], h, s mod n, d] with n the
// container's third dim, the rows of a page. The rows of each entry up to its length are read; y has zeros beyond.
struct PagedLoadOp {
    ValueId container = kNoValue, table = kNoValue, length = kNoValue, y = kNoValue;

    friend bool operator==(PagedLoadOp const&, PagedLoadOp const&) = default;
};

// y[b,h,i,j]: whether a block mask keeps that score (attention/block_mask.h).
struct BlockMaskOp {
    ValueId mask = kNoValue, y = kNoValue;

    friend bool operator==(BlockMaskOp const&, BlockMaskOp const&) = default;
};

// y = x times the scale of its block: 32 neighbors along the axis, one of the last two of four. Scales that are
// reordered are padded to whole tiles (attention/block_scale.h).
struct BlockDequantizeOp {
    ValueId x = kNoValue, scale = kNoValue, y = kNoValue;
    std::int64_t axis = 3;

    friend bool operator==(BlockDequantizeOp const&, BlockDequantizeOp const&) = default;
};

// The inverse: each scale is the smallest power of two under which its block's finite numbers stay in the range of y.
struct BlockQuantizeOp {
    ValueId x = kNoValue, y = kNoValue, scale = kNoValue;
    std::int64_t axis = 3;

    friend bool operator==(BlockQuantizeOp const&, BlockQuantizeOp const&) = default;
};

// y[i] = x[start + i * step] in each dim.
struct SliceOp {
    ValueId x = kNoValue, y = kNoValue;
    core::Dims start, step;

    friend bool operator==(SliceOp const&, SliceOp const&) = default;
};

// The dims of x in another order: dim d of y is dim permutation[d] of x.
struct TransposeOp {
    ValueId x = kNoValue, y = kNoValue;
    core::Dims permutation;

    friend bool operator==(TransposeOp const&, TransposeOp const&) = default;
};

// Windows relate three tensors: slots {B, H, space, W}, and queries and keys {B, H, space, D}. With k(i, w) the key
// that is visible to query i in slot w, in sums over the indices that the result lacks:
//   slots[b,h,i,w] = sum_d queries[b,h,i,d] keys[b,h,k(i,w),d]    queries[b,h,i,d] = sum_w slots[b,h,i,w]
//   keys[b,h,k(i,w),d] keys[b,h,j,d] = sum over i and w with k(i,w) = j of slots[b,h,i,w] queries[b,h,i,d]
enum class WindowPart { Slots, Queries, Keys };

// y is the part of that name, a and b are the two others, in the order of the parts.
struct WindowProductOp {
    neighborhood::Options options;
    WindowPart part = WindowPart::Slots;
    ValueId a = kNoValue, b = kNoValue, y = kNoValue;
    double without_key = 0.0;  // the value of y in slots that have no key, where y is the slots

    friend bool operator==(WindowProductOp const&, WindowProductOp const&) = default;
};

// The relative position bias {H, 2 k0 - 1, ...} by slots: y[0,h,i,w] = x[h,p(i,w)], with p the distance of key and
// query along each axis, counted in dilations from 1 - k.
struct WindowBiasOp {
    neighborhood::Options options;
    ValueId x = kNoValue, y = kNoValue;

    friend bool operator==(WindowBiasOp const&, WindowBiasOp const&) = default;
};

// The bias' gradient: y[h,p] = sum over b, i and w with p(i,w) = p of x[b,h,i,w].
struct WindowBiasSumOp {
    neighborhood::Options options;
    ValueId x = kNoValue, y = kNoValue;

    friend bool operator==(WindowBiasSumOp const&, WindowBiasSumOp const&) = default;
};

// A function of neighborhood attention as one operation, on the tensors of its node.
struct NeighborhoodOp {
    neighborhood::Function function = neighborhood::Function::Forward;
    neighborhood::Options options;
    double scale = 1.0;                                 // of scores, in the fused functions
    neighborhood::OfPorts<ValueId> operands{kNoValue};  // none where the function has none, or an option is not used

    friend bool operator==(NeighborhoodOp const&, NeighborhoodOp const&) = default;
};

struct AttentionOptions {
    std::optional<float> scale_value;
    bool alibi = false;
    bool padding = false;
    DiagonalAlignment_t alignment = DiagonalAlignment_t::TOP_LEFT;
    std::optional<std::int64_t> left_bound;
    std::optional<std::int64_t> right_bound;
    std::optional<double> dropout_probability;
    bool stats_in_base_2 = false;

    friend bool operator==(AttentionOptions const&, AttentionOptions const&) = default;
};

// An operand of a step of a region.
struct RegionOperand {
    enum class From { None, Score, Gradient, Step, Value };

    From from = From::None;
    std::int32_t index = -1;  // of the step, or of the graph's value

    friend bool operator==(RegionOperand const&, RegionOperand const&) = default;
};

struct RegionStep {
    PointwiseFunction function;
    DataType_t type = DataType_t::FLOAT;  // of the result
    RegionOperand in[3];                  // a step is an operand of later ones alone

    friend bool operator==(RegionStep const&, RegionStep const&) = default;
};

// A score modifier inside attention as one operation: what it computes of each score before bias and masks, and in
// backward of each score's gradient. Values that it reads are broadcast to the scores.
struct ScoreRegion {
    std::vector<RegionStep> steps;
    RegionOperand score;     // what replaces the score; none: nothing does
    RegionOperand gradient;  // what replaces the gradient of the modified score; none: nothing does

    explicit operator bool() const { return score.from != RegionOperand::From::None; }

    friend bool operator==(ScoreRegion const&, ScoreRegion const&) = default;
};

// The values that a region reads, each once.
std::vector<ValueId> values_of(ScoreRegion const& region);

namespace attention = cudnn_frontend::attention;

// Attention as one operation, with a value for each of its operands (attention/attention_operands.h); none where an
// option does not use it. K and V are not transposed.
struct SdpaForwardOp {
    static constexpr auto kUse = &attention::Operand::forward;

    AttentionOptions options;
    // Where a page table is there, K or V is a container as in PagedLoadOp.
    attention::OfOperation<ValueId> operands{kNoValue};
    std::optional<std::int64_t> keys;  // of paged K or V
    ScoreRegion region;

    friend bool operator==(SdpaForwardOp const&, SdpaForwardOp const&) = default;
};

struct SdpaBackwardOp {
    static constexpr auto kUse = &attention::Operand::backward;

    AttentionOptions options;
    attention::OfOperation<ValueId> operands{kNoValue};
    bool deterministic = false;
    ScoreRegion region;

    friend bool operator==(SdpaBackwardOp const&, SdpaBackwardOp const&) = default;
};

using OpBody = std::variant<MatmulOp, PointwiseOp, ReductionOp, RngOp, ReshapeOp, SdpaForwardOp, SdpaBackwardOp,
                            PagedLoadOp, BlockMaskOp, BlockDequantizeOp, BlockQuantizeOp, SliceOp, TransposeOp,
                            WindowProductOp, WindowBiasOp, WindowBiasSumOp, NeighborhoodOp>;

struct Op {
    std::string name;
    DataType_t compute_type = DataType_t::FLOAT;
    OpBody body;
};

// A value that an operation reads or writes, with the name of its place there.
struct NamedValue {
    char const* label;
    ValueId value;
};

// The connected operands, in a fixed order.
std::vector<NamedValue> inputs_of(Op const& op);
std::vector<NamedValue> outputs_of(Op const& op);
char const* kind_name(Op const& op);  // MATMUL, ADD (a pointwise op's mode), REDUCE_MAX, SDPA_FORWARD, ...

// A value that the caller supplies a pointer for.
struct Binding {
    std::int64_t uid;
    ValueId value;
};

// Immutable once built; operations are in an order in which they can run.
class OpGraph {
   public:
    std::vector<Value> const& values() const { return values_; }
    std::vector<Op> const& ops() const { return ops_; }
    Value const& value(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
    // Inputs, outputs and by-value scalars, without views, ascending by uid.
    std::vector<Binding> const& bindings() const { return bindings_; }
    // The value whose elements a view shows: itself where it is no view.
    ValueId storage_of(ValueId id) const;

   private:
    friend class Builder;
    std::vector<Value> values_;
    std::vector<Op> ops_;
    std::vector<Binding> bindings_;
};

// Columns of the scores.
std::int64_t key_count(OpGraph const& graph, SdpaForwardOp const& op);
std::int64_t key_count(OpGraph const& graph, SdpaBackwardOp const& op);
std::int64_t key_count(OpGraph const& graph, PagedLoadOp const& op);

// Every fault of the graph: ids out of range, shapes that do not fit their op, values written twice or read before they
// are written, two values with one uid. An expansion that passes can be lowered and interpreted.
error_t verify(OpGraph const& graph);

// Whether both compute the same from pointers of the same uids: everything counts except names.
bool same_work(Value const& a, Value const& b);
bool same_work(Op const& a, Op const& b);
bool same_work(OpGraph const& a, OpGraph const& b);

std::string to_text(OpGraph const& graph);
std::string to_dot(OpGraph const& graph);  // Graphviz

// The bytes of the heap that the graph has, as an estimate.
std::size_t heap_bytes(OpGraph const& graph);

}  // namespace cudnn_frontend::ir
