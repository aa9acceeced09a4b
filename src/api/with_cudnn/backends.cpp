#include "api/backends.h"

#include "cpu/cpu_backend.h"
#include "cpu/indices.h"
#include "cudnn/planning/cudnn_backend.h"

namespace cudnn_frontend::api {

// Never destroyed: static objects of the program may still plan after this library's were destroyed.
plan::Backends const& backends() {
    static auto const& cudnn = *new cudnn::Backend(cpu::check_indices_elsewhere);
    static auto const& all = *new plan::Backends{&cudnn, &cpu::backend()};
    return all;
}

}  // namespace cudnn_frontend::api
