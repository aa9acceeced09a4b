#define SDPA_GRAPH_KERNELS kAvx512Kernels
#define SDPA_GRAPH_KERNELS_NAME "avx512"
#define SDPA_GRAPH_VECTOR_BYTES 64
#define SDPA_GRAPH_ROWS 8
#include "cpu/attention/kernels/attention_kernels_body.h"
