// The common base of the programs of all ways: parts of the rank's tensors, buffers of tokens, and exchanges.
#pragma once

#include "group/task.h"
#include "rewrite/attention_node.h"
#include "rewrite/group/chunks.h"
#include "rewrite/group/documents.h"
#include "rewrite/group/score_nodes.h"
#include "rewrite/program_builder.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::rewrite {

// How many of a part's queries and keys are within the lengths of each batch entry: {batch, 1, 1, 1}.
struct PartLengths {
    View queries, keys;
};

class GroupWriter {
   protected:
    GroupWriter(Attention const& attention, group::Task const& task, std::string const& name);

    bool has(int port) const { return has_port(a_, port); }
    bool is_alone() const { return task_.size() == 1; }
    int rank() const { return task_.rank(); }

    // The batch entries of tensors of tokens: documents are in one.
    std::int64_t entries() const { return has_documents(a_) ? 1 : a_.batches; }
    // The rank's tensor, where documents are one sequence.
    View rows_of_rank(int port) const;
    // The heads of a part, and some rows of the rank's tensor where its rows are tokens. A dim of size 1 that is
    // repeated stays.
    View part(int port, HeadPart heads) const;
    View part(int port, HeadPart heads, std::int64_t first_row, std::int64_t rows) const;

    // {batch, heads, tokens, columns}, of which some tokens of a batch entry lie without gaps.
    View tokens_buffer(DataType_t type, std::int64_t heads, std::int64_t tokens, std::int64_t columns);
    View tokens_buffer_like(View const& part, std::int64_t tokens);
    // Adds these tokens of a buffer, a piece for each batch entry.
    static void add_pieces(std::vector<Pieces::Piece>& pieces, int rank, View const& buffer, std::int64_t first,
                           std::int64_t count);

    // The options of the attention alone.
    AttentionDraft options() const;
    // An attention with the heads and rows of a part, of all ports whose rows are queries, the sink and the bias.
    AttentionDraft draft_of(ScorePart const& scores) const;
    // The operands whose rows are queries.
    std::vector<TokenOperand> operands_of_queries(ScorePart const& scores) const;
    // Connects the operands that are no tokens: sink, bias, and the tensors of score modifiers.
    void connect_shared(AttentionDraft& draft, ScorePart const& scores) const;

    // The attention of a part, with its band and its lengths. Where there are lengths, the rows past them of these
    // results are cleared, as engines may leave them unwritten: all rows of a part without a query or a key within
    // them.
    error_t attend_within(BandPart const& part, AttentionDraft draft, ClearPadding cleared);

    // The user's results of forward, where a part has them all and may lie behind a sequence's last key. From the first
    // key on, only a sequence without keys has none, as in one process.
    ClearPadding results_behind_keys(BandPart const& part, ScorePart const& scores) const;

    // Dropout by a mask in scratch, that of these queries and keys in the whole attention, or of the documents there.
    void connect_dropout(AttentionDraft& draft, HeadPart heads, Span const& queries, Span const& keys,
                         PartDocuments const* documents = nullptr);

    // A group of one rank exchanges nothing. All ranks start and finish as many exchanges.
    void start(std::shared_ptr<Pieces const> const& pieces);
    void finish(std::shared_ptr<Pieces const> const& pieces);

    std::string heads_text(HeadPart heads) const;
    // One of the parts that are the first dim.
    static View one_of(View const& parts, std::int64_t index);

    Attention const& a_;
    group::Task const& task_;
    WholeBand band_;
    ProgramBuilder program_;

   private:
    struct DropoutMemory {
        View mask, scale;
        std::optional<View> inverse;
    };
    using Pair = std::pair<std::int64_t, std::int64_t>;

    PartLengths const& lengths_of(BandPart const& part);

    std::map<Pair, DropoutMemory> dropout_;  // by the numbers of queries and keys, for parts one after the other
    std::map<Pair, PartLengths> lengths_;    // by a part's first query and key, for all stages
};

}  // namespace cudnn_frontend::rewrite
