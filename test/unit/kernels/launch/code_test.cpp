// Compiling, keeping and storing the code.
#include "kernels/launch/code.h"

#include "cuda/nvrtc.h"
#include "has_compiler.h"
#include "kernels/attention/attention_launch.h"
#include "kernels/launch/strided_kernel.h"
#include "kernels/rows/row_worker.h"
#include "support/catch.h"
#include "support/kernels/joint_cases.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <regex>
#include <variant>

using namespace sdpa_test;
using cudnn_frontend::DataType_t;
using cudnn_frontend::error_code_t;
using kernels::CodeName;
using kernels::strided_code;

namespace {

constexpr DataType_t kTypes[] = {DataType_t::BFLOAT16, DataType_t::HALF, DataType_t::FLOAT};
constexpr int kCapabilities[] = {80, 90, 100};

// A register in more than 64 of which costs more than half of the threads.
constexpr int kMostRegisters = 64;

std::vector<int> numbers(std::string const& log, char const* pattern) {
    std::regex const expression(pattern);
    std::vector<int> found;
    for (std::sregex_iterator at(log.begin(), log.end(), expression), end; at != end; ++at) {
        found.push_back(std::stoi((*at)[1]));
    }
    return found;
}

void check_code(CodeName const& name, std::size_t forms = 3) {
    auto const log = kernels::compiler_log(name);
    INFO(name.text() << ": " << (log.is_good() ? log.value() : log.error().err_msg));
    REQUIRE(log.is_good());
    std::vector<int> const zeros(forms, 0);
    CHECK(numbers(log.value(), "(\\d+) bytes stack frame") == zeros);
    CHECK(numbers(log.value(), "(\\d+) bytes spill stores") == zeros);
    CHECK(numbers(log.value(), "(\\d+) bytes spill loads") == zeros);
    std::vector<int> const registers = numbers(log.value(), "Used (\\d+) registers");
    REQUIRE(registers.size() == forms);
    CHECK(std::ranges::max(registers) <= kMostRegisters);
}

std::string log_of(CodeName const& name) {
    auto const log = kernels::compiler_log(name);
    INFO(name.text() << ": " << (log.is_good() ? log.value() : log.error().err_msg));
    REQUIRE(log.is_good());
    return log.value();
}

void check_no_spills(std::string const& log) {
    INFO(log);
    std::vector<int> const spilled = numbers(log, "(\\d+) bytes spill stores");
    CHECK_FALSE(spilled.empty());
    for (int const bytes : spilled) CHECK(bytes == 0);
}

template <class T>
T read_at(std::string const& bytes, std::size_t place) {
    T value;
    REQUIRE(place + sizeof value <= bytes.size());
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
}

using Instruction = std::array<std::uint64_t, 2>;

std::vector<Instruction> instructions(std::string const& cubin) {
    std::vector<Instruction> found;
    auto const header = read_at<Elf64_Ehdr>(cubin, 0);
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        auto const section = read_at<Elf64_Shdr>(cubin, header.e_shoff + i * sizeof(Elf64_Shdr));
        if ((section.sh_flags & SHF_EXECINSTR) == 0) continue;
        for (std::size_t place = 0; place < section.sh_size; place += sizeof(Instruction)) {
            found.push_back(read_at<Instruction>(cubin, section.sh_offset + place));
        }
    }
    return found;
}

// How many instructions for powers and the like come at most between a wait for all products but the last ones, which
// go on, and the next wait. In code for 9.0.
int functions_during_products(std::string const& cubin) {
    constexpr std::uint64_t kOpcode = 0xfff, kFunction = 0x308, kWait = 0x9c5, kProductsThatGoOn = 0xff00;
    int most = 0, count = 0;
    bool go_on = false;
    for (auto const& [low, high] : instructions(cubin)) {
        if ((low & kOpcode) == kWait) {
            go_on = (high & kProductsThatGoOn) != 0;
            count = 0;
        } else if (go_on && (low & kOpcode) == kFunction) {
            most = std::max(most, ++count);
        }
    }
    return most;
}

