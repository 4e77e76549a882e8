/* SPDX-License-Identifier: MIT
 *
 * What /sys reports about CPUs, caches and NUMA nodes. Groups of CPUs (a core, a socket, a
 * cache) are counted by their first member: each CPU adds one for every group in which it is the
 * first. */
#include <stdio.h>
#include <string.h>

#include "devices/machine/machine_parts.h"
#include "util/checked.h"

enum { PATH_SIZE = 160, CACHE_INDEX_MAX = 16, LEVEL_MAX = 9, NODE_NUMBER_MAX = 4096 };

/* The online CPUs, and the current one. */
struct cpu_place {
    const struct dti_root *root;
    const struct dti_cpus *online;
    unsigned cpu;
};

static void path_of(char path[PATH_SIZE], const struct cpu_place *place, const char *rest)
{
    (void)snprintf(path, PATH_SIZE, "sys/devices/system/cpu/cpu%u/%s", place->cpu, rest);
}

/* Whether one of two files (the second is its older name) lists CPUs; *ret_first: this CPU is
 * the first of them. */
static bool group(const struct cpu_place *place, const char *name, const char *old_name,
                  bool *ret_first)
{
    struct dti_cpus cpus;
    char path[PATH_SIZE];
    path_of(path, place, name);
    if (!dti_cpus_read(&cpus, place->root, path)) {
        path_of(path, place, old_name);
        if (!dti_cpus_read(&cpus, place->root, path))
            return false;
    }
    *ret_first = dti_cpus_first(&cpus, place->online) == place->cpu;
    return true;
}

static void count_groups(uint64_t *count, const struct cpu_place *place, const char *name,
                         const char *old_name)
{
    bool first;
    if (*count == DTI_UNKNOWN)
        return;
    if (!group(place, name, old_name, &first))
        *count = DTI_UNKNOWN;
    else
        *count += first;
}

/* "48K", "32M" */
static uint64_t cache_size(const char *text)
{
    uint64_t number;
    if (!dti_text_digits(&text, &number))
        return DTI_UNKNOWN;
    const uint64_t unit = *text == 'K'   ? 1 << 10
                          : *text == 'M' ? 1 << 20
                          : *text == 'G' ? 1 << 30
                                         : 1;
    if (unit > 1)
        text++;
    return *text == '\0' && dti_mul_u64(number, unit, &number) ? number : DTI_UNKNOWN;
}

static void add_cache(struct dti_machine *machine, const struct dti_cache_facts *cache)
{
    for (size_t i = 0; i < machine->cache_count; i++) {
        struct dti_cache_facts *const known = &machine->caches[i];
        if (known->level == cache->level && known->type == cache->type &&
            known->bytes == cache->bytes && known->shared_cpus == cache->shared_cpus) {
            known->count++;
            return;
        }
    }
    if (machine->cache_count == DTI_CACHES_MAX)
        return;
    /* ordered by level, data before instructions */
    size_t at = machine->cache_count++;
    for (; at > 0; at--) {
        const struct dti_cache_facts *const before = &machine->caches[at - 1];
        if (before->level < cache->level ||
            (before->level == cache->level && before->type <= cache->type))
            break;
        machine->caches[at] = *before;
    }
    machine->caches[at] = *cache;
}

/* Returns false if there is no cache with that index. */
static bool look_at_cache(struct dti_machine *machine, const struct cpu_place *place,
                          unsigned index)
{
    char path[PATH_SIZE], name[64], text[32];
    struct dti_cpus cpus;
    (void)snprintf(name, sizeof name, "cache/index%u/shared_cpu_list", index);
    path_of(path, place, name);
    if (!dti_cpus_read(&cpus, place->root, path))
        return false;
    if (dti_cpus_first(&cpus, place->online) != place->cpu)
        return true;
    (void)snprintf(name, sizeof name, "cache/index%u/level", index);
    path_of(path, place, name);
    const uint64_t level = dti_root_number(place->root, path);
    (void)snprintf(name, sizeof name, "cache/index%u/type", index);
    path_of(path, place, name);
    dti_root_line(place->root, path, text, sizeof text);
    const char type = strcmp(text, "Data") == 0          ? 'd'
                      : strcmp(text, "Instruction") == 0 ? 'i'
                      : strcmp(text, "Unified") == 0     ? 'u'
                                                         : '\0';
    if (level == 0 || level > LEVEL_MAX || type == '\0')
        return true;
    struct dti_cache_facts cache = {
        .level = (unsigned)level, .type = type, .count = 1, .shared_cpus = dti_cpus_count(&cpus)};
    (void)snprintf(name, sizeof name, "cache/index%u/size", index);
    path_of(path, place, name);
    dti_root_line(place->root, path, text, sizeof text);
    cache.bytes = cache_size(text);
    (void)snprintf(name, sizeof name, "cache/index%u/coherency_line_size", index);
    path_of(path, place, name);
    cache.line_bytes = dti_root_number(place->root, path);
    add_cache(machine, &cache);
    return true;
}

