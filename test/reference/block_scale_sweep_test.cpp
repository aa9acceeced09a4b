// Random cases of block-scaled attention, forward and backward, on both CPU targets against the oracle.
#include "reference/cases/case_data.h"
#include "reference/oracle/block_oracle.h"
#include "support/catch.h"
#include "support/random.h"

#include <cudnn_frontend/fp8.h>
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/scalar.h>

#include <cmath>
#include <cstring>
#include <unordered_map>

using namespace cudnn_frontend;
using graph::Graph;
using graph::Tensor_attributes;
using oracle::Array;
using sdpa_test::AttentionCase;
using sdpa_test::Random;
using TensorPtr = std::shared_ptr<Tensor_attributes>;
using Pack = std::unordered_map<TensorPtr, void*>;

namespace {

// The tensors of a case.
struct Data {
    oracle::Problem problem;  // it has the dequantized tensors
    Array d_o;
};

// 4 bits of mantissa and 4 powers of two: exact in FP8_E4M3 under each of the scales, in half and in bfloat16.
double random_value(Random& random) {
    double const magnitude = static_cast<double>(random.between(8, 15)) / 8.0 * std::exp2(-random.between(0, 3));
    return random.flip() ? magnitude : -magnitude;
}

Array random_array(Random& random, std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t d) {
    Array array(b, h, s, d);
    for (double& value : array.values) value = random_value(random);
    return array;
}

// Sizes and options; the type of Q, K and V is that of dequantized tensors.
AttentionCase random_case(std::uint64_t index) {
    AttentionCase c;
    c.seed = 0x3f8 + index;
    Random random(c.seed);
    c.b = random.between(1, 2), c.h_k = random.between(1, 2), c.h_v = random.between(1, 2);
    c.h_q = 2 * random.between(1, 2), c.s_q = random.between(1, 80), c.s_kv = random.between(1, 150);
    c.d_qk = random.between(1, 70), c.d_v = random.between(1, 140);
    c.scale = sdpa_test::Scale::Number;
    c.scale_value = static_cast<float>(random.real(0.5, 2.0) / std::sqrt(static_cast<double>(c.d_qk)));
    if (random.chance(0.4)) c.right = static_cast<int>(random.chance(0.6) ? 0 : random.between(1, c.s_kv));
    if (random.chance(0.3)) c.left = static_cast<int>(random.between(1, c.s_kv + 1));
    if (random.chance(0.4)) c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    c.alibi = random.chance(0.2);
    if (random.chance(0.4)) {
        c.len_q.emplace(), c.len_kv.emplace();
        for (std::int64_t entry = 0; entry < c.b; ++entry) {
            c.len_q->push_back(random.between(0, c.s_q));
            c.len_kv->push_back(random.between(0, c.s_kv));
        }
    }
    if (random.chance(0.3)) c.bias = {1, c.h_q, c.s_q, c.s_kv};
    c.result_type = random.chance(0.3) ? DataType_t::HALF : DataType_t::BFLOAT16;
    return c;
}

// Numbers that blocks of 8 bits hold exactly.
Data make_data(AttentionCase const& c) {
    Random random(~c.seed);
    Data data{sdpa_test::to_problem(c, sdpa_test::make_inputs(c), {}), random_array(random, c.b, c.h_q, c.s_q, c.d_v)};
    data.problem.q = random_array(random, c.b, c.h_q, c.s_q, c.d_qk);
    data.problem.k = random_array(random, c.b, c.h_k, c.s_kv, c.d_qk);
    data.problem.v = random_array(random, c.b, c.h_v, c.s_kv, c.d_v);
    if (c.bias) data.problem.bias = random_array(random, 1, c.h_q, c.s_q, c.s_kv);
    return data;
}

// The quantized bytes of an array, with random scales for blocks along the axis.
struct BlockTensor {
    std::vector<std::uint8_t> elements, scales;
    std::vector<std::int64_t> dim, scale_dim;

