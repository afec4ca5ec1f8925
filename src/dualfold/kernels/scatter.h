/* Σ (x − s)(x − s)ᵀ over the rows x of a table, and Σ x. Included for float and
   for double: NUMBER and NAME(x).

   A BLAS would need the rows shifted beforehand and their sums taken apart, two more
   passes over memory. Here both happen while rows are packed into panels, and strips
   of columns that hold nothing but 0 (margins of pictures, words that do not occur)
   are left out of the products. Products are added up in NUMBER for a group of slabs
   and in double beyond. */
#include "kernels.h"
#include "panels.h"
#include <stdlib.h>
#include <string.h>

/* Rows of a slab: one panel of it stays in the first cache and empty strips are common; of
   wide rows the blocks of products do not stay there, and longer slabs touch them less. Rows
   of a group: few enough for the cache that all threads share, many enough that the totals
   are seldom touched. */
enum { SHORT_SLAB = 64, LONG_SLAB = 256, WIDE_BYTES = 1 << 13 };
enum { MOST_ROWS = 1024, FEWEST_ROWS = 512, GROUP_BYTES = 1 << 22 };
enum { STRIPS = PANEL / ROWS };

typedef __typeof__((Vector){0} != (Vector){0}) Truth;
typedef double Wide __attribute__((ext_vector_type(LANES)));

typedef struct {
    NUMBER *panels; /* [panel][row of the group][PANEL] */
    NUMBER *block;  /* [column][PANEL]: one panel's products with those below it */
    Wide *sums;     /* of a slab, by column */
    Truth *seen;    /* by column of a slab: whether any entry is not 0 */
    uint8_t *full;  /* [slab][strip]: whether there is anything in it */
} Room;

/* Rows of one slab, less the shift, into panels from `first` on; their sums. */
static void pack(int64_t width, int64_t first, int64_t panels, const NUMBER *X, int64_t rows,
                 const NUMBER *shift, int64_t pitch, NUMBER *to, Room room, uint8_t *full) {
    enum { ACROSS = PANEL / LANES };
    memset(room.sums, 0, panels * ACROSS * sizeof(Wide));
    memset(room.seen, 0, panels * ACROSS * sizeof(Truth));
    for (int64_t k = 0; k < rows; k++)
        for (int64_t p = first; p < panels; p++) {
            const NUMBER *x = X + k * width + p * PANEL, *s = shift + p * PANEL;
            NUMBER *line = to + p * pitch + k * PANEL, padded[PANEL] = {0};
            const int64_t left = width - p * PANEL;
            if (left < PANEL) x = memcpy(padded, x, left * sizeof(NUMBER));
#pragma clang loop unroll(full)
            for (int v = 0; v < ACROSS; v++) {
                const Vector given = load(x + v * LANES), value = given - load(s + v * LANES);
                memcpy(line + v * LANES, &value, sizeof value);
                room.sums[p * ACROSS + v] += __builtin_convertvector(given, Wide);
                room.seen[p * ACROSS + v] |= value != 0;
            }
        }
    for (int64_t strip = first * STRIPS; strip < panels * STRIPS; strip++) {
        full[strip] = 0;
        for (int64_t j = strip * ROWS; j < (strip + 1) * ROWS; j++)
            full[strip] |= room.seen[j / LANES][j % LANES] != 0;
    }
}

/* Whether any of COLUMNS columns from c on lies in a strip that has anything in it. */
static int any_full(const uint8_t *full, int c) {
    int any = 0;
    for (int strip = c / ROWS; strip <= (c + COLUMNS - 1) / ROWS; strip++) any |= full[strip];
    return any;
}

/* One slab's panel b times every strip of the panels from `first` on: strips of panel `first`, b
   itself, only up to the diagonal. */
