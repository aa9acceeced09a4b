// The flash-attention functions with arguments that fit, or nearly.
#include "fuzz/calls/machine.h"
#include "fuzz/calls/odd_tensors.h"
#include "fuzz/driver.h"

#include <sdpa_graph/flash.h>

namespace fuzz {
namespace {

namespace flash = sdpa_graph::flash;

struct Arguments {
    explicit Arguments(std::uint64_t seed) : random(seed) {
        is_packed = random.flip();
        is_odd = random.flip();
        place.allocator = {Blocks::allocate, &blocks};
        if (random.flip()) place.target = Target::reference();
    }

    Tensor_view tensor(DataType_t type, std::vector<std::int64_t> const& dim) {
        return blocks.tensor(random, type, dim, is_odd);
    }
    Tensor_view rows(std::int64_t heads) {
        using Dims = std::vector<std::int64_t>;
        return tensor(DataType_t::HALF, is_packed ? Dims{5, heads, 8} : Dims{2, 3, heads, 8});
    }
    Tensor_view integers(std::vector<std::int32_t> const& values) { return blocks.integers(random, values, is_odd); }
    flash::Optional_tensor maybe(Tensor_view const& view) {
        return random.chance(0.3) ? flash::Optional_tensor(view) : std::nullopt;
    }
    float chance() { return is_odd ? random.pick({0.0f, 0.5f, 1.0f, -1.0f}) : random.pick({0.0f, 0.5f}); }
    int window() { return static_cast<int>(random.between(-2, 5)); }
    int length() { return is_odd && random.chance(0.2) ? static_cast<int>(random.between(-1, 300)) : 3; }

    Random random;
    Blocks blocks;
    flash::Place place;
    bool is_packed, is_odd;
};

error_t run_forward(Arguments& a, Tensor_view const& q, Tensor_view const& k, Tensor_view const& v,
                    flash::Forward_results& results) {
    auto const slopes = a.maybe(a.tensor(DataType_t::FLOAT, {2}));
    auto const generator = a.maybe(a.tensor(DataType_t::INT64, {2}));
    float const p = generator ? a.chance() : 0.0f, cap = a.random.pick({0.0f, 2.0f});
    auto const out = a.maybe(a.rows(2));
    bool const is_causal = a.random.flip(), returns_p = p > 0.0f && a.random.flip();
    if (!a.is_packed)
        return flash::mha_fwd(q, k, v, out, slopes, p, 0.5f, is_causal, a.window(), a.window(), cap, returns_p,
                              generator, a.place, results);
    auto const totals_q = a.integers({0, 2, 5}), totals_k = a.integers({0, 3, 5});
    auto const table = a.tensor(DataType_t::INT32, {2, 1});
    return flash::mha_varlen_fwd(q, k, v, out, totals_q, totals_k, a.maybe(a.integers({2, 1})),
                                 a.is_odd ? a.maybe(table) : std::nullopt, slopes, a.length(), a.length(), p, 0.5f,
                                 a.random.flip(), is_causal, a.window(), a.window(), cap, returns_p, generator, a.place,
                                 results);
}

error_t run_backward(Arguments& a, Tensor_view const& q, Tensor_view const& k, Tensor_view const& v,
                     flash::Backward_results& results) {
    auto const slopes = a.maybe(a.tensor(DataType_t::FLOAT, {2}));
    auto const log_sums = a.is_packed ? a.tensor(DataType_t::FLOAT, {2, 5}) : a.tensor(DataType_t::FLOAT, {2, 2, 3});
    auto const dout = a.rows(2), out = a.rows(2);
    auto const dq = a.maybe(a.rows(2)), dk = a.maybe(a.rows(1)), dv = a.maybe(a.rows(1));
    auto const state = a.tensor(DataType_t::INT64, {2});
    float const p = a.chance();
    if (!a.is_packed)
        return flash::mha_bwd(dout, q, k, v, out, log_sums, dq, dk, dv, slopes, p, 0.5f, a.random.flip(), a.window(),
                              a.window(), 0.0f, true, state, {}, a.place, results);
    auto const totals_q = a.integers({0, 2, 5}), totals_k = a.integers({0, 3, 5});
    return flash::mha_varlen_bwd(dout, q, k, v, out, log_sums, dq, dk, dv, totals_q, totals_k, slopes, a.length(),
                                 a.length(), p, 0.5f, a.random.flip(), a.random.flip(), a.window(), a.window(), 0.0f,
                                 true, state, {}, a.place, results);
}

void forward(Machine& m, Numbers const& n) {
    Arguments a(static_cast<std::uint64_t>(n[1]));
    Tensor_view const q = a.rows(2), k = a.rows(1), v = a.rows(1);
    flash::Forward_results results;
    ++figures().executions;
    m.note(run_forward(a, q, k, v, results));
}

void backward(Machine& m, Numbers const& n) {
    Arguments a(static_cast<std::uint64_t>(n[1]));
    Tensor_view const q = a.rows(2), k = a.rows(1), v = a.rows(1);
    flash::Backward_results results;
    ++figures().executions;
    m.note(run_backward(a, q, k, v, results));
}

constexpr Call kCalls[] = {
    {"flash.forward", forward},
    {"flash.backward", backward},
};

}  // namespace

std::span<Call const> flash_calls() { return kCalls; }

}  // namespace fuzz
