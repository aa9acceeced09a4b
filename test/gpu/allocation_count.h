// Allocations of this program and the library in it; those of cuDNN and CUDA, which come from elsewhere, do not count.
#pragma once

namespace sdpa_test {

// The allocations of this thread, since it started.
long allocations();

}  // namespace sdpa_test