kernels::SumProblem sum_of(std::int64_t columns) {
    return {{DataType_t::HALF, {2, columns}, {columns, 1}}, {DataType_t::FLOAT, {columns}, {1}}};
}

}  // namespace

TEST_CASE("every kernel compiles for 8.0, 9.0 and 10.0, without a spilled register") {
    if (!has_compiler()) return;
    for (int const capability : kCapabilities) {
        for (std::string const kernel : {"merge", "sum"}) {
            for (DataType_t const from : kTypes) check_code(strided_code(kernel, from, from, false, capability));
            check_code(strided_code(kernel, DataType_t::FLOAT, DataType_t::BFLOAT16, true, capability));
            check_code(strided_code(kernel, DataType_t::HALF, DataType_t::FLOAT, false, capability));
        }
        check_code(strided_code("split_lengths", DataType_t::INT32, DataType_t::INT32, false, capability), 1);
        check_no_spills(log_of({"sink_gradient", {}, {"X=bfloat16", "Y=half"}, {capability}}));
        for (DataType_t const type : {DataType_t::BFLOAT16, DataType_t::HALF})
            check_code(kernels::name_of_rows(type, capability), std::variant_size_v<cudnn_frontend::rows::Work>);
    }
}

TEST_CASE("kernels of neighborhood attention compile for 8.0, 9.0 and 10.0, without a spilled register") {
    if (!has_compiler()) return;
    for (int const capability : kCapabilities) {
        for (std::string const source : {"forward", "backward", "windows", "bias"}) {
            check_no_spills(
                log_of({"neighborhood_" + source, {}, {"X=float", "LANE_COLUMNS=4", "HAS_BIAS=false"}, {capability}}));
        }
        check_no_spills(
            log_of({"neighborhood_backward", {}, {"X=float", "LANE_COLUMNS=4", "HAS_BIAS=true"}, {capability}}));
        check_no_spills(log_of(
            {"neighborhood_forward_tiles", {}, {"X=bfloat16", "TILE_COLUMNS=128", "HAS_BIAS=true"}, {capability}}));
        check_no_spills(log_of({"neighborhood_backward_tiles", {}, {"X=half", "TILE_COLUMNS=64"}, {capability}}));
    }
    check_no_spills(log_of({"neighborhood_backward_tiles", {}, {"X=bfloat16", "TILE_COLUMNS=128"}, {90}}));
}

TEST_CASE("kernels by warpgroups compile for 9.0's own features, without a spilled register or products that wait") {
    if (!has_compiler()) return;
    for (std::string const source : {"neighborhood_forward_warpgroups", "neighborhood_backward_warpgroups"}) {
        for (std::string const type : {"X=bfloat16", "X=half"}) {
            for (std::string const columns : {"WARPGROUP_COLUMNS=64", "WARPGROUP_COLUMNS=128"}) {
                std::string const log = log_of({source, {}, {type, columns}, {90, true}});
                check_no_spills(log);
                INFO(log);
                CHECK(log.find("serialized") == std::string::npos);
            }
        }
    }
}

namespace ports = cudnn_frontend::attention;

// Attention forward, or its gradients.
static kernels::AttentionKernelProblem problem_of(kernels::AttentionClass const& columns, DataType_t type) {
    kernels::AttentionKernelProblem problem;
    for (ports::Port const port :
         {ports::Q, ports::K, ports::V, ports::O, ports::DO, ports::DQ, ports::DK, ports::DV}) {
        bool const has_values = port == ports::V || port == ports::O || port == ports::DO || port == ports::DV;
        std::int64_t const width = has_values ? columns.value_columns : columns.columns;
        problem.operands[port] =
            kernels::PlacedOperand{{type, {1, 1, 64, width}, {64 * width, 64 * width, width, 1}}, 0};
    }
    return problem;
}

