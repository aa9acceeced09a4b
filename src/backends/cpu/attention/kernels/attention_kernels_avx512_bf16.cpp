#define SDPA_GRAPH_KERNELS kAvx512Bf16Kernels
#define SDPA_GRAPH_KERNELS_NAME "avx512_bf16"
#define SDPA_GRAPH_VECTOR_BYTES 64
#define SDPA_GRAPH_ROWS 8
#include "cpu/attention/kernels/attention_kernels_body.h"
