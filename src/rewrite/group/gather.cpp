#include "core/data_type.h"
#include "core/text.h"
#include "rewrite/group/gather_plan.h"
#include "rewrite/group/group_writer.h"
#include "rewrite/group/token_rows.h"
#include "rewrite/group/ways.h"
#include "rewrite/view_moves.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;

constexpr std::size_t kRows = 2;
constexpr std::array kKeyPorts = {Port::K, Port::V};

// A tensor of keys: the rank's own port, the gathered tokens, and in backward the gradient's.
struct KeyTensor {
    int port;
    View gathered;
    std::vector<View> partial = {};  // gradients, for each part of the queries: those that are not in place
    std::vector<View> terms = {};    // {chunks, batch, heads, tokens, columns} for each of own_keys()
};

// The memory and the exchanges of one stage of heads.
struct Stage {
    HeadPart heads;
    std::vector<KeyTensor> tensors = {};
    std::shared_ptr<Pieces const> keys = {}, gradients = {};
};

class GatherWriter : GroupWriter {
   public:
    GatherWriter(Attention const& attention, group::Task const& task, int stages)
        : GroupWriter(attention, task, core::text("gather(", stages, ")")),
          chunks_(query_chunks(attention, task)),
          keys_(attention, task, chunks_, task.rank(),
                !attention.is_backward() || have_aligned_rows({Port::K, Port::V})),
          gradients_(attention, task, chunks_, attention.is_backward() && have_aligned_rows({Port::DK, Port::DV})) {
        for (int owner = 0; attention.is_backward() && owner < task_.size(); ++owner)
            keys_of_ranks_.push_back(gradients_.of_rank(owner));
        for (int reader = 0; reader < task_.size(); ++reader) needed_.push_back(keys_for(reader, chunks_));
        for (int index = 0; index < stages; ++index) stages_.push_back({{index, stages}});
        sends_in_place_ = can_send_in_place(stages_.front().heads);
        rows_ = TokenRows(keys_.buffered_tokens(!sends_in_place_));
    }

    // The next stage's keys travel behind this one's attentions, and this one's gradients behind the next one's.
    Result<Program> write() {
        make_sink_parts();
        for (std::size_t i = 0; i < stages_.size(); ++i) {
            if (i == 0) start_keys(i);
            if (i + 1 < stages_.size()) start_keys(i + 1);
            SDPA_GRAPH_TRY(attend_all(stages_[i], true));
            copy_unsent(stages_[i]);
            finish(stages_[i].keys);
            SDPA_GRAPH_TRY(attend_all(stages_[i], false));
            if (!a_.is_backward()) continue;
            if (i > 0) sum_gradients(stages_[i - 1]);
            start_gradients(stages_[i]);
            add_border_gradients(stages_[i]);
        }
        if (a_.is_backward()) sum_gradients(stages_.back());
        sum_sinks();
        return program_.take();
    }

   private:
    // --- Keys and values

    // At most two stages are active, so that stage i has the memory of stage i - 2.
    void make_memory(std::size_t index) {
        Stage& stage = stages_[index];
        if (index >= 2) {
            stage.tensors = stages_[index - 2].tensors;
            return;
        }
        for (int const port : kKeyPorts) {
            View const own = part(port, stage.heads);
            KeyTensor tensor{port, rows_.count() > 0 ? tokens_buffer_like(own, rows_.count()) : View()};
            if (a_.is_backward()) make_memory_of_gradients(stage, tensor);
            stage.tensors.push_back(std::move(tensor));
        }
    }

    void start_keys(std::size_t index) {
        make_memory(index);
        Stage& stage = stages_[index];
        if (!sends_in_place_) copy_own(stage, keys_.sent_tokens());
        auto pieces = std::make_shared<Pieces>();
        pieces->content = "keys and values of " + heads_text(stage.heads);
        for (KeyTensor const& tensor : stage.tensors) {
            for (int peer = 0; peer < task_.size(); ++peer) {
                if (peer == rank()) continue;
                for (Chunk const& shared : shared_chunks(rank(), peer)) add_sent(*pieces, peer, stage, tensor, shared);
                for (Chunk const& shared : shared_chunks(peer, rank())) {
                    add_pieces(pieces->receives, peer, tensor.gathered, rows_.row_of(shared.tokens.first),
                               shared.tokens.count());
                }
            }
        }
        stage.keys = std::move(pieces);
        start(stage.keys);
    }

