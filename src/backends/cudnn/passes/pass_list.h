// The passes, each a function; passes.cpp says in which order they run, and for which quirk of cuDNN.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// The masks of bands in the form in which engines know them.

// For backward that is not 8-bit: Stats are subtracted from the scores before the band is masked and not after it.
GraphDraft mask_bands_late(GraphDraft draft);

// Where only numbers shift the column of a left edge, they become one number in floating point.
GraphDraft add_left_bounds_as_floats(GraphDraft draft);

// Comparisons in modifiers.

// In a mask that compares a tensor of integers in memory with another one, or with a constant, the first is added to
// the row minus itself: engines compare computed values with values that they read.
GraphDraft compute_compared_inputs(GraphDraft draft);

// The orders in which engines know the factors of dropout.

// Forward: the user's mask comes after its scale, a drawn one before.
GraphDraft scale_before_given_mask(GraphDraft draft);

// Backward: the scale of drawn dropout is applied after the row's sum was subtracted, and is removed from that sum;
// that of the user's mask is applied with the mask. Engines compute other forms wrong.
GraphDraft scale_drawn_gradients_late(GraphDraft draft);

// Backward: the row's sum is multiplied by a factor, 1 where there is none. It marks for engines where the sum ends and
// the gradient of the scores begins. The result lies in memory, except in 8-bit attention.
GraphDraft end_row_sums(GraphDraft draft);

// Masks that engines know by their form.

// Writes comparisons from their other side. Where row >= column, or >, selects scores, engines recognize the right edge
// of a band and skip the tiles beyond it. They apply only one of several such masks, as a modifier and an option may
// make them. So the last stays, and the others become column <= row, which engines treat as any other arithmetic. And
// where row < column selects scores, planning backward ends the process.
GraphDraft turn_edge_masks(GraphDraft draft);

// Backward without a padding mask.

// Gives every sequence its full length as a length where there is one query, or where the last tile of keys is not
// full: engines can give NaN there. With the user's dropout mask it does so where half a tile is left.
GraphDraft mask_by_full_lengths(GraphDraft draft);

// With that mask it does so for every other rest too, which needs a quarter more time.
GraphDraft mask_by_full_lengths_beside_mask(GraphDraft draft);

// Ragged offsets for dense tensors.

// Engines accept matrices that are all ragged or all dense. In a graph with ragged matrices a dense one becomes ragged:
// its entry b starts at b times the batch stride.
GraphDraft give_offsets(GraphDraft draft);

// The gradient of queries, dQ = dS K, in the forms that engines of backward accept.

// Reads K as the transpose of its transpose.
GraphDraft restore_keys(GraphDraft draft);

// Blocks of keys add to an accumulator in memory in whatever order they finish, which is fastest. A fixed order, the
// gradient of a bias and 8 bits need the product in one piece.
GraphDraft accumulate_gradient_of_queries(GraphDraft draft);

// Steps that engines perform without being asked.

// Backward: the gradient of a sink is the negative of a sum. Engines change the sign themselves.
GraphDraft leave_sinks_sign(GraphDraft draft);

// Forward with block scales: engines scale probabilities before they round them to 8 bits, and scale the weighted
// values back.
GraphDraft leave_probabilities_scale(GraphDraft draft);

// For one query in forward, engines split its keys into parts. There, values that depend on the index of a column or of
// a head come from tables.

// The biases of ALiBi: each part counts its columns from 0, and with pages the slope is that of another head.
GraphDraft tabulate_alibi(GraphDraft draft);

// The columns and heads that a modifier counts: each part counts its columns from 0, and key heads where they are
// shared. The index becomes the row, which is 0, plus a table, because engines accept no first operand that lies in
// memory.
GraphDraft tabulate_indices(GraphDraft draft);

// How tensors that lie in memory are described to engines.

// A last dim of 1 has a stride of 1, which says the same: engines read any other as the layout of a bias.
GraphDraft tidy_last_strides(GraphDraft draft);

// The user's dropout mask has no more alignment than its rows' length: forward's engines read rows in pieces of the
// alignment, and past their end where it does not divide them. Backward's do not, and need the same time either way.
GraphDraft align_dropout_masks(GraphDraft draft);

// The scores of 8-bit attention.

// Where the graph has no scale, scores and backward's gradients of them are multiplied by 1: engines know 8-bit
// attention with the factor alone.
GraphDraft multiply_narrow_scores(GraphDraft draft);

// Backward's memory for packed sequences, where the user says in which row the last one ends.

// Sums of packed sequences lie packed as well, where that is less than room for the longest sequence in each batch
// entry: the rows' sums, dQ's accumulator, and dK and dV of the query heads before heads that share keys are added up.
GraphDraft pack_scratch(GraphDraft draft);

// Operands that operations read as true or false.

// Comparisons and logical operations give BOOLEAN where their results are only read as true or false. Other integers
// that are read so are compared with 0 first.
GraphDraft make_predicates_boolean(GraphDraft draft);

// Rows that scores share.

// A tensor that is combined with scores has its one row repeated where engines broadcast it wrong: in backward a row of
// numbers, and everywhere a number for each batch entry. One for each head alone is right. A stride of 0 means the
// same, but costs time.
GraphDraft repeat_rows(GraphDraft draft);

// The gradient of a sink, apart from attention's other gradients.

// Engines add dSink up in any order, include rows past the lengths of ragged tensors, and multiply it by the kept share
// of generated dropout. In these cases this library computes it, and engines get the other gradients alone.
GraphDraft separate_sink_gradient(GraphDraft draft);

// Changes to the rows' maximum, sum and logarithm that engines need.

// Where the user asks for either maximum or sum, the other is in memory too: engines write both or, through a wild
// pointer, fail.
GraphDraft place_softmax_rows(GraphDraft draft);

// Adds the logarithm of the sum plus the maximum, where nothing reads it: engines recognize inference by it. Not with a
// maximum or a sum in memory, which they then leave unwritten.
GraphDraft add_unread_logarithm(GraphDraft draft);

}  // namespace cudnn_frontend::cudnn::passes