    BlockTensor(Array const& values, std::size_t axis, Random& random)
        : elements(values.values.size()), dim(values.dim.begin(), values.dim.end()) {
        std::int64_t const lines = values.dim[axis == 2 ? 3 : 2], blocks = (values.dim[axis] + 31) / 32;
        oracle::TileOrder const order(lines, blocks);
        std::int64_t const rows = order.padded_rows(), width = order.padded_blocks();
        scale_dim = {dim[0], dim[1], axis == 2 ? width : rows, axis == 2 ? rows : width};
        for (std::int64_t n = 0; n < dim[0] * dim[1] * rows * width; ++n) {
            scales.push_back(static_cast<std::uint8_t>(random.between(127 - 4, 127 + 3)));
        }
        std::size_t next = 0;
        for (std::int64_t matrix = 0; matrix < dim[0] * dim[1]; ++matrix)
            for (std::int64_t i = 0; i < dim[2]; ++i)
                for (std::int64_t j = 0; j < dim[3]; ++j) {
                    std::int64_t const at = axis == 2 ? order.at(j, i / 32) : order.at(i, j / 32);
                    int const scale = scales[static_cast<std::size_t>(matrix * rows * width + at)];
                    double const element = values.values[next] / std::exp2(scale - 127);
                    elements[next++] = fp8_e4m3(static_cast<float>(element)).bits;
                }
    }
};

// A graph under construction, its memory and its pack.
class Program {
   public:
    Program(DataType_t result_type, std::uint64_t seed) : random_(seed) {
        graph_.set_io_data_type(result_type).set_intermediate_data_type(DataType_t::FLOAT);
        graph_.set_compute_data_type(DataType_t::FLOAT);
    }

    struct Pair {
        TensorPtr elements, scales;
    };
    Pair blocks(Array const& values, std::size_t axis) {
        BlockTensor const made(values, axis, random_);
        Pair const pair{input(made.dim, DataType_t::FP8_E4M3, made.elements),
                        input(made.scale_dim, DataType_t::FP8_E8M0, made.scales)};
        pair.scales->set_reordering_type(TensorReordering_t::F8_128x4);
        return pair;
    }
    TensorPtr numbers(Array const& values, DataType_t type) {
        std::vector<std::int64_t> const dim(values.dim.begin(), values.dim.end());
        std::vector<std::uint8_t> bytes(values.values.size() * (type == DataType_t::FLOAT ? 4 : 2));
        for (std::size_t n = 0; n < values.values.size(); ++n) {
            auto const value = static_cast<float>(values.values[n]);
            if (type == DataType_t::FLOAT) put(bytes, n, value);
            else if (type == DataType_t::HALF) put(bytes, n, float16(value));
            else put(bytes, n, bfloat16(value));
        }
        return input(dim, type, bytes);
    }
    void output(TensorPtr const& tensor, DataType_t type, std::size_t count) {
        tensor->set_output(true).set_data_type(type);
        memory_.emplace_back(count * (type == DataType_t::FLOAT ? 4 : 2), std::uint8_t{0xee});
        pack_[tensor] = memory_.back().data();
    }
    Array result(TensorPtr const& tensor, DataType_t type) {
        auto const dim = tensor->get_dim();
        Array array(dim[0], dim[1], dim[2], dim[3]);
        auto const* bytes = static_cast<std::uint8_t const*>(pack_.at(tensor));
        for (std::size_t n = 0; n < array.values.size(); ++n) {
            if (type == DataType_t::FLOAT) array.values[n] = double{get<float>(bytes, n)};
            else if (type == DataType_t::HALF) array.values[n] = double{static_cast<float>(get<float16>(bytes, n))};
            else array.values[n] = double{static_cast<float>(get<bfloat16>(bytes, n))};
        }
        return array;
    }

    template <class Attributes>
    void apply_options(Attributes& options, oracle::Problem const& p) {
        options.set_attn_scale(static_cast<float>(p.scale)).set_alibi_mask(p.alibi);
        options.set_diagonal_alignment(p.bottom_right ? DiagonalAlignment_t::BOTTOM_RIGHT
                                                      : DiagonalAlignment_t::TOP_LEFT);
        if (p.right) options.set_diagonal_band_right_bound(static_cast<int>(*p.right));
        if (p.left) options.set_diagonal_band_left_bound(static_cast<int>(*p.left));
        if (p.bias) options.set_bias(numbers(*p.bias, DataType_t::FLOAT));
        if (!p.len_q) return;
        options.set_padding_mask(true).set_seq_len_q(lengths(*p.len_q)).set_seq_len_kv(lengths(*p.len_kv));
    }

