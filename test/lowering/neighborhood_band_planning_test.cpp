// Neighborhood attention along a line on cuDNN's engines, planned for an H200 on machines without a GPU.
#include "lowering/has_cudnn.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

using namespace cudnn_frontend;
using graph::Graph;
using graph::Tensor_attributes;
using Dims = std::vector<std::int64_t>;

namespace {

struct Line {
    std::int64_t batches, heads, tokens, columns, kernel, dilation = 1;
    bool is_causal = false;
    DataType_t type = DataType_t::BFLOAT16;
    float scale = 0.125f;
};

class LineGraph {
   public:
    LineGraph(Line const& line, bool is_backward) : line_(line) {
        graph.set_io_data_type(line.type)
            .set_intermediate_data_type(DataType_t::FLOAT)
            .set_compute_data_type(DataType_t::FLOAT);
        if (is_backward) add_backward();
        else add_forward();
    }

    // The name of the first plan.
    std::string plan() {
        std::string name;
        REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
        REQUIRE(graph.get_plan_name(name).get_message() == "");
        return name;
    }

    Graph graph;

   private:
    using TensorPtr = std::shared_ptr<Tensor_attributes>;

    TensorPtr input(char const* name, bool has_columns = true) {
        Dims dim{line_.batches, line_.tokens, line_.heads}, stride{line_.tokens * line_.heads, line_.heads, 1};
        if (has_columns) {
            for (std::int64_t& each : stride) each *= line_.columns;
            dim.push_back(line_.columns), stride.push_back(1);
        }
        return graph.tensor(Tensor_attributes().set_name(name).set_dim(dim).set_stride(stride).set_data_type(
            has_columns ? line_.type : DataType_t::FLOAT));
    }
    template <class Options>
    Options windows() const {
        return Options()
            .set_name("na")
            .set_kernel_size({line_.kernel})
            .set_dilation({line_.dilation})
            .set_is_causal({line_.is_causal})
            .set_attn_scale(line_.scale);
    }
    void add_forward() {
        auto const options = windows<graph::Neighborhood_attributes>().set_generate_stats(true);
        auto const results = graph.neighborhood_attention(input("Q"), input("K"), input("V"), options);
        for (TensorPtr const& result : results) result->set_output(true);
    }
    void add_backward() {
        auto const options = windows<graph::Neighborhood_backward_attributes>();
        auto const gradients = graph.neighborhood_attention_backward(input("Q"), input("K"), input("V"), input("O"),
                                                                     input("dO"), input("Stats", false), options);
        for (TensorPtr const& gradient : gradients) gradient->set_output(true);
    }

    Line line_;
};

std::string plan_of(Line const& line, bool is_backward) { return LineGraph(line, is_backward).plan(); }

// The plan of a line as a band, also where that is not faster.
std::string band_of(Line const& line, bool is_backward) {
    LineGraph all(line, is_backward);
    all.graph.set_rewrites({Rewrite_t::NEIGHBORHOOD_BAND});
    return all.plan();
}

// The engines of a program's parts; of another plan, its name.
std::vector<std::string> engines_of(std::string const& plan) {
    std::string const prefix = "program neighborhood_band: ";
    if (!plan.starts_with(prefix)) return {plan};
    std::vector<std::string> engines{""};
    for (char const c : plan.substr(prefix.size())) {
        if (c == ' ') engines.emplace_back();
        else engines.back() += c;
    }
    return engines;
}

bool are_of_cudnn(std::vector<std::string> const& engines) {
    return std::ranges::all_of(engines, [](std::string const& name) { return name.starts_with("eng"); });
}

Line const kSpeech{2, 16, 16384, 64, 257};

// Times in microseconds, as the report of candidates has them.
struct Expected {
    double band, given;
};

Expected expected_of(LineGraph const& line) {
    std::string text;
    REQUIRE(line.graph.print_candidates(text).is_good());
    CAPTURE(text);
    Expected expected{};
    std::size_t const start = text.find("neighborhood_band: about ");
    REQUIRE(start != text.npos);
    REQUIRE(std::sscanf(text.c_str() + start, "neighborhood_band: about %lf us, as given: about %lf us", &expected.band,
                        &expected.given) == 2);
    return expected;
}

}  // namespace

TEST_CASE("AUTO takes cuDNN's engines for long lines whose rows are too wide for kernels on matrix units",
          "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Line wide = kSpeech;
    wide.columns = 136;
    auto const engines = engines_of(plan_of(wide, false));
    CAPTURE(engines);
    CHECK(engines.size() == 2);  // both borders are one attention
    CHECK(are_of_cudnn(engines));
}

