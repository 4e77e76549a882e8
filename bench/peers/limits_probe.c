/* SPDX-License-Identifier: MIT
 *
 * Measures what this machine's memory can do, without any dtinfo code: copies of as many bytes as a
 * cast moves, and loops that read and write as the cast does, with ordinary and with non-temporal
 * stores, with prefetch, and with four pages interleaved. Compiled for the machine that runs it
 * (-march=native).
 *
 *     limits_probe IN OUT SRC_BYTES THREADS MILLISECONDS
 *
 * IN and OUT: bytes per element. Prints a line per method: copy or shape, its name, the median and
 * the best rate in gigabytes read and written per second. The methods are interleaved. */
#define _GNU_SOURCE /* MADV_HUGEPAGE, CPU_SET() */
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define INLINE static inline __attribute__((always_inline))
enum {
    PAGE = 4096,
    LINE = 64,
    THREADS_MAX = 256,
    SAMPLES_MAX = 1000,
    SAMPLE_NS = 3000000,
    TRIES = 4
};
#define HUGE_PAGE ((size_t)2 << 20)

#ifdef __AVX512F__
typedef __m512i vector;
#define LOAD(from)      _mm512_loadu_si512((const void *)(from))
#define OR(a, b)        _mm512_or_si512(a, b)
#define STORE(to, v)    _mm512_storeu_si512((void *)(to), v)
#define STORE_NT(to, v) _mm512_stream_si512((void *)(to), v)
#else
typedef __m256i vector;
#define LOAD(from)      _mm256_loadu_si256((const void *)(from))
#define OR(a, b)        _mm256_or_si256(a, b)
#define STORE(to, v)    _mm256_storeu_si256((void *)(to), v)
#define STORE_NT(to, v) _mm256_stream_si256((void *)(to), v)
#endif
enum { UNIT = sizeof(vector) }; /* elements */

INLINE void put(unsigned char *to, vector v, int stream)
{
    if (stream)
        STORE_NT(to, v);
    else
        STORE(to, v);
}

/* Moves UNIT elements: reads UNIT * in bytes and writes UNIT * out bytes of no meaning. */
INLINE void move(unsigned char *to, const unsigned char *from, int in, int out, int stream)
{
    const int loads = in > out ? in / out : 1, stores = in > out ? 1 : out / in;
    for (int part = 0; part < (in > out ? out : in); part++) {
        vector all = LOAD(from + part * loads * UNIT);
        for (int i = 1; i < loads; i++)
            all = OR(all, LOAD(from + (part * loads + i) * UNIT));
        for (int i = 0; i < stores; i++)
            put(to + (part * stores + i) * UNIT, all, stream);
    }
}

/* n: elements, a multiple of four pages of them. ahead: prefetch distance in bytes, 0 for none.
 * streams: how many places are interleaved; apart: source bytes from one to the next, fewer at the
 * end. */
INLINE void run(unsigned char *to, const unsigned char *from, size_t n, int in, int out, int stream,
                size_t ahead, size_t streams, size_t apart)
{
    const size_t step = (size_t)UNIT;
    for (size_t group = 0, span; group < n; group += streams * span) {
        const size_t share = (n - group) / streams / step * step;
        if (share == 0)
            streams = 1;
        span = share == 0 ? n - group : share;
        if (streams > 1 && share > apart / (size_t)in)
            span = apart / (size_t)in;
        for (size_t unit = group; unit < group + span; unit += step) {
            for (size_t lane = 0; lane < streams; lane++) {
                const size_t at = unit + lane * span;
                for (size_t line = 0; ahead > 0 && line < step * (size_t)in; line += LINE)
                    __builtin_prefetch(
                        (const void *)((uintptr_t)from + at * (size_t)in + ahead + line));
                move(to + at * (size_t)out, from + at * (size_t)in, in, out, stream);
            }
        }
    }
    if (stream)
        _mm_sfence();
}

typedef void method_fn(unsigned char *to, const unsigned char *from, size_t n);

#define METHOD(name, in, out, stream, ahead, streams, apart)                                \
    static void name##_##in##_##out(unsigned char *to, const unsigned char *from, size_t n) \
    {                                                                                       \
        run(to, from, n, in, out, stream, ahead, streams, apart);                           \
    }
#define METHODS(in, out)                             \
    METHOD(cached, in, out, 0, 0, 1, PAGE)           \
    METHOD(nt, in, out, 1, 0, 1, PAGE)               \
    METHOD(nt_2k, in, out, 1, 2048, 1, PAGE)         \
    METHOD(nt_8k, in, out, 1, 8192, 1, PAGE)         \
    METHOD(nt_pages, in, out, 1, 2048, 4, PAGE)      \
    METHOD(nt_pages_far, in, out, 1, 16384, 4, PAGE) \
    METHOD(nt_spread, in, out, 1, 0, 6, 2 << 20)     \
    METHOD(nt_staggered, in, out, 1, 0, 6, (2 << 20) + 2560)
METHODS(1, 1)
METHODS(8, 4)
METHODS(4, 2)
METHODS(4, 1)
METHODS(2, 4)
METHODS(1, 4)

static void libc_copy(unsigned char *to, const unsigned char *from, size_t n)
{
    memcpy(to, from, n);
}

