// Writes graphs/: the attention of published models, as JSON, and its index.
//   make_graphs graphs            writes them
//   make_graphs graphs --check    compares them with the files that are there
#include "attention_graph.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace {

using namespace corpus;
using fe::DataType_t;

struct Entry {
    std::string name, situation;  // the file's name without its ending
    std::string on_h100;          // "plan", or the rule by which cuDNN 9.19 has none
    std::function<std::string()> json;
};

std::string json_of(fe::graph::Graph const& graph) {
    std::string text;
    return graph.check().ok() && graph.serialize(text).is_good() ? text : graph.check().to_text();
}

// Text models: training, prefill and decode.
std::vector<Entry> language_models() {
    Layer const gpt2{8, 12, 12, 1024, 1024, 64};
    Layer const llama_8b{1, 32, 8, 8192, 8192, 128};
    Layer const deepseek{1, 128, 128, 4096, 4096, 192, 128};
    return {
        {"gpt2-training", "GPT-2 small, forward in training with dropout", "plan",
         [=] { return Attention("GPT-2 training", gpt2).causal().dropout(0.1F).forward_json(true); }},
        {"gpt2-training-backward", "its backward", "plan",
         [=] { return Attention("GPT-2 training, backward", gpt2).causal().dropout(0.1F).backward_json(); }},
        {"bert-base-padded", "BERT base, inference on a padded batch", "plan",
         [] {
             return Attention("BERT base", {16, 12, 12, 512, 512, 64, 64, DataType_t::HALF}).lengths().forward_json();
         }},
        {"t5-base-encoder", "T5 base, encoder with relative position bias and no scale", "plan",
         [] {
             return Attention("T5 base encoder", {8, 12, 12, 512, 512, 64, 64, DataType_t::BFLOAT16, 1.0F})
                 .bias({1, 12, 512, 512})
                 .forward_json();
         }},
        {"modernbert-local", "ModernBERT base, local layer: 64 tokens to each side", "plan",
         [] {
             return Attention("ModernBERT local", {1, 12, 12, 8192, 8192, 64})
                 .with(
                     [](auto& options) { options.set_diagonal_band_left_bound(65).set_diagonal_band_right_bound(64); })
                 .forward_json();
         }},
        {"bloom-7b-prefill", "BLOOM 7B1, ALiBi", "plan",
         [] {
             return Attention("BLOOM 7B1", {1, 32, 32, 2048, 2048, 128})
                 .causal()
                 .with([](auto& options) { options.set_alibi_mask(true); })
                 .forward_json();
         }},
        {"falcon-7b-prefill", "Falcon 7B, one key head for 71 heads", "plan",
         [] {
             return Attention("Falcon 7B", {1, 71, 1, 2048, 2048, 64}).causal().forward_json();
         }},
        {"llama3-8b-prefill", "Llama 3 8B, prefill of its whole context", "plan",
         [=] { return Attention("Llama 3 8B prefill", llama_8b).causal().forward_json(); }},
        {"llama3-8b-decode", "Llama 3 8B, decode of 16 sequences", "plan",
         [] {
             return Attention("Llama 3 8B decode", {16, 32, 8, 1, 8192, 128}).lengths().forward_json();
         }},
        {"llama3-70b-prefill", "Llama 3 70B, prefill", "plan",
         [] {
             return Attention("Llama 3 70B prefill", {1, 64, 8, 4096, 4096, 128}).causal().forward_json();
         }},
        {"qwen2.5-7b-prefill", "Qwen 2.5 7B, 28 heads on 4 key heads", "plan",
         [] {
             return Attention("Qwen 2.5 7B", {1, 28, 4, 4096, 4096, 128}).causal().forward_json();
         }},
        {"mistral-7b-window", "Mistral 7B 0.1, sliding window of 4,096", "plan",
         [=] {
             return Attention("Mistral 7B", llama_8b)
                 .causal()
                 .with([](auto& options) { options.set_sliding_window_length(4096); })
                 .forward_json();
         }},
        {"gemma2-9b-softcap", "Gemma 2 9B, scores capped at 50, head dim 256", "plan",
         [] {
             return Attention("Gemma 2 9B", {1, 16, 8, 4096, 4096, 256})
                 .causal()
                 .with([](auto& options) {
                     if constexpr (std::is_same_v<std::decay_t<decltype(options)>, fe::graph::SDPA_attributes>)
                         options.set_score_mod(fe::graph::attn::score_modifiers::softcap(50.0F).forward);
                 })
                 .forward_json();
         }},
        {"gpt-oss-20b-window", "gpt-oss 20B, layer with a window of 128 and sinks", "plan",
         [] {
             return Attention("gpt-oss 20B window", {1, 64, 8, 4096, 4096, 64})
                 .causal()
                 .sink()
                 .with([](auto& options) { options.set_sliding_window_length(128); })
                 .forward_json();
         }},
        {"gpt-oss-20b-decode", "gpt-oss 20B, decode in a full layer with sinks", "plan",
         [] {
             return Attention("gpt-oss 20B decode", {16, 64, 8, 1, 4096, 64}).lengths().sink().forward_json();
         }},
        {"deepseek-v3-prefill", "DeepSeek V3, head dims 192 and 128", "plan",
         [=] { return Attention("DeepSeek V3 prefill", deepseek).causal().forward_json(); }},
        {"deepseek-v3-training-backward", "its backward", "plan",
         [=] { return Attention("DeepSeek V3 backward", deepseek).causal().backward_json(); }},
        {"deepseek-v3-absorbed-decode", "DeepSeek V3, decode on the latent cache, head dims 576 and 512", "plan",
         [] {
             return Attention("DeepSeek V3 absorbed decode",
                              {8, 128, 1, 1, 4096, 576, 512, DataType_t::BFLOAT16, 0.072168784F})
                 .lengths()
                 .forward_json();
         }},
        {"gemma3-12b-training-backward", "Gemma 3 12B, backward of a local layer, head dim 256", "plan",
         [] {
             return Attention("Gemma 3 12B backward", {1, 16, 8, 4096, 4096, 256})
                 .causal()
                 .with([](auto& options) { options.set_sliding_window_length(1024); })
                 .backward_json();
         }},
    };
}

