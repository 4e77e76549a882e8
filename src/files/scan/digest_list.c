/* SPDX-License-Identifier: MIT
 *
 * Lists of digests. A file is found in a list by identity, not by the spelling of its name: both
 * are opened, and device and inode compared. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/scan/file_digest.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"
#include "util/text/escape.h"

enum { LIST_MAX = 64 << 20 };

static const char tag[] = "SHA256 (", tag_end[] = ") = ";

struct dti_digest_entry {
    uint64_t device, inode;
    struct dti_digest digest;
};

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool dti_digest_parse(const char *text, size_t length, struct dti_digest *ret)
{
    struct dti_digest digest;
    if (length != DTI_DIGEST_DIGITS)
        return false;
    for (size_t i = 0; i < DTI_DIGEST_BYTES; i++) {
        const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        digest.bytes[i] = (unsigned char)(high << 4 | low);
    }
    *ret = digest;
    return true;
}

const char *dti_digest_spell(char buffer[DTI_DIGEST_TEXT], const struct dti_digest *digest)
{
    static const char digits[] = "0123456789abcdef";
    memcpy(buffer, "sha256:", DTI_DIGEST_NAME);
    char *to = buffer + DTI_DIGEST_NAME;
    for (size_t i = 0; i < DTI_DIGEST_BYTES; i++) {
        *to++ = digits[digest->bytes[i] >> 4];
        *to++ = digits[digest->bytes[i] & 15];
    }
    *to = '\0';
    return buffer;
}

void dti_digest_line(struct dti_buffer *text, const struct dti_digest *digest, const char *path)
{
    char spelled[DTI_DIGEST_TEXT];
    const bool marked = path[strcspn(path, "\\\n\r")] != '\0';
    if (marked)
        dti_buffer_puts(text, "\\");
    dti_buffer_puts(text, dti_digest_spell(spelled, digest) + DTI_DIGEST_NAME);
    dti_buffer_puts(text, "  ");
    while (*path != '\0') {
        const size_t plain = strcspn(path, "\\\n\r");
        dti_escape(text, path, plain);
        path += plain;
        if (*path != '\0')
            dti_buffer_puts(text, *path == '\\' ? "\\\\" : *path == '\n' ? "\\n" : "\\r");
        path += *path != '\0';
    }
    dti_buffer_puts(text, "\n");
}

/* A line without its end: where the name is, and whether it has escapes. */
struct line {
    const char *name;
    size_t length;
    bool marked;
    struct dti_digest digest;
};

static bool parse_line(const char *text, size_t length, struct line *ret)
{
    const size_t before = sizeof tag - 1, between = sizeof tag_end - 1;
    ret->marked = length > 0 && text[0] == '\\';
    text += ret->marked;
    length -= ret->marked;
    if (length > before && memcmp(text, tag, before) == 0) {
        const size_t after = between + DTI_DIGEST_DIGITS;
        if (length <= before + after || memcmp(text + length - after, tag_end, between) != 0)
            return false;
        ret->name = text + before;
        ret->length = length - before - after;
        return dti_digest_parse(text + length - DTI_DIGEST_DIGITS, DTI_DIGEST_DIGITS, &ret->digest);
    }
    if (length <= DTI_DIGEST_DIGITS + 2 || text[DTI_DIGEST_DIGITS] != ' ' ||
        (text[DTI_DIGEST_DIGITS + 1] != ' ' && text[DTI_DIGEST_DIGITS + 1] != '*'))
        return false;
    ret->name = text + DTI_DIGEST_DIGITS + 2;
    ret->length = length - DTI_DIGEST_DIGITS - 2;
    return dti_digest_parse(text, DTI_DIGEST_DIGITS, &ret->digest);
}

/* Appends the name to the path of its folder; false: an invalid escape or a NUL. */
static bool put_name(struct dti_buffer *path, const struct line *line)
{
    for (size_t i = 0; i < line->length; i++) {
        char c = line->name[i];
        if (c == '\0')
            return false;
        if (c == '\\' && line->marked) {
            i++;
            const char next = i < line->length ? line->name[i] : '\0';
            if (next != '\\' && next != 'n' && next != 'r')
                return false;
            c = next == 'n' ? '\n' : next == 'r' ? '\r' : '\\';
        }
        dti_buffer_append(path, &c, 1);
    }
    return true;
}

struct list_reading {
    struct dti_digest_list list;
    const struct dti_input *input;
    struct dti_buffer path; /* of a file in the list */
    size_t folder;          /* length of the list's own path up to its last slash */
    size_t capacity;
};

