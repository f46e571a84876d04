// Lets other Python threads run during long work; short work keeps the lock, which takes longer to get back.
#pragma once

#include <cstddef>
#include <optional>

#include <nanobind/nanobind.h>

namespace molrec {

class Unlocked {
public:
    // `bytes` of text are read or written, about a gigabyte a second.
    explicit Unlocked(std::size_t bytes) {
        if (bytes >= long_work) release_.emplace();
    }

private:
    static constexpr std::size_t long_work = std::size_t{1} << 16;

    std::optional<nanobind::gil_scoped_release> release_;
};

}  // namespace molrec
