// Whether kernels can be compiled here.
#pragma once

#include "kernels/launch/kernel.h"
#include "support/skip.h"

namespace sdpa_test {

inline bool has_compiler() {
    auto const error = cudnn_frontend::kernels::check_compiler();
    if (error.is_bad()) sdpa_test::skip(error.err_msg);
    return error.is_good();
}

}  // namespace sdpa_test