static enum dti_status fail_line(const struct list_reading *reading, size_t number,
                                 struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s, line %zu: not a SHA-256 digest and a name, as sha256sum writes them",
                    dti_input_label(reading->input, label), number);
}

/* The list may name files that do not exist. */
static enum dti_status add_line(struct list_reading *reading, const char *text, size_t length,
                                size_t number, struct dti_error *reterr)
{
    struct dti_digest_list *const list = &reading->list;
    struct line line;
    struct stat st;
    if (length > 0 && text[length - 1] == '\r')
        length--;
    if (length == 0 || text[0] == '#')
        return DTI_OK;
    dti_buffer_clear(&reading->path);
    if (!parse_line(text, length, &line))
        return fail_line(reading, number, reterr);
    if (line.name[0] != '/')
        dti_buffer_append(&reading->path, list->path, reading->folder);
    if (!put_name(&reading->path, &line))
        return fail_line(reading, number, reterr);
    if (reading->path.failed)
        return dti_no_memory(reterr);
    if (stat(reading->path.data, &st) != 0)
        return DTI_OK;
    struct dti_digest_entry *const larger =
        dti_grown(list->entries, list->count, &reading->capacity, sizeof *larger);
    if (!larger)
        return dti_no_memory(reterr);
    list->entries = larger;
    list->entries[list->count++] = (struct dti_digest_entry){
        .device = (uint64_t)st.st_dev, .inode = (uint64_t)st.st_ino, .digest = line.digest};
    return DTI_OK;
}

static int by_file(const void *a, const void *b)
{
    const struct dti_digest_entry *const left = a, *const right = b;
    if (left->device != right->device)
        return left->device < right->device ? -1 : 1;
    return (left->inode > right->inode) - (left->inode < right->inode);
}

static enum dti_status read_lines(struct list_reading *reading, const struct dti_buffer *text,
                                  struct dti_error *reterr)
{
    const char *at = text->data, *const end = at + text->length;
    enum dti_status status = DTI_OK;
    for (size_t number = 1; at < end && status == DTI_OK; number++) {
        const char *const newline = memchr(at, '\n', (size_t)(end - at));
        const char *const stop = newline ? newline : end;
        status = add_line(reading, at, (size_t)(stop - at), number, reterr);
        at = stop + 1;
    }
    struct dti_digest_entry *const entries = reading->list.entries;
    const size_t count = reading->list.count;
    if (status == DTI_OK && count > 0)
        qsort(entries, count, sizeof *entries, by_file);
    for (size_t i = 1; status == DTI_OK && i < count; i++) {
        if (by_file(&entries[i - 1], &entries[i]) == 0 &&
            memcmp(&entries[i - 1].digest, &entries[i].digest, sizeof entries[i].digest) != 0) {
            char label[DTI_QUOTE_SIZE];
            status = dti_fail(reterr, DTI_BAD_INPUT, "%s has two different digests of one file",
                              dti_input_label(reading->input, label));
        }
    }
    return status;
}

enum dti_status dti_digest_list_read(struct dti_digest_list *ret, const char *path,
                                     struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_buffer text;
    struct list_reading reading = {.list = {.path = path}, .input = &input};
    enum dti_status status = dti_input_open(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    const char *const slash = input.seekable ? strrchr(path, '/') : NULL;
    reading.folder = slash ? (size_t)(slash - path) + 1 : 0;
    dti_buffer_init(&text);
    dti_buffer_init(&reading.path);
    status = dti_input_read_all(&input, LIST_MAX, "a list of digests", &text, reterr);
    if (status == DTI_OK)
        status = read_lines(&reading, &text, reterr);
    dti_buffer_free(&reading.path);
    dti_buffer_free(&text);
    dti_input_close(&input);
    if (status == DTI_OK)
        *ret = reading.list;
    else
        dti_digest_list_free(&reading.list);
    return status;
}

void dti_digest_list_free(struct dti_digest_list *list)
{
    dti_free(list->entries);
}

const struct dti_digest *dti_digest_list_find(const struct dti_digest_list *list,
                                              const struct dti_input *input)
{
    const struct dti_digest_entry wanted = {.device = input->device, .inode = input->inode};
    const struct dti_digest_entry *const found =
        list->count > 0 ? bsearch(&wanted, list->entries, list->count, sizeof wanted, by_file)
                        : NULL;
    return found ? &found->digest : NULL;
}
