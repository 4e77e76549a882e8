/* SPDX-License-Identifier: MIT
 *
 * Standard streams. A full disk or a closed descriptor is detected here, once, for every
 * command. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/shell/standard.h"

/* Static, because a null pointer makes glibc ignore the size; untouched pages cost nothing. */
static char output_buffer[64 * 1024];

/* A descriptor closed by the caller must not become the next opened file. The opposite direction is
 * opened, so reading 0 or writing 1 and 2 still fails with EBADF. open() takes the lowest free
 * number, so going upwards fills each gap with its own number. */
static void fill_closed(int fd)
{
    if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
        (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void dti_standard_open(void)
{
    fill_closed(STDIN_FILENO);
    fill_closed(STDOUT_FILENO);
    fill_closed(STDERR_FILENO);
    if (!isatty(STDOUT_FILENO))
        (void)setvbuf(stdout, output_buffer, _IOFBF, sizeof output_buffer);
}

static int first_cause;

void dti_standard_note_failure(void)
{
    if (first_cause == 0)
        first_cause = errno;
}

static int write_file(void *context, const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, context) == size ? 0 : errno;
}

struct dti_sink dti_sink_to_file(FILE *file)
{
    return (struct dti_sink){.write = write_file, .context = file};
}

enum dti_status dti_document_write(struct dti_json *json, FILE *out, struct dti_error *reterr)
{
    const struct dti_sink sink = dti_sink_to_file(out);
    const enum dti_status status = dti_json_write(json, &sink, reterr);
    if (status == DTI_WRITE_FAILED)
        dti_standard_note_failure();
    return status;
}

static char complete[DTI_QUOTE_SIZE];

void dti_standard_note_complete(const char *label)
{
    (void)snprintf(complete, sizeof complete, "%s", label);
}

enum dti_status dti_standard_flush(FILE *out, struct dti_error *reterr)
{
    const bool failed_before = ferror(out) != 0;
    if (fflush(out) != 0)
        dti_standard_note_failure();
    else if (!failed_before)
        return DTI_OK;
    return dti_fail(reterr, DTI_WRITE_FAILED, "%s", "");
}

enum dti_status dti_standard_close(FILE *out, struct dti_error *reterr)
{
    /* An earlier failure may have left only the stream's error flag: errno is then unrelated. */
    errno = 0;
    const bool failed_before = ferror(out) != 0;
    int cause = fflush(out) != 0 ? errno : 0;
    /* network file systems report a full disk on close */
    if (fclose(out) != 0 && cause == 0 && errno != EINTR)
        cause = errno;
    if (first_cause != 0)
        cause = first_cause;
    first_cause = 0;
    enum dti_status status = DTI_OK;
    if (cause == EPIPE)
        status = dti_fail(reterr, DTI_WRITE_FAILED, "%s", "");
    else if (cause != 0 || failed_before)
        status = dti_fail(reterr, DTI_WRITE_FAILED, "cannot write to standard output: %s%s%s%s",
                          strerror(cause != 0 ? cause : EIO), complete[0] != '\0' ? "; " : "",
                          complete, complete[0] != '\0' ? " is complete" : "");
    complete[0] = '\0';
    return status;
}