Attention packed(char const* name) {
    Attention attention(name, {4, 32, 8, 4096, 4096, 128});
    attention.causal().with(
        [](auto& options) { options.set_max_total_seq_len_q(8192).set_max_total_seq_len_kv(8192); });
    return attention;
}

std::string fp8_prefill() {
    fe::graph::Graph graph;
    graph.set_name("Llama 3 8B FP8 prefill").set_io_data_type(DataType_t::FP8_E4M3);
    graph.set_intermediate_data_type(DataType_t::FLOAT).set_compute_data_type(DataType_t::FLOAT);
    auto const tokens = [](char const* name, std::int64_t heads) {
        return fe::graph::Tensor_attributes()
            .set_name(name)
            .set_dim({1, heads, 8192, 128})
            .set_stride({8192 * heads * 128, 128, heads * 128, 1});
    };
    auto const scalar = [&](char const* name) {
        auto tensor = fe::graph::Tensor_attributes().set_name(name).set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1});
        return graph.tensor(tensor.set_data_type(DataType_t::FLOAT));
    };
    auto const q = graph.tensor(tokens("Q", 32)), k = graph.tensor(tokens("K", 8)), v = graph.tensor(tokens("V", 8));
    auto options = fe::graph::SDPA_fp8_attributes().set_name("attention").set_attn_scale(0.088388346F);
    auto const results =
        graph.sdpa_fp8(q, k, v, scalar("descale_q"), scalar("descale_k"), scalar("descale_v"), scalar("descale_s"),
                       scalar("scale_s"), scalar("scale_o"), options.set_causal_mask(true).set_generate_stats(false));
    auto const like = tokens("O", 32);
    results[0]->set_output(true).set_name("O").set_dim(like.get_dim()).set_stride(like.get_stride());
    results[2]->set_output(true).set_name("Amax_S").set_data_type(DataType_t::FLOAT);
    results[3]->set_output(true).set_name("Amax_O").set_data_type(DataType_t::FLOAT);
    return json_of(graph);
}

