/* SPDX-License-Identifier: MIT
 *
 * Numbers from a text. */
#include "cli/rewrite/text_numbers.h"
#include "util/run/allocate.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10 };

void dti_text_numbers_init(struct dti_text_numbers *ret, struct dti_input *input)
{
    memset(ret, 0, sizeof *ret);
    ret->input = input;
    ret->line = 1;
    ret->comma = true; /* no number yet, so a leading comma is an error */
}

void dti_text_numbers_free(struct dti_text_numbers *numbers)
{
    dti_free(numbers->buffer);
    numbers->buffer = NULL;
}

enum dti_status dti_text_numbers_fail(const struct dti_text_numbers *numbers,
                                      const struct dti_error *error, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    const enum dti_status status = error->status == DTI_BAD_VALUE ? DTI_BAD_INPUT : error->status;
    const struct dti_error cause = *error;
    if (!reterr)
        return status;
    if (status == DTI_NO_MEMORY) {
        *reterr = cause;
        return status;
    }
    (void)dti_fail(reterr, status, "%s, line %llu: %s", dti_input_label(numbers->input, quoted),
                   (unsigned long long)numbers->line, cause.text);
    memcpy(reterr->argument, cause.argument, sizeof cause.argument);
    memcpy(reterr->suggestions, cause.suggestions, sizeof cause.suggestions);
    return status;
}

static enum dti_status bad_text(const struct dti_text_numbers *numbers, const char *what,
                                struct dti_error *reterr)
{
    struct dti_error error;
    (void)dti_fail(&error, DTI_BAD_INPUT, "%s", what);
    return dti_text_numbers_fail(numbers, &error, reterr);
}

/* Makes room after the unconsumed bytes, then reads once. */
static enum dti_status fill(struct dti_text_numbers *numbers, struct dti_error *reterr)
{
    const size_t kept = numbers->end - numbers->start;
    if (kept > 0 && numbers->start > 0)
        memmove(numbers->buffer, numbers->buffer + numbers->start, kept);
    numbers->start = 0;
    numbers->end = kept;
    if (kept >= DTI_TEXT_NUMBER_MAX)
        return bad_text(numbers, "a number of more than 16 MiB", reterr);
    if (numbers->capacity < kept + CHUNK) {
        const size_t capacity = 2 * (numbers->capacity ? numbers->capacity : CHUNK);
        char *buffer = dti_realloc(numbers->buffer, capacity);
        if (!buffer)
            return dti_no_memory(reterr);
        numbers->buffer = buffer;
        numbers->capacity = capacity;
    }
    size_t got;
    enum dti_status status =
        dti_input_read(numbers->input, numbers->buffer + kept, CHUNK, &got, reterr);
    if (status != DTI_OK)
        return status;
    numbers->end += got;
    numbers->bytes += got;
    numbers->at_end = got < CHUNK;
    return DTI_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

enum { PIECE_MAX = 1 << 20 };

/* State of the scan of a piece. */
struct piece_scan {
    size_t at;      /* offset from its beginning */
    size_t count;   /* numbers that begin before it */
    uint64_t lines; /* newlines before it */
    bool inside;    /* the position is inside a number */
    size_t most, step;
    size_t cut, cut_count; /* where the last complete step of numbers ends */
    uint64_t cut_lines;
};

/* Scans one byte; false if the piece ends before it. */
static bool look(struct piece_scan *scan, char c)
{
    const bool separator = c == ',' || is_blank(c);
    const bool begins = !separator && !scan->inside;
    if (begins && scan->count > 0 && scan->count % scan->step == 0) {
        scan->cut = scan->at;
        scan->cut_count = scan->count;
        scan->cut_lines = scan->lines;
        if (scan->count == scan->most)
            return false;
    }
    scan->count += begins;
    scan->lines += c == '\n';
    scan->inside = !separator;
    scan->at++;
    return true;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Moves the top bit of each byte in `tops` to its bit 0. */
static inline uint64_t low_bits_of(uint64_t tops)
{
    return tops >> 7 & UINT64_C(0x0101010101010101);
}

static inline size_t add_bytes(uint64_t ones)
{
    return (size_t)(ones * UINT64_C(0x0101010101010101) >> 56);
}

/* Sets the top bit of each byte that equals c. */
static inline uint64_t equal_bytes(uint64_t eight, char c)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low = ones * 0x7F;
    eight ^= ones * (unsigned char)c;
    return ~(((eight & low) + low) | eight | low);
}

/* Fast path: eight bytes at a time, as long as they cannot contain a cut. */
static void skim(struct piece_scan *scan, const char *text, size_t length)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low = ones * 0x7F, tops = ~low;
    const size_t next = (scan->count / scan->step + (scan->count % scan->step != 0)) * scan->step;
    for (; length - scan->at >= 8 && scan->count + 8 < next; scan->at += 8) {
        uint64_t eight;
        memcpy(&eight, text + scan->at, sizeof eight);
        const uint64_t seven =
            eight & low; /* 7-bit values: additions carry only into the top bits */
        const uint64_t controls = (seven + ones * 0x77) & ~(seven + ones * 0x72) & ~eight & tops;
        const uint64_t separators =
            low_bits_of(controls | equal_bytes(eight, ' ') | equal_bytes(eight, ','));
        const uint64_t begin = (separators << 8 | !scan->inside) & ~separators & ones;
        scan->count += add_bytes(begin);
        scan->lines += add_bytes(low_bits_of(equal_bytes(eight, '\n')));
        scan->inside = (separators >> 56) == 0;
    }
}
#else
static void skim(struct piece_scan *scan, const char *text, size_t length)
{
    (void)scan, (void)text, (void)length;
}
#endif

