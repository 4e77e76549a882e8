/* SPDX-License-Identifier: MIT
 *
 * Compares quantization plans with dti_quant_reference(): same codes, scales, numbers and reports,
 * for every scheme, shape, axis, tail, order, number dtype and team. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "convert/quant_plan.h"

#include <sys/mman.h>
#include <unistd.h>

#include "quant_arrays.h"
#include "quant_reference.h"
#include "tally.h"

static struct dti_team *team;

static enum dti_level highest_level(void)
{
    enum dti_level level = DTI_LEVEL_SCALAR;
    CHECK(dti_level_choose(NULL, &level, NULL) == DTI_OK);
    return level;
}

/* Runs both passes piece by piece, last piece first; each piece is a whole grain. */
static bool pieces_agree(const struct dti_quant_plan *plan, const struct guarded *numbers,
                         const struct made *want)
{
    const struct dti_quant_request *const r = dti_quant_plan_request(plan);
    struct made got = made_new(plan, 3);
    struct dti_quant_sizes sizes;
    struct dti_quant_ranges *ranges = NULL;
    struct dti_quant_scales *known = NULL;
    dti_quant_plan_sizes(plan, &sizes);
    const uint64_t pieces = sizes.elements / sizes.grain + (sizes.elements % sizes.grain != 0);
    const unsigned bits = dti_format_stored_bits(&r->number, &r->layout);
    unsigned char *const scratch = malloc(dti_quant_plan_scratch(plan));
    const bool needs = dti_quant_plan_needs_range(plan);
    bool ok = CHECK(scratch != NULL);
    if (needs)
        ok = ok && CHECK(dti_quant_ranges_new(&ranges, plan, NULL) == DTI_OK);
    for (uint64_t p = pieces; ok && needs && p-- > 0;) {
        const uint64_t first = p * sizes.grain, rest = sizes.elements - first;
        dti_quant_range(plan, ranges, first, numbers->at + first * bits / 8,
                        (size_t)(rest < sizes.grain ? rest : sizes.grain));
    }
    ok = ok && CHECK(dti_quant_scales_new(&known, plan, ranges, NULL) == DTI_OK);
    for (uint64_t p = pieces; ok && p-- > 0;) {
        const uint64_t first = p * sizes.grain, rest = sizes.elements - first;
        const unsigned char *const from = numbers->at + first * bits / 8;
        unsigned char *const codes = got.codes.at + p * sizes.grain_code_bytes;
        const size_t scale = sizes.scales > 0 ? (size_t)(sizes.scale_bytes / sizes.scales) : 0;
        dti_quant_run(plan, known, first, from, (size_t)(rest < sizes.grain ? rest : sizes.grain),
                      codes, got.scales.at + p * sizes.grain_scales * scale,
                      got.zero_points + p * sizes.grain_scales, DTI_STORES_STREAMED, &got.report,
                      scratch);
    }
    ok = ok && CHECK(memcmp(got.codes.at, want->codes.at, got.codes.bytes) == 0) &&
         CHECK(same_report(&got.report, &want->report)) && CHECK(guarded_is_whole(&got.codes));
    dti_quant_scales_free(known);
    dti_quant_ranges_free(ranges);
    free(scratch);
    made_free(&got);
    return ok;
}

static bool back_agrees(const struct dti_quant_plan *plan, const struct made *made,
                        uint64_t elements)
{
    const struct dti_quant_request *const r = dti_quant_plan_request(plan);
    uint64_t bytes = 0;
    CHECK(dti_format_bytes(&r->number, &r->layout, elements, &bytes));
    struct guarded want = guarded_new(bytes, 0), got = guarded_new(bytes, 1);
    memset(want.at, 0, want.bytes);
    dti_quant_reference_back(plan, &made->array, want.at);
    bool ok = CHECK(dti_quant_array_back(plan, team, &made->array, got.at, DTI_STORES_CACHED,
                                         NULL) == DTI_OK) &&
              CHECK(memcmp(got.at, want.at, want.bytes) == 0) && CHECK(guarded_is_whole(&got));
    if (ok) {
        memset(got.at, GUARD, got.bytes);
        ok = CHECK(dti_quant_array_back(plan, NULL, &made->array, got.at, DTI_STORES_STREAMED,
                                        NULL) == DTI_OK) &&
             CHECK(memcmp(got.at, want.at, want.bytes) == 0);
    }
    guarded_free(&want);
    guarded_free(&got);
    return ok;
}

