// Plans that were built offline, run on the GPU. Processes of their own, since offline planning and a GPU do not mix:
//   gpu_plans device <folder>   stores the description of this machine's GPU
//   gpu_plans store <folder>    plans the cases offline for it, and for each device of its kind that the library
//                               describes, as for an H100 and an H200 on either; stores the plans
//   gpu_plans run <folder>      loads, runs and checks them, and compares their engines and numbers with those of live
//                               plans
#include "gpu/cases/gpu_cases.h"
#include "gpu/cases/support_matrix_file.h"
#include "gpu/device_mirror.h"
#include "reference/checks/check_case.h"

#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>

namespace {

using namespace sdpa_test;
using cudnn_frontend::DeviceProperties;
using Bytes = std::vector<std::uint8_t>;
using Error = cudnn_frontend::error_object;
namespace files = std::filesystem;

constexpr std::size_t kCases = 40;
constexpr char const* kHere = "here";

// Groups of every sort.
std::vector<CaseGroup> plan_groups() {
    std::vector<CaseGroup> const all = gpu_case_groups();
    std::vector<CaseGroup> groups;
    for (std::size_t i = 0; i < kCases; ++i) groups.push_back(all[i * all.size() / kCases]);
    return groups;
}

// A case of each. The order in which backward adds up is fixed in every other one, so that its bits can be compared.
std::vector<AttentionCase> plan_cases() {
    std::vector<CaseGroup> const groups = plan_groups();
    std::vector<AttentionCase> cases;
    for (std::size_t i = 0; i < kCases; ++i) {
        cases.push_back(groups[i].cases[i % groups[i].cases.size()]);
        cases.back().deterministic |= i % 2 == 1 && !is_fp8(cases.back().type);
    }
    return cases;
}

// Calls work(index) for each case, with a thread for each core.
void for_each_case(std::function<void(std::size_t)> const& work) {
    std::atomic<std::size_t> next{0};
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
        threads.emplace_back([&] {
            for (std::size_t index = next++; index < kCases; index = next++) work(index);
        });
    }
}

files::path path_of(files::path const& folder, std::size_t index, bool is_backward) {
    return folder / (std::to_string(index) + (is_backward ? ".backward" : ".forward"));
}

bool write(files::path const& path, Bytes const& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return file.good();
}

Bytes read(files::path const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

int record_device(files::path const& folder) {
    GpuStream const gpu;
    DeviceProperties device;
    Error error = gpu.status();
    if (error.is_good()) error = device.set_handle(gpu.handle()).build();
    Bytes bytes;
    if (error.is_good()) error = device.serialize(bytes);
    std::printf("%s\n", error.is_good() ? device.to_json().c_str() : error.get_message().c_str());
    return error.is_good() && write(folder / "here.json", bytes) ? 0 : 1;
}

// A figure of a device's description, as it is written there.
std::string figure(DeviceProperties const& device, std::string const& name) {
    std::string const& json = device.to_json();
    auto const at = json.find("\"" + name + "\":");
    if (at == json.npos) return "";
    auto const begin = at + name.size() + 3;
    return json.substr(begin, json.find_first_of(",}", begin) - begin);
}

using Devices = std::vector<std::pair<std::string, std::shared_ptr<DeviceProperties const>>>;

// The one of this machine first.
Devices devices_of_this_kind(files::path const& folder) {
    DeviceProperties here;
    static_cast<void>(here.deserialize(read(folder / "here.json")));  // kept as the status
    Devices devices = {{kHere, std::make_shared<DeviceProperties const>(std::move(here))}};
    for (std::string const& name : DeviceProperties::names()) {
        auto const known = std::make_shared<DeviceProperties const>(DeviceProperties::named(name));
        bool is_of_kind = true;
        for (char const* const of : {"deviceVer", "multiProcessorCount"}) {
            is_of_kind &= figure(*known, of) == figure(*devices[0].second, of);
        }
        if (is_of_kind) devices.emplace_back(name, known);
    }
    return devices;
}

Error store(Session& session, std::shared_ptr<DeviceProperties const> const& device, files::path const& path) {
    if (Error const error = session.build(Target::offline(device)); error.is_bad()) return error;
    Bytes bytes;
    if (Error const error = session.graph().serialize(bytes); error.is_bad()) return error;
    return write(path, bytes) ? Error()
                              : Error{cudnn_frontend::error_code_t::INVALID_VALUE, "cannot write " + path.string()};
}

Error store_passes(AttentionCase const& c, std::shared_ptr<DeviceProperties const> const& device,
                   files::path const& folder, std::size_t index) {
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session forward(c, in, out);
    Error const error = store(forward, device, path_of(folder, index, false));
    if (error.is_bad() || !c.has_backward()) return error;
    BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, out.rng_dump)));
    BackwardOutputs const gradients = make_backward_outputs(c);
    Session backward(c, in, more, gradients);
    return store(backward, device, path_of(folder, index, true));
}

