// Marks the symbols that the library exports; everything else stays hidden.
#pragma once

#if defined(__GNUC__)
#define SDPA_GRAPH_API [[gnu::visibility("default")]]
#else
#define SDPA_GRAPH_API
#endif
