// Eigenvalues and singular values of real matrices by Jacobi's rotations, in double. Signs of vectors are not
// rocSOLVER's.
#pragma once

namespace cu2port_sim {
namespace solver {

constexpr int kSweeps = 60;
using Columns = std::vector<std::vector<double>>;

inline double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}
inline void turn(std::vector<double>& a, std::vector<double>& b, double c, double s) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}
// The rotation that makes the element between two columns zero: `p` and `q` on the diagonal, `off` beside it.
inline std::pair<double, double> rotation(double p, double q, double off) {
    const double tau = (q - p) / (2 * off), t = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
    const double c = 1 / std::sqrt(1 + t * t);
    return {c, t * c};
}
inline Columns identity(int n) {
    Columns out(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n), 0));
    for (int i = 0; i < n; ++i) out[i][i] = 1;
    return out;
}

// Rotates columns until all are orthogonal, `beside` with them: A V = U S. The result: the order of falling lengths.
inline std::vector<int> orthogonalise(Columns& a, Columns& beside) {
    const int n = static_cast<int>(a.size());
    bool again = true;
    for (int sweep = 0; again && sweep < kSweeps; ++sweep) {
        again = false;
        for (int p = 0; p < n; ++p)
            for (int q = p + 1; q < n; ++q) {
                const double pp = product(a[p], a[p]), qq = product(a[q], a[q]), pq = product(a[p], a[q]);
                if (pq == 0 || std::abs(pq) <= 1e-15 * std::sqrt(pp * qq)) continue;
                again = true;
                const auto [c, s] = rotation(pp, qq, pq);
                turn(a[p], a[q], c, s);
                turn(beside[p], beside[q], c, s);
            }
    }
    std::vector<int> order(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return product(a[x], a[x]) > product(a[y], a[y]);
        });
    return order;
}
// Columns of length 1, orthogonal to each other; those of almost no length, and more up to `count`, become any that
// are.
inline void complete(Columns& columns, int count, std::size_t size, double least) {
    columns.resize(static_cast<std::size_t>(count), std::vector<double>(size, 0));
    std::size_t unit = 0;
    for (auto& x : columns) {
        double length = std::sqrt(product(x, x));
        while (length <= least && unit < size) {
            x.assign(size, 0);
            x[unit++] = 1;
            for (int twice = 0; twice < 2; ++twice)
                for (const auto& y : columns) {
                    const double other = product(y, y);
                    if (&y == &x || std::sqrt(other) <= least) continue;
                    const double part = product(x, y) / other;
                    for (std::size_t i = 0; i < size; ++i) x[i] -= part * y[i];
                }
            length = std::sqrt(product(x, x));
            if (length < 0.1 / static_cast<double>(size)) length = 0;
        }
        if (length > 0)
            for (double& v : x) v /= length;
    }
}

struct Singular {
    std::vector<double> values;  // falling
    Columns u, v;                // A = U S V^T
};
template <class T>
Singular singular(int m, int n, const T* a, int lda) {
    const bool wide = m < n;
    const int rows = wide ? n : m, columns = wide ? m : n;
    Columns work(static_cast<std::size_t>(columns), std::vector<double>(static_cast<std::size_t>(rows)));
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) work[j][i] = a[wide ? j + static_cast<long long>(i) * lda : i + static_cast<long
            long>(j) * lda];
    Columns beside = identity(columns), left, right;
    Singular out;
    for (const int i : orthogonalise(work, beside)) {
        out.values.push_back(std::sqrt(product(work[i], work[i])));
        left.push_back(work[i]);
        right.push_back(beside[i]);
    }
    const double least = out.values.empty() ? 0 : out.values[0] * 1e-13;
    complete(left, rows, static_cast<std::size_t>(rows), least);
    out.u = wide ? right : left;
    out.v = wide ? left : right;
    return out;
}

struct Eigen {
    std::vector<double> values;  // rising
    Columns vectors;
};
inline Eigen eigen(Columns a) {
    const int n = static_cast<int>(a.size());
    Columns vectors = identity(n);
    double largest = 0;
    for (const auto& column : a)
        for (const double x : column) largest = std::max(largest, std::abs(x));
    bool again = true;
    for (int sweep = 0; again && sweep < kSweeps; ++sweep) {
        again = false;
        for (int p = 0; p < n; ++p)
            for (int q = p + 1; q < n; ++q) {
                const double off = a[q][p];
                if (std::abs(off) <= 1e-17 * largest) continue;
                again = true;
                const auto [c, s] = rotation(a[p][p], a[q][q], off);
                turn(a[p], a[q], c, s);
                for (int k = 0; k < n; ++k) {
                    const double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                a[p][q] = a[q][p] = 0;
                turn(vectors[p], vectors[q], c, s);
            }
    }
    std::vector<int> order(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return a[x][x] < a[y][y]; });
    Eigen out;
    for (const int i : order) {
        out.values.push_back(a[i][i]);
        out.vectors.push_back(vectors[i]);
    }
    return out;
}
// A symmetric matrix of which one triangle is given.
template <class T>
Columns symmetric(hipblasFillMode_t fill, int n, const T* a, int lda) {
    Columns out(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
    const Matrix<const T> in(a, lda);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) out[j][i] = (i >= j) == (fill == HIPBLAS_FILL_MODE_LOWER) ? in(i, j) : in(j, i);
    return out;
}
template <class T>
void put_columns(const Columns& from, int columns, T* to, int leading) {
    for (int j = 0; to && j < columns; ++j)
        for (std::size_t i = 0; i < from[j].size(); ++i) to[i + static_cast<long long>(j) * leading] =
            static_cast<T>(from[j][i]);
}
template <class T>
void put_rows(const Columns& from, int columns, T* to, int leading) {
    for (int j = 0; to && j < columns; ++j)
        for (std::size_t i = 0; i < from[j].size(); ++i) to[j + static_cast<long long>(i) * leading] =
            static_cast<T>(from[j][i]);
}

}  // namespace solver
}  // namespace cu2port_sim
