// Imitates NVIDIA's CUDA driver: it has the driver's name, without the marker of the null driver.
extern "C" [[gnu::visibility("default")]] int cuInit(unsigned) { return 0; }
