#include "kernels/rows/row_worker.h"

#include "core/findings.h"
#include "cuda/device_facts.h"

#include <limits>
#include <map>

namespace cudnn_frontend::kernels {
namespace {

// The functions of each kind of work, in the order of the variant.
template <class... Parts>
std::vector<std::string> functions(std::variant<Parts...> const*) {
    return {std::string("rows_") + Parts::kName...};
}

using KernelKey = std::pair<DataType_t, int>;

// Asking the driver for a GPU's facts is too slow for each call.
Result<std::shared_ptr<Code const>> code_of(DataType_t type, int ordinal) {
    static auto& known =
        *new std::map<KernelKey, std::shared_ptr<Code const>>;  // never destroyed: programs may still call
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

Result<unsigned> blocks_of_rows(long long threads) {
    long long const blocks = (threads + kThreadsOfRows - 1) / kThreadsOfRows;
    if (blocks <= std::numeric_limits<int>::max()) return static_cast<unsigned>(blocks);
    return core::error_at("work on rows", error_code_t::GRAPH_NOT_SUPPORTED, std::to_string(threads) + " threads",
                          "at most those of 2^31 blocks of " + std::to_string(kThreadsOfRows), "split the call");
}

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
            auto const blocks = blocks_of_rows(part.threads());
            if (blocks.is_bad() || blocks.value() == 0) return blocks.error();
            auto const function = code_->function(work.index());
            if (function.is_bad()) return function.error();
            return cuda::launch({function.value(), blocks.value(), kThreadsOfRows, 0, &part}, stream_);
        },
        work);
}

}  // namespace cudnn_frontend::kernels
