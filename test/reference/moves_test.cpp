// Slices, reshapes and transposes on both CPU targets, against the indices given in docs/spec.md.
#include "support/catch.h"

#include <cudnn_frontend.h>

#include <cmath>
#include <map>
#include <numeric>

namespace fe = cudnn_frontend;
using fe::DataType_t;
using fe::graph::Graph;
using Dims = std::vector<std::int64_t>;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

namespace {

Dims packed(Dims const& dim) {
    Dims stride(dim.size(), 1);
    for (std::size_t d = dim.size() - 1; d > 0; --d) stride[d - 1] = stride[d] * dim[d];
    return stride;
}

std::int64_t volume(Dims const& dim) {
    return std::accumulate(dim.begin(), dim.end(), std::int64_t{1}, std::multiplies<>());
}

// The offset of the element at that position in row-major order.
std::int64_t place(std::int64_t position, Dims const& dim, Dims const& stride) {
    std::int64_t at = 0;
    for (std::size_t d = dim.size(); d-- > 0; position /= dim[d]) at += position % dim[d] * stride[d];
    return at;
}

Tensor input(Graph& graph, Dims const& dim, Dims const& stride, DataType_t type) {
    return graph.tensor(fe::graph::Tensor_attributes().set_uid(1).set_dim(dim).set_stride(stride).set_data_type(type));
}

// Moves the elements of tensor 1 to tensor 2.
template <class T>
std::vector<T> run(fe::Target const& target, Graph& graph, Tensor const& y, std::vector<T> x, std::size_t count) {
    y->set_output(true).set_uid(2);
    auto const built = graph.build(target);
    INFO(built.err_msg);
    REQUIRE(built.is_good());
    std::vector<T> result(count, T(-77));
    std::map<std::int64_t, void*> pack{{1, x.data()}, {2, result.data()}};
    std::vector<std::byte> workspace(static_cast<std::size_t>(graph.get_workspace_size()));
    REQUIRE(graph.execute(nullptr, pack, workspace.data()).is_good());
    return result;
}

// Runs on both targets, which must give the same bits.
template <class T>
std::vector<T> run(Graph& graph, Tensor const& y, std::vector<T> const& x, std::size_t count) {
    auto const result = run(fe::Target::reference(), graph, y, x, count);
    REQUIRE(run(fe::Target::cpu(), graph, y, x, count) == result);
    return result;
}

// Numbers that are equal when converted to double.
std::vector<std::int64_t> wide_numbers(std::int64_t count) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), (std::int64_t{1} << 62) + 1);
    return numbers;
}

}  // namespace

TEST_CASE("A slice takes each step-th index of each interval", "[moves]") {
    Dims const dim{4, 6, 8}, stride{1, 40, 5};
    Graph graph;
    Tensor const x = input(graph, dim, stride, DataType_t::INT64);
    Tensor const y =
        graph.slice(x, fe::graph::Slice_attributes().set_slices({{1, 4}, {0, 6}, {2, 8}}).set_strides({1, 4, 3}));
    auto const numbers = wide_numbers(3 + 5 * 40 + 7 * 5 + 1);
    auto const result = run(graph, y, numbers, 3 * 2 * 2);
    std::size_t position = 0;
    for (std::int64_t const a : {1, 2, 3}) {
        for (std::int64_t const b : {0, 4}) {
            for (std::int64_t const c : {2, 5}) {
                CHECK(result[position++] == numbers[static_cast<std::size_t>(a * 1 + b * 40 + c * 5)]);
            }
        }
    }
}

TEST_CASE("Nodes that move elements are one operation each, named after them", "[moves]") {
    Graph graph;
    Tensor const x = input(graph, {4, 6}, {6, 1}, DataType_t::HALF);
    x->set_name("x");
    Tensor const part = graph.slice(x, fe::graph::Slice_attributes().set_name("part").set_slices({{1, 3}, {0, 6}}));
    Tensor const turned =
        graph.transpose(part, fe::graph::Transpose_attributes().set_name("turned").set_permutation({1, 0}));
    graph.reshape(turned, fe::graph::Reshape_attributes().set_name("row").set_dim({12}))->set_output(true).set_uid(2);
    std::string text;
    REQUIRE(graph.print_operations(text).is_good());
    CHECK(text ==
          "%0 x: input uid 1 HALF [4, 6]\n"
          "%1 part::Y = SLICE(x: %0 x, start=[1, 0], step=[1, 1]) -> HALF [2, 6]  # part\n"
          "%2 turned::Y = TRANSPOSE(x: %1 part::Y, permutation=[1, 0]) -> HALF [6, 2] strides [1, 6]  # turned\n"
          "%3 row::Y = RESHAPE(x: %2 turned::Y) -> HALF [12] output uid 2  # row\n");
}

TEST_CASE("A transpose has the dims of its operand in another order", "[moves]") {
    Dims const dim{2, 3, 4};
    bool const is_view = GENERATE(true, false);
    Graph graph;
    Tensor const x = input(graph, dim, packed(dim), DataType_t::INT64);
    Tensor const y = graph.transpose(x, fe::graph::Transpose_attributes().set_permutation({2, 0, 1}));
    if (!is_view) y->set_stride({6, 3, 1});
    auto const numbers = wide_numbers(24);
    auto const result = run(graph, y, numbers, 24);
    for (std::size_t a = 0; a < 2; ++a) {
        for (std::size_t b = 0; b < 3; ++b) {
            for (std::size_t c = 0; c < 4; ++c) {
                std::size_t const at = is_view ? c * 1 + a * 12 + b * 4 : c * 6 + a * 3 + b;
                CHECK(result[at] == numbers[a * 12 + b * 4 + c]);
            }
        }
    }
}

