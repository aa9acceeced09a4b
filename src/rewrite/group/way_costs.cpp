#include "rewrite/group/way_costs.h"

#include "core/data_type.h"
#include "rewrite/group/chunks.h"
#include "rewrite/group/documents.h"
#include "rewrite/group/gather_plan.h"
#include "rewrite/group/ring_steps.h"
#include "rewrite/group/token_rows.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;

// Documents are one batch entry.
std::int64_t entries_of(Attention const& a) { return has_documents(a) ? 1 : a.batches; }

// The bytes of one row of a tensor, with all batch entries and heads; 0 for a tensor that is not there.
double bytes_of_row(Attention const& a, int port) {
    if (!has_port(a, port)) return 0.0;
    nodes::TensorSpec const& tensor = *a.tensor(port);
    return static_cast<double>((has_documents(a) ? 1 : tensor.dim[0]) * tensor.dim[1] * tensor.dim[3] *
                               core::size_of(tensor.data_type));
}

double elements_of_row(Attention const& a, int port) {
    return bytes_of_row(a, port) / static_cast<double>(core::size_of(a.tensor(port)->data_type));
}

double bytes_of_rows(Attention const& a, std::initializer_list<int> ports) {
    double sum = 0.0;
    for (int const port : ports) sum += bytes_of_row(a, port);
    return sum;
}

constexpr double kBytesOfFloat = 4.0;

// The sum of a concave function that is linear between a few corners: spans are halved until the value at their middle
// is on the line between their ends.
template <class Function>
double sum_over(Span const& span, Function const& of) {
    std::int64_t const last = span.end - 1, middle = (span.first + last) / 2;
    double const at_first = of(span.first), at_last = of(last), count = static_cast<double>(span.count());
    double const share = count > 1 ? static_cast<double>(middle - span.first) / (count - 1) : 0.0;
    bool const is_linear = std::abs(of(middle) - (at_first + share * (at_last - at_first))) < 1.0;
    if (count <= 2 || is_linear) return count * (at_first + at_last) / 2.0;
    return sum_over({span.first, middle + 1}, of) + sum_over({middle + 1, span.end}, of);
}

// The pairs of one of the queries and one of the keys that are visible to each other, times batch entries and query
// heads.
double pairs_of(Attention const& a, group::Task const& task, Span const& queries, Span const& keys) {
    WholeBand const band(a.fields(), task.queries.length(), task.keys.length());
    auto const visible = band.visible_part(queries, keys);
    if (!visible) return 0.0;
    // Documents have their lengths only when the program runs: a query sees at most as many keys as the longest one.
    auto const keys_of = [&](std::int64_t query) {
        std::int64_t const count = std::max<std::int64_t>(common(band.keys_of({query, query + 1}), keys).count(), 0);
        return static_cast<double>(has_documents(a) ? std::min(count, a.keys) : count);
    };
    return sum_over(visible->queries, keys_of) * static_cast<double>(entries_of(a) * a.query_heads);
}

Span all_keys(group::Task const& task) { return {0, task.keys.length()}; }

double attention_time(Attention const& a, double pairs, GroupRates const& rates) {
    double const forward = 2.0 * pairs * static_cast<double>(a.head_dim + a.value_dim);
    constexpr double kProductsOfBackward = 2.5;  // five products in place of two
    return a.is_backward() ? forward * kProductsOfBackward / rates.backward_flops_per_us
                           : forward / rates.forward_flops_per_us;
}

double attention_time_of_all(Attention const& a, group::Task const& task, GroupRates const& rates) {
    return attention_time(a, pairs_of(a, task, {0, task.queries.length()}, all_keys(task)), rates);
}

// Layouts of packed documents are expected to give each rank the same work: the model does not know where they begin.
double attention_time_of_rank(Attention const& a, group::Task const& task, int rank, GroupRates const& rates) {
    if (has_documents(a)) return attention_time_of_all(a, task, rates) / task.size();
    double pairs = 0.0;
    for (Chunk const& chunk : chunks_of(task.queries, rank)) pairs += pairs_of(a, task, chunk.tokens, all_keys(task));
    return attention_time(a, pairs, rates);
}

double exchange_time(double bytes, GroupRates const& rates) {
    return rates.us_of_exchange + bytes / rates.bytes_per_us;
}

// Combines the ranks' times: the mean of their attention, and the total of the slowest rank.
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
    TokenRows const foreign(without(keys_for(rank, chunks), tokens_of(task.keys, rank)));
    Received received{static_cast<double>(foreign.count()) * bytes_of_rows(a, {Port::K, Port::V})};
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
    double const whole = attention_time_of_all(a, task, rates) / task.size();
    return time_of(
        task, [&](int) { return whole; },
        [&](int rank) {
            Received const all = received_by_all_to_all(a, task, rank);
            return exchange_time(all.keys, rates) + whole + exchange_time(all.gradients, rates);
        });
}

