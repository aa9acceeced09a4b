// Older programs include the log under this name.
#pragma once

#include "cudnn_frontend/logging.h"
