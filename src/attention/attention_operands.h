// Attention's operands: one table of the facts that more than one layer needs. Nodes get their ports, inference and
// checks from it, the op graph the operands of attention as one operation, and backends the tensors of that one.
#pragma once

#include "core/dims.h"

#include <algorithm>
#include <array>
#include <limits>

namespace cudnn_frontend::attention {

// The ports of forward and backward together, so that those of both are written once. Append, and never reorder: graphs
// number tensors in this order.
enum Port : int {
    Q,
    K,
    V,
    O,
    DO,
    Stats,
    AttnScale,
    Bias,
    SeqLenQ,
    SeqLenKv,
    Seed,
    Offset,
    DropoutMask,
    DropoutScale,
    DropoutScaleInv,
    RngDump,
    Score,
    ScoreMod,
    DScore,
    DScoreMod,
    DQ,
    DK,
    DV,
    DBias,
    PageTableK,
    PageTableV,
    SinkToken,
    DSinkToken,
    Max,
    SumExp,
    BlockMask,
    DescaleQ,
    DescaleK,
    DescaleV,
    DescaleO,
    DescaleDO,
    DescaleS,
    DescaleDP,
    ScaleS,
    ScaleO,
    ScaleDQ,
    ScaleDK,
    ScaleDV,
    ScaleDP,
    AmaxS,
    AmaxO,
    AmaxDQ,
    AmaxDK,
    AmaxDV,
    AmaxDP,
    QTransposed,
    KTransposed,
    DOTransposed,
    DOF16,
    DescaleQTransposed,
    DescaleKTransposed,
    DescaleDOTransposed,
    CuSeqLenQ,
    CuSeqLenKv,
    PortCount
};

// The lengths of sequences come as themselves or as their sums.
struct LengthPorts {
    Port lengths, sums;
};
inline constexpr LengthPorts kQueryLengths{SeqLenQ, CuSeqLenQ};
inline constexpr LengthPorts kKeyLengths{SeqLenKv, CuSeqLenKv};

// The use of an operand in forward or backward.
enum class Use { None, Reads, MayRead, Makes, MayMake };

constexpr bool is_used(Use use) { return use != Use::None; }
constexpr bool reads(Use use) { return use == Use::Reads || use == Use::MayRead; }
constexpr bool makes(Use use) { return use == Use::Makes || use == Use::MayMake; }
constexpr bool is_required(Use use) { return use == Use::Reads || use == Use::Makes; }

// The size of a dim, by the things it counts. Hk, Hv and Dqk are read from the tensor itself.
enum class Size { One, B, Hq, Hk, Hv, Sq, Skv, Dqk, Dv, Ends, QueryTiles, KeyTileBytes, Pages, Blocks };

struct Shape {
    std::array<Size, 4> sizes;
    char const* meaning = "";  // of these dims, in messages
    bool broadcasts = false;   // any of the sizes may be 1

    friend constexpr bool operator==(Shape const& a, Shape const& b) {
        return a.sizes == b.sizes && a.broadcasts == b.broadcasts;
    }
};

namespace shapes {
using enum Size;
inline constexpr Shape kNumber{{One, One, One, One}};
inline constexpr Shape kQueries{{B, Hq, Sq, Dqk}};
inline constexpr Shape kKeys{{B, Hk, Skv, Dqk}};
inline constexpr Shape kValues{{B, Hv, Skv, Dv}};
inline constexpr Shape kOutputs{{B, Hq, Sq, Dv}, "{B, Hq, Sq, Dv} of Q and V"};
inline constexpr Shape kRows{{B, Hq, Sq, One}, "{B, Hq, Sq, 1} of Q"};
inline constexpr Shape kScores{{B, Hq, Sq, Skv}, "{B, Hq, Sq, Skv} of Q and K"};
inline constexpr Shape kLikeScores{{B, Hq, Sq, Skv}, "the scores' {B, Hq, Sq, Skv}, each of them or 1", true};
inline constexpr Shape kHeads{{One, Hq, One, One}, "one number for each head of Q"};
inline constexpr Shape kLengths{{B, One, One, One}, "one length for each batch entry of Q"};
inline constexpr Shape kEnds{{Ends, One, One, One}, "where each batch entry of Q ends, after a first 0"};
inline constexpr Shape kTiles{{B, Hq, QueryTiles, KeyTileBytes}, "a bit for each tile of 128 queries by 128 keys"};
inline constexpr Shape kPages{{B, One, Pages, One}};
inline constexpr Shape kBlocks{{B, Blocks, Blocks, Blocks}};
}  // namespace shapes

// The types that an operand may have.
enum class TypeClass {
    Io,        // HALF, BFLOAT16 or FLOAT, in 8-bit attention an 8-bit type
    Result,    // HALF, BFLOAT16 or FLOAT, in 8-bit attention any narrow type
    Wide,      // HALF, BFLOAT16 or FLOAT
    Float,     // FLOAT
    Floating,  // any floating-point type
    Integer,   // INT32 or INT64
    Int32,
    Uint8,
    E8m0
};

// The attention that has an operand: any, 8-bit attention with a factor for each tensor, or with block scales.
enum class Part { Any, Fp8, Blocks };

struct Operand {
    Port port;
    char const* name;   // in messages and JSON
    char const* label;  // in the op graph; null where attention as one operation has no such operand
    Use forward, backward;
    Shape shape;
    TypeClass type;
    char const* summary;
    Port gradient_of = PortCount;  // PortCount: it is no gradient
    Part part = Part::Any;
    bool is_inner = false;                // between attention and its score modifier
    char const* other_summary = nullptr;  // in backward, where it differs

