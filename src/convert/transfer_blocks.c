/* SPDX-License-Identifier: MIT
 *
 * The loop of one thread: take a block, read it, cast it, write it. Files are read and written
 * anywhere at any time; pipes are read by one thread at a time and written in turn, while others
 * cast. */
#include "convert/plan_parts.h"
#include "convert/transfer.h"

struct transfer_chunk {
    uint64_t number;
    size_t n; /* elements */
};

enum dti_status dti_transfer_elements(const struct dti_plan *plan, uint64_t bytes,
                                      const char *label, uint64_t *ret_elements,
                                      unsigned *ret_padding, struct dti_error *reterr)
{
    const struct dti_request *const request = dti_plan_request(plan);
    const unsigned bits = dti_format_stored_bits(&request->src, &request->src_layout);
    unsigned padding;
    const enum dti_status status =
        dti_storage_count(&request->src, bits, bytes, label, ret_elements, &padding, reterr);
    if (status == DTI_OK && ret_padding)
        *ret_padding = padding;
    return status;
}

/* Whole tiles end at whole bytes. Does not overflow: the array's size in bits was checked, or is
 * bounded by what a pipe can deliver. */
static uint64_t offset_of(uint64_t first, unsigned bits)
{
    return first / 8 * bits;
}

static bool take_from_file(struct dti_transfer_job *job, struct dti_transfer_member *member,
                           struct transfer_chunk *ret)
{
    pthread_mutex_lock(&job->reading);
    const uint64_t number = job->next_block;
    const uint64_t blocks =
        job->elements / job->block_elements + (job->elements % job->block_elements != 0);
    const bool any = !dti_chunk_order_stopped(&job->order) && number < blocks;
    job->next_block += any;
    pthread_mutex_unlock(&job->reading);
    if (!any)
        return false;

    const uint64_t first = number * job->block_elements;
    const uint64_t left = job->elements - first;
    const uint64_t n = left < job->block_elements ? left : job->block_elements;
    struct dti_error error;
    const enum dti_status status = dti_window_look(
        &member->window, job->transfer->input, member->src,
        (size_t)dti_array_bytes(n, job->src_bits),
        job->transfer->input_offset + offset_of(first, job->src_bits), &member->from, &error);
    if (status != DTI_OK) {
        dti_chunk_order_fail(&job->order, number, status, &error);
        return false;
    }
    *ret = (struct transfer_chunk){.number = number, .n = (size_t)n};
    return true;
}

/* What a short last block of a pipe means. */
static enum dti_status count_rest(const struct dti_transfer_job *job, uint64_t first,
                                  const unsigned char *data, size_t bytes, uint64_t *ret_n,
                                  struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    dti_input_label(job->transfer->input, label);
    const uint64_t total = offset_of(first, job->src_bits) + bytes;
    if (job->elements != DTI_UNTIL_END)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s ended after %llu bytes, too few for %llu %s",
                        label, (unsigned long long)total, (unsigned long long)job->elements,
                        dti_plan_request(job->plan)->src.name);
    uint64_t elements;
    unsigned padding;
    const struct dti_request *const request = dti_plan_request(job->plan);
    enum dti_status status =
        dti_transfer_elements(job->plan, total, label, &elements, &padding, reterr);
    if (status == DTI_OK && padding > 0)
        status = dti_storage_check_padding(&request->src, &request->src_layout, data[bytes - 1],
                                           padding, label, reterr);
    if (status == DTI_OK)
        *ret_n = elements - first;
    return status;
}

/* Called with `reading` held. */
static bool take_in_order(struct dti_transfer_job *job, struct dti_transfer_member *member,
                          struct transfer_chunk *ret)
{
    if (job->at_end || dti_chunk_order_stopped(&job->order))
        return false;
    const uint64_t number = job->next_block;
    const uint64_t first = number * job->block_elements;
    uint64_t n = job->block_elements;
    if (job->elements != DTI_UNTIL_END && job->elements - first < n)
        n = job->elements - first;
    const size_t want = (size_t)dti_array_bytes(n, job->src_bits);
    size_t got = 0;
    struct dti_error error;
    enum dti_status status = dti_input_read(job->transfer->input, member->src, want, &got, &error);
    if (status == DTI_OK && got < want && dti_chunk_order_stopped(&job->order))
        return false; /* given up, not at the end */
    if (status == DTI_OK && got < want)
        status = count_rest(job, first, member->src, got, &n, &error);
    job->at_end = status != DTI_OK || got < want || n == 0 ||
                  (job->elements != DTI_UNTIL_END && job->elements - first == n);
    if (status != DTI_OK)
        dti_chunk_order_fail(&job->order, number, status, &error);
    if (status != DTI_OK || n == 0)
        return false;
    job->next_block++;
    member->from = member->src;
    *ret = (struct transfer_chunk){.number = number, .n = (size_t)n};
    return true;
}

static bool take(struct dti_transfer_job *job, struct dti_transfer_member *member,
                 struct transfer_chunk *ret)
{
    if (job->parallel_read)
        return take_from_file(job, member, ret);
    pthread_mutex_lock(&job->reading);
    const bool any = take_in_order(job, member, ret);
    pthread_mutex_unlock(&job->reading);
    return any;
}

static bool put(struct dti_transfer_job *job, const struct dti_transfer_member *member,
                const struct transfer_chunk *block)
{
    struct dti_output_file *const output = job->transfer->output;
    const size_t size = (size_t)dti_array_bytes(block->n, job->dst_bits);
    struct dti_error error;
    enum dti_status status;
    if (job->parallel_write) {
        const uint64_t first = block->number * job->block_elements;
        status = dti_output_write_at(output, member->dst, size,
                                     job->transfer->output_offset + offset_of(first, job->dst_bits),
                                     &error);
    } else {
        if (!dti_chunk_order_await(&job->order, block->number))
            return false;
        status = dti_output_write(output, member->dst, size, &error);
    }
    if (status != DTI_OK)
        dti_chunk_order_fail(&job->order, block->number, status, &error);
    return status == DTI_OK;
}

void dti_transfer_work(void *context, size_t member, size_t size)
{
    struct dti_transfer_job *const job = context;
    (void)size;
    if (member >= job->member_count)
        return;
    if (!job->parallel_write && member > 0)
        dti_chunk_order_heed_sigpipe();
    struct dti_transfer_member *const mine = &job->members[member];
    struct transfer_chunk block;
    while (take(job, mine, &block)) {
        struct dti_error error;
        enum dti_status status = dti_plan_run(job->plan, mine->dst, mine->from, block.n,
                                              block.number * job->block_elements, DTI_STORES_CACHED,
                                              job->with_loss ? &mine->loss : NULL, &error);
        status = dti_window_done(&mine->window, status, &error);
        if (status != DTI_OK) {
            dti_chunk_order_fail(&job->order, block.number, status, &error);
            return;
        }
        if (!put(job, mine, &block))
            return;
        dti_chunk_order_done(&job->order, block.number, block.n, !job->parallel_write);
    }
}
