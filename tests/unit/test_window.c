/* SPDX-License-Identifier: MIT
 *
 * Windows (mappings) and copies of files show the same bytes, and files that shrink in the meantime
 * give the same errors. */
#include "io/window.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "child.h"
#include "folder.h"
#include "sanitized.h"

enum { SIZE = (5 << 20) + 1234, BUFFER = 3 << 20 };
/* A file large enough for a trial, and the pieces after which it is over. */
enum { ZEROS = 130 << 20, PIECE = 1 << 20, PIECES = 40 };

static struct dti_input input;
static struct dti_error error;
static unsigned char *content, *buffer;

static void prepare(void)
{
    content = malloc(SIZE);
    buffer = malloc(BUFFER);
    if (!content || !buffer)
        exit(1);
    for (size_t i = 0; i < SIZE; i++)
        content[i] = (unsigned char)(i * 7 + (i >> 8) * 13 + 1);
}

static void open_made(void)
{
    folder_enter();
    file_make("in", content, SIZE);
    memset(&error, 0, sizeof error);
    if (!CHECK(dti_input_open(&input, "in", &error) == DTI_OK))
        exit(1);
}

static void leave(void)
{
    dti_input_close(&input);
    folder_leave();
}

static void bytes_are_those_of_the_file_both_ways(void)
{
    static const struct {
        uint64_t offset;
        size_t size;
    } views[] = {
        {0, 1},         {1, 1},          {4095, 2},          {3, 0},
        {100, 1 << 20}, {4 << 20, 4096}, {17, BUFFER},       {SIZE - BUFFER, BUFFER},
        {SIZE - 1, 1},  {SIZE, 0},       {(2 << 20) - 1, 2}, {(2 << 20) + 65535, 3},
    };
    open_made();
    for (unsigned way = DTI_WINDOW_COPY; way <= DTI_WINDOW_MAP; way++) {
        struct dti_window window = {.way = (enum dti_window_way)way};
        for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
            const void *bytes = NULL;
            const size_t size = views[i].size;
            const uint64_t offset = views[i].offset;
            CHECK(dti_window_look(&window, &input, buffer, size, offset, &bytes, &error) == DTI_OK);
            CHECK(bytes && memcmp(bytes, content + offset, size) == 0);
            if (size > 0)
                CHECK((window.bytes != NULL) == (way == DTI_WINDOW_MAP));
            CHECK(dti_window_done(&window, DTI_OK, &error) == DTI_OK);
            CHECK(dti_window_done(&window, DTI_BAD_VALUE, &error) == DTI_BAD_VALUE);
        }
        const void *bytes;
        CHECK(dti_window_look(&window, &input, buffer, 2, SIZE - 1, &bytes, &error) ==
              DTI_BAD_INPUT);
        CHECK(strstr(error.text, "'in' shrank while being read") != NULL);
        CHECK(dti_window_look(&window, &input, buffer, 1, UINT64_MAX, &bytes, &error) ==
              DTI_BAD_INPUT);
        dti_window_free(&window);
        CHECK(window.bytes == NULL);
    }
    leave();
}

/* From the second piece on: only then is the access known to be sequential. */
static void small_pieces_in_a_row_are_copied_ahead(void)
{
    enum { STEP = 700, SMALL_PIECES = SIZE / STEP };
    open_made();
    struct dti_window window = {.way = DTI_WINDOW_COPY};
    const void *bytes;
    for (size_t i = 0; i < SMALL_PIECES; i++) {
        const uint64_t offset = (uint64_t)i * STEP;
        const size_t size = 1 + i % STEP;
        CHECK(dti_window_look(&window, &input, buffer, size, offset, &bytes, &error) == DTI_OK);
        CHECK((bytes == buffer) == (i == 0));
        CHECK(memcmp(bytes, content + offset, size) == 0);
        CHECK(dti_window_done(&window, DTI_OK, &error) == DTI_OK);
    }
    CHECK(dti_window_look(&window, &input, buffer, 9, 5, &bytes, &error) == DTI_OK);
    CHECK(bytes == buffer && memcmp(bytes, content + 5, 9) == 0);
    CHECK(dti_window_look(&window, &input, buffer, BUFFER, 14, &bytes, &error) == DTI_OK);
    CHECK(bytes == buffer && memcmp(bytes, content + 14, BUFFER) == 0);
    dti_window_free(&window);
    CHECK(window.ahead == NULL);
    leave();
}

