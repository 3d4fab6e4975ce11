#pragma once
extern "C" int sum_rows(const float* in, float* out, int rows, int columns);
