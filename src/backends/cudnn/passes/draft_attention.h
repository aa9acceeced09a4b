// The parts of attention that expansion made of a node, found by their form. Attention's operations are known by their
// mark for masked pairs, which those of other nodes never have, and its own values by having no uid.
#pragma once

#include "cudnn/passes/draft.h"

#include <optional>

namespace cudnn_frontend::cudnn::passes {

// Forward: p = e / sum with e = exp(s - max). Places are those in Draft::ops.
struct SoftmaxSteps {
    std::size_t product;   // q k^T
    std::size_t division;  // by the sum
    ir::ValueId max, sum;
};
std::optional<SoftmaxSteps> find_softmax(GraphDraft const& draft);

// Backward: the five products in their order, and the steps between them. Places are those in Draft::ops.
struct BackwardSteps {
    std::size_t scores, d_v, d_p, d_k, d_q;
    std::size_t shifted;   // s - stats
    std::size_t centered;  // dp - r, with r the rows' sums
    std::size_t gradient;  // times p
};
std::optional<BackwardSteps> find_backward(GraphDraft const& draft);

// Places in Draft::ops: from the product of the scores on, the steps of modifiers and attention's own.
struct ScoreSteps {
    std::size_t first, end_of_modifiers, end;
    bool is_backward;
};
std::optional<ScoreSteps> find_score_steps(GraphDraft const& draft);

// The product of the value and a factor of dropout; kNowhere where it has none.
std::size_t masked_product_of(GraphDraft const& draft, ir::ValueId value);

// The dropout mask that the user gives, the first factor of the probabilities; kNoValue where there is none.
ir::ValueId given_mask(GraphDraft const& draft);

// Backward's scores before the masks of bands.
ir::ValueId scores_before_bands(GraphDraft const& draft, BackwardSteps const& backward);

// The place of the negation whose result is the gradient of a sink; kNowhere where there is none.
std::size_t negation_of_sink(GraphDraft const& draft);

// The place of attention's own first step that reads the value.
std::size_t first_own_reader(GraphDraft const& draft, ir::ValueId value);

// The compute type of attention's steps; nothing where there is no attention.
std::optional<DataType_t> compute_type_of_attention(GraphDraft const& draft);

// Whether attention with that product of scores has 8-bit operands, with factors or block scales.
bool is_8_bit(GraphDraft const& draft, std::size_t scores);

ir::MatmulOp& product(GraphDraft& draft, std::size_t at);
ir::MatmulOp const& product(GraphDraft const& draft, std::size_t at);
ir::PointwiseOp& step(GraphDraft& draft, std::size_t at);
ir::PointwiseOp const& step(GraphDraft const& draft, std::size_t at);

// Whether the expansion made the value, and no tensor of the user is behind it.
bool is_own(GraphDraft const& draft, ir::ValueId id);
// Whether it is also a number.
bool is_own_number(GraphDraft const& draft, ir::ValueId id);

}  // namespace cudnn_frontend::cudnn::passes
