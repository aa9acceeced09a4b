#include "plan/packs/overlap.h"

#include "support/catch.h"
#include "support/random.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <set>
#include <string>
#include <vector>

using namespace cudnn_frontend;
using plan::Slot;

namespace {

Slot make_slot(core::Dims dim, core::Dims stride) {
    std::int64_t const span = *core::span_of(dim, stride) * 4;
    return {0, "t", true, false, 4, 4, span, std::move(dim), std::move(stride)};
}

std::set<std::int64_t> elements(Slot const& slot, std::int64_t start) {
    std::set<std::int64_t> indices;
    for (std::int64_t a = 0; a < slot.dim[0]; ++a) {
        for (std::int64_t b = 0; b < slot.dim[1]; ++b) {
            for (std::int64_t c = 0; c < slot.dim[2]; ++c) {
                indices.insert(start + a * slot.stride[0] + b * slot.stride[1] + c * slot.stride[2]);
            }
        }
    }
    return indices;
}

bool share_by_enumeration(Slot const& a, std::int64_t a_start, Slot const& b, std::int64_t b_start) {
    auto const in_a = elements(a, a_start);
    for (std::int64_t const index : elements(b, b_start)) {
        if (in_a.contains(index)) return true;
    }
    return false;
}

// Rows of both tensors in one buffer, with as many elements between them as there may be.
Slot ragged_slot(std::int64_t heads, std::int64_t row) {
    Slot slot = make_slot({4, heads, 3, 2}, {1, 2, row, 1});
    slot.offset_slot = 0;
    slot.offset_unit = 4;
    return slot;
}

plan::PackedSequences random_sequences(sdpa_test::Random& random, std::int64_t row) {
    plan::PackedSequences sequences;
    std::int64_t start = random.between(0, 2) * row;
    for (int b = 0; b < 4; ++b) {
        sequences.push_back({start, random.between(0, 3)});
        start += (sequences.back().rows + random.between(0, 3)) * row;
    }
    return sequences;
}

std::set<std::int64_t> elements(Slot const& ragged, plan::PackedSequences const& sequences, std::int64_t first) {
    std::set<std::int64_t> indices;
    for (plan::PackedSequence const& sequence : sequences) {
        for (std::int64_t i = 0; i < sequence.rows; ++i) {
            for (std::int64_t e = 0; e < ragged.dim[1] * 2; ++e) {
                indices.insert(first + sequence.start + i * ragged.stride[2] + e);
            }
        }
    }
    return indices;
}

bool have_common(std::set<std::int64_t> const& a, std::set<std::int64_t> const& b) {
    return std::ranges::any_of(a, [&](std::int64_t index) { return b.contains(index); });
}

}  // namespace

TEST_CASE("ragged tensors share memory exactly when rows of their sequences do") {
    sdpa_test::Random random(11);
    float memory[1] = {};
    char* const base = reinterpret_cast<char*>(memory);
    int sharing = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        std::int64_t const heads = random.between(1, 2), others = random.between(1, 2), row = (heads + others) * 2;
        Slot const a = ragged_slot(heads, row), b = ragged_slot(others, row);
        auto const in_a = random_sequences(random, row), in_b = random_sequences(random, row);
        std::int64_t const distance = random.between(0, 3 * row);
        bool const expected = have_common(elements(a, in_a, 0), elements(b, in_b, distance));
        CAPTURE(trial, heads, others, distance);
        REQUIRE(plan::share_memory({a, base, in_a}, {b, base + distance * 4, in_b}) == expected);
        REQUIRE(plan::share_memory({b, base + distance * 4, in_b}, {a, base, in_a}) == expected);
        sharing += expected;
    }
    CHECK(sharing > 300);
    CHECK(sharing < 2700);
}

TEST_CASE("a ragged tensor and a dense one share memory where a sequence reaches into it") {
    char memory[1] = {};
    Slot const ragged = ragged_slot(2, 4), dense = make_slot({1, 1, 2}, {2, 2, 1});
    plan::PackedSequences const sequences{{0, 1}, {8, 0}, {8, 2}, {20, 1}};
    std::set<std::int64_t> const taken = elements(ragged, sequences, 0);
    for (std::int64_t at = 0; at < 30; ++at) {
        CAPTURE(at);
        bool const expected = taken.contains(at) || taken.contains(at + 1);
        CHECK(plan::share_memory({ragged, memory, sequences}, {dense, memory + at * 4, {}}) == expected);
    }
}

