// Groups of ranks, and the tokens that each of them owns: docs/several-gpus.md.
#include "bindings.h"
#include "errors.h"
#include "words.h"

#include <sdpa_graph/group.h>

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace binding {
namespace {

using sdpa_graph::Group;
using sdpa_graph::Group_limits;
using sdpa_graph::Group_way;
using sdpa_graph::Layout;
using sdpa_graph::Nccl_id;
using sdpa_graph::Tensor_view;

// Waits for other ranks, while other threads, which may be these ranks, go on.
template <class Call>
void check_unlocked(Call const& call) {
    fe::error_t error;
    {
        py::gil_scoped_release const released;
        error = call();
    }
    check(error);
}

template <class Make>
Group made(Make const& make) {
    Group member;
    check_unlocked([&] { return make(member); });
    return member;
}

std::vector<Group> of_threads(int size, std::int64_t deadline) {
    std::vector<Group> members;
    check(Group::of_threads(size, {deadline}, members));
    return members;
}

Group described(int rank, int size) {
    return made([&](Group& member) { return Group::described(rank, size, member); });
}

py::bytes make_nccl_id() {
    Nccl_id id;
    check_unlocked([&] { return Group::make_nccl_id(id); });
    return {id.bytes, sizeof id.bytes};
}

Group of_nccl(py::bytes const& given, int rank, int size, std::int64_t deadline) {
    std::string const bytes = given;
    Nccl_id id;
    if (bytes.size() != sizeof id.bytes)
        throw bad_argument(
            "", "an id of " + std::to_string(bytes.size()) + " bytes",
            "the " + std::to_string(sizeof id.bytes) + " bytes that Group.make_nccl_id() returns on rank 0");
    std::ranges::copy(bytes, id.bytes);
    return made([&](Group& member) { return Group::of_nccl(id, rank, size, {deadline}, member); });
}

Group of_nccl_file(std::string const& path, int rank, int size, std::int64_t deadline) {
    return made([&](Group& member) { return Group::of_nccl_file(path, rank, size, {deadline}, member); });
}

Group adopt_nccl(std::intptr_t communicator, std::int64_t deadline) {
    auto* const address = reinterpret_cast<ncclComm*>(communicator);
    if (!may_be_address(address))
        throw bad_argument("", std::to_string(communicator) + " as a communicator",
                           "the address that an ncclComm_t holds");
    return made([&](Group& member) { return Group::adopt_nccl(address, {deadline}, member); });
}

py::list exchange_times(Group const& group) {
    std::vector<sdpa_graph::Exchange_time> times;
    check_unlocked([&] { return group.exchange_times(times); });
    py::list list;
    for (auto const& time : times)
        list.append(py::make_tuple(time.content, time.exposed_milliseconds, time.received_bytes));
    return list;
}

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

Layout layout_of(std::vector<Ranges> const& ranges) {
    std::vector<std::vector<sdpa_graph::Token_range>> all;
    for (Ranges const& of_rank : ranges) {
        auto& own = all.emplace_back();
        for (auto const& [first, count] : of_rank) own.push_back({first, count});
    }
    return Layout::of(std::move(all));
}

Ranges ranges_of(Layout const& layout, int rank) {
    Ranges ranges;
    for (sdpa_graph::Token_range const& range : layout.ranges_of(rank)) ranges.emplace_back(range.first, range.count);
    return ranges;
}

bool are_equal(Layout const& a, Layout const& b) {
    if (a.ranks() != b.ranks()) return false;
    for (int rank = 0; rank < a.ranks(); ++rank)
        if (ranges_of(a, rank) != ranges_of(b, rank)) return false;
    return true;
}

// Memory of the host that the call reads or writes.
Memory memory_on_host(py::handle object, char const* what, bool is_written) {
    std::optional<Memory> memory = memory_of(object);
    if (!memory || memory->view.dim.empty()) refuse_object(object, what);
    if (memory->view.device == sdpa_graph::Device_kind::CUDA)
        throw py::value_error(std::string(what) + " is memory of a GPU: select positions_of(rank) of it there");
    if (is_written && memory->view.is_read_only)
        throw py::value_error(std::string(what) + " can only be read, and is to be written");
    return *std::move(memory);
}

Layout balanced(std::variant<std::int64_t, std::vector<std::int64_t>> const& lengths, int ranks,
                std::optional<std::int64_t> left_bound, std::optional<std::int64_t> right_bound) {
    auto const* const documents = std::get_if<std::vector<std::int64_t>>(&lengths);
    return Layout::balanced(documents != nullptr ? *documents : std::vector{std::get<std::int64_t>(lengths)}, ranks,
                            left_bound, right_bound);
}

void shard(Layout const& layout, py::handle whole, std::size_t dim, int rank, py::handle part) {
    Memory const from = memory_on_host(whole, "the whole tensor", false);
    Memory const to = memory_on_host(part, "the shard", true);
    check(layout.shard(from.view, dim, rank, to.view));
}

void unshard(Layout const& layout, py::handle part, std::size_t dim, int rank, py::handle whole) {
    Memory const from = memory_on_host(part, "the shard", false);
    Memory const to = memory_on_host(whole, "the whole tensor", true);
    check(layout.unshard(from.view, dim, rank, to.view));
}

void bind_layout(py::module_& module) {
    auto const length = py::arg("length"), ranks = py::arg("ranks"), rank = py::arg("rank");
    auto const whole = py::arg("whole"), dim = py::arg("dim"), part = py::arg("part");
    py::class_<Layout>(module, "Layout", "Which tokens of a sequence each rank owns.")
        .def_static("contiguous", &Layout::contiguous, length, ranks, "One range for each rank, in order.")
        .def_static("head_tail", &Layout::head_tail, length, ranks,
                    "Two ranges for each rank, one from the start and one from the end: with a causal mask all ranks "
                    "have the same work.")
        .def_static("balanced", &balanced, py::arg("lengths"), ranks, py::arg("left_bound") = py::none(),
                    py::arg("right_bound") = py::none(),
                    "One range for each rank, in order: all ranks have about as many pairs of a query and a visible "
                    "key. The lengths are those of packed documents, or the length of one sequence.")
        .def_static("of", &layout_of, py::arg("ranges"), "For each rank a list of ranges (first token, count).")
        .def_property_readonly("ranks", &Layout::ranks)
        .def_property_readonly("length", &Layout::length)
        .def("ranges_of", &ranges_of, rank)
        .def("count_of", &Layout::count_of, rank)
        .def("positions_of", &Layout::positions_of, rank, "The place of each of the rank's tokens in the sequence.")
        .def("shard", &shard, whole, dim, rank, part, "Copies the rank's tokens out of a tensor of the host.")
        .def("unshard", &unshard, part, dim, rank, whole, "Copies the rank's tokens back to their places.")
        .def("__eq__", &are_equal, py::is_operator())
        .def("__hash__", [](Layout const& self) {
            return std::hash<std::int64_t>()(self.length()) ^ std::hash<int>()(self.ranks());
        });
}

void bind_members(py::module_& module) {
    auto const rank = py::arg("rank"), size = py::arg("size");
    auto const deadline = py::arg("deadline_milliseconds") = Group_limits().deadline_milliseconds;
    py::class_<Group>(module, "Group", "One rank's membership in a group of ranks that compute an attention together.")
        .def_static("of_threads", &of_threads, size, deadline,
                    "A group of as many threads of this process, for CPU targets: one member for each.")
        .def_static("described", &described, rank, size, "Plans for a rank that need not be here. It cannot run.")
        .def_static("make_nccl_id", &make_nccl_id, "128 bytes that rank 0 makes and all ranks need.")
        .def_static("of_nccl", &of_nccl, py::arg("id"), rank, size, deadline,
                    "A rank of a group of GPUs, for the device that is current. Waits for all ranks.")
        .def_static("of_nccl_file", &of_nccl_file, py::arg("path"), rank, size, deadline,
                    "The same with an id that rank 0 writes to a file that does not exist yet.")
        .def_static("adopt_nccl", &adopt_nccl, py::arg("communicator"), deadline,
                    "The address of an ncclComm_t, which stays the program's and has to outlive the group.")
        .def_property_readonly("rank", &Group::rank)
        .def_property_readonly("size", &Group::size)
        .def(
            "check", [](Group const& self) { check_unlocked([&] { return self.check(); }); },
            "Raises an error if the group works no more.")
        .def(
            "wait_for",
            [](Group const& self, std::intptr_t stream) {
                check_unlocked([&] { return self.wait_for(reinterpret_cast<CUstream_st*>(stream)); });
            },
            py::arg("stream") = 0, "Waits for the work on a stream, at most until the deadline.")
        .def(
            "measure", [](Group const& self, bool is_on) { check(self.measure(is_on)); }, py::arg("is_on") = true,
            "Whether runs from now on measure their exchanges.")
        .def("exchange_times", &exchange_times,
             "For each exchange of the last run that was measured its content, the milliseconds for which it held the "
             "rank up, and the bytes received.")
        .def("give_up", &Group::give_up, py::arg("reason"), "Ends the group: ranks that wait get the reason.");
}

void set_group(Graph& graph, Group const& group, Layout const& layout, Group_way way, int stages,
               std::optional<Layout> const& keys) {
    graph.become_part();
    graph.inner.set_group(group, layout, {way, stages, keys.value_or(Layout())});
}

}  // namespace

void bind_group(py::module_& module) {
    bind_layout(module);
    bind_members(module);
}

void bind_group_of_graphs(Graph_class& graph) {
    graph.def("set_group", &set_group, py::arg("group"), py::arg("layout"), py::arg("way") = Group_way::AUTO,
              py::arg("stages") = 0, py::arg("keys").none(true) = py::none(),
              "Makes the graph a rank's part of one attention that a group computes.");
}

}  // namespace binding
