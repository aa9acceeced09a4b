#define SDPA_GRAPH_KERNELS kBaselineKernels
#define SDPA_GRAPH_KERNELS_NAME "baseline"
#define SDPA_GRAPH_VECTOR_BYTES 16
#define SDPA_GRAPH_ROWS 4
#include "cpu/attention/kernels/attention_kernels_body.h"