static void offsets_count_from_where_the_input_begins(void)
{
    open_made();
    const int standard = dup(STDIN_FILENO);
    CHECK(lseek(input.fd, 5001, SEEK_SET) == 5001 && dup2(input.fd, STDIN_FILENO) == STDIN_FILENO);
    struct dti_input rest;
    if (CHECK(dti_input_open(&rest, "-", &error) == DTI_OK)) {
        struct dti_window window = {.way = DTI_WINDOW_MAP};
        const void *bytes = NULL;
        CHECK(dti_window_look(&window, &rest, buffer, 70000, 3, &bytes, &error) == DTI_OK);
        CHECK(bytes != buffer && memcmp(bytes, content + 5004, 70000) == 0);
        CHECK(dti_window_done(&window, DTI_OK, &error) == DTI_OK);
        CHECK(dti_window_look(&window, &rest, buffer, 1, SIZE - 5001, &bytes, &error) ==
              DTI_BAD_INPUT);
        dti_window_free(&window);
    }
    CHECK(dup2(standard, STDIN_FILENO) == STDIN_FILENO && close(standard) == 0);
    leave();
}

static void a_window_follows_the_reader_to_another_file(void)
{
    open_made();
    struct dti_input other;
    file_make("other", "abc", 3);
    if (CHECK(dti_input_open(&other, "other", &error) == DTI_OK)) {
        struct dti_window window = {.way = DTI_WINDOW_MAP};
        const void *bytes = NULL;
        for (unsigned i = 0; i < 2; i++) {
            CHECK(dti_window_look(&window, &input, buffer, 3, 0, &bytes, &error) == DTI_OK);
            CHECK(memcmp(bytes, content, 3) == 0);
            CHECK(dti_window_done(&window, DTI_OK, &error) == DTI_OK);
            CHECK(dti_window_look(&window, &other, buffer, 3, 0, &bytes, &error) == DTI_OK);
            CHECK(memcmp(bytes, "abc", 3) == 0);
            CHECK(dti_window_done(&window, DTI_OK, &error) == DTI_OK);
        }
        dti_window_free(&window);
        dti_input_close(&other);
    }
    leave();
}

/* Reads each byte. */
static unsigned sum(const unsigned char *bytes, size_t size)
{
    const volatile unsigned char *const at = bytes;
    unsigned all = 0;
    for (size_t i = 0; i < size; i++)
        all += at[i];
    return all;
}

/* Truncates to page boundaries, within the last page (whose rest reads as zeros, without a signal),
 * and to zero. */
