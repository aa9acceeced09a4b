#include "plan/programs/program_executable.h"

namespace cudnn_frontend::plan {
namespace {

using rewrite::Pieces;
using TransportCall = error_t (group::Transport::*)(group::Exchange const& exchange, void* stream);

class ExchangeExecutable final : public Executable {
   public:
    ExchangeExecutable(std::shared_ptr<group::Transport> transport, std::shared_ptr<Pieces const> pieces,
                       TransportCall call)
        : transport_(std::move(transport)), pieces_(std::move(pieces)), call_(call) {}

    std::int64_t workspace_size() const override { return 0; }

    error_t launch(Launch const& launch) const override {
        std::size_t const sends = pieces_->sends.size();
        return (*transport_.*call_)({pieces_->content, bound(pieces_->sends, launch.pointers.first(sends)),
                                     bound(pieces_->receives, launch.pointers.subspan(sends))},
                                    launch.stream);
    }

    Result<std::string> serialize() const override { return std::string(); }

   private:
    static std::vector<group::Piece> bound(std::vector<Pieces::Piece> const& pieces, std::span<void* const> pointers) {
        std::vector<group::Piece> all;
        all.reserve(pieces.size());
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            all.push_back({pieces[i].rank, rewrite::bytes_of(pieces[i]), pointers[i]});
        }
        return all;
    }

    std::shared_ptr<group::Transport> transport_;
    std::shared_ptr<Pieces const> pieces_;
    TransportCall call_;
};

}  // namespace

std::shared_ptr<Executable const> make_exchange_start(std::shared_ptr<group::Transport> transport,
                                                      std::shared_ptr<Pieces const> pieces) {
    return std::make_shared<ExchangeExecutable>(std::move(transport), std::move(pieces), &group::Transport::start);
}

std::shared_ptr<Executable const> make_exchange_end(std::shared_ptr<group::Transport> transport,
                                                    std::shared_ptr<Pieces const> pieces) {
    return std::make_shared<ExchangeExecutable>(std::move(transport), std::move(pieces), &group::Transport::finish);
}

std::vector<rewrite::Place> places_of(Pieces const& pieces) {
    std::vector<rewrite::Place> places;
    for (auto const* const list : {&pieces.sends, &pieces.receives}) {
        for (Pieces::Piece const& piece : *list) places.push_back(piece.view.place);
    }
    return places;
}

}  // namespace cudnn_frontend::plan
