// Shared by the samples: the command line, seeded data, attention in double precision, and comparisons.
#pragma once

#include <cudnn_frontend/graph.h>

#include "gpu.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace samples {

namespace fe = cudnn_frontend;
using Index = std::int64_t;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Uid_pack = std::unordered_map<Index, void*>;
using Tensor_pack = std::unordered_map<Tensor, void*>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline fe::Target target_from(int argc, char** argv) {
    std::string const option = argc > 1 ? argv[1] : "--target";
    std::string const value = argc > 2 ? argv[2] : (argc == 1 ? "cpu" : "");
    if (argc <= 3 && option == "--target") {
        if (value == "cpu") return fe::Target::cpu();
        if (value == "reference") return fe::Target::reference();
        if (value == "cuda") return gpu_target();
    }
    std::fprintf(stderr, "usage: %s [--target cpu|reference|cuda]\n", argv[0]);
    std::exit(2);
}

inline void set_types(fe::graph::Graph& graph, fe::DataType_t io) {
    graph.set_io_data_type(io)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
}

inline Uid_pack by_uid(Uid_pack const& pack) { return pack; }
inline Uid_pack by_uid(Tensor_pack const& pack) {
    Uid_pack result;
    for (auto const& entry : pack) result[entry.first->get_uid()] = entry.second;
    return result;
}

// Runs a built graph once on host memory, or on copies of it if the target is a GPU.
template <class Pack>
void run(fe::Target const& target, fe::graph::Graph const& graph, Pack const& pack) {
    if (target.kind() == fe::Target::Kind::CUDA) {
        GpuRun on_gpu(graph, by_uid(pack));
        on_gpu.execute();
        return on_gpu.copy_back();
    }
    Index bytes = 0;
    require(graph.get_workspace_size(bytes));
    std::vector<char> workspace(static_cast<std::size_t>(bytes));
    require(graph.execute(pack, workspace.data()));
}

// Sizes and strides in the order batch, head, row, column.
struct Layout {
    std::vector<Index> dim, stride;

    Index at(Index b, Index h, Index s, Index d) const {
        return b * stride[0] + h * stride[1] + s * stride[2] + d * stride[3];
    }
    std::size_t volume() const { return static_cast<std::size_t>(dim[0] * dim[1] * dim[2] * dim[3]); }
};

inline Layout bhsd(Index b, Index h, Index s, Index d) { return {{b, h, s, d}, {h * s * d, s * d, d, 1}}; }
inline Layout bshd(Index b, Index h, Index s, Index d) { return {{b, h, s, d}, {s * h * d, d, h * d, 1}}; }

inline fe::graph::Tensor_attributes describe(char const* name, Layout const& layout) {
    return fe::graph::Tensor_attributes().set_name(name).set_dim(layout.dim).set_stride(layout.stride);
}

template <class T>
struct View {
    Layout layout;
    T const* data;

    double operator()(Index b, Index h, Index s, Index d) const {
        return static_cast<double>(static_cast<float>(data[layout.at(b, h, s, d)]));
    }
};

template <class T>
View<T> view(Layout const& layout, std::vector<T> const& data) {
    return {layout, data.data()};
}

// The elements in the order batch, head, row, column.
template <class T>
std::vector<double> dense(View<T> const& x) {
    auto const& dim = x.layout.dim;
    std::vector<double> values;
    for (Index b = 0; b < dim[0]; ++b)
        for (Index h = 0; h < dim[1]; ++h)
            for (Index s = 0; s < dim[2]; ++s)
                for (Index d = 0; d < dim[3]; ++d) values.push_back(x(b, h, s, d));
    return values;
}

// Uniform in [-1, 1), the same on every machine.
template <class T>
std::vector<T> random(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<T> values(count);
    for (T& value : values) value = T(static_cast<float>(generator() >> 8) / 8388608.0f - 1.0f);
    return values;
}

struct Attention {
    std::vector<double> o, stats;
};

// Replaces a score, or a probability, at (b, h, i, j).
using Edit = std::function<double(double, Index, Index, Index, Index)>;