TEST_CASE("AUTO chooses between cuDNN's engines and the library's kernels by what either are expected to take",
          "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Line large = kSpeech, dilated = kSpeech;
    large.kernel = 2049;
    dilated.dilation = 8;
    int bands = 0, kernels = 0;
    for (Line const& line : {kSpeech, large, dilated, Line{2, 16, 16384, 128, 2049}}) {
        for (bool const is_backward : {false, true}) {
            CAPTURE(line.kernel, line.dilation, is_backward);
            LineGraph planned(line, is_backward);
            std::string const name = planned.plan();
            auto const [band, given] = expected_of(planned);
            CAPTURE(name, band, given);
            bool const is_band = are_of_cudnn(engines_of(name));
            CHECK(is_band == (band < 0.85 * given));
            ++(is_band ? bands : kernels);
        }
    }
    CHECK((bands > 0 && kernels > 0));
}

TEST_CASE("lines of both 16-bit types, causal, and with groups of two lengths run on cuDNN's engines", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    for (DataType_t const type : {DataType_t::HALF, DataType_t::BFLOAT16}) {
        for (bool const is_backward : {false, true}) {
            Line causal{2, 4, 8192, 128, 512, 1, true, type}, uneven{2, 4, 8195, 128, 512, 4, false, type};
            CAPTURE(static_cast<int>(type), is_backward);
            auto const of_causal = engines_of(band_of(causal, is_backward));
            auto const of_uneven = engines_of(band_of(uneven, is_backward));
            CAPTURE(of_causal, of_uneven);
            CHECK(of_causal.size() == 1);
            CHECK(of_uneven.size() == 6);
            CHECK((are_of_cudnn(of_causal) && are_of_cudnn(of_uneven)));
        }
    }
}

TEST_CASE("AUTO keeps the library's kernels where a band does not pay, and where nothing is known", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    for (bool const is_backward : {false, true}) {
        CHECK(plan_of({2, 16, 16384, 64, 7}, is_backward) == "neighborhood_warpgroups");
    }
    CHECK(plan_of({1, 4, 1024, 64, 33}, false) == "neighborhood_warpgroups");
    CHECK(plan_of({2, 16, 16384, 64, 257, 1, false, DataType_t::FLOAT}, false) == "neighborhood_tokens");
    LineGraph elsewhere(kSpeech, false);
    std::string name;
    REQUIRE(elsewhere.graph.build(Target::offline("a100")).get_message() == "");
    REQUIRE(elsewhere.graph.get_plan_name(name).is_good());
    CHECK(name == "neighborhood_tiles");
    LineGraph off(kSpeech, true);
    off.graph.set_rewrites(RewritePolicy_t::OFF);
    CHECK(off.plan() == "neighborhood_warpgroups");
}

TEST_CASE("a band whose bits may differ between runs is left to the library's kernels on request", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    for (bool const is_backward : {false, true}) {
        LineGraph line(kSpeech, is_backward);
        line.graph.deselect_numeric_notes({NumericalNote_t::NONDETERMINISTIC});
        std::string const plan = line.plan();
        CHECK(plan == (is_backward ? "neighborhood_tiles" : "neighborhood_warpgroups"));
        bool is_deterministic = false;
        REQUIRE(line.graph.get_is_deterministic(is_deterministic).is_good());
        CHECK(is_deterministic);
    }
}

TEST_CASE("a listed band is tried where it is not expected to pay, and refused to what it is not for", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    CHECK(are_of_cudnn(engines_of(band_of({1, 4, 1024, 64, 33}, true))));
    CHECK(band_of({1, 4, 1024, 64, 1}, true) == "neighborhood_warpgroups");
}

TEST_CASE("a stored band is loaded for a GPU of the kind", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    for (bool const is_backward : {false, true}) {
        LineGraph line(kSpeech, is_backward);
        line.graph.set_rewrites({Rewrite_t::NEIGHBORHOOD_BAND});
        std::string const planned = line.plan();
        CHECK(are_of_cudnn(engines_of(planned)));
        std::vector<std::uint8_t> bytes;
        REQUIRE(line.graph.serialize(bytes).get_message() == "");
        Graph loaded;
        loaded.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("h200")));
        REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
        std::string name;
        REQUIRE(loaded.get_plan_name(name).is_good());
        CHECK(name == planned);
        CHECK(loaded.get_workspace_size() == line.graph.get_workspace_size());
    }
}

TEST_CASE("cuDNN refuses the parts of a band with a scale below 0, and the library's kernels run it", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Line negative = kSpeech;
    negative.scale = -0.125f;
    for (bool const is_backward : {false, true}) CHECK(plan_of(negative, is_backward) == "neighborhood_warpgroups");
}
