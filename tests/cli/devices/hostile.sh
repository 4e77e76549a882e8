# what somebody sent: escapes for the terminal, numbers that make no sense, garbage, files that never end
mkdir -p m/proc m/sys/devices/system/cpu/cpu0/topology m/sys/devices/system/cpu/cpu0/cache/index0
mkdir -p m/sys/devices/system/node/node5
printf 'processor : 0\nvendor_id : \033[2J\nmodel name : evil\033]0;title\007 \342\200\256cpu\ncpu family : 99999999999999999999\nmodel : -3\nflags : lm avx2 avx512_bf16\n' > m/proc/cpuinfo
printf 'MemTotal: 18446744073709551615 kB\nMemAvailable: 12 MB\n' > m/proc/meminfo
echo 0-99999999 > m/sys/devices/system/cpu/online
mkfifo m/sys/devices/system/cpu/cpu0/topology/core_cpus_list
echo 0,5 > m/sys/devices/system/node/online
echo 'Node 5 MemTotal: 7 kB' > m/sys/devices/system/node/node5/meminfo
printf '\033[31m0-3\033[0m' > m/sys/devices/system/node/node5/cpulist
dtinfo devices --sysroot m -v
dtinfo devices --sysroot m --json
# the list of CPUs is valid now, but the contents of their folders are not
echo 0,0-1,1 > m/sys/devices/system/cpu/online
echo 0 > m/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list
echo 1 > m/sys/devices/system/cpu/cpu0/cache/index0/level
echo Data > m/sys/devices/system/cpu/cpu0/cache/index0/type
echo 99999999999999999999G > m/sys/devices/system/cpu/cpu0/cache/index0/size
dtinfo devices --sysroot m -v
# 10 MiB without a line end, and an invalid CPUID dump
awk 'BEGIN { for (i = 0; i < 655360; i++) printf "flags : lm avx2 " }' > m/proc/cpuinfo
printf 'CPU 0:\n   0x00000007 0x00: eax=0x1 ebx=zzz\n   xcr0=0x123456789abcdef01\n   0x0 0x0: eax=0x7fffffffffffffff ebx=0x0 ecx=0x0 edx=0x0\n' > m/cpuid
dtinfo devices --sysroot m
printf '   0x00000000 0x00: eax=0xffffffff ebx=0x1b5b331b ecx=0x41414141 edx=0x6d31335b\n   0x80000000 0x00: eax=0xffffffff ebx=0 ecx=0x0 edx=0x0\n   0x00000001 0x00: eax=0xffffffff ebx=0xffffffff ecx=0xffffffff edx=0xffffffff\n   0x00000007 0x00: eax=0xffffffff ebx=0xffffffff ecx=0xffffffff edx=0xffffffff\n' > m/cpuid
dtinfo devices --sysroot m -v
