#include "rewrite/group/group_writer.h"

#include "core/text.h"
#include "rewrite/view_moves.h"

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;
using attention::Size;

constexpr std::size_t kBatch = 0, kHeads = 1, kRows = 2;

attention::Shape const& shape_of(int port) { return attention::operand(port).shape; }

// A text that is the same for all ranks of a program. Lengths are those of the whole sequences.
std::string agreement_of(Attention const& a, group::Task const& task, std::string const& name) {
    auto const layout_text = [](group::Layout const& layout) {
        std::string text;
        for (Chunk const& chunk : chunks_of(layout)) {
            text += core::text(text.empty() ? "" : " ", chunk.rank, ":", chunk.tokens.first, "+", chunk.tokens.count());
        }
        return text;
    };
    auto const bound = [](std::optional<std::int64_t> value) { return value ? core::text(*value) : std::string("-"); };
    nodes::AttentionFields const& fields = a.fields();
    std::string modifiers;
    for (nodes::Node const& node : a.node().modifier) {
        auto const& operation = std::get<nodes::PointwiseFields>(node.fields);
        modifiers += core::text(modifiers.empty() ? ", scores by " : " ", operation.mode);
    }
    return core::text(name, a.is_backward() ? " backward" : " forward", " of ", a.batches, " x ", a.query_heads, "/",
                      a.key_heads, "/", a.value_heads, " heads of ", a.head_dim, "/", a.value_dim, " ",
                      a.tensor(Port::Q)->data_type, ", band ", bound(fields.left_bound), "/", bound(fields.right_bound),
                      fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT ? " bottom right" : "",
                      fields.alibi_mask ? ", ALiBi" : "", fields.padding_mask ? ", lengths" : "",
                      has_documents(a) ? ", documents" : "", draws_dropout(a) ? ", dropout" : "", modifiers,
                      ", queries ", layout_text(task.queries), ", keys ", layout_text(task.keys));
}

}  // namespace

GroupWriter::GroupWriter(Attention const& attention, group::Task const& task, std::string const& name)
    : a_(attention), task_(task), band_(attention.fields(), task.queries.length(), task.keys.length()), program_(name) {
    program_.agree_on(agreement_of(attention, task, name));
}

View GroupWriter::rows_of_rank(int port) const {
    View view = a_.view(port);
    if (!has_documents(a_) || !is_of_tokens(port)) return view;
    view.dim[kBatch] = 1;
    view.dim[kRows] = (is_of_keys(port) ? task_.keys : task_.queries).count_of(rank());
    view.stride[kBatch] = view.stride[kRows] * view.dim[kRows];
    return view;
}

View GroupWriter::part(int port, HeadPart heads) const {
    View whole = rows_of_rank(port);
    if (shape_of(port).sizes[kHeads] == Size::One || whole.dim[kHeads] == 1) return whole;
    std::int64_t const count = whole.dim[kHeads] / heads.count;
    return part_of(whole, kHeads, heads.index * count, count);
}

View GroupWriter::part(int port, HeadPart heads, std::int64_t first_row, std::int64_t rows) const {
    View const all_rows = part(port, heads);
    bool const has_rows = (is_of_queries(port) || is_of_keys(port)) && all_rows.dim[kRows] > 1;
    return has_rows ? part_of(all_rows, kRows, first_row, rows) : all_rows;
}

View GroupWriter::tokens_buffer(DataType_t type, std::int64_t heads, std::int64_t tokens, std::int64_t columns) {
    return permute(program_.scratch(type, {entries(), tokens, heads, columns}), {0, 2, 1, 3});
}

View GroupWriter::tokens_buffer_like(View const& part, std::int64_t tokens) {
    return tokens_buffer(part.type, part.dim[kHeads], tokens, part.dim[3]);
}

void GroupWriter::add_pieces(std::vector<Pieces::Piece>& pieces, int rank, View const& buffer, std::int64_t first,
                             std::int64_t count) {
    for (std::int64_t batch = 0; batch < buffer.dim[kBatch]; ++batch) {
        View const entry = part_of(part_of(buffer, kBatch, batch, 1), kRows, first, count);
        pieces.push_back({rank, permute(entry, {0, 2, 1, 3})});
    }
}

AttentionDraft GroupWriter::options() const {
    AttentionDraft draft(a_);
    draft.fields().said = {};
    draft.fields().max_total_seq_len_q.reset();
    draft.fields().max_total_seq_len_kv.reset();
    if (!a_.is_backward()) {
        auto& fields = draft.fields_of<nodes::SdpaForwardFields>();
        fields.generate_stats = has(Port::Stats);
        fields.max_seq_len_kv.reset();
    }
    return draft;
}

std::vector<TokenOperand> GroupWriter::operands_of_queries(ScorePart const& scores) const {
    std::vector<TokenOperand> operands;
    for (int port = 0; port < attention::PortCount; ++port) {
        bool const is_operand = is_of_queries(port) && is_of_tokens(port) && has(port);
        if (is_operand) operands.push_back({port, part(port, scores.heads, scores.first_row, scores.rows)});
    }
    return operands;
}

void GroupWriter::connect_shared(AttentionDraft& draft, ScorePart const& scores) const {
    for (int const port : {Port::Bias, Port::SinkToken}) {
        if (has(port)) draft.connect(port, part(port, scores.heads, scores.first_row, scores.rows));
    }
    add_score_nodes(a_, scores, draft);
}

