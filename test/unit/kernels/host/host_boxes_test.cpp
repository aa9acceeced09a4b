// The host's copy engine itself: a kernel that uses it wrongly fails.
#include "support/catch.h"
#include "unit/kernels/host/hopper/bulk_copies.cuh"

#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace sdpa_test;

namespace {

constexpr int kRows = 8, kBoxBytes = kRows * kPanelRowBytes;

struct Memory {
    Panel<half, kRows> panel;
    Arrivals arrivals;
};
Memory memory;

struct Map {
    unsigned char bytes[128];
};

// A tensor of 6 rows of 40 numbers, each with its place as its bits.
class SmallTensor {
   public:
    SmallTensor() : numbers_(kTensorRows * kTensorColumns) { std::iota(numbers_.begin(), numbers_.end(), 1); }

    Map map() {
        HostTensorMap const made{reinterpret_cast<unsigned char*>(numbers_.data()),
                                 {kTensorColumns, kTensorRows, 1, 1},
                                 {2 * kTensorColumns, 16, 16},
                                 kRows};
        Map map{};
        std::memcpy(map.bytes, &made, sizeof(made));
        return map;
    }
    unsigned short at(int row, int column) const {
        if (row >= kTensorRows || column >= kTensorColumns) return 0;
        return numbers_[static_cast<std::size_t>(row * kTensorColumns + column)];
    }
    std::vector<unsigned short> const& numbers() const { return numbers_; }

    static constexpr int kTensorRows = 6, kTensorColumns = 40;

   private:
    std::vector<unsigned short> numbers_;
};

// Runs a warp, and returns its fault; empty where there is none.
std::string fault_of(unsigned seed, std::function<void()> const& work) {
    std::memset(static_cast<void*>(&memory), 0xff, sizeof(memory));
    begin_async_block(32, seed, reinterpret_cast<unsigned char const*>(&memory), sizeof(memory));
    begin_box_block(32);
    try {
        run_block(32, seed, work);
        finish_box_block();
    } catch (std::logic_error const& error) {
        return error.what();
    }
    return "";
}

void start() {
    if (lane_index() == 0) memory.arrivals.make(1);
    if (lane_index() == 0) show_barriers_to_copies();
    wait_for_warp();
}

void fetch(Map const& map, int expected_bytes) {
    if (lane_index() != 0) return;
    memory.arrivals.arrive_and_expect(expected_bytes);
    start_box_copy(&memory.panel, map, {0, 0, 0, 0}, memory.arrivals);
}

}  // namespace

TEST_CASE("a box is where the tensor has it and 0 elsewhere after the wait, and not before it") {
    SmallTensor tensor;
    Map const map = tensor.map();
    int late = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        bool is_there = true;
        std::string const fault = fault_of(seed, [&] {
            start();
            fetch(map, kBoxBytes);
            if (lane_index() == 0 && memory.panel.piece(0, 0)->bits == 0xffff) ++late;
            memory.arrivals.wait_for(0);
            for (int row = 0; row < kRows; ++row) {
                for (int column = 0; column < kPanelColumns; ++column) {
                    auto const found = memory.panel.piece(row, column)[column % 8].bits;
                    is_there = is_there && found == tensor.at(row, column);
                }
            }
        });
        CHECK(fault == "");
        CHECK(is_there);
    }
    CHECK(late > 0);
    CHECK(late < 20);
}

TEST_CASE("a copy with more or fewer bytes than its barrier expects is a fault") {
    Map const map = SmallTensor().map();
    for (unsigned seed = 0; seed < 4; ++seed) {
        CHECK(fault_of(seed, [&] {
                  start();
                  fetch(map, kBoxBytes - 16);
              }) == "a copy has more bytes than its barrier's round expects");
        CHECK(fault_of(seed, [&] {
                  start();
                  fetch(map, kBoxBytes + 16);
                  memory.arrivals.wait_for(0);
              }) == "all threads wait for good");
    }
}

TEST_CASE("a store is of what was shown to the copy engine, and leaves out what the tensor does not have") {
    for (unsigned seed = 0; seed < 8; ++seed) {
        for (bool const is_shown : {true, false}) {
            SmallTensor tensor;
            Map const map = tensor.map();
            CHECK(fault_of(seed, [&] {
                      start();
                      fetch(map, kBoxBytes);
                      memory.arrivals.wait_for(0);
                      *reinterpret_cast<uint4*>(memory.panel.piece(1, 0)) = uint4(7, 7, 7, 7);
                      if (is_shown) show_to_products();
                      wait_for_warp();
                      if (lane_index() != 0) return;
                      start_box_store(map, {0, 0, 0, 0}, &memory.panel);
                      ::end_box_stores();
                      wait_for_box_stores();
                  }) == "");
            CHECK(tensor.at(0, 0) == 1);
            CHECK(tensor.at(1, 0) == (is_shown ? 7 : 0xffff));
            CHECK(tensor.at(5, 39) == 240);
        }
    }
}

TEST_CASE("a store or a copy that nobody waits for is a fault") {
    SmallTensor tensor;
    Map const map = tensor.map();
    std::string faults;
    for (unsigned seed = 0; seed < 4; ++seed) {
        CHECK(fault_of(seed, [&] {
                  start();
                  if (lane_index() == 0) start_box_store(map, {0, 0, 0, 0}, &memory.panel);
              }) == "a thread ends without a wait for its box stores");
        faults += fault_of(seed, [&] {
            start();
            fetch(map, kBoxBytes);
        });
    }
    CHECK(faults.find("a block ends without a wait for its box copies") != faults.npos);
}
