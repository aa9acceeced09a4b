// Programs of steps that do nothing but report their arguments.
#include "plan/programs/program_executable.h"
#include "support/catch.h"

#include <deque>

using namespace cudnn_frontend;
using namespace cudnn_frontend::plan;
using Error = cudnn_frontend::error_t;
using rewrite::Lane;

namespace {

Error failure() { return {error_code_t::GRAPH_EXECUTION_FAILED, "out of paper"}; }

// The events, in order: "launch b" and the like.
using Diary = std::vector<std::string>;

// A recording is a Diary of its own for each step, which begins with the lane where that is not the main one.
class Pages final : public RecordedSteps {
   public:
    explicit Pages(std::deque<Diary>& pages) : pages_(pages) {}

    Error add(Record const& record, Lane lane) override {
        Diary page;
        if (lane == Lane::Side) page.push_back("beside");
        Error failure = record(&page);
        pages_.push_back(page);
        return failure;
    }
    Error update(Record const& record, Lane lane) override {
        Diary& page = pages_.at(next_++);
        bool const is_beside = !page.empty() && page.front() == "beside";
        if (is_beside != (lane == Lane::Side)) page.push_back("in another lane");
        return record(&page);
    }

   private:
    std::deque<Diary>& pages_;
    std::size_t next_ = 0;
};

class Scribe final : public Executable {
   public:
    Scribe(std::string name, Diary& diary, bool fails = false) : name_(std::move(name)), diary_(diary), fails_(fails) {}

    std::int64_t workspace_size() const override { return 16; }
    Result<Stream> stream(Queue queue) const override { return queue; }
    Error launch(Launch const& launch) const override { return write("launch", launch, diary_); }
    Error capture(Launch const& launch, Recording page) const override {
        return write("capture", launch, *static_cast<Diary*>(page));
    }
    Error update(Launch const& launch, Recording page) const override {
        return write("update", launch, *static_cast<Diary*>(page));
    }
    Result<std::unique_ptr<RecordedSteps>> steps_of(Recording pages) const override {
        return std::unique_ptr<RecordedSteps>(std::make_unique<Pages>(*static_cast<std::deque<Diary>*>(pages)));
    }
    Error record_run(Queue, Recording pages, std::function<Error()> const& run) const override {
        diary_.push_back("record");
        static_cast<std::deque<Diary>*>(pages)->emplace_back();
        Error failure = run();
        diary_.push_back("recorded");
        return failure;
    }
    Error warm_up(Queue) const override {
        diary_.push_back("warm up " + name_);
        return {};
    }
    Result<std::string> serialize() const override { return "code of " + name_; }

   private:
    // The name, the offsets of its pointers from the base of all, and its other arguments.
    Error write(std::string const& what, Launch const& launch, Diary& diary) const {
        if (fails_) return failure();
        std::string line = what + " " + name_;
        for (void* const pointer : launch.pointers) {
            line += " " + std::to_string(static_cast<std::byte*>(pointer) - static_cast<std::byte*>(launch.queue));
        }
        auto const at = static_cast<std::byte*>(launch.workspace) - static_cast<std::byte*>(launch.queue);
        diary.push_back(line + ", workspace " + std::to_string(at) +
                        (launch.stream == launch.queue ? "" : ", no stream"));
        return {};
    }

    std::string name_;
    Diary& diary_;
    bool fails_;
};

// Two attends by one executable, and their joint. Pointers: two tensors from 0 and 100 on, a workspace from 200 on.
struct Rig {
    explicit Rig(bool joint_fails = false) {
        auto const attend = std::make_shared<Scribe>("attend", diary);
        auto const joint = std::make_shared<Scribe>("sum", diary, joint_fails);
        auto const last = std::make_shared<Scribe>("sum", diary);
        std::vector<ProgramStep> steps = {{"attention", attend, {{false, 0, 0}, {true, 0, 0}}, 64, false},
                                          {"attention", attend, {{false, 0, 8}, {true, 0, 32}}, 64, false},
                                          {"sum", joint, {{true, 0, 0}, {false, 1, 0}}, 64, true},
                                          {"sum", last, {{true, 0, 32}, {false, 1, 4}}, 64, true}};
        program.emplace("slices(2)", std::vector<PlannedAttend>{{{.name = "eng0"}, attend}}, std::move(steps), 80);
    }

