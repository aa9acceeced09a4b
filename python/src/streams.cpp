#include "streams.h"

#include <dlfcn.h>

#include <deque>
#include <initializer_list>

namespace binding {
namespace {

// Functions of the CUDA driver, which the library loads and does not link; their results are 0 if all went well.
struct Driver {
    int (*context_of)(CUstream_st*, void**) = nullptr;
    int (*push_context)(void*) = nullptr;
    int (*pop_context)(void**) = nullptr;
    int (*device)(int*) = nullptr;
    int (*is_capturing)(CUstream_st*, int*) = nullptr;
    int (*create_event)(void**, unsigned) = nullptr;
    int (*record_event)(void*, CUstream_st*) = nullptr;
    int (*query_event)(void*) = nullptr;
    int (*destroy_event)(void*) = nullptr;
    bool is_there = false;

    Driver() {
        void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (library == nullptr) return;
        is_there = true;
        auto const load = [&](auto& function, char const* name) {
            function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
            is_there = is_there && function != nullptr;
        };
        load(context_of, "cuStreamGetCtx");
        load(push_context, "cuCtxPushCurrent_v2");
        load(pop_context, "cuCtxPopCurrent_v2");
        load(device, "cuCtxGetDevice");
        load(is_capturing, "cuStreamIsCapturing");
        load(create_event, "cuEventCreate");
        load(record_event, "cuEventRecord");
        load(query_event, "cuEventQuery");
        load(destroy_event, "cuEventDestroy_v2");
    }
};

// Looked up only when a run on a GPU has loaded the driver.
Driver const& driver() {
    static Driver const functions;
    return functions;
}

// Makes the stream's context the current one of this thread.
class Current_context {
   public:
    explicit Current_context(CUstream_st* stream) {
        void* context = nullptr;
        is_good_ =
            driver().is_there && driver().context_of(stream, &context) == 0 && driver().push_context(context) == 0;
    }
    ~Current_context() {
        void* context = nullptr;
        if (is_good_) driver().pop_context(&context);
    }
    Current_context(Current_context const&) = delete;
    Current_context& operator=(Current_context const&) = delete;

    bool is_good() const { return is_good_; }

   private:
    bool is_good_ = false;
};

struct Kept {
    void* event;
    std::vector<py::object> objects;
};

// Lives as long as the process: when the interpreter ends, runs may still be under way.
std::deque<Kept>& kept() {
    static auto* const entries = new std::deque<Kept>();
    return *entries;
}

void release_done() {
    while (!kept().empty() && driver().query_event(kept().front().event) == 0) {
        driver().destroy_event(kept().front().event);
        std::vector<py::object> const objects = std::move(kept().front().objects);
        kept().pop_front();  // before the objects end, which may call this again
    }
}

}  // namespace

std::optional<int> device_of(CUstream_st* stream) {
    Current_context const current(stream);
    int device = 0;
    if (!current.is_good() || driver().device(&device) != 0) return std::nullopt;
    return device;
}

void keep_until_done(CUstream_st* stream, std::vector<py::object> objects) {
    Current_context const current(stream);
    int capture = 0;
    if (!current.is_good() || driver().is_capturing(stream, &capture) != 0 || capture != 0) return;
    release_done();
    constexpr unsigned without_timing = 2;
    void* event = nullptr;
    if (driver().create_event(&event, without_timing) != 0) return;
    if (driver().record_event(event, stream) == 0) kept().push_back({event, std::move(objects)});
    else driver().destroy_event(event);
}

}  // namespace binding
