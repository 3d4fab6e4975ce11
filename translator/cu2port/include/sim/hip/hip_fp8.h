// 8-bit floats are not simulated yet: programs that need them stop here, with this line.
#pragma once
#error "cu2port simulate: 8-bit floats (hip_fp8.h) are not simulated"