static void multiply(const NUMBER *b, const NUMBER *a, int64_t first, int64_t panels,
                     int64_t rows, int64_t pitch, const uint8_t *full, NUMBER *block) {
    int wanted[PANEL / COLUMNS];
    for (int c = 0; c < PANEL; c += COLUMNS)
        wanted[c / COLUMNS] = any_full(full + first * STRIPS, c);
    for (int64_t strip = first * STRIPS; strip < panels * STRIPS; strip++) {
        if (!full[strip]) continue;
        const NUMBER *left = a + strip / STRIPS * pitch + strip % STRIPS * ROWS;
        const int64_t later = strip + 2 < panels * STRIPS ? strip + 2 : strip;
        const NUMBER *ahead = a + later / STRIPS * pitch + later % STRIPS * ROWS;
        for (int c = 0; c < PANEL; c += COLUMNS) {
            if (!wanted[c / COLUMNS] || (strip + 1 - first * STRIPS) * ROWS <= c) continue;
            Vector sum[ROWS][VECTORS];
            products_ahead(left, b + c, ahead, rows, sum);
            for (int r = 0; r < ROWS; r++)
                for (int v = 0; v < VECTORS; v++) {
                    NUMBER *at = block + (strip * ROWS + r) * PANEL + c + v * LANES;
                    sum[r][v] += load(at);
                    memcpy(at, &sum[r][v], sizeof(Vector));
                }
        }
    }
}

/* Adds the products of columns of panels first..last with those of the same and all
   later panels to the lower half of `total` (width²), and the sums of the columns of
   panels first..last to `sums`. `shift` is padded to whole panels. 1: out of memory. */
EXPORT int32_t NAME(scatter)(
        int64_t width, const NUMBER *X HOLDS(n * width), int64_t n,
        const NUMBER *shift HOLDS((width + PANEL - 1) / PANEL * PANEL), int64_t first,
        int64_t last, double *total HOLDS(width * width), double *sums HOLDS(width)) {
    const int64_t panels = (width + PANEL - 1) / PANEL, columns = panels * PANEL;
    const int64_t bytes = columns * (int64_t)sizeof(NUMBER);
    const int64_t slab_rows = bytes > WIDE_BYTES ? LONG_SLAB : SHORT_SLAB;
    int64_t group = GROUP_BYTES / bytes;
    group = group < FEWEST_ROWS ? FEWEST_ROWS : group > MOST_ROWS ? MOST_ROWS : group;
    const int64_t slabs = group / slab_rows, pitch = slabs * slab_rows * PANEL;
    const int64_t lines = columns * (slabs * slab_rows + PANEL + 1);
    char *memory = malloc(lines * sizeof(NUMBER) + columns * sizeof(double) + sizeof(Wide) +
                          slabs * panels * STRIPS);
    if (!memory) return 1;
    Room room;
    room.sums = (Wide *)(((uintptr_t)memory + sizeof(Wide) - 1) & -sizeof(Wide));
    room.seen = (Truth *)(room.sums + columns / LANES);
    room.panels = (NUMBER *)(room.seen + columns / LANES);
    room.block = room.panels + panels * pitch;
    room.full = (uint8_t *)(room.block + columns * PANEL);
    for (int64_t start = 0; start < n; start += slabs * slab_rows) {
        const int64_t rows = n - start < slabs * slab_rows ? n - start : slabs * slab_rows;
        for (int64_t k = 0; k < rows; k += slab_rows) {
            pack(width, first, panels, X + (start + k) * width, rows - k < slab_rows ? rows - k : slab_rows,
                 shift, pitch, room.panels + k * PANEL, room,
                 room.full + k / slab_rows * panels * STRIPS);
            const int64_t end = last * PANEL < width ? last * PANEL : width;
            for (int64_t j = first * PANEL; j < end; j++)
                sums[j] += room.sums[j / LANES][j % LANES];
        }
        for (int64_t p = first; p < last; p++) {
            memset(room.block + p * PANEL * PANEL, 0,
                   (columns - p * PANEL) * PANEL * sizeof(NUMBER));
            for (int64_t k = 0; k < rows; k += slab_rows) {
                const uint8_t *full = room.full + k / slab_rows * panels * STRIPS;
                if (!memchr(full + p * STRIPS, 1, STRIPS)) continue;
                const NUMBER *slab = room.panels + k * PANEL;
                multiply(slab + p * pitch, slab, p, panels, rows - k < slab_rows ? rows - k : slab_rows,
                         pitch, full, room.block);
            }
            const int64_t left = width - p * PANEL, wide = left < PANEL ? left : PANEL;
            for (int64_t i = p * PANEL; i < width; i++)
                for (int64_t j = 0; j < wide && p * PANEL + j <= i; j++)
                    total[i * width + p * PANEL + j] += room.block[i * PANEL + j];
        }
    }
    free(memory);
    return 0;
}