// How many cases are to be stored at least. The support matrix is about another case of each group, and one without a
// fixed order, so that single cases may differ from it.
std::size_t least_stored(DeviceProperties const& device) {
    int const capability = std::atoi(figure(device, "deviceVer").c_str()) / 10;
    auto const matrix = SupportMatrixColumn::find(cudnn_frontend::runtime::cudnn_version(), capability);
    if (!matrix) return 1;
    std::size_t taken = 0;
    for (CaseGroup const& group : plan_groups()) {
        bool const is_refused = matrix->limits_of(group.name, false) != "" ||
                                (group.cases[3].has_backward() && matrix->limits_of(group.name, true) != "");
        taken += is_refused ? 0 : 1;
    }
    return taken * 3 / 4;
}

// Stores the cases that no limit of this cuDNN refuses.
bool store_for(std::shared_ptr<DeviceProperties const> const& device, files::path const& folder) {
    files::create_directories(folder);
    std::atomic<std::size_t> stored{0}, failed{0};
    std::vector<AttentionCase> const cases = plan_cases();
    for_each_case([&](std::size_t i) {
        Error const error = store_passes(cases[i], device, folder, i);
        if (error.is_good()) {
            ++stored;
            return;
        }
        for (bool const is_backward : {false, true}) files::remove(path_of(folder, i, is_backward));
        if (error.get_message().find("[cudnn.s") != std::string::npos) return;
        std::printf("%s: %s\n", describe(cases[i]).c_str(), error.get_message().c_str());
        ++failed;
    });
    std::size_t const least = least_stored(*device);
    std::printf("%s, %s: plans of %zu cases stored, at least %zu are needed; %zu failures\n", folder.filename().c_str(),
                figure(*device, "deviceName").c_str(), stored.load(), least, failed.load());
    return failed == 0 && stored >= least;
}

