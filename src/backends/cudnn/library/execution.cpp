#include "cudnn/library/execution.h"

#include "cudnn/library/api.h"

#include <algorithm>
#include <array>

namespace cudnn_frontend::cudnn {
namespace {

// The address of an engine's tensor in this run.
void* pointer_of(BoundTensor const& tensor, Bindings const& bindings, RunMemory const& memory) {
    auto const at = static_cast<std::size_t>(tensor.at);
    switch (tensor.source) {
        case MemorySource::Caller: return memory.caller[at];
        case MemorySource::Number: return const_cast<std::uint64_t*>(&bindings.numbers[at]);  // cuDNN reads only
        case MemorySource::Table: return memory.tables[at];
        case MemorySource::Workspace: return static_cast<std::byte*>(memory.workspace) + at;
    }
    return nullptr;
}

// The pointers of a pack, without an allocation for as many tensors as attention graphs have.
class PackArrays {
   public:
    PackArrays(Bindings const& bindings, RunMemory const& memory) : count_(bindings.tensors.size()) {
        if (count_ > kInline) {
            more_uids_.resize(count_);
            more_pointers_.resize(count_);
        }
        std::int64_t* const uids = count_ > kInline ? more_uids_.data() : uids_.data();
        void** const pointers = count_ > kInline ? more_pointers_.data() : pointers_.data();
        for (std::size_t i = 0; i < count_; ++i) {
            uids[i] = bindings.tensors[i].uid;
            pointers[i] = pointer_of(bindings.tensors[i], bindings, memory);
        }
        uid_list_ = {uids, count_};
        pointer_list_ = {pointers, count_};
    }
    PackArrays(PackArrays const&) = delete;
    PackArrays& operator=(PackArrays const&) = delete;

    std::span<std::int64_t const> uids() const { return uid_list_; }
    std::span<void* const> pointers() const { return pointer_list_; }

   private:
    static constexpr std::size_t kInline = 48;

    std::size_t count_;
    std::array<std::int64_t, kInline> uids_;
    std::array<void*, kInline> pointers_;
    std::vector<std::int64_t> more_uids_;
    std::vector<void*> more_pointers_;
    std::span<std::int64_t const> uid_list_;
    std::span<void* const> pointer_list_;
};

error_t make_pack(Api const& api, PackArrays const& arrays, void* workspace, Descriptor& pack) {
    pack = Descriptor(api, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "variant pack");
    return pack.set_list(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, arrays.uids())
        .set_addresses(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, arrays.pointers())
        .set_addresses(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {&workspace, 1})
        .finalize();
}

bool serves(ReadyPack const& pack, Bindings const& bindings, RunMemory const& memory, void* workspace) {
    return pack.workspace == workspace &&
           std::ranges::equal(pack.pointers, bindings.tensors, {}, {},
                              [&](BoundTensor const& tensor) { return pointer_of(tensor, bindings, memory); });
}

error_t make_ready(ReadyPack& pack, Api const& api, Bindings const& bindings, RunMemory const& memory,
                   void* workspace) {
    PackArrays const arrays(bindings, memory);
    pack.pointers.assign(arrays.pointers().begin(), arrays.pointers().end());
    pack.workspace = workspace;
    return make_pack(api, arrays, workspace, pack.descriptor);
}

void* engine_workspace(Bindings const& bindings, RunMemory const& memory) {
    auto* const base = static_cast<std::byte*>(memory.workspace);
    return base == nullptr ? nullptr : base + bindings.scratch_bytes;
}

template <class Call>
error_t run(EnginePlan const& plan, Descriptor const& pack, char const* what, Call call) {
    Api const& api = plan.descriptor().api();
    cudnnStatus_t const status = call(api, plan.descriptor().get(), pack.get());
    if (status == CUDNN_STATUS_SUCCESS) return {};
    return backend_error(api, status, what + plan.config().name, error_code_t::GRAPH_EXECUTION_FAILED);
}

template <class Call>
error_t run_once(EnginePlan const& plan, Bindings const& bindings, RunMemory const& memory, char const* what,
                 Call call) {
    Descriptor pack;
    PackArrays const arrays(bindings, memory);
    SDPA_GRAPH_TRY(make_pack(plan.descriptor().api(), arrays, engine_workspace(bindings, memory), pack));
    return run(plan, pack, what, call);
}

}  // namespace

error_t execute(cudnnHandle_t handle, EnginePlan const& plan, Bindings const& bindings, RunMemory const& memory,
                KeptPack* kept) {
    constexpr char const* kWhat = "executing the plan of ";
    auto const call = [&](Api const& api, auto engine, auto pack) { return api.execute(handle, engine, pack); };
    if (kept == nullptr) return run_once(plan, bindings, memory, kWhat, call);
    void* const workspace = engine_workspace(bindings, memory);
    std::unique_ptr<ReadyPack> pack = kept->take();
    if (!pack) pack = std::make_unique<ReadyPack>();
    if (!pack->descriptor || !serves(*pack, bindings, memory, workspace)) {
        SDPA_GRAPH_TRY(make_ready(*pack, plan.descriptor().api(), bindings, memory, workspace));
    }
    SDPA_GRAPH_TRY(run(plan, pack->descriptor, kWhat, call));
    kept->keep(std::move(pack));
    return {};
}

error_t populate_cuda_graph(cudnnHandle_t handle, EnginePlan const& plan, Bindings const& bindings,
                            RunMemory const& memory, cudaGraph_t graph) {
    return run_once(
        plan, bindings, memory, "filling a CUDA graph with the plan of ",
        [&](Api const& api, auto engine, auto pack) { return api.populate_cuda_graph(handle, engine, pack, graph); });
}

error_t update_cuda_graph(cudnnHandle_t handle, EnginePlan const& plan, Bindings const& bindings,
                          RunMemory const& memory, cudaGraph_t graph) {
    return run_once(
        plan, bindings, memory, "updating a CUDA graph of the plan of ",
        [&](Api const& api, auto engine, auto pack) { return api.update_cuda_graph(handle, engine, pack, graph); });
}

}  // namespace cudnn_frontend::cudnn