static bool agrees(const struct dti_quant_request *request, enum kind kind, enum dti_level level)
{
    struct dti_quant_plan *plan = NULL, *like = NULL;
    struct dti_quant_sizes sizes;
    if (!plan_new(&plan, &like, request, level)) {
        dti_quant_plan_free(like);
        return false;
    }
    dti_quant_plan_sizes(plan, &sizes);
    struct guarded numbers =
        numbers_new(request, sizes.elements, request->number.width < 32 ? 1 : 4, kind);
    struct made want = made_new(plan, 0), got = made_new(plan, 1), bare = made_new(plan, 2);
    dti_quant_reference(plan, numbers.at, &want.array, &want.report);
    bool ok = CHECK(dti_quant_array(plan, team, numbers.at, &got.array, DTI_STORES_CACHED,
                                    &got.report, NULL) == DTI_OK) &&
              same_made(plan, &got, &want) && CHECK(same_report(&got.report, &want.report)) &&
              CHECK(dti_quant_array(plan, below(2) == 0 ? team : NULL, numbers.at, &bare.array,
                                    DTI_STORES_STREAMED, NULL, NULL) == DTI_OK) &&
              same_made(plan, &bare, &want) && pieces_agree(plan, &numbers, &want);
    if (ok && dti_format_is_float(&request->number))
        ok = back_agrees(plan, &want, sizes.elements);
    made_free(&want);
    made_free(&got);
    made_free(&bare);
    guarded_free(&numbers);
    dti_quant_plan_free(plan);
    dti_quant_plan_free(like);
    return ok;
}

static struct dti_quant_request request_of(const struct dti_block_format *block)
{
    struct dti_quant_request r = {.number = *dti_format_get(DTI_FP32),
                                  .layout = {.packing = DTI_PACKING_LOW},
                                  .scheme = {.block = block}};
    r.scheme.blocks.mx = (enum dti_mx_scale)below(5);
    r.scheme.blocks.nv = (enum dti_nv_scale)below(3);
    r.scheme.blocks.division = (enum dti_quant_division)below(3);
    r.scheme.tensor_scale = below(2) == 0;
    r.order = below(3) == 0 ? DTI_BLOCK_BYTES : (enum dti_block_order)below(2);
    r.pad = below(2) == 0;
    return r;
}

static void random_shape(struct dti_quant_request *r, uint64_t group)
{
    const uint64_t elements = 1 + below(below(8) == 0 ? 30000 : 600);
    r->inner = below(2) == 0 ? 1 : 1 + below(below(4) == 0 ? 200 : 12);
    r->length = 1 + below(below(2) == 0 ? 4 * group : 10);
    if (below(3) == 0)
        r->length = group * (1 + below(3));
    if (below(8) == 0)
        r->length = 1 + below(5000);
    r->outer = elements / (r->inner * r->length);
    r->outer = below(4) == 0 ? 1 : r->outer > 0 ? r->outer : below(2);
}

static void random_numbers(struct dti_quant_request *r)
{
    static const enum dti_dtype others[] = {DTI_FP64, DTI_BF16,       DTI_FP16,     DTI_INT64,
                                            DTI_INT8, DTI_FP8_E4M3FN, DTI_FP4_E2M1, DTI_UINT4};
    if (below(2) == 0)
        return;
    r->number = *dti_format_get(others[below(sizeof others / sizeof others[0])]);
    r->layout.swapped = below(4) == 0;
    r->layout.packing = (enum dti_packing)below(3);
}

static void report_case(const struct dti_quant_request *r, const char *name, enum kind kind)
{
    printf("  %s, %" PRIu64 " x %" PRIu64 " x %" PRIu64
           ", group %u, per %d, pad %d, order %d, of %s, swapped %d, packing %d, numbers %d, "
           "division %d %d\n",
           name, r->outer, r->length, r->inner, r->scheme.group, (int)r->scheme.per, r->pad,
           (int)r->order, r->number.name, r->layout.swapped, (int)r->layout.packing, (int)kind,
           (int)r->scheme.blocks.division, (int)r->scheme.affine.affine.division);
}

