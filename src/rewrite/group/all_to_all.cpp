#include "core/text.h"
#include "rewrite/group/group_writer.h"
#include "rewrite/group/ways.h"
#include "rewrite/view_moves.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;

constexpr std::size_t kRows = 2;

// A tensor with a row for each token.
struct TokenTensor {
    int port;
    bool is_read;
    std::vector<View> shares;  // the rank's tokens, by the other rank that attends to these heads
    View whole;                // all tokens of the rank's heads
};

class AllToAllWriter : GroupWriter {
   public:
    AllToAllWriter(Attention const& attention, group::Task const& task) : GroupWriter(attention, task, "all_to_all") {}

    Result<Program> write() {
        for (int port = 0; port < attention::PortCount; ++port) {
            if (has(port) && is_of_tokens(port)) tensors_.push_back(make_memory(port));
        }
        for (TokenTensor const& tensor : tensors_) {
            if (tensor.is_read) split(tensor);
        }
        exchange(true);
        SDPA_GRAPH_TRY(attend());
        exchange(false);
        for (TokenTensor const& tensor : tensors_) {
            if (!tensor.is_read) join(tensor);
        }
        gather_sinks();
        return program_.take();
    }

   private:
    HeadPart share_of(int owner) const { return {owner, task_.size()}; }

    group::Layout const& layout_of(int port) const { return is_of_keys(port) ? task_.keys : task_.queries; }

    TokenTensor make_memory(int port) {
        attention::Use const use =
            a_.is_backward() ? attention::operand(port).backward : attention::operand(port).forward;
        View const share = part(port, share_of(rank()));
        TokenTensor tensor{port, attention::reads(use), {}, tokens_buffer_like(share, layout_of(port).length())};
        for (int peer = 0; peer < task_.size(); ++peer) {
            tensor.shares.push_back(peer == rank() ? View() : tokens_buffer_like(share, share.dim[kRows]));
        }
        return tensor;
    }

    // The user's tensor by heads, where that of the rank's own needs no exchange.
    void split(TokenTensor const& tensor) {
        for (int peer = 0; peer < task_.size(); ++peer) {
            View const heads = part(tensor.port, share_of(peer));
            if (peer != rank()) program_.copy(heads, tensor.shares[static_cast<std::size_t>(peer)]);
            else copy_own(heads, tensor, true);
        }
    }

    void join(TokenTensor const& tensor) {
        for (int peer = 0; peer < task_.size(); ++peer) {
            View const heads = part(tensor.port, share_of(peer));
            if (peer != rank()) program_.copy(tensor.shares[static_cast<std::size_t>(peer)], heads);
            else copy_own(heads, tensor, false);
        }
    }

    // Copies between the rank's heads of its tokens and their places among all tokens.
    void copy_own(View const& heads, TokenTensor const& tensor, bool into_whole) {
        for (Chunk const& chunk : chunks_of(layout_of(tensor.port), rank())) {
            View const own = part_of(heads, kRows, chunk.row, chunk.tokens.count());
            View const in_whole = part_of(tensor.whole, kRows, chunk.tokens.first, chunk.tokens.count());
            if (into_whole) program_.copy(own, in_whole);
            else program_.copy(in_whole, own);
        }
    }

    // The inputs of attention, from the owners of tokens to those of heads; and its results, back.
    void exchange(bool is_of_inputs) {
        auto pieces = std::make_shared<Pieces>();
        pieces->content = is_of_inputs ? "inputs by heads" : "results by tokens";
        for (TokenTensor const& tensor : tensors_) {
            if (tensor.is_read != is_of_inputs) continue;
            for (int peer = 0; peer < task_.size(); ++peer) {
                if (peer != rank()) add(*pieces, tensor, peer, is_of_inputs);
            }
        }
        start(pieces);
        finish(pieces);
    }