static void a_file_that_shrinks_under_a_window_is_an_error(void)
{
    static const off_t sizes[] = {SIZE - 1, 3 << 20, (1 << 20) + 5, 4096, 4095, 1, 0};
    open_made();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct dti_window window = {.way = DTI_WINDOW_MAP};
        const void *bytes = NULL;
        char want[100];
        file_make("in", content, SIZE);
        const uint64_t first = SIZE - BUFFER;
        snprintf(want, sizeof want, "'in' shrank while being read: it ends at byte %llu of %llu",
                 (unsigned long long)((uint64_t)sizes[i] > first ? (uint64_t)sizes[i] : first),
                 (unsigned long long)SIZE);
        CHECK(dti_window_look(&window, &input, buffer, BUFFER, first, &bytes, &error) == DTI_OK);
        CHECK(((const unsigned char *)bytes)[0] == content[first]);
        CHECK(truncate("in", sizes[i]) == 0);
        (void)sum(bytes, BUFFER);
        CHECK(((const unsigned char *)bytes)[BUFFER - 1] == 0);
        CHECK(dti_window_done(&window, DTI_OK, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text, want);
        /* even if the zeros caused another error */
        CHECK(dti_window_look(&window, &input, buffer, BUFFER, first, &bytes, &error) == DTI_OK);
        (void)sum(bytes, BUFFER);
        CHECK(dti_window_done(&window, DTI_BAD_VALUE, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text, want);
        /* even if the file is whole again */
        CHECK(dti_window_look(&window, &input, buffer, BUFFER, first, &bytes, &error) == DTI_OK);
        (void)sum(bytes, BUFFER);
        file_make("in", content, SIZE);
        const bool torn = window.torn;
        CHECK(dti_window_done(&window, DTI_OK, &error) == (torn ? DTI_BAD_INPUT : DTI_OK));
        if (torn)
            CHECK_STR(error.text, "cannot read 'in': Input/output error");
        CHECK(dti_window_look(&window, &input, buffer, BUFFER, first, &bytes, &error) == DTI_OK);
        CHECK(memcmp(bytes, content + first, BUFFER) == 0);
        CHECK(dti_window_done(&window, DTI_OK, &error) == DTI_OK);
        dti_window_free(&window);
    }
    leave();
}

static void each_of_two_windows_may_lose_its_file(void)
{
    open_made();
    for (unsigned lost = 0; lost < 2; lost++) {
        struct dti_input inputs[2];
        struct dti_window windows[2] = {{.way = DTI_WINDOW_MAP}, {.way = DTI_WINDOW_MAP}};
        const char *const names[2] = {"a", "b"};
        const void *bytes[2];
        for (unsigned i = 0; i < 2; i++) {
            file_make(names[i], content, SIZE);
            CHECK(dti_input_open(&inputs[i], names[i], &error) == DTI_OK);
            CHECK(dti_window_look(&windows[i], &inputs[i], buffer, BUFFER, 0, &bytes[i], &error) ==
                  DTI_OK);
        }
        CHECK(truncate(names[lost], 1 << 20) == 0);
        CHECK(memcmp(bytes[!lost], content, BUFFER) == 0);
        CHECK(memcmp(bytes[lost], content, BUFFER) != 0);
        for (unsigned i = 2; i-- > 0;) {
            CHECK(dti_window_done(&windows[i], DTI_OK, &error) ==
                  (i == lost ? DTI_BAD_INPUT : DTI_OK));
            dti_window_free(&windows[i]);
            dti_input_close(&inputs[i]);
        }
    }
    leave();
}

static void *lose(void *context)
{
    struct dti_window window = {.way = DTI_WINDOW_MAP};
    const void *bytes = NULL;
    struct dti_error own;
    (void)context;
    if (dti_window_look(&window, &input, NULL, SIZE, 0, &bytes, &own) != DTI_OK)
        return NULL;
    (void)sum(bytes, SIZE);
    const bool failed = dti_window_done(&window, DTI_OK, &own) == DTI_BAD_INPUT;
    dti_window_free(&window);
    return failed ? context : NULL;
}

static void threads_lose_windows_at_once(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    open_made();
    CHECK(truncate("in", 1 << 20) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, lose, &input) == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *failed = NULL;
        CHECK(pthread_join(threads[i], &failed) == 0 && failed);
    }
    leave();
}

/* context: whether the window was already left or is still open. */
static void raise_elsewhere(FILE *out, const void *context)
{
    const bool open = strcmp(context, "open") == 0;
    struct dti_window window = {.way = DTI_WINDOW_MAP};
    const void *bytes;
    const unsigned char *const other = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, input.fd, 0);
    if (other == MAP_FAILED ||
        dti_window_look(&window, &input, buffer, 4096, 0, &bytes, &error) != DTI_OK ||
        (!open && dti_window_done(&window, DTI_OK, &error) != DTI_OK))
        return;
    if (strcmp(context, "sent") == 0)
        (void)raise(SIGBUS);
    else if (truncate("in", 0) == 0)
        fprintf(out, "%u", sum(other, SIZE));
}

static void a_signal_elsewhere_keeps_its_default_action(void)
{
    static const char *const cases[] = {"open", "left", "sent"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct child_result result;
        open_made();
        child_run(&result, raise_elsewhere, cases[i], NULL);
        /* a sanitizer's handler exits */
        CHECK(WIFSIGNALED(result.status) ? WTERMSIG(result.status) == SIGBUS
                                         : WEXITSTATUS(result.status) > 0);
        leave();
    }
}