    constexpr char const* summary_in_backward() const { return other_summary ? other_summary : summary; }
};

constexpr Operand inner(Operand operand) {
    operand.is_inner = true;
    return operand;
}
constexpr bool is_inner(Operand const& row) { return row.is_inner; }
constexpr Operand differs_in_backward(Operand operand, char const* summary) {
    operand.other_summary = summary;
    return operand;
}
// A factor of 8-bit attention or a greatest magnitude.
constexpr Operand fp8(Port port, char const* name, Use forward, Use backward, char const* summary) {
    return {port, name, nullptr, forward, backward, shapes::kNumber, TypeClass::Float, summary, PortCount, Part::Fp8};
}
constexpr Operand of_blocks(Port port, char const* name, Shape const& shape, TypeClass type, char const* summary) {
    return {port, name, nullptr, Use::None, Use::MayRead, shape, type, summary, PortCount, Part::Blocks};
}

namespace table {

using enum Use;
using enum TypeClass;
using namespace shapes;

// The operands in the order of documents and listings, which is not that of Port.
// clang-format off
inline constexpr std::array<Operand, PortCount> kOperands = {
    Operand{Q, "Q", "q", Reads, Reads, kQueries, Io, "queries {B, Hq, Sq, Dqk}"},
    Operand{K, "K", "k", Reads, Reads, kKeys, Io, "keys {B, Hk, Skv, Dqk}"},
    Operand{V, "V", "v", Reads, Reads, kValues, Io, "values {B, Hv, Skv, Dv}"},
    differs_in_backward({O, "O", "o", Makes, Reads, kOutputs, Result, "result {B, Hq, Sq, Dv}"},
                        "the forward result {B, Hq, Sq, Dv}"),
    Operand{DO, "dO", "d_o", None, Reads, kOutputs, Io, "gradient of O", O},
    differs_in_backward({Stats, "Stats", "stats", MayMake, Reads, kRows, Float,
                         "log-sum-exp of the scores of a row"},
                        "the forward log-sum-exp"),
    Operand{Max, "Max", "max", MayMake, None, kRows, Float, "the greatest score of a row"},
    Operand{SumExp, "Sum_exp", "sum_exp", MayMake, None, kRows, Float, "sum of exp(score - Max) of a row"},
    Operand{DropoutScaleInv, "dropout_scale_inv", nullptr, None, MayRead, kNumber, Float,
            "the inverse of dropout_scale"},
    Operand{DQ, "dQ", "d_q", None, Makes, kQueries, Result, "gradient of Q", Q},
    Operand{DK, "dK", "d_k", None, Makes, kKeys, Result, "gradient of K", K},
    Operand{DV, "dV", "d_v", None, Makes, kValues, Result, "gradient of V", V},
    Operand{DBias, "dBias", "d_bias", None, MayMake, kLikeScores, Wide, "gradient of the bias", Bias},
    inner({DScore, "dScore", nullptr, None, MayMake, kScores, Float, "gradient of what the modifier made"}),
    inner({DScoreMod, "dScore_mod", nullptr, None, MayRead, kScores, Float, "gradient of the scores"}),
    Operand{DSinkToken, "dSink_token", "d_sink", None, MayMake, kHeads, Float, "gradient of the sink token",
            SinkToken},
    Operand{AttnScale, "attn_scale", "scale", MayRead, MayRead, kNumber, Floating, "factor of the scores"},
    Operand{Bias, "bias", "bias", MayRead, MayRead, kLikeScores, Wide, "added to the scaled scores"},
    Operand{SeqLenQ, "seq_len_q", "seq_len_q", MayRead, MayRead, kLengths, Integer, "rows of each batch entry"},
    Operand{SeqLenKv, "seq_len_kv", "seq_len_kv", MayRead, MayRead, kLengths, Integer,
            "columns of each batch entry"},
    Operand{CuSeqLenQ, "cu_seq_len_q", nullptr, MayRead, MayRead, kEnds, Integer,
            "in place of seq_len_q, their sums: {B + 1, 1, 1, 1}"},
    Operand{CuSeqLenKv, "cu_seq_len_kv", nullptr, MayRead, MayRead, kEnds, Integer,
            "in place of seq_len_kv, their sums: {B + 1, 1, 1, 1}"},
    Operand{Seed, "seed", "seed", MayRead, MayRead, kNumber, Integer, "key of the dropout generator"},
    Operand{Offset, "offset", "offset", MayRead, MayRead, kNumber, Integer, "position of the dropout generator"},
    Operand{DropoutMask, "dropout_mask", "dropout_mask", MayRead, MayRead, kLikeScores, Wide,
            "1 keeps a probability"},
    Operand{DropoutScale, "dropout_scale", "dropout_scale", MayRead, MayRead, kNumber, Float,
            "factor of what is kept"},
    Operand{SinkToken, "sink_token", "sink", MayRead, MayRead, kHeads, Wide,
            "a logit for each head, in the softmax without a key"},
    Operand{RngDump, "rng_dump", "rng_dump", MayMake, MayMake, kScores, Float, "the generated dropout mask"},
    inner({Score, "score", nullptr, MayMake, MayMake, kScores, Float, "scaled scores, for a modifier"}),
    inner({ScoreMod, "score_mod", nullptr, MayRead, MayRead, kScores, Float, "what a modifier made of them"}),
    Operand{PageTableK, "page_table_k", "page_table_k", MayRead, None, kPages, Int32,
            "which pages of K each batch entry has"},
    Operand{PageTableV, "page_table_v", "page_table_v", MayRead, None, kPages, Int32,
            "which pages of V each batch entry has"},
    Operand{BlockMask, "block_mask", "block_mask", MayRead, None, kTiles, Uint8,
            "a bit for each tile of scores, 1 keeps it"},

    fp8(DescaleQ, "descale_q", MayRead, MayRead, "factor of Q after reading"),
    fp8(DescaleK, "descale_k", MayRead, MayRead, "factor of K after reading"),
    fp8(DescaleV, "descale_v", MayRead, MayRead, "factor of V after reading"),
    fp8(DescaleO, "descale_o", None, MayRead, "factor of O after reading"),
    fp8(DescaleDO, "descale_dO", None, MayRead, "factor of dO after reading"),
    differs_in_backward(fp8(DescaleS, "descale_s", MayRead, MayRead,
                            "factor of the probabilities after their product with V"),
                        "factor of the probabilities after their product with dO"),
    fp8(DescaleDP, "descale_dP", None, MayRead, "factor of the scores' gradients after their products"),
    fp8(ScaleS, "scale_s", MayRead, MayRead, "factor of the probabilities before they become 8-bit numbers"),
    fp8(ScaleO, "scale_o", MayRead, None, "factor of O before writing"),
    fp8(ScaleDQ, "scale_dQ", None, MayRead, "factor of dQ before writing"),
    fp8(ScaleDK, "scale_dK", None, MayRead, "factor of dK before writing"),
    fp8(ScaleDV, "scale_dV", None, MayRead, "factor of dV before writing"),
    fp8(ScaleDP, "scale_dP", None, MayRead, "factor of the scores' gradients before they become 8-bit numbers"),
    fp8(AmaxS, "amax_s", MayMake, None, "greatest magnitude of the probabilities"),
    fp8(AmaxO, "amax_o", MayMake, None, "greatest magnitude of O before scale_o"),
    fp8(AmaxDQ, "amax_dQ", None, MayMake, "greatest magnitude of dQ before scale_dQ"),
    fp8(AmaxDK, "amax_dK", None, MayMake, "greatest magnitude of dK before scale_dK"),
    fp8(AmaxDV, "amax_dV", None, MayMake, "greatest magnitude of dV before scale_dV"),
    fp8(AmaxDP, "amax_dP", None, MayMake, "greatest magnitude of the scores' gradients"),

    of_blocks(QTransposed, "Q_T", kQueries, Io, "Q in blocks along the sequence"),
    of_blocks(KTransposed, "K_T", kKeys, Io, "K in blocks along the sequence"),
    of_blocks(DOTransposed, "dO_T", kOutputs, Io, "dO in blocks along the sequence"),
    of_blocks(DOF16, "dO_f16", kOutputs, Result, "dO in 16 bits"),
    of_blocks(DescaleQTransposed, "descale_q_T", kBlocks, E8m0, "factors of Q_T after reading"),
    of_blocks(DescaleKTransposed, "descale_k_T", kBlocks, E8m0, "factors of K_T after reading"),
    of_blocks(DescaleDOTransposed, "descale_dO_T", kBlocks, E8m0, "factors of dO_T after reading"),
};
// clang-format on

}  // namespace table

using table::kOperands;

// The row of a port.
inline constexpr auto kRowOfPort = [] {
    std::array<std::size_t, PortCount> rows{};
    for (std::size_t row = 0; row < kOperands.size(); ++row) rows[static_cast<std::size_t>(kOperands[row].port)] = row;
    return rows;
}();
constexpr Operand const& operand(int port) { return kOperands[kRowOfPort[static_cast<std::size_t>(port)]]; }

// The ports of the operands that fit, in the order of Port.
template <bool (*fits)(Operand const&)>
inline constexpr auto kPortsWhere = [] {
    constexpr auto kCount = [] {
        std::size_t count = 0;
        for (Operand const& row : kOperands) count += fits(row) ? 1 : 0;
        return count;
    }();
    std::array<int, kCount> ports{};
    std::size_t next = 0;
    for (int port = 0; port < PortCount; ++port) {
        if (fits(operand(port))) ports[next++] = port;
    }
    return ports;
}();

// Whether attention as one operation has the operand.
constexpr bool is_of_operation(Operand const& row) { return row.label != nullptr; }
// The number of ports up to the last one of these.
inline constexpr std::size_t kOperationPorts = kPortsWhere<is_of_operation>.back() + 1;

// An item for each of these.
template <class T>
class OfOperation {
   public:
    explicit OfOperation(T const& all = T()) { items_.fill(all); }