    void add(Pieces& pieces, TokenTensor const& tensor, int peer, bool is_of_inputs) {
        auto& of_tokens = is_of_inputs ? pieces.sends : pieces.receives;
        auto& of_heads = is_of_inputs ? pieces.receives : pieces.sends;
        group::Layout const& layout = layout_of(tensor.port);
        for (Chunk const& chunk : chunks_of(layout, rank())) {
            add_pieces(of_tokens, peer, tensor.shares[static_cast<std::size_t>(peer)], chunk.row, chunk.tokens.count());
        }
        for (Chunk const& chunk : chunks_of(layout, peer)) {
            add_pieces(of_heads, peer, tensor.whole, chunk.tokens.first, chunk.tokens.count());
        }
    }

    // The whole attention of the rank's heads, with the mask as it is.
    error_t attend() {
        AttentionDraft draft = options();
        std::optional<PartDocuments> const documents = connect_tokens(draft);
        for (int const port : {Port::SinkToken, Port::Bias}) {
            if (has(port)) draft.connect(port, part(port, share_of(rank())));
        }
        add_score_nodes(a_, {share_of(rank())}, draft);
        connect_dropout(draft, share_of(rank()), {0, task_.queries.length()}, {0, task_.keys.length()},
                        documents ? &*documents : nullptr);
        if (has(Port::DSinkToken)) {
            sinks_ = program_.scratch_like(a_.view(Port::DSinkToken));
            draft.connect(Port::DSinkToken, sinks_of(rank()));
        }
        SDPA_GRAPH_TRY(program_.attend(std::move(draft)));
        if (documents) clear_gaps(*documents);
        return {};
    }

    std::optional<PartDocuments> connect_tokens(AttentionDraft& draft) {
        if (!has_documents(a_)) {
            for (TokenTensor const& tensor : tensors_) draft.connect(tensor.port, tensor.whole);
            for (int const port : {Port::SeqLenQ, Port::SeqLenKv, Port::CuSeqLenQ, Port::CuSeqLenKv}) {
                if (has(port)) draft.connect(port, a_.view(port));
            }
            return {};
        }
        std::vector<TokenOperand> operands;
        for (TokenTensor const& tensor : tensors_) operands.push_back({tensor.port, tensor.whole});
        std::int64_t const queries = task_.queries.length(), keys = task_.keys.length();
        std::optional<PartDocuments> documents(std::in_place, a_, DocumentSpans{{0, queries}, {0, keys}, queries, keys},
                                               operands, program_);
        documents->connect(draft, operands);
        return documents;
    }

    // Clears the rows of results that no document has: their owners get all rows.
    void clear_gaps(PartDocuments const& documents) {
        for (TokenTensor const& tensor : tensors_) {
            if (tensor.is_read) continue;
            program_.join(ClearPadding{documents.sequences(), {{tensor.whole, is_of_keys(tensor.port)}}});
        }
    }

    View sinks_of(int owner) const {
        std::int64_t const count = sinks_.dim[1] / task_.size();
        return part_of(sinks_, 1, owner * count, count);
    }

    // Each rank has the gradient of the sink for its heads.
    void gather_sinks() {
        if (!has(Port::DSinkToken)) return;
        auto pieces = std::make_shared<Pieces>();
        pieces->content = "gradients of the sink token";
        for (int peer = 0; peer < task_.size(); ++peer) {
            if (peer == rank()) continue;
            pieces->sends.push_back({peer, sinks_of(rank())});
            pieces->receives.push_back({peer, sinks_of(peer)});
        }
        start(pieces);
        finish(pieces);
        program_.copy(sinks_, a_.view(Port::DSinkToken));
    }

    std::vector<TokenTensor> tensors_;
    View sinks_;  // their gradients, of all heads
};

}  // namespace

Result<Program> all_to_all(Attention const& attention, group::Task const& task) {
    return AllToAllWriter(attention, task).write();
}

}  // namespace cudnn_frontend::rewrite
