/* The loops of this folder in C: a second code generator beside rustc's.
 *
 * Compiled once for each optimisation level, with LEVEL defined as its digit. All exports are in one
 * table, `oscope_kernels_c_LEVEL`, whose layout `../src/levels/c.rs` repeats.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NEVER_INLINE __attribute__((noinline, noclone))
#if defined(__clang__)
#undef NEVER_INLINE
#define NEVER_INLINE __attribute__((noinline))
#endif

/* Hides a value from an optimising compiler without an instruction. */
#if !defined(__OPTIMIZE__)
#define VEIL_integer(value)
#define VEIL_float(value)
#elif defined(__x86_64__)
#define VEIL_integer(value) __asm__ volatile("" : "+r"(value))
#define VEIL_float(value) __asm__ volatile("" : "+x"(value))
#elif defined(__aarch64__)
#define VEIL_integer(value) __asm__ volatile("" : "+r"(value))
#define VEIL_float(value) __asm__ volatile("" : "+w"(value))
#else
#define VEIL_integer(value) __asm__ volatile("" : "+r"(value))
#define VEIL_float(value) __asm__ volatile("" : "+m"(value))
#endif
#define HIDE_MEMORY(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

#define ADD(type, x, y) ((x) + (y))
#define SUBTRACT(type, x, y) ((x) - (y))
#define MULTIPLY(type, x, y) ((x) * (y))
#define DIVIDE(type, x, y) ((y) / (x))
#define FUSED(type, x, y) (sizeof(type) == 4 ? __builtin_fmaf(x, y, y) : __builtin_fma(x, y, y))
#define ROOT(type, x, y) (sizeof(type) == 4 ? __builtin_sqrtf(x) : __builtin_sqrt(x))
#define KEEP(type, x, y) (x)

typedef uint64_t word;
enum { ELEMENTS_BYTES = 4096 };

#define TYPE(type)                                                                                 \
    static inline type type##_from(word bits) {                                                    \
        type value;                                                                                \
        memcpy(&value, &bits, sizeof value);                                                       \
        return value;                                                                              \
    }                                                                                              \
    static inline word type##_mixed(word sum, type value) {                                        \
        word bits = 0;                                                                             \
        memcpy(&bits, &value, sizeof value);                                                       \
        return (sum << 7 | sum >> 57) ^ bits;                                                      \
    }
/* The bits are the low ones of a word. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the bits of a value would not be the low ones of a word"
#endif
TYPE(uint32_t)
TYPE(uint64_t)
TYPE(float)
TYPE(double)

/* `renewing` is 1 if each iteration ends with RENEW. */
#define LOOPS(name, variant, attributes, kind, type, APPLY, renewing, RENEW)                       \
    attributes NEVER_INLINE static word name##_latency_##variant(word turns, word x_bits,          \
                                                                 word y_bits) {                    \
        type x = type##_from(x_bits), y = type##_from(y_bits);                            \
        word turn;                                                                        \
        for (turn = 0; turn < turns; turn++) {                                                     \
            TWENTY(x = APPLY(type, x, y); VEIL_##kind(x);)                                         \
            if (renewing) x = RENEW(type, x, y);                                                   \
        }                                                                                          \
        return type##_mixed(0, x);                                                                 \
    }                                                                                              \
    attributes NEVER_INLINE static word name##_throughput_##variant(word turns, word x_bits,       \
                                                                    word y_bits) {                 \
        type y = type##_from(y_bits);                                                     \
        type a = type##_from(x_bits), b = a, c = a, d = a, e = a, f = a, g = a, h = a,    \
             i = a, j = a;                                                                         \
        word turn;                                                                        \
        for (turn = 0; turn < turns; turn++) {                                                     \
            EACH(kind, type, APPLY) EACH(kind, type, APPLY)                                        \
            if (renewing) { EACH(kind, type, RENEW) }                                              \
        }                                                                                          \
        word sum = type##_mixed(type##_mixed(type##_mixed(type##_mixed(0, a), b), c), d);          \
        sum = type##_mixed(type##_mixed(type##_mixed(type##_mixed(sum, e), f), g), h);             \
        return type##_mixed(type##_mixed(sum, i), j);                                              \
    }                                                                                              \
    attributes NEVER_INLINE static word name##_array_##variant(word turns, word x_bits,            \
                                                               word y_bits) {                      \
        enum { ELEMENTS = ELEMENTS_BYTES / sizeof(type) };                                         \
        type left[ELEMENTS], right[ELEMENTS];                                                      \
        size_t at;                                                                        \
        for (at = 0; at < ELEMENTS; at++) {                                                        \
            left[at] = type##_from(x_bits);                                                        \
            right[at] = type##_from(y_bits);                                                       \
        }                                                                                          \
        word turn;                                                                        \
        for (turn = 0; turn < turns; turn++) {                                                     \
            HIDE_MEMORY(left);                                                                     \
            HIDE_MEMORY(right);                                                                    \
            for (at = 0; at < ELEMENTS; at++) left[at] = APPLY(type, left[at], right[at]);         \
        }                                                                                          \
        word sum = 0;                                                                              \
        for (at = 0; at < ELEMENTS; at++) sum = type##_mixed(sum, left[at]);                       \
        return sum;                                                                                \
    }
