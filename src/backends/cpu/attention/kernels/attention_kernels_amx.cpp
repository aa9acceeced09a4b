#define SDPA_GRAPH_KERNELS kAmxKernels
#define SDPA_GRAPH_KERNELS_NAME "amx"
#define SDPA_GRAPH_VECTOR_BYTES 64
#define SDPA_GRAPH_ROWS 8
#define SDPA_GRAPH_MATRIX_TILES
#include "cpu/attention/kernels/attention_kernels_body.h"
