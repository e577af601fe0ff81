// Products and attention for few tokens: what is large, weights, keys and values, comes from memory once however many
// tokens there are, and what a token gets does not depend on the others. Built and called by batch_invariant.py.
// Numbers are float or, with half = 1, bfloat16, with sums in float; rows that are multiplied are a multiple of 32 long.
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

#ifdef __AVX512F__
enum { BYTES = 64, ROWS = 4 };  // 32 registers: sums of 4 rows and 6 tokens, and what is multiplied
#else
enum { BYTES = 32, ROWS = 2 };  // 16 registers
#endif
enum { LANES = BYTES / 4, TOKENS = 6, BLOCK = 4, LINE = 64 };  // LINE: bytes that come from memory at once
typedef float floats __attribute__((vector_size(BYTES)));
typedef uint32_t words __attribute__((vector_size(BYTES)));  // each a float, or two of bfloat16
typedef float block __attribute__((vector_size(4 * BLOCK)));
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

INLINE words load(const char *from) {
  words v;
  memcpy(&v, from, sizeof v);
  return v;
}

// sums + w x, lane by lane; of two bfloat16 in a lane, both products.
INLINE floats add_products(floats sums, words w, words x, int half) {
  if (!half) return sums + (floats)w * (floats)x;
#ifdef __AVX512BF16__
  return (floats)_mm512_dpbf16_ps((__m512)sums, (__m512bh)w, (__m512bh)x);
#endif
  sums += (floats)(w << 16) * (floats)(x << 16);  // bfloat16 is the upper half of a float
  return sums + (floats)(w & 0xffff0000) * (floats)(x & 0xffff0000);
}

// Lane i of the result is a[i] + a[i ^ step] where i has no bit `step`, b[i] + b[i ^ step] where it has it.
INLINE floats fold(floats a, floats b, uint32_t step) {
  words stay, cross;
  UNROLL for (uint32_t i = 0; i < LANES; i++) {
    uint32_t of_b = i & step ? LANES : 0;
    stay[i] = i + of_b;
    cross[i] = (i ^ step) + of_b;
  }
  return __builtin_shuffle(a, b, stay) + __builtin_shuffle(a, b, cross);
}

// The sum of the lanes of each of four vectors. Every one is added in the same order: the upper half onto the lower,
// until one lane is left.
INLINE block totals(floats a, floats b, floats c, floats d) {
  floats v = fold(fold(a, b, LANES / 2), fold(c, d, LANES / 2), LANES / 4);
  UNROLL for (uint32_t step = LANES / 8; step; step /= 2) v = fold(v, v, step);
  return (block){v[0], v[LANES / 2], v[LANES / 4], v[LANES / 2 + LANES / 4]};
}

// The bits of a float, rounded to bfloat16 in their upper half: to nearest, ties to even. The lower half has no meaning.
INLINE uint32_t rounded(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);  // NaN or a number
}

// The first `count` of four numbers, each as `size` bytes.
INLINE void store(char *to, block value, int count, int size) {
  if (size == 4) memcpy(to, &value, 4 * count);
  else
    UNROLL for (int i = 0; i < count; i++) {
      uint16_t kept = rounded(value[i]) >> 16;
      memcpy(to + 2 * i, &kept, sizeof kept);
    }
}

// `rows` rows of w against `tokens` rows of x, each `bytes` long; y: a row of n numbers of `size` bytes for each token.
// Rows and tokens are constants wherever this is called, so that the sums stay in registers. What is computed next, a
// block on, is asked for meanwhile, in the order in which it lies in memory.
INLINE void tile(char *y, const char *x, const char *w, int64_t n, int64_t bytes, int size, int half, int rows,
                 int tokens) {
  floats sums[BLOCK][TOKENS];
  UNROLL for (int r = 0; r < BLOCK; r++)
    UNROLL for (int t = 0; t < tokens; t++) sums[r][t] = (floats){0};
  for (int64_t line = 0; line < bytes; line += LINE) {
    UNROLL for (int64_t i = line; i < line + LINE; i += BYTES) {
      words weight[BLOCK];
      UNROLL for (int r = 0; r < rows; r++) weight[r] = load(w + r * bytes + i);
      UNROLL for (int t = 0; t < tokens; t++) {
        words value = load(x + t * bytes + i);
        UNROLL for (int r = 0; r < rows; r++) sums[r][t] = add_products(sums[r][t], weight[r], value, half);
      }
    }
    UNROLL for (int r = 0; r < rows; r++) __builtin_prefetch(w + BLOCK * bytes + line * rows + r * LINE);
  }
  UNROLL for (int t = 0; t < tokens; t++)
    store(y + t * n * size, totals(sums[0][t], sums[1][t], sums[2][t], sums[3][t]), rows, size);
}

