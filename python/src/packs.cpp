#include "packs.h"

#include "pack_keys.h"
#include "streams.h"

#include <cudnn_frontend/backend_helpers.h>
#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>

namespace binding {
namespace {

using sdpa_graph::Device_kind;

[[noreturn]] void refuse(Need const& need, std::string const& found, std::string const& needed) {
    throw py::value_error("tensor '" + need.name + "' (uid " + std::to_string(need.uid) + "): " + found + ": " +
                          needed);
}

std::string text_of(Sizes const& sizes) {
    std::ostringstream text;
    for (std::size_t i = 0; i < sizes.size(); ++i) text << (i == 0 ? "[" : ", ") << sizes[i];
    return text.str() + "]";
}

void check_type(Need const& need, Memory const& memory, std::int64_t element_bytes) {
    bool const is_unknown = memory.element_bytes == 0 || need.type == fe::DataType_t::NOT_SET;
    // Integers of the same width carry the bits of types that a library does not have, as bfloat16 in NumPy.
    if (is_unknown || memory.view.type == need.type || (memory.is_raw && memory.element_bytes == element_bytes)) return;
    refuse(need,
           std::string("memory of type ") + fe::to_string(memory.view.type) + " with " +
               std::to_string(memory.element_bytes) + " bytes an element",
           std::string(fe::to_string(need.type)) + " is needed");
}

void check_gpu(Place& place, Need const& need, Memory const& memory) {
    if (memory.view.device != Device_kind::CUDA || memory.view.device_index == kUnknownDevice) return;
    std::optional<int> const device = place.device();
    if (device && *device != memory.view.device_index)
        refuse(need, "memory of GPU " + std::to_string(memory.view.device_index),
               "the handle's stream runs on GPU " + std::to_string(*device) +
                   "; a handle and a stream of the memory's GPU are needed");
}

void check_device(Graph const& graph, Need const& need, Memory const& memory) {
    bool const wants_host = graph.runs_on_host() || need.is_by_value;
    bool const is_offline =
        graph.target().kind() == fe::Target::Kind::OFFLINE;  // which runs nowhere, as the library says
    if (memory.view.device == Device_kind::UNKNOWN || is_offline) return;
    if (wants_host && memory.view.device == Device_kind::CUDA)
        refuse(need, "memory of a GPU",
               need.is_by_value ? "it is passed by value, from the host" : "the target reads host memory");
    if (!wants_host && memory.view.device == Device_kind::CPU)
        refuse(need, "memory of the host", "the target reads memory of its GPU");
}

// An array of the host with the same dims has to have the strides of the graph; those of dims of one element do not
// matter.
bool has_other_strides(Need const& need, Memory const& memory) {
    if (!memory.has_exact_strides || memory.view.dim != need.dim) return false;
    for (std::size_t i = 0; i < need.dim.size(); ++i)
        if (need.dim[i] > 1 && memory.view.stride[i] != need.stride[i]) return true;
    return false;
}

void check_memory(Graph const& graph, Place& place, Need const& need, Memory const& memory) {
    check_type(need, memory, bits_of(need.type) / 8);
    check_device(graph, need, memory);
    check_gpu(place, need, memory);
    if (has_other_strides(need, memory))
        refuse(need, "an array with strides " + text_of(memory.view.stride), "the graph has " + text_of(need.stride));
    if (memory.bytes >= 0 && memory.bytes < need.bytes)
        refuse(need, std::to_string(memory.bytes) + " bytes of memory",
               "dims " + text_of(need.dim) + " with strides " + text_of(need.stride) + " reach over " +
                   std::to_string(need.bytes));
    if (need.is_output && memory.view.is_read_only) refuse(need, "memory that can only be read", "the graph writes it");
}

// The address that a number gives. The library itself refuses null.
void* plain_address(py::handle value, std::int64_t uid) {
    void* const address = read_address(value);
    if (address != nullptr && !may_be_address(address))
        throw py::value_error("the pack gives " + std::string(py::str(value)) + " for uid " + std::to_string(uid) +
                              ": the address of memory is needed");
    return address;
}

// The number of bytes of a tensor's storage that has to be counted: for packed sequences all of them.
std::int64_t enough_for(Graph const& graph, Need const& need) {
    bool const is_open = need.offset && graph.runs_on_host();
    return is_open ? std::numeric_limits<std::int64_t>::max() : need.bytes;
}

void* address_of(Graph const& graph, Place& place, Need const* need, std::int64_t uid, py::handle value, Pack& pack,
                 std::int64_t& bytes) {
    if (PyLong_Check(value.ptr()) != 0) return plain_address(value, uid);
    std::optional<Memory> memory = memory_of(value, need == nullptr ? 0 : enough_for(graph, *need));
    if (!memory)
        refuse_object(value, "what the pack gives for tensor '" + (need == nullptr ? std::string() : need->name) +
                                 "' (uid " + std::to_string(uid) + ")");
    if (need != nullptr) check_memory(graph, place, *need, *memory);
    Objects& used = place.has_to_keep(*memory) ? pack.on_gpu : pack.held;
    used.push_back(py::reinterpret_borrow<py::object>(value));
    if (memory->owner) used.push_back(std::move(memory->owner));
    bytes = memory->bytes;
    return memory->view.data;
}

// Whether the dims and strides are those of memory whose size can be computed.
bool has_size(Need const& need) {
    if (need.dim.size() != need.stride.size()) return false;
    std::int64_t last = 1, reach = 0;
    for (std::size_t i = 0; i < need.dim.size(); ++i) {
        bool const is_counted = need.dim[i] > 0 && need.stride[i] >= 0 &&
                                !__builtin_mul_overflow(need.dim[i] - 1, need.stride[i], &reach) &&
                                !__builtin_add_overflow(last, reach, &last);
        if (!is_counted) return false;
    }
    return !__builtin_mul_overflow(last, std::max<std::int64_t>(bits_of(need.type), 1), &reach);
}

// An empty list leaves a tensor as it is.
void set_unless_empty(Sizes& sizes, Sizes const& others) {
    if (!others.empty()) sizes = others;
}

// The needs with the dims and strides of the run. Invalid ones are left out: the library refuses them.
std::vector<Need> overridden(std::vector<Need> needs, Overrides const& other) {
    for (std::size_t i = 0; i < other.uids->size(); ++i) {
        auto const need = std::ranges::lower_bound(needs, (*other.uids)[i], {}, &Need::uid);
        if (need == needs.end() || need->uid != (*other.uids)[i]) continue;
        Need changed = *need;
        if (other.shapes && i < other.shapes->size()) set_unless_empty(changed.dim, (*other.shapes)[i]);
        if (other.strides && i < other.strides->size()) set_unless_empty(changed.stride, (*other.strides)[i]);
        if (!has_size(changed)) continue;
        if (changed.bytes > 0) changed.bytes = bytes_of(changed);
        *need = std::move(changed);
    }
    return needs;
}

// The last number of a ragged offset; empty if its type is not one of integers.
std::optional<std::int64_t> last_of(Need const& offset, void const* data) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < offset.dim.size(); ++i) at += (offset.dim[i] - 1) * offset.stride[i];
    auto const read = [&]<class Integer>(Integer number) {
        std::memcpy(&number, static_cast<char const*>(data) + at * static_cast<std::int64_t>(sizeof number),
                    sizeof number);
        return static_cast<std::int64_t>(number);
    };
    if (offset.type == fe::DataType_t::INT32) return read(std::int32_t());
    if (offset.type == fe::DataType_t::INT64) return read(std::int64_t());
    return std::nullopt;
}

