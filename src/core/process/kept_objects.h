// The objects that the process keeps for being used again: validated graphs, proposals, lowered graphs with their
// plans, and the plans of functions, resized ones too. All of them share one budget of bytes.
#pragma once

#include "core/guard.h"
#include "core/result.h"

#include <cudnn_frontend/process.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudnn_frontend::core::process {

// The result of a look-up, and whether it was there already.
template <class T>
struct FoundObject {
    std::shared_ptr<T> object;
    bool is_known;
};

// The objects of one kind, as far as their type does not matter. One lock is for all kinds.
class KeptKind {
   public:
    KeptKind(KeptKind const&) = delete;
    KeptKind& operator=(KeptKind const&) = delete;

    // Makes room: while all objects together have more bytes than the budget, those go that were used last the longest
    // ago, unless something else holds them, which would keep their memory. With a budget of 0 all go.
    static void trim();
    static void set_budget(std::size_t bytes);
    static void forget_all();
    static std::vector<runtime::Kept_statistics> statistics();

   protected:
    using Pointer = std::shared_ptr<void const>;

    // Entries form a circle, from the one that was used last to the one before it.
    struct Entry {
        KeptKind* kind = nullptr;
        Entry *older = nullptr, *newer = nullptr;
        std::size_t hash = 0, bytes = 0;
    };

    // Kinds live until the process ends.
    explicit KeptKind(char const* name);
    ~KeptKind() = default;

    // The functions of entries are called with it held. The child of a fork has it as it was in the thread that forked.
    static std::mutex& mutex();
    static bool keeps_any();
    void enter(Entry& entry, std::size_t bytes);
    void count_again(Entry& entry, std::size_t bytes);
    static void use(Entry& entry) {
        if (all_.ends.older == &entry) return;
        unlink(entry);
        link(entry);
    }

    // Whether something other than the table holds the object.
    virtual bool is_held(Entry const& entry) const = 0;
    // Deletes the entry; the caller destroys its object without the lock, which may take long.
    virtual Pointer take(Entry& entry) = 0;
    // In the child of a fork, in which the other threads do not go on with what they were making.
    virtual void forget_unfinished() = 0;
    Pointer remove(Entry& entry);

    runtime::Kept_statistics counts_;

   private:
    // The common state of all kinds. It has no destructor, since static objects of programs may still build.
    struct All {
        std::mutex mutex;
        Entry ends{nullptr, &ends, &ends};  // its older one was used last, its newer one is the oldest
        std::size_t bytes = 0;
        // Below it nothing has to go. It exceeds the budget where that many bytes are held elsewhere.
        std::size_t trimmed_from = 0;
        KeptKind* last_kind = nullptr;
    };

    static void survive_forks();
    static void link(Entry& entry);
    static void unlink(Entry& entry);
    // One round of trim(). The objects go to `out`, since their destructors may take long.
    static void evict(std::vector<Pointer>& out);

    static All all_;
    KeptKind* earlier_kind_;
};

// Kind describes the objects:
//
//     using Key = ...; using Object = ...;
//     static constexpr char const* kName;
//     static Key const& key_of(Object const& object);
//     static bool is_same(Key const& a, Key const& b);
//     static std::size_t bytes_of(Object const& object);
//     static bool is_held(Object const& object);  // optional: by something that holds a part of it alone
template <class Kind>
class KeptObjects final : private KeptKind {
   public:
    using Key = typename Kind::Key;
    using Object = typename Kind::Object;
    using ObjectPointer = std::shared_ptr<Object>;
    using Found = FoundObject<Object>;

    // They are never destroyed: static objects of a program may build graphs when this library's are gone.
    static KeptObjects& of_process() {
        static KeptObjects& all = *new KeptObjects();
        return all;
    }

    // The object whose key fits; null where there is none.
    template <class Fits>
    ObjectPointer find(std::size_t hash, Fits const& fits) {
        std::lock_guard const lock(mutex());
        return find_locked(hash, fits);
    }

