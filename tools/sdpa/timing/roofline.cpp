#include "timing/roofline.h"

#include <algorithm>

namespace sdpa {
namespace {

// Operations of a multiprocessor in one clock, as NVIDIA's architecture papers have them. Cards of compute capability
// 8.9 and 12.0 differ in theirs.
double operations_per_clock(int capability) {
    switch (capability) {
        case 800: return 2048.0;
        case 900: return 4096.0;
        case 1000: return 8192.0;
        default: return 0.0;
    }
}

}  // namespace

std::optional<Roofline> roofline_of(fe::DeviceProperties const& device) {
    Json const properties = Json::parse(device.to_json());
    auto const number = [&](char const* name) { return properties.value(name, 0.0); };
    double const per_clock = operations_per_clock(properties.value("deviceVer", 0));
    // Memory transfers on both edges of its clock.
    Roofline const roofline{per_clock * number("multiProcessorCount") * number("smClockRateKHz") * 1e3,
                            2.0 * number("memClockRateKHz") * 1e3 * number("memoryBusWidth") / 8.0};
    if (roofline.operations_per_second <= 0.0 || roofline.bytes_per_second <= 0.0) return std::nullopt;
    return roofline;
}

double least_seconds(Roofline const& roofline, Work const& work) {
    double const rate = roofline.operations_per_second * (work.is_8_bit ? 2.0 : 1.0);
    return std::max(work.operations / rate, work.bytes / roofline.bytes_per_second);
}

}  // namespace sdpa