TEST_CASE(
    "of ragged tensors whose offsets cannot be read, those with the same ones are told apart by their first row") {
    std::int32_t offsets[5] = {}, same_offsets[5] = {};
    std::byte memory[64] = {};
    Slot const offset = make_slot({5, 1, 1, 1}, {1, 1, 1, 1});
    std::vector<Slot> slots{offset, offset, ragged_slot(1, 4), ragged_slot(1, 4)};
    slots[0].is_written = slots[1].is_written = slots[3].is_written = false;
    auto const text = [&](std::ptrdiff_t bytes) {
        std::vector<void*> const pointers{offsets, same_offsets, memory, memory + bytes};
        return plan::check_overlap(slots, pointers).get_message();
    };
    std::string const shared =
        "[run.r08] tensor 't': found uid 0 written to memory that it shares with tensor 't' (uid 0); expected memory "
        "of "
        "its own. Try: give each its own.";
    CHECK(text(0) == shared);
    CHECK(text(4) == shared);
    CHECK(text(8) == "");  // next to each other in rows of 4
    slots[3].offset_slot = 1;
    CHECK(text(0) == "");  // other offsets may lead elsewhere
    slots[3].offset_slot = 0;
    slots[3].offset_unit = 8;
    CHECK(text(0) == "");
}

TEST_CASE("tensors of one layout share memory exactly when they have an element in common") {
    sdpa_test::Random random(7);
    float memory[1] = {};
    char* const base = reinterpret_cast<char*>(memory);
    int sharing = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        std::int64_t const inner = random.between(1, 4), middle = random.between(1, 4);
        core::Dims const stride{inner * 2 * middle * 2, inner * 2, 1};
        Slot const a = make_slot({random.between(1, 3), middle, inner}, stride);
        Slot const b = make_slot({random.between(1, 3), random.between(1, middle), random.between(1, inner)}, stride);
        std::int64_t const distance = random.between(0, 40);
        bool const expected = share_by_enumeration(a, 0, b, distance);
        CAPTURE(core::to_string(a.dim), core::to_string(b.dim), core::to_string(stride), distance);
        REQUIRE(plan::share_memory(a, base, b, base + distance * 4) == expected);
        REQUIRE(plan::share_memory(b, base + distance * 4, a, base) == expected);
        sharing += expected;
    }
    CHECK(sharing > 300);
    CHECK(sharing < 2700);
}

TEST_CASE("dense tensors share memory when their ranges overlap") {
    Slot const a = make_slot({1, 2, 8}, {16, 8, 1}), b = make_slot({1, 4, 4}, {16, 4, 1});
    float memory[64] = {};
    CHECK(plan::share_memory(a, memory, b, memory + 15));
    CHECK_FALSE(plan::share_memory(a, memory, b, memory + 16));
    CHECK(plan::share_memory(b, memory + 15, a, memory));
}

TEST_CASE("tensors of different layouts with gaps never share memory unseen") {
    sdpa_test::Random random(11);
    float memory[1] = {};
    char* const base = reinterpret_cast<char*>(memory);
    int sharing = 0, told_apart = 0;
    for (int trial = 0; trial < 5000; ++trial) {
        Slot const a = make_slot({random.between(1, 3), random.between(1, 3), random.between(1, 4)},
                                 {random.between(0, 3) * 8, random.between(0, 6), random.between(1, 2)});
        Slot const b = make_slot({random.between(1, 3), random.between(1, 3), random.between(1, 4)},
                                 {random.between(0, 3) * 8, random.between(0, 6), random.between(1, 2)});
        std::int64_t const distance = random.between(-20, 20);
        bool const expected = share_by_enumeration(a, 0, b, distance);
        bool const found = plan::share_memory(a, base, b, base + distance * 4);
        CAPTURE(core::to_string(a.dim), core::to_string(b.dim), core::to_string(a.stride), core::to_string(b.stride));
        CAPTURE(distance);
        if (expected) REQUIRE(found);
        sharing += expected;
        told_apart += !found;
    }
    CHECK(sharing > 1000);
    CHECK(told_apart > 1000);
}

