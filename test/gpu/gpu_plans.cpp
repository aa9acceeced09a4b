// Plans that were built offline, run on the GPU. Two processes, since offline planning and a GPU do not mix in one:
//   gpu_plans store <folder>   plans the cases offline for the device and stores the plans
//   gpu_plans run <folder>     loads, runs and checks them, and compares their engines and numbers with those of live
//   plans
#include "gpu/device_mirror.h"
#include "gpu/gpu_cases.h"
#include "reference/check_case.h"

#include <cudnn_frontend/runtime.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace sdpa_test;
using Bytes = std::vector<std::uint8_t>;
using Error = cudnn_frontend::error_object;

constexpr int kStoredCases = 24;

// One case of each group.
std::vector<AttentionCase> plan_cases() {
    std::vector<AttentionCase> cases;
    for (CaseGroup const& group : gpu_case_groups()) cases.push_back(group.cases[cases.size() % group.cases.size()]);
    return cases;
}

std::string path_of(std::string const& folder, std::size_t index, bool is_backward) {
    return folder + "/" + std::to_string(index) + (is_backward ? ".backward" : ".forward");
}

Error store(Session& session, std::string const& path) {
    if (Error const error = session.build(Target::offline("h200")); error.is_bad()) return error;
    Bytes bytes;
    if (Error const error = session.graph().serialize(bytes); error.is_bad()) return error;
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return {};
}

Error store_passes(AttentionCase const& c, std::string const& folder, std::size_t index) {
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session forward(c, in, out);
    if (Error const error = store(forward, path_of(folder, index, false)); error.is_bad()) return error;
    BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, out.rng_dump)));
    BackwardOutputs const gradients = make_backward_outputs(c);
    Session backward(c, in, more, gradients);
    return store(backward, path_of(folder, index, true));
}

// Stores the first cases that no limit of this cuDNN refuses.
int store_all(std::string const& folder) {
    int stored = 0, failures = 0;
    std::vector<AttentionCase> const cases = plan_cases();
    for (std::size_t i = 0; i < cases.size() && stored + failures < kStoredCases; ++i) {
        Error const error = store_passes(cases[i], folder, i);
        bool const is_limit = error.get_message().find("[cudnn.s") != std::string::npos;
        if (error.is_bad()) std::printf("%s: %s\n", describe(cases[i]).c_str(), error.get_message().c_str());
        stored += error.is_good() ? 1 : 0;
        failures += error.is_bad() && !is_limit ? 1 : 0;
    }
    std::printf("stored %d forward and backward plans, %d failures\n", stored, failures);
    return stored == kStoredCases ? 0 : 1;
}

bool is_stored(std::string const& folder, std::size_t index) {
    return std::filesystem::exists(path_of(folder, index, false)) &&
           std::filesystem::exists(path_of(folder, index, true));
}

using Bits = std::vector<std::vector<std::byte>>;

// The session's memory, guards included, and the way back to it.
Bits bits_of(Session const& session) {
    Bits bits;
    for (Session::Entry const& entry : session.entries()) {
        HostMemory const& memory = *entry.memory.memory;
        bits.emplace_back(memory.first(), memory.first() + memory.extent());
    }
    return bits;
}

void restore(Session const& session, Bits const& bits) {
    for (std::size_t i = 0; i < bits.size(); ++i) {
        HostMemory const& memory = *session.entries()[i].memory.memory;
        std::memcpy(const_cast<std::byte*>(memory.first()), bits[i].data(), bits[i].size());
    }
}

// Runs a session by its own plan and then, on the same memory, by a stored one, whose numbers are left there for the
// oracle. Both plans are to be of one engine and give the same bits.
class StoredRun {
   public:
    StoredRun(std::string folder, std::size_t index, GpuStream const& gpu, std::string& faults)
        : folder_(std::move(folder)), index_(index), gpu_(gpu), faults_(faults) {}

    Error operator()(Session const& session) {
        std::string const path = path_of(folder_, index_, is_backward_);
        is_backward_ = true;  // which comes second
        std::ifstream file(path, std::ios::binary);
        Bytes const bytes{std::istreambuf_iterator<char>(file), {}};
        cudnn_frontend::graph::Graph stored;
        if (Error const error = stored.deserialize(gpu_.handle(), bytes); error.is_bad()) return error;
        compare_engines(path, stored, session.graph());
        Bits const before = bits_of(session);
        if (Error const error = execute_on_gpu(session, gpu_); error.is_bad()) return error;
        Bits const live = bits_of(session);
        restore(session, before);
        if (Error const error = execute_graph_on_gpu(stored, session, gpu_); error.is_bad()) return error;
        compare_bits(path, session, live);
        return {};
    }
    static int compared_by_bits() { return by_bits_; }

   private:
    void compare_engines(std::string const& path, Graph const& stored, Graph const& live) {
        std::string stored_name, live_name;
        static_cast<void>(stored.get_plan_name(stored_name));
        static_cast<void>(live.get_plan_name(live_name));
        if (stored_name == live_name && !live_name.empty()) return;
        faults_ += path + ": the engine is " + stored_name + " offline, " + live_name + " live\n";
    }

    // Where sums are added up in any order the bits of two runs differ: those numbers are the oracle's to check.
    void compare_bits(std::string const& path, Session const& session, Bits const& live) {
        bool is_deterministic = false;
        static_cast<void>(session.graph().get_is_deterministic(is_deterministic));
        Bits const stored = bits_of(session);
        for (std::size_t i = 0; is_deterministic && i < live.size(); ++i) {
            if (stored[i] == live[i]) continue;
            faults_ += path + ": " + session.entries()[i].tensor->get_name() + " differs from that of the live plan\n";
        }
        by_bits_ += is_deterministic ? 1 : 0;
    }

    static inline int by_bits_ = 0;
    std::string folder_;
    std::size_t index_;
    GpuStream const& gpu_;
    std::string& faults_;
    bool is_backward_ = false;
};

int run_all(std::string const& folder) {
    GpuStream const gpu;
    if (gpu.status().is_bad()) {
        std::printf("%s\n", gpu.status().get_message().c_str());
        return 1;
    }
    int count = 0, failures = 0;
    std::vector<AttentionCase> const cases = plan_cases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!is_stored(folder, i)) continue;
        ++count;
        Rig rig(Target::cuda(gpu.handle()));
        std::string faults;
        rig.execute = StoredRun(folder, i, gpu, faults);
        rig.rounds_factors = true;
        rig.defines_padded_rows = rig.dumps_masked_elements = false;
        faults += check_case(cases[i], rig).faults();
        if (!faults.empty()) std::printf("%s\n%s\n", describe(cases[i]).c_str(), faults.c_str());
        failures += faults.empty() ? 0 : 1;
    }
    int const by_bits = StoredRun::compared_by_bits();
    std::printf("%d cases by plans made offline, forward and backward: %d failures; %d of %d runs compared by bits\n",
                count, failures, by_bits, 2 * count);
    return failures == 0 && by_bits > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::puts("usage: gpu_plans store|run <folder>");
        return 2;
    }
    return std::strcmp(argv[1], "store") == 0 ? store_all(argv[2]) : run_all(argv[2]);
}
