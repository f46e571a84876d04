// Numbers in free layout: separated by blanks and line ends, as volumetric data is written.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "buffer.hpp"
#include "fault.hpp"
#include "lines.hpp"
#include "number.hpp"
#include "quick_columns.hpp"
#include "simd.hpp"
#include "token_index.hpp"
#include "token_reader.hpp"
#include "unlocked.hpp"

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
    // Room for n more values, which count once they are committed.
    double* room(std::size_t n) {
        if (capacity_ - size_ < n) resize(capacity_ * 2 + n);
        return data_ + size_;
    }
    void commit(std::size_t n) { size_ += n; }
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

#if MOLREC_AVX2

// Many numbers at once, where the processor can.
class QuickNumbers {
public:
    // No byte before `begin` is ever read.
    QuickNumbers(const char* begin, unsigned dialect) : begin_(begin), dialect_(dialect) {
        if (simd_level() >= avx2) index_ = std::make_unique_for_overwrite<TokenIndex>();
    }

    // Read up to `wanted` numbers of [p, end) and return the place behind the last one. Stops
    // before a token that is wrong, and now and then before a good one.
    const char* read(const char* p, const char* end, std::size_t wanted, Numbers& numbers) {
        if (index_ == nullptr || p - begin_ < reach) return p;
        while (wanted != 0) {
            index_->build(p, end, true);
            const std::size_t count = std::min(wanted, index_->tokens());
            const Tokens tokens{p, index_->bounds(), 2, count};
            const std::size_t good = read_numbers(tokens, dialect_, numbers.room(count));
            if (good == 0) break;
            numbers.commit(good);
            wanted -= good;
            p = tokens.end(good - 1);
        }
        return p;
    }

private:
    const char* begin_;
    unsigned dialect_;
    std::unique_ptr<TokenIndex> index_;
};

#else

struct QuickNumbers {
    QuickNumbers(const char*, unsigned) {}
    const char* read(const char* p, const char*, std::size_t, Numbers&) { return p; }
};

#endif

}  // namespace

nb::tuple scan_numbers(nb::handle data, unsigned dialect, std::int64_t limit) {
    const Buffer buffer(data);
    Numbers numbers;
    Fault fault;
    std::size_t consumed = 0;
    {
        const Unlocked unlocked(buffer.size());
        const char* const begin = buffer.begin();
        const char* const end = buffer.end();
        // fast_real looks at no more than 32 bytes.
        const char* const last = end - begin >= 32 ? end - 32 : begin - 1;
        const std::size_t wanted = limit < 0 ? SIZE_MAX : static_cast<std::size_t>(limit);
        numbers.reserve(std::min(wanted, buffer.size() / 12 + 16));
        QuickNumbers quick(begin, dialect);
        const char* p = begin;
        while (numbers.size() < wanted) {
            p = quick.read(p, end, wanted - numbers.size(), numbers);
            consumed = static_cast<std::size_t>(p - begin);
            if (numbers.size() == wanted) break;
            while (p != end && is_space(*p)) ++p;
            if (p == end) break;
            double& value = *numbers.room(1);
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
            numbers.commit(1);
            p = q;
            consumed = static_cast<std::size_t>(p - begin);
        }
    }
    if (fault.kind != Fault::none) raise_fault(fault);
    return nb::make_tuple(numbers.release(), consumed);
}

}  // namespace molrec
