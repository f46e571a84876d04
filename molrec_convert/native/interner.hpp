// Codes for repeated words: the first appearance of a token gives it the next number.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace molrec {

class Interner {
public:
    Interner() : slots_(64, -1) {}

    // The token's bytes must outlive the interner.
    std::int32_t code(const char* begin, const char* end) {
        const std::string_view token(begin, static_cast<std::size_t>(end - begin));
        if (last_ >= 0 && tokens_[static_cast<std::size_t>(last_)] == token) return last_;
        const std::uint64_t mask = slots_.size() - 1;
        const std::uint64_t hash = digest(token);
        for (std::uint64_t i = hash & mask;; i = (i + 1) & mask) {
            const std::int32_t code = slots_[i];
            if (code < 0) {
                last_ = static_cast<std::int32_t>(tokens_.size());
                slots_[i] = last_;
                tokens_.push_back(token);
                hashes_.push_back(hash);
                if (tokens_.size() * 2 > slots_.size()) grow();
                return last_;
            }
            const auto k = static_cast<std::size_t>(code);
            if (hashes_[k] == hash && tokens_[k] == token) return last_ = code;
        }
    }

    const std::vector<std::string_view>& tokens() const { return tokens_; }

private:
    static std::uint64_t digest(std::string_view token) {
        std::uint64_t hash = 0x9e3779b97f4a7c15ull ^ token.size();
        const char* p = token.data();
        std::size_t left = token.size();
        while (left != 0) {
            const std::size_t n = left < 8 ? left : 8;
            std::uint64_t word = 0;
            std::memcpy(&word, p, n);
            hash = (hash ^ word) * 0xff51afd7ed558ccdull;
            hash ^= hash >> 32;
            p += n;
            left -= n;
        }
        return hash;
    }

    void grow() {
        std::vector<std::int32_t> slots(slots_.size() * 2, -1);
        const std::uint64_t mask = slots.size() - 1;
        for (std::size_t k = 0; k < tokens_.size(); ++k) {
            std::uint64_t i = hashes_[k] & mask;
            while (slots[i] >= 0) i = (i + 1) & mask;
            slots[i] = static_cast<std::int32_t>(k);
        }
        slots_.swap(slots);
    }

    std::vector<std::int32_t> slots_;
    std::vector<std::string_view> tokens_;
    std::vector<std::uint64_t> hashes_;
    std::int32_t last_ = -1;
};

}  // namespace molrec
