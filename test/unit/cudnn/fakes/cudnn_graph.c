/* A libcudnn_graph.so.9 that only reports its version. */
#include <stddef.h>

#ifndef VERSION
#define VERSION 99900
#endif

size_t cudnnGetVersion(void) { return VERSION; }