#ifndef SANITIZED
static void look_without_room(FILE *out, const void *context)
{
    const struct rlimit none = {.rlim_cur = 1, .rlim_max = RLIM_INFINITY};
    struct dti_window window = {.way = DTI_WINDOW_MAP};
    const void *bytes = NULL;
    (void)context;
    (void)setrlimit(RLIMIT_AS, &none);
    const enum dti_status status =
        dti_window_look(&window, &input, buffer, BUFFER, 9, &bytes, &error);
    fprintf(out, "%d %d %d", status == DTI_OK, bytes == buffer,
            memcmp(buffer, content + 9, BUFFER) == 0);
}
#endif

static void what_cannot_be_mapped_is_copied(void)
{
#ifndef SANITIZED
    struct child_result result;
    open_made();
    child_run(&result, look_without_room, NULL, NULL);
    CHECK_STR(result.output, "1 1 1");
    leave();
#endif
}

static unsigned taken;

static enum dti_status take(struct dti_watch *watch, const void *bytes, size_t size,
                            uint64_t offset, bool once, struct dti_error *reterr)
{
    (void)watch;
    CHECK(!once && memcmp(bytes, content + offset, size) == 0);
    taken++;
    return taken > 2 ? dti_fail(reterr, DTI_BAD_INPUT, "enough") : DTI_OK;
}