    // Own keys that attentions read next to received ones, unless they were copied there to be sent.
    void copy_unsent(Stage const& stage) {
        std::vector<Span> const own = common(tokens_of(task_.keys, rank()), keys_.read_tokens());
        copy_own(stage, sends_in_place_ ? own : without(own, keys_.sent_tokens()));
    }

    void copy_own(Stage const& stage, std::vector<Span> const& spans) {
        for (KeyTensor const& tensor : stage.tensors) {
            for (Chunk const& chunk : chunks_of(task_.keys, rank())) {
                for (Span const& tokens : common({chunk.tokens}, spans)) {
                    program_.copy(part(tensor.port, stage.heads, row_of(chunk, tokens), tokens.count()),
                                  part_of(tensor.gathered, kRows, rows_.row_of(tokens.first), tokens.count()));
                }
            }
        }
    }

    // The keys of one rank that another one needs: consecutive tokens, and the row of the owner's tensors that has the
    // first.
    std::vector<Chunk> shared_chunks(int owner, int reader) const {
        std::vector<Span> const& needed = needed_[static_cast<std::size_t>(reader)];
        std::vector<Chunk> shared;
        for (Chunk const& chunk : chunks_of(task_.keys, owner)) {
            for (Span const& tokens : common({chunk.tokens}, needed))
                shared.push_back({owner, tokens, row_of(chunk, tokens)});
        }
        return shared;
    }

    // From the caller's tensors where the tokens lie without gaps.
    void add_sent(Pieces& pieces, int peer, Stage const& stage, KeyTensor const& tensor, Chunk const& shared) {
        View const source = sends_in_place_ ? part(tensor.port, stage.heads) : tensor.gathered;
        std::int64_t const row = sends_in_place_ ? shared.row : rows_.row_of(shared.tokens.first);
        add_pieces(pieces.sends, peer, source, row, shared.tokens.count());
    }

    // Whether pieces of this rank's tensors lie as those of buffers do: {tokens, heads, columns} of a batch entry.
    // Other ranks may have other strides, as their pieces have the same sizes either way.
    bool can_send_in_place(HeadPart heads) const {
        return std::ranges::all_of(kKeyPorts, [&](int port) {
            std::vector<Pieces::Piece> pieces;
            View const keys = part(port, heads);
            add_pieces(pieces, rank(), keys, 0, keys.dim[kRows]);
            return is_without_gaps(pieces.front().view);
        });
    }

    // --- Attention

    // The attentions that read the caller's keys, or those that read gathered ones.
    error_t attend_all(Stage const& stage, bool has_own_keys) {
        for (std::size_t i = 0; i < keys_.queries().size(); ++i) {
            for (BandPart const& part : keys_.queries()[i].attentions) {
                if (keys_.own_range(part.keys).has_value() == has_own_keys) SDPA_GRAPH_TRY(attend(stage, i, part));
            }
        }
        return {};
    }

    // Queries with a second attention, over the keys left of the diagonal, have a second part of their gradient.
    void add_border_gradients(Stage const& stage) {
        for (std::size_t i = 0; i < keys_.queries().size(); ++i) {
            auto const& parts = keys_.queries()[i].attentions;
            if (parts.size() < 2) continue;
            View const result = rows_of(stage, Port::DQ, keys_.queries()[i], parts[1].queries);
            program_.add(border_dq(i, parts[1]), result);
        }
    }

