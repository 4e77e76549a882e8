/* SPDX-License-Identifier: MIT
 *
 * Prints the output of CPUID on this x86 processor, in the format of `cpuid -1 -r`, and which
 * registers the operating system saves (XCR0). The result is the file "cpuid" of a recorded
 * machine. machine.py compiles this program. */
#include <cpuid.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

struct registers {
    uint32_t eax, ebx, ecx, edx;
};

static struct registers print(uint32_t leaf, uint32_t subleaf)
{
    struct registers r;
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
    if ((r.eax | r.ebx | r.ecx | r.edx) == 0)
        return r; /* an absent leaf is all zeros */
    printf("   0x%08" PRIx32 " 0x%02" PRIx32 ": eax=0x%08" PRIx32 " ebx=0x%08" PRIx32
           " ecx=0x%08" PRIx32 " edx=0x%08" PRIx32 "\n",
           leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
    return r;
}

/* Prints a leaf and, if it has any, its valid subleaves. */
static void print_leaf(uint32_t leaf)
{
    enum { SUBLEAVES_MOST = 16 };
    const struct registers first = print(leaf, 0);
    const int is_caches = leaf == 4 || leaf == 0x8000001d;
    uint32_t last = 0;
    if (leaf == 7 || leaf == 0x14 || leaf == 0x17 || leaf == 0x18 || leaf == 0x1d || leaf == 0x1e ||
        leaf == 0x24)
        last = first.eax;
    else if (leaf == 0xd || leaf == 0xb || leaf == 0x1f)
        last = 1;
    for (uint32_t i = 1; is_caches && i < SUBLEAVES_MOST; i++) {
        if ((print(leaf, i).eax & 31) == 0)
            break;
    }
    for (uint32_t i = 1; i <= last && i < SUBLEAVES_MOST; i++)
        print(leaf, i);
}

int main(void)
{
    static const uint32_t bases[] = {0, 0x40000000, 0x80000000};
    enum { LEAVES_MOST = 64 };
    struct registers r;
    puts("CPU 0:");
    for (int i = 0; i < 3; i++) {
        __cpuid_count(bases[i], 0, r.eax, r.ebx, r.ecx, r.edx);
        if (r.eax < bases[i] || r.eax - bases[i] > LEAVES_MOST)
            continue;
        for (uint32_t leaf = bases[i], last = r.eax; leaf <= last; leaf++) {
            if (leaf != 3) /* leaf 3: the serial number of old processors */
                print_leaf(leaf);
        }
    }
    __cpuid_count(1, 0, r.eax, r.ebx, r.ecx, r.edx);
    if ((r.ecx >> 27 & 1) != 0) {
        uint32_t low, high;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        printf("   xcr0=0x%016" PRIx64 "\n", (uint64_t)high << 32 | low);
    }
    return 0;
}
