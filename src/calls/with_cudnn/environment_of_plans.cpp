#include "calls/environment_of_plans.h"

#include "core/text.h"
#include "cuda/device_facts.h"
#include "cuda/driver.h"

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>
#include <cudnn_frontend/version.h>

#include <cctype>

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;
using fe::core::text;

namespace {

std::string as_name(std::string name) {
    for (char& letter : name)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.') letter = '-';
    return name;
}

}  // namespace

fe::Result<Environment> environment_of_plans(std::int32_t device) {
    auto const facts = fe::cuda::device_facts(device);
    if (facts.is_bad()) return facts.error();
    auto const names = fe::cuda::names_of(device);
    if (names.is_bad()) return names.error();
    std::string const library =
        text(SDPA_GRAPH_VERSION_MAJOR, ".", SDPA_GRAPH_VERSION_MINOR, ".", SDPA_GRAPH_VERSION_PATCH);
    std::string const gpu = text(names.value().gpu, ", ", facts.value().multiprocessors, " multiprocessors");
    std::string const all = text("sdpa-graph ", library, ", cuDNN ", fe::runtime::cudnn_version(), ", driver for CUDA ",
                                 names.value().driver_major, ", ", gpu);
    return Environment{as_name(all), text(all, fe::runtime::ignores_limits() ? ", limits ignored" : "",
                                          fe::runtime::checks_indices() ? ", indices checked" : "")};
}

}  // namespace sdpa_graph::calls