// The number of elements after a row that belong to no row of the tensor, if it is a part of wider rows.
std::int64_t gap_of(Need const& need) {
    if (need.dim.size() < 3) return 0;
    Sizes row = need.dim;
    row[0] = row[2] = 1;
    return std::max<std::int64_t>(need.stride[2] - sdpa_graph::span_of(row, need.stride), 0);
}

// Refuses memory that is shorter than the end of its packed sequences, which only a run on the host can read.
void check_ends(std::vector<Need> const& needs, std::vector<void*> const& pointers, Sizes const& bytes) {
    for (std::size_t i = 0; i < needs.size(); ++i) {
        Need const& need = needs[i];
        if (!need.offset || bytes[i] < 0 || bits_of(need.type) == 0) continue;
        auto const offset = std::ranges::lower_bound(needs, *need.offset, {}, &Need::uid);
        if (offset == needs.end() || offset->uid != *need.offset) continue;
        void const* const data = pointers[static_cast<std::size_t>(offset - needs.begin())];
        std::optional<std::int64_t> const end = data == nullptr ? std::nullopt : last_of(*offset, data);
        std::int64_t const most = (bytes[i] * 8 / bits_of(need.type) + gap_of(need)) / need.offset_multiplier;
        if (end && *end > most)
            refuse(need, std::to_string(bytes[i]) + " bytes of memory",
                   "its ragged offset '" + offset->name + "' ends at " + std::to_string(*end) +
                       ", and the memory has room up to " + std::to_string(most));
    }
}

}  // namespace

