#include "batch_invariance.h"

#include <cudnn_frontend/score_modifiers.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

namespace sdpa_test {
namespace {

namespace fe = cudnn_frontend;
using fe::graph::Tensor_attributes;
using Dims = std::vector<std::int64_t>;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

constexpr std::int64_t kHeads = 4, kKeyHeads = 2, kPageRows = 16;

// The queries of a sequence from `first_query` to its last token. Each sees the tokens up to its own.
struct SequencePart {
    unsigned sequence;  // its number, on which its elements depend
    std::int64_t tokens, first_query;

    std::int64_t queries() const { return tokens - first_query; }
};

struct Batch {
    char const* name;
    std::vector<SequencePart> parts;  // the first of sequence 0 is compared
    bool is_packed = false;           // queries, and keys that are not in pages
    bool has_pages = false;
};

enum Uid : std::int64_t {
    Q = 1,
    K,
    V,
    O,
    Stats,
    QueryLengths,
    KeyLengths,
    QueryOffsets,
    KeyOffsets,
    StatsOffsets,
    Bias,
    Sink,
    PageTable
};

// An element of a sequence as BFLOAT16, between -1 and 1.
std::uint16_t element(unsigned sequence, std::int64_t uid, std::int64_t place) {
    std::uint64_t state = (sequence * 8ull + static_cast<std::uint64_t>(uid)) * 0x9e3779b97f4a7c15ull +
                          static_cast<std::uint64_t>(place) * 0xbf58476d1ce4e5b9ull;
    state = (state ^ state >> 31) * 0x94d049bb133111ebull;
    float const number = static_cast<float>(state >> 40) / static_cast<float>(1 << 23) - 1.0f;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    return static_cast<std::uint16_t>(bits >> 16);
}

// A graph of the batch, and its memory.
class BatchGraph {
   public:
    BatchGraph(Batch const& batch, std::int64_t columns, InvariantOptions const& options)
        : batch_(batch), columns_(columns), options_(options) {
        for (SequencePart const& part : batch.parts) {
            most_queries_ = std::max(most_queries_, part.queries());
            most_keys_ = std::max(most_keys_, part.tokens);
        }
        describe();
    }

    // Runs the graph, and appends O and Stats of the part that is compared, from that query on.
    fe::error_t run(RunGraph const& run_graph, std::int64_t first_query, std::string& bits) {
        if (auto const error = run_graph(graph_, memory_); error.is_bad()) return error;
        auto const own = std::ranges::find(batch_.parts, 0u, &SequencePart::sequence) - batch_.parts.begin();
        auto const [first_row, part] = std::pair(rows_before(own, true), batch_.parts[static_cast<std::size_t>(own)]);
        std::int64_t const skipped = first_query - part.first_query;
        auto const copy = [&](std::int64_t uid, std::int64_t bytes_of_row) {
            auto const* const start = reinterpret_cast<char const*>(memory_.at(uid).data());
            bits.append(start + (first_row + skipped) * bytes_of_row,
                        static_cast<std::size_t>((part.queries() - skipped) * bytes_of_row));
        };
        copy(Uid::O, kHeads * columns_ * 2);
        copy(Uid::Stats, kHeads * 4);
        return {};
    }

   private:
    // The rows of the parts before that one: packed ones lie one behind the other, others have as many as the longest.
    std::int64_t rows_before(std::int64_t number, bool of_queries) const {
        if (!batch_.is_packed) return number * (of_queries ? most_queries_ : most_keys_);
        std::int64_t rows = 0;
        for (std::int64_t i = 0; i < number; ++i) {
            SequencePart const& part = batch_.parts[static_cast<std::size_t>(i)];
            rows += of_queries ? part.queries() : part.tokens;
        }
        return rows;
    }
    std::int64_t batches() const { return std::ssize(batch_.parts); }