    error_t attend(Stage const& stage, std::size_t index, BandPart const& part) {
        if (has_documents(a_)) return attend_documents(stage, index);
        QueryChunk const& chunk = keys_.queries()[index];
        bool const is_main = part.keys.end == chunk.keys.end;
        ScorePart const scores{stage.heads, part.queries.first, part.keys.first, row_of(chunk, part.queries),
                               part.queries.count()};
        AttentionDraft draft = draft_of(scores);
        ClearPadding cleared = a_.is_backward() ? ClearPadding() : results_behind_keys(part, scores);
        for (KeyTensor const& tensor : stage.tensors) {
            draft.connect(tensor.port, keys_of(stage, tensor, part.keys));
            if (!a_.is_backward()) continue;
            View const gradient = written_gradient(stage, tensor, chunk, part.keys);
            draft.connect(gradient_of(tensor.port), gradient);
            cleared.tensors.push_back({gradient, true});
        }
        // Other parts would add the rows' share of the sink again.
        if (has(Port::DSinkToken) && is_main) draft.connect(Port::DSinkToken, sink_part(chunk, stage.heads));
        if (!is_main) draft.place(Port::DQ, border_dq(index, part));
        if (a_.is_backward()) {
            cleared.tensors.push_back(
                {is_main ? rows_of(stage, Port::DQ, chunk, part.queries) : border_dq(index, part)});
        }
        connect_dropout(draft, stage.heads, part.queries, part.keys);
        return attend_within(part, std::move(draft), std::move(cleared));
    }

    View keys_of(Stage const& stage, KeyTensor const& tensor, Span const& keys) const {
        if (auto const range = keys_.own_range(keys))
            return part(tensor.port, stage.heads, row_of(*range, keys), keys.count());
        return part_of(tensor.gathered, kRows, rows_.row_of(keys.first), keys.count());
    }

    // Attention over all documents at once. The keys of a document end where its queries do, so that its diagonal ends
    // at the last query and the last key.
    error_t attend_documents(Stage const& stage, std::size_t index) {
        QueryChunk const& chunk = keys_.queries()[index];
        ScorePart scores{.heads = stage.heads, .first_row = chunk.row, .rows = chunk.tokens.count()};
        std::vector<TokenOperand> operands = operands_of_queries(scores);
        std::vector<ClearPadding::Rows> partial;
        for (KeyTensor const& tensor : stage.tensors) {
            operands.push_back(
                {tensor.port, part_of(tensor.gathered, kRows, rows_.row_of(chunk.keys.first), chunk.keys.count())});
            if (!a_.is_backward()) continue;
            operands.push_back({gradient_of(tensor.port), tensor.partial[index]});
            partial.push_back({tensor.partial[index], true});
        }
        DocumentSpans const spans{chunk.tokens, chunk.keys, task_.queries.length(), task_.keys.length(),
                                  has_bounds(a_)};
        if (documents_.empty()) documents_.resize(keys_.queries().size());
        if (!documents_[index]) documents_[index].emplace(a_, spans, operands, program_);
        PartDocuments const& documents = *documents_[index];
        scores.queries_before = documents.queries_before();
        scores.keys_before = documents.keys_before();
        AttentionDraft draft = options();
        documents.connect(draft, operands);
        connect_shared(draft, scores);
        connect_dropout(draft, stage.heads, chunk.tokens, chunk.keys, &documents);
        if (has_bounds(a_)) draft.fields().diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
        if (has(Port::DSinkToken)) draft.connect(Port::DSinkToken, sink_part(chunk, stage.heads));
        if (a_.is_backward()) {
            draft.fields().max_total_seq_len_q = chunk.tokens.count();
            draft.fields().max_total_seq_len_kv = chunk.keys.count();
        }
        SDPA_GRAPH_TRY(program_.attend(std::move(draft)));
        if (a_.is_backward()) program_.join(ClearPadding{documents.sequences(), std::move(partial)});
        return {};
    }

    static std::int64_t row_of(Chunk const& chunk, Span const& tokens) {
        return chunk.row + tokens.first - chunk.tokens.first;
    }
    View rows_of(Stage const& stage, int port, QueryChunk const& chunk, Span const& queries) const {
        return part(port, stage.heads, row_of(chunk, queries), queries.count());
    }

    // The gradient of the queries from the keys that are left of the diagonal. All stages use one piece of scratch.
    View border_dq(std::size_t index, BandPart const& part) {
        if (border_dq_.empty()) border_dq_.resize(keys_.queries().size());
        std::optional<View>& known = border_dq_[index];
        if (!known)
            known = program_.scratch_like(rows_of(stages_.front(), Port::DQ, keys_.queries()[index], part.queries));
        return *known;
    }

