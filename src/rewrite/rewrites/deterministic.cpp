#include "rewrite/rewrites/rewrites.h"

#include "core/dims.h"
#include "rewrite/program_builder.h"

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;
using enum error_code_t;

constexpr char const* kName = "deterministic";

constexpr std::initializer_list<int> kOperands = {Port::Q,     Port::K,         Port::V,  Port::O,  Port::DO,
                                                  Port::Stats, Port::AttnScale, Port::DQ, Port::DK, Port::DV};

bool is_deterministic(Attention const& a) { return std::get<nodes::SdpaBackwardFields>(a.node().fields).deterministic; }

// More than other programs need, and than users who did not ask for it may be expected to have.
bool has_small_scores(Attention const& a) {
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 30, kBytesOfScore = 2;
    std::int64_t bytes = kBytesOfScore;
    for (std::int64_t const size : {a.batches, a.query_heads, a.queries, a.keys})
        bytes = core::saturating_multiply(bytes, size);
    return bytes <= kMostBytes;
}

constexpr Condition kConditions[] = {
    {"deterministic.c01", "backward attention that does not ask for the deterministic algorithm", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return a.is_backward() && !is_deterministic(a); }},
    {"deterministic.c02", "memory for dQ, dK and dV, and no operands but these, Q, K, V, O, dO, Stats and attn_scale",
     GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         return a.is_backward() && has_only(a, kOperands) && a.has(Port::DQ) && a.has(Port::DK) && a.has(Port::DV);
     }},
    {"deterministic.c03", "tensors that are neither packed by lengths nor in blocks", GRAPH_NOT_SUPPORTED,
     has_dense_tensors},
    {"deterministic.c04", "no mask, no ALiBi and no dropout", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         auto const& fields = a.fields();
         return !fields.left_bound && !fields.right_bound && !fields.padding_mask && !fields.alibi_mask &&
                !fields.dropout_probability;
     }},
    {"deterministic.c05", "as many heads of K and of V as of Q", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return a.key_heads == a.query_heads && a.value_heads == a.query_heads; }},
    {"deterministic.c06", "scores that fit into 1 GiB with 2 bytes each", GRAPH_NOT_SUPPORTED, has_small_scores},
};

}  // namespace

std::span<Condition const> deterministic_conditions() { return kConditions; }

Result<Program> deterministic(Attention const& attention) {
    SDPA_GRAPH_TRY(check(kName, kConditions, attention));
    ProgramBuilder program(kName);
    AttentionDraft draft(attention);
    draft.fields_of<nodes::SdpaBackwardFields>().deterministic = true;
    for (int const port : kOperands) {
        if (port != Port::AttnScale) draft.connect(port, attention.view(port));
    }
    SDPA_GRAPH_TRY(program.attend(std::move(draft)));
    return program.take();
}

}  // namespace cudnn_frontend::rewrite
