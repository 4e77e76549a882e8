/* SPDX-License-Identifier: MIT
 *
 * Runs whole command lines in process. Every one must return a documented exit code and write only
 * terminal-safe lines to stderr. */
#ifndef DTINFO_FUZZ_COMMAND_H
#define DTINFO_FUZZ_COMMAND_H

#include "cli/shell/command.h"
#include "fuzz_folder.h"
#include "kernels/cpuid.h"
#include "util/text/utf8.h"

enum { FUZZ_WORDS = 40, FUZZ_ALL = '*' };

struct fuzz_answer {
    int code;
    char *out, *err; /* owned by the caller */
    size_t out_length, err_length;
};

static inline bool fuzz_is_control(uint32_t point)
{
    return point < ' ' || (point >= 0x7f && point < 0xa0) || (point >= 0x202a && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069);
}

/* Requires valid UTF-8 without control characters other than newline. */
static inline void fuzz_check_text(const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        uint32_t point;
        const size_t size = dti_utf8_decode(text + at, length - at, &point);
        REQUIRE(size > 0 && (point == '\n' || !fuzz_is_control(point)));
        at += size;
    }
}

/* Requires that each line begins with the program's name. Returns the number of lines. */
static inline size_t fuzz_check_lines(const char *text, size_t length)
{
    const char *at = text, *const end = text + length;
    size_t lines = 0;
    fuzz_check_text(text, length);
    for (; at < end; lines++) {
        const char *const newline = memchr(at, '\n', (size_t)(end - at));
        REQUIRE(newline && newline - at > 6 && memcmp(at, "dtinfo", 6) == 0);
        at = newline + 1;
    }
    return lines;
}

/* Splits a line into words, stored in `text`. Each placeholder (a sign and a letter) is written by
 * `expand`, which returns the end of what it wrote. Returns the number of words. */
typedef char *fuzz_expand(char *to, char sign, char letter, const void *context);

static inline int fuzz_words(const char *line, fuzz_expand *expand, const void *context, char *text,
                             char **words)
{
    int count = 0;
    for (bool inside = false; *line; line++) {
        if (*line == ' ') {
            *text++ = '\0';
            inside = false;
            continue;
        }
        if (!inside)
            words[count++] = text;
        inside = true;
        if (*line == '@' || *line == '$') {
            text = expand(text, line[0], line[1], context);
            line++;
        } else {
            *text++ = *line;
        }
    }
    *text = '\0';
    return count;
}

static const struct dti_cpuid_source *fuzz_processor;

/* Caches CPUID results: in a virtual machine one CPUID instruction takes longer than a run. */
static inline struct dti_cpuid fuzz_cpuid(uint32_t leaf, uint32_t subleaf)
{
    static struct {
        uint32_t leaf, subleaf;
        struct dti_cpuid answer;
    } known[64];
    static size_t count;
    size_t i = 0;
    while (i < count && (known[i].leaf != leaf || known[i].subleaf != subleaf))
        i++;
    if (i < count)
        return known[i].answer;
    const struct dti_cpuid answer = fuzz_processor->cpuid(leaf, subleaf);
    if (count < sizeof known / sizeof *known) {
        known[count].leaf = leaf;
        known[count].subleaf = subleaf;
        known[count++].answer = answer;
    }
    return answer;
}

static inline uint64_t fuzz_xgetbv(void)
{
    return fuzz_processor->xgetbv();
}

static inline int fuzz_permit(unsigned component)
{
    return fuzz_processor->permit(component);
}

/* Connects standard input and output to /dev/null, unless a target replaces them. */
static inline void fuzz_prepare(void)
{
    static const struct dti_cpuid_source remembered = {
        .cpuid = fuzz_cpuid, .xgetbv = fuzz_xgetbv, .permit = fuzz_permit};
    static bool is_done;
    if (is_done)
        return;
    is_done = true;
    fuzz_processor = dti_cpuid_source;
    if (fuzz_processor)
        dti_cpuid_source = &remembered;
    const int fd = open("/dev/null", O_RDWR);
    REQUIRE(fd >= 0 && dup2(fd, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    (void)close(fd);
}

static inline void fuzz_command(char **words, int count, struct fuzz_answer *ret)
{
    fuzz_prepare();
    FILE *const out = open_memstream(&ret->out, &ret->out_length);
    FILE *const err = open_memstream(&ret->err, &ret->err_length);
    REQUIRE(out && err);
    ret->code = dti_command_line(words, count, out, err);
    (void)fclose(err);
    REQUIRE(ret->code >= 0 && ret->code <= 5); /* the exit codes of status.def, except for bugs */
    const size_t lines = fuzz_check_lines(ret->err, ret->err_length);
    REQUIRE(ret->code < 2 || lines > 0);
}

static inline void fuzz_answer_free(struct fuzz_answer *answer)
{
    free(answer->out);
    free(answer->err);
}

#ifdef FUZZ_ENGINE
/* Seeds run every command line in turn. Mutated inputs run only one, so that the engine is fast and
 * each finding has one cause. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    if (size > 0 && (data[0] == FUZZ_ALL || seed % 16 == 0))
        data[0] = (uint8_t)(seed / 16);
    if (size < 2 || max_size < 3)
        return LLVMFuzzerMutate(data, size, max_size);
    return 1 + LLVMFuzzerMutate(data + 1, size - 1, max_size - 1);
}
#endif

#endif
