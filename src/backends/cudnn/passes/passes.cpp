#include "cudnn/passes/passes.h"

#include "cudnn/passes/pass_list.h"

#include <utility>

namespace cudnn_frontend::cudnn::passes {

static constexpr Pass kPasses[] = {
    {"make predicates BOOLEAN", "cudnn.w24", make_predicates_boolean},
    {"compute compared inputs", "cudnn.w23", compute_compared_inputs},
    {"tidy last strides", "cudnn.w16", tidy_last_strides},
    {"give offsets", "cudnn.w25", give_offsets},
    {"repeat rows", "cudnn.w14", repeat_rows},
    {"align dropout masks", "cudnn.w15", align_dropout_masks},
    {"mask by full lengths", "cudnn.w12", mask_by_full_lengths},
    {"mask by full lengths next to a mask", "cudnn.w13", mask_by_full_lengths_beside_mask},
    {"mask bands late", "cudnn.w19", mask_bands_late},
    {"add left bounds as floats", "cudnn.w20", add_left_bounds_as_floats},
    {"multiply narrow scores", "cudnn.w21", multiply_narrow_scores},
    {"separate the sink's gradient", "cudnn.w26", separate_sink_gradient},
    {"leave the sink's sign", "cudnn.w18", leave_sinks_sign},
    {"leave the probabilities' scale", "cudnn.w22", leave_probabilities_scale},
    {"add unread logarithm", "cudnn.w02", add_unread_logarithm},
    {"place softmax rows", "cudnn.w03", place_softmax_rows},
    {"tabulate ALiBi", "cudnn.w04", tabulate_alibi},
    {"tabulate indices", "cudnn.w05", tabulate_indices},
    {"scale before given mask", "cudnn.w06", scale_before_given_mask},
    {"scale drawn gradients late", "cudnn.w07", scale_drawn_gradients_late},
    {"end row sums", "cudnn.w08", end_row_sums},
    {"restore keys", "cudnn.w09", restore_keys},
    {"accumulate gradient of queries", "cudnn.w10", accumulate_gradient_of_queries},
    {"pack scratch", "cudnn.w11", pack_scratch},
    {"turn edge masks", "cudnn.w01", turn_edge_masks},
};

std::span<Pass const> all() { return kPasses; }

Result<LegalGraph> run(Pass const& pass, LegalGraph const& graph) { return pass.run(GraphDraft(graph)).finish(); }

Result<LegalGraph> legalize(LegalGraph const& graph, IsInForce const& is_in_force) {
    GraphDraft draft(graph);
    for (Pass const& pass : kPasses) {
        if (is_in_force(pass.quirk)) draft = pass.run(std::move(draft));
    }
    return std::move(draft).finish();
}

}  // namespace cudnn_frontend::cudnn::passes
