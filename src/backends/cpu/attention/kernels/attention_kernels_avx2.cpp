#define SDPA_GRAPH_KERNELS kAvx2Kernels
#define SDPA_GRAPH_KERNELS_NAME "avx2"
#define SDPA_GRAPH_VECTOR_BYTES 32
#define SDPA_GRAPH_ROWS 4
#include "cpu/attention/kernels/attention_kernels_body.h"