namespace {

// The tokens whose gradients a rank has in scratch: those that its chunks make there, and those that are added up.
// Ranks choose alike, so that none looks at its own tensors' strides.
double tokens_of_gradients(Attention const& a, group::Task const& task, std::vector<QueryChunk> const& chunks,
                           int rank) {
    KeyGradients const gradients(a, task, chunks, true);
    std::int64_t tokens = 0;
    for (QueryChunk const& chunk : chunks) {
        if (chunk.rank == rank) tokens += gradients.keys_elsewhere(chunk).count();
    }
    for (SeenKeys const& keys : gradients.of_rank(rank)) tokens += keys.terms() * keys.tokens.count();
    return static_cast<double>(tokens);
}

}  // namespace

// The most that a rank may need, whatever the strides of its tensors.
double scratch_of_gather(Attention const& a, group::Task const& task, int stages) {
    std::vector<QueryChunk> const chunks = query_chunks(a, task);
    double const of_keys = bytes_of_rows(a, {Port::K, Port::V});
    double const of_gradients = a.is_backward() ? bytes_of_rows(a, {Port::DK, Port::DV}) : 0.0;
    double most = 0.0;
    for (int rank = 0; rank < task.size(); ++rank) {
        GatheredKeys const gathered(a, task, chunks, rank, true);
        auto const keys = static_cast<double>(TokenRows(gathered.buffered_tokens(true)).count());
        double const gradients = a.is_backward() ? tokens_of_gradients(a, task, chunks, rank) : 0.0;
        most = std::max(most, keys * of_keys + gradients * of_gradients);
    }
    return most * std::min(stages, 2) / stages;
}

namespace {

// The bytes that joints move for a row: once in its type, and `times` in FLOAT.
double bytes_joined(Attention const& a, int port, double times) {
    return bytes_of_row(a, port) + times * kBytesOfFloat * elements_of_row(a, port);
}

// A part's O is converted and merged with those before; its gradients are added to those before.
double bytes_of_joints(Attention const& a, BandPart const& part) {
    auto const queries = static_cast<double>(part.queries.count()), keys = static_cast<double>(part.keys.count());
    if (!a.is_backward()) return queries * bytes_joined(a, Port::O, 4.0);
    return queries * bytes_joined(a, Port::DQ, 2.0) +
           keys * (bytes_joined(a, Port::DK, 2.0) + bytes_joined(a, Port::DV, 2.0));
}

// The work of a rank at a step of a ring, in microseconds.
struct RingWork {
    double attention = 0.0, joints = 0.0;
};

RingWork work_in_ring(Attention const& a, group::Task const& task, int rank, int step, GroupRates const& rates) {
    RingWork work;
    double pairs = 0.0;
    for (RingPart const& part : parts_of_ring(a, task, rank, step)) {
        pairs += pairs_of(a, task, part.band.queries, part.band.keys);
        work.joints += bytes_of_joints(a, part.band) / rates.bytes_of_memory_per_us;
    }
    work.attention = attention_time(a, pairs, rates);
    return work;
}

}  // namespace

GroupTime time_of_ring(Attention const& a, group::Task const& task, GroupRates const& rates) {
    int const steps = steps_of_ring(a, task);
    std::int64_t most = 0;
    for (int rank = 0; rank < task.size(); ++rank) most = std::max(most, task.keys.count_of(rank));
    auto const tokens = static_cast<double>(most);
    double const keys = exchange_time(tokens * bytes_of_rows(a, {Port::K, Port::V}), rates);
    double const floats = a.is_backward() ? elements_of_row(a, Port::DK) + elements_of_row(a, Port::DV) : 0.0;
    double const gradients = a.is_backward() && steps > 1 ? exchange_time(tokens * floats * kBytesOfFloat, rates) : 0.0;
    double const share = a.is_backward() ? rates.backward_share_of_stage : rates.forward_share_of_stage;
    GroupTime time;
    for (int step = 0; step < steps; ++step) {
        double slowest = 0.0;
        for (int rank = 0; rank < task.size(); ++rank) {
            RingWork const work = work_in_ring(a, task, rank, step, rates);
            time.attention += work.attention / task.size();
            slowest = std::max(slowest, work.attention * (steps > 1 ? 1.0 + share : 1.0) + work.joints);
        }
        double const exchanged = (step + 1 < steps ? keys : 0.0) + (step > 0 ? gradients : 0.0);
        time.all += std::max(slowest, exchanged);
    }
    time.all += gradients;
    return time;
}

}  // namespace cudnn_frontend::rewrite