    void describe() {
        graph_.set_io_data_type(fe::DataType_t::BFLOAT16)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT)
            .set_batch_invariant(true);
        auto options = fe::graph::SDPA_attributes().set_name("sdpa").set_generate_stats(true);
        options.set_attn_scale(1.0f / std::sqrt(static_cast<float>(columns_)));
        options.set_diagonal_alignment(fe::DiagonalAlignment_t::BOTTOM_RIGHT).set_diagonal_band_right_bound(0);
        options.set_padding_mask(true).set_seq_len_q(lengths(Uid::QueryLengths, true));
        options.set_seq_len_kv(lengths(Uid::KeyLengths, false));
        if (batch_.has_pages) {
            Tensor_ptr const table = page_table();
            options.set_paged_attention_k_table(table).set_paged_attention_v_table(table);
            options.set_paged_attention_max_seq_len_kv(static_cast<int>(most_keys_));
        }
        if (options_.bias) options.set_bias(bias(*options_.bias));
        if (options_.has_sink) options.set_sink_token(sink());
        if (options_.window) options.set_diagonal_band_left_bound(*options_.window);
        if (options_.has_softcap) options.set_score_mod(fe::graph::attn::score_modifiers::softcap(2.0f).forward);
        auto const [o, stats] = graph_.sdpa(vectors(Uid::Q), vectors(Uid::K), vectors(Uid::V), options);
        shape(*o, Uid::O, kHeads, columns_);
        o->set_output(true);
        shape(*stats, Uid::Stats, kHeads, 1);
        stats->set_output(true).set_data_type(fe::DataType_t::FLOAT);
        reserve(Uid::O, kHeads * columns_ * 2);
        reserve(Uid::Stats, kHeads * 4);
    }

    static bool has_queries(Uid uid) { return uid == Uid::Q || uid == Uid::O || uid == Uid::Stats; }

    // Heads lie next to each other in a token.
    void shape(Tensor_attributes& tensor, Uid uid, std::int64_t heads, std::int64_t columns) {
        std::int64_t const rows = has_queries(uid) ? most_queries_ : most_keys_;
        tensor.set_uid(uid).set_dim({batches(), heads, rows, columns});
        tensor.set_stride({rows * heads * columns, columns, heads * columns, 1});
        if (batch_.is_packed) tensor.set_ragged_offset(offsets(uid, heads * columns));
    }
    // Memory for its rows, filled with numbers that no sequence has. They are not NaN, which host emulation takes for
    // memory that nothing wrote.
    HostMemory& reserve(Uid uid, std::int64_t bytes_of_row) {
        HostMemory& memory =
            memory_.try_emplace(uid, rows_before(batches(), has_queries(uid)) * bytes_of_row).first->second;
        std::memset(memory.data(), 0x42, static_cast<std::size_t>(memory.size()));
        return memory;
    }

    Tensor_ptr vectors(Uid uid) {
        std::int64_t const heads = uid == Uid::Q ? kHeads : kKeyHeads, elements = heads * columns_;
        if (batch_.has_pages && !has_queries(uid)) return in_pages(uid);
        HostMemory& memory = reserve(uid, elements * 2);
        for (std::int64_t i = 0; i < batches(); ++i) {
            SequencePart const& part = batch_.parts[static_cast<std::size_t>(i)];
            std::int64_t const first_token = uid == Uid::Q ? part.first_query : 0;
            auto* const to =
                reinterpret_cast<std::uint16_t*>(memory.data()) + rows_before(i, has_queries(uid)) * elements;
            for (std::int64_t place = first_token * elements; place < part.tokens * elements; ++place)
                to[place - first_token * elements] = element(part.sequence, uid, place);
        }
        Tensor_attributes tensor;
        shape(tensor.set_name(std::string(1, "QKV"[uid - Uid::Q])), uid, heads, columns_);
        return graph_.tensor(tensor);
    }

