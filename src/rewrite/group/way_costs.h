// How long a group is expected to take: a model, docs/several-gpus.md. It is the same on all ranks, which have to
// choose alike.
#pragma once

#include "group/task.h"
#include "rewrite/attention_node.h"

namespace cudnn_frontend::rewrite {

// The defaults are rates of H100s with NVLink, as measured with two of them through NCCL.
struct GroupRates {
    double bytes_per_us = 250e3;  // that a rank receives
    double us_of_exchange = 20.0;
    double forward_flops_per_us = 645e6, backward_flops_per_us = 519e6;
    // The part of attention's time by which each stage after the first makes it longer: kernels are shorter, and those
    // of NCCL occupy multiprocessors next to them.
    double forward_share_of_stage = 0.055, backward_share_of_stage = 0.03;
    double bytes_of_memory_per_us = 2.5e6;  // that joints of partial results read and write
    double bytes_of_scratch = 40e9;         // that a rank has for what it receives: half of an H100's memory
};

// Bytes that a rank receives.
struct Received {
    double keys = 0.0;       // before attention
    double gradients = 0.0;  // after it
};
Received received_by_gather(Attention const& attention, group::Task const& task, int rank);
Received received_by_all_to_all(Attention const& attention, group::Task const& task, int rank);

// Times in microseconds.
struct GroupTime {
    double attention = 0.0;  // of all ranks, divided by their number
    double all = 0.0;        // of the rank that takes longest

    double efficiency() const { return attention / all; }
};
// The scratch for keys, values and their gradients, of the rank that needs most. That of the other ways does not grow
// with the number of ranks.
double scratch_of_gather(Attention const& attention, group::Task const& task, int stages);

// The exchanges of a stage run next to the attentions of another one.
GroupTime time_of_gather(Attention const& attention, group::Task const& task, int stages, GroupRates const& rates = {});
// Nothing runs next to the exchanges.
GroupTime time_of_all_to_all(Attention const& attention, group::Task const& task, GroupRates const& rates = {});

// At each step the slowest rank is waited for. Shards travel next to its attentions, and gradients behind them.
GroupTime time_of_ring(Attention const& attention, group::Task const& task, GroupRates const& rates = {});

}  // namespace cudnn_frontend::rewrite