CUstream_st* Place::stream() const {
    CUstream_st* stream = nullptr;
    if (handle_ != nullptr) check(fe::runtime::get_stream(handle_, &stream));
    return stream;
}

std::optional<int> Place::device() {
    if (!is_device_known_) device_ = handle_ == nullptr ? std::nullopt : device_of(stream());
    is_device_known_ = true;
    return device_;
}

bool Place::has_to_keep(Memory const& memory) {
    if (handle_ == nullptr || memory.view.device != Device_kind::CUDA) return false;
    if (!memory.is_of_torch) return true;
    if (!is_of_torch_)
        is_of_torch_ = stream_of_torch(memory.view.device_index) == reinterpret_cast<std::uintptr_t>(stream());
    return !*is_of_torch_;
}

Pack read_pack(Graph& graph, Place& place, py::dict const& given, Overrides const& overrides) {
    Pack pack;
    auto const own_needs = graph.needs();
    std::vector<Need> const other_needs = overrides.uids ? overridden(*own_needs, overrides) : std::vector<Need>();
    std::vector<Need> const& needs = overrides.uids ? other_needs : *own_needs;
    std::size_t filled = 0;
    Sizes bytes(needs.size(), -1);
    pack.entries.reserve(given.size());
    pack.in_order.resize(needs.size());
    // A copy: describing memory calls objects' own methods, which may change the dictionary.
    auto const entries = py::reinterpret_steal<py::dict>(PyDict_Copy(given.ptr()));
    if (!entries) throw py::error_already_set();
    for (auto const& [key, value] : entries) {
        std::int64_t uid = 0;
        if (!read_key(needs, key, uid)) continue;
        auto const need = std::ranges::lower_bound(needs, uid, {}, &Need::uid);
        bool const is_needed = need != needs.end() && need->uid == uid;
        // An address has nothing to check, and keeps nothing alive.
        auto const place_in_order = static_cast<std::size_t>(need - needs.begin());
        std::int64_t size = -1;
        void* const address = PyLong_CheckExact(value.ptr()) != 0
                                  ? plain_address(value, uid)
                                  : address_of(graph, place, is_needed ? &*need : nullptr, uid, value, pack, size);
        pack.entries.emplace_back(uid, address);
        if (!is_needed) continue;
        bytes[place_in_order] = size;
        if (std::exchange(pack.in_order[place_in_order], address) == nullptr && address != nullptr) ++filled;
    }
    if (graph.runs_on_host()) check_ends(needs, pack.in_order, bytes);
    if (filled != needs.size() || filled != pack.entries.size()) pack.in_order.clear();
    return pack;
}

}  // namespace binding
