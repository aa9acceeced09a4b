#include "model.h"

// Models of sound and of molecules.
namespace corpus {
namespace {

constexpr auto HALF = DataType_t::HALF;

constexpr Model kModels[] = {
    {"whisper-large-encoder",
     "Whisper encoder",
     "Whisper large, encoder of 30 seconds",
     "2212.04356",
     {1, 20, 20, 1500, 1500, 64},
     {.type = HALF}},
    {"whisper-large-decoder",
     "Whisper decoder",
     "Whisper large, decoder on its whole context of 448 tokens",
     "2212.04356",
     {8, 20, 20, 448, 448, 64},
     {.type = HALF, .causal = Causal::TopLeft}},
    {"whisper-large-cross-decode",
     "Whisper cross",
     "Whisper large, one token attends to the sound, 5 beams",
     "2212.04356",
     {5, 20, 20, 1, 1500, 64},
     {.type = HALF}},
    {"wav2vec2-large-padded",
     "wav2vec 2.0 large",
     "wav2vec 2.0 large, a padded batch of 30 seconds",
     "2006.11477",
     {8, 16, 16, 1499, 1499, 64},
     {.type = HALF, .has_lengths = true}},
    {"esm2-650m-padded",
     "ESM-2 650M",
     "ESM-2 650M, a padded batch of proteins of up to 1,024 residues",
     "Science 379 (2023)",
     {8, 20, 20, 1024, 1024, 64},
     {.type = HALF, .has_lengths = true}},
    {"alphafold2-msa-row",
     "AlphaFold 2 MSA row",
     "AlphaFold 2, row attention of an MSA with pair bias",
     "Nature 596 (2021)",
     {128, 8, 8, 256, 256, 32},
     {.bias = {1, 8, 256, 256}}},
    {"alphafold2-triangle",
     "AlphaFold 2 triangle",
     "AlphaFold 2, triangle attention around starting nodes",
     "Nature 596 (2021)",
     {256, 4, 4, 256, 256, 32},
     {.bias = {1, 4, 256, 256}}},
    {"alphafold2-triangle-backward",
     "AlphaFold 2 triangle backward",
     "its backward, with the gradient of the bias",
     "Nature 596 (2021)",
     {256, 4, 4, 256, 256, 32},
     {.pass = Pass::Backward, .bias = {1, 4, 256, 256}, .has_bias_gradient = true}},
    {"alphafold3-pair-bias",
     "AlphaFold 3 pair bias",
     "AlphaFold 3, Pairformer on 768 tokens, head dim 24",
     "Nature 630 (2024)",
     {1, 16, 16, 768, 768, 24},
     {.bias = {1, 16, 768, 768}}},
    {"alphafold3-atom-window",
     "AlphaFold 3 atoms",
     "AlphaFold 3, 32 atoms attend to the 128 around them, a bias for each window",
     "Nature 630 (2024)",
     {256, 4, 4, 32, 128, 32},
     {.bias = {256, 4, 32, 128}}},
};

}  // namespace

std::span<Model const> other_models() { return kModels; }

}  // namespace corpus
