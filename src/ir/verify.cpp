// The checks on values, and on the order in which operations write and read them.
#include "ir/faults.h"

#include "core/text.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::ir {
namespace {

bool is_memory_of_caller(Role role) { return role != Role::Virtual && role != Role::Constant; }

// Checks one value; strides, sizes and views build on each other, so the first fault ends the rest.
class ValueCheck {
   public:
    ValueCheck(OpGraph const& graph, ValueId id, core::Findings& findings)
        : graph_(graph), value_(graph.value(id)), id_(id), findings_(findings) {}

    void run() {
        if (value_.type == DataType_t::NOT_SET) fail("no data type", "one");
        if (!check_layout()) return;
        check_scalar();
        check_ragged();
        check_steps();
        if (value_.view_of != kNoValue) return check_view();
        if (is_memory_of_caller(value_.role) && value_.uid < 0) {
            fail("memory of the caller with the uid " + std::to_string(value_.uid), "the uid of the user's tensor");
        }
    }

   private:
    void fail(std::string found, std::string needed) {
        findings_.add(fault_at_value(graph_, id_, std::move(found), std::move(needed)));
    }

    std::string dims() const {
        return "dims " + core::to_string(value_.dim) + ", strides " + core::to_string(value_.stride);
    }

    bool check_layout() {
        auto const rank = value_.dim.size();
        if (rank == 0 || rank > core::kMaxRank || value_.stride.size() != rank) {
            fail(dims(), "1 to 8 dims and one stride for each");
            return false;
        }
        if (*std::min_element(value_.dim.begin(), value_.dim.end()) < 1 ||
            *std::min_element(value_.stride.begin(), value_.stride.end()) < 0) {
            fail(dims(), "dims of 1 or more and strides of 0 or more");
            return false;
        }
        if (!core::volume(value_.dim) || !core::span_of(value_.dim, value_.stride)) {
            fail(dims(), "no more elements than 64 bits can count");
            return false;
        }
        return true;
    }

    void check_scalar() {
        if (!value_.table.empty()) return check_table();
        bool const is_scalar = value_.role == Role::ByValue || value_.role == Role::Constant;
        if (is_scalar && core::volume(value_.dim) != 1) {
            fail("a scalar with " + dims(), "one element");
        }
        if (value_.role == Role::Constant && value_.constant.type != value_.type) {
            fail(core::text("the type ", value_.type, " and a constant of type ", value_.constant.type), "one type");
        }
    }

    void check_table() {
        auto const count = static_cast<std::int64_t>(value_.table.size());
        if (value_.role != Role::Constant || core::volume(value_.dim) != count) {
            fail(dims() + " and a table of " + std::to_string(count) + " elements",
                 "a constant, whose table holds all its elements");
        }
    }

    void check_ragged() {
        if (!value_.ragged) return;
        for (ValueId const part : {value_.ragged.offset, value_.ragged.length}) {
            bool const is_offset = part == value_.ragged.offset;
            if (!is_known_before(part) || (is_offset && graph_.value(part).role != Role::Input)) {
                return fail("ragged offsets or lengths %" + std::to_string(part), "inputs that were added before it");
            }
        }
        std::int64_t const entries = value_.dim.front();
        auto const holds = [&](ValueId part, std::int64_t count) { return graph_.value(part).dim.front() == count; };
        if (holds(value_.ragged.offset, entries + 1) && holds(value_.ragged.length, entries)) return;
        fail(dims() + " and ragged offsets or lengths of another number of batch entries", "one number");
    }

    bool is_known_before(ValueId part) const {
        if (!is_in_range(graph_, part) || part >= id_) return false;
        return graph_.value(part).role == Role::Input || graph_.value(part).steps_of != kNoValue;
    }

    void check_steps() {
        if (value_.steps_of == kNoValue) return;
        bool const has_sums = is_known_before(value_.steps_of) && graph_.value(value_.steps_of).role == Role::Input &&
                              graph_.value(value_.steps_of).dim.front() == value_.dim.front() + 1;
        if (has_sums && value_.role == Role::Virtual && value_.type == DataType_t::INT32) return;
        fail("the steps of %" + std::to_string(value_.steps_of) + " in " + dims(),
             "virtual INT32, and an input with one entry more that was added before it");
    }

    void check_view() {
        if (!is_in_range(graph_, value_.view_of) || value_.view_of >= id_) {
            return fail("a view of %" + std::to_string(value_.view_of), "a view of a value that was added before it");
        }
        Value const& storage = graph_.value(value_.view_of);
        std::string const name = label_of(graph_, value_.view_of);
        if (storage.type != value_.type || storage.role != value_.role) {
            fail("a view of " + name + " that differs from it in type or role",
                 "a view that changes dims and strides alone");
        }
        auto const has = core::span_of(value_.dim, value_.stride);
        auto const available = core::span_of(storage.dim, storage.stride);
        if (available && *has > *available) {
            fail(dims() + ", which reach element " + std::to_string(*has - 1) + " of " + name,
                 "elements up to " + std::to_string(*available - 1));
        }
    }