static unsigned rounds(void)
{
    return getenv("DTINFO_TEST_LONG") ? 600 : (unit_quick() ? 3 : 12) / unit_each(3);
}

static void blocks_agree_with_the_reference(void)
{
    const enum dti_level level = highest_level();
    bool ok = true;
    for (unsigned round = 0; ok && round < rounds(); round++)
        for (size_t b = 0; ok && b < dti_block_format_count; b++) {
            struct dti_quant_request r = request_of(&dti_block_formats[b]);
            const enum kind kind = (enum kind)below(KINDS);
            random_shape(&r, dti_block_formats[b].length);
            random_numbers(&r);
            ok = agrees(&r, kind, round % 4 == 0 ? DTI_LEVEL_SCALAR : level);
            if (!ok)
                report_case(&r, dti_block_formats[b].name, kind);
        }
}

static const enum dti_dtype affine_codes[] = {
    DTI_INT2,  DTI_INT4,   DTI_INT8,     DTI_INT16,      DTI_UINT2,    DTI_UINT4,
    DTI_UINT8, DTI_UINT16, DTI_FP8_E5M2, DTI_FP8_E4M3FN, DTI_FP6_E3M2, DTI_FP4_E2M1};

static struct dti_quant_request affine_request(enum dti_dtype code)
{
    struct dti_quant_request r = request_of(NULL);
    struct dti_affine_recipe *const recipe = &r.scheme.affine;
    CHECK(dti_affine_recipe_init(recipe, dti_format_get(code), (enum dti_quant_symmetry)below(3)));
    recipe->zero = (enum dti_quant_zero)below(2);
    recipe->affine.division = (enum dti_quant_division)below(3);
    recipe->affine.specials = (enum dti_quant_specials)below(3);
    r.scheme.per = (enum dti_quant_per)below(3);
    r.scheme.group = 1 + (uint32_t)below(below(6) == 0 ? 3000 : 40);
    r.scheme.fixed = below(5) == 0;
    r.scheme.scale.scale = UINT32_C(0x3dcccccd);
    r.scheme.scale.zero_point = recipe->affine.low;
    if (dti_format_is_float(&recipe->affine.code))
        r.scheme.scale.zero_point = 0;
    return r;
}

static void affine_codes_agree_with_the_reference(void)
{
    const enum dti_level level = highest_level();
    bool ok = true;
    for (unsigned round = 0; ok && round < rounds(); round++)
        for (size_t c = 0; ok && c < sizeof affine_codes / sizeof affine_codes[0]; c++) {
            struct dti_quant_request r = affine_request(affine_codes[c]);
            const enum kind kind = (enum kind)below(KINDS);
            random_shape(&r, r.scheme.group);
            random_numbers(&r);
            ok = agrees(&r, kind, round % 4 == 0 ? DTI_LEVEL_SCALAR : level);
            if (!ok)
                report_case(&r, r.scheme.affine.affine.code.name, kind);
        }
}

/* Several parts for several threads, and losses over more than one tile. */
static void large_arrays_agree_with_the_reference(void)
{
    const enum dti_level level = highest_level();
    struct dti_quant_request r = affine_request(DTI_INT4);
    r.outer = 3;
    r.length = 77;
    r.inner = 431;
    r.order = DTI_BLOCK_LOW;
    r.scheme.fixed = false;
    r.scheme.per = DTI_PER_CHANNEL;
    CHECK(agrees(&r, ORDINARY, level));
    r.outer = 1; /* channel by channel, several at a time; with inner 431 they end inside bytes */
    CHECK(agrees(&r, ORDINARY, level));
    r.inner = 434;
    CHECK(agrees(&r, ORDINARY, level));
    r.inner = 20000;
    CHECK(agrees(&r, ORDINARY, level));
    r.outer = 3;
    r.inner = 431;
    r.scheme.per = DTI_PER_GROUP;
    r.scheme.group = 32;
    CHECK(agrees(&r, ORDINARY, level));
    r.outer = 1; /* several parts per row, ending inside bytes */
    r.length = 10;
    r.inner = 4099;
    r.scheme.group = 4;
    CHECK(agrees(&r, ORDINARY, level));
    r.pad = !r.pad;
    r.order = DTI_BLOCK_HIGH;
    CHECK(agrees(&r, ORDINARY, level));
    r = affine_request(DTI_INT8);
    r.scheme.per = DTI_PER_TENSOR;
    r.outer = 1;
    r.length = 100000;
    r.inner = 1;
    CHECK(agrees(&r, SPECIALS, level));
    r = request_of(&dti_block_formats[DTI_BLOCK_MXFP4]);
    r.outer = 50;
    r.length = 2000;
    r.inner = 1;
    CHECK(agrees(&r, ORDINARY, level));
    r.order = DTI_BLOCK_HIGH;
    r.outer = 1;
    r.length = 65;
    r.inner = 1999;
    CHECK(agrees(&r, ORDINARY, level));
}

