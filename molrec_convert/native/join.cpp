// Pieces of text put together without the lock, which bytes.join keeps while it copies.
#include <cstring>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;

namespace molrec {

nb::bytes join(nb::list pieces) {
    std::vector<std::string_view> texts;
    std::size_t size = 0;
    for (nb::handle piece : pieces) {
        const auto text = nb::cast<nb::bytes>(piece);
        texts.emplace_back(text.c_str(), text.size());
        size += text.size();
    }
    nb::object out = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!out.is_valid()) throw nb::python_error();
    char* to = PyBytes_AsString(out.ptr());
    {
        const Unlocked unlocked(size);
        for (const std::string_view text : texts) {
            std::memcpy(to, text.data(), text.size());
            to += text.size();
        }
    }
    return nb::borrow<nb::bytes>(out);
}

}  // namespace molrec