inline double causal(double score, Index, Index, Index i, Index j) { return j <= i ? score : -kInfinity; }

// Turns scores into probabilities and returns their log-sum-exp. For a fully masked row these are 0 and -inf.
inline double softmax(std::vector<double>& row) {
    double maximum = -kInfinity, sum = 0.0;
    for (double const x : row) maximum = std::fmax(maximum, x);
    for (double& x : row) sum += x = maximum == -kInfinity ? 0.0 : std::exp(x - maximum);
    for (double& x : row) x = sum == 0.0 ? 0.0 : x / sum;
    return maximum + std::log(sum);
}

// The definition, row by row. Groups of adjacent query heads share a head of K and V.
template <class T>
Attention attention(View<T> const& q, View<T> const& k, View<T> const& v, double scale, Edit const& edit_score = {},
                    Edit const& edit_probability = {}) {
    auto const& dim = q.layout.dim;
    Index const keys = k.layout.dim[2];
    Attention result;
    for (Index b = 0; b < dim[0]; ++b)
        for (Index h = 0; h < dim[1]; ++h)
            for (Index i = 0; i < dim[2]; ++i) {
                std::vector<double> row(static_cast<std::size_t>(keys));
                auto const p = [&row](Index j) -> double& { return row[static_cast<std::size_t>(j)]; };
                for (Index j = 0; j < keys; ++j) {
                    for (Index d = 0; d < dim[3]; ++d) p(j) += q(b, h, i, d) * k(b, h * k.layout.dim[1] / dim[1], j, d);
                    p(j) *= scale;
                    if (edit_score) p(j) = edit_score(p(j), b, h, i, j);
                }
                result.stats.push_back(softmax(row));
                for (Index j = 0; edit_probability && j < keys; ++j) p(j) = edit_probability(p(j), b, h, i, j);
                for (Index d = 0; d < v.layout.dim[3]; ++d) {
                    double sum = 0.0;
                    for (Index j = 0; j < keys; ++j) sum += p(j) * v(b, h * v.layout.dim[1] / dim[1], j, d);
                    result.o.push_back(sum);
                }
            }
    return result;
}

// The largest difference, relative to the largest finite value expected. Infinities must be the same.
inline double worst_error(std::vector<double> const& got, std::vector<double> const& want) {
    double difference = 0.0, magnitude = 0.0;
    if (got.size() != want.size()) return kInfinity;
    for (std::size_t i = 0; i < want.size(); ++i) {
        if (std::isfinite(want[i])) magnitude = std::fmax(magnitude, std::fabs(want[i]));
        double const apart = got[i] == want[i] ? 0.0 : std::fabs(got[i] - want[i]);
        difference = std::isnan(apart) ? kInfinity : std::fmax(difference, apart);
    }
    return difference == 0.0 ? 0.0 : difference / magnitude;
}

// The tolerance allows rounding the result to T on both sides, and one float rounding for each term of the sums.
template <class T>
double tolerance(Index terms) {
    double const digits = std::is_same<T, fe::bfloat16>::value ? 8 : std::is_same<T, fe::float16>::value ? 11 : 24;
    return 2.0 * std::exp2(-digits) + static_cast<double>(terms) * std::exp2(-24.0);
}

// Prints a line for each check and remembers whether all held.
class Checks {
   public:
    void compare(char const* name, std::vector<double> const& got, std::vector<double> const& want, double limit) {
        double const error = worst_error(got, want);
        bool const holds = error <= limit;
        std::printf("  %-22s worst error %.1e  tolerance %.1e   %s\n", name, error, limit, holds ? "ok" : "WRONG");
        all_hold_ = all_hold_ && holds;
    }
    void expect(char const* claim, bool holds) {
        std::printf("  %-63s %s\n", claim, holds ? "ok" : "WRONG");
        all_hold_ = all_hold_ && holds;
    }
    int exit_code() const { return all_hold_ ? 0 : 1; }

   private:
    bool all_hold_ = true;
};

}  // namespace samples
