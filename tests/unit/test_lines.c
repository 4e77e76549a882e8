/* SPDX-License-Identifier: MIT
 *
 * Reads lines from a descriptor, for any sizes in which the bytes arrive. */
#include "io/lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

enum { BLOCK = 16 };

static struct dti_lines lines;
static struct dti_line_block block;
static int writer;

static void open_pipe(const char *text, size_t length)
{
    int ends[2];
    if (!CHECK(pipe(ends) == 0))
        exit(1);
    CHECK(write(ends[1], text, length) == (ssize_t)length);
    writer = ends[1];
    dti_lines_init(&lines, ends[0], BLOCK);
}

/* The next line, from the next block if necessary. */
static enum dti_status next(const char **ret_line, size_t *ret_length, struct dti_error *reterr)
{
    *ret_line = NULL;
    if (dti_line_next(&block, ret_line, ret_length))
        return DTI_OK;
    const enum dti_status status = dti_lines_read(&lines, &block, reterr);
    if (status == DTI_OK)
        (void)dti_line_next(&block, ret_line, ret_length);
    return status;
}

static void expect(const char *want)
{
    const char *line;
    size_t length;
    char got[64] = "(end)";
    if (!CHECK(next(&line, &length, NULL) == DTI_OK))
        return;
    if (line && CHECK(length < sizeof got)) {
        memcpy(got, line, length);
        got[length] = '\0';
    }
    CHECK_STR(got, want);
}

static void shut(void)
{
    close(lines.fd);
    dti_lines_free(&lines);
    dti_line_block_free(&block);
    memset(&block, 0, sizeof block);
}

static void splits_at_line_ends_of_both_kinds(void)
{
    static const char text[] = "1\n\n2\r\n3\rx\nlast";
    open_pipe(text, sizeof text - 1);
    close(writer);
    expect("1");
    expect("");
    expect("2");
    expect("3\rx");
    expect("last");
    CHECK_U64(lines.number, 5);
    CHECK_U64(block.number, 5);
    expect("(end)");
    expect("(end)");
    shut();
}

static void nothing_is_no_line(void)
{
    open_pipe("", 0);
    close(writer);
    expect("(end)");
    CHECK_U64(lines.number, 0);
    shut();
}

static void a_line_may_arrive_in_pieces(void)
{
    open_pipe("ab\ncd", 5);
    expect("ab");
    CHECK(!dti_lines_ready(&lines));
    CHECK(write(writer, "ef\ng", 4) == 4);
    close(writer);
    expect("cdef");
    expect("g");
    shut();
}

static void a_line_may_be_longer_than_the_first_buffer(void)
{
    enum { LENGTH = 300000 };
    char name[] = "/tmp/dtinfo-lines-XXXXXX";
    int fd = mkstemp(name);
    char *text = malloc(LENGTH);
    const char *line;
    size_t length;
    if (!CHECK(fd >= 0 && text != NULL))
        return;
    unlink(name);
    memset(text, '7', LENGTH);
    text[LENGTH - 2] = '\n';
    text[LENGTH - 1] = '8';
    CHECK(write(fd, text, LENGTH) == LENGTH);
    lseek(fd, 0, SEEK_SET);
    dti_lines_init(&lines, fd, BLOCK);
    CHECK(next(&line, &length, NULL) == DTI_OK);
    CHECK_SIZE(length, LENGTH - 2);
    CHECK(line && memcmp(line, text, length) == 0);
    expect("8");
    expect("(end)");
    free(text);
    shut();
}

/* A sparse file of NULs, except for its end. */
static void open_hole(size_t length, const char *end)
{
    char name[] = "/tmp/dtinfo-lines-XXXXXX";
    int fd = mkstemp(name);
    if (!CHECK(fd >= 0))
        exit(1);
    unlink(name);
    CHECK(ftruncate(fd, (off_t)length) == 0);
    lseek(fd, 0, SEEK_END);
    CHECK(write(fd, end, strlen(end)) == (ssize_t)strlen(end));
    lseek(fd, 0, SEEK_SET);
    dti_lines_init(&lines, fd, BLOCK);
}

static void a_line_may_be_as_long_as_the_limit_and_no_longer(void)
{
    static const char *const ends[] = {"", "\n", "\r\n"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct dti_error error;
        const char *line;
        size_t length;
        open_hole(DTI_LINE_MAX, ends[i]);
        CHECK(next(&line, &length, NULL) == DTI_OK);
        CHECK_SIZE(length, DTI_LINE_MAX);
        expect("(end)");
        shut();
        open_hole(DTI_LINE_MAX + 1, ends[i]);
        CHECK(next(&line, &length, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text, "standard input, line 1: longer than 64 MiB");
        shut();
    }
}

static void a_descriptor_that_cannot_be_read_is_an_error(void)
{
    struct dti_error error;
    const char *line;
    size_t length;
    dti_lines_init(&lines, -1, BLOCK);
    CHECK(next(&line, &length, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "cannot read standard input: Bad file descriptor");
    dti_lines_free(&lines);
    dti_line_block_free(&block);
}

static void a_block_has_what_is_there_up_to_its_size(void)
{
    open_pipe("1\n2\n34", 6);
    CHECK(dti_lines_ready(&lines));
    CHECK(dti_lines_read(&lines, &block, NULL) == DTI_OK);
    CHECK(!block.full);
    CHECK_SIZE(block.length, 4); /* does not wait for the end of the third line */
    CHECK(!dti_lines_ready(&lines));
    CHECK(write(writer, "\n567890123456789\n0\n", 19) == 19);
    CHECK(dti_lines_read(&lines, &block, NULL) == DTI_OK);
    CHECK(block.full);
    CHECK_U64(block.number, 2); /* the line before it */
    expect("34");
    CHECK_U64(block.number, 3);
    expect("567890123456789");
    expect("0");
    CHECK_U64(block.number, 5);
    close(writer);
    expect("(end)");
    shut();
}

/* Line lengths around eight bytes, the step of the counter. */
static void counts_lines(void)
{
    enum { LINES = 24 };
    char text[LINES * (LINES + 1)];
    size_t length = 0;
    for (size_t i = 0; i < LINES; i++) {
        for (size_t j = 0; j < i; j++)
            text[length++] = "\v\x8a\xf5"[(i + j) % 3]; /* next to LF, or with the top bit set */
        text[length++] = '\n';
    }
    open_pipe(text, length);
    close(writer);
    lines.block_size = sizeof text;
    CHECK(dti_lines_read(&lines, &block, NULL) == DTI_OK);
    CHECK_U64(lines.number, LINES);
    shut();
}

/* As many empty lines as fit in a block: must not overflow the byte-wide partial sums. */
static void counts_many_empty_lines(void)
{
    enum { MANY = 30011 };
    char *const text = malloc(MANY);
    if (!CHECK(text != NULL))
        return;
    memset(text, '\n', MANY);
    open_pipe(text, MANY);
    close(writer);
    lines.block_size = MANY;
    CHECK(dti_lines_read(&lines, &block, NULL) == DTI_OK);
    CHECK_U64(lines.number, MANY);
    free(text);
    shut();
}

UNIT_MAIN(splits_at_line_ends_of_both_kinds, nothing_is_no_line, a_line_may_arrive_in_pieces,
          a_line_may_be_longer_than_the_first_buffer,
          a_line_may_be_as_long_as_the_limit_and_no_longer,
          a_descriptor_that_cannot_be_read_is_an_error, a_block_has_what_is_there_up_to_its_size,
          counts_lines, counts_many_empty_lines)
