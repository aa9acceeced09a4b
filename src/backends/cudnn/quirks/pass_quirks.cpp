#include "cudnn/quirks/quirk_rows.h"

namespace cudnn_frontend::quirks {
namespace {

constexpr Quirk kRows[] = {
    {.id = "cudnn.w01",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary =
         "of several masks row >= column, as a causal mask in a modifier and a right bound, engines apply one; a "
         "selection by row < column ends the process that plans backward",
     .fix =
         "all but the last become column <= row, in which form all are applied, and row < column becomes column > row",
     .seen = "O is wrong, and dQ, dK and dV of more queries than keys are, with 9.14.0 and 9.19.0; the crash for each "
             "architecture, asked offline",
     .verdict = Verdict::Rewrite,
     .pass = "turn edge masks"},
    {.id = "cudnn.w02",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "no engine supports a softmax without its logarithm, and with the logarithm Max and Sum_exp "
                "stay unwritten",
     .fix = "the logarithm is a result that nothing reads, except in graphs with Max or Sum_exp",
     .verdict = Verdict::Rewrite,
     .pass = "add unread logarithm"},
    {.id = "cudnn.w03",
     .evidence = Evidence::Crash,
     .verified = {91900, kH200},
     .summary = "Max without Sum_exp is an illegal memory access",
     .fix = "the other is written to memory of the plan's own",
     .seen = "the GPU case \"max alone\"",
     .verdict = Verdict::Rewrite,
     .pass = "place softmax rows"},
    {.id = "cudnn.w04",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "split-KV kernels of decode count ALiBi's columns from 0 in each part of the keys; with pages they "
                "use another head's slope",
     .fix = "what ALiBi adds is a table in the plan's memory",
     .seen = "right with the table, dense and in pages, with 131, 321, 600, 1,000 and 4,096 keys",
     .verdict = Verdict::Rewrite,
     .pass = "tabulate ALiBi"},
    {.id = "cudnn.w05",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "split-KV kernels of decode count a modifier's columns from 0 in each part of the keys, and key heads "
                "where a modifier counts heads",
     .fix = "the indices come from tables in the plan's memory",
     .seen = "the index of heads: 6 of 6 shapes wrong, dense and in pages; right with the tables",
     .verdict = Verdict::Rewrite,
     .pass = "tabulate indices"},
    {.id = "cudnn.w06",
     .evidence = Evidence::Untried,
     .summary = "forward's engines are known to be right where the user's dropout mask comes after its scale, and a "
                "generated one before",
     .fix = "probabilities are scaled before the user's mask is applied",
     .seen =
         "9.19.0 offline: engines for every architecture support the mask before its scale too; an H200 was right in "
         "256 of 256 passes so; other GPUs and releases were not tried",
     .verdict = Verdict::Rewrite,
     .pass = "scale before given mask"},
    {.id = "cudnn.w07",
     .evidence = Evidence::Untried,
     .summary = "backward's engines are known to be right where the scale of generated dropout is applied after the "
                "row's sum was subtracted, and that of the user's mask before",
     .fix = "the scale of generated dropout is applied after the subtraction",
     .seen = "9.19.0 on an H200: with the user's mask dQ and dK are wrong in the other form",
     .verdict = Verdict::Rewrite,
     .pass = "scale drawn gradients late"},
    {.id = "cudnn.w08",
     .evidence = Evidence::Crash,
     .verified = {91900, kH100},
     .summary = "a row's sum in backward that is multiplied by no factor and is not in memory causes an illegal memory "
                "access, except with 8 bits",
     .fix = "the sum is multiplied by 1 where there is no factor, and is in the plan's memory",
     .seen = "73 of 89 passes; engines for every architecture plan the sum as it is",
     .verdict = Verdict::Rewrite,
     .pass = "end row sums"},
    {.id = "cudnn.w09",
     .evidence = Evidence::Untried,
     .summary = "backward's engines are known to be right where dQ's product reads the keys as the transpose of the "
                "scores' transposed ones",
     .fix = "they are made so, except with block scales",
     .seen =
         "9.19.0 offline: engines for every architecture support the keys as they are too; an H200 was right in 430 of "
         "430 passes so; other GPUs and releases were not tried",
     .verdict = Verdict::Rewrite,
     .pass = "restore keys"},
    {.id = "cudnn.w10",
     .evidence = Evidence::Slower,
     .verified = {91900, kH200},
     .summary = "dQ in one piece is the deterministic algorithm; the other is known by an accumulator of dQ in memory",
     .fix = "dQ is accumulated in the plan's memory, except in deterministic backward, with dBias and with 8 bits",
     .seen = "64 query heads of 128, 8,192 rows, causal: 5,726 us and 8.25 GiB in one piece, 5,062 us and 0.50 GiB "
             "accumulated",
     .verdict = Verdict::Rewrite,
     .pass = "accumulate gradient of queries"},
    {.id = "cudnn.w11",
     .on = kHopper | kDatacenterBlackwell,
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary =
         "sums of packed sequences' backward have room for the longest sequence in each batch entry unless they are "
         "packed too; packed, they are wrong for head dims that are no multiple of 16, and dQ's under another offset "
         "than Q's",
     .fix = "they are packed where that is right",
     .seen =
         "16 of 16 runs wrong with heads of 72, where dQ's columns from 16 on are 0; 4 of 8 under another offset, "
         "where the kernel writes them as Q lies and reads them as dQ does. Right: row sums, dQ's, dK's and dV's "
         "before heads are added up, with shared heads, unequal numbers of heads in K and V, dense Stats, results "
         "with gaps, an empty sequence, all in one buffer, heads of 192 and 128. Asked offline alone: 10.x. NVIDIA's "
         "word: of no use elsewhere",
     .verdict = Verdict::Rewrite,
     .pass = "pack scratch"},
    {.id = "cudnn.w12",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary =
         "backward without a padding mask gives NaN in dQ, dK and dV where the last tile of 128 keys is not full "
         "and all scores are below -88; of one query where that tile is full too",
     .fix = "the full lengths are a padding mask, from memory of the plan's own, so that captured graphs stay valid",
     .seen = "9.14.0: 26 of 1,139 random passes of 131 to 2,047 keys. 9.19.0: right for two queries and more (1,300 "
             "random cases), wrong for one query and in FP8, there in amax_dP too. Full tiles are right without "
             "it, and so was a last tile of 64 keys, which was reported to be wrong",
     .verdict = Verdict::Rewrite,
     .pass = "mask by full lengths"},
    {.id = "cudnn.w13",
     .cudnn = {0, 91900},
     .evidence = Evidence::WrongNumbers,
     .verified = {91400, kH200},
     .summary = "with a dropout mask the same wrong numbers as those of cudnn.w12",
     .fix = "the full lengths are a padding mask there too, which takes 1.25 times the time",
     .verdict = Verdict::Rewrite,
     .pass = "mask by full lengths next to a mask"},
    {.id = "cudnn.w13",
     .cudnn = {91900, 0},
     .on = kEvery - kHopper,
     .evidence = Evidence::WrongNumbers,
     .summary = "with a dropout mask perhaps the wrong numbers of cudnn.w12 on architectures other than 9.0, where "
                "results were right",
     .fix = "the full lengths are a padding mask there too; on 9.0 only where half a tile of keys is left",
     .seen = "no other was run; on an H200 8 of 8 cases were right without it, half a tile was reported to be wrong",
     .verdict = Verdict::Rewrite,
     .pass = "mask by full lengths next to a mask"},
    {.id = "cudnn.w14",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "a bias, a dropout mask or a modifier's tensor of one row is read wrong: in backward, and in forward "
                "where it has one column too that differs between batch entries",
     .fix = "the row is repeated by a stride of 0, except where it holds per-head values",
     .seen =
         "wrong dQ, dK and dV, wrong O and Stats, with 9.14.0 and 9.19.0; repeated it is right. A document mask takes "
         "525.9 us forward instead of 336.8 and 1232.0 backward instead of 740.6, so that forward keeps one row of "
         "many columns",
     .verdict = Verdict::Rewrite,
     .pass = "repeat rows"},
    {.id = "cudnn.w15",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "forward reads a dropout mask's row in pieces of the tensor's alignment, and past the row's end",
     .fix = "the mask has the alignment of its row's length (131 keys of 16 bits: 2 bytes)",
     .seen = "of 131 keys in rows of 132 or 136 O is NaN or wrong, of one query and one row of 31 for all heads too. "
             "Both directions take the same time. Backward is right with the alignment of the address too",
     .verdict = Verdict::Rewrite,
     .pass = "align dropout masks"},
    {.id = "cudnn.w16",
     .evidence = Evidence::Crash,
     .verified = {91900, kH200},
     .summary = "a bias or a mask of one column with strides {.., 1, rows} is a misaligned address",
     .fix = "the stride of a last dim of 1 is 1",
     .seen = "right then: 48 of 48 passes with 9.14.0 and 9.19.0",
     .verdict = Verdict::Rewrite,
     .pass = "tidy last strides"},
    {.id = "cudnn.w18",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "engines negate the sum for dSink themselves",
     .fix = "the graph does not negate it",
     .verdict = Verdict::Rewrite,
     .pass = "leave the sink's sign"},
    {.id = "cudnn.w19",
     .evidence = Evidence::Untried,
     .summary = "backward's engines are known to be right where the masks of bands come after Stats were subtracted, "
                "and before it in 8 bits",
     .fix = "Stats are subtracted first, except in 8 bits",
     .seen =
         "9.19.0 offline: engines for every architecture support the bands first too; an H200 was right in 436 of 436 "
         "passes so; other GPUs and releases were not tried",
     .verdict = Verdict::Rewrite,
     .pass = "mask bands late"},
    {.id = "cudnn.w20",
     .evidence = Evidence::Untried,
     .summary = "engines are known to be right where the bound of a left edge is one sum in floating point, unless "
                "lengths shift it",
     .fix = "it is made so",
     .seen =
         "9.19.0 offline: engines for every architecture support the sums of integers too; an H200 was right in 196 "
         "of 196 passes so; other GPUs and releases were not tried",
     .verdict = Verdict::Rewrite,
     .pass = "add left bounds as floats"},
    {.id = "cudnn.w21",
     .on = kEvery - kDatacenterBlackwell - kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "8-bit attention has engines with a factor of the scores alone",
     .fix = "scores, and backward's gradients of them, are multiplied by 1 where there is no factor",
     .verdict = Verdict::Rewrite,
     .pass = "multiply narrow scores"},
    {.id = "cudnn.w21",
     .on = kDatacenterBlackwell | kConsumerBlackwell,
     .evidence = Evidence::Untried,
     .summary = "so it is known to be right, but engines support 8-bit attention without that factor",
     .fix = "the same",
     .seen = "9.19.0 offline, for B200 and RTX 5090",
     .verdict = Verdict::Rewrite,
     .pass = "multiply narrow scores"},
    {.id = "cudnn.w22",
     .evidence = Evidence::Untried,
     .summary = "engines scale block-scaled probabilities before they round them, and divide by that after the "
                "product, on their own",
     .fix = "both steps are left out",
     .seen = "9.28.1 offline: engines for B200 support the steps too",
     .verdict = Verdict::Rewrite,
     .pass = "leave the probabilities' scale"},
    {.id = "cudnn.w23",
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "no engine supports a modifier's operation that reads two tensors from memory, or one and a constant",
     .fix = "of two tensors of integers that are compared one becomes row - row + itself, and so does one that is "
            "compared with a constant",
     .verdict = Verdict::Rewrite,
     .pass = "compute compared inputs"},
    {.id = "cudnn.w24",
     .evidence = Evidence::Untried,
     .summary = "engines are known to be right where what selects and what logical operations read is BOOLEAN",
     .fix = "comparisons and logical operations give BOOLEAN, and of other INT32 a comparison with 0 does",
     .seen = "9.19.0 offline: engines support a selection by INT32 too, computed and from memory",
     .verdict = Verdict::Rewrite,
     .pass = "make predicates BOOLEAN"},
    {.id = "cudnn.w25",
     .evidence = Evidence::Crash,
     .verified = {91900, kH200},
     .summary = "either all of Q, K, V, O and their gradients are ragged or none: with both kinds kernels execute an "
                "illegal instruction or compute wrong numbers",
     .fix = "in a graph with ragged tensors, dense ones get offsets from a table in the plan's memory: b times the "
            "batch stride",
     .seen =
         "with both kinds 42 of 95 runs failed; the form that kernels get is that of ragged tensors with gaps and of "
         "ragged inputs in slots, which were right",
     .verdict = Verdict::Rewrite,
     .pass = "give offsets"},
    {.id = "cudnn.w26",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "dSink is added up in any order, also under the deterministic algorithm; with a dropout probability p "
                "it is multiplied by 1 - p, and with ragged tensors it includes rows past the lengths",
     .fix = "in these cases a kernel of this library computes it after the engine, in one order, from Stats, O and dO",
     .seen = "deterministic, the numbers are right, and other bits in each of 20 runs; 28 of 28 runs with a dropout "
             "probability wrong; 8 of 12 with ragged tensors",
     .verdict = Verdict::Rewrite,
     .pass = "separate the sink's gradient"},
};

}  // namespace

std::span<Quirk const> rewrites() { return kRows; }

}  // namespace cudnn_frontend::quirks
