// Why a scan stopped, carried out of the loops that run without the interpreter lock.
#pragma once

#include <cstdint>
#include <string>

namespace molrec {

struct Fault {
    enum Kind { none, columns, number, range, end };
    Kind kind = none;
    std::int64_t row = -1;
    std::int64_t column = -1;
    std::int64_t found = 0;  // tokens in the faulty line
    std::int64_t due = 0;    // tokens or rows that were asked for
    char letter = ' ';       // kind of the faulty column
    std::string token;
};

// Raise molrec_convert.text.faults.ScanError; the interpreter lock must be held.
[[noreturn]] void raise_fault(const Fault& fault);

}  // namespace molrec
