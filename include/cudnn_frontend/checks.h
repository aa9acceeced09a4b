// Macros for functions that return error_t. A program that defines one of these names first keeps its own macro.
#pragma once

#include "logging.h"
#include "status.h"

#if !defined(CHECK_CUDNN_FRONTEND_ERROR)
#define CHECK_CUDNN_FRONTEND_ERROR(expression)                                \
    do {                                                                      \
        ::cudnn_frontend::error_object failure_of_check = expression;         \
        if (failure_of_check.is_bad()) {                                      \
            CUDNN_FE_LOG_LABEL_ENDL(#expression << ": " << failure_of_check); \
            return failure_of_check;                                          \
        }                                                                     \
    } while (false)
#endif

#if !defined(RETURN_CUDNN_FRONTEND_ERROR_IF)
#define RETURN_CUDNN_FRONTEND_ERROR_IF(condition, error_code, message)                    \
    do {                                                                                  \
        if (condition) {                                                                  \
            CUDNN_FE_LOG_LABEL_ENDL(#condition << ": " << error_code << ": " << message); \
            return ::cudnn_frontend::error_object(error_code, message);                   \
        }                                                                                 \
    } while (false)
#endif

#if !defined(CUDNN_FRONTEND_UNUSED)
#define CUDNN_FRONTEND_UNUSED(name) static_cast<void>(name)
#endif
