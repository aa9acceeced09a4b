// The name under which programs include the version macros.
#pragma once

#include "cudnn_frontend/version.h"
