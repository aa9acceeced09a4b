#include "rewrite/group/way_costs.h"

#include "core/data_type.h"
#include "rewrite/group/chunks.h"
#include "rewrite/group/documents.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;

// Documents are one batch entry.
std::int64_t entries_of(Attention const& a) { return has_documents(a) ? 1 : a.batches; }

// The bytes of one row of a tensor, with all batch entries and heads; 0 for a tensor that is not there.
double bytes_of_row(Attention const& a, int port) {
    if (port >= static_cast<int>(a.node().ports.size()) || !a.has(port)) return 0.0;
    nodes::TensorSpec const& tensor = *a.tensor(port);
    return static_cast<double>((has_documents(a) ? 1 : tensor.dim[0]) * tensor.dim[1] * tensor.dim[3] *
                               core::size_of(tensor.data_type));
}

double bytes_of_rows(Attention const& a, std::initializer_list<int> ports) {
    double sum = 0.0;
    for (int const port : ports) sum += bytes_of_row(a, port);
    return sum;
}

// How many tokens of the span others own.
std::int64_t foreign_tokens(Span const& span, std::vector<Chunk> const& keys, int rank) {
    std::int64_t sum = 0;
    for (Chunk const& chunk : keys) {
        if (chunk.rank != rank) sum += std::max<std::int64_t>(common(span, chunk.tokens).count(), 0);
    }
    return sum;
}

// The pairs of a query and a key that are visible to each other, times batch entries and query heads.
double pairs_of(Attention const& a, group::Task const& task, Span const& queries) {
    WholeBand const band(a.fields(), task.queries.length(), task.keys.length());
    // The lengths of documents are known to runs alone: each counts as the longest one.
    auto const keys_of = [&](std::int64_t query) {
        std::int64_t const count = band.keys_of({query, query + 1}).count();
        return static_cast<double>(has_documents(a) ? std::min(count, a.keys) : count);
    };
    double const mean = (keys_of(queries.first) + keys_of(queries.end - 1)) / 2.0;
    return mean * static_cast<double>(queries.count() * entries_of(a) * a.query_heads);
}

double attention_time(Attention const& a, double pairs, GroupRates const& rates) {
    double const forward = 2.0 * pairs * static_cast<double>(a.head_dim + a.value_dim);
    constexpr double kProductsOfBackward = 2.5;  // five products in place of two
    return a.is_backward() ? forward * kProductsOfBackward / rates.backward_flops_per_us
                           : forward / rates.forward_flops_per_us;
}

double attention_time_of_rank(Attention const& a, group::Task const& task, int rank, GroupRates const& rates) {
    double pairs = 0.0;
    for (Chunk const& chunk : chunks_of(task.queries, rank)) pairs += pairs_of(a, task, chunk.tokens);
    return attention_time(a, pairs, rates);
}

double exchange_time(double bytes, GroupRates const& rates) {
    return rates.us_of_exchange + bytes / rates.bytes_per_us;
}

// The time of a group whose ranks take so long for attention, and so long in all.
template <class Attention_time, class All>
GroupTime time_of(group::Task const& task, Attention_time const& attention, All const& all) {
    GroupTime time;
    for (int rank = 0; rank < task.size(); ++rank) {
        time.attention += attention(rank) / task.size();
        time.all = std::max(time.all, all(rank));
    }
    return time;
}

}  // namespace

Received received_by_gather(Attention const& a, group::Task const& task, int rank) {
    std::vector<QueryChunk> const chunks = query_chunks(a, task);
    std::vector<Chunk> const keys = chunks_of(task.keys);
    Received received;
    for (Span const& span : keys_for(rank, chunks)) {
        received.keys += static_cast<double>(foreign_tokens(span, keys, rank)) * bytes_of_rows(a, {Port::K, Port::V});
    }
    if (!a.is_backward()) return received;
    for (QueryChunk const& chunk : chunks) {
        if (chunk.rank == rank) continue;
        for (Chunk const& own : chunks_of(task.keys, rank)) {
            auto const tokens = std::max<std::int64_t>(common(chunk.keys, own.tokens).count(), 0);
            received.gradients += static_cast<double>(tokens) * bytes_of_rows(a, {Port::DK, Port::DV});
        }
    }
    return received;
}

Received received_by_all_to_all(Attention const& a, group::Task const& task, int rank) {
    auto const ranks = static_cast<double>(task.size());
    auto const foreign = [&](group::Layout const& layout) {
        return static_cast<double>(layout.length() - layout.count_of(rank)) / ranks;
    };
    auto const own = [&](group::Layout const& layout) {
        return static_cast<double>(layout.count_of(rank)) * (ranks - 1.0) / ranks;
    };
    double const keys = bytes_of_rows(a, {Port::K, Port::V}), queries = bytes_of_row(a, Port::Q);
    if (!a.is_backward()) {
        return {foreign(task.queries) * queries + foreign(task.keys) * keys,
                own(task.queries) * bytes_of_rows(a, {Port::O, Port::Stats, Port::Max, Port::SumExp})};
    }
    double const of_queries = queries + bytes_of_rows(a, {Port::O, Port::DO, Port::Stats});
    return {foreign(task.queries) * of_queries + foreign(task.keys) * keys,
            own(task.queries) * bytes_of_row(a, Port::DQ) + own(task.keys) * bytes_of_rows(a, {Port::DK, Port::DV})};
}

GroupTime time_of_gather(Attention const& a, group::Task const& task, int stages, GroupRates const& rates) {
    auto const attention = [&](int rank) { return attention_time_of_rank(a, task, rank, rates); };
    return time_of(task, attention, [&](int rank) {
        Received const all = received_by_gather(a, task, rank);
        double const keys = exchange_time(all.keys / stages, rates);
        double const gradients = a.is_backward() ? exchange_time(all.gradients / stages, rates) : 0.0;
        double const share = a.is_backward() ? rates.backward_share_of_stage : rates.forward_share_of_stage;
        double const of_stage = attention(rank) * (1.0 + (stages - 1) * share) / stages;
        return keys + (stages - 1) * std::max(of_stage, keys + gradients) + of_stage + gradients;
    });
}

GroupTime time_of_all_to_all(Attention const& a, group::Task const& task, GroupRates const& rates) {
    double const whole = attention_time(a, pairs_of(a, task, {0, task.queries.length()}), rates) / task.size();
    return time_of(
        task, [&](int) { return whole; },
        [&](int rank) {
            Received const all = received_by_all_to_all(a, task, rank);
            return exchange_time(all.keys, rates) + whole + exchange_time(all.gradients, rates);
        });
}

}  // namespace cudnn_frontend::rewrite
