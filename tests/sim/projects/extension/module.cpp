#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>
#include <vector>

#include "rows.h"

PYBIND11_MODULE(rows_module, m)
{
    m.def("sum_rows", [](const std::vector<float>& in, int columns) {
        std::vector<float> out(in.size() / columns);
        if (sum_rows(in.data(), out.data(), out.size(), columns)) throw std::runtime_error("no GPU");
        return out;
    });
}
