# a folder that is not there, one with nothing in it, a file, and pipes and folders in place of files
dtinfo devices --sysroot none
mkdir empty; dtinfo devices --sysroot empty
: > file; dtinfo devices --sysroot file
mkdir -p odd/proc/cpuinfo odd/sys/devices/system; mkfifo odd/cpuid; ln -s /proc/cpuinfo odd/link
dtinfo devices --sysroot odd
mkdir -p link/proc; ln -s /proc/cpuinfo link/proc/cpuinfo
dtinfo devices --sysroot link --json 2> /dev/null