AttentionDraft GroupWriter::draft_of(ScorePart const& scores) const {
    AttentionDraft draft = options();
    for (auto const& [port, view] : operands_of_queries(scores)) draft.connect(port, view);
    connect_shared(draft, scores);
    return draft;
}

error_t GroupWriter::attend_within(BandPart const& part, AttentionDraft draft, ClearPadding cleared) {
    draft.fields().diagonal_alignment = part.band.alignment;
    draft.fields().left_bound = part.band.left;
    draft.fields().right_bound = part.band.right;
    if (!a_.fields().padding_mask) return program_.attend(std::move(draft));
    PartLengths const& lengths = lengths_of(part);
    draft.connect(Port::SeqLenQ, lengths.queries);
    draft.connect(Port::SeqLenKv, lengths.keys);
    SDPA_GRAPH_TRY(program_.attend(std::move(draft)));
    if (cleared.tensors.empty()) return {};
    cleared.sequences = {lengths.queries, lengths.keys, a_.batches, part.queries.count(), part.keys.count()};
    program_.join(std::move(cleared));
    return {};
}

ClearPadding GroupWriter::results_behind_keys(BandPart const& part, ScorePart const& scores) const {
    ClearPadding cleared;
    if (part.keys.first == 0) return cleared;
    for (int const port : {Port::O, Port::Stats, Port::Max, Port::SumExp}) {
        if (!has(port)) continue;
        bool const is_log_sums = port == Port::Stats || port == Port::Max;
        cleared.tensors.push_back({this->part(port, scores.heads, scores.first_row, scores.rows), false, is_log_sums});
    }
    if (has(Port::SinkToken)) cleared.sink = this->part(Port::SinkToken, scores.heads);
    return cleared;
}

PartLengths const& GroupWriter::lengths_of(BandPart const& part) {
    auto const [place, is_new] = lengths_.try_emplace({part.queries.first, part.keys.first});
    PartLengths& lengths = place->second;
    if (!is_new) return lengths;
    for (View* const made : {&lengths.queries, &lengths.keys}) {
        *made = program_.scratch(DataType_t::INT32, {a_.batches, 1, 1, 1});
    }
    auto const by_batch = [&](View view) {
        view.dim = {a_.batches, 1};
        view.stride.resize(2);
        return view;
    };
    program_.split_lengths({by_batch(a_.view(Port::SeqLenQ)), by_batch(a_.view(Port::SeqLenKv)),
                            by_batch(lengths.queries), by_batch(lengths.keys), 1, part.keys.count(), part.queries.first,
                            part.queries.count(), part.keys.first});
    return lengths;
}

void GroupWriter::connect_dropout(AttentionDraft& draft, HeadPart heads, Span const& queries, Span const& keys,
                                  PartDocuments const* documents) {
    if (!draws_dropout(a_)) return;
    std::int64_t const count = a_.query_heads / heads.count;
    SlotSequences const rows =
        documents != nullptr ? documents->sequences() : SlotSequences{.queries = queries.count(), .keys = keys.count()};
    auto const [place, is_new] = dropout_.try_emplace({rows.queries, rows.keys});
    DropoutMemory& memory = place->second;
    if (is_new) {
        memory.mask = program_.scratch(a_.tensor(Port::Q)->data_type, {a_.batches, count, rows.queries, rows.keys});
        memory.scale = program_.scratch(DataType_t::FLOAT, {1, 1, 1, 1});
        if (a_.is_backward()) memory.inverse = program_.scratch(DataType_t::FLOAT, {1, 1, 1, 1});
    }
    DropoutMask mask{a_.view(Port::Seed), a_.view(Port::Offset), memory.mask, memory.scale, memory.inverse};
    mask.probability = double{a_.fields().dropout_probability.value_or(0.0f)};
    mask.heads = a_.query_heads;
    mask.queries = documents != nullptr ? a_.queries : task_.queries.length();
    mask.keys = documents != nullptr ? a_.keys : task_.keys.length();
    mask.first_head = heads.index * count;
    if (documents != nullptr) {
        mask.queries_before = documents->queries_before();
        mask.keys_before = documents->keys_before();
    } else {
        mask.first_query = queries.first;
        mask.first_key = keys.first;
    }
    program_.join(std::move(mask));
    draft.fields().dropout_probability.reset();
    draft.connect(Port::DropoutMask, memory.mask);
    draft.connect(Port::DropoutScale, memory.scale);
    if (memory.inverse) draft.connect(Port::DropoutScaleInv, *memory.inverse);
}

void GroupWriter::start(std::shared_ptr<Pieces const> const& pieces) {
    if (!is_alone()) program_.start(pieces);
}

void GroupWriter::finish(std::shared_ptr<Pieces const> const& pieces) {
    if (!is_alone()) program_.finish(pieces);
}

View GroupWriter::one_of(View const& parts, std::int64_t index) {
    View one = part_of(parts, 0, index, 1);
    one.dim.erase(one.dim.begin());
    one.stride.erase(one.stride.begin());
    return one;
}

std::string GroupWriter::heads_text(HeadPart heads) const {
    if (heads.count == 1) return "all heads";
    std::int64_t const count = a_.query_heads / heads.count;
    return core::text("query heads ", heads.index * count, " to ", heads.index * count + count - 1);
}

}  // namespace cudnn_frontend::rewrite
