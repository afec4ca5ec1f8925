/* A small vertex separator. Two far ends u, v of the graph are found by breadth-first
   searches; d(u,.) - d(v,.) orders the nodes as a sweep from one end to the other,
   whose middle is a straight cut; moves of single nodes (Fiduccia and Mattheyses)
   then shrink the separator. */
#include <stdlib.h>
#include <string.h>
#include "sparse_order.h"

/* Breadth-first levels from `root`; returns the last node reached. */
static int32_t levels(int32_t n, const int32_t *start, const int32_t *next, int32_t root,
                      int32_t *level, int32_t *queue) {
    for (int32_t i = 0; i < n; i++) level[i] = -1;
    int32_t tail = 1;
    queue[0] = root;
    level[root] = 0;
    for (int32_t head = 0; head < tail; head++) {
        const int32_t v = queue[head], deeper = level[v] + 1;
        for (int32_t k = start[v]; k < start[v + 1]; k++) {
            const int32_t u = next[k];
            if (level[u] >= 0) continue;
            level[u] = deeper;
            queue[tail++] = u;
        }
    }
    return queue[tail - 1];
}

typedef struct {
    const int32_t *start, *next;
    int8_t *side, *locked;
    int32_t *touch;       /* 2v + s: neighbours of separator node v on side s */
    int32_t size[3];
    int64_t *heap;        /* the best move first; stale entries are skipped */
    int64_t heaped, room;
    int32_t *log;         /* 2 entries a change: node, the side it was on */
    int64_t logged, log_room;
    int full;
} Cut;

/* Moving v to `to` draws its neighbours of the other side into the separator. */
static int32_t gain(const Cut *c, int32_t v, int to) { return 1 - c->touch[2 * v + 1 - to]; }

static void push(Cut *c, int32_t v, int to) {
    if (c->locked[v]) return;
    if (c->heaped == c->room) {
        int64_t *grown = realloc(c->heap, (size_t)(2 * c->room) * sizeof *grown);
        if (!grown) { c->full = 1; return; }
        c->heap = grown;
        c->room *= 2;
    }
    const int64_t key = (int64_t)gain(c, v, to) * 4294967296 + ((int64_t)v << 1 | to);
    int64_t at = c->heaped++;
    while (at > 0 && c->heap[(at - 1) / 2] < key) {
        c->heap[at] = c->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    c->heap[at] = key;
}

static int64_t pop(Cut *c) {
    const int64_t top = c->heap[0], key = c->heap[--c->heaped];
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= c->heaped) break;
        if (child + 1 < c->heaped && c->heap[child + 1] > c->heap[child]) child++;
        if (c->heap[child] <= key) break;
        c->heap[at] = c->heap[child];
        at = child;
    }
    if (c->heaped > 0) c->heap[at] = key;
    return top;
}

static void place(Cut *c, int32_t v, int8_t to) {
    if (c->logged == c->log_room) {
        int32_t *grown = realloc(c->log, (size_t)(4 * c->log_room) * sizeof *grown);
        if (!grown) { c->full = 1; return; }
        c->log = grown;
        c->log_room *= 2;
    }
    c->log[2 * c->logged] = v;
    c->log[2 * c->logged++ + 1] = c->side[v];
    c->size[c->side[v]]--;
    c->size[to]++;
    c->side[v] = to;
}

static void enter(Cut *c, int32_t v) {
    int32_t count[3] = {0, 0, 0};
    for (int32_t k = c->start[v]; k < c->start[v + 1]; k++) count[c->side[c->next[k]]]++;
    c->touch[2 * v] = count[0];
    c->touch[2 * v + 1] = count[1];
    push(c, v, 0);
    push(c, v, 1);
}

static void move(Cut *c, int32_t v, int to) {
    place(c, v, (int8_t)to);
    c->locked[v] = 1;
    for (int32_t k = c->start[v]; k < c->start[v + 1]; k++) {
        const int32_t u = c->next[k];
        if (c->side[u] == 2) { /* one more neighbour on `to`: moving u away costs more */
            c->touch[2 * u + to]++;
        } else if (c->side[u] == 1 - to) {
            place(c, u, 2);
            for (int32_t j = c->start[u]; j < c->start[u + 1]; j++) {
                const int32_t w = c->next[j];
                if (c->side[w] != 2 || w == u) continue;
                c->touch[2 * w + 1 - to]--;
                push(c, w, to);
            }
            enter(c, u);
        }
    }
    for (int32_t k = c->start[v]; k < c->start[v + 1]; k++)
        if (c->side[c->next[k]] == 2) push(c, c->next[k], 1 - to);
}

