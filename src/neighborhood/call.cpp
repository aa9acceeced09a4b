#include "neighborhood/call.h"

#include "calls/view_properties.h"
#include "core/text.h"

#include <array>

namespace sdpa_graph::neighborhood {
namespace {

using enum Port;

struct Name {
    Port port;
    char const *fused, *product;
};

constexpr Name kNames[] = {
    {Q, "query", "query"},
    {K, "key", "key"},
    {V, "value", "value"},
    {RelPosBias, "rel_pos_bias", "rel_pos_bias"},
    {Attn, "attn", "attn"},
    {O, "output", "output"},
    {Stats, "logsumexp", "logsumexp"},
    {DO, "grad_output", "d_out"},
    {DAttn, "grad_attn", "d_attn"},
    {DQ, "grad_query", "d_query"},
    {DK, "grad_key", "d_key"},
    {DV, "grad_value", "d_value"},
    {DRelPosBias, "grad_rel_pos_bias", "d_rel_pos_bias"},
};

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < std::size(kNames); ++i)
        if (kNames[i].port != static_cast<Port>(i)) return false;
    return std::size(kNames) == PortCount;
}
static_assert(is_in_order());

}  // namespace

std::string Call::function_name() const {
    static constexpr std::array<char const*, fe::neighborhood::kFunctions> kSuffixes = {
        "_forward", "_backward", "_qk_forward", "_qk_backward", "_av_forward", "_av_backward"};
    return fe::core::text("na", rank(), "d", kSuffixes[static_cast<std::size_t>(function)]);
}

char const* name_of(Call const& call, Port port) {
    Name const& name = kNames[static_cast<std::size_t>(port)];
    return call.is_fused() ? name.fused : name.product;
}

std::optional<TokenSizes> sizes_of(Call const& call) {
    Tensor_view const& leading = call.leading();
    if (leading.dim.size() != call.rank() + 3 || !calls::is_sound(leading)) return std::nullopt;
    return fe::neighborhood::sizes_of(call.function, leading.dim);
}

std::size_t dims_count(Call const& call, Port port) {
    if (port == RelPosBias || port == DRelPosBias) return call.rank() + 1;
    return call.rank() + (port == Stats ? 2 : 3);
}

}  // namespace sdpa_graph::neighborhood
