// Backward's engines of 9.0, and of 10.x before 9.21.1, accept four columns next to the scores, of which Stats and the
// row sums are two; a dropout mask's counts twice. Those of 8.x and 12.x accept only these two.
#include "cudnn/quirks/quirk_rows.h"

namespace cudnn_frontend::quirks {
namespace {

// Whether the tensor has a value for each row, as backward's engines count columns; per-head values do not count.
bool is_column_of_rows(core::Dims const& dim) { return dim[3] == 1 && (dim[2] > 1 || dim[0] > 1); }

bool is_column_of_rows(Facts const& facts, int port) {
    nodes::TensorSpec const* const tensor = facts.tensor(port);
    return tensor != nullptr && is_column_of_rows(tensor->dim);
}

// The tensors that modifiers read a column of.
std::vector<nodes::TensorSpec const*> columns_of_modifiers(Facts const& facts) {
    auto columns = tensors_of_modifiers(facts);
    std::erase_if(columns, [](nodes::TensorSpec const* tensor) { return !is_column_of_rows(tensor->dim); });
    return columns;
}

Found mask_column(Facts const& facts) {
    if (!facts.is_backward || facts.keys() == 1 || !is_column_of_rows(facts, Port::DropoutMask)) return {};
    return Violation{Port::DropoutMask, "one column in the dropout mask"};
}

Found mask_column_beside_bias_gradient(Facts const& facts) {
    Found found = facts.has(Port::DBias) ? mask_column(facts) : std::nullopt;
    if (found) found->found += " with dBias";
    return found;
}

Found mask_and_bias_columns(Facts const& facts) {
    Found found = is_column_of_rows(facts, Port::Bias) ? mask_column(facts) : std::nullopt;
    if (found) found->found += " and one in the bias";
    return found;
}

Found bias_column(Facts const& facts) {
    if (!facts.is_backward || facts.keys() == 1 || !is_column_of_rows(facts, Port::Bias)) return {};
    return Violation{Port::Bias, "1 column for " + number(facts.keys()) + " of the scores"};
}

bool is_backward_of_one_key(Facts const& facts) { return facts.is_backward && facts.keys() == 1; }

// With one key every tensor of scores is a column.
Found two_columns_of_one_key(Facts const& facts) {
    bool const has_both = is_column_of_rows(facts, Port::Bias) && is_column_of_rows(facts, Port::DropoutMask);
    if (!is_backward_of_one_key(facts) || !has_both) return {};
    return Violation{Port::DropoutMask, "one key, with a bias and a dropout mask,"};
}

Found any_column_of_one_key(Facts const& facts) {
    if (!is_backward_of_one_key(facts)) return {};
    if (Found found = two_columns_of_one_key(facts)) return found;
    if (is_column_of_rows(facts, Port::DropoutMask)) {
        return Violation{Port::DropoutMask, "one key, with a dropout mask,"};
    }
    if (is_column_of_rows(facts, Port::Bias)) return Violation{Port::Bias, "one key, with a bias,"};
    return {};
}

Found any_modifier_column(Facts const& facts) {
    auto const columns = columns_of_modifiers(facts);
    if (!facts.is_backward || columns.empty()) return {};
    return Violation{Port::ScoreMod,
                     "a modifier that reads '" + columns.front()->name + "', a value for each query or batch entry,"};
}

Found too_many_modifier_columns(Facts const& facts) {
    std::size_t const of_mask = is_column_of_rows(facts, Port::DropoutMask) ? 2 : 0;
    std::size_t const of_bias = is_column_of_rows(facts, Port::Bias) ? 1 : 0;
    std::size_t const of_modifiers = columns_of_modifiers(facts).size();
    if (of_mask + of_bias + of_modifiers <= 2) return {};
    Found found = any_modifier_column(facts);
    if (found) found->found += " with other columns";
    return found;
}

constexpr auto kFewColumns = kOlder | kAmpere | kConsumerBlackwell;
constexpr char const* kRepeatMaskColumn = "repeat the mask's column";
constexpr char const* kWithoutColumns =
    "repeat the column of the bias or the mask, write the modifier's mask as a bias, or use Target::cpu()";
constexpr char const* kTwoColumns =
    "at most two tensors with values for queries or batch entries in a modifier's backward, one with a bias of one "
    "column, none with a dropout mask of one; per-head values do not count";

constexpr Quirk kRows[] = {
    {.id = "cudnn.s20",
     .on = kFewColumns,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "all columns in a bias in backward, or per-head values",
     .fix = "repeat the bias's column",
     .check = bias_column},
    {.id = "cudnn.s27",
     .on = kFewColumns,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "neither a bias nor a dropout mask in backward of one key; per-head values do not count",
     .fix = "use Target::cpu(), or a second key of padding",
     .check = any_column_of_one_key},
    {.id = "cudnn.s27",
     .on = kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "no dropout mask with a bias in backward of one key; per-head values do not count",
     .fix = "use Target::cpu(), or a second key of padding",
     .seen = "12 of 12 runs past the limit had no engine",
     .check = two_columns_of_one_key},
    {.id = "cudnn.s27",
     .cudnn = {0, 92101},
     .on = kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {91900, kOffline},
     .summary = "no dropout mask with a bias in backward of one key; per-head values do not count",
     .fix = "install 9.21.1 or newer, use Target::cpu(), or a second key of padding",
     .check = two_columns_of_one_key},
    {.id = "cudnn.s33",
     .on = kFewColumns,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "modifiers without values for queries or batch entries in backward; per-head values do not count",
     .fix = kWithoutColumns,
     .check = any_modifier_column},
    {.id = "cudnn.s33",
     .on = kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = kTwoColumns,
     .fix = kWithoutColumns,
     .seen = "one of 1,092 refused passes of random modifiers had no engine before this limit existed",
     .check = too_many_modifier_columns},
    {.id = "cudnn.s33",
     .cudnn = {0, 92101},
     .on = kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {91900, kOffline},
     .summary = kTwoColumns,
     .fix = kWithoutColumns,
     .check = too_many_modifier_columns},
    {.id = "cudnn.s73",
     .on = kFewColumns,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "all columns in a dropout mask in backward, or per-head values",
     .fix = kRepeatMaskColumn,
     .check = mask_column},
    {.id = "cudnn.s73",
     .on = kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "all columns in a dropout mask with dBias; per-head values do not count",
     .fix = kRepeatMaskColumn,
     .check = mask_column_beside_bias_gradient},
    {.id = "cudnn.s73",
     .cudnn = {0, 92101},
     .on = kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {91900, kOffline},
     .summary = "all columns in a dropout mask with a bias of one in backward; per-head values do not count",
     .fix = kRepeatMaskColumn,
     .check = mask_and_bias_columns},
    {.id = "cudnn.s73",
     .on = kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "all columns in a dropout mask with a bias of one in backward; per-head values do not count",
     .fix = kRepeatMaskColumn,
     .seen = "19 of 19 runs past the limit had no engine, of 500 random cases; with 9.14.0 21 of 21",
     .check = mask_and_bias_columns},
};

}  // namespace

std::span<Quirk const> column_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