static struct dti_quant_sizes sizes_of(const struct dti_quant_request *r)
{
    struct dti_quant_plan *plan = NULL;
    struct dti_quant_sizes sizes = {.elements = 0};
    if (CHECK(dti_quant_plan_new(&plan, r, DTI_LEVEL_SCALAR, NULL) == DTI_OK))
        dti_quant_plan_sizes(plan, &sizes);
    dti_quant_plan_free(plan);
    return sizes;
}

static void sizes_follow_from_the_shape(void)
{
    struct dti_quant_request r = {.number = *dti_format_get(DTI_FP32)};
    r.scheme.block = &dti_block_formats[DTI_BLOCK_MXFP4];
    r.outer = 3;
    r.length = 100; /* three blocks of 32 and one of 4 */
    r.inner = 1;
    struct dti_quant_sizes s = sizes_of(&r);
    CHECK_U64(s.elements, 300);
    CHECK_U64(s.codes, 300);
    CHECK_U64(s.code_bytes, 150);
    CHECK_U64(s.groups, 4);
    CHECK_U64(s.scales, 12);
    CHECK_U64(s.scale_bytes, 12);
    r.length = 33; /* a single element takes a byte */
    CHECK_U64(sizes_of(&r).code_bytes, UINT64_C(3) * 17);
    r.inner = 2; /* across rows, codes are adjacent */
    CHECK_U64(sizes_of(&r).code_bytes, 99);
    CHECK_U64(sizes_of(&r).scales, UINT64_C(3) * 2 * 2);
    r.pad = true;
    s = sizes_of(&r);
    CHECK_U64(s.codes, UINT64_C(3) * 64 * 2);
    CHECK_U64(s.code_bytes, UINT64_C(3) * 64);
    r.order = DTI_BLOCK_BYTES;
    CHECK_U64(sizes_of(&r).code_bytes, UINT64_C(3) * 64 * 2);

    r = (struct dti_quant_request){
        .number = *dti_format_get(DTI_BF16), .outer = 4096, .length = 4096, .inner = 1};
    r.scheme.block = &dti_block_formats[DTI_BLOCK_NVFP4];
    s = sizes_of(&r);
    CHECK_U64(s.grain, DTI_TILE);
    CHECK_U64(s.grain_code_bytes, DTI_TILE / 2);
    CHECK_U64(s.grain_scales, DTI_TILE / 16);
    r.length = 4097; /* pieces are whole rows: eight rows fill whole bytes on both sides */
    s = sizes_of(&r);
    CHECK_U64(s.grain, UINT64_C(8) * 4097);
    CHECK_U64(s.grain_code_bytes, UINT64_C(8) * 2049);
    CHECK_U64(s.grain_scales, UINT64_C(8) * 257);

    r.scheme.block = NULL;
    CHECK(dti_affine_recipe_init(&r.scheme.affine, dti_format_get(DTI_INT4), DTI_SYMMETRY_FULL));
    s = sizes_of(&r);
    CHECK_U64(s.scales, 1);
    CHECK_U64(s.grain, DTI_TILE);
    r.scheme.per = DTI_PER_CHANNEL;
    CHECK_U64(sizes_of(&r).scales, 4097);
    CHECK_U64(sizes_of(&r).scale_bytes, UINT64_C(4) * 4097);
    r.outer = 0;
    CHECK_U64(sizes_of(&r).elements, 0);
    CHECK_U64(sizes_of(&r).code_bytes, 0);
}

