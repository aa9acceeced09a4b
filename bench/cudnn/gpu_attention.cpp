#include "gpu_attention.h"

#include <cudnn_frontend/runtime.h>
#include <cudnn_frontend/score_modifiers.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>

namespace bench {

bool good(fe::error_t const& error, char const* where) {
    if (error.is_bad()) std::printf("  %s: %s\n", where, error.get_message().c_str());
    return error.is_good();
}

bool good(cudaError_t status, char const* call) {
    if (status != cudaSuccess) std::printf("  %s: %s\n", call, cudaGetErrorString(status));
    return status == cudaSuccess;
}

Dims dims_of(Row const& row, Uid uid) {
    if (row.kernel > 0 && uid == Uid::Stats) return {row.b, row.s_q, row.h_q};
    if (row.kernel > 0) return {row.b, row.s_q, row.h_q, row.d};
    if (uid == Uid::Bias || uid == Uid::DBias) return {row.b, row.h_q, row.s_q, row.s_kv};
    bool const has_keys = uid == Uid::K || uid == Uid::V || uid == Uid::DK || uid == Uid::DV;
    bool const has_values = uid == Uid::V || uid == Uid::O || uid == Uid::DO || uid == Uid::DV;
    if (uid == Uid::Stats) return {row.b, row.h_q, row.s_q, 1};
    return {row.b, has_keys ? row.h_k : row.h_q, has_keys ? row.s_kv : row.s_q,
            has_values && row.d_v > 0 ? row.d_v : row.d};
}

Dims strides_of(Row const& row, Uid uid) {
    Dims const dim = dims_of(row, uid);
    if (row.kernel > 0 && uid == Uid::Stats) return {dim[1] * dim[2], dim[2], 1};
    bool const has_vectors = uid != Uid::Stats && uid != Uid::Bias && uid != Uid::DBias;
    if (row.rows_first && has_vectors) return {dim[2] * dim[1] * dim[3], dim[3], dim[1] * dim[3], 1};
    return {dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
}

namespace {

using fe::Rewrite_t;
using Alignment = fe::DiagonalAlignment_t;
using TensorPtr = std::shared_ptr<fe::graph::Tensor_attributes>;

class Description {
   public:
    Description(Row const& row, fe::graph::Graph& graph) : row_(row), graph_(graph) {
        graph.set_io_data_type(fe::DataType_t::BFLOAT16)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
    }

    void forward(bool has_stats) {
        if (row_.kernel > 0) return forward_neighborhood(has_stats);
        auto options =
            fe::graph::SDPA_attributes().set_name("sdpa").set_attn_scale(scale()).set_generate_stats(has_stats);
        mask(options);
        modify(options);
        if (row_.bias) options.set_bias(input(Uid::Bias));
        if (row_.lengths) {
            options.set_padding_mask(true)
                .set_seq_len_q(lengths(Uid::QueryLengths))
                .set_seq_len_kv(lengths(Uid::KeyLengths));
        }
        pack(options);
        auto const [o, stats] = graph_.sdpa(input(Uid::Q), input(Uid::K), input(Uid::V), options);
        output(o, Uid::O);
        if (stats) output(stats, Uid::Stats).set_data_type(fe::DataType_t::FLOAT);
    }

    void backward() {
        if (row_.kernel > 0) return backward_neighborhood();
        auto options = fe::graph::SDPA_backward_attributes().set_name("sdpa").set_attn_scale(scale());
        options.set_deterministic_algorithm(row_.deterministic || row_.rewrite == Rewrite_t::SLICES);
        mask(options);
        modify(options);
        pack(options);
        if (row_.bias) options.set_bias(input(Uid::Bias));
        if (row_.bias_gradient) {
            auto const gradient = input(Uid::DBias);
            gradient->set_output(true);
            options.set_dbias(gradient);
        }
        auto const stats = input(Uid::Stats);
        stats->set_data_type(fe::DataType_t::FLOAT);
        auto const [dq, dk, dv] = graph_.sdpa_backward(input(Uid::Q), input(Uid::K), input(Uid::V), input(Uid::O),
                                                       input(Uid::DO), stats, options);
        output(dq, Uid::DQ), output(dk, Uid::DK), output(dv, Uid::DV);
    }

   private:
    template <class Options>
    Options windows() const {
        return Options().set_name("na").set_kernel_size({row_.kernel}).set_dilation({row_.dilation});
    }

    void forward_neighborhood(bool has_stats) {
        auto const options = windows<fe::graph::Neighborhood_attributes>().set_generate_stats(has_stats);
        auto const [o, stats] = graph_.neighborhood_attention(input(Uid::Q), input(Uid::K), input(Uid::V), options);
        output(o, Uid::O);
        if (stats) output(stats, Uid::Stats).set_data_type(fe::DataType_t::FLOAT);
    }

    void backward_neighborhood() {
        auto const stats = input(Uid::Stats);
        stats->set_data_type(fe::DataType_t::FLOAT);
        auto const [dq, dk, dv] = graph_.neighborhood_attention_backward(
            input(Uid::Q), input(Uid::K), input(Uid::V), input(Uid::O), input(Uid::DO), stats,
            windows<fe::graph::Neighborhood_backward_attributes>());
        output(dq, Uid::DQ), output(dk, Uid::DK), output(dv, Uid::DV);
    }

    float scale() const { return 1.0f / std::sqrt(static_cast<float>(row_.d)); }

    TensorPtr input(Uid uid) {
        auto const tensor = graph_.tensor(fe::graph::Tensor_attributes().set_name(std::to_string(uid)).set_uid(uid));
        lay_out(*tensor, uid);
        return tensor;
    }

    // Rows of packed tensors hold all heads, and dims the longest document.
    fe::graph::Tensor_attributes& lay_out(fe::graph::Tensor_attributes& tensor, Uid uid) {
        Dims dim = dims_of(row_, uid);
        if (row_.documents.empty()) return tensor.set_dim(dim).set_stride(strides_of(row_, uid));
        dim[0] = static_cast<std::int64_t>(row_.documents.size());
        dim[2] = std::ranges::max(row_.documents);
        std::int64_t const width = dim[1] * dim[3];
        return tensor.set_dim(dim).set_stride({dim[2] * width, dim[3], width, 1}).set_ragged_offset(starts(uid));
    }

    TensorPtr starts(Uid uid) {
        bool const has_keys = uid == Uid::K || uid == Uid::V || uid == Uid::DK || uid == Uid::DV;
        Uid const of = uid == Uid::Stats ? Uid::StatsStarts : has_keys ? Uid::KeyStarts : Uid::QueryStarts;
        TensorPtr& known = starts_[of];
        auto const count = static_cast<std::int64_t>(row_.documents.size()) + 1;
        if (!known) known = integers(of, {count, 1, 1, 1});
        return known;
    }

    template <class Options>
    void pack(Options& options) {
        if (row_.documents.empty()) return;
        TensorPtr const all = integers(Uid::QueryLengths, {static_cast<std::int64_t>(row_.documents.size()), 1, 1, 1});
        options.set_padding_mask(true).set_seq_len_q(all).set_seq_len_kv(all);
        if constexpr (std::is_same_v<Options, fe::graph::SDPA_backward_attributes>) {
            std::int64_t const tokens = std::reduce(row_.documents.begin(), row_.documents.end());
            options.set_max_total_seq_len_q(tokens).set_max_total_seq_len_kv(tokens);
        }
    }

    TensorPtr integers(Uid uid, Dims const& dim) {
        return graph_.tensor(fe::graph::Tensor_attributes()
                                 .set_name(std::to_string(uid))
                                 .set_uid(uid)
                                 .set_dim(dim)
                                 .set_stride({dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1})
                                 .set_data_type(fe::DataType_t::INT32));
    }
    TensorPtr lengths(Uid uid) { return integers(uid, {row_.b, 1, 1, 1}); }

    fe::graph::Tensor_attributes& output(TensorPtr const& tensor, Uid uid) {
        return lay_out(tensor->set_output(true).set_uid(uid), uid);
    }

    template <class Options>
    void mask(Options& options) {
        if (row_.causal) {
            bool const is_packed = !row_.documents.empty();
            options.set_diagonal_alignment(is_packed ? Alignment::TOP_LEFT : Alignment::BOTTOM_RIGHT)
                .set_diagonal_band_right_bound(0);
        }
        if (row_.left == 0) return;
        options.set_diagonal_band_left_bound(row_.left).set_diagonal_band_right_bound(row_.right);
    }

    template <class Options>
    void modify(Options& options) {
        namespace ready = fe::graph::attn::score_modifiers;
        switch (row_.modifier) {
            case Modifier::None: return;
            case Modifier::Documents:
                options.set_score_mod(ready::document_mask(integers(Uid::ModifierOfQueries, {row_.b, 1, row_.s_q, 1}),
                                                           integers(Uid::ModifierOfKeys, {row_.b, 1, 1, row_.s_kv})));
                return;
            case Modifier::Prefix:
                options.set_score_mod(ready::prefix_lm(integers(Uid::ModifierOfQueries, {row_.b, 1, 1, 1})));
                return;
            case Modifier::Softcap: break;
        }
        auto const capped = ready::softcap(30.0f);
        options.set_score_mod(capped.forward);
        if constexpr (std::is_same_v<Options, fe::graph::SDPA_backward_attributes>) {
            options.set_score_mod_bprop(capped.backward);
        }
    }

    Row const& row_;
    fe::graph::Graph& graph_;
    std::map<Uid, TensorPtr> starts_;
};

// The documents of a sequence, in order.
std::vector<std::int32_t> documents_of(std::int64_t batches, std::int64_t tokens) {
    constexpr std::int64_t kDocuments = 8;
    std::vector<std::int32_t> all;
    for (std::int64_t i = 0; i < batches * tokens; ++i) {
        all.push_back(static_cast<std::int32_t>(i % tokens * kDocuments / tokens));
    }
    return all;
}

// Numbers between -1 and 1, the same piece of them again and again, from another place on for each tensor.
void fill(void* memory, std::size_t bytes, unsigned seed) {
    static std::vector<std::uint16_t> const numbers = [] {
        std::vector<std::uint16_t> all((std::size_t{1} << 24) + 4096);
        std::uint32_t state = 1;
        for (std::uint16_t& number : all) {
            state = state * 1664525u + 1013904223u;
            float const value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1.0f;
            std::uint32_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            number = static_cast<std::uint16_t>(bits >> 16);
        }
        return all;
    }();
    std::size_t const piece = std::size_t{1} << 25;
    for (std::size_t at = 0; at < bytes; at += piece) {
        std::size_t const count = std::min(piece, bytes - at);
        std::size_t const start = (seed * 977 + at / piece * 131) % 4096;
        good(cudaMemcpy(static_cast<char*>(memory) + at, numbers.data() + start, count, cudaMemcpyHostToDevice));
    }
}

}  // namespace

Row neighborhood_row(char const* name, bool is_forward, Dims const& sizes, std::int64_t kernel, std::int64_t dilation) {
    Row row{name, Rewrite_t::NEIGHBORHOOD_BAND, sizes[0], sizes[1], sizes[1], sizes[2], sizes[2], sizes[3]};
    row.kernel = kernel;
    row.dilation = dilation;
    row.is_forward_neighborhood = is_forward;
    return row;
}

std::size_t bytes_of(Row const& row, Uid uid) {
    std::int64_t elements = 1;
    for (std::int64_t const size : dims_of(row, uid)) elements *= size;
    return static_cast<std::size_t>(elements) * (uid == Uid::Stats ? 4 : 2);
}

void describe(Row const& row, fe::graph::Graph& graph) {
    Description description(row, graph);
    if (row.is_forward()) description.forward(false);
    else description.backward();
}

void describe_pass(Row const& row, bool is_backward, fe::graph::Graph& graph) {
    Description description(row, graph);
    if (is_backward) description.backward();
    else description.forward(true);
}

Memory::Memory(std::size_t bytes) { good(cudaMalloc(&pointer_, std::max<std::size_t>(bytes, 16))); }

Buffers::Buffers(Row const& row) {
    auto const add_numbers = [&](int uid) {
        std::size_t const bytes = bytes_of(row, static_cast<Uid>(uid));
        fill(add(static_cast<Uid>(uid), bytes), bytes, static_cast<unsigned>(uid));
    };
    for (int uid = Uid::Q; uid <= (row.is_forward() ? Uid::Stats : Uid::DV); ++uid) add_numbers(uid);
    if (row.bias) add_numbers(Uid::Bias);
    if (row.bias_gradient) add_numbers(Uid::DBias);
    if (row.modifier == Modifier::Documents) {
        add_integers(Uid::ModifierOfQueries, documents_of(row.b, row.s_q));
        add_integers(Uid::ModifierOfKeys, documents_of(row.b, row.s_kv));
    }
    if (row.modifier == Modifier::Prefix) add_lengths(Uid::ModifierOfQueries, row.b, 512);
    if (!row.documents.empty()) add_documents(row);
    if (!row.lengths) return;
    add_lengths(Uid::QueryLengths, row.b, row.s_q);
    add_lengths(Uid::KeyLengths, row.b, row.s_kv);
}

void* Buffers::add(Uid uid, std::size_t bytes) {
    memory_[uid] = std::make_unique<Memory>(bytes);
    return pack_[uid] = memory_[uid]->get();
}

void Buffers::add_lengths(Uid uid, std::int64_t count, std::int64_t length) {
    add_integers(uid, std::vector<std::int32_t>(static_cast<std::size_t>(count), static_cast<std::int32_t>(length)));
}

void Buffers::add_integers(Uid uid, std::vector<std::int32_t> const& all) {
    good(cudaMemcpy(add(uid, all.size() * 4), all.data(), all.size() * 4, cudaMemcpyHostToDevice));
}

void Buffers::add_documents(Row const& row) {
    add_integers(Uid::QueryLengths, std::vector<std::int32_t>(row.documents.begin(), row.documents.end()));
    auto const add_starts = [&](Uid uid, std::int64_t width) {
        std::vector<std::int32_t> starts = {0};
        for (std::int64_t const length : row.documents) {
            starts.push_back(starts.back() + static_cast<std::int32_t>(length * width));
        }
        add_integers(uid, starts);
    };
    add_starts(Uid::QueryStarts, row.h_q * row.d);
    add_starts(Uid::KeyStarts, row.h_k * row.d);
    add_starts(Uid::StatsStarts, row.h_q);
}

Gpu::Gpu() {
    good(cudaStreamCreate(&stream_));
    good(fe::runtime::create_handle(&handle_), "handle");
    good(fe::runtime::set_stream(handle_, stream_), "stream");
}

bool Gpu::prepare_backward(Row const& row, Pack const& pack) const {
    fe::graph::Graph graph;
    describe_pass(row, false, graph);
    return good(graph.build(target()), "forward") && time(graph, pack, {0.0f, 1}) > 0.0;
}

double Gpu::time(fe::graph::Graph& graph, Pack const& pack, Care const& care) const {
    std::int64_t bytes = 0;
    if (!good(graph.get_workspace_size(bytes), "workspace")) return 0.0;
    Memory const workspace(static_cast<std::size_t>(bytes));
    double const first = time_runs(graph, pack, workspace.get(), 1);
    if (first <= 0.0) return 0.0;
    int const runs = std::clamp(static_cast<int>(care.milliseconds * 1000.0 / first), 1, 50);
    std::vector<double> times;
    for (int i = 0; i < care.times; ++i) times.push_back(time_runs(graph, pack, workspace.get(), runs));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

double Gpu::time_runs(fe::graph::Graph& graph, Pack const& pack, void* workspace, int runs) const {
    cudaEvent_t begin = nullptr, end = nullptr;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    cudaEventRecord(begin, stream_);
    bool ran = true;
    for (int run = 0; ran && run < runs; ++run) ran = good(graph.execute(handle_, pack, workspace), "execute");
    cudaEventRecord(end, stream_);
    ran = good(cudaEventSynchronize(end)) && ran;
    float milliseconds = 0.0f;
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin), cudaEventDestroy(end);
    return ran ? static_cast<double>(milliseconds) * 1000.0 / runs : 0.0;
}

}  // namespace bench
