#include "core/process/kept_objects.h"

#include "core/process/process_settings.h"

#include <pthread.h>
#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

namespace cudnn_frontend::core::process {

constinit KeptKind::All KeptKind::all_{};

void KeptKind::survive_forks() {
    pthread_atfork([] { all_.mutex.lock(); }, [] { all_.mutex.unlock(); },
                   [] {
                       for (KeptKind* kind = all_.last_kind; kind != nullptr; kind = kind->earlier_kind_)
                           kind->forget_unfinished();
                       all_.mutex.unlock();
                   });
}

std::mutex& KeptKind::mutex() {
    static std::once_flag is_registered;
    std::call_once(is_registered, survive_forks);
    return all_.mutex;
}

KeptKind::KeptKind(char const* name) {
    counts_.kind = name;
    std::lock_guard const lock(mutex());
    earlier_kind_ = std::exchange(all_.last_kind, this);
}

bool KeptKind::keeps_any() { return kept_bytes.get() > 0; }

void KeptKind::link(Entry& entry) {
    entry.newer = &all_.ends;
    entry.older = all_.ends.older;
    entry.older->newer = all_.ends.older = &entry;
}

void KeptKind::unlink(Entry& entry) {
    entry.older->newer = entry.newer;
    entry.newer->older = entry.older;
}

void KeptKind::enter(Entry& entry, std::size_t bytes) {
    entry.kind = this;
    link(entry);
    ++counts_.objects;
    count_again(entry, bytes);
}

void KeptKind::count_again(Entry& entry, std::size_t bytes) {
    all_.bytes += bytes - entry.bytes;
    counts_.bytes += static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(entry.bytes);
    entry.bytes = bytes;
}

KeptKind::Pointer KeptKind::remove(Entry& entry) {
    unlink(entry);
    count_again(entry, 0);
    --counts_.objects;
    return take(entry);
}

// A part of the budget becomes free, so that the next objects need no round of their own.
void KeptKind::evict(std::vector<Pointer>& out) {
    std::size_t const budget = kept_bytes.get(), reserve = budget / 16;
    std::lock_guard const lock(mutex());
    All& kept = all_;
    if (kept.bytes <= std::max(budget, kept.trimmed_from)) return;
    for (Entry* entry = kept.ends.newer; entry != &kept.ends && kept.bytes > budget - reserve;) {
        Entry& oldest = *entry;
        entry = entry->newer;
        if (budget > 0 && oldest.kind->is_held(oldest)) continue;
        ++oldest.kind->counts_.evictions;
        out.emplace_back();
        out.back() = oldest.kind->remove(oldest);
    }
    kept.trimmed_from = out.empty() ? kept.bytes + reserve : 0;
}

// Once an object is destroyed, those that it held may go too.
void KeptKind::trim() {
    std::vector<Pointer> out;
    do {
        out.clear();
        evict(out);
    } while (!out.empty());
}

void KeptKind::set_budget(std::size_t bytes) {
    kept_bytes.set(bytes);
    {
        std::lock_guard const lock(mutex());
        all_.trimmed_from = 0;
    }
    trim();
}

void KeptKind::forget_all() {
    std::vector<Pointer> out;
    std::lock_guard const lock(mutex());
    for (Entry& ends = all_.ends; ends.newer != &ends;) {
        out.emplace_back();
        out.back() = ends.newer->kind->remove(*ends.newer);
    }
}

static void add(runtime::Kept_statistics& sums, runtime::Kept_statistics const& counts) {
    using Counts = runtime::Kept_statistics;
    for (auto const count :
         {&Counts::objects, &Counts::bytes, &Counts::hits, &Counts::misses, &Counts::builds, &Counts::evictions})
        sums.*count += counts.*count;
}

// Kinds of one name, such as the plans of each group of functions, are one kind to programs.
std::vector<runtime::Kept_statistics> KeptKind::statistics() {
    std::vector<runtime::Kept_statistics> counts;
    std::lock_guard const lock(mutex());
    for (KeptKind const* kind = all_.last_kind; kind != nullptr; kind = kind->earlier_kind_) {
        std::string_view const name = kind->counts_.kind;
        auto const same = std::ranges::find(counts, name, &runtime::Kept_statistics::kind);
        if (same == counts.end()) counts.push_back(kind->counts_);
        else add(*same, kind->counts_);
    }
    return counts;
}

}  // namespace cudnn_frontend::core::process