    // Sequences have equally many pages, in reverse order of all.
    std::int64_t pages_of_sequence() const { return (most_keys_ + kPageRows - 1) / kPageRows; }
    std::int64_t page_of(std::int64_t number, std::int64_t token) const {
        return batches() * pages_of_sequence() - 1 - (number * pages_of_sequence() + token / kPageRows);
    }
    Tensor_ptr page_table() {
        std::vector<std::int32_t> all;
        for (std::int64_t i = 0; i < batches(); ++i) {
            for (std::int64_t page = 0; page < pages_of_sequence(); ++page)
                all.push_back(static_cast<std::int32_t>(page_of(i, page * kPageRows)));
        }
        Tensor_ptr const table = integers(Uid::PageTable, all);
        table->set_dim({batches(), 1, pages_of_sequence(), 1}).set_stride({pages_of_sequence(), 1, 1, 1});
        return table;
    }
    Tensor_ptr in_pages(Uid uid) {
        std::int64_t const elements = kKeyHeads * columns_, pages = batches() * pages_of_sequence();
        HostMemory& memory = memory_.try_emplace(uid, pages * kPageRows * elements * 2).first->second;
        std::memset(memory.data(), 0x42, static_cast<std::size_t>(memory.size()));
        for (std::int64_t i = 0; i < batches(); ++i) {
            SequencePart const& part = batch_.parts[static_cast<std::size_t>(i)];
            for (std::int64_t place = 0; place < part.tokens * elements; ++place) {
                std::int64_t const token = place / elements, row = page_of(i, token) * kPageRows + token % kPageRows;
                reinterpret_cast<std::uint16_t*>(memory.data())[row * elements + place % elements] =
                    element(part.sequence, uid, place);
            }
        }
        return graph_.tensor(Tensor_attributes()
                                 .set_name(std::string(1, "QKV"[uid - Uid::Q]))
                                 .set_uid(uid)
                                 .set_dim({pages, kKeyHeads, kPageRows, columns_})
                                 .set_stride({kPageRows * elements, columns_, elements, 1}));
    }

    // A number for each score, which depends on the places of query and key in the sequence. In packed batches rows may
    // have any stride, in others one of 16 bytes, so that kernels read them in different ways.
    Tensor_ptr bias(DataType_t type) {
        constexpr std::int64_t kAligned = 8;
        std::int64_t const stride = batch_.is_packed ? most_keys_ : (most_keys_ + kAligned - 1) / kAligned * kAligned;
        HostTensor const tensor = make_tensor(type, {batches(), kHeads, most_queries_, most_keys_},
                                              {kHeads * most_queries_ * stride, most_queries_ * stride, stride, 1});
        tensor.fill([&](Index4 const& at) {
            SequencePart const& part = batch_.parts[static_cast<std::size_t>(at[0])];
            std::int64_t const place = (at[1] << 40) + ((part.first_query + at[2]) << 20) + at[3];
            std::uint32_t const bits = std::uint32_t{element(part.sequence, Uid::Bias, place)} << 16;
            float number = 0.0f;
            std::memcpy(&number, &bits, sizeof(number));
            return static_cast<double>(number);
        });
        HostMemory& memory = memory_.try_emplace(Uid::Bias, tensor.memory->size()).first->second;
        std::memcpy(memory.data(), tensor.memory->data(), static_cast<std::size_t>(memory.size()));
        return graph_.tensor(Tensor_attributes()
                                 .set_name("bias")
                                 .set_uid(Uid::Bias)
                                 .set_data_type(type)
                                 .set_dim({tensor.dim.begin(), tensor.dim.end()})
                                 .set_stride({tensor.stride.begin(), tensor.stride.end()}));
    }
    Tensor_ptr sink() {
        HostMemory& memory = memory_.try_emplace(Uid::Sink, kHeads * 4).first->second;
        for (std::int64_t head = 0; head < kHeads; ++head)
            reinterpret_cast<float*>(memory.data())[head] = 0.3f * static_cast<float>(head) - 0.5f;
        return graph_.tensor(Tensor_attributes()
                                 .set_name("sink")
                                 .set_uid(Uid::Sink)
                                 .set_data_type(DataType_t::FLOAT)
                                 .set_dim({1, kHeads, 1, 1})
                                 .set_stride({kHeads, 1, 1, 1}));
    }

