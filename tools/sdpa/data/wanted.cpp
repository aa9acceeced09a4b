#include "data/wanted.h"

#include "data/sizes.h"
#include "graph_arguments.h"

#include <sdpa_graph/plan_store.h>

namespace sdpa {

void add_wanted(CLI::App& command, Wanted_options& options) {
    add_graphs(command, options.paths, "folders of them")->required();
    command.add_option("--for", options.devices, "A GPU that need not be here, such as h100; may be repeated")
        ->required()
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    std::string const form = ", such as 1,2,3, or 16-128 for the doubles 16,32,64,128";
    command.add_option("--batch", options.batches, "Batch entries in place of the graph's" + form);
    command.add_option("--queries", options.queries, "Rows of Q" + form);
    command.add_option("--keys", options.keys, "Rows of K and V" + form);
    command.add_option("--tokens", options.tokens, "Rows of Q, K and V alike" + form);
    command.add_option("--cudnn", options.library, help_of_libraries());
}

std::vector<Wanted> wanted_graphs(Wanted_options const& options) {
    Size_ranges const ranges{parse_sizes("--batch", options.batches), parse_sizes("--queries", options.queries),
                             parse_sizes("--keys", options.keys), parse_sizes("--tokens", options.tokens)};
    if (!ranges.tokens.empty() && (!ranges.queries.empty() || !ranges.keys.empty()))
        throw Failure("--tokens", "--queries or --keys with it", "either, since it stands for both");
    std::vector<Wanted> all;
    for (std::string const& path : files_of(options.paths)) {
        Graph_file const file = read_graph(path);
        for (Resized_graph const& graph : resize_graph(file.name, file.document, ranges))
            all.push_back({path, graph.name, graph.document, path.ends_with(sdpa_graph::kWantedClassEnding)});
    }
    return all;
}

}  // namespace sdpa
