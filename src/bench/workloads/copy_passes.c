/* SPDX-License-Identifier: MIT
 *
 * Copying, reading and writing memory on the CPU, and making it: mapping it and touching each page,
 * which is when the system finds and clears one. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise() */
#include "bench/workloads/copy_passes.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/measure/splitmix.h"
#include "bench/workloads/cast_buffers.h"
#include "bench/workloads/copy_choice.h"

enum { LINE = 64, PAGE = 4096, POISON = 0x5A };
#define HUGE_PAGE ((size_t)2 << 20)

static void copy_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_copying_pass *const pass = context;
    const struct dti_copying *const copying = pass->copying;
    const struct dti_copy *const copy = pass->copy;
    const struct dti_share share = dti_share_of((size_t)copying->request->n, LINE, member, size);
    const unsigned char *const src = dti_bench_memory_at(copying->memory, set, 0);
    unsigned char *const dst = dti_bench_memory_at(copying->memory, set, 1);
    uint64_t word;
    if (share.count > 0)
        copy->run(copy->out > 0 ? (void *)(dst + share.first) : (void *)&word, src + share.first,
                  share.count);
}

static void touch(unsigned char *memory, size_t size, bool huge_pages)
{
    const size_t over = (size_t)((uintptr_t)memory % HUGE_PAGE);
    unsigned char *const data = memory + (over > 0 ? HUGE_PAGE - over : 0);
#ifdef MADV_HUGEPAGE
    (void)madvise(data, size, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
    for (size_t at = 0; at < size; at += PAGE)
        ((volatile unsigned char *)data)[at] = 1;
}

static void make_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_copying_pass *const pass = context;
    const struct dti_share share =
        dti_share_of((size_t)pass->copying->request->n, PAGE, member, size);
    (void)set;
    if (share.count == 0)
        return;
    void *const mapping = mmap(NULL, share.count + HUGE_PAGE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        atomic_store(&pass->copying->failed, true);
        return;
    }
    touch(mapping, share.count, pass->huge_pages);
    (void)munmap(mapping, share.count + HUGE_PAGE);
}

static struct dti_bench_item *add(struct dti_copying *copying, const char *role, const char *engine,
                                  dti_bench_fn *run, const struct dti_copy *copy)
{
    const size_t at = copying->table->count;
    struct dti_bench_item *const item = dti_bench_add_item(copying->table, role, "cpu");
    if (!item)
        return NULL;
    (void)snprintf(item->engine, sizeof item->engine, "%s", engine);
    copying->passes[at] = (struct dti_copying_pass){.copying = copying, .copy = copy};
    copying->candidates[at] =
        (struct dti_bench_candidate){.run = run,
                                     .context = &copying->passes[at],
                                     .sets = dti_bench_memory_sets(copying->memory),
                                     .subject = true};
    return item;
}

static void add_kernel(struct dti_copying *copying, const struct dti_copy *copy)
{
    const char *const role = copy->exact ? "copy" : copy->out == 0 ? "read" : "write";
    struct dti_bench_item *const item = add(copying, role, dti_copy_words(copy), copy_pass, copy);
    if (!item)
        return;
    item->bytes_read = copying->request->n * copy->in;
    item->bytes_written = copying->request->n * copy->out;
    (void)snprintf(item->kernel, sizeof item->kernel, "%s", dti_kernel_title(copy->name));
}

static void add_making(struct dti_copying *copying, bool huge_pages)
{
    struct dti_bench_item *const item =
        add(copying, "first touch", huge_pages ? "huge pages" : "4 KiB pages", make_pass, NULL);
    if (!item)
        return;
    item->bytes_written = copying->request->n;
    (void)snprintf(item->kernel, sizeof item->kernel, "mapped, touched, unmapped");
    copying->passes[copying->table->count - 1].huge_pages = huge_pages;
}

/* In their rows' order within each role. */
void dti_copying_add_passes(struct dti_copying *copying, size_t threads)
{
    for (int role = 0; role < 3; role++) {
        for (size_t i = 0; i < dti_copy_count; i++) {
            const struct dti_copy *const copy = &dti_copies[i];
            const int own = copy->exact                       ? 0
                            : copy->in == 1 && copy->out == 0 ? 1
                            : copy->in == 0 && copy->out == 1 ? 2
                                                              : 3;
            if (own == role && dti_copy_competes(copy, copying->request->level, false))
                add_kernel(copying, copy);
        }
    }
    add_making(copying, false);
#ifdef MADV_HUGEPAGE
    if (copying->request->n / threads >= HUGE_PAGE)
        add_making(copying, true);
#else
    (void)threads;
#endif
}

static void pattern_job(void *context, size_t member, size_t size)
{
    const struct dti_copying *const copying = context;
    const struct dti_share share = dti_share_of((size_t)copying->request->n, PAGE, member, size);
    unsigned char *const src = dti_bench_memory_at(copying->memory, 0, 0);
    uint64_t state = copying->request->seed + share.first;
    for (size_t at = share.first; at < share.first + share.count; at += sizeof state) {
        const uint64_t word = dti_splitmix(&state);
        const size_t left = share.first + share.count - at;
        memcpy(src + at, &word, left < sizeof word ? left : sizeof word);
    }
}

static void once(void *pass, size_t member, size_t size)
{
    copy_pass(pass, 0, member, size);
}

enum dti_status dti_copying_verify(struct dti_copying *copying, struct dti_team *team,
                                   struct dti_error *reterr)
{
    const size_t bytes = (size_t)copying->request->n;
    if (atomic_load(&copying->failed))
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory while it was measured");
    dti_in_team(team, pattern_job, copying);
    for (size_t i = 0; i < copying->table->count; i++) {
        struct dti_copying_pass *const pass = &copying->passes[i];
        if (!pass->copy || !pass->copy->exact)
            continue;
        memset(dti_bench_memory_at(copying->memory, 0, 1), POISON, bytes);
        dti_in_team(team, once, pass);
        if (memcmp(dti_bench_memory_at(copying->memory, 0, 0),
                   dti_bench_memory_at(copying->memory, 0, 1), bytes) != 0)
            return dti_fail(reterr, DTI_BUG, "%s does not copy; please report it",
                            dti_kernel_title(pass->copy->name));
    }
    return DTI_OK;
}