#define FIVE(body) body body body body body
#define TWENTY(body) FIVE(body) FIVE(body) FIVE(body) FIVE(body)
#define ONE(kind, type, APPLY, value)                                                              \
    value = APPLY(type, value, y);                                                                 \
    VEIL_##kind(value);
#define EACH(kind, type, APPLY)                                                                    \
    ONE(kind, type, APPLY, a) ONE(kind, type, APPLY, b) ONE(kind, type, APPLY, c)                  \
    ONE(kind, type, APPLY, d) ONE(kind, type, APPLY, e) ONE(kind, type, APPLY, f)                  \
    ONE(kind, type, APPLY, g) ONE(kind, type, APPLY, h) ONE(kind, type, APPLY, i)                  \
    ONE(kind, type, APPLY, j)

#define OPERATIONS(DO)                                                                             \
    DO(add_u32, integer, uint32_t, ADD, 0, KEEP)                                                   \
    DO(subtract_u32, integer, uint32_t, SUBTRACT, 0, KEEP)                                         \
    DO(multiply_u32, integer, uint32_t, MULTIPLY, 0, KEEP)                                         \
    DO(divide_u32, integer, uint32_t, DIVIDE, 0, KEEP)                                             \
    DO(add_u64, integer, uint64_t, ADD, 0, KEEP)                                                   \
    DO(subtract_u64, integer, uint64_t, SUBTRACT, 0, KEEP)                                         \
    DO(multiply_u64, integer, uint64_t, MULTIPLY, 0, KEEP)                                         \
    DO(divide_u64, integer, uint64_t, DIVIDE, 0, KEEP)                                             \
    DO(add_f32, float, float, ADD, 0, KEEP)                                                        \
    DO(subtract_f32, float, float, SUBTRACT, 0, KEEP)                                              \
    DO(multiply_f32, float, float, MULTIPLY, 0, KEEP)                                              \
    DO(divide_f32, float, float, DIVIDE, 0, KEEP)                                                  \
    DO(fused_f32, float, float, FUSED, 0, KEEP)                                                    \
    DO(root_f32, float, float, ROOT, 1, MULTIPLY)                                                  \
    DO(add_f64, float, double, ADD, 0, KEEP)                                                       \
    DO(subtract_f64, float, double, SUBTRACT, 0, KEEP)                                             \
    DO(multiply_f64, float, double, MULTIPLY, 0, KEEP)                                             \
    DO(divide_f64, float, double, DIVIDE, 0, KEEP)                                                 \
    DO(fused_f64, float, double, FUSED, 0, KEEP)                                                   \
    DO(root_f64, float, double, ROOT, 1, MULTIPLY)

#define PLAIN_LOOPS(name, kind, type, APPLY, renewing, RENEW)                                      \
    LOOPS(name, plain, , kind, type, APPLY, renewing, RENEW)
OPERATIONS(PLAIN_LOOPS)
#if defined(__x86_64__)
#define AVX2_LOOPS(name, kind, type, APPLY, renewing, RENEW)                                       \
    LOOPS(name, avx2, __attribute__((target("avx2,fma"))), kind, type, APPLY, renewing, RENEW)
OPERATIONS(AVX2_LOOPS)
#define AVX2_OF(name) { name##_latency_avx2, name##_throughput_avx2, name##_array_avx2 }
#else
#define AVX2_OF(name) { 0, 0, 0 }
#endif

/* The inner loop of the call styles, expanded in place. */
#define ADD_ROW(sum, row, steps)                                                                   \
    for (word step = 0; step < (steps); step++) (sum) += (row) ^ step;

NEVER_INLINE static word in_line(word rows, word steps) {
    word sum = 0;
    for (word at = 0; at < rows; at++) ADD_ROW(sum, at, steps)
    return sum;
}

NEVER_INLINE static word row(word at, word steps) {
    word sum = 0;
    ADD_ROW(sum, at, steps)
    return sum;
}

NEVER_INLINE static word by_function(word rows, word steps) {
    word sum = 0;
    for (word at = 0; at < rows; at++) sum += row(at, steps);
    return sum;
}

/* The address of a variable in the innermost frame of the last recursion. */
static uintptr_t deepest;