enum dti_status dti_text_numbers_piece(struct dti_text_numbers *numbers, size_t most, size_t step,
                                       struct dti_text_piece *ret, struct dti_error *reterr)
{
    struct piece_scan scan = {.most = most, .step = step};
    bool more = true; /* the piece continues */
    for (;;) {
        const size_t length = numbers->end - numbers->start;
        const char *const text = length > 0 ? numbers->buffer + numbers->start : "";
        while (more && scan.at < length) {
            skim(&scan, text, length);
            more = scan.at == length || look(&scan, text[scan.at]);
        }
        if (!more || numbers->at_end || length >= PIECE_MAX)
            break;
        const enum dti_status status = fill(numbers, reterr);
        if (status != DTI_OK)
            return status;
    }
    if (more && numbers->at_end) {
        scan.cut = scan.at;
        scan.cut_count = scan.count;
        scan.cut_lines = scan.lines;
    }
    *ret = (struct dti_text_piece){.text = numbers->buffer + numbers->start,
                                   .length = scan.cut,
                                   .count = scan.cut_count,
                                   .line = numbers->line,
                                   .comma = numbers->comma};
    numbers->start += scan.cut;
    numbers->line += scan.cut_lines;
    numbers->comma = numbers->comma && scan.cut_count == 0;
    return DTI_OK;
}

void dti_text_numbers_of_piece(struct dti_text_numbers *ret, struct dti_input *input,
                               const struct dti_text_piece *piece)
{
    dti_text_numbers_init(ret, input);
    ret->buffer = (char *)(uintptr_t)piece->text;
    ret->end = piece->length;
    ret->line = piece->line;
    ret->comma = piece->comma;
    ret->at_end = true;
}

/* Whether a byte is available at numbers->start + offset. */
static enum dti_status peek(struct dti_text_numbers *numbers, size_t offset, bool *ret_there,
                            struct dti_error *reterr)
{
    while (numbers->start + offset == numbers->end && !numbers->at_end) {
        enum dti_status status = fill(numbers, reterr);
        if (status != DTI_OK)
            return status;
    }
    *ret_there = numbers->start + offset < numbers->end;
    return DTI_OK;
}

/* How many characters from an offset on, eight at a time, are certainly not separators: all are
 * above a comma. */
static size_t count_plain(const struct dti_text_numbers *numbers, size_t offset)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const char *const text = numbers->buffer + numbers->start + offset;
    const size_t length = numbers->end - numbers->start - offset;
    size_t count = 0;
    for (uint64_t eight; length - count >= sizeof eight; count += sizeof eight) {
        memcpy(&eight, text + count, sizeof eight);
        if ((eight - ones * (',' + 1)) & ~eight & ones << 7)
            break;
    }
    return count;
}

static enum dti_status skip_separators(struct dti_text_numbers *numbers, bool *ret_there,
                                       struct dti_error *reterr)
{
    for (;; numbers->start++) {
        enum dti_status status = peek(numbers, 0, ret_there, reterr);
        if (status != DTI_OK || !*ret_there)
            return status;
        const char c = numbers->buffer[numbers->start];
        if (c == ',' && numbers->comma)
            return bad_text(numbers, "a comma without a number before it", reterr);
        if (c == ',')
            numbers->comma = true;
        else if (!is_blank(c))
            return DTI_OK;
        numbers->line += c == '\n';
    }
}

enum dti_status dti_text_numbers_next(struct dti_text_numbers *numbers, const char **ret_text,
                                      size_t *ret_length, struct dti_error *reterr)
{
    bool there;
    size_t length = 0;
    enum dti_status status = skip_separators(numbers, &there, reterr);
    if (status != DTI_OK)
        return status;
    if (!there) {
        *ret_text = NULL;
        *ret_length = 0;
        return DTI_OK;
    }
    do {
        length++;
        length += count_plain(numbers, length);
        status = peek(numbers, length, &there, reterr);
        if (status != DTI_OK)
            return status;
    } while (there && numbers->buffer[numbers->start + length] != ',' &&
             !is_blank(numbers->buffer[numbers->start + length]));
    *ret_text = numbers->buffer + numbers->start;
    *ret_length = length;
    numbers->start += length;
    numbers->comma = false;
    return DTI_OK;
}
