// Lines that are told by how they begin, whatever the case of their letters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

namespace molrec {

inline char capital(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

class Marks {
public:
    explicit Marks(nanobind::list marks) {
        for (nanobind::handle mark : marks) {
            const auto text = nanobind::cast<nanobind::bytes>(mark);
            std::string folded(text.c_str(), text.size());
            for (char& c : folded) c = capital(c);
            words_.push_back(std::move(folded));
        }
    }

    bool empty() const { return words_.empty(); }

    std::size_t longest() const {
        std::size_t size = 0;
        for (const std::string& word : words_) size = std::max(size, word.size());
        return size;
    }

    // Whether the text from p on begins with one of them.
    bool begin(const char* p, const char* end) const {
        for (const std::string& word : words_) {
            if (word.size() > static_cast<std::size_t>(end - p)) continue;
            std::size_t k = 0;
            while (k < word.size() && capital(p[k]) == word[k]) ++k;
            if (k == word.size()) return true;
        }
        return false;
    }

private:
    std::vector<std::string> words_;
};

}  // namespace molrec