    Launch launch() { return {memory.data(), pointers, memory.data() + 200, nullptr}; }

    Diary diary;
    std::vector<std::byte> memory = std::vector<std::byte>(300);
    void* pointers[2] = {memory.data(), memory.data() + 100};
    std::optional<ProgramExecutable> program;
};

// One rank of a group.
class Postman final : public group::Transport {
   public:
    explicit Postman(Diary& diary) : Transport(0, 1, group::Medium::Gpu), diary_(diary) {}

    Error begin(std::string const& agreement, void*) override { return note("begin " + agreement); }
    Error start(group::Exchange const& exchange, void*) override { return note("start " + exchange.content); }
    Error finish(group::Exchange const& exchange, void*) override { return note("finish " + exchange.content); }
    void end(Error const& outcome) noexcept override { static_cast<void>(note("end " + outcome.err_msg)); }

    void measure(bool) noexcept override {}
    Result<std::vector<sdpa_graph::Exchange_time>> exchange_times() override {
        return std::vector<sdpa_graph::Exchange_time>();
    }
    Error check() override { return {}; }
    Error wait_for(void*) override { return {}; }
    void give_up(std::string const&) noexcept override {}

   private:
    Error note(std::string line) {
        diary_.push_back(std::move(line));
        return {};
    }

    Diary& diary_;
};

// A rank's program: an exchange, and the attention behind it.
ProgramExecutable program_of_rank(Diary& diary) {
    auto const transport = std::make_shared<Postman>(diary);
    auto const pieces = std::make_shared<rewrite::Pieces const>(rewrite::Pieces{"keys", {}, {}});
    auto const attend = std::make_shared<Scribe>("attend", diary);
    std::vector<ProgramStep> steps = {
        {.name = "exchange", .executable = make_exchange_start(transport, pieces), .is_exchange = true},
        {.name = "exchange", .executable = make_exchange_end(transport, pieces), .is_exchange = true},
        {.name = "attention", .executable = attend}};
    return ProgramExecutable("ring", {{{.name = "eng0"}, attend}}, std::move(steps), 80, {transport, "a ring of 1"});
}

std::string const kFailure = "step 3 of 4 of slices(2), sum, failed, so that ";

}  // namespace

TEST_CASE("a program launches its steps in order, each on its own places and with the queue's stream") {
    Rig rig;
    CHECK(rig.program->launch(rig.launch()).get_message() == "");
    CHECK(rig.diary == Diary{"launch attend 0 200, workspace 264", "launch attend 8 232, workspace 264",
                             "launch sum 200 100, workspace 264", "launch sum 232 104, workspace 264"});
}

TEST_CASE("a program without joints does not look for the stream") {
    Rig rig;
    Diary diary;
    auto const attend = std::make_shared<Scribe>("attend", diary);
    ProgramExecutable const one("few_queries(1)", {{{.name = "eng0"}, attend}},
                                {{"attention", attend, {{false, 0, 0}}, 64, false}}, 80);
    CHECK(one.launch(rig.launch()).get_message() == "");
    CHECK(diary == Diary{"launch attend 0, workspace 264, no stream"});
}

TEST_CASE("a step that fails ends the run, and the error says that the results are incomplete") {
    Rig rig(true);
    Error const error = rig.program->launch(rig.launch());
    CHECK(error.code == error_code_t::GRAPH_EXECUTION_FAILED);
    CHECK(error.err_msg == kFailure + "the results are incomplete: out of paper");
    CHECK(rig.diary.size() == 2);
}

TEST_CASE("a program is recorded as its steps, one after the other, and updated in the same order") {
    Rig rig;
    std::deque<Diary> pages;
    CHECK(rig.program->capture(rig.launch(), &pages).get_message() == "");
    CHECK(pages == std::deque<Diary>{{"capture attend 0 200, workspace 264"},
                                     {"capture attend 8 232, workspace 264"},
                                     {"capture sum 200 100, workspace 264"},
                                     {"capture sum 232 104, workspace 264"}});
    rig.pointers[1] = rig.memory.data() + 150;
    CHECK(rig.program->update(rig.launch(), &pages).get_message() == "");
    REQUIRE(pages.size() == 4);
    CHECK(pages[1] == Diary{"capture attend 8 232, workspace 264", "update attend 8 232, workspace 264"});
    CHECK(pages[3] == Diary{"capture sum 232 104, workspace 264", "update sum 232 154, workspace 264"});
    CHECK(rig.diary.empty());
}