    Tensor_ptr integers(Uid uid, std::vector<std::int32_t> const& numbers) {
        HostMemory& memory = memory_.try_emplace(uid, std::ssize(numbers) * 4).first->second;
        std::memcpy(memory.data(), numbers.data(), numbers.size() * 4);
        return graph_.tensor(Tensor_attributes()
                                 .set_name(std::to_string(uid))
                                 .set_uid(uid)
                                 .set_dim({std::ssize(numbers), 1, 1, 1})
                                 .set_stride({1, 1, 1, 1})
                                 .set_data_type(fe::DataType_t::INT32));
    }
    Tensor_ptr lengths(Uid uid, bool of_queries) {
        std::vector<std::int32_t> all;
        for (SequencePart const& part : batch_.parts) {
            all.push_back(static_cast<std::int32_t>(of_queries ? part.queries() : part.tokens));
        }
        return integers(uid, all);
    }
    // Tensors with as many elements in a row share their offsets.
    Tensor_ptr offsets(Uid uid, std::int64_t elements) {
        Uid const own = uid == Uid::Stats ? Uid::StatsOffsets : has_queries(uid) ? Uid::QueryOffsets : Uid::KeyOffsets;
        Tensor_ptr& known = offsets_[own];
        if (known != nullptr) return known;
        std::vector<std::int32_t> all;
        for (std::int64_t i = 0; i <= batches(); ++i) {
            all.push_back(static_cast<std::int32_t>(rows_before(i, has_queries(uid)) * elements));
        }
        return known = integers(own, all);
    }

    Batch const& batch_;
    std::int64_t columns_, most_queries_ = 0, most_keys_ = 0;
    InvariantOptions const& options_;
    fe::graph::Graph graph_;
    TensorBytes memory_;
    std::map<std::int64_t, Tensor_ptr> offsets_;
};

}  // namespace

std::span<InvariantOptions const> all_invariant_options() {
    static constexpr InvariantOptions kAll[] = {
        {"causal"},
        {"bias", DataType_t::BFLOAT16},
        {"bias of FLOAT", DataType_t::FLOAT},
        {.name = "sink", .has_sink = true},
        {.name = "softcap", .has_softcap = true},
        {.name = "window", .window = 100},
        {.name = "bias of FLOAT, sink and window", .bias = DataType_t::FLOAT, .has_sink = true, .window = 100},
        {.name = "softcap, sink and window", .has_sink = true, .has_softcap = true, .window = 100},
    };
    return kAll;
}

// The part, and so many other sequences of which the last query is decoded: heads then share tiles of queries.
static std::vector<SequencePart> with_many_others(SequencePart const& part) {
    constexpr unsigned kOthers = 65;
    std::vector<SequencePart> parts{part};
    for (unsigned i = 1; i <= kOthers; ++i) parts.push_back({i, 30 + i, 29 + i});
    return parts;
}

std::string faults_of_batch_invariance(std::int64_t columns, InvariantOptions const& options, RunGraph const& run) {
    constexpr std::int64_t kTokens = 300, kLast = kTokens - 1;
    SequencePart const whole{0, kTokens, 0}, chunk{0, kTokens, 140}, last{0, kTokens, kLast};
    Batch const batches[] = {{"alone", {whole}},
                             {"behind a shorter one", {{1, 77, 0}, whole}},
                             {"before a longer one", {whole, {2, 513, 0}}},
                             {"packed", {{1, 77, 0}, whole, {2, 513, 0}}, true},
                             {"a chunk", {chunk}},
                             {"a chunk, packed", {{2, 513, 200}, chunk, {1, 77, 76}}, true},
                             {"a chunk over pages", {{1, 77, 0}, chunk}, false, true},
                             {"a chunk, packed over pages", {{2, 513, 200}, chunk, {1, 77, 76}}, true, true},
                             {"decoding", {last}},
                             {"decoding over pages", {{2, 513, 512}, last}, true, true},
                             {"decoding among many", with_many_others(last)},
                             {"decoding among others", {{1, 77, 76}, last, {2, 513, 100}}}};
    std::string alone, faults;
    for (Batch const& batch : batches) {
        std::int64_t const first_query = std::ranges::find(batch.parts, 0u, &SequencePart::sequence)->first_query;
        for (bool const is_reference : {true, false}) {
            std::string bits;
            BatchGraph graph(is_reference ? batches[0] : batch, columns, options);
            std::string const name = std::string(options.name) + ", " + batch.name + ": ";
            if (auto const error = graph.run(run, first_query, bits); error.is_bad())
                return faults + name + error.get_message() + "\n";
            if (is_reference) alone = bits;
            else if (bits != alone) faults += name + "other bits than those of the sequence alone\n";
        }
    }
    return faults;
}

}  // namespace sdpa_test
