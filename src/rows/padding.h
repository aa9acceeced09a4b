// Rows that belong to no sequence, or to one of which engines write nothing.
#pragma once

#include "rows/sequences.h"

namespace cudnn_frontend::rows {

// Zeros there, in results of graphs of packed sequences, which write the rows of sequences alone. In log-sum-exps these
// bits of FLOAT.
struct Padding {
    static constexpr char const* kName = "padding";
    static constexpr int kMostTensors = 4;
    static constexpr long long kTogether = 8;  // elements of a thread

    struct PaddedTensor {
        Access access;
        long long rows, heads, width;
        bool is_of_keys;
        int element_bytes;
        bool is_log_sums;

        long long threads() const { return rows * heads * ((width + kTogether - 1) / kTogether); }
    };

    Sequences sequences;
    PaddedTensor tensors[kMostTensors];
    int tensor_count;
    unsigned const* sink;  // the log-sum-exp of each head; null for minus infinity

    long long threads() const {
        long long all = 0;
        for (int i = 0; i < tensor_count; ++i) all += tensors[i].threads();
        return all;
    }
};

template <class Bits>
void fill_part(Padding::PaddedTensor const& tensor, Row const& row, long long head, long long part, Bits bits) {
    Bits* const elements = tensor.access.pointer<Bits>(row, head);
    long long const first = part * Padding::kTogether, end = first + Padding::kTogether;
    for (long long column = first; column < end && column < tensor.width; ++column) elements[column] = bits;
}

// A sequence without keys has no output, and one without queries gives its keys no gradient.
inline bool has_partners(Sequences const& all, Row const& row, bool is_of_keys) {
    return (is_of_keys ? queries_of(all, row.sequence) : keys_of(all, row.sequence)) > 0;
}

inline void work_on(Padding const& t, long long thread) {
    int at = 0;
    for (; thread >= t.tensors[at].threads(); ++at) thread -= t.tensors[at].threads();
    Padding::PaddedTensor const& tensor = t.tensors[at];
    long long const parts = (tensor.width + Padding::kTogether - 1) / Padding::kTogether;
    long long const part = thread % parts, head = thread / parts % tensor.heads, row = thread / parts / tensor.heads;
    Row const found = tensor.is_of_keys ? find_key(t.sequences, row) : find_query(t.sequences, row);
    if (found.is_inside && has_partners(t.sequences, found, tensor.is_of_keys)) return;
    constexpr unsigned kMinusInfinity = 0xff800000u;
    switch (tensor.element_bytes) {
        case 1: return fill_part<unsigned char>(tensor, found, head, part, 0);
        case 2: return fill_part<unsigned short>(tensor, found, head, part, 0);
        case 4: {
            unsigned const log_sum = t.sink == nullptr ? kMinusInfinity : t.sink[head];
            return fill_part<unsigned>(tensor, found, head, part, tensor.is_log_sums ? log_sum : 0);
        }
        default: return fill_part<unsigned long long>(tensor, found, head, part, 0);
    }
}

}  // namespace cudnn_frontend::rows