// As `tile`, of BLOCK rows or one. Floats two rows at a time: four, and the next four, are more than the nearest cache
// holds.
INLINE void tiles(char *y, const char *x, const char *w, int64_t n, int64_t bytes, int size, int half, int rows,
                  int tokens) {
  const int most = half ? ROWS : 2, step = rows < most ? rows : most;
  for (int r = 0; r < rows; r += step) tile(y + r * size, x, w + r * bytes, n, bytes, size, half, step, tokens);
}

#define FEWER(m, of) \
  switch (m) { \
    case 1: of(1); break; \
    case 2: of(2); break; \
    case 3: of(3); break; \
    case 4: of(4); break; \
    case 5: of(5); break; \
  }

// BLOCK rows of w, or one, against all tokens: after the first six the rows lie in a near cache.
INLINE void all_tokens(char *y, const char *x, const char *w, int64_t m, int64_t n, int64_t bytes, int half, int rows) {
  const int size = half ? 2 : 4;
#define OF(tokens) tiles(y, x, w, n, bytes, size, half, rows, tokens)
  for (; m >= TOKENS; m -= TOKENS, x += TOKENS * bytes, y += TOKENS * n * size) OF(TOKENS);
  FEWER(m, OF)
#undef OF
}

// Makes `half` a constant of what follows: as a variable of several threads it would be asked in the innermost loop.
INLINE void from_row(int64_t row, char *y, const char *x, const char *w, int64_t m, int64_t n, int64_t k, int half,
                     int rows) {
  if (half) all_tokens(y + 2 * row, x, w + 2 * row * k, m, n, 2 * k, 1, rows);
  else all_tokens(y + 4 * row, x, w + 4 * row * k, m, n, 4 * k, 0, rows);
}

// y = x Wᵀ. x: (m, k), w: (n, k), y: (m, n).
void linear(char *y, const char *x, const char *w, int64_t m, int64_t n, int64_t k, int half) {
  const int64_t blocks = n / BLOCK * BLOCK;
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < blocks; row += BLOCK) from_row(row, y, x, w, m, n, k, half, BLOCK);
  for (int64_t row = blocks; row < n; row++) from_row(row, y, x, w, m, n, k, half, 1);
}

enum { CHUNK = 64, LONGEST = 256 };  // keys that are weighed together; numbers of a head, LONGEST_HEAD in Python

// e to the power of numbers that are at most 0; 0 where that is below the smallest normal float.
INLINE floats exponential(floats x) {
  const float low = -87.3f, magic = 12582912;  // 1.5 * 2^23: adding it rounds to an integer, which stands in low bits
  words none = (words)(x < low);
  floats shifted = x * 1.44269504f + magic, n = shifted - magic;
  floats r = (x - n * 0.693359375f) - n * -2.12194440e-4f;  // ln 2 in two parts
  floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;  // the polynomial of Cephes' expf
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1;
  return (floats)((words)(p * (floats)(((words)shifted << 23) + 0x3f800000)) & ~none);
}

INLINE floats larger(floats a, floats b) {
  words of_a = (words)(a > b);
  return (floats)(((words)a & of_a) | ((words)b & ~of_a));
}

// What is known of a query: the largest score so far, the sum of e^(score - largest) in lanes, and as much of the values.
typedef struct {
  float most;
  floats sum;
  floats mixed[4 * LONGEST / BYTES];
} weighed;

// Scores to weights, in place; what was known before is made smaller where a larger score comes.
INLINE void weigh(weighed *known, float *scores, int64_t count, int64_t vectors, float scale) {
  floats *s = (floats *)scores, top = (floats){0} + known->most;
  for (int64_t i = count < 0 ? 0 : count; i < CHUNK; i++) scores[i] = -INFINITY;
  for (int i = 0; i < CHUNK / LANES; i++) {
    s[i] *= scale;
    top = larger(s[i], top);
  }
  float most = known->most;
  for (int i = 0; i < LANES; i++) most = top[i] > most ? top[i] : most;
  float kept = exponential((floats){0} + (known->most - most))[0];
  known->most = most;
  known->sum *= kept;
  for (int i = 0; i < CHUNK / LANES; i++) known->sum += s[i] = exponential(s[i] - most);
  for (int64_t i = 0; i < vectors; i++) known->mixed[i] *= kept;
}