    OpGraph const& graph_;
    Value const& value_;
    ValueId id_;
    core::Findings& findings_;
};

void check_uids(OpGraph const& graph, core::Findings& findings) {
    std::vector<Binding> owners;
    for (std::size_t i = 0; i < graph.values().size(); ++i) {
        Value const& value = graph.values()[i];
        if (value.view_of == kNoValue && value.uid >= 0) owners.push_back({value.uid, static_cast<ValueId>(i)});
    }
    std::stable_sort(owners.begin(), owners.end(), [](Binding const& a, Binding const& b) { return a.uid < b.uid; });
    for (std::size_t i = 1; i < owners.size(); ++i) {
        if (owners[i].uid != owners[i - 1].uid) continue;
        findings.add(fault_at_value(
            graph, owners[i].value,
            "uid " + std::to_string(owners[i].uid) + ", which " + label_of(graph, owners[i - 1].value) + " has too",
            "a uid of its own for each tensor"));
    }
}

// Which storage each value shows; a view that check_view() refuses counts as its own storage.
std::vector<ValueId> storages_of(OpGraph const& graph) {
    std::vector<ValueId> storages(graph.values().size());
    for (std::size_t i = 0; i < storages.size(); ++i) {
        ValueId const shown = graph.values()[i].view_of;
        bool const is_view = shown >= 0 && shown < static_cast<ValueId>(i);
        storages[i] = is_view ? storages[static_cast<std::size_t>(shown)] : static_cast<ValueId>(i);
    }
    return storages;
}

class OrderCheck {
   public:
    OrderCheck(OpGraph const& graph, core::Findings& findings)
        : graph_(graph), findings_(findings), storages_(storages_of(graph)), writers_(storages_.size(), kNobody) {}

    void run() {
        for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
            for (NamedValue const& in : inputs_of(graph_.ops()[i])) check_read(i, in);
            for (NamedValue const& out : outputs_of(graph_.ops()[i])) check_write(i, out);
        }
        for (std::size_t i = 0; i < storages_.size(); ++i) {
            bool const is_output = graph_.values()[i].role == Role::Output && storages_[i] == static_cast<ValueId>(i);
            if (is_output && writers_[i] == kNobody) {
                findings_.add(fault_at_value(graph_, static_cast<ValueId>(i), "an output that no operation writes",
                                             "one that does"));
            }
        }
    }

   private:
    static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

    std::size_t storage_index(ValueId id) const {
        return static_cast<std::size_t>(storages_[static_cast<std::size_t>(id)]);
    }

    bool is_written_by_ops(std::size_t storage) const {
        Value const& value = graph_.values()[storage];
        return (value.role == Role::Virtual && value.steps_of == kNoValue) || value.role == Role::Output;
    }

    std::string text_of(NamedValue const& operand) const {
        return std::string(operand.label) + " = " + label_of(graph_, operand.value);
    }

    void check_read(std::size_t op, NamedValue const& in) {
        if (!is_in_range(graph_, in.value)) return;
        std::size_t const storage = storage_index(in.value);
        if (is_written_by_ops(storage) && writers_[storage] == kNobody) {
            findings_.add(fault_at_op(graph_, op, text_of(in) + ", read before an operation has written it",
                                      "the operation that does in front"));
        }
    }

    void check_write(std::size_t op, NamedValue const& out) {
        if (!is_in_range(graph_, out.value)) return;
        std::size_t const storage = storage_index(out.value);
        if (!is_written_by_ops(storage)) {
            findings_.add(fault_at_op(graph_, op, text_of(out) + ", an input or a scalar, as a result",
                                      "outputs or virtual values"));
        } else if (writers_[storage] != kNobody) {
            findings_.add(fault_at_op(
                graph_, op, text_of(out) + ", which op " + std::to_string(writers_[storage]) + " has written already",
                "a value of its own for each result"));
        } else {
            writers_[storage] = op;
        }
    }

    OpGraph const& graph_;
    core::Findings& findings_;
    std::vector<ValueId> storages_;
    std::vector<std::size_t> writers_;
};

}  // namespace

bool is_in_range(OpGraph const& graph, ValueId id) {
    return id >= 0 && static_cast<std::size_t>(id) < graph.values().size();
}

std::string label_of(OpGraph const& graph, ValueId id) {
    std::string const number = "%" + std::to_string(id);
    std::string const& name = graph.value(id).name;
    return name.empty() ? number : number + " " + name;
}

Finding fault_at_value(OpGraph const& graph, ValueId id, std::string found, std::string needed) {
    return core::finding_at(label_of(graph, id), error_code_t::INVALID_VALUE, std::move(found), std::move(needed));
}

Finding fault_at_op(OpGraph const& graph, std::size_t index, std::string found, std::string needed) {
    Op const& op = graph.ops()[index];
    std::string const name = op.name.empty() ? "" : " '" + op.name + "'";
    return core::finding_at("op " + std::to_string(index) + " " + kind_name(op) + name, error_code_t::INVALID_VALUE,
                            std::move(found), std::move(needed));
}

error_t verify(OpGraph const& graph) {
    core::Findings findings;
    for (std::size_t i = 0; i < graph.values().size(); ++i) ValueCheck(graph, static_cast<ValueId>(i), findings).run();
    check_uids(graph, findings);
    for (std::size_t i = 0; i < graph.ops().size(); ++i) check_operands(graph, i, findings);
    OrderCheck(graph, findings).run();
    return findings.to_error("The op graph is wrong:");
}

}  // namespace cudnn_frontend::ir
