// Statistics of the rows of a matrix. All pointers are device memory; the matrix is dense, rows lie one after another.
#pragma once

#include <cuda_runtime.h>

// The most columns that a row may have.
constexpr int kMaxColumns = 1024;

struct Outlier {
    int row;
    int column;
};

// Mean and variance of each row.
void row_moments(const float* matrix, int rows, int columns, float2* moments, cudaStream_t stream);

// Where an element is more than `limit` standard deviations from its row's mean. `count` must be 0 before.
void find_outliers(const float* matrix, int rows, int columns, const float2* moments, float limit, Outlier* found,
                   int* count, cudaStream_t stream);
