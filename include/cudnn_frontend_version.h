// Programs include the version macros under this name.
#pragma once

#include "cudnn_frontend/version.h"
