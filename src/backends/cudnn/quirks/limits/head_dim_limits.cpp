#include "cudnn/quirks/quirk_rows.h"

namespace cudnn_frontend::quirks {
namespace {

// The library cannot pad. The memory behind a row of Q or V is the caller's and may hold NaN, that behind a row of O
// may hold data.
Found head_dim_multiple(Facts const& facts) {
    return wrong_at(facts, std::array{Port::Q, Port::K, Port::V}, [&](int, nodes::TensorSpec const& tensor) {
        std::int64_t const dim = tensor.dim[3], next = (dim + 7) / 8 * 8;
        if (!refuses_head_dim(facts, dim)) return std::string();
        return "a head dim of " + number(dim) + ", where " + number(next) + " is the next,";
    });
}

template <std::int64_t largest>
Found backward_head_dim(Facts const& facts) {
    if (!facts.is_backward) return {};
    return bad_head_dim(facts, [](std::int64_t dim) { return dim > largest; });
}

Found backward_head_dim_or_pair(Facts const& facts) {
    if (facts.qk_dim() == 192 && facts.v_dim() == 128) return {};
    return backward_head_dim<128>(facts);
}

Found unequal_head_dims(Facts const& facts) {
    bool const is_between = facts.qk_dim() > 128 && facts.qk_dim() <= 192 && facts.v_dim() > 64 && facts.v_dim() <= 128;
    bool const is_right = facts.qk_dim() == 192 && facts.v_dim() == 128;
    if (!facts.is_backward || !is_between || is_right) return {};
    return Violation{-1, "head dims of " + number(facts.qk_dim()) + " and " + number(facts.v_dim())};
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.s04",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "head dims that are multiples of 8",
     .fix = "round the head dim up, with zeros in the added columns of Q, K, V and dO, and keep attn_scale as it is; "
            "or use Target::cpu()",
     .seen = "the GPU case \"heads of 20 in 24\" runs padded heads, and is right",
     .check = head_dim_multiple},
    {.id = "cudnn.s05",
     .on = kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "head dims up to 256 in backward",
     .fix = "use smaller heads, or Target::cpu()",
     .seen = "unequal head dims are right where both are 128 or more (160 and 128, 256 and 128, 128 and 192), which "
             "others refuse",
     .check = backward_head_dim<256>,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s05",
     .on = kOlder | kAmpere | kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "head dims up to 128 in backward",
     .fix = "use smaller heads, or Target::cpu()",
     .check = backward_head_dim<128>,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s05",
     .on = kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "head dims up to 128 in backward, or 192 of Q and K with 128 of V",
     .fix = "use smaller heads, or Target::cpu()",
     .check = backward_head_dim_or_pair,
     .of = QuirkScope::Wider},
    {.id = "cudnn.s08",
     .cudnn = {91100, 91300},
     .evidence = Evidence::ToldByNvidia,
     .summary = "backward of heads of 192 and 128 in this range: this release computes others wrong",
     .fix = "install 9.13 or newer",
     .check = unequal_head_dims},
};

}  // namespace

std::span<Quirk const> head_dim_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
