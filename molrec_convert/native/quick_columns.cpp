#include "quick_columns.hpp"

#include <cstring>

#include "number.hpp"
#include "token_reader.hpp"

#if MOLREC_AVX2

namespace molrec {
namespace {

// Each of the next three reads rows from `row` on up to a token that is not understood. They call
// no function, so that all constants stay in registers.

MOLREC_TARGET std::size_t quick_column(const Tokens& tokens, std::size_t row, unsigned dialect,
                                       double* out) {
    const Constants k = make_constants();
    const std::uint32_t* bound = tokens.bound + row * tokens.stride;
    for (; row < tokens.rows; ++row, bound += tokens.stride) {
        if (!quick_real(tokens.text + bound[0], bound[1] - bound[0], dialect, k, out[row])) break;
    }
    return row;
}

MOLREC_TARGET std::size_t quick_column(const Tokens& tokens, std::size_t row, unsigned,
                                       std::int64_t* out) {
    const Constants k = make_constants();
    const std::uint32_t* bound = tokens.bound + row * tokens.stride;
    for (; row < tokens.rows; ++row, bound += tokens.stride) {
        if (!quick_integer(tokens.text + bound[0], bound[1] - bound[0], k, out[row])) break;
    }
    return row;
}

MOLREC_TARGET std::size_t quick_column(const Tokens& tokens, std::size_t row, unsigned,
                                       std::uint64_t* out) {
    const Constants k = make_constants();
    const std::uint32_t* bound = tokens.bound + row * tokens.stride;
    for (; row < tokens.rows; ++row, bound += tokens.stride) {
        if (!quick_natural(tokens.text + bound[0], bound[1] - bound[0], k, out[row])) break;
    }
    return row;
}

Status parse(const char* begin, const char* end, unsigned dialect, double& value) {
    return parse_real(begin, end, dialect, value);
}
Status parse(const char* begin, const char* end, unsigned, std::int64_t& value) {
    return parse_signed(begin, end, value);
}
Status parse(const char* begin, const char* end, unsigned, std::uint64_t& value) {
    return parse_unsigned(begin, end, value);
}

template <class T>
std::size_t read_all(const Tokens& tokens, unsigned dialect, T* out) {
    for (std::size_t row = 0;; ++row) {
        row = quick_column(tokens, row, dialect, out);
        if (row == tokens.rows) return row;
        if (parse(tokens.begin(row), tokens.end(row), dialect, out[row]) != Status::ok) return row;
    }
}

// A small table in front of an interner for words of up to eight bytes: one load and one comparison
// find most of them.
class ShortWords {
public:
    explicit ShortWords(Interner& words) : words_(words) {}

    std::int32_t code(const char* begin, const char* end) {
        const auto size = static_cast<std::uint64_t>(end - begin);
        if (size > 8) return words_.code(begin, end);
        std::uint64_t key;
        std::memcpy(&key, end - 8, 8);
        key >>= 64 - 8 * size;
        Slot& slot = slots_[(key * 0x9e3779b97f4a7c15ull) >> 58];
        if (slot.key != key || slot.size != size) {
            slot = {key, size, words_.code(begin, end)};
        }
        return slot.code;
    }

private:
    struct Slot {
        std::uint64_t key;
        std::uint64_t size;  // 0 in an empty slot, as no word has it
        std::int32_t code;
    };

    Interner& words_;
    Slot slots_[64]{};
};

}  // namespace

std::size_t read_numbers(const Tokens& tokens, unsigned dialect, double* out) {
    return read_all(tokens, dialect, out);
}
std::size_t read_numbers(const Tokens& tokens, unsigned dialect, std::int64_t* out) {
    return read_all(tokens, dialect, out);
}
std::size_t read_numbers(const Tokens& tokens, unsigned dialect, std::uint64_t* out) {
    return read_all(tokens, dialect, out);
}

void read_words(const Tokens& tokens, Interner& words, std::int32_t* out) {
    ShortWords short_words(words);
    for (std::size_t row = 0; row < tokens.rows; ++row) {
        out[row] = short_words.code(tokens.begin(row), tokens.end(row));
    }
}

}  // namespace molrec
#endif
