#include "calls/row_work.h"

#include "calls/view_properties.h"
#include "core/data_type.h"
#include "core/threads.h"
#include "rows/host_worker.h"

#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <bit>

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;
namespace rows = fe::rows;

fe::error_t work_on_rows(Site const& site, rows::Work const& work) {
    bool const is_nothing = std::visit([](auto const& part) { return part.threads() == 0; }, work);
    if (is_nothing) return {};
    fe::Target const& target = site.lease.target;
    if (site.tensor.device == Device_kind::CPU) {
        return rows::HostWorker(site.tensor.type, fe::core::threads_or_all(target.threads())).run(work);
    }
    CUstream_st* stream = site.place.stream;
    if (site.place.target) SDPA_GRAPH_TRY(fe::runtime::get_stream(target.handle(), &stream));
    return work_on_gpu(work, site.tensor, stream);
}

rows::Fill fill(Tensor_view const& view, float value) {
    rows::Fill work{};
    work.start = view.data;
    work.count = elements_of(view);
    std::fill(std::begin(work.sizes), std::end(work.sizes), 1);
    for (std::size_t dim = 0; dim < view.dim.size(); ++dim) {
        work.sizes[dim] = view.dim[view.dim.size() - 1 - dim];
        work.strides[dim] = view.stride[view.dim.size() - 1 - dim];
    }
    work.bits = std::bit_cast<unsigned>(value);
    work.has_four_bytes = fe::core::size_of(view.type) == 4;
    return work;
}

}  // namespace sdpa_graph::calls
