#include "cudnn/quirks/quirk_rows.h"

namespace cudnn_frontend::quirks {
namespace {

Found open_window(Facts const& facts) {
    bool const is_open_window = facts.fields.left_bound && facts.fields.right_bound.value_or(1) != 0;
    if (!is_open_window || facts.keys() <= 1024) return {};
    return Violation{-1, "a left bound without a right bound of 0 and " + number(facts.keys()) + " keys"};
}

Found rows_without_keys(Facts const& facts) {
    auto const& fields = facts.fields;
    bool const may_mask_rows = fields.padding_mask && fields.left_bound && !fields.right_bound &&
                               fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    if (!facts.is_backward || !may_mask_rows) return {};
    return Violation{-1, "a left bound at the bottom right of padded sequences"};
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.s07",
     .cudnn = {91400, 91401},
     .evidence = Evidence::ToldByNvidia,
     .summary = "at most 1024 keys under a left bound without causality, which this release computes wrong",
     .fix = "install 9.14.1 or newer",
     .seen = "its release notes. On an H200 16 of 16 runs of 1,100 keys and a left bound of 17 alone were right",
     .check = open_window},
    {.id = "cudnn.s19",
     .cudnn = {0, 91500},
     .evidence = Evidence::WrongNumbers,
     .verified = {91400, kH200},
     .summary = "a right bound or the top left corner in backward: this release gives NaN for rows without keys",
     .fix = "install 9.15 or newer",
     .seen = "9.14.0: NaN where a left bound alone masks padded sequences at the bottom right; one later run was "
             "right. 9.19.0 is right",
     .check = rows_without_keys},
};

}  // namespace

std::span<Quirk const> mask_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
