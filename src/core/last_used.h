// The objects that were used last, as many of them as are to be kept. Safe from many threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cudnn_frontend::core {

// Equal objects have equal keys, by which most of the others are skipped without a comparison. Objects that fall out
// are destroyed once the lock is released: their destructors may take long.
template <class T>
class LastUsed {
   public:
    using Pointer = std::shared_ptr<T>;

    // The one that fits, which is the last used from now on; null where there is none.
    template <class Fits>
    Pointer find(std::size_t key, Fits const& fits) {
        std::lock_guard const lock(mutex_);
        auto const found = std::ranges::find_if(
            last_first_, [&](Entry const& entry) { return entry.key == key && fits(*entry.object); });
        if (found == last_first_.end()) return nullptr;
        std::rotate(last_first_.begin(), found, std::next(found));
        return last_first_.front().object;
    }

    void keep(std::size_t key, Pointer object, std::size_t most) {
        std::vector<Entry> out;
        std::lock_guard const lock(mutex_);
        last_first_.insert(last_first_.begin(), Entry{key, std::move(object)});
        trim(most, out);
    }

    void keep_at_most(std::size_t most) {
        std::vector<Entry> out;
        std::lock_guard const lock(mutex_);
        trim(most, out);
    }

    template <class Fits>
    void forget(Fits const& fits) {
        std::vector<Entry> out;
        std::lock_guard const lock(mutex_);
        auto const kept = std::stable_partition(last_first_.begin(), last_first_.end(),
                                                [&](Entry const& entry) { return !fits(*entry.object); });
        move_out(kept, out);
    }

   private:
    struct Entry {
        std::size_t key;
        Pointer object;
    };
    using Iterator = typename std::vector<Entry>::iterator;

    void trim(std::size_t most, std::vector<Entry>& out) {
        if (last_first_.size() > most) move_out(last_first_.begin() + static_cast<std::ptrdiff_t>(most), out);
    }
    void move_out(Iterator first, std::vector<Entry>& out) {
        out.assign(std::move_iterator(first), std::move_iterator(last_first_.end()));
        last_first_.erase(first, last_first_.end());
    }

    std::mutex mutex_;
    std::vector<Entry> last_first_;
};

}  // namespace cudnn_frontend::core