static uint64_t kilohertz(const struct cpu_place *place, const char *name)
{
    char path[PATH_SIZE];
    path_of(path, place, name);
    uint64_t hertz = dti_root_number(place->root, path);
    if (hertz == 0 || hertz == DTI_UNKNOWN || !dti_mul_u64(hertz, 1000, &hertz))
        return DTI_UNKNOWN;
    return hertz;
}

/* The highest clock of any CPU; takes precedence over CPUID. */
static void clocks(struct dti_machine *machine, const struct cpu_place *place, bool *has_base,
                   bool *has_max)
{
    const uint64_t base = kilohertz(place, "cpufreq/base_frequency");
    const uint64_t most = kilohertz(place, "cpufreq/cpuinfo_max_freq");
    if (base != DTI_UNKNOWN && (!*has_base || base > machine->base_hz)) {
        machine->base_hz = base;
        *has_base = true;
    }
    if (most != DTI_UNKNOWN && (!*has_max || most > machine->max_hz)) {
        machine->max_hz = most;
        *has_max = true;
    }
}

static void cpus(struct dti_machine *machine, const struct dti_root *root,
                 const struct dti_cpus *online)
{
    struct cpu_place place = {.root = root, .online = online};
    bool has_base = false, has_max = false;
    machine->threads = dti_cpus_count(online);
    machine->cores = 0;
    machine->sockets = 0;
    for (; place.cpu < DTI_CPUS_MAX; place.cpu++) {
        if (!dti_cpus_has(online, place.cpu))
            continue;
        count_groups(&machine->cores, &place, "topology/core_cpus_list",
                     "topology/thread_siblings_list");
        count_groups(&machine->sockets, &place, "topology/package_cpus_list",
                     "topology/core_siblings_list");
        for (unsigned index = 0; index < CACHE_INDEX_MAX; index++) {
            if (!look_at_cache(machine, &place, index))
                break;
        }
        clocks(machine, &place, &has_base, &has_max);
        if (machine->governor[0] == '\0') {
            char path[PATH_SIZE];
            path_of(path, &place, "cpufreq/scaling_governor");
            dti_root_line(root, path, machine->governor, sizeof machine->governor);
        }
    }
    if (machine->cores == 0)
        machine->cores = DTI_UNKNOWN;
    if (machine->sockets == 0)
        machine->sockets = DTI_UNKNOWN;
}

/* Intel's hybrid processors have a list for each kind of core. */
static uint64_t kind_of_cpus(const struct dti_root *root, const char *path)
{
    struct dti_cpus list;
    return dti_cpus_read(&list, root, path) ? dti_cpus_count(&list) : DTI_UNKNOWN;
}

static void nodes(struct dti_machine *machine, const struct dti_root *root)
{
    struct dti_cpus online;
    char path[PATH_SIZE];
    if (!dti_cpus_read(&online, root, "sys/devices/system/node/online"))
        return;
    for (unsigned number = 0; number < NODE_NUMBER_MAX; number++) {
        if (!dti_cpus_has(&online, number) || machine->node_count == DTI_NODES_MAX)
            continue;
        struct dti_node_facts *const node = &machine->nodes[machine->node_count++];
        *node = (struct dti_node_facts){
            .number = number, .memory_bytes = DTI_UNKNOWN, .free_bytes = DTI_UNKNOWN};
        (void)snprintf(path, sizeof path, "sys/devices/system/node/node%u/cpulist", number);
        dti_root_line(root, path, node->cpus, sizeof node->cpus);
    }
}

void dti_machine_topology(struct dti_machine *machine, const struct dti_root *root)
{
    struct dti_cpus online;
    if (dti_cpus_read(&online, root, "sys/devices/system/cpu/online"))
        cpus(machine, root, &online);
    machine->performance_cpus = kind_of_cpus(root, "sys/devices/cpu_core/cpus");
    machine->efficiency_cpus = kind_of_cpus(root, "sys/devices/cpu_atom/cpus");
    nodes(machine, root);
}