    T& operator[](Port port) { return items_[static_cast<std::size_t>(port)]; }
    T const& operator[](Port port) const { return items_[static_cast<std::size_t>(port)]; }

    friend bool operator==(OfOperation const&, OfOperation const&) = default;

   private:
    std::array<T, kOperationPorts> items_;
};

// Rows of queries, or of keys, without those of scores, which are both.
constexpr bool has_query_rows(Operand const& row) {
    return row.shape.sizes[2] == Size::Sq && row.shape.sizes[3] != Size::Skv;
}
constexpr bool has_key_rows(Operand const& row) { return row.shape.sizes[2] == Size::Skv; }
constexpr bool is_page_table(Operand const& row) { return row.shape == shapes::kPages; }
// Whether the operand is lengths, as they are or as sums.
constexpr bool is_length(Operand const& row) { return row.shape == shapes::kLengths || row.shape == shapes::kEnds; }
// Rows of elements of a head: Q, K, V, O and their gradients.
constexpr bool has_vectors(Operand const& row) {
    return row.shape.sizes[3] == Size::Dqk || row.shape.sizes[3] == Size::Dv;
}
// The alignment, in bytes, of the addresses of such rows where a GPU's engines read them.
inline constexpr std::int64_t kMatrixAlignment = 16;
// Whether no other tensor, except the one whose gradient it is, says all sizes.
constexpr bool has_own_sizes(Operand const& row) {
    return std::ranges::any_of(row.shape.sizes,
                               [](Size size) { return size == Size::Hk || size == Size::Hv || size == Size::Dqk; });
}
// Rows that may be packed, so that sequences of different lengths follow each other; or pages of them.
constexpr bool may_be_ragged(Operand const& row) {
    bool const has_rows = has_query_rows(row) || has_key_rows(row) || is_page_table(row);
    return has_rows && row.part == Part::Any;
}

// The most queries or keys: row and column numbers of the scores, and their sums with bounds and lengths, are computed
// as INT32.
inline constexpr std::int64_t kMaxLength = std::int64_t{1} << 28;

inline constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();

// Sizes of an attention. Any other number may come from the user.
struct Sizes {
    std::int64_t batches = kUnknown, heads = kUnknown, queries = kUnknown, keys = kUnknown, value_width = kUnknown;
};

// The dims of a shape; empty where one of them is unknown or depends on more than these sizes.
core::Dims dims_of(Shape const& shape, Sizes const& sizes);

}  // namespace cudnn_frontend::attention
