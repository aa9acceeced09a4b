// Block masks in the kernels of attention, on the host: their bits, and the results.
#include "gpu/cases/random_gpu_case.h"
#include "kernel_cases.h"
#include "support/catch.h"
#include "support/random.h"

#include <algorithm>
#include <string>

using namespace sdpa_test;
namespace fe = cudnn_frontend;
namespace kernels = cudnn_frontend::kernels;

namespace {

// The blocks of the first head, as text_of_blocks() writes them where no modifier leaves blocks as they are.
std::string blocks_of_mask(kernels::AttentionKernelProblem const& problem, kernels::Pointers pointers) {
    kernels::PlacedOperand const& mask = problem.operand(fe::attention::BlockMask);
    auto const* const bytes = static_cast<unsigned char const*>(pointers[mask.pointer]);
    kernels::HiddenBlocks const blocks = kernels::hidden_blocks(problem);
    std::string text;
    for (std::int64_t tile = 0; tile < blocks.tiles; ++tile) {
        for (std::int64_t block = 0; block < blocks.blocks_of_tile; ++block) {
            unsigned const byte = bytes[tile * mask.strides[2] + block / 8 * mask.strides[3]];
            text += (byte >> (block % 8) & 1) != 0 ? '+' : '.';
        }
        text += '\n';
    }
    return text;
}

std::string found_blocks(kernels::AttentionKernelProblem const& problem, kernels::Pointers pointers) {
    std::string text = text_of_blocks(problem, pointers);
    std::ranges::replace(text, '#', '+');
    return text;
}

// A case of the columns and terms of scores for which the host has code with a block mask.
AttentionCase masked_case(AttentionCase c, std::uint64_t seed) {
    Random random(seed + 3);
    Columns const columns = random.pick({Columns{64, 64}, Columns{40, 64}, Columns{192, 128}});
    c.d_qk = columns.d_qk;
    c.d_v = columns.d_v;
    c.s_kv = random.pick({1, 130, 300, 1200});
    if (c.len_kv) std::ranges::generate(*c.len_kv, [&] { return random.between(0, c.s_kv); });
    c.bias.reset();
    c.alibi = c.d_bias = c.rng_dump = false;
    c.dropout = Dropout::None;
    c.modifier = c.d_qk <= 64 && random.flip() ? oracle::Modify::Documents : oracle::Modify::Nothing;
    c.block_mask = true;
    return c;
}

}  // namespace

TEST_CASE("attention with a block mask is what the formula says, next to other masks, documents and sinks") {
    constexpr std::uint64_t kCases = 24;
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
        AttentionCase const c = masked_case(random_kernel_case(seed), seed);
        INFO("case " << seed << ": " << describe(c));
        CHECK(check_case(c, rig_of_kernel()).faults() == "");
    }
}

TEST_CASE("each packed sequence has a block mask of its own") {
    constexpr std::uint64_t kCases = 8;
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
        AttentionCase const c = masked_case(random_packed_case(seed), seed);
        INFO("case " << seed << ": " << describe(c));
        CHECK(check_case(c, rig_of_kernel()).faults() == "");
    }
}

TEST_CASE("blocks that a block mask hides are left out") {
    AttentionCase c = plain_case(DataType_t::BFLOAT16, {64, 64});
    c.b = 1;
    c.s_q = 200;
    c.s_kv = 4500;  // more blocks than a word has bits
    c.block_mask = true;
    Rig rig = rig_of_kernel();
    rig.execute = [](Session const& session) {
        return run_by_kernel(session, [](auto const& problem, kernels::Pointers pointers) {
            std::string const expected = blocks_of_mask(problem, pointers);
            CHECK(found_blocks(problem, pointers) == expected);
            for (char const sign : {'.', '+'}) CHECK(std::ranges::count(expected, sign) > 0);
        });
    };
    CHECK(check_case(c, rig).faults() == "");
}

TEST_CASE("block masks of 128 columns next to a bias, to dropout and with packed sequences are what the formula says") {
    for (CaseGroup const& group : block_mask_groups()) {
        for (AttentionCase const& c : group.cases) {
            if (c.type != DataType_t::BFLOAT16) continue;  // the type of the bias in the host's code
            INFO(group.name << ": " << describe(c));
            CHECK(check_case(c, rig_of_kernel()).faults() == "");
        }
    }
}

TEST_CASE("the engine accepts the GPU's random cases with a block mask") {
    constexpr std::uint64_t kCases = 600;
    int count = 0;
    for (std::uint64_t number = 0; number < kCases; ++number) {
        AttentionCase c = random_gpu_case(number);
        if (!c.block_mask) continue;
        INFO("case " << number);
        ++count;
        c.has_data = false;
        CHECK(read_graph(Session(c, make_inputs(c), make_forward_outputs(c))).error().get_message() == "");
    }
    CHECK(count > 10);
}