TEST_CASE("the gradients of attention compile for 9.0 with few spilled registers and without products that wait") {
    if (!has_compiler()) return;
    constexpr int kMostSpilledBytes = 48;
    for (kernels::AttentionClass const& columns : kernels::kAttentionClasses) {
        for (DataType_t const type : {DataType_t::BFLOAT16, DataType_t::HALF}) {
            kernels::AttentionKernelProblem problem = problem_of(columns, type);
            problem.is_backward = true;
            std::string const log = log_of(code_of(problem, kernels::AttentionWork::Gradients));
            INFO(log);
            CHECK(std::ranges::max(numbers(log, "(\\d+) bytes spill stores")) <= kMostSpilledBytes);
            CHECK(log.find("serialized") == std::string::npos);
            for (ports::Port const port : {ports::Bias, ports::DBias}) {
                problem.operands[port] = kernels::PlacedOperand{{type, {1, 1, 64, 64}, {4096, 4096, 64, 1}}, 0};
            }
            std::string const with_bias = log_of(code_of(problem, kernels::AttentionWork::Gradients));
            INFO(with_bias);
            CHECK(with_bias.find("serialized") == std::string::npos);
        }
    }
}

TEST_CASE("attention compiles for 9.0 in each class of columns, without a spilled register or products that wait") {
    if (!has_compiler()) return;
    for (kernels::AttentionClass const& columns : kernels::kAttentionClasses) {
        for (DataType_t const type : {DataType_t::BFLOAT16, DataType_t::HALF}) {
            std::string const log = log_of(code_of(problem_of(columns, type), kernels::AttentionWork::Forward));
            check_no_spills(log);
            INFO(log);
            CHECK(log.find("(C75") == std::string::npos);
        }
    }
}

TEST_CASE("attention with 128 columns computes most weights of a tile while the products of the last tile go on") {
    if (!has_compiler()) return;
    for (bool const has_alibi : {false, true}) {
        kernels::AttentionKernelProblem problem = problem_of({128, 128}, DataType_t::BFLOAT16);
        problem.has_alibi = has_alibi;
        auto const code = kernels::find_code(code_of(problem, kernels::AttentionWork::Forward));
        REQUIRE(code.is_good());
        constexpr int kThreadsOfRow = 4;  // which has a score for each key
        constexpr int kWeights = 2 * kernels::tile_keys(128) / kThreadsOfRow;
        CAPTURE(has_alibi);
        CHECK(functions_during_products(code.value()->cubin()) >= kWeights * 3 / 4);
    }
}

TEST_CASE("attention with the greatest scores of rows as a result compiles for 9.0 without a spilled register") {
    if (!has_compiler()) return;
    for (kernels::AttentionClass const& columns : kernels::kAttentionClasses) {
        kernels::AttentionKernelProblem problem = problem_of(columns, DataType_t::BFLOAT16);
        problem.operands[ports::Max] = kernels::PlacedOperand{{DataType_t::FLOAT, {1, 1, 64, 1}, {64, 64, 1, 1}}, 0};
        kernels::CodeName const code = code_of(problem, kernels::AttentionWork::Forward);
        CHECK(std::ranges::count(code.defines, "STORES_MAXIMA") == 1);
        check_no_spills(log_of(code));
    }
}

TEST_CASE("attention with a block mask compiles for 9.0 without a spilled register or products that wait") {
    if (!has_compiler()) return;
    for (kernels::AttentionClass const& columns : {kernels::AttentionClass{64, 64}, {128, 128}, {192, 128}}) {
        kernels::AttentionKernelProblem problem = problem_of(columns, DataType_t::BFLOAT16);
        problem.operands[ports::BlockMask] = kernels::PlacedOperand{{DataType_t::UINT8, {1, 1, 1, 1}, {1, 1, 1, 1}}, 0};
        std::string const log = log_of(code_of(problem, kernels::AttentionWork::Forward));
        check_no_spills(log);
        INFO(log);
        CHECK(log.find("(C75") == std::string::npos);
        check_no_spills(log_of(code_of(problem, kernels::AttentionWork::BlockMask)));
    }
}

