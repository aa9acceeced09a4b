#include "offline/null_driver_bytes.h"

// The names are global and hidden rather than local, so that link-time optimization can tell the text from its users.
__asm__(
    ".pushsection .rodata.sdpa_graph_null_driver, \"a\"\n"
    ".globl sdpa_graph_null_driver_begin\n"
    ".globl sdpa_graph_null_driver_end\n"
    ".hidden sdpa_graph_null_driver_begin\n"
    ".hidden sdpa_graph_null_driver_end\n"
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

namespace cudnn_frontend::offline {

std::span<std::byte const> null_driver_bytes() { return {&sdpa_graph_null_driver_begin, &sdpa_graph_null_driver_end}; }

}  // namespace cudnn_frontend::offline