NEVER_INLINE static word by_recursion(word rows, word steps) {
    if (rows == 0) {
        char innermost = 0;
        HIDE_MEMORY(&innermost);
        __atomic_store_n(&deepest, (uintptr_t)&innermost, __ATOMIC_RELAXED);
        return 0;
    }
    word sum = 0;
    ADD_ROW(sum, rows - 1, steps)
    word rest = by_recursion(rows - 1, steps);
    VEIL_integer(rest);
    return sum + rest;
}

NEVER_INLINE static void write_words(word *words, size_t count, word value) {
    for (size_t at = 0; at < count; at++) words[at] = value;
}

/* The loops over memory and the ways to call as report E printed them, with an `int` that may overflow. Its compiler
 * took one element at a time and left none out: VEIL and HIDE_MEMORY keep those of today from more. */
NEVER_INLINE static void write_ints(uint32_t *data, size_t count, uint32_t pass) {
    for (size_t j = 0; j < count; j++) {
        uint32_t value = (uint32_t)j + pass;
        VEIL_integer(value);
        data[j] = value;
    }
}

NEVER_INLINE static uint32_t read_ints(const uint32_t *data, size_t count) {
    uint32_t sum = 0;
    for (size_t j = 0; j < count; j++) {
        sum = data[j];
        VEIL_integer(sum);
    }
    return sum;
}

#define ADD_LISTED_ROW(sum, i, size)                                                               \
    uint32_t *data = malloc(sizeof *data * (size));                                                \
    for (uint32_t j = 0; j < (size); j++) {                                                        \
        uint32_t value = j;                                                                        \
        VEIL_integer(value);                                                                       \
        data[j] = value;                                                                           \
    }                                                                                              \
    HIDE_MEMORY(data);                                                                             \
    for (uint32_t j = 0; j < (size); j++) {                                                        \
        uint32_t value = data[j] + (i) + j;                                                        \
        VEIL_integer(value);                                                                       \
        data[j] = value;                                                                           \
        (sum) += value;                                                                            \
    }                                                                                              \
    HIDE_MEMORY(data);                                                                             \
    free(data);

/* As printed, it doubles the sum of each row and adds up none. */
NEVER_INLINE static word listed_in_line(word rows, word steps) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < rows; i++) {
        sum = 0;
        ADD_LISTED_ROW(sum, i, steps)
        sum += sum;
    }
    return sum;
}

NEVER_INLINE static word listed_row(word i, word steps) {
    uint32_t sum = 0;
    ADD_LISTED_ROW(sum, (uint32_t)i, steps)
    return sum;
}

NEVER_INLINE static word listed_by_function(word rows, word steps) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < rows; i++) sum += (uint32_t)listed_row(i, steps);
    return sum;
}

NEVER_INLINE static word listed_recursion(word i, word steps) {
    uint32_t rest = 0, sum = 0;
    if (i > 0) {
        rest = (uint32_t)listed_recursion(i - 1, steps);
    } else {
        char innermost = 0;
        HIDE_MEMORY(&innermost);
        __atomic_store_n(&deepest, (uintptr_t)&innermost, __ATOMIC_RELAXED);
    }
    ADD_LISTED_ROW(sum, (uint32_t)i, steps)
    rest += sum;
    return rest;
}

NEVER_INLINE static word listed_by_recursion(word rows, word steps) {
    return listed_recursion(rows - 1, steps);
}

#if defined(__OPTIMIZE__)
#define IS_OPTIMISED 1
#else
#define IS_OPTIMISED 0
#endif

typedef word (*loop)(word turns, word x, word y);
struct operation {
    const char *name;
    loop plain[3], avx2[3];
};
#define OPERATION(name, kind, type, APPLY, renewing, RENEW)                                        \
    { #name, { name##_latency_plain, name##_throughput_plain, name##_array_plain }, AVX2_OF(name) },
static const struct operation operations[] = { OPERATIONS(OPERATION) };

#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)
struct loops {
    word is_optimised;
    const char *compiler;
    const struct operation *operations;
    size_t operation_count;
    word (*in_line)(word rows, word steps);
    word (*by_function)(word rows, word steps);
    word (*by_recursion)(word rows, word steps);
    word (*row)(word at, word steps);
    void (*write)(word *words, size_t count, word value);
    const uintptr_t *deepest;
    void (*write_ints)(uint32_t *data, size_t count, uint32_t pass);
    uint32_t (*read_ints)(const uint32_t *data, size_t count);
};
#if defined(__clang__)
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif
#define LOOPS_OF(prefix)                                                                           \
    {                                                                                              \
        IS_OPTIMISED, COMPILER, operations, sizeof operations / sizeof *operations,                \
        prefix##in_line, prefix##by_function, prefix##by_recursion, prefix##row, write_words,      \
        &deepest, write_ints, read_ints,                                                           \
    }
const struct loops NAMED(oscope_kernels_c_, LEVEL) = LOOPS_OF();
const struct loops NAMED(oscope_kernels_c_listed_, LEVEL) = LOOPS_OF(listed_);
