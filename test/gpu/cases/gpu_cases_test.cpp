// The foundations of the GPU suite, tested without a GPU.
#include "gpu/cases/rewritten_gpu_case.h"
#include "gpu/cases/support_matrix_file.h"

#include "support/catch.h"

using namespace sdpa_test;

namespace {

constexpr char const* kMatrix =
    "# Support matrix\n\ncuDNN 9.19.0, asked offline.\n\n"
    "| option | forward 8.0 | forward 9.0 | backward 8.0 | backward 9.0 |\n"
    "|---|---|---|---|---|\n"
    "| plain | yes | **yes** | s24 | **yes** |\n"
    "| pages | yes | s22 s89\\* |  |  |\n"
    "| block mask | **?** | yes | yes | yes |\n";

}  // namespace

TEST_CASE("a range of random cases is a count, or the first one and the one behind the last", "[gpu]") {
    auto const range = [](char const* text) {
        auto const found = case_range(text);
        return found ? std::to_string(found->first) + " " + std::to_string(found->end) : "none";
    };
    CHECK(range("300") == "0 300");
    CHECK(range("0") == "0 0");
    CHECK(range("1000-2000") == "1000 2000");
    for (char const* const text : {"", "-", "5-", "-5", "9-5", "many", "5x", "1-2-3", " 5"}) {
        INFO(text);
        CHECK(range(text) == "none");
    }
}

TEST_CASE("a random case of the GPU suite is the same in every range that has it", "[gpu]") {
    auto const whole = random_gpu_groups({0, 40}), part = random_gpu_groups({17, 31});
    REQUIRE(part[0].cases.size() == 14);
    REQUIRE(part[1].cases.size() == 3);  // 20, 25, 30
    for (std::size_t i = 0; i < 14; ++i) CHECK(describe(part[0].cases[i]) == describe(whole[0].cases[17 + i]));
    for (std::size_t i = 0; i < 3; ++i) CHECK(describe(part[1].cases[i]) == describe(whole[1].cases[4 + i]));
    CHECK(describe(part[0].cases[0]) == describe(random_gpu_case(17)));
    CHECK(describe(part[0].cases[0]) != describe(part[0].cases[1]));
}

TEST_CASE("a case that is rewritten is the same in every range that has it, and stands for every second number",
          "[gpu]") {
    auto const whole = rewritten_gpu_groups({0, 40}), part = rewritten_gpu_groups({17, 31});
    REQUIRE(whole.size() == 4);
    for (std::size_t group = 0; group < 4; ++group) {
        REQUIRE(whole[group].rewriting);
        REQUIRE(whole[group].cases.size() == 20);
        REQUIRE(part[group].cases.size() == 7);  // 18, 20, ..., 30
        for (std::size_t i = 0; i < 7; ++i) {
            CHECK(describe(part[group].cases[i]) == describe(whole[group].cases[9 + i]));
        }
    }
    CHECK(rewritten_gpu_groups({46, 47})[1].cases.size() == 1);
}

TEST_CASE("a column of the support matrix says which limits refuse a pass", "[gpu]") {
    auto const ampere = SupportMatrixColumn::read(kMatrix, "9.19.0", "8.0");
    auto const hopper = SupportMatrixColumn::read(kMatrix, "9.19.0", "9.0");
    REQUIRE(ampere);
    REQUIRE(hopper);
    CHECK(ampere->limits_of("plain", false) == "");
    CHECK(ampere->limits_of("plain", true) == "s24");
    CHECK(hopper->limits_of("plain", true) == "");
    CHECK(hopper->limits_of("pages", false) == "s22 s89");
    CHECK(hopper->limits_of("pages", true) == std::nullopt);
    CHECK(ampere->limits_of("block mask", false) == std::nullopt);
    CHECK(hopper->limits_of("a group that no row has", false) == std::nullopt);
    CHECK(!SupportMatrixColumn::read(kMatrix, "9.19.0", "8.6"));
    CHECK(!SupportMatrixColumn::read(kMatrix, "9.14.0", "9.0"));
}

TEST_CASE("the matrices of docs/ are found by version and architecture", "[gpu]") {
    for (std::size_t const version : {91400, 91900}) {
        for (int const capability : {80, 89, 90, 100, 120}) {
            INFO(version << " " << capability);
            auto const column = SupportMatrixColumn::find(version, capability);
            REQUIRE(column);
            CHECK(column->limits_of("plain", false) == "");
        }
    }
    CHECK(SupportMatrixColumn::find(91400, 120)->limits_of("FP8", false) == "s40");
    CHECK(SupportMatrixColumn::find(91900, 120)->limits_of("FP8", false) == "");
    CHECK(!SupportMatrixColumn::find(91900, 86));
    CHECK(!SupportMatrixColumn::find(91901, 90));
}
