/* SPDX-License-Identifier: MIT
 *
 * Whether inputs stayed as they were: what each regular file looked like when it was opened, by its
 * descriptor, so that no reader has to remember it, and none can forget. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/input_change.h"

struct opened {
    char *name;   /* NULL: no input has this descriptor */
    bool by_name; /* name leads to it; otherwise it is standard input */
    struct stat st;
};

static struct {
    pthread_mutex_t lock;
    struct opened *list; /* by descriptor */
    size_t count;
    bool changed; /* one of those that were closed: */
    struct dti_error error;
} inputs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool differ(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec || a->tv_nsec != b->tv_nsec;
}

static bool leads_to(const char *name, const struct stat *st)
{
    struct stat now = {0};
    return stat(name, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}

/* What changed, or NULL. New links, owners, permissions and names change the time of the status
 * alone and show otherwise; where nothing else shows, the time of modification may have been set
 * back. */
static const char *find_change(const struct opened *was, const struct stat *is)
{
    if (is->st_size != was->st.st_size)
        return "its size";
    if (differ(&is->st_mtim, &was->st.st_mtim))
        return "its modification time";
    const bool explained = is->st_nlink != was->st.st_nlink || is->st_mode != was->st.st_mode ||
                           is->st_uid != was->st.st_uid || is->st_gid != was->st.st_gid;
    if (!differ(&is->st_ctim, &was->st.st_ctim) || explained ||
        (was->by_name && !leads_to(was->name, is)))
        return NULL;
    return "its status";
}

/* Compares; the first change is kept. */
static void judge(int fd)
{
    const struct opened *const was = &inputs.list[fd];
    struct stat is = {0};
    char label[DTI_QUOTE_SIZE];
    if (fstat(fd, &is) != 0 || is.st_dev != was->st.st_dev || is.st_ino != was->st.st_ino)
        return; /* it is closed, and the descriptor another file's */
    const char *const change = find_change(was, &is);
    if (!change || inputs.changed)
        return;
    inputs.changed = true;
    (void)dti_fail(&inputs.error, DTI_BAD_INPUT,
                   "%s changed while it was read (%s); run it again when nothing writes to it",
                   was->by_name ? dti_quote(label, was->name, strlen(was->name)) : was->name,
                   change);
    if (was->by_name)
        dti_error_argument(&inputs.error, was->name, strlen(was->name));
}

static void forget(struct opened *opened)
{
    free(opened->name);
    opened->name = NULL;
}

bool dti_input_changes_note(int fd, const char *name, bool by_name, const struct stat *st)
{
    char *const copy = strdup(name);
    bool good = copy != NULL;
    pthread_mutex_lock(&inputs.lock);
    if (good && (size_t)fd >= inputs.count) {
        const size_t count = 2 * (size_t)fd + 16;
        struct opened *const more = realloc(inputs.list, count * sizeof *more);
        good = more != NULL;
        if (good) {
            memset(more + inputs.count, 0, (count - inputs.count) * sizeof *more);
            inputs.list = more;
            inputs.count = count;
        }
    }
    if (good) {
        forget(&inputs.list[fd]);
        inputs.list[fd] = (struct opened){.name = copy, .by_name = by_name, .st = *st};
    }
    pthread_mutex_unlock(&inputs.lock);
    if (!good)
        free(copy);
    return good;
}

void dti_input_changes_end(int fd)
{
    pthread_mutex_lock(&inputs.lock);
    if (fd >= 0 && (size_t)fd < inputs.count && inputs.list[fd].name) {
        judge(fd);
        forget(&inputs.list[fd]);
    }
    pthread_mutex_unlock(&inputs.lock);
}

enum dti_status dti_inputs_unchanged(struct dti_error *reterr)
{
    pthread_mutex_lock(&inputs.lock);
    for (size_t fd = 0; fd < inputs.count && !inputs.changed; fd++) {
        if (inputs.list[fd].name)
            judge((int)fd);
    }
    const bool changed = inputs.changed;
    if (changed && reterr)
        *reterr = inputs.error;
    pthread_mutex_unlock(&inputs.lock);
    return changed ? DTI_BAD_INPUT : DTI_OK;
}

void dti_inputs_forget(void)
{
    pthread_mutex_lock(&inputs.lock);
    for (size_t fd = 0; fd < inputs.count; fd++)
        forget(&inputs.list[fd]);
    free(inputs.list);
    inputs.list = NULL;
    inputs.count = 0;
    inputs.changed = false;
    pthread_mutex_unlock(&inputs.lock);
}
