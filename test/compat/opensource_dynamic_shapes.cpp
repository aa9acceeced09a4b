// The same comparison by a server: each graph is planned once, for the longest prompt and with dynamic shapes, and runs
// prompts of any length in the memory of the longest one.
#include "prefill.h"

namespace {

using namespace compat;

// The shapes of a shorter prompt at the addresses of a longer one.
struct Override {
    std::vector<std::int64_t> uids;
    std::vector<Sizes> shapes, strides;

    explicit Override(Prefill const& prompt) {
        for (int uid = 0; uid < Prefill::Uids; ++uid) {
            uids.push_back(uid);
            shapes.push_back(prompt.dim(uid));
            strides.push_back(prompt.stride(uid));
        }
    }
};

std::string build_for_all_lengths(Machine const& machine, fe::graph::Graph& graph, Prefill const& longest,
                                  fe::HeurMode_t mode, std::shared_ptr<fe::KernelCache> const& cache) {
    graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
    longest.describe(graph);
    return build(machine, graph, mode);
}

void run(Machine const& machine) {
    Prefill longest;
    longest.memory = Memory::TokensOutside;
    auto cache = std::make_shared<fe::KernelCache>();
    fe::graph::Graph by_cudnn, by_others;
    // Only some releases of cuDNN have engines for dynamic shapes; with others mode A finds the same engine.
    std::string const first = build_for_all_lengths(machine, by_cudnn, longest, fe::HeurMode_t::A, cache);
    EXPECT(first.empty() || first.rfind("eng", 0) == 0 || first == "attention");
    std::string const other = build_for_all_lengths(machine, by_others, longest, fe::HeurMode_t::OPENSOURCE, cache);
    EXPECT(other.empty() || other == "attention");
    if (!machine.has_gpu() || first.empty() || other.empty()) return;
    auto workspace = workspace_of(machine, by_cudnn.get_workspace_size() + by_others.get_workspace_size());
    for (std::int64_t const tokens : {longest.tokens, std::int64_t(100), std::int64_t(17)}) {
        Prefill prompt = longest;
        prompt.tokens = tokens;
        Override const shapes(prompt);
        PrefillMemory memory(machine, prompt);
        EXPECT(by_cudnn
                   .execute(machine.handle(), memory.pack(memory.of_cudnn), workspace.data(), shapes.uids,
                            shapes.shapes, shapes.strides)
                   .is_good());
        EXPECT(by_others
                   .execute(machine.handle(), memory.pack(memory.of_others), workspace.data(), shapes.uids,
                            shapes.shapes, shapes.strides)
                   .is_good());
        memory.compare(prompt);
    }
}

}  // namespace

int main() { return compat::main_of(run); }
