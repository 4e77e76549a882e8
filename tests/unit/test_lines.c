/* SPDX-License-Identifier: MIT
 *
 * Lines from a descriptor, whatever the sizes in which the bytes arrive. */
#include "dtinfo/lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static struct dti_lines lines;
static int writer;

static void open_pipe(const char *text, size_t length)
{
    int ends[2];
    if (!CHECK(pipe(ends) == 0))
        exit(1);
    CHECK(write(ends[1], text, length) == (ssize_t)length);
    writer = ends[1];
    dti_lines_init(&lines, ends[0]);
}

static void expect(const char *want)
{
    const char *line;
    size_t length;
    char got[64] = "(end)";
    if (!CHECK(dti_lines_next(&lines, &line, &length, NULL) == DTI_OK))
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
    dti_lines_init(&lines, fd);
    CHECK(dti_lines_next(&lines, &line, &length, NULL) == DTI_OK);
    CHECK_SIZE(length, LENGTH - 2);
    CHECK(line && memcmp(line, text, length) == 0);
    expect("8");
    expect("(end)");
    free(text);
    shut();
}

/* A file of NULs of which none is stored, but for its end. */
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
    dti_lines_init(&lines, fd);
}

static void a_line_may_be_as_long_as_the_limit_and_no_longer(void)
{
    static const char *const ends[] = {"", "\n", "\r\n"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct dti_error error;
        const char *line;
        size_t length;
        open_hole(DTI_LINE_MAX, ends[i]);
        CHECK(dti_lines_next(&lines, &line, &length, NULL) == DTI_OK);
        CHECK_SIZE(length, DTI_LINE_MAX);
        expect("(end)");
        shut();
        open_hole(DTI_LINE_MAX + 1, ends[i]);
        CHECK(dti_lines_next(&lines, &line, &length, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text, "standard input, line 1: longer than 64 MiB");
        shut();
    }
}

static void a_descriptor_that_cannot_be_read_is_an_error(void)
{
    struct dti_error error;
    const char *line;
    size_t length;
    dti_lines_init(&lines, -1);
    CHECK(dti_lines_next(&lines, &line, &length, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "cannot read standard input: Bad file descriptor");
    dti_lines_free(&lines);
}

UNIT_MAIN(splits_at_line_ends_of_both_kinds, nothing_is_no_line, a_line_may_arrive_in_pieces,
          a_line_may_be_longer_than_the_first_buffer,
          a_line_may_be_as_long_as_the_limit_and_no_longer,
          a_descriptor_that_cannot_be_read_is_an_error)
