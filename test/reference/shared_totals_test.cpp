// One tensor of cumulative lengths as the offset of all packed tensors and as both lengths.
#include "support/catch.h"

#include <cudnn_frontend.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace fe = cudnn_frontend;

namespace {

using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Pack = std::map<std::int64_t, void*>;

constexpr std::int64_t kBatches = 3, kHeads = 2, kRows = 9, kWidth = 8, kTokens = 14;

enum Uid : std::int64_t { Q, K, V, O, Stats, Totals, Lengths, Offsets, StatsOffsets };

struct Arrays {
    std::vector<float> q, k, v, o, stats;
    std::vector<std::int32_t> totals{0, 5, 5, kTokens}, lengths{5, 0, 9}, offsets, stats_offsets;

    Arrays() : q(values(1)), k(values(2)), v(values(3)), o(q.size(), -7.0f), stats(kTokens * kHeads, -7.0f) {
        for (std::int32_t const total : totals) {
            offsets.push_back(total * std::int32_t{kHeads * kWidth});
            stats_offsets.push_back(total * std::int32_t{kHeads});
        }
    }
    static std::vector<float> values(int seed) {
        std::vector<float> all(kTokens * kHeads * kWidth);
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = std::sin(static_cast<float>(i) * 0.7f + static_cast<float>(seed));
        return all;
    }
    Pack pack() {
        return {{Uid::Q, q.data()},
                {Uid::K, k.data()},
                {Uid::V, v.data()},
                {Uid::O, o.data()},
                {Uid::Stats, stats.data()},
                {Uid::Totals, totals.data()},
                {Uid::Lengths, lengths.data()},
                {Uid::Offsets, offsets.data()},
                {Uid::StatsOffsets, stats_offsets.data()}};
    }
};

class Attention {
   public:
    explicit Attention(bool is_by_totals) : is_by_totals_(is_by_totals) {
        graph_.set_io_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
        graph_.set_intermediate_data_type(fe::DataType_t::FLOAT);
        totals_ = integers("totals", Uid::Totals, kBatches + 1);
        Tensor const q = rows("Q", Uid::Q), k = rows("K", Uid::K), v = rows("V", Uid::V);
        auto options =
            fe::graph::SDPA_attributes().set_generate_stats(true).set_attn_scale(0.3f).set_padding_mask(true);
        options.set_causal_mask_bottom_right(true);
        if (is_by_totals) options.set_cu_seq_len_q(totals_).set_cu_seq_len_kv(totals_);
        else options.set_seq_len_q(lengths()).set_seq_len_kv(lengths());
        auto [o, stats] = graph_.sdpa(q, k, v, options);
        o->set_output(true).set_uid(Uid::O).set_dim({kBatches, kHeads, kRows, kWidth});
        pack(o, Uid::Offsets, kHeads * kWidth);
        stats->set_output(true).set_uid(Uid::Stats).set_dim({kBatches, kHeads, kRows, 1});
        stats->set_stride({kRows * kHeads, 1, kHeads, 1}).set_data_type(fe::DataType_t::FLOAT);
        start(stats, Uid::StatsOffsets, kHeads);
    }

    fe::error_object run(fe::Target const& target, Arrays& arrays) {
        fe::error_object const built = graph_.build(target);
        if (built.is_bad()) return built;
        std::vector<char> workspace(static_cast<std::size_t>(graph_.get_workspace_size()));
        return graph_.execute(nullptr, arrays.pack(), workspace.data());
    }

   private:
    Tensor integers(char const* name, Uid uid, std::int64_t count) {
        return graph_.tensor(fe::graph::Tensor_attributes()
                                 .set_name(name)
                                 .set_uid(uid)
                                 .set_dim({count, 1, 1, 1})
                                 .set_stride({1, 1, 1, 1})
                                 .set_data_type(fe::DataType_t::INT32));
    }
    Tensor lengths() {
        if (!lengths_) lengths_ = integers("lengths", Uid::Lengths, kBatches);
        return lengths_;
    }
    Tensor rows(char const* name, Uid uid) {
        Tensor const tensor = graph_.tensor(
            fe::graph::Tensor_attributes().set_name(name).set_uid(uid).set_dim({kBatches, kHeads, kRows, kWidth}));
        pack(tensor, Uid::Offsets, kHeads * kWidth);
        return tensor;
    }
    void pack(Tensor const& tensor, Uid offsets, std::int64_t width) {
        tensor->set_stride({kRows * kHeads * kWidth, kWidth, kHeads * kWidth, 1});
        start(tensor, offsets, width);
    }
    void start(Tensor const& tensor, Uid offsets, std::int64_t width) {
        if (is_by_totals_) {
            tensor->set_ragged_offset(totals_).set_ragged_offset_multiplier(width);
            return;
        }
        Tensor& known = offsets_[offsets];
        if (!known) known = integers("offsets", offsets, kBatches + 1);
        tensor->set_ragged_offset(known);
    }

    fe::graph::Graph graph_;
    Tensor totals_, lengths_;
    std::map<Uid, Tensor> offsets_;
    bool is_by_totals_;
};

}  // namespace

TEST_CASE("running totals give the same bits as lengths and offsets of elements") {
    for (fe::Target const& target : {fe::Target::reference(), fe::Target::cpu()}) {
        Arrays by_totals, by_lengths;
        CHECK(Attention(true).run(target, by_totals).get_message() == "");
        CHECK(Attention(false).run(target, by_lengths).get_message() == "");
        CHECK(by_totals.o == by_lengths.o);
        CHECK(by_totals.stats == by_lengths.stats);
        CHECK(std::count(by_totals.o.begin(), by_totals.o.end(), -7.0f) == 0);
    }
}