static void a_watch_sees_what_is_read(void)
{
    struct dti_watch watch = {.take = take};
    open_made();
    input.watch = &watch;
    for (unsigned way = DTI_WINDOW_COPY; way <= DTI_WINDOW_MAP; way++) {
        struct dti_window window = {.way = (enum dti_window_way)way};
        const void *bytes = NULL;
        taken = 0;
        for (unsigned i = 0; i < 2; i++) {
            CHECK(dti_window_look(&window, &input, buffer, 777, 11 * i, &bytes, &error) == DTI_OK);
            CHECK(dti_window_done(&window, DTI_OK, &error) == DTI_OK);
        }
        CHECK(dti_window_look(&window, &input, buffer, 5, 0, &bytes, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text, "enough");
        CHECK_U64(taken, 3);
        dti_window_free(&window);
    }
    leave();
}

static bool is_set(void)
{
    const char *const wanted = getenv("DTINFO_READ");
    return wanted && (strcmp(wanted, "map") == 0 || strcmp(wanted, "copy") == 0);
}

/* Looks at a piece of zeros with a window, which may stay undecided. */
static void look_at_zeros(struct dti_window *window, uint64_t offset, size_t size)
{
    const unsigned char *byte = NULL;
    const void *bytes = NULL;
    memset(buffer, 1, size);
    CHECK(dti_window_look(window, &input, buffer, size, offset, &bytes, &error) == DTI_OK);
    byte = bytes;
    CHECK(byte && byte[0] == 0 && memcmp(byte, byte + 1, size - 1) == 0);
    CHECK(dti_window_done(window, DTI_OK, &error) == DTI_OK);
}

/* Makes "in" a file of zeros, in the page cache as far as it is read, and opens it. */
static void open_zeros(void)
{
    const int fd = open("in", O_WRONLY | O_TRUNC);
    dti_input_close(&input);
    memset(buffer, 0, BUFFER);
    for (off_t left = (PIECES + 2) * PIECE, some; left > 0; left -= some) {
        some = left < BUFFER ? left : BUFFER;
        CHECK(write(fd, buffer, (size_t)some) == (ssize_t)some);
    }
    CHECK(ftruncate(fd, ZEROS) == 0 && close(fd) == 0);
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
}

/* The two must be read in the same way, and a failed look is not the outer one of the next. */
static void a_look_inside_another_goes_the_same_way(void)
{
    struct dti_window outer = {0}, inner = {0};
    const void *bytes[2];
    open_made();
    open_zeros();
    input.device += 100;
    CHECK(dti_input_read_at(&input, buffer, BUFFER, 0, &error) == DTI_OK); /* now cached */
    for (unsigned k = 0; k < PIECES; k++) {
        const uint64_t offset = (uint64_t)k * PIECE;
        dti_window_free(&outer);
        dti_window_free(&inner);
        CHECK(dti_window_look(&outer, &input, buffer, PIECE, offset, &bytes[0], &error) == DTI_OK);
        const bool open = outer.way == DTI_WINDOW_UNDECIDED;
        CHECK(dti_window_look(&inner, &input, buffer + PIECE, PIECE, offset, &bytes[1], &error) ==
              DTI_OK);
        CHECK(!open || (outer.bytes != NULL) == (inner.bytes != NULL));
        CHECK(dti_window_done(&inner, DTI_OK, &error) == DTI_OK);
        CHECK(dti_window_done(&outer, DTI_OK, &error) == DTI_OK);
    }
    CHECK(outer.way != DTI_WINDOW_UNDECIDED && inner.way == outer.way);
    dti_window_free(&outer);
    dti_window_free(&inner);
    leave();
}

/* Only large pieces of large files are timed; what is not in the page cache is copied. */
static void small_pieces_and_files_are_copied_and_not_timed(void)
{
    struct dti_window window = {0};
    open_made();
    dti_input_close(&input);
    CHECK(truncate("in", 0) == 0 && truncate("in", (off_t)200 << 20) == 0);
    if (CHECK(dti_input_open(&input, "in", &error) == DTI_OK)) {
        input.device += 200;
        look_at_zeros(&window, 0, 4096);
        CHECK((window.way != DTI_WINDOW_UNDECIDED) == is_set());
        look_at_zeros(&window, input.size - BUFFER / 16, BUFFER / 16);
        CHECK((window.way != DTI_WINDOW_UNDECIDED) == is_set());
        look_at_zeros(&window, 100 << 20, BUFFER);
        CHECK(window.way == DTI_WINDOW_COPY || is_set());
    }
    dti_window_free(&window);
    leave();
}

static void both_ways_are_tried_before_one_is_chosen(void)
{
    open_made();
    open_zeros();
    for (unsigned i = 0; i < 10; i++, input.device++) { /* more than are remembered */
        struct dti_window window = {0};
        unsigned ways = 0;
        CHECK(dti_input_read_at(&input, buffer, BUFFER, 0, &error) == DTI_OK); /* now cached */
        look_at_zeros(&window, 17, 4096);
        CHECK((window.way != DTI_WINDOW_UNDECIDED) == is_set());
        for (unsigned k = 0; k < PIECES; k++) {
            const bool was_open = window.way == DTI_WINDOW_UNDECIDED;
            dti_window_free(&window);
            look_at_zeros(&window, 17 + (uint64_t)k * PIECE, PIECE);
            if (was_open)
                ways |= window.bytes ? 2 : 1;
        }
        CHECK(window.way != DTI_WINDOW_UNDECIDED);
        CHECK(is_set() || i >= 6 || ways == 3);
        const enum dti_window_way way = window.way;
        dti_window_free(&window);
        window = (struct dti_window){0}; /* what was found holds for other windows */
        if (i < 6) {
            look_at_zeros(&window, 0, PIECE);
            CHECK(window.way == way);
        }
        dti_window_free(&window);
    }
    leave();
}

static void nothing_is_mapped_unless_that_is_allowed(void)
{
    const char *const wanted = getenv("DTINFO_READ");
    const bool map = wanted && strcmp(wanted, "map") == 0;
    open_made();
    for (unsigned allowed = 0; allowed < 2; allowed++) {
        struct dti_window window = {0};
        const void *bytes = NULL;
        dti_window_allow(allowed);
        CHECK(dti_window_look(&window, &input, buffer, BUFFER, 0, &bytes, &error) == DTI_OK);
        CHECK(memcmp(bytes, content, BUFFER) == 0);
        CHECK((window.bytes != NULL) == (allowed && map));
        CHECK(dti_window_done(&window, DTI_OK, &error) == DTI_OK);
        dti_window_free(&window);
    }
    leave();
}

UNIT_MAIN(prepare, bytes_are_those_of_the_file_both_ways, small_pieces_in_a_row_are_copied_ahead,
          offsets_count_from_where_the_input_begins, a_window_follows_the_reader_to_another_file,
          a_file_that_shrinks_under_a_window_is_an_error, each_of_two_windows_may_lose_its_file,
          threads_lose_windows_at_once, a_signal_elsewhere_keeps_its_default_action,
          what_cannot_be_mapped_is_copied, a_watch_sees_what_is_read,
          a_look_inside_another_goes_the_same_way, small_pieces_and_files_are_copied_and_not_timed,
          both_ways_are_tried_before_one_is_chosen, nothing_is_mapped_unless_that_is_allowed)
