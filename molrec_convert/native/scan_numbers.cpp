// Numbers in free layout: separated by blanks and line ends, as volumetric data is written.
#include <algorithm>
#include <cstdlib>
#include <new>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "buffer.hpp"
#include "fault.hpp"
#include "lines.hpp"
#include "number.hpp"

namespace nb = nanobind;

namespace molrec {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// A growing array that numpy takes over without a copy.
class Numbers {
public:
    Numbers() = default;
    ~Numbers() { std::free(data_); }
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;

    void reserve(std::size_t n) {
        if (n > capacity_) resize(n);
    }
    double& next() {
        if (size_ == capacity_) resize(capacity_ * 2 + 16);
        return data_[size_++];
    }
    void drop_last() { --size_; }
    std::size_t size() const { return size_; }

    nb::object release() {
        resize(size_ == 0 ? 1 : size_);
        double* data = data_;
        data_ = nullptr;
        nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
        return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(data, {size_}, owner));
    }

private:
    void resize(std::size_t n) {
        void* grown = std::realloc(data_, n * sizeof(double));
        if (grown == nullptr) throw std::bad_alloc();
        data_ = static_cast<double*>(grown);
        capacity_ = n;
    }

    double* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

Fault bad_number(const char* begin, const char* token, const char* token_end) {
    Fault fault;
    fault.kind = Fault::number;
    fault.letter = 'd';
    fault.token.assign(token, token_end);
    fault.row = static_cast<std::int64_t>(count_newlines(begin, token));
    const char* line = token;
    while (line != begin && line[-1] != '\n') --line;
    fault.column = 0;
    for (const char* p = line; p != token; ++p) {
        if (!is_space(*p) && is_space(p[1])) ++fault.column;
    }
    return fault;
}

}  // namespace

nb::tuple scan_numbers(nb::handle data, unsigned dialect, std::int64_t limit) {
    const Buffer buffer(data);
    Numbers numbers;
    Fault fault;
    std::size_t consumed = 0;
    {
        nb::gil_scoped_release unlocked;
        const char* const begin = buffer.begin();
        const char* const end = buffer.end();
        // fast_real looks at no more than 32 bytes.
        const char* const last = end - begin >= 32 ? end - 32 : begin - 1;
        const std::size_t wanted = limit < 0 ? SIZE_MAX : static_cast<std::size_t>(limit);
        numbers.reserve(std::min(wanted, buffer.size() / 12 + 16));
        const char* p = begin;
        while (numbers.size() < wanted) {
            while (p != end && is_space(*p)) ++p;
            if (p == end) break;
            double& value = numbers.next();
            const char* q = nullptr;
            if (p <= last) q = fast_real(p, last, value);
            if (q == nullptr || q >= end || !is_space(*q)) {
                q = p;
                while (q != end && !is_space(*q)) ++q;
                if (parse_real(p, q, dialect, value) != Status::ok) {
                    fault = bad_number(begin, p, q);
                    break;
                }
            }
            p = q;
            consumed = static_cast<std::size_t>(p - begin);
        }
    }
    if (fault.kind != Fault::none) raise_fault(fault);
    return nb::make_tuple(numbers.release(), consumed);
}

}  // namespace molrec
