// The simulator's runtime: one translation unit, compiled once into the user's cache.
#define CU2PORT_SIM_RUNTIME
#include "core.h"
#include "host.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "fiber.inc"
// The order matters: each part uses the ones above it.
#include "log.inc"
#include "wave.inc"
#include "shared.inc"
#include "grid.inc"
#include "memory.inc"
#include "crash.inc"
#include "order.inc"
#include "views.inc"
#include "modules.inc"
#include "check.inc"
#include "host_side.inc"
#include "mapped.inc"
#include "tsan.inc"
