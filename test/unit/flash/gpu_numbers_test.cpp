// Results of calls as on a GPU: of its tensors, classes and work on rows, with attention itself on the CPU.
#include "flash_case.h"
#include "support/catch.h"

using namespace flash_test;
using sdpa_graph::Shape_policy;

namespace {

// Some sequences have no queries, some no keys, some more queries than keys.
std::vector<Sequence> sequences(sdpa_test::Random& random) {
    std::vector<Sequence> all{{5, 9}};
    for (std::int64_t n = random.between(1, 5); n > 0; --n)
        all.push_back({random.chance(0.2) ? 0 : random.between(1, 40), random.chance(0.2) ? 0 : random.between(1, 40)});
    return all;
}

Case random_case(std::uint64_t seed) {
    sdpa_test::Random random(seed);
    Case c{.is_as_on_gpu = true, .seed = seed};
    c.is_packed = random.flip();
    c.is_causal = random.flip();
    if (random.chance(0.3)) c.left = static_cast<int>(random.between(0, 9));
    if (random.chance(0.3)) c.right = static_cast<int>(random.between(0, 9));
    c.type = random.pick({DataType_t::HALF, DataType_t::BFLOAT16});
    c.key_heads = random.between(1, 3);
    c.heads = c.key_heads * random.between(1, 3);
    c.dims_of_slopes = random.chance(0.3) ? static_cast<int>(random.between(1, 2)) : 0;
    c.p_dropout = random.chance(0.3) ? 0.3f : 0.0f;
    c.zero_tensors = random.flip();
    Sequence const size{random.between(1, 40), random.between(1, 40)};
    c.sequences = c.is_packed ? sequences(random) : std::vector<Sequence>(2, size);
    c.has_shared_totals = c.is_packed && random.chance(0.3);
    c.has_log_sums_by_row = random.flip();
    c.shape_policy =
        random.pick({Shape_policy::EXACT, Shape_policy::CLASSES, Shape_policy::AUTO, Shape_policy::ALL_SHAPES});
    for (Sequence& sequence : c.sequences)
        if (c.has_shared_totals) sequence.keys = sequence.queries;
    return c;
}

}  // namespace

TEST_CASE("flash numbers: as on a GPU, in random company") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) CHECK(faults_of(random_case(seed)) == "");
}

TEST_CASE("flash numbers: as on a GPU, causal sequences with as many queries as keys have a plan of their own") {
    Case c{.sequences = {{520, 520}, {7, 7}, {300, 520}, {520, 9}, {0, 0}, {0, 3}, {4, 0}}, .is_packed = true};
    c.heads = 4, c.is_causal = true, c.is_as_on_gpu = true;
    CHECK(faults_of(c) == "");
    c.left = 100;
    CHECK(faults_of(c) == "");
    c.p_dropout = 0.2f;
    c.dims_of_slopes = 1;
    CHECK(faults_of(c) == "");
}

TEST_CASE("flash works: one before the graph and one after it, where rows need them") {
    using Names = std::vector<std::string>;
    Case padded{.sequences = {{4, 4}}, .is_causal = true, .is_as_on_gpu = true};
    padded.shape_policy = Shape_policy::EXACT;
    CHECK(works_of(padded) == Names{"softmax_d"});
    padded.sequences = {{4, 3}};  // no key is visible to the first query
    CHECK(works_of(padded) == Names{"forward_end", "backward_end", "softmax_d"});
    padded.shape_policy = Shape_policy::AUTO;
    CHECK(works_of(padded) == Names{"forward_start", "forward_end", "backward_start", "backward_end", "softmax_d"});
    padded.sequences = {{4, 4}};
    padded.has_log_sums_by_row = true;
    CHECK(works_of(padded) == Names{"forward_start", "backward_start", "softmax_d"});
    Case packed{.sequences = {{4, 4}, {3, 3}}, .is_packed = true, .is_causal = true, .is_as_on_gpu = true};
    CHECK(works_of(packed) == Names{"forward_start", "forward_end", "backward_start", "backward_end", "softmax_d"});
    packed.has_shared_totals = true;  // the key at its own position is visible to every query
    CHECK(works_of(packed) == Names{"forward_start", "forward_end", "backward_start", "softmax_d"});
    packed.has_log_sums_by_row = true;
    CHECK(works_of(packed) == Names{"forward_start", "backward_start", "softmax_d"});
    Case decoding{.sequences = {{1, 300}, {1, 7}}, .is_packed = true, .page_rows = 256, .is_as_on_gpu = true};
    CHECK(works_of(decoding) == Names{"forward_start", "forward_end"});
}

TEST_CASE("flash numbers: as on a GPU, one query over pages") {
    for (std::int64_t const page_rows : {256, 768})
        for (std::int64_t const queries : {0, 1}) {
            Case c{.sequences = {{1, 300}, {queries, 7}, {1, 0}, {1, 800}}, .is_packed = true, .heads = 4};
            c.is_as_on_gpu = true;
            c.page_rows = page_rows;
            CHECK(faults_of(c) == "");
            c.used = {256, 1, 0, 799};
            c.left = 40;
            CHECK(faults_of(c) == "");
            c.dims_of_slopes = 2;  // these are not gathered
            CHECK(faults_of(c) == "");
        }
}