    // --- Gradients of keys and values

    static int gradient_of(int port) { return port == Port::K ? Port::DK : Port::DV; }

    std::vector<SeenKeys> const& keys_of(int owner) const { return keys_of_ranks_[static_cast<std::size_t>(owner)]; }
    std::vector<SeenKeys> const& own_keys() const { return keys_of(rank()); }

    // Engines of backward need rows without gaps that start at multiples of 16 bytes.
    bool have_aligned_rows(std::array<int, 2> const& ports) const {
        return std::ranges::all_of(ports, [&](int port) {
            View const view = rows_of_rank(port);
            auto const is_aligned = [&](std::size_t dim) {
                return view.dim[dim] == 1 || view.stride[dim] * core::size_of(view.type) % 16 == 0;
            };
            return view.stride[3] == 1 && is_aligned(0) && is_aligned(1) && is_aligned(2);
        });
    }

    void make_memory_of_gradients(Stage const& stage, KeyTensor& tensor) {
        View const own = part(gradient_of(tensor.port), stage.heads);
        for (QueryPart const& queries : keys_.queries()) {
            std::int64_t const count = gradients_.keys_elsewhere(queries).count();
            tensor.partial.push_back(count > 0 ? tokens_buffer_like(own, count) : View());
        }
        for (SeenKeys const& keys : own_keys()) tensor.terms.push_back(terms_buffer(own, keys));
    }

    View terms_buffer(View const& own, SeenKeys const& keys) {
        if (keys.terms() == 0) return {};
        View const terms =
            program_.scratch(own.type, {keys.terms(), entries(), keys.tokens.count(), own.dim[1], own.dim[3]});
        return permute(terms, {0, 1, 3, 2, 4});
    }

    // The gradient that an attention over the chunk's queries writes: the caller's, or a partial one.
    View written_gradient(Stage const& stage, KeyTensor const& tensor, QueryChunk const& chunk,
                          Span const& keys) const {
        auto const range = gradients_.range_in_place(chunk, keys);
        if (!range) return partial_gradient(tensor, chunk, keys);
        return part(gradient_of(tensor.port), stage.heads, row_of(*range, keys), keys.count());
    }
    View partial_gradient(KeyTensor const& tensor, QueryChunk const& chunk, Span const& keys) const {
        auto const queries = std::ranges::find(keys_.queries(), chunk.tokens, &QueryPart::tokens);
        View const& all = tensor.partial[static_cast<std::size_t>(queries - keys_.queries().begin())];
        return part_of(all, kRows, keys.first - gradients_.keys_elsewhere(chunk).first, keys.count());
    }

    void start_gradients(Stage& stage) {
        auto pieces = std::make_shared<Pieces>();
        pieces->content = "gradients of keys and values of " + heads_text(stage.heads);
        for (KeyTensor const& tensor : stage.tensors) {
            for (int owner = 0; owner < task_.size(); ++owner) {
                if (owner != rank()) add_partial(pieces->sends, tensor, owner);
            }
            for (std::size_t i = 0; i < own_keys().size(); ++i) add_received(pieces->receives, tensor, i);
        }
        stage.gradients = std::move(pieces);
        start(stage.gradients);
        for (KeyTensor const& tensor : stage.tensors) {
            for (std::size_t i = 0; i < own_keys().size(); ++i) copy_own_terms(tensor, i);
        }
    }

    // The gradients that the rank's chunks have of another rank's keys.
    void add_partial(std::vector<Pieces::Piece>& pieces, KeyTensor const& tensor, int owner) {
        for (SeenKeys const& keys : keys_of(owner)) {
            for (QueryChunk const& chunk : keys.seen_by) {
                if (chunk.rank != rank()) continue;
                add_pieces(pieces, owner, partial_gradient(tensor, chunk, keys.tokens), 0, keys.tokens.count());
            }
        }
    }

