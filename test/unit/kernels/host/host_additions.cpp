#include "host_additions.h"

#include "cuda_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace sdpa_test {
namespace {

struct Addition {
    float* to;
    std::array<float, 4> numbers;
    unsigned block;
};

struct Shown {
    unsigned block;
    std::size_t additions;  // that the block had started before
};

constexpr unsigned kLongestDelay = 250;  // looks: a slow warp looks in one of eight rounds

struct Additions {
    std::optional<std::minstd_rand> random;  // where they are shuffled
    int const* awaited = nullptr;            // the number that a thread waits for and has not seen yet
    unsigned delay = 0;                      // how often it will look without seeing it
    std::vector<Addition> waiting;
    std::map<int const*, Shown> shown;
    std::map<unsigned, std::size_t> started;  // by block
    std::map<unsigned, std::size_t> done;     // by block: its first ones
};

Additions all;

void add(Addition const& addition) {
    for (std::size_t i = 0; i < addition.numbers.size(); ++i) addition.to[i] += addition.numbers[i];
}

// Does the block's first additions, in their order.
void do_first(unsigned block, std::size_t count) {
    std::size_t& done = all.done[block];
    std::erase_if(all.waiting, [&](Addition const& addition) {
        if (addition.block != block || done >= count) return false;
        add(addition);
        ++done;
        return true;
    });
}

// Whether the thread that looks at a number sees it now, which it does some time after the number was shown.
bool sees(int const* from) {
    if (!all.random) return true;
    if (from != all.awaited) all.delay = static_cast<unsigned>((*all.random)() / 2 % kLongestDelay);
    all.awaited = all.delay > 0 ? from : nullptr;
    if (all.delay == 0) return true;
    --all.delay;
    return false;
}

}  // namespace

void shuffle_additions(unsigned seed) { all = {.random = std::minstd_rand(seed + 1)}; }
void add_at_once() { all = {}; }

void add_to_memory(float* to, float const (&numbers)[4]) {
    Addition const addition{to, std::to_array(numbers), blockIdx.x};
    if (!all.random) return add(addition);
    all.waiting.push_back(addition);
    ++all.started[addition.block];
}

void show_number(int* to, int number, bool is_behind_additions) {
    *to = number;
    if (is_behind_additions) all.shown[to] = {blockIdx.x, all.started[blockIdx.x]};
    else all.shown.erase(to);
}

bool has_number(int const* from, int number) {
    if (*from != number || !sees(from)) return false;
    if (auto const shown = all.shown.find(from); shown != all.shown.end())
        do_first(shown->second.block, shown->second.additions);
    return true;
}

void finish_additions() {
    std::vector<unsigned> blocks;
    for (auto const& [block, count] : all.started) blocks.push_back(block);
    if (all.random) std::shuffle(blocks.begin(), blocks.end(), *all.random);
    for (unsigned const block : blocks) do_first(block, all.started[block]);
    all.shown.clear();
    all.started.clear();
    all.done.clear();
}

}  // namespace sdpa_test
