// The argument of the kernel that sums the gradient of a sink token. The library fills it and the kernel reads it, so
// both include this file: it may include nothing, and its types have the same layout for both.
#pragma once

namespace cudnn_frontend::kernels {

inline constexpr int kSinkWarps = 16;  // of the block that has a head

// A tensor of rows. Strides count elements. Batch entry b starts at b times `batch`, or where the offsets say, which
// count `batch` elements as one.
struct RowsAccess {
    void const* start;
    void const* offsets;  // null where there are none
    int offset_bytes;     // of each: 4 or 8
    long long batch, head, row, column;
};

struct SinkGradientArguments {
    RowsAccess o, d_o, stats;
    void const* sink;
    void* gradient;
    void const* lengths;  // rows of each batch entry; null where all entries have all rows
    long long sink_head, gradient_head, length_batch;
    long long batches, rows;
    int columns;
};

}  // namespace cudnn_frontend::kernels
