// Counting and skipping line ends at memory speed.
#include "lines.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "buffer.hpp"
#include "marks.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;

namespace molrec {
namespace {

constexpr std::size_t lane = 64;
constexpr std::size_t block = lane * 128;  // a byte counter holds up to 255

// Sixty-four byte counters side by side: compilers turn the inner loop into vector code.
std::uint64_t count_block(const char* p) {
    unsigned char counters[lane] = {};
    for (std::size_t i = 0; i < block; i += lane) {
        for (std::size_t j = 0; j < lane; ++j) {
            counters[j] = static_cast<unsigned char>(counters[j] + (p[i + j] == '\n'));
        }
    }
    std::uint64_t sum = 0;
    for (const unsigned char counter : counters) sum += counter;
    return sum;
}

// Move behind up to `count` line ends; returns how many there were.
std::uint64_t pass_lines(const char*& after, const char* end, std::uint64_t count) {
    std::uint64_t lines = 0;
    const char* p = after;
    while (end - p >= static_cast<std::ptrdiff_t>(block) && count - lines >= block) {
        lines += count_block(p);
        p += block;
    }
    while (end - p >= static_cast<std::ptrdiff_t>(block)) {
        const std::uint64_t found = count_block(p);
        if (found > count - lines) break;
        lines += found;
        p += block;
    }
    if (lines > 0) {
        for (after = p; after[-1] != '\n';) --after;
    }
    while (lines < count) {
        p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
        if (p == nullptr) break;
        after = ++p;
        ++lines;
    }
    return lines;
}

}  // namespace

std::uint64_t count_newlines(const char* begin, const char* end) {
    std::uint64_t sum = 0;
    for (; end - begin >= static_cast<std::ptrdiff_t>(block); begin += block) {
        sum += count_block(begin);
    }
    return sum + static_cast<std::uint64_t>(std::count(begin, end, '\n'));
}

nb::tuple skip_lines(nb::handle data, std::size_t start, std::uint64_t count) {
    const Buffer buffer(data);
    if (start > buffer.size()) throw nb::value_error("start lies behind the end of the data");
    // The lock is kept: it takes longer to get it back among threads than to count some megabytes.
    const char* after = buffer.begin() + start;
    const std::uint64_t lines = pass_lines(after, buffer.end(), count);
    return nb::make_tuple(lines, static_cast<std::size_t>(after - buffer.begin()));
}

nb::list find_runs(nb::handle data, std::size_t start, std::uint64_t head, std::uint64_t body,
                   std::size_t most) {
    const Buffer buffer(data);
    if (start > buffer.size()) throw nb::value_error("start lies behind the end of the data");
    const char* const begin = buffer.begin();
    const char* const end = buffer.end();
    std::vector<std::pair<std::size_t, std::size_t>> found;
    {
        const Unlocked unlocked(most > 1 ? buffer.size() - start : 0);
        for (const char* p = begin + start; found.size() < most;) {
            if (pass_lines(p, end, head) < head) break;
            const auto middle = static_cast<std::size_t>(p - begin);
            if (pass_lines(p, end, body) < body) break;
            found.emplace_back(middle, static_cast<std::size_t>(p - begin));
        }
    }
    nb::list runs;
    for (const auto& [middle, behind] : found) runs.append(nb::make_tuple(middle, behind));
    return runs;
}

nb::tuple find_line(nb::handle data, std::size_t start, nb::list marked) {
    const Buffer buffer(data);
    if (start > buffer.size()) throw nb::value_error("start lies behind the end of the data");
    const Marks marks(marked);
    std::uint64_t lines = 0;
    const char* const begin = buffer.begin();
    const char* p = begin + start;
    {
        const Unlocked unlocked(buffer.size());
        const char* const end = buffer.end();
        while (!marks.begin(p, end)) {
            const void* next = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
            if (next == nullptr) break;
            p = static_cast<const char*>(next) + 1;
            ++lines;
        }
    }
    return nb::make_tuple(lines, static_cast<std::size_t>(p - begin));
}

std::uint64_t count_lines(nb::handle data) {
    const Buffer buffer(data);
    const Unlocked unlocked(buffer.size());
    return count_newlines(buffer.begin(), buffer.end());
}

}  // namespace molrec
