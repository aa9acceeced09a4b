/* A libcudnn.so.9 without any content. LACKS_POPULATE leaves a function out, VERSION is what it says it is. */
#include <stddef.h>
#include <stdlib.h>

#ifndef VERSION
#define VERSION 99900
#endif

#ifdef ENDS_PROGRAM
size_t cudnnGetVersion(void) { abort(); }
#else
size_t cudnnGetVersion(void) { return VERSION; }
#endif
size_t cudnnGetCudartVersion(void) { return 12090; }
/* The real one opens the driver, with which no plan can be made offline any more. */
int cudnnGraphVersionCheck(void) { abort(); }
char const* cudnnGetErrorString(int status) { return status == 0 ? "SUCCESS" : "FAILURE"; }

#define FUNCTION(name) \
    int name(void) { return 1; }
FUNCTION(cudnnGetLastErrorString)
FUNCTION(cudnnCreate)
FUNCTION(cudnnDestroy)
FUNCTION(cudnnSetStream)
FUNCTION(cudnnGetStream)
FUNCTION(cudnnBackendCreateDescriptor)
FUNCTION(cudnnBackendDestroyDescriptor)
FUNCTION(cudnnBackendSetAttribute)
FUNCTION(cudnnBackendGetAttribute)
FUNCTION(cudnnBackendFinalize)
FUNCTION(cudnnBackendExecute)
#ifndef LACKS_POPULATE
FUNCTION(cudnnBackendPopulateCudaGraph)
#endif
FUNCTION(cudnnBackendUpdateCudaGraph)
