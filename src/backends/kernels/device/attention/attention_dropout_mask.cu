// The mask of dropout, for a caller who asks for it: 1 where the attention kernels keep a score, 0 where they drop it.
#include <attention/dropout.cuh>

// A thread for each group of four keys.
extern "C" __global__ void __launch_bounds__(kDropoutMaskThreads)
    attention_dropout_mask(__grid_constant__ DropoutMaskArguments const arguments) {
    Sequences const& all = arguments.sequences;
    Generator const generator(arguments.dropout, all);
    long long const group = static_cast<long long>(blockIdx.x) * kDropoutMaskThreads + threadIdx.x;
    long long const row = group / generator.groups_of_row(), head_of_all = row / all.query_rows;
    if (head_of_all >= static_cast<long long>(all.batches) * all.heads) return;
    int const first_key = 4 * static_cast<int>(group - row * generator.groups_of_row());
    long long const batch = head_of_all / all.heads, head = head_of_all - batch * all.heads;
    ScoreResults const& mask = arguments.mask;
    float* const to = static_cast<float*>(mask.start) + batch * mask.batch + head * mask.head +
                      (row - head_of_all * all.query_rows) * mask.row;
    PhiloxBlock drawn[1];
    generator.draw(drawn, static_cast<unsigned long long>(group), 0);
    for (int i = 0; i < 4 && first_key + i < all.key_rows; ++i) {
        to[(first_key + i) * mask.column] = static_cast<float>(generator.keeps(drawn[0].words[i]));
    }
}