TEST_CASE("sums of gradients of a bias compile for 9.0 with few spilled registers and without products that wait") {
    if (!has_compiler()) return;
    constexpr int kMostSpilledBytes = 48;
    for (kernels::AttentionClass const& columns : {kernels::AttentionClass{64, 64}, {128, 128}}) {
        kernels::AttentionKernelProblem problem = problem_of(columns, DataType_t::BFLOAT16);
        problem.is_backward = true;
        for (ports::Port const port : {ports::Bias, ports::DBias}) {
            problem.operands[port] = kernels::PlacedOperand{{DataType_t::BFLOAT16, {1, 1, 1, 64}, {64, 64, 64, 1}}, 0};
        }
        std::string const log = log_of(code_of(problem, kernels::AttentionWork::Gradients));
        INFO(log);
        CHECK(log.find("'attention_bias_gradient_end'") != std::string::npos);
        CHECK(std::ranges::max(numbers(log, "(\\d+) bytes spill stores")) <= kMostSpilledBytes);
        CHECK(log.find("(C75") == std::string::npos);
        CHECK(log.find("serialized") == std::string::npos);
    }
}

TEST_CASE("deterministic gradients have code of their own, which compiles for 9.0 with few spilled registers") {
    if (!has_compiler()) return;
    constexpr int kMostSpilledBytes = 96;
    for (kernels::AttentionClass const& columns : kernels::kAttentionClasses) {
        kernels::AttentionKernelProblem problem = problem_of(columns, DataType_t::BFLOAT16);
        problem.is_backward = true;
        CodeName const in_any_order = code_of(problem, kernels::AttentionWork::Gradients);
        problem.is_deterministic = true;
        CodeName code = code_of(problem, kernels::AttentionWork::Gradients);
        std::string const log = log_of(code);
        INFO(log);
        CHECK(std::ranges::max(numbers(log, "(\\d+) bytes spill stores")) <= kMostSpilledBytes);
        CHECK(log.find("(C75") == std::string::npos);
        CHECK(log.find("serialized") == std::string::npos);
        CHECK(std::erase(code.defines, "IS_DETERMINISTIC") == 1);
        CHECK(code.defines == in_any_order.defines);
    }
}

TEST_CASE("attention with dropout compiles for 9.0 with few spilled registers and without products that wait") {
    if (!has_compiler()) return;
    constexpr int kMostSpilledBytes = 16;
    for (kernels::AttentionClass const& columns : kernels::kAttentionClasses) {
        for (bool const is_backward : {false, true}) {
            if (is_backward && columns.columns > 128) continue;
            kernels::AttentionKernelProblem problem = problem_of(columns, DataType_t::BFLOAT16);
            problem.is_backward = is_backward;
            problem.dropout.emplace();
            std::string const log = log_of(is_backward ? code_of(problem, kernels::AttentionWork::Gradients)
                                                       : code_of(problem, kernels::AttentionWork::Forward));
            INFO(log);
            CHECK(std::ranges::max(numbers(log, "(\\d+) bytes spill stores")) <= kMostSpilledBytes);
            CHECK(log.find("(C75") == std::string::npos);
            CHECK(log.find("serialized") == std::string::npos);
        }
    }
    check_no_spills(log_of({"attention_dropout_mask", {}, {}, {90, true}}));
}

