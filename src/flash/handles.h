// The handles of cuDNN that calls without a target of their own use.
#pragma once

#include "core/result.h"
#include "flash/call.h"

#include <memory>
#include <mutex>

namespace sdpa_graph::flash {

// The target of a call. Its lock keeps another thread from the handle while the call uses it.
struct Lease {
    fe::Target target;
    std::unique_lock<std::mutex> lock;
};

fe::Result<Lease> lease_target(Call const& call);

}  // namespace sdpa_graph::flash
