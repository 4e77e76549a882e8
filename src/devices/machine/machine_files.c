/* SPDX-License-Identifier: MIT
 *
 * Small files of the kernel, or of an untrusted recording: opens only regular files, limits
 * their size, and treats implausible numbers as unknown. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "devices/machine/machine_parts.h"
#include "util/checked.h"

enum { LINE_MAX_BYTES = 4096, LIST_MAX_BYTES = 1 << 16 };

bool dti_root_read(const struct dti_root *root, const char *path, struct dti_buffer *buffer,
                   size_t most)
{
    struct stat about = {0};
    if (root->fd < 0)
        return false;
    /* a named pipe must not block the program */
    const int fd = openat(root->fd, path,
                          O_RDONLY | O_CLOEXEC | O_NONBLOCK | (root->recorded ? O_NOFOLLOW : 0));
    if (fd < 0)
        return false;
    bool good = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    const size_t start = buffer->length;
    while (good && buffer->length - start < most) {
        const size_t left = most - (buffer->length - start);
        const size_t chunk = left < LINE_MAX_BYTES ? left : LINE_MAX_BYTES;
        good = dti_buffer_reserve(buffer, chunk);
        const ssize_t got = good ? read(fd, buffer->data + buffer->length, chunk) : -1;
        if (got < 0 && good && errno == EINTR)
            continue;
        if (got <= 0) {
            good = good && got == 0;
            break;
        }
        buffer->length += (size_t)got;
        buffer->data[buffer->length] = '\0';
    }
    (void)close(fd);
    return good;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void dti_text_copy(char *buffer, size_t size, const char *text, size_t length)
{
    size_t used = 0;
    bool blank = false;
    for (size_t i = 0; i < length && text[i] != '\0'; i++) {
        if (is_blank(text[i])) {
            blank = used > 0;
            continue;
        }
        if (used + (blank ? 2 : 1) >= size)
            break;
        if (blank)
            buffer[used++] = ' ';
        blank = false;
        buffer[used++] = text[i];
    }
    buffer[used] = '\0';
}

void dti_root_line(const struct dti_root *root, const char *path, char *buffer, size_t size)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    buffer[0] = '\0';
    if (dti_root_read(root, path, &text, LINE_MAX_BYTES))
        dti_text_copy(buffer, size, text.data, strcspn(text.data, "\n"));
    dti_buffer_free(&text);
}

bool dti_text_digits(const char **text, uint64_t *ret)
{
    const char *at = *text;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (!dti_mul_u64(number, 10, &number) ||
            !dti_add_u64(number, (uint64_t)(*at - '0'), &number))
            return false;
    }
    if (at == *text)
        return false;
    *text = at;
    *ret = number;
    return true;
}

uint64_t dti_root_number(const struct dti_root *root, const char *path)
{
    char line[32];
    const char *at = line;
    uint64_t number;
    dti_root_line(root, path, line, sizeof line);
    return dti_text_digits(&at, &number) && *at == '\0' ? number : DTI_UNKNOWN;
}

static bool parse_cpus(struct dti_cpus *ret, const char *list)
{
    struct dti_cpus cpus = {{0}};
    for (;;) {
        uint64_t first, last;
        if (!dti_text_digits(&list, &first))
            return false;
        last = first;
        if (*list == '-') {
            list++;
            if (!dti_text_digits(&list, &last))
                return false;
        }
        if (last < first || last >= DTI_CPUS_MAX)
            return false;
        for (uint64_t cpu = first; cpu <= last; cpu++)
            cpus.bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
        if (*list != ',')
            break;
        list++;
    }
    if (*list != '\0' && *list != '\n')
        return false;
    *ret = cpus;
    return true;
}

bool dti_cpus_read(struct dti_cpus *ret, const struct dti_root *root, const char *path)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    const bool good =
        dti_root_read(root, path, &text, LIST_MAX_BYTES) && parse_cpus(ret, text.data);
    dti_buffer_free(&text);
    return good;
}

uint64_t dti_cpus_count(const struct dti_cpus *cpus)
{
    uint64_t count = 0;
    for (size_t i = 0; i < DTI_CPUS_MAX / 64; i++) {
        for (uint64_t word = cpus->bits[i]; word != 0; word &= word - 1)
            count++;
    }
    return count;
}

bool dti_cpus_has(const struct dti_cpus *cpus, unsigned cpu)
{
    return (cpus->bits[cpu / 64] >> cpu % 64 & 1) != 0;
}

unsigned dti_cpus_first(const struct dti_cpus *cpus, const struct dti_cpus *within)
{
    for (unsigned i = 0; i < DTI_CPUS_MAX / 64; i++) {
        const uint64_t word = cpus->bits[i] & within->bits[i];
        for (unsigned bit = 0; word != 0 && bit < 64; bit++) {
            if ((word >> bit & 1) != 0)
                return i * 64 + bit;
        }
    }
    return DTI_CPUS_MAX;
}
