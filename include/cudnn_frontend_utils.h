// The name under which older programs include the helpers; they come with the whole API.
#pragma once

#include "cudnn_frontend.h"
#include "cudnn_frontend/json_alias.h"