static void empty_arrays_are_fine(void)
{
    for (unsigned i = 0; i < 12; i++) {
        struct dti_quant_request r = affine_request(DTI_INT4);
        if (i % 4 == 3)
            r = request_of(&dti_block_formats[DTI_BLOCK_NVFP4]);
        r.scheme.per = (enum dti_quant_per)(i % 3);
        r.outer = i / 4 != 0;
        r.length = i / 4 != 1 ? 5 : 0;
        r.inner = i / 4 != 2;
        CHECK(agrees(&r, ORDINARY, DTI_LEVEL_SCALAR));
    }
}

/* Rows of three codes of 4 bits, each with scales of its own: the second row starts within a byte.
 * The codes end at an inaccessible page. */
static void codes_are_read_to_their_end_alone(void)
{
    enum { ROWS = 2, COLUMNS = 3, COUNT = ROWS * COLUMNS };
    static const float scales[COUNT] = {1, 10, 100, 1000, 10000, 100000};
    static const float expected[COUNT] = {1, 20, 300, 4000, 50000, 600000};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct dti_quant_request r = {
        .number = *dti_format_get(DTI_FP32), .outer = 1, .length = ROWS, .inner = COLUMNS};
    struct dti_quant_plan *plan = NULL;
    unsigned char *const pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(pages != MAP_FAILED) || !CHECK(mprotect(pages + page, page, PROT_NONE) == 0))
        return;
    CHECK(dti_affine_recipe_init(&r.scheme.affine, dti_format_get(DTI_INT4), DTI_SYMMETRY_FULL));
    r.scheme.per = DTI_PER_GROUP;
    r.scheme.group = 1;
    for (unsigned high = 0; high < 2; high++) {
        static const unsigned char packed[2][COUNT / 2] = {{0x21, 0x43, 0x65}, {0x12, 0x34, 0x56}};
        unsigned char *const codes = pages + page - sizeof packed[high];
        float numbers[COUNT];
        r.order = high ? DTI_BLOCK_HIGH : DTI_BLOCK_LOW;
        if (!CHECK(dti_quant_plan_new(&plan, &r, highest_level(), NULL) == DTI_OK))
            break;
        void *const scratch = malloc(dti_quant_plan_scratch(plan));
        memcpy(codes, packed[high], sizeof packed[high]);
        if (CHECK(scratch != NULL)) {
            dti_quant_back(plan, NULL, 0, numbers, COUNT, codes, scales, NULL, DTI_STORES_CACHED,
                           scratch);
            for (unsigned i = 0; i < COUNT; i++)
                CHECK(numbers[i] == expected[i]);
        }
        free(scratch);
        dti_quant_plan_free(plan);
    }
    (void)munmap(pages, 2 * page);
}

static void what_cannot_be_done_is_refused(void)
{
    struct dti_quant_plan *plan = NULL;
    struct dti_error error;
    struct dti_quant_request r = affine_request(DTI_INT8);
    r.outer = r.inner = 1;
    r.length = UINT64_MAX / 2;
    CHECK(dti_quant_plan_new(&plan, &r, DTI_LEVEL_SCALAR, &error) == DTI_USAGE);
    r.length = 8;
    r.number = *dti_format_get(DTI_COMPLEX64);
    CHECK(dti_quant_plan_new(&plan, &r, DTI_LEVEL_SCALAR, &error) == DTI_WRONG_KIND);
    r.number = *dti_format_get(DTI_FP32);
    r.scheme.affine.affine.code = *dti_format_get(DTI_FP16);
    CHECK(dti_quant_plan_new(&plan, &r, DTI_LEVEL_SCALAR, &error) == DTI_WRONG_KIND);
    r = affine_request(DTI_INT8);
    r.outer = r.length = r.inner = 1;
    r.scheme.per = DTI_PER_GROUP;
    r.scheme.group = 0;
    CHECK(dti_quant_plan_new(&plan, &r, DTI_LEVEL_SCALAR, &error) == DTI_USAGE);
}