TEST_CASE("steps run in order whatever their lane is, and are recorded in their lanes") {
    Rig rig;
    auto const attend = std::make_shared<Scribe>("attend", rig.diary);
    auto const step = [&](std::int64_t at, std::int64_t workspace_at, Lane lane) {
        return ProgramStep{"attention", attend, {{false, 0, at}}, workspace_at, false, lane};
    };
    ProgramExecutable const program("bands", {{{.name = "eng0"}, attend}},
                                    {step(0, 0, Lane::Main), step(8, 256, Lane::Side), step(16, 0, Lane::Main)}, 512);
    CHECK(program.launch(rig.launch()).get_message() == "");
    CHECK(rig.diary == Diary{"launch attend 0, workspace 200, no stream", "launch attend 8, workspace 456, no stream",
                             "launch attend 16, workspace 200, no stream"});
    std::deque<Diary> pages;
    CHECK(program.capture(rig.launch(), &pages).get_message() == "");
    CHECK(program.update(rig.launch(), &pages).get_message() == "");
    CHECK(pages ==
          std::deque<Diary>{
              {"capture attend 0, workspace 200, no stream", "update attend 0, workspace 200, no stream"},
              {"beside", "capture attend 8, workspace 456, no stream", "update attend 8, workspace 456, no stream"},
              {"capture attend 16, workspace 200, no stream", "update attend 16, workspace 200, no stream"}});
}

TEST_CASE("a step that cannot be recorded ends the recording, which the error calls incomplete") {
    Rig rig(true);
    std::deque<Diary> pages;
    CHECK(rig.program->capture(rig.launch(), &pages).err_msg ==
          kFailure + "the CUDA graph is incomplete: out of paper");
    CHECK(rig.program->update(rig.launch(), &pages).err_msg == kFailure + "the CUDA graph is incomplete: out of paper");
    CHECK(pages.size() == 3);
}

TEST_CASE("an executable warms up once, however many steps attend by it") {
    Rig rig;
    CHECK(rig.program->warm_up(nullptr).get_message() == "");
    CHECK(rig.diary == Diary{"warm up attend", "warm up sum", "warm up sum"});
}

TEST_CASE("a stored program has each plan and each code once, and what is cut short or points past them is refused") {
    Rig rig;
    std::string const bytes = rig.program->serialize().value();
    auto const read = read_stored_program(bytes);
    REQUIRE(read.error().get_message() == "");
    CHECK(read.value().program == "slices(2)");
    CHECK(read.value().attends == std::vector<Stored>{{"eng0", "code of attend"}});
    CHECK(read.value().codes == std::vector<std::string>{"code of sum"});
    CHECK(read.value().joints == std::vector<std::size_t>{0, 0});

    std::string const refusal = "the stored program is cut short or damaged; build it again";
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        CHECK(read_stored_program(std::string_view(bytes).substr(0, length)).error().err_msg == refusal);
    }
    std::string past_codes = bytes;
    past_codes[bytes.size() - 8] = 1;
    CHECK(read_stored_program(past_codes).error().err_msg == refusal);
    CHECK(read_stored_program(bytes + "x").error().err_msg == refusal);
}

TEST_CASE("a rank's program is recorded as a whole run, before which the ranks agree") {
    Rig rig;
    std::deque<Diary> pages;
    ProgramExecutable const program = program_of_rank(rig.diary);
    CHECK(program.capture(rig.launch(), &pages).get_message() == "");
    CHECK(rig.diary == Diary{"begin a ring of 1", "end ", "record", "begin a ring of 1", "start keys", "finish keys",
                             "launch attend, workspace 200", "end ", "recorded"});
    CHECK(pages.size() == 1);
    CHECK_THAT(program.update(rig.launch(), &pages).get_message(),
               Catch::Contains("[group.c21]: found update_cuda_graph() of ring"));
}
