#include <sdpa_graph/plan_store.h>

#include "core/process/plan_store.h"

namespace sdpa_graph {

namespace process = cudnn_frontend::core::process;

Plan_store plan_store() {
    auto const store = process::plan_store();
    return {store.folder, store.is_frozen};
}

void set_plan_store(Plan_store const& store) { process::set_plan_store({store.folder, store.is_frozen}); }

}  // namespace sdpa_graph
