// The name under which older programs include the log.
#pragma once

#include "cudnn_frontend/logging.h"
