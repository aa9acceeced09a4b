// Advice: properties of a graph that are legal but probably not meant.
#pragma once

#include "nodes/schema/rule.h"
#include "nodes/schema/validate.h"

#include <cudnn_frontend/advice.h>

#include <span>

namespace cudnn_frontend::nodes {

// The tables of advice on attention and on pointwise nodes: rows like those of rules, whose checks report a property, its
// consequence and a remedy.
std::span<Rule const> attention_advice();
std::span<Rule const> pointwise_advice();

Advice advise(ValidatedGraph const& graph);

}  // namespace cudnn_frontend::nodes
