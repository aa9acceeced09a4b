// Attention over documents that are packed one after the other: all batch entries in one sequence of tokens, which
// ranks divide. Lengths and ragged offsets are those of the whole sequence, and known to runs alone.
#pragma once

#include "rewrite/group/whole_band.h"
#include "rewrite/program_builder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudnn_frontend::rewrite {

// Whether the attention has the operand; forward and backward have different ports.
bool has_port(Attention const& attention, int port);
// Whether the rows of an operand are queries, whether they are keys, and whether they are tokens. A bias has rows of
// queries, which are no tokens.
bool is_of_queries(int port);
bool is_of_keys(int port);
bool is_of_tokens(int port);

bool has_documents(Attention const& attention);
bool has_bounds(Attention const& attention);

// The keys that the queries can see since documents end, however long they are up to the dims; no limits where
// documents of queries and of keys may start in different places.
Span keys_of_documents(Attention const& attention, Span queries);

// The reasons why no group computes an attention over documents, and why GATHER does not; empty where one does.
std::string obstacle_to_documents(Attention const& attention);
std::string obstacle_to_gathered_documents(Attention const& attention);

// An operand whose rows are all tokens of a part: {1, heads, tokens, columns}.
struct TokenOperand {
    int port;
    View view;
};

// The tokens of the whole sequences that a part has.
struct DocumentSpans {
    Span queries, keys;
    std::int64_t all_queries, all_keys;
    bool start_together = false;  // documents start at the same tokens of both
};

// The documents of a part, as tables that are computed before its attention runs.
class PartDocuments {
   public:
    // Adds the step that computes the tables. Other operands of the part have rows of the same widths.
    PartDocuments(Attention const& attention, DocumentSpans const& spans, std::vector<TokenOperand> const& operands,
                  ProgramBuilder& program);

    void connect(AttentionDraft& draft, std::vector<TokenOperand> const& operands) const;
    // The sequences of the part, by which rows that no document has are cleared.
    SlotSequences sequences() const;
    // How many tokens of each document lie before the part's, where scores depend on that: {batch, 1, 1, 1}.
    std::optional<View> const& queries_before() const { return tables_.queries.before; }
    std::optional<View> const& keys_before() const { return tables_.keys.before; }

   private:
    View const* known_starts(int port, View const& view) const;

    DocumentTables tables_;
    std::int64_t longest_queries_, longest_keys_;
};

}  // namespace cudnn_frontend::rewrite