    void add_received(std::vector<Pieces::Piece>& pieces, KeyTensor const& tensor, std::size_t index) {
        SeenKeys const& keys = own_keys()[index];
        for (std::int64_t place = 0; place < keys.terms(); ++place) {
            int const sender = keys.added()[static_cast<std::size_t>(place)].rank;
            if (sender == rank()) continue;
            add_pieces(pieces, sender, one_of(tensor.terms[index], place), 0, keys.tokens.count());
        }
    }

    // The rank's own gradients, to their places between those that others send.
    void copy_own_terms(KeyTensor const& tensor, std::size_t index) {
        SeenKeys const& keys = own_keys()[index];
        for (std::int64_t place = 0; place < keys.terms(); ++place) {
            QueryChunk const& chunk = keys.added()[static_cast<std::size_t>(place)];
            if (chunk.rank != rank()) continue;
            program_.copy(partial_gradient(tensor, chunk, keys.tokens), one_of(tensor.terms[index], place));
        }
    }

    void sum_gradients(Stage const& stage) {
        finish(stage.gradients);
        for (KeyTensor const& tensor : stage.tensors) {
            for (std::size_t i = 0; i < own_keys().size(); ++i) sum(stage, tensor, i);
        }
    }

    // Adds up the gradients that all chunks made, in the order of the sequence.
    void sum(Stage const& stage, KeyTensor const& tensor, std::size_t index) {
        SeenKeys const& keys = own_keys()[index];
        if (keys.added().empty()) return;
        View const terms = keys.adds_own_alone()
                               ? repeat(partial_gradient(tensor, keys.added().front(), keys.tokens), 0, 1)
                               : tensor.terms[index];
        View const result = part(gradient_of(tensor.port), stage.heads, keys.row, keys.tokens.count());
        program_.sum({terms, result, keys.is_first_in_place});
    }

    // --- The gradient of a sink, which all ranks get

    void make_sink_parts() {
        if (!has(Port::DSinkToken)) return;
        View const sink = a_.view(Port::DSinkToken);
        sink_parts_ = program_.scratch(sink.type, {static_cast<std::int64_t>(chunks_.size()), 1, sink.dim[1], 1, 1});
    }

    View sink_part(QueryChunk const& chunk, HeadPart heads) const {
        auto const at = std::ranges::find(chunks_, chunk.tokens, &QueryChunk::tokens);
        View const all = one_of(sink_parts_, at - chunks_.begin());
        std::int64_t const count = all.dim[1] / heads.count;
        return part_of(all, 1, heads.index * count, count);
    }

    void sum_sinks() {
        if (!has(Port::DSinkToken)) return;
        auto pieces = std::make_shared<Pieces>();
        pieces->content = "gradients of the sink token";
        for (int peer = 0; peer < task_.size(); ++peer) {
            if (peer == rank()) continue;
            for (QueryChunk const& chunk : chunks_) {
                Pieces::Piece const piece{peer, sink_part(chunk, {0, 1})};
                if (chunk.rank == rank()) pieces->sends.push_back(piece);
                if (chunk.rank == peer) pieces->receives.push_back(piece);
            }
        }
        start(pieces);
        finish(pieces);
        program_.sum({sink_parts_, a_.view(Port::DSinkToken)});
    }

    std::vector<QueryChunk> chunks_;  // of all ranks, in the order of the sequence
    GatheredKeys keys_;
    KeyGradients gradients_;
    std::vector<std::vector<Span>> needed_;                // the keys that each rank attends to
    std::vector<std::vector<SeenKeys>> keys_of_ranks_;     // in backward
    std::vector<std::optional<PartDocuments>> documents_;  // for each part of the queries
    std::vector<std::optional<View>> border_dq_;           // for each part of the queries
    bool sends_in_place_ = false;                          // this rank sends keys from the caller's tensors
    TokenRows rows_;                                       // of the keys in buffers
    std::vector<Stage> stages_;
    View sink_parts_;  // {chunks, 1, heads, 1, 1}
};

}  // namespace

Result<Program> gather(Attention const& attention, group::Task const& task, int stages) {
    return GatherWriter(attention, task, stages).write();
}

}  // namespace cudnn_frontend::rewrite
