#include "cudnn/quirks/quirk_rows.h"

#include "core/data_type.h"
#include "core/names.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/schema.h"

#include <array>
#include <limits>

namespace cudnn_frontend::quirks {
namespace {

enum class Fp8Direction { Forward, Backward };

bool is_of(Fp8Direction direction, Facts const& facts) {
    return facts.is_backward == (direction == Fp8Direction::Backward);
}

Found any_fp8(Facts const& facts) { return Violation{-1, facts.is_backward ? "FP8 backward" : "FP8 attention"}; }

template <Fp8Direction direction>
Found fp8_of(Facts const& facts) {
    return is_of(direction, facts) ? any_fp8(facts) : std::nullopt;
}

Found fp8_pages(Facts const& facts) {
    if (!nodes::has_pages(facts.node)) return {};
    return Violation{-1, "pages in FP8 attention"};
}

template <Fp8Direction direction, std::int64_t smallest, std::int64_t largest>
Found fp8_head_dims(Facts const& facts) {
    if (!is_of(direction, facts)) return {};
    return bad_head_dim(facts, [](std::int64_t dim) { return dim % 16 != 0 || dim < smallest || dim > largest; });
}

Found fp8_head_dims_of_one_query(Facts const& facts) {
    if (facts.is_backward || facts.queries() > 1) return {};
    return bad_head_dim(facts, [](std::int64_t dim) { return dim > 128; });
}

Found fp8_results(Facts const& facts) {
    auto const text = [&](int port, nodes::TensorSpec const& tensor) {
        bool const is_read = port == Port::O && facts.is_backward;
        if (is_read || core::is_fp8(tensor.data_type)) return std::string();
        return std::string("the data type ") + core::name_of(tensor.data_type);
    };
    Found found = wrong_at(facts, std::array{Port::O, Port::DQ, Port::DK, Port::DV}, text);
    if (found) found->found += " in FP8 attention";
    return found;
}

Found fp8_sink(Facts const& facts) {
    int const port = facts.is_backward ? Port::DSinkToken : Port::SinkToken;
    if (!facts.has(port)) return {};
    char const* const what = facts.is_backward ? "a dSink" : "a sink token";
    return Violation{port, std::string(what) + " in FP8 attention"};
}

Found fp8_wide_o(Facts const& facts) {
    nodes::TensorSpec const* const o = facts.tensor(Port::O);
    if (!facts.has(Port::DescaleO) || core::is_fp8(o->data_type)) return {};
    return Violation{Port::O, std::string("O of ") + core::name_of(o->data_type) + " in FP8 backward"};
}

Found fp8_of_one_query(Facts const& facts) {
    if (facts.is_backward || facts.queries() > 1) return {};
    return Violation{Port::Q, "one query in FP8 attention"};
}

Found fp8_dropout(Facts const& facts) {
    if (!draws_dropout(facts)) return {};
    return Violation{-1, "a dropout probability in FP8 attention"};
}

Found fp8_modifier_gradient(Facts const& facts) {
    if (!facts.has(Port::DScoreMod) || !has_backward_activation(facts)) return {};
    return Violation{Port::DScoreMod,
                     "TANH_BWD or another backward activation in a modifier's gradient in FP8 attention"};
}

Found fp8_ragged(Facts const& facts) {
    return violation_at(row_ports(facts, true), {"a ragged offset in FP8 attention"});
}

Found fp8_deterministic(Facts const& facts) {
    if (!is_deterministic(facts)) return {};
    return Violation{-1, "the deterministic algorithm in FP8 attention"};
}

Found fp8_ignored(Facts const& facts) {
    auto const found = [](int port, char const* what) {
        return Violation{port, std::string(what) + " in FP8 attention"};
    };
    if (facts.has(Port::Score)) return found(Port::ScoreMod, "a modifier");
    if (facts.has(Port::DropoutMask)) return found(Port::DropoutMask, "a dropout mask");
    if (draws_dropout(facts)) return found(-1, "a dropout probability");
    if (facts.is_backward) return {};
    if (facts.has(Port::Bias)) return found(Port::Bias, "a bias");
    if (facts.fields.alibi_mask) return found(-1, "an alibi mask");
    return {};
}

Found fp8_rows(Facts const& facts) {
    if (!facts.is_backward || facts.queries() % 16 == 0) return {};
    return Violation{Port::Q, number(facts.queries()) + " queries in FP8 backward"};
}

Found fp8_heads(Facts const& facts) {
    auto const heads = [&](int port) { return facts.tensor(port)->dim[1]; };
    bool const k_has_fewer = heads(Port::K) < heads(Port::Q), v_has_fewer = heads(Port::V) < heads(Port::Q);
    if (!facts.is_backward || k_has_fewer == v_has_fewer) return {};
    return Violation{k_has_fewer ? Port::K : Port::V, number(heads(Port::K)) + " heads in K and " +
                                                          number(heads(Port::V)) + " in V with Q's " +
                                                          number(heads(Port::Q)) + " in FP8 backward"};
}

Found fp8_band(Facts const& facts) {
    auto const& fields = facts.fields;
    bool const is_moved = fields.padding_mask && fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    if (facts.is_backward || !fields.left_bound || !is_moved) return {};
    return Violation{-1, "a left bound from the bottom right corner with lengths in FP8 attention"};
}

Found fp8_extremes(Facts const& facts) {
    if (facts.is_backward) return {};
    Found found = wrong_at(facts, std::array{Port::Max, Port::SumExp}, [&](int port, nodes::TensorSpec const&) {
        return std::string(nodes::port_name(facts.node.kind(), port));
    });
    if (found) found->found += " in FP8 attention";
    return found;
}

// Its kernel reads them from the GPU's memory, whatever the graph says.
Found fp8_factors(Facts const& facts) {
    if (!facts.is_backward) return {};
    auto const text = [](int port, nodes::TensorSpec const& factor) {
        bool const is_on_host = nodes::is_fp8_port(port) && (factor.is_by_value || factor.value);
        return is_on_host ? "a factor on the host in FP8 backward" : "";
    };
    return wrong_at(facts, Port::kPortsWhere<is_any>, text);
}

constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();
constexpr char const* kPadHeads = "pad the heads with zeros, or use Target::cpu()";
constexpr char const* kWiderTypes = "use HALF or BFLOAT16, or Target::cpu()";

constexpr Quirk kRows[] = {
    {.id = "cudnn.s40",
     .on = kOlder | kAmpere,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "compute capability 9.0, 10.x or 12.x for FP8 attention",
     .fix = "use HALF or BFLOAT16 here, or Target::cpu()",
     .check = any_fp8,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s40",
     .on = kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "forward alone for FP8 attention",
     .fix = "use HALF or BFLOAT16 here, or Target::cpu()",
     .check = fp8_of<Fp8Direction::Backward>,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s40",
     .cudnn = {0, 91900},
     .on = kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {91400, kOffline},
     .summary = "cuDNN 9.19 or newer for FP8 attention",
     .fix = "install 9.19 or newer, use HALF or BFLOAT16 here, or Target::cpu()",
     .check = fp8_of<Fp8Direction::Forward>,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s41",
     .on = kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "head dims in multiples of 16 up to 256 for FP8 attention",
     .fix = kPadHeads,
     .check = fp8_head_dims<Fp8Direction::Forward, 16, 256>,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s41",
     .on = kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "head dims of 128 for FP8 backward",
     .fix = kPadHeads,
     .check = fp8_head_dims<Fp8Direction::Backward, 128, 128>,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s41",
     .on = kOlder | kAmpere | kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92800, kOffline},
     .summary = "head dims in multiples of 16 for FP8 attention",
     .fix = kPadHeads,
     .check = fp8_head_dims<Fp8Direction::Forward, 16, kNoBound>,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s41",
     .on = kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "head dims in multiples of 16 up to 128 for FP8 attention",
     .fix = kPadHeads,
     .check = fp8_head_dims<Fp8Direction::Forward, 16, 128>,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s41",
     .on = kEvery - kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "head dims in multiples of 16 up to 128 for FP8 backward",
     .fix = kPadHeads,
     .check = fp8_head_dims<Fp8Direction::Backward, 16, 128>,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s41",
     .on = kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "head dims up to 128 for one query in FP8 attention",
     .fix = "give Q a second row, or use HALF or BFLOAT16",
     .seen = "9.19.0 and 9.28.1 name an engine, which does not compile: 160, 192, 256, 512 with 200 to 65536 keys",
     .check = fp8_head_dims_of_one_query,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s42",
     .on = kEvery - kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "results of an FP8 type in FP8 attention",
     .fix = "set_data_type(DataType_t::FP8_E4M3), and multiply by the descale after",
     .check = fp8_results,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s43",
     .on = kHopper,
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "in FP8 attention no sink token in forward, no dSink in backward",
     .fix = kWiderTypes,
     .seen = "9.19.0 has no engine for forward (4 cases), 9.14.0 gives wrong Stats; backward ends in an illegal memory "
             "access (6 cases)",
     .check = fp8_sink,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s44",
     .on = kEvery - kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "more than one query in FP8 attention",
     .fix = "give Q a second row, before the query in a bottom-right mask without lengths, or use HALF or BFLOAT16",
     .check = fp8_of_one_query,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s45",
     .on = kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "no dropout probability in FP8 attention",
     .fix = "drop by a mask of yours, or use HALF or BFLOAT16",
     .check = fp8_dropout,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s46",
     .on = kEvery - kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "neither TANH_BWD nor another backward activation in a modifier's gradient in FP8 attention",
     .fix = kWiderTypes,
     .check = fp8_modifier_gradient,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s47",
     .on = kHopper,
     .evidence = Evidence::Crash,
     .verified = {91900, kH200},
     .summary = "no ragged offsets in FP8 attention: a sequence without queries ends its forward kernel, and backward "
                "has no engine or writes elsewhere",
     .fix = "pad the sequences",
     .seen = "forward of a sequence without queries, which no host sees: an illegal instruction, 4 of 24 random cases; "
             "other forward cases were right. Backward: 6 had no engine, 5 were wrong, with writes outside the "
             "workspace",
     .check = fp8_ragged,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s48",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "FP8 backward without the deterministic algorithm: cuDNN has no such form",
     .fix = "leave out set_deterministic_algorithm(), or use HALF or BFLOAT16",
     .seen = "the numbers are right; nothing says that each run gives the same bits",
     .check = fp8_deterministic,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s49",
     .on = kHopper,
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "in FP8 attention no modifier and no dropout, and no bias or ALiBi in forward: its kernels ignore "
                "them, or fault",
     .fix = kWiderTypes,
     .seen =
         "with s50 and s51 160 of 160 runs wrong. Forward ignores a bias, ALiBi, a modifier and a dropout mask, and "
         "generated dropout faults; backward ignores modifiers and masks, and applies bias and ALiBi",
     .check = fp8_ignored,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s50",
     .on = kHopper,
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "no Max and Sum_exp in FP8 attention, which cuDNN gives wrong",
     .fix = "leave them out, or use HALF or BFLOAT16",
     .seen = "Max is wrong",
     .check = fp8_extremes,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s51",
     .on = kHopper,
     .evidence = Evidence::Crash,
     .verified = {91900, kH200},
     .summary = "scales and descales in the GPU's memory for FP8 backward",
     .fix = "make them tensors with pointers in the pack, neither numbers nor by value",
     .seen = "an illegal memory access where they are part of the graph or by value. Forward is right",
     .check = fp8_factors,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s52",
     .cudnn = {0, 91900},
     .on = kHopper,
     .evidence = Evidence::NoEngine,
     .verified = {91400, kH200},
     .summary = "cuDNN 9.19 or newer for pages in FP8 attention",
     .fix = "install 9.19 or newer, or use HALF or BFLOAT16",
     .seen = "9.14.0: 10 of 10 runs past the limit had no engine",
     .check = fp8_pages,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s63",
     .on = kHopper,
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "queries in multiples of 16 for FP8 backward: of others cuDNN loses parts of dQ's rows",
     .fix = "pad Q, O and dO to such a number of rows, and give the lengths, or use HALF or BFLOAT16",
     .seen = "88 of 92 runs wrong, with 9.14.0 and 9.19.0: dQ's columns 16 to 31, 48 to 63 and so on hold zeros in as "
             "many of the last rows as lie past a multiple of 16, or are missing to one. Lengths within a fitting Sq "
             "are right",
     .check = fp8_rows,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s64",
     .on = kHopper | kDatacenterBlackwell,
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "K and V both with as many heads as Q, or both with fewer, for FP8 backward: else cuDNN leaves out dV, "
                "or compiles no plan",
     .fix = "repeat the heads of the one, or use HALF or BFLOAT16",
     .seen = "10 of 55 runs wrong: with as many heads in V as in Q and fewer in K dV is not written; the other 45, the "
             "other way round, had no plan, on 10.x neither",
     .check = fp8_heads,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s65",
     .on = kHopper,
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "the top left corner for a left bound with lengths in FP8 forward: from the bottom right "
                "one cuDNN uses other keys",
     .fix = "leave out set_diagonal_band_left_bound(), or use HALF or BFLOAT16",
     .seen = "9.14.0 and 9.19.0, with a right bound or without: Stats and O are of other keys in 3 of 12 runs, which "
             "were random; 4 had no engine. Full lengths are right, which no host sees, and so is backward",
     .check = fp8_band,
     .of = QuirkScope::Fp8},
    {.id = "cudnn.s67",
     .on = kHopper,
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "O of an FP8 type in FP8 backward: of others cuDNN leaves out descale_o",
     .fix = "store O as FP8_E4M3 or FP8_E5M2, or use Target::cpu()",
     .seen = "3 of 8 runs wrong; right where descale_o is 1. amax_dP is that of O taken as it is",
     .check = fp8_wide_o,
     .of = QuirkScope::Fp8},
};

}  // namespace

std::span<Quirk const> fp8_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
