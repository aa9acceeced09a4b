// The result of Graph::verify(): where the results of a run differ from the reference, and what explains it.
#pragma once

#include "status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend {

// A result of the graph, compared with the reference element by element.
struct Compared_result {
    std::string name;
    std::int64_t uid = 0;
    std::int64_t elements = 0, wrong = 0;  // those compared; those whose error is greater than allowed
    // The element whose error is greatest compared with the allowed one. No index where all elements are equal.
    std::vector<std::int64_t> worst_index;
    double got = 0.0, expected = 0.0, allowed = 0.0;
    double share = 0.0;  // its error divided by the allowed one
    // Along each dim, the first and the last index at which an element is wrong; empty where none is.
    std::vector<std::int64_t> first_wrong, last_wrong;
};

// A change of the graph, or of its memory, with which the reference gives the wrong results within the allowed error.
struct Result_explanation {
    std::string id;    // such as mask_corner
    std::string text;  // a sentence
};

struct Verification_options {
    // Where the graph has more scores (B * Hq * Sq * Skv of all attention nodes), some of its rows and keys are
    // compared.
    std::int64_t most_scores = std::int64_t{1} << 24;
    // The roundoff of products in the run that is verified, where it is coarser than the tensors' types say; 0 means
    // 2^-11 for runs on a GPU, and that of the types on the CPU.
    double roundoff = 0.0;
    // Uids of results that are not compared; the pack has memory for them all the same.
    std::vector<std::int64_t> left_out = {};
    // The time limit of the search for explanations of wrong results; 0: no search. A run of the reference that is in
    // progress at the limit is completed.
    std::int64_t search_milliseconds = 10'000;
};

class SDPA_GRAPH_API Verification {
   public:
    // The comparisons and the explanations found; Graph::verify() fills it.
    struct Content {
        std::vector<Compared_result> results;
        std::vector<std::string> not_compared;  // results that a sample cannot show
        std::int64_t scores = 0, scores_compared = 0;
        std::vector<Result_explanation> explanations;  // of wrong results
        std::int64_t tried = 0, left = 0;  // explanations that were tried, and those for which time was lacking
    };

    Verification();
    explicit Verification(Content content);

    bool ok() const;  // results were compared, and no element is wrong
    // Whether only some rows and keys were compared.
    bool is_sampled() const { return content_.scores_compared < content_.scores; }
    Content const& content() const& { return content_; }
    std::vector<Compared_result> const& results() const& { return content_.results; }
    // Each of them alone reproduces all compared elements; none where the results are right, or where nothing fits.
    std::vector<Result_explanation> const& explanations() const& { return content_.explanations; }
    std::string to_text() const;  // a table of the results, the verdict and the explanations
    std::string to_json() const;  // an object with the members of Content, "right" and "sampled"

   private:
    Content content_;
};

SDPA_GRAPH_API std::ostream& operator<<(std::ostream& stream, Verification const& verification);

}  // namespace cudnn_frontend
