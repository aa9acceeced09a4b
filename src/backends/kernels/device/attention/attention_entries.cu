// Prepares the entries of a batch of packed sequences for the attention kernels: the lengths of each, where it begins
// in each tensor, and maps that have its rows alone.
#include <attention/attention_arguments.h>
#include <hopper/block_order.cuh>
#include <hopper/bulk_copies.cuh>

using namespace cudnn_frontend::kernels;

inline long long number_at(void const* numbers, int is_wide, int place) {
    return is_wide ? static_cast<long long const*>(numbers)[place] : static_cast<int const*>(numbers)[place];
}

// 0 where lengths are not wanted.
inline int store_length(LengthSource const& source, int entry) {
    if (source.start == nullptr) return 0;
    long long length = number_at(source.start, source.is_wide, entry + source.are_sums);
    if (source.are_sums) length -= number_at(source.start, source.is_wide, entry);
    if (lane_index() == 0) source.lengths[entry] = static_cast<int>(length);
    return static_cast<int>(length);
}

// The map's rows are those of the entry, of which it must have one at least.
inline void store_entry_map(TensorMap& to, EntryTensor const& tensor, long long offset, int rows, TensorMap& memory) {
    int const lane = lane_index();
    reinterpret_cast<unsigned*>(&memory)[lane] = reinterpret_cast<unsigned const*>(&tensor.map)[lane];
    wait_for_warp();
    if (lane == 0) {
        set_start(&memory, tensor.start + offset * tensor.element_bytes);
        set_rows(&memory, rows > 0 ? rows : 1);
    }
    wait_for_warp();
    store_map(&to, &memory);
}

extern "C" __global__ void __launch_bounds__(kEntryThreads)
    attention_entries(__grid_constant__ EntryArguments const arguments) {
    extern __shared__ __align__(128) unsigned char shared_memory[];
    clear_number(arguments.places_taken);
    TensorMap* const memory = reinterpret_cast<TensorMap*>(shared_memory);
    int const warp = threadIdx.x / 32, entry = blockIdx.x * (kEntryThreads / 32) + warp;
    if (entry >= arguments.batches) return;
    int const queries = store_length(arguments.query_lengths, entry), keys = store_length(arguments.key_lengths, entry);
    for (int i = 0; i < arguments.tensor_count; ++i) {
        EntryTensor const& tensor = arguments.tensors[i];
        if (tensor.offsets == nullptr) continue;
        long long const offset = number_at(tensor.offsets, tensor.is_wide, entry) * tensor.elements_of_offset;
        if (lane_index() == 0) {
            arguments.offsets[static_cast<long long>(entry) * arguments.tensor_count + i] = offset;
        }
        if (i >= arguments.map_count) continue;
        store_entry_map(arguments.maps[static_cast<long long>(entry) * arguments.map_count + i], tensor, offset,
                        tensor.has_queries ? queries : keys, memory[warp]);
    }
}
