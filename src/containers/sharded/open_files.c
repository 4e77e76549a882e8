/* SPDX-License-Identifier: MIT
 *
 * Opens the files of a checkpoint, remote ones several at a time: in turn, each of them would take
 * a round trip to the server, or two if its header is long. */
#include <stdatomic.h>
#include <string.h>

#include "containers/sharded/sharded.h"
#include "io/net/remote.h"
#include "util/little_endian.h"
#include "util/run/parallel.h"

enum { HEADER_MOST = 4 << 20 }; /* a longer one is read when it is needed */

struct ahead {
    struct dti_container_file *files;
    size_t count;
    bool *opened;
    atomic_size_t next;
    atomic_bool failed;
};

/* Of a safetensors file: requests the rest of the header. */
static void want_header(const struct dti_input *input)
{
    unsigned char head[8];
    if (input->size < sizeof head || dti_input_read_at(input, head, sizeof head, 0, NULL) != DTI_OK)
        return;
    const uint64_t length = dti_little_get(head, sizeof head);
    if (length <= HEADER_MOST)
        dti_remote_want(input, sizeof head + (size_t)length);
}

static void open_some(void *context, size_t member, size_t size)
{
    struct ahead *const ahead = context;
    (void)member;
    (void)size;
    while (!atomic_load(&ahead->failed)) {
        const size_t i = atomic_fetch_add(&ahead->next, 1);
        if (i >= ahead->count)
            return;
        struct dti_container_file *const file = &ahead->files[i];
        ahead->opened[i] = dti_input_open_file(&file->input, file->path, NULL) == DTI_OK;
        if (ahead->opened[i])
            want_header(&file->input);
        else
            atomic_store(&ahead->failed, true);
    }
}

static bool open_ahead(struct dti_opening *opening, struct ahead *ahead)
{
    const size_t count = ahead->count;
    const size_t threads = count < DTI_REMOTE_MANY ? count : DTI_REMOTE_MANY;
    struct dti_team *team;
    ahead->opened = dti_opening_array(opening, count, sizeof *ahead->opened);
    if (!ahead->opened)
        return false;
    memset(ahead->opened, 0, count * sizeof *ahead->opened);
    if (count < 2 || !dti_is_address(ahead->files[0].path) ||
        dti_team_new(&team, threads, DTI_WAIT_SLEEP, false, NULL) != DTI_OK)
        return true;
    dti_team_run(team, open_some, ahead);
    dti_team_free(team);
    return true;
}

enum dti_status dti_open_files(struct dti_opening *opening, struct dti_container_file *files,
                               size_t count, size_t *ret_opened, struct dti_error *reterr)
{
    struct ahead ahead = {.files = files, .count = count};
    enum dti_status status = DTI_OK;
    size_t i = 0;
    *ret_opened = 0;
    if (!open_ahead(opening, &ahead))
        return dti_no_memory(reterr);
    while (i < count && status == DTI_OK) { /* reports the first failure, which is known by now */
        if (!ahead.opened[i])
            status = dti_input_open_file(&files[i].input, files[i].path, reterr);
        i += status == DTI_OK;
    }
    *ret_opened = i;
    for (; i < count; i++) {
        if (ahead.opened[i])
            dti_input_close(&files[i].input);
    }
    return status;
}
