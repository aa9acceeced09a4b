// Stands for the CUDA driver of NVIDIA: it has the driver's name, and not the mark of the null driver.
extern "C" [[gnu::visibility("default")]] int cuInit(unsigned) { return 0; }