TEST_CASE("A reshape keeps the order in memory, or that of indices", "[moves]") {
    // BSHD: dims {B, H, S, D}, in memory as {B, S, H, D}.
    Dims const dim{2, 3, 4, 5}, stride{60, 5, 15, 1}, rows{2, 4, 15};
    bool const is_logical = GENERATE(false, true);
    Graph graph;
    Tensor const x = input(graph, dim, stride, DataType_t::INT64);
    auto options = fe::graph::Reshape_attributes().set_dim(rows);
    if (is_logical) options.set_reshape_mode(fe::ReshapeMode_t::LOGICAL);
    auto const numbers = wide_numbers(volume(dim));
    auto const result = run(graph, graph.reshape(x, options), numbers, numbers.size());
    for (std::int64_t i = 0; i < volume(dim); ++i) {
        std::int64_t const from = is_logical ? place(i, dim, stride) : i;
        CHECK(result[static_cast<std::size_t>(i)] == numbers[static_cast<std::size_t>(from)]);
    }
    CHECK((result == numbers) == !is_logical);
}

TEST_CASE("A reshape fills the strides of its result", "[moves]") {
    Graph graph;
    Tensor const x = input(graph, {2, 6}, {6, 1}, DataType_t::FLOAT);
    Tensor const y = graph.reshape(x, fe::graph::Reshape_attributes().set_dim({4, 3}).set_stride({1, 4}));
    std::vector<float> numbers(12);
    std::iota(numbers.begin(), numbers.end(), 0.0f);
    bool const is_logical = GENERATE(false, true);
    if (is_logical) {
        Graph other;
        Tensor const z =
            other.reshape(input(other, {2, 6}, {6, 1}, DataType_t::FLOAT),
                          fe::graph::Reshape_attributes().set_dim({4, 3}).set_stride({1, 4}).set_reshape_mode(
                              fe::ReshapeMode_t::LOGICAL));
        CHECK(run(other, z, numbers, 12) == std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
    } else {
        CHECK(run(graph, y, numbers, 12) == numbers);  // the order in memory
    }
}

TEST_CASE("Attention takes Q, K and V from one packed tensor by slices and transposes", "[moves]") {
    constexpr std::int64_t kBatch = 2, kRows = 5, kHeads = 3, kDim = 8;
    Dims const dim{kBatch, kRows, 3, kHeads, kDim};
    std::vector<float> numbers(static_cast<std::size_t>(volume(dim)));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>((i * 37) % 101) / 50.0f - 1.0f;

    auto const types = [](Graph& graph) {
        graph.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
        graph.set_compute_data_type(DataType_t::FLOAT);
    };
    Graph moved;
    types(moved);
    Tensor const x = input(moved, dim, packed(dim), DataType_t::FLOAT);
    auto const part = [&](std::int64_t which) {
        auto const slices = fe::graph::Slice_attributes().set_slices(
            {{0, kBatch}, {0, kRows}, {which, which + 1}, {0, kHeads}, {0, kDim}});
        auto const rows = fe::graph::Reshape_attributes().set_dim({kBatch, kRows, kHeads, kDim});
        auto const turned = fe::graph::Transpose_attributes().set_permutation({0, 2, 1, 3});
        return moved.transpose(moved.reshape(moved.slice(x, slices), rows), turned);
    };
    auto const o = moved.sdpa(part(0), part(1), part(2), fe::graph::SDPA_attributes().set_causal_mask(true))[0];
    auto const count = static_cast<std::size_t>(kBatch * kRows * kHeads * kDim);

    Graph plain;  // the same by strides alone
    types(plain);
    std::int64_t const row = 3 * kHeads * kDim;
    auto const strided = [&](std::int64_t uid) {
        return plain.tensor(fe::graph::Tensor_attributes()
                                .set_uid(uid)
                                .set_dim({kBatch, kHeads, kRows, kDim})
                                .set_stride({kRows * row, kDim, row, 1}));
    };
    auto const wanted_o =
        plain.sdpa(strided(1), strided(3), strided(4), fe::graph::SDPA_attributes().set_causal_mask(true))[0];
    wanted_o->set_output(true).set_uid(2);
    REQUIRE(plain.build(fe::Target::reference()).is_good());
    std::vector<float> wanted(count);
    std::map<std::int64_t, void*> pack{{1, numbers.data()},
                                       {2, wanted.data()},
                                       {3, numbers.data() + kHeads * kDim},
                                       {4, numbers.data() + 2 * kHeads * kDim}};
    std::vector<std::byte> workspace(static_cast<std::size_t>(plain.get_workspace_size()));
    REQUIRE(plain.execute(nullptr, pack, workspace.data()).is_good());
    for (fe::Target const& target : {fe::Target::reference(), fe::Target::cpu()}) {
        auto const result = run(target, moved, o, numbers, count);
        for (std::size_t i = 0; i < count; ++i) CHECK(std::abs(result[i] - wanted[i]) < 1e-6f);
    }
}