// Serving and training on sequences of many lengths.
std::vector<Entry> serving() {
    return {
        {"llama3-8b-chunked-prefill", "Llama 3 8B, 2,048 further tokens of a prompt", "plan",
         [] {
             return Attention("Llama 3 8B chunked prefill", {1, 32, 8, 2048, 8192, 128})
                 .causal_bottom_right()
                 .forward_json();
         }},
        {"llama3-8b-speculative", "Llama 3 8B, 5 drafted tokens of 8 sequences are checked", "plan",
         [] {
             return Attention("Llama 3 8B speculative", {8, 32, 8, 5, 4096, 128})
                 .lengths()
                 .causal_bottom_right()
                 .forward_json();
         }},
        {"llama3-8b-paged-decode", "Llama 3 8B, decode of 32 sequences from pages of 16 tokens", "plan",
         [] {
             return Attention("Llama 3 8B paged decode", {32, 32, 8, 1, 4096, 128}).pages(8192, 16).forward_json();
         }},
        {"llama3-8b-packed-training", "Llama 3 8B, four documents packed into 8,192 tokens", "plan",
         [] { return packed("Llama 3 8B packed training").packed().forward_json(true); }},
        {"llama3-8b-packed-training-backward", "its backward", "plan",
         [] { return packed("Llama 3 8B packed backward").packed().backward_json(); }},
        {"llama3-8b-packed-token-offsets", "the same with offsets in tokens", "cudnn.s70",
         [] { return packed("Llama 3 8B offsets in tokens").packed(true).forward_json(true); }},
        {"llama3-8b-fp8-prefill", "Llama 3 8B, prefill in FP8 with a scale for each tensor", "plan", fp8_prefill},
    };
}

std::string dinat() {
    fe::graph::Graph graph;
    graph.set_name("DiNAT base").set_io_data_type(DataType_t::HALF).set_compute_data_type(DataType_t::FLOAT);
    graph.set_intermediate_data_type(DataType_t::FLOAT);
    auto const tensor = [&](char const* name) {
        return graph.tensor(fe::graph::Tensor_attributes()
                                .set_name(name)
                                .set_dim({8, 56, 56, 4, 32})
                                .set_stride({401408, 7168, 128, 32, 1}));
    };
    auto const q = tensor("Q"), k = tensor("K"), v = tensor("V");
    auto options = fe::graph::Neighborhood_attributes().set_name("attention").set_kernel_size({7, 7});
    graph.neighborhood_attention(q, k, v, options.set_dilation({8, 8}))[0]->set_output(true).set_name("O");
    return json_of(graph);
}

