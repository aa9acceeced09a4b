// The expected times of kernels, by figures that are easy to calculate with.
#include "kernels/kernel_costs.h"

#include "api/graph/graph_impl.h"
#include "kernels/neighborhood/neighborhood_tiling.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>

#include <string>
#include <utility>
#include <vector>

using namespace cudnn_frontend;
using kernels::NeighborhoodForm;
using Dims = std::vector<std::int64_t>;

namespace {

constexpr int kMultiprocessors = 132;
constexpr kernels::DeviceFacts kHopper{90, kMultiprocessors}, kBlackwell{100, kMultiprocessors};

constexpr char kText[] = R"(# a GPU
start 5
bandwidth 1e6
neighborhood_tiles_forward_stage 0.5
neighborhood_tiles_forward_width 0.01
neighborhood_tiles_forward_extra 4
neighborhood_tiles_backward_stage 1
neighborhood_tiles_backward_width 0.02
neighborhood_tiles_backward_extra 2
neighborhood_warpgroups_forward_stage 0.25
neighborhood_warpgroups_forward_width 0.005
neighborhood_warpgroups_forward_extra 3
neighborhood_warpgroups_backward_stage 0.75
neighborhood_warpgroups_backward_width 0.01
neighborhood_warpgroups_backward_extra 1
)";

kernels::KernelRates rates() { return *kernels::read_rates(kText); }

// The text without one line.
std::string text_without(std::string const& name) {
    std::string text = kText;
    std::size_t const start = text.find(name + ' ');
    REQUIRE(start != text.npos);
    return text.erase(start, text.find('\n', start) + 1 - start);
}

struct Sizes {
    std::int64_t batches = 2, heads = 16;
    Dims space{16384}, kernel{257};
    std::int64_t columns = 64;
    Dims dilation{1};
    DataType_t type = DataType_t::BFLOAT16;
};

class Neighborhoods {
   public:
    explicit Neighborhoods(Sizes sizes) : sizes_(std::move(sizes)) {
        graph_.set_io_data_type(sizes_.type)
            .set_intermediate_data_type(DataType_t::FLOAT)
            .set_compute_data_type(DataType_t::FLOAT);
    }

    nodes::ValidatedGraph forward() {
        auto const [o, stats] = graph_.neighborhood_attention(input("Q"), input("K"), input("V"),
                                                              windows<graph::Neighborhood_attributes>());
        o->set_output(true);
        return validated();
    }
    nodes::ValidatedGraph backward() {
        auto const gradients = graph_.neighborhood_attention_backward(
            input("Q"), input("K"), input("V"), input("O"), input("dO"), input("Stats", false),
            windows<graph::Neighborhood_backward_attributes>());
        for (auto const& gradient : gradients) gradient->set_output(true);
        return validated();
    }

   private:
    std::shared_ptr<graph::Tensor_attributes> input(char const* name, bool has_columns = true) {
        Dims dim{sizes_.batches};
        dim.insert(dim.end(), sizes_.space.begin(), sizes_.space.end());
        dim.push_back(sizes_.heads);
        if (has_columns) dim.push_back(sizes_.columns);
        return graph_.tensor(graph::Tensor_attributes()
                                 .set_name(name)
                                 .set_dim(dim)
                                 .set_stride(core::packed_strides(dim))
                                 .set_data_type(has_columns ? sizes_.type : DataType_t::FLOAT));
    }
    template <class Options>
    Options windows() const {
        return Options().set_name("na").set_kernel_size(sizes_.kernel).set_dilation(sizes_.dilation);
    }
    nodes::ValidatedGraph validated() {
        REQUIRE(graph_.validate().get_message() == "");
        return *nodes::validate(detail::Graph_access::snapshot(graph_).spec).graph;
    }

    Sizes sizes_;
    graph::Graph graph_;
};

nodes::ValidatedGraph forward(Sizes const& sizes = {}) { return Neighborhoods(sizes).forward(); }
nodes::ValidatedGraph backward(Sizes const& sizes = {}) { return Neighborhoods(sizes).backward(); }

std::optional<double> cost(nodes::ValidatedGraph const& graph, NeighborhoodForm form,
                           kernels::KernelRates const& by = rates(), int multiprocessors = kMultiprocessors) {
    auto const steps = kernels::neighborhood_steps(graph, form);
    REQUIRE(steps.error().get_message() == "");
    return kernels::neighborhood_cost(steps.value(), by, multiprocessors);
}

double known_cost(nodes::ValidatedGraph const& graph, NeighborhoodForm form, int multiprocessors = kMultiprocessors) {
    auto const known = cost(graph, form, rates(), multiprocessors);
    REQUIRE(known.has_value());
    return *known;
}

}  // namespace

TEST_CASE("blocks by tiles go through the rows that 64 tokens see, in rounds over the multiprocessors") {
    // 8,192 tiles in 63 rounds; 64 - 1 + 257 rows are 5 stages.
    CHECK(known_cost(forward(), NeighborhoodForm::Tiles) == Approx(5 + 63 * (4 + 5) * (0.5 + 0.01 * 64)));
    CHECK(known_cost(backward(), NeighborhoodForm::Tiles) == Approx(2 * 5 + 63 * (2 + 5) * (1 + 0.02 * 64)));
    CHECK(known_cost(forward(), NeighborhoodForm::Tiles, 66) == Approx(5 + 125 * (4 + 5) * (0.5 + 0.01 * 64)));
}

