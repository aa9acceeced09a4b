// A name under which programs include the graph API.
#pragma once

#include "../cudnn_frontend.h"
#include "json_alias.h"
