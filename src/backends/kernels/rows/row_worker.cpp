#include "kernels/rows/row_worker.h"

#include "cuda/device_facts.h"

#include <limits>
#include <map>

namespace cudnn_frontend::kernels {
namespace {

constexpr long long kThreads = 128;

error_t too_many(char const* kernel, long long threads) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, std::string(kernel) + ": found " + std::to_string(threads) +
                                                   " elements; expected at most those of 2^31 blocks of " +
                                                   std::to_string(kThreads) + " threads; split the call"};
}

// The functions of each kind of work, in the order of the variant.
template <class... Parts>
std::vector<std::string> functions(std::variant<Parts...> const*) {
    return {std::string("rows_") + Parts::kName...};
}

using Key = std::pair<DataType_t, int>;

// Asking the driver for a GPU's facts is too slow for each call.
Result<std::shared_ptr<Code const>> code_of(DataType_t type, int ordinal) {
    static auto& known = *new std::map<Key, std::shared_ptr<Code const>>;  // never destroyed: programs may still call
    static std::mutex mutex;
    std::lock_guard const lock(mutex);
    auto& code = known[{type, ordinal}];
    if (code != nullptr) return code;
    auto const facts = cuda::device_facts(ordinal);
    if (facts.is_bad()) return facts.error();
    SDPA_GRAPH_TRY(find_code(name_of_rows(type, facts.value().compute_capability)).move_to(code));
    return code;
}

}  // namespace

CodeName name_of_rows(DataType_t type, int compute_capability) {
    return {"rows",
            functions(static_cast<rows::Work const*>(nullptr)),
            {std::string("X=") + element_name(type)},
            {compute_capability}};
}

Result<RowWorker> RowWorker::make(DataType_t type, int ordinal, CUstream stream) {
    auto code = code_of(type, ordinal);
    if (code.is_bad()) return code.error();
    return RowWorker(std::move(code).value(), stream);
}

error_t RowWorker::run(rows::Work const& work) const {
    return std::visit(
        [&](auto const& part) -> error_t {
            long long const blocks = (part.threads() + kThreads - 1) / kThreads;
            if (blocks == 0) return {};
            if (blocks > std::numeric_limits<int>::max()) return too_many(part.kName, part.threads());
            auto const function = code_->function(work.index());
            if (function.is_bad()) return function.error();
            return cuda::launch({function.value(), static_cast<unsigned>(blocks), kThreads, 0, &part}, stream_);
        },
        work);
}

}  // namespace cudnn_frontend::kernels
