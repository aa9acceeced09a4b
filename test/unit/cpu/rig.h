// Builds a small op graph, gives its tensors memory, runs it on the CPU and reads the results back as doubles.
#pragma once

#include "support/catch.h"
#include "unit/ir/values.h"

#include "cpu/cpu_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

namespace cudnn_frontend::test {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline std::vector<double> random_elements(std::int64_t count, std::uint32_t seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-2.0, 2.0);
    std::vector<double> elements(static_cast<std::size_t>(count));
    for (double& element : elements) element = uniform(engine);
    return elements;
}

class Rig {
   public:
    ir::Builder builder;

    // Elements in the order in which they lie in memory.
    ir::ValueId in(core::Dims dim, std::vector<double> const& elements, DataType_t type = DataType_t::DOUBLE) {
        core::Dims const stride = core::packed_strides(dim);
        return in_strided(std::move(dim), stride, elements, type);
    }
    ir::ValueId in_strided(core::Dims dim, core::Dims stride, std::vector<double> const& elements,
                           DataType_t type = DataType_t::DOUBLE) {
        ir::Value value = input("in" + std::to_string(next_uid_), std::move(dim), next_uid_);
        value.stride = std::move(stride);
        value.type = type;
        auto& bytes = memory_[next_uid_++];
        bytes.resize(elements.size() * static_cast<std::size_t>(core::size_of(type)));
        for (std::size_t i = 0; i < elements.size(); ++i) {
            core::store(type, bytes.data(), static_cast<std::int64_t>(i), elements[i]);
        }
        return builder.add(std::move(value));
    }
    ir::ValueId in_lengths(std::vector<double> const& elements) {
        return in({static_cast<std::int64_t>(elements.size()), 1, 1, 1}, elements, DataType_t::INT32);
    }
    ir::ValueId out(core::Dims dim, DataType_t type = DataType_t::DOUBLE) {
        core::Dims const stride = core::packed_strides(dim);
        return out_strided(std::move(dim), stride, type);
    }
    ir::ValueId out_strided(core::Dims dim, core::Dims stride, DataType_t type = DataType_t::DOUBLE) {
        ir::Value value = output("out" + std::to_string(next_uid_), std::move(dim), next_uid_);
        value.stride = std::move(stride);
        value.type = type;
        auto const bytes = static_cast<std::size_t>(*core::span_of(value.dim, value.stride) * core::size_of(type));
        memory_[next_uid_++].assign(bytes, kUntouched);
        return builder.add(std::move(value));
    }
    ir::ValueId temp(core::Dims dim) { return builder.add(temporary("temp", std::move(dim))); }
    ir::ValueId constant(float value) { return builder.constant("constant", detail::make_scalar(value)); }

    // Plans and runs a copy of the graph built so far.
    error_object run(int threads = 1) {
        auto graph = ir::Builder(builder).finish();
        if (graph.is_bad()) return graph.error();
        auto program = cpu::CpuProgram::plan(std::move(graph).value(), threads);
        if (program.is_bad()) return program.error();
        std::vector<void*> pointers;
        for (ir::Binding const& binding : program.value()->graph().bindings()) {
            pointers.push_back(memory_[binding.uid].data());
        }
        std::vector<std::byte> workspace(static_cast<std::size_t>(program.value()->workspace_size()), kUntouched);
        return program.value()->run(pointers, workspace.data());
    }

    // Elements in the order in which they lie in memory.
    std::vector<double> read(ir::ValueId id) const {
        ir::Value const& value = builder.value(id);
        auto const& bytes = memory_.at(value.uid);
        auto const count = static_cast<std::int64_t>(bytes.size()) / core::size_of(value.type);
        std::vector<double> elements;
        for (std::int64_t i = 0; i < count; ++i) elements.push_back(core::load(value.type, bytes.data(), i));
        return elements;
    }
    bool is_untouched(ir::ValueId id) const {
        auto const& bytes = memory_.at(builder.value(id).uid);
        return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == kUntouched; });
    }

   private:
    static constexpr std::byte kUntouched{0xA5};

    std::map<std::int64_t, std::vector<std::byte>> memory_;
    std::int64_t next_uid_ = 0;
};

// Requires equal numbers within the tolerance; NaN equals NaN and infinities equal themselves.
inline void check_close(std::vector<double> const& actual, std::vector<double> const& expected,
                        double tolerance = 1e-12) {
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        CAPTURE(i, actual[i], expected[i]);
        bool const is_same = actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]));
        CHECK((is_same || std::abs(actual[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i]))));
    }
}

}  // namespace cudnn_frontend::test
