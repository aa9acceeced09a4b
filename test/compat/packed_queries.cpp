// A server that prefills over a paged cache: the queries of all requests one after the other, and room for the longest
// request in each entry of the output.
#include "host_attention.h"

namespace {

namespace fe = cudnn_frontend;
using Element = __nv_bfloat16;

constexpr int64_t kBatch = 3, kHeads = 4, kKvHeads = 2, kRows = 64, kKeys = 128, kSize = 64, kPageRows = 32;
constexpr int64_t kPages = kKeys / kPageRows;
constexpr float kScale = 0.125f;
int const kQueryLengths[kBatch] = {64, 17, 40}, kKeyLengths[kBatch] = {128, 65, 96};

enum Uid { Q, K, V, O, Offsets, QueryLengths, KeyLengths, PageTable };

struct Server {
    std::shared_ptr<fe::graph::Graph> graph = std::make_shared<fe::graph::Graph>();

    std::shared_ptr<fe::graph::Tensor_attributes> tensor(char const* name, Uid uid, std::vector<int64_t> const& dim,
                                                         std::vector<int64_t> const& stride) {
        return graph->tensor(
            fe::graph::Tensor_attributes().set_name(name).set_uid(uid).set_dim(dim).set_stride(stride));
    }
    std::shared_ptr<fe::graph::Tensor_attributes> integers(char const* name, Uid uid, std::vector<int64_t> const& dim) {
        auto made = tensor(name, uid, dim, {dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1});
        made->set_data_type(fe::DataType_t::INT32);
        return made;
    }

    void build(compat::Machine const& machine) {
        machine.prepare(*graph);
        graph->set_io_data_type(fe::DataType_t::BFLOAT16)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
        std::vector<int64_t> const rows = {kHeads * kRows * kSize, kSize, kHeads * kSize, 1};
        auto q = tensor("Q", Q, {kBatch, kHeads, kRows, kSize}, rows);
        q->set_ragged_offset(integers("OFFSETS", Offsets, {kBatch + 1, 1, 1, 1}));
        std::vector<int64_t> const container = {kBatch * kPages, kKvHeads, kPageRows, kSize};
        std::vector<int64_t> const of_page = {kKvHeads * kPageRows * kSize, kPageRows * kSize, kSize, 1};
        auto k = tensor("K", K, container, of_page), v = tensor("V", V, container, of_page);
        auto table = integers("PAGE_TABLE", PageTable, {kBatch, 1, kPages, 1});
        auto attributes = fe::graph::SDPA_attributes()
                              .set_name("prefill")
                              .set_is_inference(true)
                              .set_attn_scale(kScale)
                              .set_padding_mask(true)
                              .set_seq_len_q(integers("QUERY_LENGTHS", QueryLengths, {kBatch, 1, 1, 1}))
                              .set_seq_len_kv(integers("KEY_LENGTHS", KeyLengths, {kBatch, 1, 1, 1}))
                              .set_paged_attention_k_table(table)
                              .set_paged_attention_v_table(table)
                              .set_paged_attention_max_seq_len_kv(kKeys);
        auto [o, stats] = graph->sdpa(q, k, v, attributes);
        EXPECT(stats == nullptr);
        o->set_output(true).set_uid(O).set_dim({kBatch, kHeads, kRows, kSize}).set_stride(rows);
        auto const built = graph->build(machine.handle(), {fe::HeurMode_t::A});
        if (built.is_bad()) std::puts(built.get_message().c_str());
        EXPECT(built.is_good());
    }
};

// The queries at the places that they would have without packing.
std::vector<Element> unpacked(std::vector<Element> const& packed) {
    std::vector<Element> all(kBatch * kRows * kHeads * kSize);
    auto next = packed.begin();
    for (int64_t b = 0; b < kBatch; ++b) {
        auto const end = next + kQueryLengths[b] * kHeads * kSize;
        std::copy(next, end, all.begin() + b * kRows * kHeads * kSize);
        next = end;
    }
    return all;
}

void run(compat::Machine const& machine) {
    Server server;
    server.build(machine);
    EXPECT(server.graph->get_variant_pack_uids_sorted() == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
    if (!machine.has_gpu()) return;
    std::vector<int> offsets = {0}, pages;
    for (int64_t b = 0; b < kBatch; ++b) offsets.push_back(offsets.back() + kQueryLengths[b] * int(kHeads * kSize));
    for (int64_t page = 0; page < kBatch * kPages; ++page) pages.push_back(int(page));
    auto const q = compat::random_values<Element>(std::size_t(offsets.back()), 1);
    auto k = compat::random_values<Element>(kBatch * kPages * kKvHeads * kPageRows * kSize, 2), v = k;
    compat::Mirror<Element> dq(machine, q), dk(machine, k), dv(machine, v);
    compat::Mirror<Element> dout(machine, compat::random_values<Element>(kBatch * kRows * kHeads * kSize, 3));
    compat::Mirror<int> d_offsets(machine, offsets), d_pages(machine, pages);
    compat::Mirror<int> d_query_lengths(machine, {kQueryLengths, kQueryLengths + kBatch});
    compat::Mirror<int> d_key_lengths(machine, {kKeyLengths, kKeyLengths + kBatch});
    auto workspace = compat::workspace_of(machine, server.graph->get_workspace_size());
    std::unordered_map<int64_t, void*> pack = {{Q, dq.data()},
                                               {K, dk.data()},
                                               {V, dv.data()},
                                               {O, dout.data()},
                                               {Offsets, d_offsets.data()},
                                               {QueryLengths, d_query_lengths.data()},
                                               {KeyLengths, d_key_lengths.data()},
                                               {PageTable, d_pages.data()}};
    EXPECT(server.graph->execute(machine.handle(), pack, workspace.data()).is_good());
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    // Pages in order hold page by page what a sequence of keys has row by row.
    std::vector<Element> keys(k.size());
    for (int64_t b = 0; b < kBatch; ++b) {
        for (int64_t h = 0; h < kKvHeads; ++h) {
            for (int64_t j = 0; j < kKeys; ++j) {
                auto const page = b * kPages + j / kPageRows;
                auto const from = ((page * kKvHeads + h) * kPageRows + j % kPageRows) * kSize;
                std::copy_n(k.begin() + from, kSize, keys.begin() + ((b * kKvHeads + h) * kKeys + j) * kSize);
            }
        }
    }
    auto queries = unpacked(q), o = dout.read();
    auto rows_of = [](std::vector<Element>& all) {
        return compat::View<Element>{
            all.data(), {kBatch, kHeads, kRows, kSize}, {kHeads * kRows * kSize, kSize, kHeads * kSize, 1}};
    };
    compat::View<Element> const of_keys{
        keys.data(), {kBatch, kKvHeads, kKeys, kSize}, {kKvHeads * kKeys * kSize, kKeys * kSize, kSize, 1}};
    // Rows past the lengths see no key: zeros, as the host has them.
    auto const offset = [](int64_t b, int64_t, int64_t i, int64_t j) {
        return i < kQueryLengths[b] && j < kKeyLengths[b] ? 0 : compat::kMasked;
    };
    EXPECT(compat::is_attention(rows_of(queries), of_keys, of_keys, rows_of(o), kScale, offset));
}

}  // namespace

int main() { return compat::main_of(run); }
