// A program that compares engines: it plans a prefill for cuDNN's engines and for those that are not cuDNN's, in each
// layout of its memory, and runs both plans on the same tensors.
#include "prefill.h"

namespace {

using namespace compat;

void run_in(Machine const& machine, Memory memory) {
    Prefill prefill;
    prefill.memory = memory;
    fe::graph::Graph by_cudnn, by_others;
    prefill.describe(by_cudnn);
    prefill.describe(by_others);
    EXPECT(build(machine, by_cudnn, fe::HeurMode_t::A).rfind("eng", 0) == 0);
    std::string const other = build(machine, by_others, fe::HeurMode_t::OPENSOURCE);
    EXPECT(other.empty() || other == "attention");
    if (!machine.has_gpu() || other.empty()) return;
    PrefillMemory memory_of_both(machine, prefill);
    auto workspace = workspace_of(machine, by_cudnn.get_workspace_size() + by_others.get_workspace_size());
    EXPECT(
        by_cudnn.execute(machine.handle(), memory_of_both.pack(memory_of_both.of_cudnn), workspace.data()).is_good());
    EXPECT(
        by_others.execute(machine.handle(), memory_of_both.pack(memory_of_both.of_others), workspace.data()).is_good());
    memory_of_both.compare(prefill);
}

void run(Machine const& machine) {
    run_in(machine, Memory::HeadsOutside);
    run_in(machine, Memory::TokensOutside);
}

}  // namespace

int main() { return compat::main_of(run); }
