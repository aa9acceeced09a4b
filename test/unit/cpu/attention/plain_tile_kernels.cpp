// The kernels for AMX, with tiles in plain C++.
#define SDPA_GRAPH_KERNELS kPlainTileKernels
#define SDPA_GRAPH_KERNELS_NAME "plain_tiles"
#define SDPA_GRAPH_VECTOR_BYTES 64
#define SDPA_GRAPH_ROWS 8
#define SDPA_GRAPH_MATRIX_TILES
#define SDPA_GRAPH_PLAIN_TILES
#include "cpu/attention/kernels/attention_kernels_body.h"