    // The object of the key. If there is none, `make` returns a Result with it, in one of the threads that ask at once;
    // the others wait for it, and get its error if it fails.
    template <class Make>
    Result<Found> find_or_make(std::size_t hash, Key const& key, Make const& make) {
        auto const fits = [&](Key const& other) { return Kind::is_same(other, key); };
        std::unique_lock lock(mutex());
        if (auto known = find_locked(hash, fits)) return Found{std::move(known), true};
        ++counts_.misses;
        for (auto const& other : being_made_) {
            if (other->hash == hash && fits(*other->key)) return wait_for(std::shared_ptr<Making>(other), lock);
        }
        auto const making = being_made_.emplace_back(std::make_shared<Making>(hash, &key));
        lock.unlock();
        error_t const failure = guarded([&]() -> error_t { return make().move_to(making->object); });
        lock.lock();
        finish(*making, failure);
        lock.unlock();
        if (making->object == nullptr) return making->failure;
        trim();
        return Found{making->object, false};
    }

    // The object has other bytes than before.
    void count_again(std::size_t hash, Object const& object) {
        {
            std::lock_guard const lock(mutex());
            if (TypedEntry* const entry = find_entry(hash, [&](Object const& kept) { return &kept == &object; })) {
                KeptKind::count_again(*entry, Kind::bytes_of(object));
            }
        }
        trim();
    }

    template <class Fits>
    void forget(std::size_t hash, Fits const& fits) {
        std::vector<Pointer> out;
        std::lock_guard const lock(mutex());
        while (TypedEntry* const entry = find_entry(hash, fits)) out.push_back(remove(*entry));
    }

    // Calls visit(object) for each.
    template <class Visit>
    void for_each(Visit const& visit) {
        std::lock_guard const lock(mutex());
        for (auto const& [hash, entry] : entries_) visit(*entry.object);
    }

   private:
    struct TypedEntry : Entry {
        ObjectPointer object;
    };
    struct Making {
        Making(std::size_t of_hash, Key const* of_key) : hash(of_hash), key(of_key) {}

        std::size_t hash;
        Key const* key;  // until it is done
        bool is_done = false;
        std::condition_variable done = {};
        ObjectPointer object = nullptr;
        error_t failure = {};
    };

    KeptObjects() : KeptKind(Kind::kName) {}

    template <class Fits>
    TypedEntry* find_entry(std::size_t hash, Fits const& fits) {
        // Entries of one hash lie side by side: faster than equal_range(), which computes where they end.
        for (auto entry = entries_.find(hash); entry != entries_.end() && entry->first == hash; ++entry) {
            if (fits(*entry->second.object)) return &entry->second;
        }
        return nullptr;
    }

    template <class Fits>
    ObjectPointer find_locked(std::size_t hash, Fits const& fits) {
        TypedEntry* const entry = find_entry(hash, [&](Object const& kept) { return fits(Kind::key_of(kept)); });
        if (entry == nullptr) return nullptr;
        ++counts_.hits;
        use(*entry);
        return entry->object;
    }

    static Result<Found> wait_for(std::shared_ptr<Making> const& making, std::unique_lock<std::mutex>& lock) {
        making->done.wait(lock, [&] { return making->is_done; });
        if (making->object == nullptr) return making->failure;
        return Found{making->object, true};
    }

    // Without memory for an entry the object is not kept.
    void finish(Making& making, error_t const& failure) {
        std::erase_if(being_made_, [&](auto const& other) { return other.get() == &making; });
        making.failure = failure;
        making.is_done = true;
        making.done.notify_all();
        if (making.object == nullptr) return;
        ++counts_.builds;
        static_cast<void>(guarded([&]() -> error_t {
            if (keeps_any()) enter(entries_.emplace(making.hash, TypedEntry())->second, making);
            return {};
        }));
    }
    void enter(TypedEntry& entry, Making const& making) {
        entry.object = making.object;
        entry.hash = making.hash;
        KeptKind::enter(entry, Kind::bytes_of(*making.object));
    }

    bool is_held(Entry const& entry) const override {
        ObjectPointer const& object = static_cast<TypedEntry const&>(entry).object;
        if (object.use_count() > 1) return true;
        if constexpr (requires { Kind::is_held(*object); }) return Kind::is_held(*object);
        else return false;
    }

    void forget_unfinished() override { being_made_.clear(); }

    Pointer take(Entry& entry) override {
        Pointer object = std::move(static_cast<TypedEntry&>(entry).object);
        auto place = entries_.find(entry.hash);
        while (&place->second != &entry) ++place;
        entries_.erase(place);
        return object;
    }

    std::unordered_multimap<std::size_t, TypedEntry> entries_;
    std::vector<std::shared_ptr<Making>> being_made_;
};

}  // namespace cudnn_frontend::core::process
