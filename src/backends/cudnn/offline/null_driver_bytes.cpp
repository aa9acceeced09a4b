#include "cudnn/offline/null_driver.h"

// Named after the namespace, so that two versions of the library can be linked into one program.
#define SDPA_GRAPH_TEXT_OF(name) #name
#define SDPA_GRAPH_TEXT(name) SDPA_GRAPH_TEXT_OF(name)
#define SDPA_GRAPH_BEGIN SDPA_GRAPH_TEXT(cudnn_frontend) "_null_driver_begin"
#define SDPA_GRAPH_END SDPA_GRAPH_TEXT(cudnn_frontend) "_null_driver_end"

// The names are global and hidden, not local, so that link-time optimization may separate them from their users.
__asm__(
    ".pushsection .rodata.sdpa_graph_null_driver, \"a\"\n"
    ".globl " SDPA_GRAPH_BEGIN
    "\n"
    ".globl " SDPA_GRAPH_END
    "\n"
    ".hidden " SDPA_GRAPH_BEGIN
    "\n"
    ".hidden " SDPA_GRAPH_END
    "\n"
    ".balign 16\n" SDPA_GRAPH_BEGIN
    ":\n"
    ".incbin \"" SDPA_GRAPH_NULL_DRIVER_FILE "\"\n" SDPA_GRAPH_END
    ":\n"
    ".popsection\n");

namespace cudnn_frontend::offline {

[[gnu::visibility("hidden")]] extern std::byte const null_driver_begin __asm__(SDPA_GRAPH_BEGIN);
[[gnu::visibility("hidden")]] extern std::byte const null_driver_end __asm__(SDPA_GRAPH_END);

std::span<std::byte const> null_driver_bytes() { return {&null_driver_begin, &null_driver_end}; }

}  // namespace cudnn_frontend::offline
