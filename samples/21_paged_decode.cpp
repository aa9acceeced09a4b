// Decode with a paged KV cache: a sequence takes a free page when it needs one, in any order. A page table says which
// page holds which keys. One graph serves every step.
//   ./run sample 21_paged_decode [--target cpu|reference|cuda]
#include "support.h"

#include <numeric>

namespace fe = cudnn_frontend;
using samples::Index;
using Half = fe::float16;
using Halves = std::vector<Half>;

namespace {

constexpr Index kBatch = 2, kQueryHeads = 4, kKeyHeads = 2, kDepth = 64;
constexpr Index kPageRows = 16, kPages = 12, kMostKeys = 80, kMostPages = kMostKeys / kPageRows;
constexpr Index kPrompt[kBatch] = {13, 30};
constexpr Index kSteps = 40;
constexpr float kScale = 0.125f;

enum Uid : Index { Q, K, V, O, LengthQ, LengthKv, Table };

samples::Layout const kQueries = samples::bhsd(kBatch, kQueryHeads, 1, kDepth);
samples::Layout const kContainer =
    samples::bshd(kPages, kKeyHeads, kPageRows, kDepth);  // the first dim is pages, not batch entries

class Cache {
   public:
    Halves keys = Halves(kContainer.volume()), values = keys;
    std::vector<std::int32_t> lengths = std::vector<std::int32_t>(kBatch, 0);
    std::vector<std::int32_t> table = std::vector<std::int32_t>(kBatch * kMostPages, 0);

    // Appends a token's row of all heads to the sequence.
    void append(Index b, Halves const& key, Halves const& value) {
        Index const row = lengths[b]++;
        if (row % kPageRows == 0) table[b * kMostPages + row / kPageRows] = free_[taken_++];
        Index const page = table[b * kMostPages + row / kPageRows];
        for (Index h = 0; h < kKeyHeads; ++h) {
            Index const at = kContainer.at(page, h, row % kPageRows, 0);
            std::copy_n(key.begin() + h * kDepth, kDepth, keys.begin() + at);
            std::copy_n(value.begin() + h * kDepth, kDepth, values.begin() + at);
        }
    }
    Index pages_taken() const { return static_cast<Index>(taken_); }

   private:
    std::vector<std::int32_t> free_ = {7, 2,  11, 0, 5, 9,
                                       1, 10, 3,  8, 4, 6};  // in no order, as a server's free list soon is
    std::size_t taken_ = 0;
};

void describe(fe::graph::Graph& graph) {
    samples::set_types(graph, fe::DataType_t::HALF);
    auto const integers = [&graph](char const* name, Index columns, Uid uid) {
        auto const layout = samples::bhsd(kBatch, 1, columns, 1);
        return graph.tensor(samples::describe(name, layout).set_uid(uid).set_data_type(fe::DataType_t::INT32));
    };
    auto const half = [&graph](char const* name, samples::Layout const& layout, Uid uid) {
        return graph.tensor(samples::describe(name, layout).set_uid(uid));
    };
    auto const table = integers("page table", kMostPages, Uid::Table);  // one for K and V: their pages grow together
    fe::graph::SDPA_attributes options;
    options.set_name("decode").set_attn_scale(kScale).set_generate_stats(false).set_padding_mask(true);
    options.set_seq_len_q(integers("queries", 1, Uid::LengthQ)).set_seq_len_kv(integers("keys", 1, Uid::LengthKv));
    options.set_paged_attention_k_table(table).set_paged_attention_v_table(table);
    options.set_paged_attention_max_seq_len_kv(int(kMostKeys));
    auto const O = graph.sdpa(half("Q", kQueries, Uid::Q), half("K cache", kContainer, Uid::K),
                              half("V cache", kContainer, Uid::V), options)[0];
    O->set_output(true).set_uid(Uid::O).set_dim(kQueries.dim).set_stride(kQueries.stride);
}

// The same without pages: each sequence's rows one after the other.
using Dense = std::vector<Halves>;

void compare(samples::Checks& checks, Halves const& q, Dense const& k, Dense const& v, Halves const& o) {
    for (std::size_t b = 0; b < kBatch; ++b) {
        auto const row = samples::bhsd(1, kQueryHeads, 1, kDepth);
        auto const rows = samples::bshd(1, kKeyHeads, Index(k[b].size()) / (kKeyHeads * kDepth), kDepth);
        std::size_t const first = b * row.volume();
        auto const want = samples::attention<Half>({row, q.data() + first}, view(rows, k[b]), view(rows, v[b]), kScale);
        checks.compare("O", dense(samples::View<Half>{row, o.data() + first}), want.o,
                       samples::tolerance<Half>(rows.dim[2] + kDepth));
    }
}

}  // namespace

int main(int argc, char** argv) {
    fe::Target const target = samples::target_from(argc, argv);
    std::printf("21_paged_decode: %d sequences, pages of %d rows, %d pages, half, on target %s\n", int(kBatch),
                int(kPageRows), int(kPages), fe::to_string(target.kind()));
    fe::graph::Graph graph;
    describe(graph);
    samples::require(graph.build(target));

    Cache cache;
    Dense k(kBatch), v(kBatch);
    unsigned seed = 0;
    auto const add_token = [&](Index b) {
        Halves const key = samples::random<Half>(kKeyHeads * kDepth, ++seed);
        Halves const value = samples::random<Half>(kKeyHeads * kDepth, ++seed);
        cache.append(b, key, value);
        k[b].insert(k[b].end(), key.begin(), key.end());
        v[b].insert(v[b].end(), value.begin(), value.end());
    };
    for (Index b = 0; b < kBatch; ++b) {
        for (Index token = 0; token < kPrompt[b]; ++token) add_token(b);
    }

    Halves q, o(kQueries.volume());
    std::vector<std::int32_t> one(kBatch, 1);
    samples::Uid_pack pack = {
        {Uid::K, cache.keys.data()}, {Uid::V, cache.values.data()},    {Uid::O, o.data()},
        {Uid::LengthQ, one.data()},  {Uid::Table, cache.table.data()}, {Uid::LengthKv, cache.lengths.data()}};
    samples::Checks checks;
    for (Index step = 0; step < kSteps; ++step) {
        for (Index b = 0; b < kBatch; ++b) add_token(b);
        q = samples::random<Half>(kQueries.volume(), ++seed);
        pack[Uid::Q] = q.data();
        samples::run(target, graph, pack);
        if (step % 13 != 0) continue;
        std::printf("  step %2d: %d and %d keys in %d pages\n", int(step), cache.lengths[0], cache.lengths[1],
                    int(cache.pages_taken()));
        compare(checks, q, k, v, o);
    }
    if (target.kind() == fe::Target::Kind::CUDA) return checks.exit_code();

    cache.table[1] = kPages;  // CPU targets check the table before they run
    std::vector<char> workspace(static_cast<std::size_t>(graph.get_workspace_size()));
    fe::error_t const refusal = graph.execute(pack, workspace.data());
    std::printf("\n%s\n\n", refusal.get_message().c_str());
    checks.expect("a page that is not there is an error", refusal.is_bad());
    return checks.exit_code();
}