    void run(Target const& target) {
        REQUIRE(graph_.build(target).get_message() == "");
        std::vector<std::uint8_t> workspace(static_cast<std::size_t>(graph_.get_workspace_size()));
        REQUIRE(graph_.execute(pack_, workspace.data()).get_message() == "");
    }
    Graph& graph() { return graph_; }
    std::uint8_t* bytes(TensorPtr const& tensor) { return static_cast<std::uint8_t*>(pack_.at(tensor)); }

   private:
    template <class T>
    static void put(std::vector<std::uint8_t>& bytes, std::size_t n, T value) {
        std::memcpy(bytes.data() + n * sizeof(T), &value, sizeof(T));
    }
    template <class T>
    static T get(std::uint8_t const* bytes, std::size_t n) {
        T value;
        std::memcpy(&value, bytes + n * sizeof(T), sizeof(T));
        return value;
    }
    TensorPtr input(std::vector<std::int64_t> const& dim, DataType_t type, std::vector<std::uint8_t> const& bytes) {
        std::vector<std::int64_t> const stride{dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
        TensorPtr const tensor = graph_.tensor(Tensor_attributes().set_dim(dim).set_stride(stride).set_data_type(type));
        memory_.push_back(bytes);
        pack_[tensor] = memory_.back().data();
        return tensor;
    }
    TensorPtr lengths(std::vector<std::int64_t> const& of_entries) {
        std::vector<std::uint8_t> bytes(of_entries.size() * 4);
        for (std::size_t n = 0; n < of_entries.size(); ++n) put(bytes, n, static_cast<std::int32_t>(of_entries[n]));
        return input({static_cast<std::int64_t>(of_entries.size()), 1, 1, 1}, DataType_t::INT32, bytes);
    }

    Random random_;
    Graph graph_;
    std::vector<std::vector<std::uint8_t>> memory_;
    Pack pack_;
};

// Allows for the result's rounding, for double's, and for scores summed in another order.
void check_close(char const* name, Array const& got, Array const& wanted, DataType_t type) {
    double const unit = type == DataType_t::FLOAT ? 0x1p-23 : type == DataType_t::HALF ? 0x1p-10 : 0x1p-7;
    double const greatest = oracle::greatest_magnitude(wanted);
    INFO(name);
    REQUIRE(got.values.size() == wanted.values.size());
    std::int64_t off = 0;
    for (std::size_t n = 0; n < wanted.values.size(); ++n) {
        double const x = got.values[n], y = wanted.values[n];
        if (x == y) continue;  // equal infinities too
        if (!(std::abs(x - y) <= unit * std::abs(y) + 1e-6 * greatest + 1e-7)) ++off;
    }
    CHECK(off == 0);
}

Array one(double value) { return Array(1, 1, 1, 1, value); }

struct Made {
    Array o, stats;
};

Made check_forward(AttentionCase const& c, Data const& data, std::uint64_t index, Target const& target) {
    Program program(c.result_type, index);
    oracle::Problem p = data.problem;
    auto const q = program.blocks(p.q, 3), k = program.blocks(p.k, 3), v = program.blocks(p.v, 2);
    graph::SDPA_fp8_attributes options;
    options.set_generate_stats(true);
    program.apply_options(options, p);
    auto const [o, stats, amax] =
        program.graph().sdpa_fp8(q.elements, k.elements, v.elements, q.scales, k.scales, v.scales, options);
    p.narrow_probability = oracle::Narrowing{oracle::Fp8::E4m3, 256.0, 1.0 / 256.0};
    oracle::Forward const exact = oracle::forward(p);
    program.output(o, c.result_type, exact.o.values.size());
    program.output(stats, DataType_t::FLOAT, exact.stats.values.size());
    program.output(amax, DataType_t::FLOAT, 1);
    program.run(target);
    Made const made{program.result(o, c.result_type), program.result(stats, DataType_t::FLOAT)};
    check_close("O", made.o, exact.o, c.result_type);
    check_close("Stats", made.stats, exact.stats, DataType_t::FLOAT);
    check_close("Amax_O", program.result(amax, DataType_t::FLOAT), one(exact.amax_o), DataType_t::FLOAT);
    return made;
}

void check_backward(AttentionCase const& c, Data const& data, Made const& forward, std::uint64_t index,
                    Target const& target) {
    Program program(c.result_type, index + 1000);
    oracle::Problem const& p = data.problem;
    auto const q = program.blocks(p.q, 3), q_T = program.blocks(p.q, 2), k = program.blocks(p.k, 3),
               k_T = program.blocks(p.k, 2), v = program.blocks(p.v, 3), d_o = program.blocks(data.d_o, 3),
               d_o_T = program.blocks(data.d_o, 2);
    TensorPtr const o = program.numbers(forward.o, c.result_type), wide = program.numbers(data.d_o, c.result_type),
                    stats = program.numbers(forward.stats, DataType_t::FLOAT);
    graph::SDPA_fp8_backward_attributes options;
    program.apply_options(options, p);
    auto const results = program.graph().sdpa_fp8_backward(
        q.elements, q_T.elements, k.elements, k_T.elements, v.elements, o, wide, d_o.elements, d_o_T.elements, stats,
        q.scales, q_T.scales, k.scales, k_T.scales, v.scales, d_o.scales, d_o_T.scales, options);
    oracle::Backward const exact =
        oracle::backward_in_blocks(p, forward.o, forward.stats, data.d_o, oracle::Fp8::E4m3, oracle::Fp8::E4m3);
    Array const* const wanted[] = {&exact.d_q, &exact.d_k, &exact.d_v};
    for (std::size_t n = 0; n < 3; ++n) {
        program.output(results[n], c.result_type, wanted[n]->values.size());
        program.output(results[n + 3], DataType_t::FLOAT, 1);
    }
    program.run(target);
    char const* const names[] = {"dQ", "dK", "dV"};
    double const amaxes[] = {exact.amax_d_q, exact.amax_d_k, exact.amax_d_v};
    for (std::size_t n = 0; n < 3; ++n) {
        Array const gradient = program.result(results[n], c.result_type);
        check_close(names[n], gradient, *wanted[n], c.result_type);
        check_close("its amax", program.result(results[n + 3], DataType_t::FLOAT), one(amaxes[n]), DataType_t::FLOAT);
    }
}

}  // namespace

TEST_CASE("random cases of block-scaled attention agree with the oracle on both CPU targets") {
    for (std::uint64_t index = 0; index < 60; ++index) {
        AttentionCase const c = random_case(index);
        Data const data = make_data(c);
        CAPTURE(index);
        Target const target = index % 2 == 0 ? Target::reference() : Target::cpu();
        Made const made = check_forward(c, data, index, target);
        check_backward(c, data, made, index, target);
    }
}

TEST_CASE("a scale counts for its block alone, and NaN is a scale") {
    Random random(5);
    Program program(DataType_t::BFLOAT16, 1);
    auto const q = program.blocks(random_array(random, 1, 1, 2, 64), 3),
               k = program.blocks(random_array(random, 1, 1, 40, 64), 3),
               v = program.blocks(random_array(random, 1, 1, 40, 3), 2);
    auto const [o, stats, amax] = program.graph().sdpa_fp8(q.elements, k.elements, v.elements, q.scales, k.scales,
                                                           v.scales, graph::SDPA_fp8_attributes());
    CHECK(stats == nullptr);
    program.output(o, DataType_t::BFLOAT16, 6);
    program.output(amax, DataType_t::FLOAT, 1);
    oracle::TileOrder const order(3, 2);
    program.bytes(v.scales)[order.at(1, 1)] = 255;  // of V's column 1 from row 32 on
    program.run(Target::reference());
    Array const result = program.result(o, DataType_t::BFLOAT16);
    for (std::int64_t i = 0; i < 2; ++i) {
        CHECK(std::isfinite(result.at(0, 0, i, 0)));
        CHECK(std::isnan(result.at(0, 0, i, 1)));
        CHECK(std::isfinite(result.at(0, 0, i, 2)));
    }
}
