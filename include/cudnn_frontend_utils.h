// Older programs include the helpers under this name; they come with the whole API.
#pragma once

#include "cudnn_frontend.h"
#include "cudnn_frontend/json_alias.h"
