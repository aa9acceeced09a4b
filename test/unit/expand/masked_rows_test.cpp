// Rows of which every score is masked, run by the interpreter: the guards of the expansion at work.
#include "attention_graphs.h"
#include "core/data_type.h"
#include "cpu/cpu_program.h"
#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace test;

namespace {

// Memory for every tensor that an op graph binds, filled with seeded numbers; the lengths leave batch entry 1 without
// keys.
class Memory {
   public:
    explicit Memory(ir::OpGraph const& graph) : graph_(graph) {
        std::mt19937 generator(7);
        std::normal_distribution<double> numbers;
        for (ir::Binding const& binding : graph.bindings()) {
            ir::Value const& value = graph.value(binding.value);
            auto& bytes = bytes_[value.name];
            bytes.resize(static_cast<std::size_t>(elements(value) * core::size_of(value.type)));
            for (std::int64_t i = 0; i < elements(value); ++i) {
                core::store(value.type, bytes.data(), i, numbers(generator));
            }
            pointers_.push_back(bytes.data());
        }
    }

    void set(std::string const& name, std::vector<double> const& elements) {
        for (std::size_t i = 0; i < elements.size(); ++i) {
            core::store(type_of(name), bytes_.at(name).data(), static_cast<std::int64_t>(i), elements[i]);
        }
    }

    void run() {
        auto const program = cpu::CpuProgram::plan(graph_, 1);
        REQUIRE(program.is_good());
        std::vector<std::byte> workspace(static_cast<std::size_t>(program.value()->workspace_size()));
        REQUIRE(program.value()->run(pointers_, workspace.data()).is_good());
    }

    // Element [b, 0, row, 0] and its neighbors of the last dim, of a packed tensor.
    std::vector<double> row(std::string const& name, std::int64_t b, std::int64_t row) const {
        ir::Value const& value = find_value(graph_, name);
        std::vector<double> elements;
        for (std::int64_t i = 0; i < value.dim[3]; ++i) {
            std::int64_t const at = b * value.stride[0] + row * value.stride[2] + i;
            elements.push_back(core::load(value.type, bytes_.at(name).data(), at));
        }
        return elements;
    }

   private:
    static std::int64_t elements(ir::Value const& value) { return *core::volume(value.dim); }
    DataType_t type_of(std::string const& name) const { return find_value(graph_, name).type; }

    ir::OpGraph const& graph_;
    std::map<std::string, std::vector<char>> bytes_;
    std::vector<void*> pointers_;
};

bool all_zero(std::vector<double> const& elements) {
    return std::all_of(elements.begin(), elements.end(), [](double x) { return x == 0.0; });
}

bool all_nonzero(std::vector<double> const& elements) {
    return std::all_of(elements.begin(), elements.end(), [](double x) { return std::isfinite(x) && x != 0.0; });
}

}  // namespace

TEST_CASE("A fully masked row gives O = 0 and stats = -inf", "[expand]") {
    SECTION("because its batch entry has no keys") {
        ir::OpGraph const graph = composite(AttentionGraph::forward().stats().padding());
        Memory memory(graph);
        memory.set("seq_len_q", {6, 6});
        memory.set("seq_len_kv", {5, 0});
        memory.run();
        CHECK(all_nonzero(memory.row("O", 0, 0)));
        CHECK(all_nonzero(memory.row("Stats", 0, 0)));
        CHECK(all_zero(memory.row("O", 1, 0)));
        CHECK(memory.row("Stats", 1, 0) == std::vector<double>{-INFINITY});
    }
    SECTION("because the diagonal starts below it") {
        auto const attention = AttentionGraph::forward().stats().band(DiagonalAlignment_t::BOTTOM_RIGHT, {}, 0);
        ir::OpGraph const graph = composite(attention);
        Memory memory(graph);
        memory.run();
        CHECK(all_zero(memory.row("O", 0, 0)));
        CHECK(memory.row("Stats", 0, 0) == std::vector<double>{-INFINITY});
        CHECK(all_nonzero(memory.row("O", 0, 1)));
        CHECK(all_nonzero(memory.row("Stats", 0, 1)));
    }
}

TEST_CASE("A fully masked row has no part in any gradient", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::backward().padding());
    Memory memory(graph);
    memory.set("seq_len_q", {6, 6});
    memory.set("seq_len_kv", {5, 0});
    std::vector<double> stats(48, 2.0);
    std::fill(stats.begin() + 24, stats.end(), -INFINITY);
    memory.set("Stats", stats);
    memory.run();
    for (std::string const name : {"dQ", "dK", "dV"}) {
        CAPTURE(name);
        CHECK(all_nonzero(memory.row(name, 0, 0)));
        CHECK(all_zero(memory.row(name, 1, 0)));
    }
}
