#include "cudnn/quirks/quirk_rows.h"

namespace cudnn_frontend::quirks {
namespace {

Found bias_gradient_dims(Facts const& facts) {
    nodes::TensorSpec const* const gradient = facts.tensor(Port::DBias);
    if (gradient == nullptr) return {};
    auto const& dim = gradient->dim;
    if (dim[2] == facts.queries() && dim[3] == facts.keys()) return {};
    return Violation{Port::DBias, "a dBias of " + number(dim[2]) + " x " + number(dim[3]) + " for scores of " +
                                      number(facts.queries()) + " x " + number(facts.keys())};
}

Found scale_in_memory(Facts const& facts) {
    nodes::TensorSpec const* const scale = facts.tensor(Port::AttnScale);
    if (!facts.has(Port::DBias) || scale == nullptr || scale->is_by_value || scale->value) return {};
    return Violation{Port::AttnScale, "an attention scale in device memory with a dBias"};
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.s12",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "all rows and columns in dBias: with fewer cuDNN writes past the tensor",
     .fix = "ask for the full dBias and add its rows up",
     .seen = "9 of 9 runs wrong, and written past the end of the tensor",
     .check = bias_gradient_dims},
    {.id = "cudnn.s17",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "the attention scale as a number or by value where dBias is asked for",
     .fix = "set_attn_scale(float), or set_is_pass_by_value(true)",
     .seen = "24 of 24 runs past the limit had no engine",
     .check = scale_in_memory},
};

}  // namespace

std::span<Quirk const> bias_gradient_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