static void string_move(unsigned char *to, const unsigned char *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static const struct method {
    const char *name;
    method_fn *run;
    int in, out;
} methods[] = {{"memcpy", libc_copy, 1, 1},
               {"rep movsb", string_move, 1, 1},
#define ROWS(in, out)                                                                       \
    {"cached", cached_##in##_##out, in, out}, {"nt", nt_##in##_##out, in, out},             \
        {"nt+2KiB", nt_2k_##in##_##out, in, out}, {"nt+8KiB", nt_8k_##in##_##out, in, out}, \
        {"nt 4 pages+2KiB", nt_pages_##in##_##out, in, out},                                \
        {"nt 4 pages+16KiB", nt_pages_far_##in##_##out, in, out},                           \
        {"nt 6 apart", nt_spread_##in##_##out, in, out},                                    \
        {"nt 6 staggered", nt_staggered_##in##_##out, in, out},
               ROWS(1, 1) ROWS(8, 4) ROWS(4, 2) ROWS(4, 1) ROWS(2, 4) ROWS(1, 4)};
enum { METHOD_COUNT = sizeof methods / sizeof *methods };

/* The threads spin on a counter: waking them would take longer than a small pass. */
static struct {
    unsigned char *src, *dst;
    size_t n, threads;
    const struct method *method;
    atomic_size_t begun, done;
} work;

static void pass_share(size_t member)
{
    const struct method *const method = work.method;
    const size_t grain = 4 * PAGE, share = work.n / work.threads / grain * grain;
    const size_t first = share * member;
    const size_t count = member + 1 == work.threads ? work.n - first : share;
    method->run(work.dst + first * (size_t)method->out, work.src + first * (size_t)method->in,
                count);
}

/* Pins the calling thread to the CPU with index `member` among those this process may use. */
static void pin(size_t member)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && member-- == 0) {
            CPU_SET(cpu, &one);
            (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
            return;
        }
    }
}

static void *help(void *member_)
{
    const size_t member = (size_t)(uintptr_t)member_;
    pin(member - 1);
    for (size_t seen = 0;; seen++) {
        while (atomic_load(&work.begun) == seen)
            _mm_pause();
        pass_share(member);
        atomic_fetch_add(&work.done, 1);
    }
    return NULL;
}

static void pass(void)
{
    atomic_store(&work.done, 0);
    atomic_fetch_add(&work.begun, 1);
    pass_share(0);
    while (atomic_load(&work.done) + 1 < work.threads)
        _mm_pause();
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static unsigned char *memory_of(size_t bytes)
{
    unsigned char *const memory = aligned_alloc(HUGE_PAGE, (bytes / HUGE_PAGE + 2) * HUGE_PAGE);
    if (!memory) {
        perror("limits_probe");
        exit(EXIT_FAILURE);
    }
    (void)madvise(memory, (bytes / HUGE_PAGE + 2) * HUGE_PAGE, MADV_HUGEPAGE);
    memset(memory, 0x5A, bytes + HUGE_PAGE);
    return memory;
}

static long preemptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static int by_value(const void *a_, const void *b_)
{
    const double *const a = a_, *const b = b_;
    return (*a > *b) - (*a < *b);
}

int main(int argc, char **argv)
{
    static double rates[METHOD_COUNT][SAMPLES_MAX];
    if (argc != 6)
        return EXIT_FAILURE;
    const int in = atoi(argv[1]), out = atoi(argv[2]);
    const size_t src_bytes = strtoull(argv[3], NULL, 10), grain = 4 * PAGE;
    const uint64_t limit = strtoull(argv[5], NULL, 10) * 1000000u;
    work.threads = strtoull(argv[4], NULL, 10);
    if (work.threads == 0 || work.threads > THREADS_MAX || in <= 0 || out <= 0)
        return EXIT_FAILURE;
    const size_t elements = src_bytes / (size_t)in / grain * grain;
    const size_t half = elements * (size_t)(in + out) / 2 / grain * grain;
    work.src = memory_of(elements * (size_t)(in > out ? in : out) + half);
    work.dst = memory_of(elements * (size_t)(in > out ? in : out) + half);
    for (size_t i = 1; i < work.threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, help, (void *)(uintptr_t)i) != 0)
            return EXIT_FAILURE;
    }
    if (work.threads > 1)
        pin(work.threads - 1); /* the helpers are on the CPUs before it */
    const uint64_t start = now();
    size_t rounds = 0;
    /* the first round is a warm-up; at least three more count */
    for (; rounds < SAMPLES_MAX && (rounds < 4 || now() - start < limit); rounds++) {
        for (size_t i = 0; i < METHOD_COUNT; i++) {
            const struct method *const method = &methods[i];
            const int copy = method->in == 1 && method->out == 1;
            if (!copy && (method->in != in || method->out != out))
                continue;
            work.method = method;
            work.n = copy ? half : elements;
            uint64_t passes, taken;
            long before;
            int tries = 0;
            do { /* repeat if the process was preempted */
                before = preemptions();
                const uint64_t begin = now();
                for (passes = 0, taken = 0; taken < SAMPLE_NS; taken = now() - begin, passes++)
                    pass();
            } while (preemptions() != before && ++tries < TRIES);
            rates[i][rounds] =
                (double)passes * (double)work.n * (method->in + method->out) / (double)taken;
        }
    }
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        const struct method *const method = &methods[i];
        const int copy = method->in == 1 && method->out == 1;
        if (!copy && (method->in != in || method->out != out))
            continue;
        qsort(rates[i] + 1, rounds - 1, sizeof rates[i][0], by_value);
        printf("%s\t%s\t%.3f\t%.3f\n", copy ? "copy" : "shape", method->name,
               rates[i][1 + (rounds - 1) / 2], rates[i][rounds - 1]);
    }
    fflush(stdout);
    _Exit(EXIT_SUCCESS); /* the helpers are still spinning */
}
