dtinfo bench copy --size 64KiB --threads 1 --time 0.01 --json |
    jq '.host | .usable_cache_bytes > 0, .usable_cache_bytes <= .last_cache_bytes, (.streaming | test("^nt(_[a-z]+)*$"))'
