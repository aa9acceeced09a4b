#include "kernels/attention/attention_rules.h"

#include "core/data_type.h"
#include "core/findings.h"
#include "core/text.h"
#include "kernels/device/attention/attention_arguments.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/wording.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cudnn_frontend::kernels {
namespace {

using attention::Port;
using core::text;

constexpr std::string_view kHeading = "the engine 'attention' cannot run this graph:";

// The input of a check: the graph's attention, and how kernels would compute it.
struct AttentionRuleScope : core::Reporter {
    AttentionValues const& values;
    AttentionKernelProblem const& problem;
    error_t const& modifier;
    DeviceFacts const& device;
    AttentionOffer offer;

    bool is_next_to_others() const { return offer == AttentionOffer::NextToOthers && advantage_of(problem).empty(); }
    bool has_others() const { return offer == AttentionOffer::NextToOthers || offer == AttentionOffer::BeforeOthers; }
    bool is_in_any_batch() const { return offer == AttentionOffer::InAnyBatch; }
    void report_port(Port port, std::string found, std::string needed, std::string fix) const {
        report(values.value(port).name, std::move(found), std::move(needed), std::move(fix));
    }
    // Calls visit(port, operand) for the matrices that are in memory.
    template <class Visit>
    void for_each_matrix(Visit const& visit) const {
        for (Port const port : matrix_ports(problem)) {
            if (problem.has(port)) visit(port, problem.operand(port));
        }
    }
};

using Scope = AttentionRuleScope;

// --- Device, types and dims

void check_device(Scope const& scope) {
    constexpr int kHopper = 90;
    int const capability = scope.device.compute_capability;
    if (capability == kHopper) return;
    scope.report("", text("compute capability ", capability / 10, ".", capability % 10), "9.0",
                 "a GPU of the Hopper generation, or engines of other backends");
}

void check_types(Scope const& scope) {
    DataType_t const type = scope.problem.operand(Port::Q).type;
    scope.for_each_matrix([&](Port port, Operand const& matrix) {
        if (core::is_half(matrix.type) && matrix.type == type) return;
        scope.report_port(port, text(matrix.type), "Q, K, V, O and their gradients of one type, BFLOAT16 or HALF",
                          "give them one of these types");
    });
}

bool has_legal_columns(AttentionKernelProblem const& problem) {
    bool const are_whole = problem.operand(Port::Q).dims[3] % kVectorElements == 0 &&
                           problem.operand(Port::V).dims[3] % kVectorElements == 0;
    return are_whole && class_of(problem);
}

void check_columns(Scope const& scope) {
    auto const columns_of = [&](Port port) { return scope.problem.operand(port).dims[3]; };
    scope.report("", text("head dims of ", columns_of(Port::Q), " for Q and K, and of ", columns_of(Port::V), " for V"),
                 "multiples of 8, up to 256", "pad the rows with zeros, up to 256 columns");
}

bool has_legal_matrices(AttentionKernelProblem const& problem) {
    return std::ranges::all_of(matrix_ports(problem), [&](Port port) {
        return !problem.has(port) || has_legal_strides(problem.operand(port));
    });
}

void check_strides(Scope const& scope) {
    scope.for_each_matrix([&](Port port, Operand const& matrix) {
        if (has_legal_strides(matrix)) return;
        scope.report_port(port, text("strides ", matrix.strides),
                          "1 as the stride of the last dim, and other strides that are multiples of 16 bytes and at "
                          "least one row long",
                          "lay it out with rows of a multiple of 8 elements");
    });
}

bool has_one_count_of_key_heads(AttentionKernelProblem const& problem) {
    return problem.key_heads() == problem.operand(Port::V).dims[1];
}

void check_heads(Scope const& scope) {
    std::int64_t const of_values = scope.problem.operand(Port::V).dims[1];
    scope.report_port(Port::V, text(of_values, " heads"), text("the ", scope.problem.key_heads(), " of K"),
                      "repeat the heads of the tensor that has fewer");
}

// Tiles are counted in 32 bits. So are places of rows with bounds added to them: every graph has at most 2^28 rows.
std::int64_t blocks_of(AttentionKernelProblem const& problem) {
    std::int64_t const rows = std::max(problem.queries(), problem.keys());
    std::int64_t const heads = core::saturating_multiply(problem.batches(), problem.heads());
    return core::saturating_multiply(rows / kWarpgroupQueries + 1, heads);
}

bool has_few_blocks(AttentionKernelProblem const& problem) { return blocks_of(problem) <= std::int64_t{1} << 30; }

void check_counts(Scope const& scope) {
    scope.report("", text(blocks_of(scope.problem), " blocks of 64 rows in all heads"), "at most 2^30",
                 "compute the attention in parts");
}

// --- Options

void check_scale(Scope const& scope) {
    std::optional<float> const scale = scope.values.scale();
    if (scale && *scale > 0 && std::isfinite(*scale)) return;
    scope.report("", scale ? text("attn_scale ", *scale) : std::string("attn_scale as a tensor"),
                 "a number of the graph above 0", "set_attn_scale(float), and the sign in Q");
}

void check_dropout_mask(Scope const& scope) {
    if (!scope.values.has(Port::DropoutMask)) return;
    scope.report_port(Port::DropoutMask, "dropout by a mask of the caller's", "dropout by a probability",
                      "set_dropout(probability, seed, offset)");
}

constexpr std::array kPagedPorts = {Port::K, Port::V};

bool has_large_pages(AttentionKernelProblem const& problem, Port port) {
    return problem.page_table(port) == nullptr || problem.operand(port).dims[2] >= kLeastPageRows;
}
bool has_large_pages(AttentionKernelProblem const& problem) {
    return std::ranges::all_of(kPagedPorts, [&](Port port) { return has_large_pages(problem, port); });
}

void check_pages(Scope const& scope) {
    for (Port const port : kPagedPorts) {
        if (has_large_pages(scope.problem, port)) continue;
        scope.report_port(port, text("pages of ", scope.problem.operand(port).dims[2], " rows"),
                          text("at least ", kLeastPageRows), "larger pages, or engines of other backends");
    }
}

// Kernels with more columns have tiles of fewer keys than a bit of the mask stands for.
bool has_blocks_of_mask(AttentionKernelProblem const& problem) {
    if (!problem.has(Port::BlockMask)) return true;
    auto const columns = class_of(problem);
    return !columns || tile_keys(columns->columns) == kBlockMaskRows;
}

void check_block_mask(Scope const& scope) {
    scope.report_port(Port::BlockMask,
                      text("a block mask with head dims of ", scope.problem.operand(Port::Q).dims[3], " and ",
                           scope.problem.operand(Port::V).dims[3]),
                      "head dims of at most 192 for Q and K, and 128 for V",
                      "a score modifier that chooses between the score and -inf hides blocks, too");
}

void check_sink(Scope const& scope) {
    if (!scope.values.reads_sink()) return;
    DataType_t const type = scope.values.value(Port::SinkToken).type;
    if (type == DataType_t::FLOAT) return;
    scope.report_port(Port::SinkToken, text(type), "a sink token of FLOAT", "set_data_type(DataType_t::FLOAT)");
}

void check_results(Scope const& scope) {
    for (Port const port : {Port::O, Port::DQ, Port::DK, Port::DV}) {
        bool const is_result = scope.values.has(port) && (port != Port::O || !scope.values.is_backward);
        if (!is_result || scope.values.makes(port)) continue;
        scope.report_port(port, "a result without memory", "the results as outputs", "set_output(true)");
    }
}

void check_stats(Scope const& scope) {
    if (!scope.values.uses(Port::Stats)) return;
    DataType_t const type = scope.values.value(Port::Stats).type;
    bool const is_binary = scope.values.options.stats_in_base_2;
    if (type == DataType_t::FLOAT && !is_binary) return;
    scope.report_port(Port::Stats, is_binary ? "logarithms of base 2" : text(type), "natural logarithms of FLOAT",
                      is_binary ? "leave set_stats_use_log2() out" : "set_data_type(DataType_t::FLOAT)");
}

bool is_determinism_possible(AttentionKernelProblem const& problem) {
    return !problem.is_deterministic || !problem.shares_bias_sums();
}

void check_determinism(Scope const& scope) {
    scope.report_port(Port::DBias,
                      text("set_deterministic_algorithm(true) and a gradient of the bias of ",
                           scope.values.value(Port::DBias).dim, ", which several tiles of scores add to in any order"),
                      "one with all batches, heads and keys of the scores, or gradients in any order",
                      "a dBias of [batch, head, query, key] or [batch, head, 1, key], or engines of other backends");
}

void check_modifier(Scope const& scope) {
    if (scope.modifier.is_good()) return;
    scope.report("", scope.modifier.err_msg, "a modifier that has a form in the kernels",
                 "other operations or types in the modifier");
}

// --- Packed sequences and lengths

constexpr bool may_be_packed(attention::Operand const& row) {
    return attention::has_vectors(row) || std::ranges::find(kRowNumbers, row.port) != kRowNumbers.end();
}

void check_packing(Scope const& scope) {
    AttentionKernelProblem const& problem = scope.problem;
    auto const is_packed = [&](Port port) { return problem.packed[port].has_value(); };
    for (attention::Operand const& row : attention::kOperands) {
        if (!attention::is_of_operation(row) || !problem.has(row.port)) continue;
        if (attention::is_page_table(row)) {
            if (is_packed(row.port))
                scope.report_port(row.port, "a packed page table", "a table with room for all pages of each sequence",
                                  "leave out its ragged offset");
            continue;
        }
        bool const may_be = may_be_packed(row) && is_packed(Port::Q);
        bool const must_be = may_be && attention::has_vectors(row) && problem.page_table(row.port) == nullptr;
        if (is_packed(row.port) ? may_be : !must_be) continue;
        scope.report_port(
            row.port, is_packed(row.port) ? "packed sequences" : "padded sequences next to packed ones",
            "all matrices that are not in pages packed or none, and with them Stats, Max and Sum_exp alone",
            "lay the matrices out alike");
    }
    if (!is_packed(Port::Q) || (problem.query_lengths && problem.key_lengths)) return;
    scope.report("", "packed sequences without lengths", "lengths of queries and keys",
                 "set_padding_mask(true), set_seq_len_q() and set_seq_len_kv()");
}

// Whether the numbers of batch entries are contiguous in the caller's memory.
bool are_contiguous(ir::Value const& numbers) {
    return numbers.role == ir::Role::Input && (numbers.dim[0] == 1 || numbers.stride[0] == 1);
}

void check_numbers_of_entries(Scope const& scope) {
    AttentionValues const& values = scope.values;
    auto const check = [&](ir::Value const& numbers) {
        if (are_contiguous(numbers)) return;
        scope.report(numbers.name, text("a stride of ", numbers.stride[0]), "contiguous numbers in the caller's memory",
                     "lay out lengths and ragged offsets with a stride of 1");
    };
    for (Port const port : {Port::SeqLenQ, Port::SeqLenKv}) {
        if (values.options.padding && values.has(port)) check(values.source_of(values.value(port)));
    }
    for (attention::Operand const& row : attention::kOperands) {
        if (!attention::is_of_operation(row) || !values.uses(row.port)) continue;
        if (ir::Ragged const& ragged = values.value(row.port).ragged) check(values.graph.value(ragged.offset));
    }
}

// --- Next to other engines

void check_packing_next_to_others(Scope const& scope) {
    if (!scope.is_next_to_others()) return;
    bool const is_ragged = std::ranges::any_of(scope.values.graph.values(),
                                               [](ir::Value const& value) { return static_cast<bool>(value.ragged); });
    if (!is_ragged) return;
    scope.report("", "packed sequences", "none where other engines run them", "a stream as target");
}

void check_terms_next_to_others(Scope const& scope) {
    if (!scope.is_next_to_others()) return;
    if (!scope.values.has(Port::SinkToken) && !scope.values.options.alibi) return;
    scope.report("", "an ALiBi mask or a sink", "neither where other engines run them", "a stream as target");
}

void check_bias_next_to_others(Scope const& scope) {
    if (!scope.is_next_to_others() || !scope.values.has(Port::Bias)) return;
    scope.report_port(
        Port::Bias, text("a bias of ", scope.values.value(Port::Bias).dim),
        "where other engines run it, one that the copy engine moves, and its gradient: for head dims up to "
        "128, at least 64 queries and no score modifier, in BFLOAT16 or HALF, with a number for each query "
        "and key and strides of 16 bytes",
        "such a bias, or a stream as target");
}

void check_lengths_next_to_others(Scope const& scope) {
    if (!scope.is_next_to_others() || !scope.values.options.padding) return;
    for (Port const port : {Port::SeqLenQ, Port::SeqLenKv}) {
        if (!scope.values.has(port)) continue;
        ir::Value const& lengths = scope.values.value(port);
        if (lengths.type == DataType_t::INT32 && are_contiguous(lengths)) continue;
        scope.report(scope.values.source_of(lengths).name, text("sums of lengths, or lengths of ", lengths.type),
                     "contiguous lengths of INT32 where other engines run them", "a stream as target");
    }
}

// The two passes of a training step must draw the same numbers.
void check_generator_next_to_others(Scope const& scope) {
    if (!scope.has_others() || !scope.values.options.dropout_probability) return;
    scope.report("",
                 "dropout by a probability, whose numbers are others than those of engines that may run the other pass",
                 "none where there are other engines", "a stream as target");
}

// Most calls with pages have few queries, for which other engines have programs.
void check_pages_next_to_others(Scope const& scope) {
    bool const has_scores_of_own = scope.problem.has_modifier() || scope.problem.has(Port::BlockMask);
    if (!scope.has_others() || !scope.problem.keys_in_pages || has_scores_of_own) return;
    scope.report("", "pages, and scores without a modifier", "a modifier or a block mask where there are other engines",
                 "a stream as target");
}

// --- Conditions under which a row's bits depend on its own sequence alone

void check_pass_in_any_batch(Scope const& scope) {
    if (!scope.is_in_any_batch() || !scope.values.is_backward) return;
    scope.report("", "backward", "forward", "set_batch_invariant(true) in forward alone");
}

void check_dropout_in_any_batch(Scope const& scope) {
    if (!scope.is_in_any_batch() || !scope.values.options.dropout_probability) return;
    scope.report("", "dropout, whose numbers depend on a sequence's place in the batch", "none",
                 "leave dropout or set_batch_invariant(true) out");
}

// Whether a modifier is applied where it changes nothing depends on the other rows of a tile, and rounds.
void check_modifier_in_any_batch(Scope const& scope) {
    if (!scope.is_in_any_batch() || !scope.problem.modifier.leaves_scores) return;
    scope.report("", "a modifier that leaves scores as they are, such as a mask of documents",
                 "a modifier that changes all scores, or none", "leave the modifier or set_batch_invariant(true) out");
}

// A rule about sizes and strides has a condition on the problem, for problems with other ones; its check reports.
struct Rule : core::RuleFor<Scope> {
    bool (*is_kept)(AttentionKernelProblem const& problem) = nullptr;
};
constexpr error_code_t kCode = error_code_t::GRAPH_NOT_SUPPORTED;

constexpr core::Rule kOneOperation{"kernels.c01", "Attention has a form as one operation.", kCode};
constexpr core::Rule kOnlyOperation{
    "kernels.c02",
    "Nothing else is computed: each step of a score modifier reads scores, or makes a number for each of them.", kCode};

constexpr Rule kRules[] = {
    {"kernels.c03", "The GPU has compute capability 9.0.", kCode, check_device},
    {"kernels.c04", "Q, K, V, O and their gradients have one type, BFLOAT16 or HALF.", kCode, check_types},
    {"kernels.c05", "Head dims are multiples of 8, up to 256.", kCode, check_columns, has_legal_columns},
    {"kernels.c06",
     "The stride of a matrix's last dim is 1. Its other strides are multiples of 16 bytes and at least one row long.",
     kCode, check_strides, has_legal_matrices},
    {"kernels.c07", "V has as many heads as K.", kCode, check_heads, has_one_count_of_key_heads},
    {"kernels.c08", "All heads together have at most 2^30 blocks of 64 rows.", kCode, check_counts, has_few_blocks},
    {"kernels.c09", "attn_scale is a number of the graph above 0.", kCode, check_scale},
    {"kernels.c10", "Dropout has no mask of the caller's.", kCode, check_dropout_mask},
    {"kernels.c11", "Pages of K and V have at least 8 rows.", kCode, check_pages, has_large_pages},
    {"kernels.c12", "With a block mask, head dims are at most 192, and those of V at most 128.", kCode,
     check_block_mask, has_blocks_of_mask},
    {"kernels.c13", "A sink token that is read is FLOAT.", kCode, check_sink},
    {"kernels.c14", "O, or dQ, dK and dV, are outputs.", kCode, check_results},
    {"kernels.c15", "Stats are natural logarithms of FLOAT.", kCode, check_stats},
    {"kernels.c17",
     "Deterministic: the gradient of a bias is not summed over batches or keys, nor over heads that have several key "
     "heads.",
     kCode, check_determinism, is_determinism_possible},
    {"kernels.c18", "Operations, numbers and tensors of a score modifier have a form in the kernels.", kCode,
     check_modifier},
    {"kernels.c19",
     "Either all matrices that are not in pages are packed and have lengths, or none is packed. If they are, Stats, "
     "Max and Sum_exp may be packed too; no other tensor may.",
     kCode, check_packing},
    {"kernels.c20", "Lengths and ragged offsets are contiguous in the caller's memory.", kCode,
     check_numbers_of_entries},
    {"kernels.c21", "Next to other engines and without an advantage: no packed sequences.", kCode,
     check_packing_next_to_others},
    {"kernels.c22", "Next to other engines and without an advantage: no ALiBi mask and no sink.", kCode,
     check_terms_next_to_others},
    {"kernels.c23", "Next to other engines and without an advantage: no bias.", kCode, check_bias_next_to_others},
    {"kernels.c24", "Next to other engines and without an advantage: lengths are INT32, and not sums.", kCode,
     check_lengths_next_to_others},
    {"kernels.c25", "Where there are other engines: no dropout by a probability.", kCode,
     check_generator_next_to_others},
    {"kernels.c26", "Batch-invariant: forward.", kCode, check_pass_in_any_batch},
    {"kernels.c27", "Batch-invariant: no dropout.", kCode, check_dropout_in_any_batch},
    {"kernels.c28", "Batch-invariant: no score modifier that leaves scores as they are.", kCode,
     check_modifier_in_any_batch},
    {"kernels.c29", "Where there are other engines: K and V are in pages only with a score modifier or a block mask.",
     kCode, check_pages_next_to_others},
};

// The part of the node that is no part of attention as one operation, and the change that removes it.
struct Obstacle {
    char const *found, *fix;
};
Obstacle obstacle_of(nodes::Node const* node) {
    if (node == nullptr) return {"no attention", "a graph of one attention"};
    auto const* const forward = std::get_if<nodes::SdpaForwardFields>(&node->fields);
    if (nodes::is_fp8(*node)) return {"8-bit attention", "Q, K and V of BFLOAT16 or HALF"};
    if (forward != nullptr && forward->implementation == AttentionImplementation_t::COMPOSITE)
        return {"the implementation COMPOSITE", "set_implementation(AttentionImplementation_t::AUTO)"};
    return {"a score modifier that needs operations of its own",
            "pointwise nodes whose operands broadcast to the scores, and whose results nothing else reads"};
}

}  // namespace

