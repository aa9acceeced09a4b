// Replaces src/api/with_cudnn/backends.cpp in the programs that it is linked to.
#include "gpu/backends_without_pass.h"

#include "api/backends.h"
#include "cpu/memory/indices.h"
#include "cudnn/planning/cudnn_backend.h"

namespace sdpa_test {

static std::string& omitted_quirk() {
    static std::string quirk;
    return quirk;
}

void leave_out_pass_of(std::string const& quirk) { omitted_quirk() = quirk; }

}  // namespace sdpa_test

namespace cudnn_frontend::api {

plan::Backends const& backends() {
    static auto const& cudnn = *new cudnn::CudnnBackend(cpu::check_indices_elsewhere, sdpa_test::omitted_quirk());
    static auto const& all = *new plan::Backends{&cudnn};
    return all;
}

}  // namespace cudnn_frontend::api
