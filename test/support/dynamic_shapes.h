// Which releases of cuDNN have engines for dynamic shapes, as the tests know it.
#pragma once

#include <cudnn_frontend/runtime.h>

namespace test {

inline bool takes_dynamic_shapes() {
    std::size_t const version = cudnn_frontend::runtime::cudnn_version();
    return version >= 91800 && version < 92100;
}

}  // namespace test