// `tokens` queries of one head against its keys and values; query t sees the first seen[t] of them.
INLINE void attend(char *const *y, const char *q, const char *keys, const char *values, const int64_t *seen,
                   int64_t bytes, float scale, int half, int tokens) {
  const int64_t per = half ? 2 : 1, vectors = per * bytes / BYTES;
  int64_t longest = 0;
  float scores[TOKENS][CHUNK] __attribute__((aligned(BYTES)));
  weighed known[TOKENS];
  for (int t = 0; t < tokens; t++) {
    memset(&known[t], 0, sizeof known[t]);
    known[t].most = -INFINITY;
    longest = seen[t] > longest ? seen[t] : longest;
  }
  for (int64_t first = 0; first < longest; first += CHUNK, keys += CHUNK * bytes, values += CHUNK * bytes) {
    int64_t count = longest - first < CHUNK ? longest - first : CHUNK, key = 0;
    for (; key + BLOCK <= count; key += BLOCK)
      tiles((char *)&scores[0][key], q, keys + key * bytes, CHUNK, bytes, 4, half, BLOCK, tokens);
    for (; key < count; key++) tiles((char *)&scores[0][key], q, keys + key * bytes, CHUNK, bytes, 4, half, 1, tokens);
    for (int t = 0; t < tokens; t++) weigh(&known[t], scores[t], seen[t] - first, vectors, scale);
    for (int64_t i = 0; i < bytes / BYTES; i++) {
      floats mixed[2][TOKENS];
      UNROLL for (int h = 0; h < per; h++)
        UNROLL for (int t = 0; t < tokens; t++) mixed[h][t] = known[t].mixed[i * per + h];
      for (key = 0; key < count; key++) {
        words value = load(values + key * bytes + i * BYTES);
        floats of[2] = {(floats)(half ? value << 16 : value), (floats)(value & 0xffff0000)};
        UNROLL for (int h = 0; h < per; h++)
          UNROLL for (int t = 0; t < tokens; t++) mixed[h][t] += of[h] * scores[t][key];
      }
      UNROLL for (int h = 0; h < per; h++)
        UNROLL for (int t = 0; t < tokens; t++) known[t].mixed[i * per + h] = mixed[h][t];
    }
  }
  for (int t = 0; t < tokens; t++) {
    float sum = totals(known[t].sum, known[t].sum, known[t].sum, known[t].sum)[0];
    for (int64_t i = 0; i < bytes / BYTES; i++) {
      words kept = (words)(known[t].mixed[i * per] / sum);
      if (half) {
        floats odd = known[t].mixed[i * per + 1] / sum, even = (floats)kept;
        for (int lane = 0; lane < LANES; lane++)
          kept[lane] = rounded(even[lane]) >> 16 | (rounded(odd[lane]) & 0xffff0000);
      }
      memcpy(y[t] + i * BYTES, &kept, BYTES);
    }
  }
}

// Causal attention of new tokens over all that a cache holds. q: (rows, heads, group, tokens, size), the queries of one
// key head one after another; keys, values: (rows, heads, capacity, size); y: (rows, tokens, heads, group, size). Token t
// of a row sees the first starts[row] + t + 1 keys.
void attention(char *y, const char *q, const char *keys, const char *values, const int64_t *starts, int64_t rows,
               int64_t heads, int64_t group, int64_t tokens, int64_t size, int64_t capacity, float scale, int half) {
  const int64_t bytes = size * (half ? 2 : 4), count = group * tokens, pieces = (count + TOKENS - 1) / TOKENS;
#pragma omp parallel for schedule(static)
  for (int64_t piece = 0; piece < rows * heads * pieces; piece++) {
    int64_t head = piece / pieces, row = head / heads, first = piece % pieces * TOKENS, seen[TOKENS];
    int64_t some = count - first < TOKENS ? count - first : TOKENS;
    char *to[TOKENS];
    for (int64_t i = 0; i < some; i++) {
      int64_t g = (first + i) / tokens, t = (first + i) % tokens;
      seen[i] = starts[row] + t + 1;
      to[i] = y + (((row * tokens + t) * heads + head % heads) * group + g) * bytes;
    }
    const char *queries = q + (head * count + first) * bytes;
    const int64_t cached = head * capacity * bytes;
#define OF(most) \
  half ? attend(to, queries, keys + cached, values + cached, seen, bytes, scale, 1, most) \
       : attend(to, queries, keys + cached, values + cached, seen, bytes, scale, 0, most)
    if (some == TOKENS) OF(TOKENS);
    FEWER(some, OF)
#undef OF
  }
}
