// Plans that were built offline, run on the GPU. Two processes, since offline planning and a GPU do not mix in one:
//   gpu_plans store <folder>   plans the cases offline for the device and stores the plans
//   gpu_plans run <folder>     loads, runs and checks them, and compares their engines with those of live planning
#include "gpu/device_mirror.h"
#include "gpu/gpu_cases.h"
#include "reference/check_case.h"

#include <cudnn_frontend/runtime.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace {

using namespace sdpa_test;
using Bytes = std::vector<std::uint8_t>;
using Error = cudnn_frontend::error_object;

// One case of each group, forward and backward.
std::vector<AttentionCase> plan_cases() {
    std::vector<AttentionCase> cases;
    for (CaseGroup const& group : gpu_case_groups()) {
        if (cases.size() < 24) cases.push_back(group.cases[cases.size() % group.cases.size()]);
    }
    return cases;
}

std::string path_of(std::string const& folder, std::size_t index, bool is_backward) {
    return folder + "/" + std::to_string(index) + (is_backward ? ".backward" : ".forward");
}

bool store(Session& session, std::string const& path) {
    Bytes bytes;
    Error error = session.build(Target::offline("h200"));
    if (error.is_good()) error = session.graph().serialize(bytes);
    if (error.is_bad()) std::printf("%s: %s\n", path.c_str(), error.get_message().c_str());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return error.is_good();
}

int store_all(std::string const& folder) {
    int failures = 0;
    std::vector<AttentionCase> const cases = plan_cases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        Inputs const in = make_inputs(cases[i]);
        ForwardOutputs const out = make_forward_outputs(cases[i]);
        Session forward(cases[i], in, out);
        failures += store(forward, path_of(folder, i, false)) ? 0 : 1;
        BackwardInputs const more =
            make_backward_inputs(cases[i], oracle::forward(to_problem(cases[i], in, out.rng_dump)));
        BackwardOutputs const gradients = make_backward_outputs(cases[i]);
        Session backward(cases[i], in, more, gradients);
        failures += store(backward, path_of(folder, i, true)) ? 0 : 1;
    }
    std::printf("stored %zu forward and backward plans, %d failures\n", cases.size(), failures);
    return failures == 0 ? 0 : 1;
}

// Runs a session by a stored plan in place of its own.
class StoredRun {
   public:
    StoredRun(std::string folder, std::size_t index, GpuStream const& gpu)
        : folder_(std::move(folder)), index_(index), gpu_(gpu) {}

    Error operator()(Session const& session) {
        std::ifstream file(path_of(folder_, index_, is_backward_), std::ios::binary);
        Bytes const bytes{std::istreambuf_iterator<char>(file), {}};
        is_backward_ = true;  // which comes second
        cudnn_frontend::graph::Graph stored;
        if (Error const error = stored.deserialize(gpu_.handle(), bytes); error.is_bad()) return error;
        std::string name, live;
        static_cast<void>(stored.get_plan_name(name));
        static_cast<void>(session.graph().get_plan_name(live));
        if (name != live) std::printf("case %zu: engine %s offline, %s live\n", index_, name.c_str(), live.c_str());
        same_engines_ += name == live ? 1 : 0;
        return execute_graph_on_gpu(stored, session, gpu_);
    }
    static int same_engines() { return same_engines_; }

   private:
    static inline int same_engines_ = 0;
    std::string folder_;
    std::size_t index_;
    GpuStream const& gpu_;
    bool is_backward_ = false;
};

int run_all(std::string const& folder) {
    GpuStream const gpu;
    if (gpu.status().is_bad()) {
        std::printf("%s\n", gpu.status().get_message().c_str());
        return 1;
    }
    int failures = 0;
    std::vector<AttentionCase> const cases = plan_cases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        Rig rig(Target::cuda(gpu.handle()));
        rig.execute = StoredRun(folder, i, gpu);
        rig.rounds_factors = true;
        rig.defines_padded_rows = rig.dumps_masked_elements = false;
        Outcome const outcome = check_case(cases[i], rig);
        if (!outcome.faults.empty()) std::printf("%s\n%s\n", describe(cases[i]).c_str(), outcome.faults.c_str());
        failures += outcome.faults.empty() ? 0 : 1;
    }
    std::printf("%zu cases by plans made offline, forward and backward: %d failures; %d of %zu engines as live\n",
                cases.size(), failures, StoredRun::same_engines(), 2 * cases.size());
    return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::puts("usage: gpu_plans store|run <folder>");
        return 2;
    }
    return std::strcmp(argv[1], "store") == 0 ? store_all(argv[2]) : run_all(argv[2]);
}
