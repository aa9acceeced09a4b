#include "core/text.h"
#include "rewrite/group/group_writer.h"
#include "rewrite/group/ring_steps.h"
#include "rewrite/group/ways.h"
#include "rewrite/view_moves.h"

#include <array>
#include <utility>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;

constexpr std::size_t kRows = 2;

// A tensor of keys, and in backward its gradient. Of two pieces of memory one is for even steps, the other for odd
// ones.
struct RingTensor {
    int port, gradient;
    std::array<View, 2> shards;
    std::array<View, 2> sums = {};   // of a shard's gradients over the ranks that had it, in FLOAT
    std::vector<View> partial = {};  // a shard's gradients, for each chunk of the rank's queries
};

// Results that are made of several parts are joined in FLOAT, each rounded to its type once.
class RingWriter : GroupWriter {
   public:
    RingWriter(Attention const& attention, group::Task const& task)
        : GroupWriter(attention, task, "ring"),
          own_(chunks_of(task.queries, rank())),
          steps_(steps_of_ring(attention, task)),
          parts_of_chunk_(own_.size()) {
        for (int step = 0; step < steps_; ++step) {
            parts_.push_back(parts_of_ring(attention, task, rank(), step));
            for (RingPart const& part : parts_.back()) ++parts_of_chunk_[part.chunk];
        }
    }

    // A shard travels on while the rank attends to it, and its gradients behind the attentions of the next step.
    Result<Program> write() {
        make_memory();
        copy_own_keys();
        for (int step = 0; step < steps_; ++step) {
            if (step > 0) finish(keys_.back());
            if (step + 1 < steps_) send_keys(step);
            for (RingPart const& part : parts_at(step)) SDPA_GRAPH_TRY(attend(step, part));
            if (!a_.is_backward()) continue;
            if (step > 0) finish(gradients_.back());
            for (RingPart const& part : parts_at(step)) add_gradients(step, part);
            send_gradients(step);
        }
        if (a_.is_backward()) write_gradients();
        else write_outputs();
        return program_.take();
    }

   private:
    static constexpr HeadPart kAllHeads{0, 1};

    static std::size_t parity(int step) { return static_cast<std::size_t>(step % 2); }
    std::vector<RingPart> const& parts_at(int step) const { return parts_[static_cast<std::size_t>(step)]; }
    int owner_at(int step) const { return owner_in_ring(task_, rank(), step); }
    int holder_at(int step) const { return holder_in_ring(task_, rank(), step); }
    std::int64_t tokens_at(int step) const { return task_.keys.count_of(owner_at(step)); }

    // Results of such a part need not be joined.
    bool is_only_part(std::size_t chunk) const { return parts_of_chunk_[chunk] == 1; }

    // --- Memory

    void make_memory() {
        std::int64_t most = 0;
        for (int owner = 0; owner < task_.size(); ++owner) most = std::max(most, task_.keys.count_of(owner));
        for (auto const& [port, gradient] : {std::pair(Port::K, Port::DK), std::pair(Port::V, Port::DV)}) {
            View const own = part(port, kAllHeads);
            RingTensor tensor{port, gradient, {tokens_buffer_like(own, most), tokens_buffer_like(own, most)}};
            if (a_.is_backward()) make_memory_of_gradients(tensor, most);
            tensors_.push_back(std::move(tensor));
        }
        View const result = a_.view(a_.is_backward() ? Port::DQ : Port::O);
        partial_ = program_.scratch_like(result);
        core::Dims of_parts = result.dim;
        of_parts.insert(of_parts.begin(), a_.is_backward() ? 1 : 2);
        joined_ = program_.scratch(DataType_t::FLOAT, of_parts);
        if (a_.is_backward()) return;
        of_parts.back() = 1;
        joined_stats_ = program_.scratch(DataType_t::FLOAT, of_parts);
        merged_stats_ = program_.scratch_like(one_of(joined_stats_, 0));
    }

    void make_memory_of_gradients(RingTensor& tensor, std::int64_t tokens) {
        View const own = part(tensor.gradient, kAllHeads);
        for (View& sum : tensor.sums) sum = tokens_buffer(DataType_t::FLOAT, own.dim[1], tokens, own.dim[3]);
        for (std::size_t i = 0; i < own_.size(); ++i) tensor.partial.push_back(tokens_buffer_like(own, tokens));
    }

    // --- Keys and values

    void copy_own_keys() {
        for (RingTensor const& tensor : tensors_) {
            program_.copy(part(tensor.port, kAllHeads), part_of(tensor.shards[0], kRows, 0, tokens_at(0)));
        }
    }

    void send_keys(int step) {
        auto pieces = std::make_shared<Pieces>();
        pieces->content = core::text("keys and values for step ", step + 2, " of ", steps_);
        for (RingTensor const& tensor : tensors_) {
            add_pieces(pieces->sends, holder_at(1), tensor.shards[parity(step)], 0, tokens_at(step));
            add_pieces(pieces->receives, owner_at(1), tensor.shards[parity(step + 1)], 0, tokens_at(step + 1));
        }
        start(pieces);
        keys_.push_back(std::move(pieces));
    }

    // --- Attention

    static ScorePart scores_of(RingPart const& part) {
        BandPart const& band = part.band;
        return {kAllHeads, band.queries.first, band.keys.first, part.row, band.queries.count()};
    }

    error_t attend(int step, RingPart const& part) {
        BandPart const& band = part.band;
        AttentionDraft draft = draft_of(scores_of(part));
        ClearPadding cleared;
        for (RingTensor const& tensor : tensors_) {
            draft.connect(tensor.port, part_of(tensor.shards[parity(step)], kRows, part.key_row, band.keys.count()));
            if (!a_.is_backward()) continue;
            draft.connect(tensor.gradient, partial_of(tensor, part));
            cleared.tensors.push_back({partial_of(tensor, part), true});
        }
        connect_dropout(draft, kAllHeads, band.queries, band.keys);
        return a_.is_backward() ? attend_backward(part, std::move(draft), std::move(cleared))
                                : attend_forward(part, std::move(draft));
    }

