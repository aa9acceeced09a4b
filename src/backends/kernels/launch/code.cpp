#include "kernels/launch/code.h"

#include "core/findings.h"
#include "core/process/plan_store.h"
#include "core/text.h"
#include "cuda/driver.h"
#include "plan/storage/store_entry.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

constexpr cuda::SourceFile kDeviceSources[] = {
#include "device_headers.inc"
#include "kernel_sources.inc"
#include "layer_headers.inc"
};

Result<cuda::CompiledCode> compile(CodeName const& name) {
    auto const nvrtc = cuda::nvrtc();
    if (nvrtc.is_bad()) return nvrtc.error();
    std::string const file = name.source + ".cu";
    auto const source = std::ranges::find(kDeviceSources, file, &cuda::SourceFile::name);
    std::vector<cuda::SourceFile> headers(std::begin(kDeviceSources), std::end(kDeviceSources));
    if (!name.score_code.empty()) headers.push_back({"score_code.cuh", name.score_code.c_str()});
    return cuda::compile(*nvrtc.value(), *source, headers, name.defines, name.architecture);
}

// A driver loads the code that its own and older releases of NVRTC compile. Without a driver it is one of the
// compiler's release for which the code is stored. None where there is neither.
std::vector<std::string> environments_of_code() {
    constexpr int kOldest = 12;
    auto newest = cuda::driver_major();
    if (newest.is_bad()) newest = cuda::nvrtc_major();
    std::vector<std::string> environments;
    for (int major = newest.is_good() ? newest.value() : 0; major >= kOldest; --major) {
        environments.push_back(core::text("kernels of ", plan::versioned_library(), ", driver for CUDA ", major));
    }
    return environments;
}

// The code comes from the process's plan store, or is compiled.
Result<std::string> find_cubin(CodeName const& name) {
    auto const entry = plan::StoreEntry::of(environments_of_code(), name.text());
    core::process::EngineCounts& counts = core::process::engine_counts_of_thread();
    if (auto stored = entry ? entry->read() : std::nullopt) {
        ++counts.loaded_kernels;
        return std::move(stored->bytes);
    }
    ++counts.compiled_kernels;
    auto compiled = compile(name);
    if (compiled.is_bad()) return compiled.error();
    if (entry) entry->write(compiled.value().cubin);
    return std::move(compiled.value().cubin);
}

// The process's compiled code. Never emptied: there are few types, and a program's devices are of few kinds.
struct CodeSlot {
    std::mutex mutex;  // held while the code is compiled, which others then wait for
    std::shared_ptr<Code const> code;
};

CodeSlot& slot_of(CodeName const& name) {
    static auto& slots = *new std::map<std::string, CodeSlot>;  // never destroyed: programs may compile until they end
    static std::mutex mutex;
    std::lock_guard const lock(mutex);
    return slots[name.text()];
}

void enter(std::shared_ptr<Code const> code) {
    CodeSlot& slot = slot_of(code->name());
    std::lock_guard const lock(slot.mutex);
    if (!slot.code) slot.code = std::move(code);
}

}  // namespace

char const* element_name(DataType_t type) {
    switch (type) {
        case DataType_t::BFLOAT16: return "bfloat16";
        case DataType_t::HALF: return "half";
        case DataType_t::INT32: return "int";
        default: return "float";
    }
}

std::string CodeName::text() const {
    std::string text = source;
    for (std::string const& define : defines) text += " " + define;
    text += " " + architecture.name() + " " + SDPA_GRAPH_DEVICE_DIGEST;
    for (char const letter : score_code) text += letter == '\n' ? ' ' : letter;
    return text;
}

Result<CUkernel> Code::function(std::size_t number) const {
    std::lock_guard const lock(mutex_);
    if (!module_) {
        SDPA_GRAPH_TRY(cuda::Module::load(cubin_).move_to(module_));
        functions_.resize(name_.functions.size());
        enter(shared_from_this());
    }
    CUkernel& function = functions_[number];
    if (function == nullptr) SDPA_GRAPH_TRY(module_->kernel(name_.functions[number]).move_to(function));
    return function;
}

Result<std::shared_ptr<Code const>> find_code(CodeName const& name) {
    CodeSlot& slot = slot_of(name);
    std::lock_guard const lock(slot.mutex);
    if (slot.code) return slot.code;
    auto cubin = find_cubin(name);
    if (cubin.is_bad()) return cubin.error();
    slot.code = std::make_shared<Code const>(name, std::move(cubin).value());
    return slot.code;
}

std::shared_ptr<Code const> find_code(CodeName const& name, std::string_view cubin) {
    CodeSlot& slot = slot_of(name);
    std::lock_guard const lock(slot.mutex);
    return slot.code ? slot.code : std::make_shared<Code const>(name, std::string(cubin));
}

Result<std::shared_ptr<Code const>> stored_code(CodeName const& name, std::string_view stored) {
    std::string_view const found = stored.substr(0, stored.find('\n'));
    if (found == name.text() && found.size() < stored.size()) return find_code(name, stored.substr(found.size() + 1));
    return core::error_at("the stored kernel", error_code_t::INVALID_VALUE,
                          "\"" + std::string(found.substr(0, 100)) + "\"", "\"" + name.text() + "\"",
                          "plan the graph again and store that plan");
}

std::string to_store(Code const& code) { return code.name().text() + "\n" + code.cubin(); }

Result<std::string> compiler_log(CodeName const& name) {
    auto compiled = compile(name);
    if (compiled.is_bad()) return compiled.error();
    return std::move(compiled.value().log);
}

}  // namespace cudnn_frontend::kernels