bool may_have_sizes_of(AttentionKernelProblem const& problem) {
    return std::ranges::all_of(kRules,
                               [&](Rule const& rule) { return rule.is_kept == nullptr || rule.is_kept(problem); });
}

error_t check_operation(nodes::Node const* node, std::optional<AttentionValues> const& values) {
    std::string const name = node == nullptr ? "" : nodes::name_of_node(*node);
    if (!values) {
        Obstacle const obstacle = obstacle_of(node);
        return core::error_of(
            {kOneOperation.violation(name, "", obstacle.found, "attention as one operation", obstacle.fix)}, kHeading);
    }
    for (ir::Op const& op : values->graph.ops()) {
        if (&op == &values->op) continue;
        return core::error_of(
            {kOnlyOperation.violation(name, "", "the operation '" + op.name + "' next to attention",
                                      "attention alone, with steps of a modifier that have scores or GEN_INDEX of "
                                      "rows and columns among their operands",
                                      "pass the operation's result as a tensor, or apply the step to scores")},
            kHeading);
    }
    return {};
}

error_t check_attention(AttentionValues const& values, AttentionKernelProblem const& problem, error_t const& modifier,
                        DeviceFacts const& device, AttentionOffer offer) {
    core::Findings findings;
    for (Rule const& rule : kRules) {
        if (rule.is_kept != nullptr && rule.is_kept(problem)) continue;
        rule.check({{rule, findings, values.op.name}, values, problem, modifier, device, offer});
    }
    return findings.to_error(kHeading);
}

}  // namespace cudnn_frontend::kernels