    error_t attend_forward(RingPart const& part, AttentionDraft draft) {
        if (is_only_part(part.chunk)) {
            return attend_within(part.band, std::move(draft), results_behind_keys(part.band, scores_of(part)));
        }
        View const all_o = parts_of(joined_, part), all_stats = parts_of(joined_stats_, part);
        // The first of two parts is all that is joined so far.
        std::int64_t const place = part.is_diagonal ? 0 : 1;
        View const stats = one_of(all_stats, place), o = one_of(all_o, place);
        View const own_o = a_.tensor(Port::O)->data_type == o.type ? o : rows_of(partial_, part);
        draft.fields_of<nodes::SdpaForwardFields>().generate_stats = true;
        draft.place(Port::O, own_o);
        if (has(Port::Stats)) draft.place(Port::Stats, stats);
        else draft.connect(Port::Stats, stats);
        SDPA_GRAPH_TRY(attend_within(part.band, std::move(draft), {{}, {{own_o}, {stats, false, true}}}));
        if (own_o != o) program_.copy(own_o, o);
        if (part.is_diagonal) return {};
        // Each element of O is read and written by one thread, but many read the Stats of its row.
        View const merged = rows_of(merged_stats_, part);
        program_.merge({all_o, all_stats, one_of(all_o, 0), merged});
        program_.copy(merged, one_of(all_stats, 0));
        return {};
    }

    error_t attend_backward(RingPart const& part, AttentionDraft draft, ClearPadding cleared) {
        bool const is_only = is_only_part(part.chunk);
        View const dq = is_only ? user_rows(Port::DQ, part) : rows_of(partial_, part);
        draft.place(Port::DQ, dq);
        cleared.tensors.push_back({dq});
        SDPA_GRAPH_TRY(attend_within(part.band, std::move(draft), std::move(cleared)));
        if (!is_only) join(dq, one_of(parts_of(joined_, part), 0), part);
        return {};
    }

    // The diagonal's part is the first one of its queries and of its keys, and has all of both.
    void join(View const& term, View const& sum, RingPart const& part) {
        if (part.is_diagonal) program_.copy(term, sum);
        else program_.add(term, sum);
    }

    static View rows_of(View const& rank, RingPart const& part) {
        return part_of(rank, kRows, part.row, part.band.queries.count());
    }
    static View parts_of(View const& rank, RingPart const& part) {
        return part_of(rank, kRows + 1, part.row, part.band.queries.count());
    }
    View user_rows(int port, RingPart const& part) const { return rows_of(a_.view(port), part); }

    // --- Gradients of keys and values

    static View partial_of(RingTensor const& tensor, RingPart const& part) {
        return part_of(tensor.partial[part.chunk], kRows, part.key_row, part.band.keys.count());
    }

    // The gradients of the ranks that had the shard before are there.
    void add_gradients(int step, RingPart const& part) {
        for (RingTensor const& tensor : tensors_) {
            View const sum = part_of(tensor.sums[parity(step)], kRows, part.key_row, part.band.keys.count());
            join(partial_of(tensor, part), sum, part);
        }
    }

    // Gradients go to the next rank with the shard, and after the last step to its owner.
    void send_gradients(int step) {
        if (steps_ == 1) return;
        bool const is_last = step + 1 == steps_;
        auto pieces = std::make_shared<Pieces>();
        pieces->content = core::text("gradients of keys and values of step ", step + 1, " of ", steps_);
        for (RingTensor const& tensor : tensors_) {
            add_pieces(pieces->sends, is_last ? owner_at(step) : holder_at(1), tensor.sums[parity(step)], 0,
                       tokens_at(step));
            add_pieces(pieces->receives, is_last ? holder_at(step) : owner_at(1), tensor.sums[parity(step + 1)], 0,
                       tokens_at(is_last ? 0 : step + 1));
        }
        start(pieces);
        gradients_.push_back(std::move(pieces));
    }

    // --- Results

    void write_gradients() {
        if (steps_ > 1) finish(gradients_.back());
        std::size_t const last = steps_ > 1 ? parity(steps_) : 0;
        for (RingTensor const& tensor : tensors_) {
            program_.copy(part_of(tensor.sums[last], kRows, 0, tokens_at(0)), part(tensor.gradient, kAllHeads));
        }
        write_joined(joined_, Port::DQ);
    }

    void write_outputs() {
        write_joined(joined_, Port::O);
        if (has(Port::Stats)) write_joined(joined_stats_, Port::Stats);
    }

    void write_joined(View const& joined, int port) {
        for (RingPart const& part : parts_at(0)) {
            if (!part.is_diagonal || is_only_part(part.chunk)) continue;
            program_.copy(one_of(parts_of(joined, part), 0), user_rows(port, part));
        }
    }

    std::vector<Chunk> own_;
    int steps_;
    std::vector<std::vector<RingPart>> parts_;  // of each step
    std::vector<int> parts_of_chunk_;
    std::vector<RingTensor> tensors_;
    View partial_, joined_;             // O or dQ: of one part, and {parts, batch, heads, rows, columns}
    View joined_stats_, merged_stats_;  // of forward
    std::vector<std::shared_ptr<Pieces const>> keys_, gradients_;
};

}  // namespace

Result<Program> ring(Attention const& attention, group::Task const& task) {
    return RingWriter(attention, task).write();
}

}  // namespace cudnn_frontend::rewrite
