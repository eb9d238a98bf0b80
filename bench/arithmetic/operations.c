/* A second way to measure arithmetic: the instructions themselves, by hand.
 *
 * usage: operations NAME KIND
 *
 * NAME: add_u64, multiply_u64, divide_u64, add_f64, multiply_f64, divide_f64, fused_f64, root_f64.
 * KIND: latency (each needs the outcome of the one before) or throughput (eight chains side by side).
 * Prints the median time of one operation over eleven samples of at least 5 ms, in ns. The operands
 * are oscope's: a division is by the outcome of the last.
 *
 * x86-64 only: the point of it is that no compiler has a part in the loop.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLES 11
#define SAMPLE_NS 5e6
#define IN_A_TURN 16

#define FOUR(text) text text text text
#define SIXTEEN(text) FOUR(FOUR(text))
#define EIGHT(DO) DO("8") DO("9") DO("10") DO("11") DO("12") DO("13") DO("14") DO("15")
static const uint64_t dividend = 0xffffffffffffffc5, divisor = 0x10000000f;
static const double start = 1.7, about_one = 1.0000000000000002;

/* Loads every chain's register and the other operand before the loop. */
#define LOAD_INTEGERS                                                                       \
    "mov %[x], %%r8\n mov %[x], %%r9\n mov %[x], %%r10\n mov %[x], %%r11\n"                        \
    "mov %[x], %%r12\n mov %[x], %%r13\n mov %[x], %%r14\n mov %[x], %%r15\n mov %[y], %%rsi\n"
#define MOVE(n) "movsd %[x], %%xmm" n "\n"
#define LOAD_FLOATS EIGHT(MOVE) "movsd %[y], %%xmm1\n"

#define RUN_INTEGERS(turns, body)                                                                  \
    __asm__ volatile(LOAD_INTEGERS "1:\n" body "dec %%rcx\n jnz 1b\n"                            \
                     : "+c"(turns)                                                                 \
                     : [x] "m"(divisor), [y] "m"(dividend)                                         \
                     : "rax", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",  \
                       "cc")
#define RUN_FLOATS(turns, body, other)                                                             \
    __asm__ volatile(LOAD_FLOATS "1:\n" body "dec %%rcx\n jnz 1b\n"                                \
                     : "+c"(turns)                                                                 \
                     : [x] "m"(start), [y] "m"(other)                                              \
                     : "xmm0", "xmm1", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",         \
                       "xmm14", "xmm15", "cc")

#define ADD(n) "add %%rsi, %%r" n "\n"
#define MULTIPLY(n) "imul %%rsi, %%r" n "\n"
#define DIVIDE(n) "mov %%rsi, %%rax\n xor %%edx, %%edx\n div %%r" n "\n mov %%rax, %%r" n "\n"
#define ADD_F(n) "addsd %%xmm1, %%xmm" n "\n"
#define MULTIPLY_F(n) "mulsd %%xmm1, %%xmm" n "\n"
#define DIVIDE_F(n) "vdivsd %%xmm" n ", %%xmm1, %%xmm" n "\n"
#define FUSED_F(n) "vfmadd213sd %%xmm1, %%xmm1, %%xmm" n "\n"
#define ROOT_F(n) "vsqrtsd %%xmm" n ", %%xmm" n ", %%xmm" n "\n"
/* Keeps the roots away from 1, as oscope does. */
#define RENEW_F(n) "mulsd %%xmm1, %%xmm" n "\n"

#define INTEGER(name, DO)                                                                          \
    static void name##_latency(uint64_t turns) { RUN_INTEGERS(turns, SIXTEEN(DO("8"))); }          \
    static void name##_throughput(uint64_t turns) { RUN_INTEGERS(turns, EIGHT(DO) EIGHT(DO)); }
#define FLOAT(name, DO, renew_one, renew_all, other)                                               \
    static void name##_latency(uint64_t turns) {                                                   \
        RUN_FLOATS(turns, SIXTEEN(DO("8")) renew_one, other);                                      \
    }                                                                                              \
    static void name##_throughput(uint64_t turns) {                                                \
        RUN_FLOATS(turns, EIGHT(DO) EIGHT(DO) renew_all, other);                                   \
    }

INTEGER(add_u64, ADD)
INTEGER(multiply_u64, MULTIPLY)
INTEGER(divide_u64, DIVIDE)
FLOAT(add_f64, ADD_F, "", "", about_one)
FLOAT(multiply_f64, MULTIPLY_F, "", "", about_one)
FLOAT(divide_f64, DIVIDE_F, "", "", about_one)
FLOAT(fused_f64, FUSED_F, "", "", about_one)
FLOAT(root_f64, ROOT_F, RENEW_F("8"), EIGHT(RENEW_F), start)

#define ENTRY(name) { #name, name##_latency, name##_throughput }
static const struct {
    const char *name;
    void (*latency)(uint64_t), (*throughput)(uint64_t);
} operations[] = {
    ENTRY(add_u64),      ENTRY(multiply_u64), ENTRY(divide_u64), ENTRY(add_f64),
    ENTRY(multiply_f64), ENTRY(divide_f64),   ENTRY(fused_f64),  ENTRY(root_f64),
};

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    void (*run)(uint64_t) = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof operations / sizeof *operations; i++)
        if (strcmp(argv[1], operations[i].name) == 0)
            run = strcmp(argv[2], "latency") == 0 ? operations[i].latency
                                                  : operations[i].throughput;
    if (run == NULL) {
        fprintf(stderr, "usage: operations NAME latency|throughput\n");
        return 2;
    }
    double samples[SAMPLES];
    uint64_t turns = 1024;
    for (int i = 0; i < SAMPLES;) {
        double begin = now_ns();
        run(turns);
        double wall_ns = now_ns() - begin;
        if (wall_ns < SAMPLE_NS) {
            turns *= 2;
            continue;
        }
        samples[i++] = wall_ns / (turns * IN_A_TURN);
    }
    qsort(samples, SAMPLES, sizeof *samples, ascending);
    printf("%.4f\n", samples[SAMPLES / 2]);
    return 0;
}