/* One pass of moves, best first; the smallest separator met is kept. */
static int refine(Cut *c, int32_t n, int32_t most) {
    const int32_t before = c->size[2];
    int32_t best = before, best_tilt = abs(c->size[0] - c->size[1]), idle = 0;
    const int32_t patience = 60 + before / 4; /* moves without gain before the pass ends */
    int64_t kept = 0;
    c->logged = c->heaped = 0;
    memset(c->locked, 0, (size_t)n);
    for (int32_t v = 0; v < n; v++)
        if (c->side[v] == 2) enter(c, v);
    while (c->heaped > 0 && idle < patience && !c->full) {
        const int64_t key = pop(c);
        const int32_t v = (int32_t)((key & 0xffffffff) >> 1), to = key & 1;
        if (c->locked[v] || c->side[v] != 2 || gain(c, v, to) != (int32_t)(key >> 32)) continue;
        if (c->size[to] + 1 > most) continue;
        move(c, v, to);
        const int32_t tilt = abs(c->size[0] - c->size[1]);
        if (c->size[2] < best || (c->size[2] == best && tilt < best_tilt)) {
            best = c->size[2];
            best_tilt = tilt;
            kept = c->logged;
            idle = 0;
        } else {
            idle++;
        }
    }
    while (c->logged > kept) {
        const int32_t v = c->log[2 * --c->logged];
        const int8_t was = (int8_t)c->log[2 * c->logged + 1];
        c->size[c->side[v]]--;
        c->size[was]++;
        c->side[v] = was;
    }
    return best < before;
}

/* Split at the middle of the sweep; the separator is the thinner of its two borders. */
static void initial_cut(int32_t n, const int32_t *start, const int32_t *next,
                        const int32_t *first, const int32_t *second, int8_t *side,
                        int32_t *count) {
    memset(count, 0, (size_t)(2 * (int64_t)n + 1) * sizeof *count);
    /* Nodes that cannot be reached stay on the first side, where they cut nothing. */
    for (int32_t i = 0; i < n; i++) count[first[i] < 0 ? 0 : first[i] - second[i] + n]++;
    int32_t below = 0, cut = 0;
    while (below + count[cut] / 2 < n / 2) below += count[cut++];
    const int32_t spill = n / 2 - below; /* how many of the level in the middle go left */
    int32_t taken = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t key = first[i] < 0 ? 0 : first[i] - second[i] + n;
        side[i] = key > cut || (key == cut && taken++ >= spill);
    }
    int32_t border[2] = {0, 0};
    for (int pass = 0; pass < 2; pass++) {
        const int thin = border[1] < border[0];
        for (int32_t i = 0; i < n; i++) {
            int other = 0;
            if (pass == 1 && side[i] != thin) continue;
            for (int32_t k = start[i]; k < start[i + 1] && !other; k++)
                other = side[next[k]] == 1 - side[i];
            if (!other) continue;
            if (pass == 0) border[side[i]]++;
            else side[i] = 2;
        }
    }
}

int bisect(int32_t n, const int32_t *start, const int32_t *next, int8_t *side) {
    int32_t *first = malloc((size_t)(6 * (int64_t)n + 1) * sizeof *first);
    Cut c = {.start = start, .next = next, .side = side, .room = 1024, .log_room = 1024};
    c.heap = malloc((size_t)c.room * sizeof *c.heap);
    c.log = malloc((size_t)(2 * c.log_room) * sizeof *c.log);
    c.locked = malloc((size_t)n);
    int result = NO_MEMORY;
    if (first && c.heap && c.log && c.locked) {
        int32_t *second = first + n, *queue = second + n;
        const int32_t u = levels(n, start, next, 0, first, queue);
        const int32_t v = levels(n, start, next, u, first, queue);
        levels(n, start, next, v, second, queue);
        initial_cut(n, start, next, first, second, side, queue);
        c.touch = first + 4 * (int64_t)n + 1;
        for (int32_t i = 0; i < n; i++) c.size[side[i]]++;
        const int32_t most = n / 2 + n / 10;
        for (int pass = 0; pass < 3; pass++)
            if (!refine(&c, n, most)) break;
        if (!c.full) result = c.size[2];
    }
    free(first);
    free(c.heap);
    free(c.log);
    free(c.locked);
    return result;
}

int hopeless(int32_t n, const int32_t *start, const int32_t *next, Budget *budget) {
    int8_t *side = malloc((size_t)n);
    if (!side) return NO_MEMORY;
    const int32_t cut = bisect(n, start, next, side);
    free(side);
    const double cost = elimination_cost(cut, 0);
    if (cut < 0 || cost <= 8 * budget->most) return cut < 0 ? cut : 0;
    budget->spent = cost;
    return TOO_COSTLY;
}
