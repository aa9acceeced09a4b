#include "rewrite/group/documents.h"

#include "core/text.h"
#include "rewrite/group/score_nodes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;

constexpr std::size_t kHeads = 1, kRows = 2, kColumns = 3;

nodes::TensorId offsets_of(Attention const& a, int port) {
    nodes::TensorSpec const* const tensor = a.tensor(port);
    return tensor == nullptr ? nodes::kNoTensor : tensor->ragged_offset;
}

bool counts_positions(Attention const& a) {
    return a.fields().alibi_mask || draws_dropout(a) || has_counting_modifier(a);
}

DocumentTables::Side side_of(Attention const& a, int rows_port, int lengths_port, Span const& tokens,
                             std::int64_t all_tokens, ProgramBuilder& program) {
    nodes::TensorSpec const& rows = *a.tensor(rows_port);
    DocumentTables::Side side;
    side.starts = a.whole(rows.ragged_offset);
    side.lengths = a.view(lengths_port);
    side.unit = rows.ragged_offset_multiplier;
    side.row = rows.stride[kRows];
    side.first = tokens.first;
    side.end = tokens.end;
    side.tokens = all_tokens;
    side.used = program.scratch(DataType_t::INT32, {a.batches, 1, 1, 1});
    side.totals = program.scratch(DataType_t::INT32, {a.batches + 1, 1, 1, 1});
    bool const may_cut = tokens.first > 0;
    if (may_cut && counts_positions(a)) side.before = program.scratch(DataType_t::INT32, {a.batches, 1, 1, 1});
    return side;
}

attention::Size rows_of(int port) { return attention::operand(port).shape.sizes[kRows]; }

// A part that has all tokens keeps the dims of the whole attention.
std::int64_t longest_in(Span const& span, std::int64_t all, std::int64_t longest) {
    return span.count() == all ? longest : std::min(longest, span.count());
}

}  // namespace

bool has_port(Attention const& a, int port) {
    return static_cast<std::size_t>(port) < a.node().ports.size() && a.has(port);
}
bool is_of_queries(int port) { return rows_of(port) == attention::Size::Sq; }
bool is_of_keys(int port) { return rows_of(port) == attention::Size::Skv; }
bool is_of_tokens(int port) { return (is_of_queries(port) || is_of_keys(port)) && port != Port::Bias; }

bool has_documents(Attention const& a) { return offsets_of(a, Port::Q) != nodes::kNoTensor; }

bool has_bounds(Attention const& a) { return a.fields().left_bound || a.fields().right_bound; }

Span keys_of_documents(Attention const& a, Span queries) {
    if (!has_documents(a) || !has_bounds(a)) return {0, std::numeric_limits<std::int64_t>::max()};
    return {queries.first - a.queries + 1, queries.end + a.keys - 1};
}

std::string obstacle_to_documents(Attention const& a) {
    for (int port = 0; port < static_cast<int>(a.node().ports.size()); ++port) {
        if (!a.has(port) || !is_of_tokens(port)) continue;
        nodes::TensorSpec const& tensor = *a.tensor(port);
        if (tensor.ragged_offset == nodes::kNoTensor)
            return core::text(attention::operand(port).name, " without a ragged offset");
        bool const has_all_heads = tensor.dim[kHeads] == 1 || tensor.stride[kHeads] < tensor.stride[kRows];
        if (!has_all_heads) return core::text("strides ", tensor.stride, " of ", attention::operand(port).name);
    }
    if (!a.has(Port::SeqLenQ) || !a.has(Port::SeqLenKv)) return "sums of lengths";
    for (int const port : {Port::SeqLenQ, Port::SeqLenKv}) {
        DataType_t const type = a.tensor(port)->data_type;
        if (type != DataType_t::INT32) return core::text("lengths of ", type);
    }
    return tensors_of_rows(a).empty() ? "" : "a bias or a tensor of a score modifier with rows of queries";
}

std::string obstacle_to_gathered_documents(Attention const& a) {
    if (a.tensor(Port::SeqLenQ) != a.tensor(Port::SeqLenKv)) return "two tensors of lengths";
    bool const is_causal = a.fields().right_bound == 0;
    return has_bounds(a) && !is_causal ? "bounds that are not causal" : "";
}

PartDocuments::PartDocuments(Attention const& a, DocumentSpans const& spans, std::vector<TokenOperand> const& operands,
                             ProgramBuilder& program)
    : longest_queries_(longest_in(spans.queries, spans.all_queries, a.queries)),
      longest_keys_(longest_in(spans.keys, spans.all_keys, a.keys)) {
    tables_.batches = a.batches;
    tables_.queries = side_of(a, Port::Q, Port::SeqLenQ, spans.queries, spans.all_queries, program);
    tables_.keys = side_of(a, Port::K, Port::SeqLenKv, spans.keys, spans.all_keys, program);
    tables_.start_together = spans.start_together;
    for (TokenOperand const& operand : operands) {
        if (known_starts(operand.port, operand.view) != nullptr) continue;
        tables_.starts.push_back({program.scratch(DataType_t::INT64, {a.batches + 1, 1, 1, 1}),
                                  operand.view.stride[kRows], is_of_keys(operand.port)});
    }
    program.join(tables_);
}

View const* PartDocuments::known_starts(int port, View const& view) const {
    auto const known = std::ranges::find_if(tables_.starts, [&](DocumentTables::Starts const& starts) {
        return starts.by_row == view.stride[kRows] && starts.is_of_keys == is_of_keys(port);
    });
    return known == tables_.starts.end() ? nullptr : &known->result;
}

void PartDocuments::connect(AttentionDraft& draft, std::vector<TokenOperand> const& operands) const {
    for (auto const& [port, view] : operands) {
        View rows = view;
        rows.dim = {tables_.batches, view.dim[kHeads], is_of_keys(port) ? longest_keys_ : longest_queries_,
                    view.dim[kColumns]};
        rows.stride[0] = rows.stride[kRows] * rows.dim[kRows];
        draft.connect_packed(port, rows, *known_starts(port, view));
    }
    draft.connect(Port::SeqLenQ, tables_.queries.used);
    draft.connect(Port::SeqLenKv, tables_.keys.used);
}

SlotSequences PartDocuments::sequences() const {
    DocumentTables::Side const &queries = tables_.queries, &keys = tables_.keys;
    return {queries.used, keys.used, tables_.batches, longest_queries_, longest_keys_, queries.totals, keys.totals};
}

}  // namespace cudnn_frontend::rewrite