// Pictures, video, sound and molecules.
std::vector<Entry> other_models() {
    return {
        {"vit-b16", "ViT-B/16, 224 x 224 pixels: 196 patches and a class token", "plan",
         [] {
             return Attention("ViT-B/16", {32, 12, 12, 197, 197, 64, 64, DataType_t::HALF}).forward_json();
         }},
        {"dinov2-g14", "DINOv2 ViT-g/14, 518 x 518 pixels", "plan",
         [] {
             return Attention("DINOv2 g/14", {4, 24, 24, 1370, 1370, 64, 64, DataType_t::HALF}).forward_json();
         }},
        {"dinat-base", "DiNAT base, first level: windows of 7 x 7 with a dilation of 8", "plan", dinat},
        {"stable-diffusion-1.5-self", "Stable Diffusion 1.5, self-attention at 64 x 64, head dim 40", "plan",
         [] {
             return Attention("SD 1.5 self", {2, 8, 8, 4096, 4096, 40, 40, DataType_t::HALF}).forward_json();
         }},
        {"stable-diffusion-1.5-cross", "Stable Diffusion 1.5, cross-attention to 77 tokens of text", "plan",
         [] {
             return Attention("SD 1.5 cross", {2, 8, 8, 4096, 77, 40, 40, DataType_t::HALF}).forward_json();
         }},
        {"stable-diffusion-xl-self", "Stable Diffusion XL, self-attention at 64 x 64", "plan",
         [] {
             return Attention("SDXL self", {2, 10, 10, 4096, 4096, 64, 64, DataType_t::HALF}).forward_json();
         }},
        {"stable-diffusion-1.5-middle", "Stable Diffusion 1.5, self-attention at 8 x 8, head dim 160", "plan",
         [] {
             return Attention("SD 1.5 middle", {2, 8, 8, 64, 64, 160, 160, DataType_t::HALF}).forward_json();
         }},
        {"flux-joint", "FLUX.1, 512 tokens of text and 4,096 of a picture", "plan",
         [] {
             return Attention("FLUX.1", {1, 24, 24, 4608, 4608, 128}).forward_json();
         }},
        {"whisper-large-encoder", "Whisper large, encoder of 30 seconds", "plan",
         [] {
             return Attention("Whisper encoder", {1, 20, 20, 1500, 1500, 64, 64, DataType_t::HALF}).forward_json();
         }},
        {"whisper-large-cross-decode", "Whisper large, one token attends to the sound, 5 beams", "plan",
         [] {
             return Attention("Whisper cross", {5, 20, 20, 1, 1500, 64, 64, DataType_t::HALF}).forward_json();
         }},
        {"alphafold2-msa-row", "AlphaFold 2, row attention of an MSA with pair bias", "plan",
         [] {
             return Attention("AlphaFold 2 MSA row", {128, 8, 8, 256, 256, 32}).bias({1, 8, 256, 256}).forward_json();
         }},
    };
}

std::string index_of(std::vector<Entry> const& entries) {
    std::string text =
        "# Graphs\n\nThe attention of published models as [JSON](../docs/json.md), for tests, benchmarks and `sdpa`. "
        "Written by\n`make_graphs graphs`, whose source is [tools/graphs](../tools/graphs/make_graphs.cpp). The last "
        "column says whether\ncuDNN 9.19 has a plan on an H100, or the rule by which there is none.\n\n"
        "| graph | what it is | on an H100 |\n|---|---|---|\n";
    for (Entry const& entry : entries)
        text += "| [" + entry.name + "](" + entry.name + ".json) | " + entry.situation + " | " + entry.on_h100 + " |\n";
    return text;
}

bool is_same(std::filesystem::path const& path, std::string const& text) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {}) == text;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3 || (argc == 3 && std::string(argv[2]) != "--check")) {
        std::fprintf(stderr, "usage: make_graphs FOLDER [--check]\n");
        return 2;
    }
    std::vector<Entry> entries = language_models();
    for (auto const& more : {serving(), other_models()}) entries.insert(entries.end(), more.begin(), more.end());
    std::filesystem::path const folder = argv[1];
    int different = 0;
    auto const handle = [&](std::string const& name, std::string const& text) {
        if (argc == 2) std::ofstream(folder / name, std::ios::binary) << text;
        else if (!is_same(folder / name, text))
            ++different, std::printf("%s differs from what make_graphs writes\n", name.c_str());
    };
    for (Entry const& entry : entries) {
        std::string text = entry.json();
        if (text.back() != '\n') text += '\n';
        handle(entry.name + ".json", text);
    }
    handle("README.md", index_of(entries));
    return different > 0 ? 1 : 0;
}
