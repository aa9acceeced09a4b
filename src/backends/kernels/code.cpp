#include "kernels/code.h"

#include "cuda/nvrtc.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

constexpr cuda::SourceFile kDeviceSources[] = {
#include "device_sources.inc"
};

char const* element_name(DataType_t type) {
    switch (type) {
        case DataType_t::BFLOAT16: return "bfloat16";
        case DataType_t::HALF: return "half";
        case DataType_t::INT32: return "int";
        default: return "float";
    }
}

Result<cuda::CompiledCode> compile(CodeName const& name) {
    auto const nvrtc = cuda::nvrtc();
    if (nvrtc.is_bad()) return nvrtc.error();
    std::string const file = name.kernel + ".cu";
    auto const source = std::ranges::find(kDeviceSources, file, &cuda::SourceFile::name);
    std::string const defines[] = {std::string("X=") + element_name(name.from),
                                   std::string("Y=") + element_name(name.to),
                                   std::string("INDEX=unsigned") + (name.is_wide ? " long long" : "")};
    return cuda::compile(*nvrtc.value(), *source, kDeviceSources, defines, name.compute_capability);
}

// What the process has. Never emptied: there are few types, and a program's devices are of few kinds.
struct Slot {
    std::mutex mutex;  // held while the code is compiled, which others then wait for
    std::shared_ptr<Code const> code;
};

Slot& slot_of(CodeName const& name) {
    static auto& slots = *new std::map<std::string, Slot>;  // never destroyed: programs may compile until they end
    static std::mutex mutex;
    std::lock_guard const lock(mutex);
    return slots[name.text()];
}

}  // namespace

std::string CodeName::text() const {
    return kernel + " " + element_name(from) + " " + element_name(to) + (is_wide ? " wide" : "") + " sm_" +
           std::to_string(compute_capability) + " " + SDPA_GRAPH_DEVICE_DIGEST;
}

error_t Code::load() const {
    auto module = cuda::Module::load(cubin_);
    if (module.is_bad()) return module.error();
    SDPA_GRAPH_TRY(module.value()->kernel(name_.kernel + "_vectors").move_to(vectors_));
    SDPA_GRAPH_TRY(module.value()->kernel(name_.kernel + "_elements").move_to(elements_));
    module_ = std::move(module).value();
    return {};
}

Result<CUkernel> Code::function(bool by_vectors) const {
    std::lock_guard const lock(mutex_);
    if (!module_) SDPA_GRAPH_TRY(load());
    return by_vectors ? vectors_ : elements_;
}

Result<std::shared_ptr<Code const>> find_code(CodeName const& name) {
    Slot& slot = slot_of(name);
    std::lock_guard const lock(slot.mutex);
    if (slot.code) return slot.code;
    auto compiled = compile(name);
    if (compiled.is_bad()) return compiled.error();
    slot.code = std::make_shared<Code const>(name, std::move(compiled.value().cubin));
    return slot.code;
}

std::shared_ptr<Code const> find_code(CodeName const& name, std::string_view cubin) {
    Slot& slot = slot_of(name);
    std::lock_guard const lock(slot.mutex);
    if (!slot.code) slot.code = std::make_shared<Code const>(name, std::string(cubin));
    return slot.code;
}

Result<std::string> compiler_log(CodeName const& name) {
    auto compiled = compile(name);
    if (compiled.is_bad()) return compiled.error();
    return std::move(compiled.value().log);
}

}  // namespace cudnn_frontend::kernels
