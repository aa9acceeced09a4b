#include "expand/dropout.h"

namespace cudnn_frontend::expand {

using ir::ValueId;

static ValueId generated_mask(AttentionScope& at) {
    return at.random({.seed = at.port(Port::Seed),
                      .offset = at.port(Port::Offset),
                      .y = at.is_connected(Port::Rng_dump) ? at.port(Port::Rng_dump) : at.add_score("dropout_mask"),
                      .probability = at.keep_probability()});
}

Dropout make_dropout(AttentionScope& at) {
    if (at.generates_dropout()) {
        ValueId const mask = generated_mask(at);
        return {mask, at.add_number("dropout_scale", 1.0 / at.keep_probability())};
    }
    if (at.applies_dropout_mask()) return {at.port(Port::Dropout_mask), at.port(Port::Dropout_scale)};
    return {};
}

}  // namespace cudnn_frontend::expand
