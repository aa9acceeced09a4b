#include "cudnn/quirks/quirk_rows.h"

#include "cudnn/quirks/limit_tools.h"

namespace cudnn_frontend::quirks {
namespace {

// Each part counts the sink, draws by positions of its own, and reads the values of other heads.
Found wrong_in_parts(Facts const& facts) {
    if (!is_forward_of_one_query(facts)) return {};
    if (facts.has(Port::SinkToken)) return Violation{Port::SinkToken, "a sink token"};
    if (draws_dropout(facts)) return Violation{-1, "generated dropout"};
    return per_head_values(facts);
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.e01",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary =
         "may be a split-KV kernel, which computes decode with a sink, generated dropout or a per-head bias wrong",
     .fix = "the next engine configuration serves, which is right",
     .seen =
         "heuristics put kernels first that split the keys from 257 on, and again beyond 512 (KERNEL_CFG 35, from "
         "9.23 on STREAM_K 1). Each part counts columns from 0, and key heads where they are shared; reads per-head "
         "values at wrong places where they occur with an index, and past their end; counts the sink, and gives NaN "
         "where all its scores are 100 below it; draws dropout for wrong positions, out of bounds. 8 of 8 runs with a "
         "sink were wrong. Windows, causality, lengths, documents, softcap, biases and masks of columns are right. A "
         "configuration whose knobs do not say whether it splits keys is barred too",
     .check = wrong_in_parts,
     .verdict = Verdict::BarEngine},
};

}  // namespace

std::span<Quirk const> engine_bars() { return kRows; }

}  // namespace cudnn_frontend::quirks