TEST_CASE("tensors of different layouts side by side in the rows of a buffer do not share memory") {
    Slot const o = make_slot({2, 4, 8}, {64, 16, 1}), stats = make_slot({2, 4, 1}, {64, 16, 1});
    Slot const swapped = make_slot({4, 2, 8}, {16, 64, 1}), wide = make_slot({4, 2, 9}, {16, 64, 1});
    float memory[256] = {};
    CHECK_FALSE(plan::share_memory(o, memory, stats, memory + 8));
    CHECK_FALSE(plan::share_memory(o, memory, swapped, memory + 8));
    CHECK_FALSE(plan::share_memory(swapped, memory + 8, o, memory));
    CHECK(plan::share_memory(o, memory, wide, memory + 8));
    CHECK(plan::share_memory(wide, memory + 8, o, memory));
    CHECK(plan::share_memory(o, memory, swapped, memory + 7));
}

TEST_CASE("heads of different numbers interleaved in one buffer do not share memory") {
    Slot const queries = make_slot({3, 4, 8}, {48, 8, 1}), one_key_head = make_slot({3, 1, 8}, {48, 24, 1});
    float memory[256] = {};
    CHECK_FALSE(plan::share_memory(queries, memory, one_key_head, memory + 32));
    CHECK(plan::share_memory(queries, memory, one_key_head, memory + 24));
}

namespace {

// Some slots of a few bytes each, at random places of a buffer, distinguished by their uids.
struct Places {
    std::vector<Slot> slots;
    std::vector<void*> pointers;

    Places(sdpa_test::Random& random, int count, std::vector<std::byte>& buffer) {
        for (int i = 0; i < count; ++i) {
            slots.push_back(make_slot({1, 1, random.between(1, 6)}, {1, 1, random.between(1, 2)}));
            slots.back().uid = i;
            slots.back().is_written = random.flip();
            pointers.push_back(buffer.data() + 4 * random.between(0, 40));
        }
    }
};

std::string faults_of_all_pairs(Places const& places) {
    std::vector<std::string> faults;
    for (std::size_t i = 0; i < places.slots.size(); ++i) {
        for (std::size_t j = 0; j < places.slots.size(); ++j) {
            Slot const &a = places.slots[i], &b = places.slots[j];
            bool const is_checked = a.is_written && (!b.is_written || i < j) && i != j;
            if (!is_checked || !plan::share_memory(a, places.pointers[i], b, places.pointers[j])) continue;
            faults.push_back("[run.r08] tensor 't': found uid " + std::to_string(i) +
                             " written to memory that it shares with tensor 't' (uid " + std::to_string(j) +
                             "); expected memory of its own. Try: give each its own.");
        }
    }
    std::string text = faults.size() > 1 ? std::to_string(faults.size()) + " findings:" : "";
    for (std::size_t i = 0; i < std::min<std::size_t>(faults.size(), 100); ++i)
        text += (text.empty() ? "" : "\n") + faults[i];
    if (faults.size() > 100) text += "\nand " + std::to_string(faults.size() - 100) + " more";
    return text;
}

}  // namespace

TEST_CASE("run.r08: every pair of tensors that share memory is told, in the order of their slots") {
    sdpa_test::Random random(23);
    std::vector<std::byte> buffer(256);
    for (int round = 0; round < 500; ++round) {
        Places const places(random, static_cast<int>(random.between(1, 40)), buffer);
        auto const error = plan::check_overlap(places.slots, places.pointers);
        CHECK(error.get_message() == faults_of_all_pairs(places));
    }
}

TEST_CASE("run.r08: many tensors are checked in time, also inputs that all lie in one place") {
    constexpr std::size_t kCount = 100'000;
    std::vector<std::byte> buffer(kCount * 4);
    std::vector<Slot> slots(kCount, make_slot({1, 1, 1}, {1, 1, 1}));
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < kCount; ++i) {
        slots[i].is_written = i % 2 == 0;
        pointers.push_back(slots[i].is_written ? buffer.data() + 4 * (kCount - i) - 4 : buffer.data());
    }
    std::clock_t const begin = std::clock();  // of this process's own time
    CHECK(plan::check_overlap(slots, pointers).get_message() == "");
    // Work for each pair would take a minute.
    CHECK(static_cast<double>(std::clock() - begin) < 3.0 * CLOCKS_PER_SEC);
}
