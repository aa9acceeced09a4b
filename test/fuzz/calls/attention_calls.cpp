// The attention functions with arguments that fit, or nearly.
#include "fuzz/calls/machine.h"
#include "fuzz/calls/odd_tensors.h"
#include "fuzz/driver.h"

#include <sdpa_graph/attention.h>

namespace fuzz {
namespace {

namespace attention = sdpa_graph::attention;
using Dims = std::vector<std::int64_t>;

// Two sequences of 3 queries and 4 keys, or packed ones of 5 and 6 tokens, of two heads of 8.
struct Arguments {
    explicit Arguments(std::uint64_t seed) : random(seed) {
        is_packed_q = random.chance(0.4);
        is_packed_kv = random.chance(0.4);
        has_pages = !is_packed_kv && random.chance(0.2);
        is_odd = random.flip();
        place.allocator = {Blocks::allocate, &blocks};
        place.shape_policy = random.pick({sdpa_graph::Shape_policy::EXACT, sdpa_graph::Shape_policy::CLASSES});
        if (random.chance(0.3)) place.target = Target::reference();
        set_inputs();
        set_options();
    }

    Tensor_view tensor(DataType_t type, Dims const& dim) { return blocks.tensor(random, type, dim, is_odd); }
    Tensor_view integers(std::vector<std::int32_t> const& values) { return blocks.integers(random, values, is_odd); }
    Tensor_view of_q(DataType_t type, std::int64_t width) {
        return tensor(type, is_packed_q ? Dims{5, 2, width} : Dims{2, 2, 3, width});
    }
    Tensor_view of_kv() {
        Dims const dim = is_packed_kv ? Dims{6, key_heads, 8}
                         : has_pages  ? Dims{3, key_heads, 2, 8}
                                      : Dims{2, key_heads, 4, 8};
        return tensor(kind, dim);
    }
    // A view without memory stands for memory of the allocator.
    Tensor_view maybe(Tensor_view const& view) { return random.chance(0.4) ? view : Tensor_view(); }

    Random random;
    Blocks blocks;
    sdpa_graph::Place place;
    attention::Inputs inputs;
    attention::Options options;
    DataType_t kind = DataType_t::HALF;
    std::int64_t key_heads = 2;
    bool is_packed_q, is_packed_kv, has_pages, is_odd;

   private:
    void set_inputs() {
        kind = random.pick({DataType_t::HALF, DataType_t::BFLOAT16, DataType_t::FLOAT});
        key_heads = random.between(1, 2);
        inputs.q = of_q(kind, 8);
        inputs.k = of_kv();
        inputs.v = of_kv();
        if (is_packed_q) inputs.cu_seqlens_q = integers({0, 2, 5});
        if (is_packed_kv) inputs.cu_seqlens_kv = integers({0, 3, 6});
        if (has_pages) inputs.page_table = tensor(DataType_t::INT32, {2, 2});
        if (has_pages || chance(!is_packed_kv)) inputs.seq_len_kv = integers({4, 1});
        if (chance(!is_packed_q)) inputs.seq_len_q = integers({0, 3});
        if (random.chance(0.2)) inputs.bias = tensor(DataType_t::FLOAT, {1, 2, 3, random.pick({1, 4})});
        if (random.chance(0.2)) inputs.sink = tensor(DataType_t::FLOAT, {1, 2, 1, 1});
        if (random.chance(0.3)) inputs.seed = tensor(DataType_t::INT64, {2});
    }
    void set_options() {
        if (random.flip()) options.right_bound = bound(0);
        if (random.chance(0.3)) options.left_bound = bound(1);
        options.is_bottom_right = random.chance(0.3);
        options.has_alibi = random.chance(0.2);
        if (random.chance(0.2)) options.softcap = is_odd ? random.pick({2.0f, 0.0f, -1.0f}) : 2.0f;
        if (inputs.seed || is_odd) options.dropout_p = random.pick({0.0f, 0.5f});
        if (is_odd && random.chance(0.1)) options.dropout_p = random.pick({1.0f, -1.0f});
        options.is_deterministic = random.flip();
        options.longest_q = is_odd && random.chance(0.2) ? random.between(-1, 300) : 3;
        options.longest_kv = is_odd && random.chance(0.2) ? random.between(-1, 300) : has_pages ? 4 : 3;
    }
    std::int64_t bound(std::int64_t least) { return is_odd ? random.between(-2, 5) : random.between(least, 5); }
    bool chance(bool fits) { return (fits || (is_odd && random.chance(0.1))) && random.chance(0.3); }
};

void forward(Machine& m, Numbers const& n) {
    Arguments a(static_cast<std::uint64_t>(n[1]));
    attention::Forward_results results{a.maybe(a.of_q(a.kind, 8)), a.maybe(a.of_q(DataType_t::FLOAT, 1))};
    ++figures().executions;
    m.note(attention::forward(a.inputs, a.options, a.random.flip(), a.place, results));
}

void backward(Machine& m, Numbers const& n) {
    Arguments a(static_cast<std::uint64_t>(n[1]));
    Tensor_view const grad_o = a.of_q(a.kind, 8), o = a.of_q(a.kind, 8), stats = a.of_q(DataType_t::FLOAT, 1);
    attention::Backward_results results{a.maybe(a.of_q(a.kind, 8)), a.maybe(a.of_kv()), a.maybe(a.of_kv())};
    if (a.inputs.bias && a.random.flip()) results.dbias = a.tensor(DataType_t::FLOAT, a.inputs.bias->dim);
    if (a.inputs.sink && a.random.flip()) results.dsink = a.tensor(DataType_t::FLOAT, a.inputs.sink->dim);
    ++figures().executions;
    m.note(attention::backward(grad_o, a.inputs, o, stats, a.options, a.place, results));
}

constexpr Call kCalls[] = {
    {"attention.forward", forward},
    {"attention.backward", backward},
};

}  // namespace

std::span<Call const> attention_calls() { return kCalls; }

}  // namespace fuzz
