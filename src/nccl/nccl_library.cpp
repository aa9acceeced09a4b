#include "nccl/nccl_library.h"

#include "core/process/environment.h"
#include "core/text.h"
#include "cuda/shared_object.h"
#include "group/group_rules.h"

#include <utility>

namespace cudnn_frontend::nccl {
namespace {

namespace rules = group::rules;

constexpr char const* kFile = "libnccl.so.2";
constexpr char const* kChoosingVariable = "SDPA_GRAPH_NCCL_PATH";

std::string fill(NcclLibrary& library, cuda::SharedObject const& object) {
    cuda::FunctionFinder find(object);
    find(library.version, "ncclGetVersion");
    find(library.make_id, "ncclGetUniqueId");
    find(library.init, "ncclCommInitRankConfig");
    find(library.finalize, "ncclCommFinalize");
    find(library.destroy, "ncclCommDestroy");
    find(library.abandon, "ncclCommAbort");
    find(library.async_error, "ncclCommGetAsyncError");
    find(library.error_text, "ncclGetErrorString");
    find(library.last_error, "ncclGetLastError");
    find(library.count, "ncclCommCount");
    find(library.rank, "ncclCommUserRank");
    find(library.start_group, "ncclGroupStart");
    find(library.end_group, "ncclGroupEnd");
    find(library.send, "ncclSend");
    find(library.receive, "ncclRecv");
    find(library.all_gather, "ncclAllGather");
    return find.missing();
}

error_t unusable(std::string found) {
    return rules::violation(
        rules::kNccl, std::move(found), "NCCL 2.18 or later",
        std::string("pip install nvidia-nccl-cu13, or set ") + kChoosingVariable + " to the file or its folder");
}

std::string version_text(int version) {
    return core::text(version / 10000, ".", version / 100 % 100, ".", version % 100);
}

cuda::SharedObject open_first(cuda::LibrarySearch const& search, std::string& why, std::string& tried) {
    if (search.use_loaded) {
        why = "loaded by the program";
        if (cuda::SharedObject object = cuda::loaded_object(kFile)) return object;
    }
    for (auto const& [file, reason] : search.files) {
        cuda::SharedObject object = cuda::open_object(file);
        why = reason;
        if (object) return object;
        tried += (tried.empty() ? "" : ", ") + file + " (" + object.problem + ")";
    }
    return {};
}

}  // namespace

cuda::LibrarySearch library_search() {
    cuda::SearchFolders folders = cuda::usual_folders();
    folders.chosen = {core::environment::variable(kChoosingVariable), kChoosingVariable};
    return cuda::make_library_search({kFile, "nvidia/nccl/lib"}, folders);
}

Result<NcclLibrary> open(cuda::LibrarySearch const& search) {
    NcclLibrary library;
    std::string tried;
    cuda::SharedObject const object = open_first(search, library.why, tried);
    if (!object) return unusable("no NCCL: " + tried);
    library.path = object.path();
    std::string const missing = fill(library, object);
    if (!missing.empty()) return unusable(library.path + " without " + missing);
    int version = 0;
    SDPA_GRAPH_TRY(error_of(library, library.version(&version), "ncclGetVersion"));
    if (version < kOldestVersion) return unusable("NCCL " + version_text(version) + ", " + library.path);
    return library;
}

Result<NcclLibrary const*> library() {
    // It is never destroyed: communicators of static objects may end when the program does.
    static Result<NcclLibrary> const& opened = *new Result<NcclLibrary>(open(library_search()));
    if (opened.is_bad()) return opened.error();
    return &opened.value();
}

error_t error_of(NcclLibrary const& library, int result, std::string const& call, Communicator communicator) {
    if (result == kSuccess) return {};
    char const* const text = library.error_text(result);
    char const* const last = library.last_error(communicator);
    std::string found = call + " returned " + std::to_string(result);
    if (text != nullptr) found += std::string(", ") + text;
    if (last != nullptr && *last != '\0') found += std::string(": ") + last;
    return rules::violation(rules::kNccl, std::move(found), "success",
                            "set NCCL_DEBUG=WARN for NCCL's own messages, and look for errors of other ranks");
}

}  // namespace cudnn_frontend::nccl
