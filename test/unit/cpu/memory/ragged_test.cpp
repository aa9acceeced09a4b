// Where packed sequences may start: run.r02.
#include "cpu/memory/indices.h"
#include "unit/expand/attention_graphs.h"

#include "support/catch.h"

#include <cstring>
#include <map>

using namespace cudnn_frontend;
using test::AttentionGraph;
using test::Port;

namespace {

using Numbers = std::vector<std::int32_t>;

constexpr std::int64_t kSequences = 4, kWidth = 8;

// Four sequences of one head. Rows of Q are twice as far apart as they are long, those of O and of keys follow each
// other.
struct Pack {
    std::map<std::string, Numbers> integers = {{"seq_len_q", {3, 3, 3, 3}},
                                               {"seq_len_kv", {5, 5, 5, 5}},
                                               {"of_q", {0, 200, 400, 600, 800}},
                                               {"of_k", {0, 40, 80, 120, 160}},
                                               {"of_o", {0, 48, 96, 144, 192}}};
    std::int64_t row_of_q = 4 * kWidth, row_of_o = kWidth;

    std::string fault() {
        AttentionGraph attention = AttentionGraph::forward();
        for (int const port : {Port::Q, Port::K, Port::V, Port::O}) {
            bool const is_of_keys = port == Port::K || port == Port::V;
            attention.tensor(port).dim = {kSequences, 1, is_of_keys ? 5 : 6, kWidth};
            attention.tensor(port).stride = {6 * kWidth, kWidth, kWidth, 1};
        }
        attention.padding();
        for (int const port : {Port::SeqLenQ, Port::SeqLenKv}) attention.tensor(port).dim = {kSequences, 1, 1, 1};
        attention.tensor(Port::Q).stride[2] = row_of_q;
        attention.tensor(Port::O).stride[2] = row_of_o;
        for (auto const& [name, port] : {std::pair{"of_q", Port::Q}, {"of_k", Port::K}, {"of_o", Port::O}}) {
            nodes::TensorId const offset = attention.add_tensor(name, DataType_t::INT32, {kSequences + 1, 1, 1, 1});
            attention.tensor(port).ragged_offset = offset;
        }
        return check(test::composite(attention));
    }

   private:
    std::string check(ir::OpGraph const& graph) {
        static char never_read = 0;
        std::vector<void*> pointers;
        for (ir::Binding const& binding : graph.bindings()) {
            auto const known = integers.find(graph.value(binding.value).name);
            pointers.push_back(known == integers.end() ? static_cast<void*>(&never_read) : known->second.data());
        }
        auto const copy = [](std::span<std::byte> to, void const* from) {
            std::memcpy(to.data(), from, to.size());
            return error_object();
        };
        return cpu::check_indices_elsewhere(graph, pointers, copy).get_message();
    }
};

std::string fault_of_q(Numbers const& offsets, Numbers const& lengths = {3, 3, 3, 3}) {
    Pack pack;
    pack.integers["of_q"] = offsets;
    pack.integers["seq_len_q"] = lengths;
    return pack.fault();
}

std::string fault_of_o(Numbers const& offsets, std::int64_t row = kWidth, Numbers const& lengths = {3, 3, 3, 3}) {
    Pack pack;
    pack.row_of_o = row;
    pack.integers["of_o"] = offsets;
    pack.integers["seq_len_q"] = lengths;
    return pack.fault();
}

bool leaves_room(std::string const& fault, std::string const& room, std::string const& entry) {
    std::string const what = "leaves room for " + room + " at batch entry " + entry + ";";
    return fault.starts_with("[run.r02]") && fault.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("run.r02: sequences one after the other pass") {
    CHECK(Pack().fault() == "");
    CHECK(fault_of_o({0, 24, 48, 72, 96}) == "");
    CHECK(leaves_room(fault_of_o({0, 24, 47, 72, 96}), "23 elements, where the sequence spans 24", "1"));
}

TEST_CASE("run.r02: sequences may lie side by side within a row") {
    CHECK(fault_of_q({0, 8, 16, 24, 32}) == "");
    CHECK(fault_of_o({0, 8, 16, 24, 32}, 4 * kWidth) == "");
    CHECK(fault_of_o({0, 8, 16, 24, 32}, 4 * kWidth, {6, 0, 1, 3}) == "");
    CHECK(fault_of_o({0, 8, 160, 168, 320}, 4 * kWidth) == "");  // two by two
    CHECK(leaves_room(fault_of_o({0, 7, 16, 24, 32}, 4 * kWidth), "7 elements, where the sequence spans 72", "0"));
}

TEST_CASE("run.r02: sequences that start a row further than others reach into them") {
    CHECK(leaves_room(fault_of_o({0, 8, 16, 24, 32}, 3 * kWidth), "8 elements, where the sequence spans 56", "2"));
    CHECK(leaves_room(fault_of_q({0, 12, 24, 36, 48}), "12 elements, where the sequence spans 72", "2"));
    CHECK(fault_of_o({0, 8, 16, 24, 32}, 3 * kWidth, {1, 3, 3, 0}) == "");  // the first one has one row
}

TEST_CASE("run.r02: a sequence may not reach into one behind its neighbor") {
    CHECK(leaves_room(fault_of_o({0, 8, 40, 104, 200}, 4 * kWidth, {6, 1, 1, 1}),
                      "40 elements, where the sequence spans 168", "0"));
    CHECK(leaves_room(fault_of_o({0, 8, 16, 40, 104}, 4 * kWidth, {6, 1, 0, 1}),
                      "40 elements, where the sequence spans 168", "0"));
}

TEST_CASE("run.r02: inputs may be shared as a whole, results may not") {
    CHECK(fault_of_q({0, 0, 0, 300, 400}) == "");
    CHECK(fault_of_q({0, 0, 8, 8, 16}) == "");
    CHECK(leaves_room(fault_of_o({0, 0, 48, 96, 144}), "0 elements, where the sequence spans 24", "0"));
    CHECK(leaves_room(fault_of_q({0, 1, 300, 400, 500}), "1 elements, where the sequence spans 72", "0"));
}

TEST_CASE("run.r02: sequences without rows may start anywhere") {
    CHECK(fault_of_o({0, 0, 0, 24, 24}, kWidth, {0, 0, 3, 0}) == "");
    CHECK(fault_of_o({0, 0, 0, 0, 0}, kWidth, {0, 0, 0, 0}) == "");
}

TEST_CASE("run.r02: the last sequence ends where the offsets do") {
    CHECK(leaves_room(fault_of_o({0, 24, 48, 72, 95}), "23 elements, where the sequence spans 24", "3"));
    CHECK(leaves_room(fault_of_o({0, 24, 48, 71, 71}, kWidth, {3, 3, 3, 0}), "23 elements, where the sequence spans 24",
                      "2"));
}
