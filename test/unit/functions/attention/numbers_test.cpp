// Compares the results of both functions with the formula, as classes of shapes and as exact shapes, on the CPU.
#include "attention_case.h"
#include "support/catch.h"

#include <cmath>

using namespace attention_test;

namespace {

Side random_side(sdpa_test::Random& random) {
    Side side;
    side.is_packed = random.chance(0.3);
    side.has_lengths = random.chance(0.4);
    if (side.has_lengths && random.flip()) side.room = random.between(1, 5);
    return side;
}

void set_random_sequences(sdpa_test::Random& random, Case& c) {
    c.of_q = random_side(random);
    c.of_kv = random.chance(0.3) ? c.of_q : random_side(random);
    std::int64_t const most = random.chance(0.1) ? 80 : 36;
    Sequence const alike{random.chance(0.15) ? random.between(1, 3) : random.between(1, most), random.between(1, most)};
    for (std::int64_t n = random.between(1, 4); n > 0; --n) {
        Sequence sequence = alike;
        if (c.of_q.is_packed || c.of_q.has_lengths) sequence.queries = random.between(0, alike.queries);
        if (c.of_kv.is_packed || c.of_kv.has_lengths) sequence.keys = random.between(0, alike.keys);
        c.sequences.push_back(sequence);
    }
}

void set_random_tensors(sdpa_test::Random& random, Case& c) {
    c.type = random.pick({DataType_t::HALF, DataType_t::BFLOAT16});
    c.key_heads = random.between(1, 3);
    c.heads = c.key_heads * random.pick({1, 1, 2, 3});
    c.value_heads = random.chance(0.1) ? 1 : c.key_heads;
    c.width = 8 * random.between(1, 3);
    c.value_width = random.chance(0.7) ? c.width : 8 * random.between(1, 3);
    c.gap = random.chance(0.3) ? 8 : 0;
    bool const has_one_order = random.flip();
    Order const order = random.pick({Order::Bshd, Order::Bhsd, Order::Sbhd});
    auto const pick = [&] {
        return has_one_order ? order : random.pick({Order::Bshd, Order::Bshd, Order::Bhsd, Order::Sbhd});
    };
    c.orders = {pick(), pick(), pick(), pick(), pick(), pick()};
    c.gives_results = random.flip();
}

void set_random_options(sdpa_test::Random& random, Case& c) {
    if (random.chance(0.4)) c.right = 0;
    else if (random.chance(0.3)) c.right = random.between(0, 20);
    if (random.chance(0.3)) c.left = random.between(1, 30);
    c.is_bottom_right = random.chance(0.3);
    c.has_alibi = random.chance(0.15);
    c.has_sink = random.chance(0.15);
    c.is_deterministic = random.chance(0.2);
    if (random.chance(0.15)) c.softcap = 0.8f;
    // Slopes make probabilities too small for HALF, which then do not show the dropped ones.
    if (random.chance(0.2) && !(c.has_alibi && c.type == DataType_t::HALF)) c.dropout_p = 0.3f;
}

Case random_case(std::uint64_t index) {
    sdpa_test::Random random(index * 1000003);
    Case c;
    c.seed = index;
    set_random_sequences(random, c);
    set_random_tensors(random, c);
    set_random_options(random, c);
    return c;
}

void sweep(std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t index = from; index < to; ++index) {
        Case c = random_case(index);
        CHECK(faults_of(c) == "");
        c.policy = Shape_policy::EXACT;
        if (index % 3 == 0) CHECK(faults_of(c) == "");
    }
}

constexpr Order kOrders[] = {Order::Bshd, Order::Bhsd, Order::Sbhd};

}  // namespace

TEST_CASE("attention numbers: options in random company, part 1") { sweep(0, 120); }
TEST_CASE("attention numbers: options in random company, part 2") { sweep(120, 240); }
TEST_CASE("attention numbers: options in random company, part 3") { sweep(240, 360); }

TEST_CASE("attention numbers: each layout with shared heads and without") {
    for (Order const order : kOrders)
        for (std::int64_t const key_heads : {1, 2, 4}) {
            Case c{.sequences = {{21, 33}, {21, 33}, {21, 33}}, .heads = 4, .key_heads = key_heads};
            c.value_heads = key_heads;
            c.orders = {order, order, order, order, order, order};
            CHECK(faults_of(c) == "");
            c.right = 0;
            c.is_bottom_right = true;
            CHECK(faults_of(c) == "");
        }
}

// Gradients come in other layouts than outputs: that of a sum is contiguous.
TEST_CASE("attention numbers: backward drops what forward dropped, whatever the layouts of each") {
    for (Order const order : kOrders)
        for (Order const order_of_grad : kOrders)
            for (std::int64_t const key_heads : {2, 4}) {
                Case c{.sequences = {{19, 25}, {19, 25}}, .heads = 4, .key_heads = key_heads};
                c.value_heads = key_heads;
                c.orders = {order, order, order, order, order_of_grad, order_of_grad};
                c.dropout_p = 0.4f;
                for (bool const gives_results : {false, true}) {
                    c.gives_results = gives_results;
                    CHECK(faults_of(c) == "");
                    c.has_sink = !c.has_sink;
                }
            }
}

TEST_CASE("attention numbers: dropout of packed sequences") {
    Case c{.sequences = {{9, 12}, {0, 4}, {30, 1}, {5, 0}}, .heads = 4, .key_heads = 2, .value_heads = 2};
    c.of_q.is_packed = c.of_kv.is_packed = true;
    c.dropout_p = 0.4f;
    CHECK(faults_of(c) == "");
    c.of_kv = {.is_packed = false, .has_lengths = true, .room = 3};
    c.orders.v = Order::Bhsd;
    CHECK(faults_of(c) == "");
}

TEST_CASE("attention numbers: one query, and lengths of 0, 1, 64 and 65 on either side") {
    Case c;
    c.of_q.is_packed = c.of_kv.is_packed = true;
    for (std::int64_t const queries : {0, 1, 64, 65})
        for (std::int64_t const keys : {0, 1, 64, 65}) c.sequences.push_back({queries, keys});
    CHECK(faults_of(c) == "");
    c.of_q = c.of_kv = {.is_packed = false, .has_lengths = true};
    c.orders.k = Order::Bhsd;
    c.right = 0;
    CHECK(faults_of(c) == "");
    Case decode{.sequences = {{1, 100}, {1, 7}, {1, 64}}, .of_kv = {.is_packed = false, .has_lengths = true}};
    CHECK(faults_of(decode) == "");
}

TEST_CASE("attention numbers: no queries or no keys at all") {
    for (bool const is_packed : {false, true})
        for (Sequence const size : {Sequence{0, 5}, {5, 0}, {0, 0}}) {
            Case c{.sequences = {size, size}};
            c.of_q.is_packed = c.of_kv.is_packed = is_packed;
            for (bool const gives_results : {false, true}) {
                c.gives_results = gives_results;
                CHECK(faults_of(c) == "");
            }
        }
}

TEST_CASE("attention numbers: the reference target") {
    for (Shape_policy const policy : {Shape_policy::CLASSES, Shape_policy::EXACT})
        for (Order const order : {Order::Bshd, Order::Bhsd}) {
            Case c{.sequences = {{9, 12}, {3, 12}}, .of_q = {.is_packed = false, .has_lengths = true, .room = 1}};
            c.orders.q = c.orders.o = order;
            c.left = 5;
            c.policy = policy;
            c.target = cudnn_frontend::Target::reference();
            CHECK(faults_of(c) == "");
        }
}
