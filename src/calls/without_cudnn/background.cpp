#include "calls/background.h"

namespace sdpa_graph::calls {

bool do_later(std::int32_t, Later) { return false; }

}  // namespace sdpa_graph::calls
