#pragma once
extern "C" int swap_neighbours(const int* in, int* out, int n);
extern "C" int shift_right(const int* in, int* out, int n);
