#pragma once
// How many warps of 32 numbers, which lie on the device, are all positive.
int votes(const int* device, int n);
