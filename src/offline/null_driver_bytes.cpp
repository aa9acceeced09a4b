#include "offline/null_driver_bytes.h"

__asm__(
    ".pushsection .rodata\n"
    ".local sdpa_graph_null_driver_begin\n"
    ".local sdpa_graph_null_driver_end\n"
    ".balign 16\n"
    "sdpa_graph_null_driver_begin:\n"
    ".incbin \"" SDPA_GRAPH_NULL_DRIVER_FILE
    "\"\n"
    "sdpa_graph_null_driver_end:\n"
    ".popsection\n");

extern "C" {
[[gnu::visibility("hidden")]] extern std::byte const sdpa_graph_null_driver_begin;
[[gnu::visibility("hidden")]] extern std::byte const sdpa_graph_null_driver_end;
}

namespace cudnn_frontend::inline v1::offline {

std::span<std::byte const> null_driver_bytes() { return {&sdpa_graph_null_driver_begin, &sdpa_graph_null_driver_end}; }

}  // namespace cudnn_frontend::inline v1::offline
