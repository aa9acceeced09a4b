#include "rewrite/rewrites/rewrites.h"

#include "core/dims.h"
#include "rewrite/program_builder.h"

#include <array>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;

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

constexpr std::array kConditions = {
    Condition{"deterministic.c01", "backward attention that does not ask for the deterministic algorithm",
              [](Attention const& a) { return a.is_backward() && !is_deterministic(a); }},
    Condition{"deterministic.c02",
              "memory for dQ, dK and dV, and no operands but these, Q, K, V, O, dO, Stats and attn_scale",
              [](Attention const& a) {
                  return a.is_backward() && has_only(a, kOperands) && a.has(Port::DQ) && a.has(Port::DK) &&
                         a.has(Port::DV);
              }},
    Condition{"deterministic.c03", "tensors that are neither packed by lengths nor in blocks", has_dense_tensors},
    Condition{"deterministic.c04", "no mask, no ALiBi and no dropout",
              [](Attention const& a) {
                  auto const& fields = a.fields();
                  return !fields.left_bound && !fields.right_bound && !fields.padding_mask && !fields.alibi_mask &&
                         !fields.dropout_probability;
              }},
    Condition{"deterministic.c05", "as many heads of K and of V as of Q",
              [](Attention const& a) { return a.key_heads == a.query_heads && a.value_heads == a.query_heads; }},
    Condition{"deterministic.c06", "scores that fit into 1 GiB with 2 bytes each", has_small_scores},
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