int store_all(files::path const& folder) {
    bool is_good = true;
    for (auto const& [name, device] : devices_of_this_kind(folder)) is_good &= store_for(device, folder / name);
    return is_good ? 0 : 1;
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

struct Counts {
    int cases = 0, failed = 0;
    int runs = 0, of_first_choice = 0, of_other_choice = 0, by_bits = 0;

    void add(Counts const& others) {
        cases += others.cases, failed += others.failed;
        runs += others.runs, of_first_choice += others.of_first_choice, of_other_choice += others.of_other_choice;
        by_bits += others.by_bits;
    }
};

// Runs a session by a live plan and then, on the same memory, by a stored one of the same engine and knobs, whose
// numbers are left there for the oracle. Both are to give the same bits.
class StoredRun {
   public:
    StoredRun(files::path const& folder, std::size_t index, GpuStream const& gpu, Counts& counts, std::string& faults)
        : paths_{path_of(folder, index, false), path_of(folder, index, true)},
          is_for_this_gpu_(folder.filename() == kHere),
          gpu_(gpu),
          counts_(counts),
          faults_(faults) {}

    Error operator()(Session const& session) {
        files::path const& path = paths_[is_backward_ ? 1 : 0];
        is_backward_ = true;  // backward comes second
        Graph stored, live(session.graph());
        if (Error const error = stored.deserialize(gpu_.handle(), read(path)); error.is_bad()) return error;
        ++counts_.runs;
        bool const has_twin = choose_engine(stored, live, path);
        Bits const before = bits_of(session);
        if (Error const error = execute_graph_on_gpu(live, session, gpu_); error.is_bad()) return error;
        Bits const wanted = bits_of(session);
        restore(session, before);
        if (Error const error = execute_graph_on_gpu(stored, session, gpu_); error.is_bad()) return error;
        if (has_twin) compare_bits(path, session, wanted);
        return {};
    }

   private:
    // Has the live graph run by the engine of the stored plan. Heuristics may name another one first for another board.
    bool choose_engine(Graph const& stored, Graph& live, files::path const& path) {
        std::string wanted, name;
        static_cast<void>(stored.get_plan_name(wanted));
        static_cast<void>(live.get_plan_name(name));
        if (name == wanted && !name.empty()) {
            ++counts_.of_first_choice;
            return true;
        }
        if (is_for_this_gpu_) faults_ += path.string() + ": the engine is " + wanted + " offline, " + name + " live\n";
        for (std::int64_t i = 0; i < live.get_execution_plan_count(); ++i) {
            if (live.get_plan_name_at_index(i, name).is_bad() || name != wanted) continue;
            if (live.build_plan_at_index(gpu_.handle(), i).is_bad()) break;
            ++counts_.of_other_choice;
            return true;
        }
        std::printf("%s: no live plan is %s, so bits are not compared\n", path.c_str(), wanted.c_str());
        return false;
    }

    // Sums in any order make the bits of two runs differ: the oracle checks those numbers.
    void compare_bits(files::path const& path, Session const& session, Bits const& wanted) {
        bool is_deterministic = false;
        static_cast<void>(session.graph().get_is_deterministic(is_deterministic));
        if (!is_deterministic) return;
        Bits const found = bits_of(session);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (found[i] == wanted[i]) continue;
            faults_ += path.string() + ": " + session.entries()[i].tensor->get_name() +
                       " differs from that of the live plan\n";
        }
        ++counts_.by_bits;
    }

    files::path paths_[2];
    bool is_for_this_gpu_, is_backward_ = false;
    GpuStream const& gpu_;
    Counts& counts_;
    std::string& faults_;
};

// A case by its stored plans, with a stream of its own.
Counts run_case(AttentionCase const& c, files::path const& folder, std::size_t index) {
    Counts counts{.cases = 1};
    GpuStream const gpu;
    Rig rig(Target::cuda(gpu.handle()));
    std::string faults;
    rig.execute = StoredRun(folder, index, gpu, counts, faults);
    rig.rounds_factors = true;
    rig.defines_padded_rows = rig.dumps_masked_elements = false;
    faults += gpu.status().is_bad() ? gpu.status().get_message() : check_case(c, rig).faults();
    if (!faults.empty()) std::printf("%s\n%s\n", describe(c).c_str(), faults.c_str());
    counts.failed = faults.empty() ? 0 : 1;
    return counts;
}

// Runs the plans of a folder; returns whether all are right.
bool run_those_for(files::path const& folder) {
    Counts counts;
    std::mutex mutex;
    std::vector<AttentionCase> const cases = plan_cases();
    for_each_case([&](std::size_t i) {
        if (!files::exists(path_of(folder, i, false))) return;
        Counts const more = run_case(cases[i], folder, i);
        std::lock_guard const lock(mutex);
        counts.add(more);
    });
    std::printf(
        "made offline for %s: %d cases, %d failures; %d runs, %d by the engine that is chosen live, %d by "
        "another one that is named live, %d compared by bits\n",
        folder.filename().c_str(), counts.cases, counts.failed, counts.runs, counts.of_first_choice,
        counts.of_other_choice, counts.by_bits);
    return counts.failed == 0 && counts.by_bits > 0;
}

int run_all(files::path const& folder) {
    std::printf("%s here\n", figure(*devices_of_this_kind(folder)[0].second, "deviceName").c_str());
    int folders = 0;
    bool is_good = true;
    for (files::directory_entry const& entry : files::directory_iterator(folder)) {
        if (!entry.is_directory()) continue;
        is_good &= run_those_for(entry.path());
        ++folders;
    }
    return is_good && folders > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::string const command = argc == 3 ? argv[1] : "";
    if (command == "device") return record_device(argv[2]);
    if (command == "store") return store_all(argv[2]);
    if (command == "run") return run_all(argv[2]);
    std::puts("usage: gpu_plans device|store|run <folder>");
    return 2;
}