static void policies_that_do_not_exist_are_refused(void)
{
    struct dti_quant_plan *plan = NULL;
    struct dti_error error;
    for (int i = 0; i < 10; i++) {
        struct dti_quant_request r = affine_request(DTI_INT8);
        struct dti_affine_recipe *const affine = &r.scheme.affine;
        r.outer = r.length = r.inner = 1;
        r.layout.packing = i == 0 ? (enum dti_packing)9 : r.layout.packing;
        r.order = i == 1 ? (enum dti_block_order)9 : r.order;
        r.scheme.per = i == 2 ? (enum dti_quant_per)9 : DTI_PER_TENSOR;
        r.scheme.blocks.mx = i == 3 ? (enum dti_mx_scale)9 : r.scheme.blocks.mx;
        r.scheme.blocks.nv = i == 4 ? (enum dti_nv_scale)9 : r.scheme.blocks.nv;
        r.scheme.blocks.division = i == 5 ? (enum dti_quant_division)9 : r.scheme.blocks.division;
        affine->affine.division = i == 6 ? (enum dti_quant_division)9 : affine->affine.division;
        affine->affine.specials = i == 7 ? (enum dti_quant_specials)9 : affine->affine.specials;
        affine->symmetry = i == 8 ? (enum dti_quant_symmetry)9 : affine->symmetry;
        affine->zero = i == 9 ? (enum dti_quant_zero)9 : affine->zero;
        if (!CHECK(dti_quant_plan_new(&plan, &r, DTI_LEVEL_SCALAR, &error) == DTI_USAGE))
            printf("  policy %d\n", i);
        else
            CHECK_STR(error.text, "a quantization with a policy that does not exist");
    }
}

static void *allocate_failing_once(void *context, void *block, size_t size, size_t alignment)
{
    struct tally *const tally = context;
    void *const made = tally_allocate(tally, block, size, alignment);
    if (size > 0 && !made)
        tally->fails_at = 0;
    return made;
}

static void memory_that_runs_out_once_is_no_plan(void)
{
    struct dti_quant_request r = affine_request(DTI_INT4);
    r.outer = r.inner = 1;
    r.length = 64;
    r.scheme.per = DTI_PER_TENSOR;
    r.number = *dti_format_get(DTI_BF16);
    struct tally tally = {0};
    struct dti_caller caller = {.allocate = allocate_failing_once, .allocate_context = &tally};
    struct dti_quant_plan *plan = NULL;
    struct dti_error error;
    struct dti_call call;
    dti_call_begin(&call, &caller);
    bool failed = true;
    size_t at = 0;
    while (failed && at < 1000) {
        tally.calls = 0;
        tally.fails_at = ++at;
        const enum dti_status status = dti_quant_plan_new(&plan, &r, DTI_LEVEL_SCALAR, &error);
        failed = tally.fails_at == 0;
        if (status == DTI_OK)
            dti_quant_plan_free(plan);
        if (!CHECK(status == (failed ? DTI_NO_MEMORY : DTI_OK)))
            printf("  allocation %zu\n", at);
    }
    CHECK(at > 3 && at < 1000);
    dti_call_end(&call);
    CHECK(tally_is_even(&caller, &tally));
}

static void plans_tell_their_kernels(void)
{
    struct dti_quant_request r = affine_request(DTI_INT4);
    struct dti_quant_plan *plan = NULL;
    char text[DTI_PLAN_TEXT_SIZE];
    r.outer = r.inner = 1;
    r.length = 4096;
    r.scheme.per = DTI_PER_TENSOR;
    r.scheme.fixed = false;
    r.order = DTI_BLOCK_LOW;
    r.number = *dti_format_get(DTI_BF16);
    if (!CHECK(dti_quant_plan_new(&plan, &r, DTI_LEVEL_SCALAR, NULL) == DTI_OK))
        return;
    CHECK_STR(dti_quant_plan_describe(plan, false, text),
              "decode_f32_scalar + range_scalar + quantize_affine_scalar + pack_scalar");
    CHECK_STR(dti_quant_plan_describe(plan, true, text),
              "unpack_scalar + dequantize_affine_scalar + encode_f32_scalar");
    dti_quant_plan_free(plan);
}

static void start(void)
{
    CHECK(dti_team_new(&team, 3, DTI_WAIT_SLEEP, false, NULL) == DTI_OK);
}

static void finish(void)
{
    dti_team_free(team);
}

UNIT_MAIN(start, blocks_agree_with_the_reference, affine_codes_agree_with_the_reference,
          large_arrays_agree_with_the_reference, sizes_follow_from_the_shape, empty_arrays_are_fine,
          codes_are_read_to_their_end_alone, what_cannot_be_done_is_refused,
          policies_that_do_not_exist_are_refused, memory_that_runs_out_once_is_no_plan,
          plans_tell_their_kernels, finish)
