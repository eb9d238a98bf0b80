/* Slows the system calls of the workers of oscope, and nothing else, by a long seccomp filter. It is loaded by
 * LD_PRELOAD, and works while the file exists that SLOW_WHILE names: a filter stays for the life of its process. */

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* In a filter: at most 4094, and in all of them at most 32768: the kernel takes no more. */
#ifndef COMPARISONS
#define COMPARISONS 1600
#endif
#ifndef FILTERS
#define FILTERS 1
#endif

__attribute__((constructor)) static void slow(int count, char **arguments)
{
    const char *file = getenv("SLOW_WHILE");
    if (count < 2 || strcmp(arguments[1], "worker") != 0 || file == NULL || access(file, F_OK) != 0)
        return;
    static struct sock_filter filter[COMPARISONS + 2];
    /* The kernel remembers which calls a filter allows whatever their arguments, and skips it for them. */
    filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
    for (int number = 0; number < COMPARISONS; number++)
        filter[1 + number] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x7BCD0000 + number, 0, 0);
    filter[COMPARISONS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {COMPARISONS + 2, filter};
    int failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (int number = 0; number < FILTERS; number++)
        failed |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    if (failed != 0) {
        perror("no filter");
        _exit(1);
    }
}
