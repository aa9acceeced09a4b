// Sizes, strides and types of attention's inputs and outputs.
#include "core/data_type.h"
#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_checks.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/schema.h"

#include <algorithm>

namespace cudnn_frontend::nodes::attention_checks {
namespace {

using namespace attention;

constexpr std::int64_t kMaxElements = std::int64_t{1} << 60;  // of an intermediate, 4 bytes each

// Whether the operand has more than one number, or may have; all of these lie in memory. Modifiers and block scales
// have rules of their own.
constexpr bool is_tensor(Operand const& row) {
    return row.shape != shapes::kNumber && row.shape != shapes::kBlocks && !row.is_inner;
}

bool has_port(RuleScope const& scope, int port, Direction direction) {
    auto const ports = schema_of(scope.node().kind()).ports;
    return std::any_of(ports.begin(), ports.end(),
                       [&](PortRow const& row) { return row.port == port && row.direction == direction; });
}

void expect_size(RuleScope const& scope, int port, std::size_t dim, std::int64_t wanted, char const* size,
                 std::string const& fix) {
    TensorSpec const* const tensor = scope.tensor_4d(port);
    if (tensor == nullptr || tensor->dim[dim] == wanted) return;
    scope.report_port(port, text(kPort, " with ", size, " ", tensor->dim[dim]), text(size, " ", wanted), fix);
}

// ": 1, 2 or 4", the divisors; nothing for more heads than any model has.
std::string divisors_of(std::int64_t heads) {
    constexpr std::int64_t kMostHeads = 4096;
    if (heads > kMostHeads) return {};
    std::vector<std::string> divisors;
    for (std::int64_t n = 1; n <= heads; ++n) {
        if (heads % n == 0) divisors.push_back(text(n));
    }
    return ": " + core::listed(divisors, "or");
}

void expect_heads_divide(RuleScope const& scope, int port, std::int64_t query_heads) {
    TensorSpec const* const tensor = scope.tensor_4d(port);
    if (tensor == nullptr || query_heads % tensor->dim[1] == 0) return;
    scope.report_port(port, text(tensor->dim[1], " heads in ", kPort, " for ", query_heads, " heads in Q"),
                      text("a number of heads that divides ", query_heads, divisors_of(query_heads)),
                      text("give ", kPort, " as many heads as Q, or 1 head for all of them"));
}

}  // namespace

void has_four_dims(RuleScope const& scope) {
    for (int const port : kPortsWhere<is_tensor>) {
        TensorSpec const* const tensor = scope.tensor(port);
        if (tensor == nullptr || tensor->dim.empty() || tensor->dim.size() == 4) continue;
        scope.report_port(port, text(kPort, " with ", tensor->dim.size(), " dims ", tensor->dim),
                          "4 dims, in the order batch, heads, rows, columns",
                          "call set_dim() with 4 sizes, 1 for what the tensor does not have");
    }
}

void head_size_is_contiguous(RuleScope const& scope) {
    for (int const port : kPortsWhere<has_vectors>) {
        TensorSpec const* const tensor = scope.tensor_4d(port);
        if (tensor == nullptr || tensor->stride.size() != 4 || tensor->dim[3] == 1 || tensor->stride[3] == 1) continue;
        scope.report_port(port, text(kPort, " with strides ", tensor->stride),
                          "1 as the stride of the last dim, the head dim",
                          "copy it, so that the stride of the last dim is 1; K is not transposed here");
    }
}

void batches_agree(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    if (q == nullptr) return;
    for (int const port : {K, V}) {
        if (is_paged(scope.node(), port)) continue;
        std::string fix = "give Q, K and V one batch size; a batch stride of 0 shares one entry among all";
        if (may_lack_table(scope, port)) {
            fix = has_pages(scope.node())
                      ? text("call set_paged_attention_", port == K ? "k" : "v", "_table() if ", kPort,
                             " is a container of pages too")
                      : text(fix, "; or, for a container of pages, call set_paged_attention_k_table() or _v_table()");
        }
        expect_size(scope, port, 0, q->dim[0], "batch size", fix);
    }
}

void heads_divide(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    if (q == nullptr) return;
    for (int const port : {K, V}) expect_heads_divide(scope, port, q->dim[1]);
}

void head_sizes_agree(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    if (q == nullptr) return;
    expect_size(scope, K, 3, q->dim[3], "head dim", "give Q and K one head dim; only V may have another");
}

void key_lengths_agree(RuleScope const& scope) {
    TensorSpec const* const k = scope.tensor_4d(K);
    if (k == nullptr || has_pages(scope.node()) || may_lack_table(scope, K) || may_lack_table(scope, V)) return;
    expect_size(scope, V, 2, k->dim[2], "length", "give K and V one length");
}

void io_types_agree(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor(Q);
    if (q == nullptr || !has_type(*q) || is_fp8(scope.node())) return;
    DataType_t const io = io_type(scope);
    if (io == DataType_t::NOT_SET) {
        scope.report_port(Q, text("Q of type ", q->data_type), "type HALF, BFLOAT16 or FLOAT",
                          core::is_fp8(q->data_type)
                              ? "use sdpa_fp8() or sdpa_fp8_backward(), which have factors for 8-bit numbers"
                              : "convert Q, K and V to one of these types");
        return;
    }
    for (int const port : {K, V}) expect_type(scope, port, io);
}

void computes_in_float(RuleScope const& scope) {
    DataType_t const type = scope.node().compute_data_type;
    if (type == DataType_t::NOT_SET || type == DataType_t::FLOAT || !core::is_known(type)) return;
    scope.report_node(text("compute data type ", type), "compute data type FLOAT",
                      "call set_compute_data_type(DataType_t::FLOAT)");
}

void lengths_fit(RuleScope const& scope) {
    for (int const port : {Q, K}) {
        TensorSpec const* const tensor = scope.tensor_4d(port);
        if (tensor == nullptr) continue;
        std::int64_t const length = port == K ? key_count(scope) : tensor->dim[2];
        if (length <= kMaxLength) continue;
        scope.report_port(port, text(kPort, " with length ", length), text("a length of at most ", kMaxLength),
                          "split the sequence over several graphs");
    }
}

void intermediates_fit(RuleScope const& scope) {
    core::Dims const scores = score_dims(scope);
    if (scores.empty()) return;
    auto const expect_to_fit = [&](char const* what, core::Dims const& dim) {
        if (core::volume(dim).value_or(kMaxElements + 1) <= kMaxElements) return;
        scope.report_node(text(what, " of dims ", dim), "at most 2^60 elements",
                          "split the batch, the heads or the sequences over several graphs");
    };
    expect_to_fit("scores", scores);
    for (int const port : {K, V}) {
        if (TensorSpec const* const tensor = scope.tensor_4d(port)) {
            expect_to_fit(port == K ? "K for each query head" : "V for each query head",
                          {scores[0], scores[1], scores[3], tensor->dim[3]});
        }
    }
}

void tensors_are_in_memory(RuleScope const& scope) {
    for (int const port : kPortsWhere<is_tensor>) {
        TensorSpec const* const tensor = scope.tensor(port);
        if (tensor == nullptr || !has_port(scope, port, Direction::Input)) continue;
        if (!tensor->is_by_value && !tensor->is_constant) continue;
        scope.report_port(port, text(kPort, " passed by value"), "a pointer to its elements",
                          "call set_is_pass_by_value(false)");
    }
}

void stats_as_asked(RuleScope const& scope) {
    auto const* const forward = std::get_if<SdpaForwardFields>(&scope.node().fields);
    bool const is_connected = scope.tensor(Stats) != nullptr;
    if (forward == nullptr || forward->generate_stats == is_connected) return;
    scope.report_port(Stats,
                      is_connected ? "a Stats tensor and generate_stats off" : "generate_stats on and no Stats tensor",
                      "a Stats tensor exactly where generate_stats is on",
                      is_connected ? "call set_generate_stats(true)" : "connect a tensor to Stats");
}

}  // namespace cudnn_frontend::nodes::attention_checks