TEST_CASE("blocks by warpgroups go through the rows that 128 tokens see") {
    // 4,096 tiles in 32 rounds; 128 - 1 + 257 rows are 6 stages.
    CHECK(known_cost(forward(), NeighborhoodForm::Warpgroups) == Approx(5 + 32 * (3 + 6) * (0.25 + 0.005 * 64)));
}

TEST_CASE("forms that pack no places have a cost where those of tiles do not fit a word") {
    Sizes const large{.batches = 1, .heads = 1, .space = {65536, 4096}, .kernel = {7, 7}, .dilation = {1, 1}};
    auto const steps = kernels::neighborhood_steps(forward(large), NeighborhoodForm::Warpgroups);
    REQUIRE(steps.error().get_message() == "");
    CHECK(kernels::tiles_of(steps.value().steps.front().problem, NeighborhoodForm::Tiles).guards == 0);
    for (NeighborhoodForm const form : {NeighborhoodForm::Warpgroups, NeighborhoodForm::Tokens}) {
        CHECK(known_cost(forward(large), form) > 0.0);
    }
}

TEST_CASE("backward by warpgroups has two passes over rows, too, which take what memory takes") {
    double const tokens = 2 * 16 * 16384, columns = 64;
    double const stats = 4, statistics = 2 * 4, start = 2 + 2 + 4, end = 4 + 2;  // bytes: O, dO, the sums; these, dQ
    double const moved = tokens * (stats + statistics + columns * (start + end));
    CHECK(known_cost(backward(), NeighborhoodForm::Warpgroups) ==
          Approx(3 * 5 + 32 * (1 + 6) * (0.75 + 0.01 * 64) + moved / 1e6));
}

TEST_CASE("tokens of other groups of a dilation are in other tiles, and see no more than their group has") {
    Sizes dilated;
    dilated.space = {2400};
    dilated.dilation = {8};
    // 8 groups of 300 tokens, each in 5 tiles and in 5 stages: 1,280 tiles in 10 rounds. With 128 tokens: 768, in 6.
    CHECK(known_cost(forward(dilated), NeighborhoodForm::Tiles) == Approx(5 + 10 * (4 + 5) * (0.5 + 0.01 * 64)));
    CHECK(known_cost(forward(dilated), NeighborhoodForm::Warpgroups) == Approx(5 + 6 * (3 + 5) * (0.25 + 0.005 * 64)));
}

TEST_CASE("tiles of an image see rows around them on both axes") {
    Sizes const image{.batches = 8, .heads = 12, .space = {64, 64}, .kernel = {7, 7}, .dilation = {1, 1}};
    // 6,144 tiles of 8 by 8 tokens in 47 rounds; 14 by 14 rows, fewer at the ends, are 3 stages.
    CHECK(known_cost(forward(image), NeighborhoodForm::Tiles) == Approx(5 + 47 * (4 + 3) * (0.5 + 0.01 * 64)));
}

TEST_CASE("by tokens the same work takes 13 times as long") {
    Sizes odd;
    odd.columns = 12;
    CHECK(known_cost(forward(odd), NeighborhoodForm::Tokens) == Approx(5 + 13 * 63 * (4 + 5) * (0.5 + 0.01 * 12)));
}

TEST_CASE("nothing is known of FLOAT, nor of a form that was not measured") {
    Sizes wide;
    wide.type = DataType_t::FLOAT;
    CHECK_FALSE(cost(forward(wide), NeighborhoodForm::Tokens));
    auto const only_tiles = kernels::read_rates(text_without("neighborhood_warpgroups_backward_extra"));
    REQUIRE(only_tiles);
    CHECK(cost(backward(), NeighborhoodForm::Tiles, *only_tiles) == known_cost(backward(), NeighborhoodForm::Tiles));
    CHECK_FALSE(cost(backward(), NeighborhoodForm::Warpgroups, *only_tiles));
    auto const only_groups = kernels::read_rates(text_without("neighborhood_tiles_forward_stage"));
    REQUIRE(only_groups);
    CHECK_FALSE(cost(forward(), NeighborhoodForm::Tiles, *only_groups));
    CHECK(cost(forward(), NeighborhoodForm::Warpgroups, *only_groups));
}

TEST_CASE("kernels have no rates without the time of a start or without the bandwidth") {
    CHECK_FALSE(kernels::read_rates(text_without("start")));
    CHECK_FALSE(kernels::read_rates(text_without("bandwidth")));
    CHECK_FALSE(kernels::read_rates(""));
}

TEST_CASE("a graph costs what the best form takes that has no reason against it") {
    kernels::KernelCosts const hopper(rates(), kHopper, kMultiprocessors),
        blackwell(rates(), kBlackwell, kMultiprocessors);
    for (auto const& graph : {forward(), backward()}) {
        CHECK(hopper.of(graph) == known_cost(graph, NeighborhoodForm::Warpgroups));
        CHECK(blackwell.of(graph) == known_cost(graph, NeighborhoodForm::Tiles));
    }
    Sizes odd;
    odd.columns = 12;
    CHECK(hopper.of(forward(odd)) == known_cost(forward(odd), NeighborhoodForm::Tokens));
}

TEST_CASE("a joint costs a start and what memory takes") {
    rewrite::View const terms{.type = DataType_t::FLOAT, .dim = {2, 1000, 500}, .stride = {500000, 500, 1}};
    rewrite::View const result{.type = DataType_t::HALF, .dim = {1000, 500}, .stride = {500, 1}};
    kernels::KernelCosts const costs(rates(), kHopper, kMultiprocessors);
    CHECK(*costs.of(rewrite::Sum{terms, result}) == Approx(5 + (2 * 4 + 2) * 500000 / 1e6));
}