TEST_CASE("code is compiled once for all shapes, and again for other types and devices") {
    if (!has_compiler()) return;
    CodeName const name = strided_code("sum", DataType_t::HALF, DataType_t::FLOAT, false, 90);
    auto const first = kernels::find_code(name);
    auto const second = kernels::find_code(name);
    REQUIRE(first.is_good());
    REQUIRE(second.is_good());
    CHECK(first.value() == second.value());
    CHECK(
        first.value()->cubin().starts_with("\x7f"
                                           "ELF"));
    CodeName other = name;
    other.architecture.compute_capability = 80;
    auto const of_other = kernels::find_code(other);
    REQUIRE(of_other.is_good());
    CHECK(of_other.value()->cubin() != first.value()->cubin());
    auto const small = kernels::compile_sum(sum_of(64), {90, 132}),
               large = kernels::compile_sum(sum_of(4096), {90, 132});
    REQUIRE(small.is_good());
    REQUIRE(large.is_good());
    CHECK(small.value()->serialize() == large.value()->serialize());
    CHECK(small.value()->serialize() == name.text() + "\n" + first.value()->cubin());
}

TEST_CASE("code with the features of one architecture is told from code without them") {
    if (!has_compiler()) return;
    CodeName name = strided_code("split_lengths", DataType_t::INT32, DataType_t::INT32, false, 90);
    CHECK(name.text().find(" sm_90 ") != std::string::npos);
    auto const without = kernels::find_code(name);
    name.architecture.has_features_of_its_own = true;
    CHECK(name.text().find(" sm_90a ") != std::string::npos);
    auto const with = kernels::find_code(name);
    REQUIRE(without.is_good());
    REQUIRE(with.is_good());
    CHECK(with.value()->cubin() != without.value()->cubin());
}

TEST_CASE("a stored kernel loads for the same code, and another one is refused by name") {
    if (!has_compiler()) return;
    auto const made = kernels::compile_sum(sum_of(64), {90, 132});
    REQUIRE(made.is_good());
    std::string const stored = made.value()->serialize();
    auto const loaded = kernels::load_sum(sum_of(128), {90, 114}, stored);
    REQUIRE(loaded.is_good());
    CHECK(loaded.value()->serialize() == stored);

    std::string const needed = strided_code("sum", DataType_t::HALF, DataType_t::FLOAT, false, 80).text();
    auto const refused = kernels::load_sum(sum_of(64), {80, 108}, stored).error();
    CHECK(refused.code == error_code_t::INVALID_VALUE);
    CHECK(refused.err_msg == "the stored kernel: found \"" + stored.substr(0, stored.find('\n')) + "\"; expected \"" +
                                 needed + "\". Try: plan the graph again and store that plan.");
    std::string const cut = stored.substr(0, stored.find('\n'));
    CHECK(kernels::load_sum(sum_of(64), {90, 132}, cut).error().code == error_code_t::INVALID_VALUE);
    CHECK(kernels::load_sum(sum_of(64), {90, 132}, "").error().code == error_code_t::INVALID_VALUE);
}

TEST_CASE("stored code that was never loaded is no other kernel's") {
    if (!has_compiler()) return;
    CodeName const name = strided_code("sum", DataType_t::BFLOAT16, DataType_t::FLOAT, false, 80);  // in no other test
    CHECK(kernels::find_code(name, "no cubin")->cubin() == "no cubin");
    auto const compiled = kernels::find_code(name);
    REQUIRE(compiled.is_good());
    CHECK(compiled.value()->cubin().starts_with("\x7f"));
    CHECK(kernels::find_code(name, "no cubin") == compiled.value());
}

TEST_CASE("a source that does not compile fails with the compiler's words") {
    if (!has_compiler()) return;
    namespace cuda = cudnn_frontend::cuda;
    cuda::Nvrtc const& nvrtc = *cuda::nvrtc().value();
    auto const broken = cuda::compile(nvrtc, {"broken.cu", "#include <absent.cuh>\n"}, {}, {}, {90}).error();
    CHECK(broken.code == error_code_t::NVRTC_COMPILATION_FAILED);
    INFO(broken.err_msg);
    CHECK(broken.err_msg.find(", failed to compile broken.cu for compute capability 9.0: NVRTC_ERROR_COMPILATION\n") !=
          std::string::npos);
    CHECK(broken.err_msg.find("broken.cu(1): ") != std::string::npos);
}
