#include "cudnn/quirks/quirk_rows.h"

namespace cudnn_frontend::quirks {
namespace {

Found any_block_scales(Facts const&) { return Violation{-1, "block scales"}; }

Found block_scale_backward(Facts const& facts) {
    if (!facts.is_backward) return {};
    return Violation{-1, "block scales in backward"};
}

Found block_scale_head_dims(Facts const& facts) {
    return bad_head_dim(facts, [](std::int64_t dim) { return dim > 128; });
}

Found block_scale_of_one_query(Facts const& facts) {
    if (facts.queries() > 1) return {};
    return Violation{Port::Q, "one query with block scales"};
}

constexpr char const* kOneScale = "use one scale for each tensor, or Target::cpu()";

constexpr Quirk kRows[] = {
    {.id = "cudnn.s59",
     .on = kOlder | kAmpere | kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {92800, kOffline},
     .summary = "compute capability 10.x for block scales (MXFP8)",
     .fix = kOneScale,
     .seen = "with the description of an H200 an engine is named and does not compile",
     .check = any_block_scales,
     .of = QuirkScope::BlockScaled},
    {.id = "cudnn.s59",
     .cudnn = {0, 92101},
     .on = kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {91900, kOffline},
     .summary = "cuDNN 9.21.1 or newer for block scales (MXFP8)",
     .fix = "install 9.21.1 or newer, use one scale for each tensor, or Target::cpu()",
     .seen = "9.19.0: \"Not supported node\"; 9.21.1 and 9.28.0 compile a plan for a B200",
     .check = any_block_scales,
     .of = QuirkScope::BlockScaled},
    {.id = "cudnn.s60",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "forward alone for block scales: engines are named for backward, and no plan of it compiled",
     .fix = kOneScale,
     .seen = "asked of 9.21.1 and 9.28.0 in some 150 forms: types of the intermediate tensors, AMAX or IDENTITY after "
             "the products or neither, factors, layouts, causality, tensors shared or not",
     .check = block_scale_backward,
     .of = QuirkScope::BlockScaled},
    {.id = "cudnn.s61",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "heads of 128 at most for block scales: for larger ones engines are named, and no plan compiled",
     .fix = kOneScale,
     .seen = "heads of 144 and more: the kernel's compilation fails",
     .check = block_scale_head_dims,
     .of = QuirkScope::BlockScaled},
    {.id = "cudnn.s62",
     .cudnn = {0, 92101},
     .evidence = Evidence::NoEngine,
     .verified = {91900, kOffline},
     .summary = "more than one query with block scales",
     .fix = "give Q a second row, before the query in a bottom-right mask without lengths, or use Target::cpu()",
     .seen = "no engine accepts block scales there",
     .check = block_scale_of_one_query,
     .of = QuirkScope::BlockScaled},
    {.id = "cudnn.s62",
     .cudnn = {92101, 0},
     .evidence = Evidence::Crash,
     .verified = {92801, kOffline},
     .summary = "more than one query with block scales: asked about one, cuDNN ends the process",
     .fix = "give Q a second row, before the query in a bottom-right mask without lengths, or use Target::cpu()",
     .seen = "a segmentation fault inside cuDNN",
     .check = block_scale_of_one_query,
     .of = QuirkScope::BlockScaled},
    {.id = "cudnn.s75",
     .cudnn = {0, 92101},
     .on = kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {91900, kOffline},
     .summary = "no block scales",
     .fix = kOneScale,
     .seen = "no engine accepts block scales there",
     .check = any_block_scales,
     .of = QuirkScope::BlockScaled},
    {.id = "cudnn.s75",
     .cudnn = {92101, 0},
     .on = kConsumerBlackwell,
     .evidence = Evidence::Crash,
     .verified = {92801, kOffline},
     .summary = "no block scales: asked about them for this architecture, cuDNN 9.28 ends the process",
     .fix = kOneScale,
     .seen = "with the description of an RTX 5090",
     .check = any_block_scales,
     .of = QuirkScope::BlockScaled},
};

}  // namespace

std::span<Quirk const> block_scale_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
