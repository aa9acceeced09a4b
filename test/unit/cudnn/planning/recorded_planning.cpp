#include "unit/cudnn/planning/recorded_planning.h"

#include "cudnn/offline/null_driver.h"

#include <cudnn_frontend/runtime.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace sdpa_test {
namespace {

// The path is set before anything asks for the library.
bool const is_chosen = setenv("SDPA_GRAPH_CUDNN_PATH", SDPA_TEST_FORWARDING_CUDNN, 1) == 0;

using ConstantTable = cudnn_frontend::cudnn::Api const*;

// The place of the forwarding library's table. As in the library itself, no other driver may come first.
ConstantTable& table() {
    static ConstantTable* const found = [] {
        static_cast<void>(cudnn_frontend::offline::load_null_driver());
        void* const library = dlopen(SDPA_TEST_FORWARDING_CUDNN, RTLD_NOW);
        void* const place = library == nullptr ? nullptr : dlsym(library, "sdpa_test_cudnn");
        if (place == nullptr || !is_chosen) {
            std::fprintf(stderr, "no recording cuDNN: %s\n", dlerror());
            std::exit(1);
        }
        return static_cast<ConstantTable*>(place);
    }();
    return *found;
}

}  // namespace

RecordedPlanning::RecordedPlanning() { table() = &fake.api(); }
RecordedPlanning::~RecordedPlanning() {
    cudnn_frontend::runtime::forget_graphs();  // they belong to this backend
    table() = nullptr;
}

cudnn_frontend::error_object load_for_h200(test::Graph& graph, std::vector<std::uint8_t> const& bytes) {
    using cudnn_frontend::DeviceProperties;
    graph.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("h200")));
    return graph.deserialize(nullptr, bytes);
}

}  // namespace sdpa_test
