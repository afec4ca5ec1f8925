/* Minimum-degree ordering on the quotient graph (Amestoy, Davis and Duff 1996
   describe the method): an eliminated node becomes an element, the list of nodes
   it joined; degrees are bounded from above by sizes of those lists; nodes that
   cannot be told apart are merged and eliminated together. */
#include "pages.h"
#include <string.h>
#include "sparse_order.h"

/* Steps an entry before the graph is looked at again: swiss rolls need 3 in all, 3-D grids 10,
   graphs without separators 30 and more. */
#define WORK 4

typedef struct {
    int32_t n, inner, mark, least, left, largest;
    int64_t free, room, work;
    int32_t *lists;         /* per node: first its elements, then its plain neighbours */
    int64_t *at;            /* where a node's or element's list begins */
    int32_t *elements;      /* how many entries of a node's list are elements; -1: is an element */
    int32_t *length;        /* entries of the list */
    int32_t *weight;        /* merged nodes a representative stands for; 0: gone */
    int32_t *degree;        /* of a node: bound on its degree; of an element: its size */
    int32_t *seen;          /* elements: mark + size outside the new element; 0: absorbed */
    int32_t *bucket, *after, *before; /* nodes by degree, doubly linked */
    int32_t *twin, *last;   /* members merged into a representative, linked */
} Quotient;

static void enlist(Quotient *q, int32_t i, int32_t degree) {
    q->degree[i] = degree;
    const int32_t head = q->bucket[degree];
    q->after[i] = head;
    q->before[i] = -1;
    if (head >= 0) q->before[head] = i;
    q->bucket[degree] = i;
    if (degree < q->least) q->least = degree;
}

static void delist(Quotient *q, int32_t i) {
    const int32_t a = q->after[i], b = q->before[i];
    if (a >= 0) q->before[a] = b;
    if (b >= 0) q->after[b] = a;
    else q->bucket[q->degree[i]] = a;
}

/* Move every living list to the front of the storage. The first entry of each is
   swapped for a sign of its owner, so that one sweep finds them in order. */
static void compact(Quotient *q) {
    for (int32_t i = 0; i < q->n; i++) {
        const int living = q->elements[i] >= 0 ? q->weight[i] != 0 : q->seen[i] != 0;
        if (!living || q->length[i] == 0) continue;
        const int32_t first = q->lists[q->at[i]];
        q->lists[q->at[i]] = -i - 1;
        q->at[i] = first; /* kept here until the list has moved */
    }
    int64_t to = 0;
    for (int64_t from = 0; from < q->free;) {
        const int32_t owner = -q->lists[from] - 1;
        if (owner < 0) { from++; continue; }
        const int32_t length = q->length[owner];
        q->lists[to] = (int32_t)q->at[owner];
        q->at[owner] = to++;
        for (int32_t k = 1; k < length; k++) q->lists[to++] = q->lists[from + k];
        from += length;
    }
    q->free = to;
}

static void merge(Quotient *q, int32_t into, int32_t i) {
    q->twin[q->last[into]] = i;
    q->last[into] = q->last[i];
    q->weight[i] = 0;
}

/* The element that eliminating `pivot` makes: all its living neighbours, their
   weights negated as a sign of membership. Returns their total weight. */
static int32_t gather(Quotient *q, int32_t pivot) {
    int64_t need = 0;
    const int32_t elements = q->elements[pivot];
    for (int32_t k = 0; k < elements; k++) need += q->length[q->lists[q->at[pivot] + k]];
    need += q->length[pivot];
    if (q->free + need > q->room) compact(q);
    const int64_t begin = q->free;
    int32_t total = 0;
    for (int32_t k = 0; k <= elements; k++) {
        const int plain = k == elements;
        const int32_t e = plain ? pivot : q->lists[q->at[pivot] + k];
        const int64_t from = q->at[e] + (plain ? elements : 0);
        const int32_t count = q->length[e] - (plain ? elements : 0);
        for (int32_t t = 0; t < count; t++) {
            const int32_t i = q->lists[from + t];
            if (q->weight[i] <= 0) continue;
            total += q->weight[i];
            q->weight[i] = -q->weight[i];
            q->lists[q->free++] = i;
            if (i < q->inner) delist(q, i);
        }
        if (!plain) q->seen[e] = 0;
    }
    q->at[pivot] = begin;
    q->work += need;
    q->length[pivot] = (int32_t)(q->free - begin);
    q->elements[pivot] = -1;
    q->degree[pivot] = total;
    return total;
}

/* For every element e that touches the new one: seen[e] = mark + weight of e outside it. */
static void measure(Quotient *q, int32_t pivot) {
    const int32_t *members = q->lists + q->at[pivot];
    for (int32_t t = 0; t < q->length[pivot]; t++) {
        const int32_t i = members[t], weight = -q->weight[i];
        const int32_t *list = q->lists + q->at[i];
        for (int32_t k = 0; k < q->elements[i]; k++) {
            const int32_t e = list[k];
            if (q->seen[e] == 0) continue;
            if (q->seen[e] < q->mark) q->seen[e] = q->mark + q->degree[e];
            q->seen[e] -= weight;
        }
    }
}

/* Rewrite the list of member i: dead entries dropped, the new element first.
   Returns the weight it reaches outside the new element and a hash of the list. */
static int32_t rewrite(Quotient *q, int32_t pivot, int32_t i, uint32_t *hash) {
    int32_t *list = q->lists + q->at[i];
    const int32_t elements = q->elements[i], length = q->length[i];
    q->work += length;
    int32_t outside = 0, kept = 0;
    uint32_t sum = 0;
    for (int32_t k = 0; k < elements; k++) {
        const int32_t e = list[k];
        if (q->seen[e] == 0) continue;
        const int32_t beyond = q->seen[e] - q->mark;
        if (beyond == 0) { q->seen[e] = 0; continue; } /* inside the new element: absorbed */
        outside += beyond;
        sum += (uint32_t)e;
        list[kept++] = e;
    }
    const int32_t living = kept;
    int32_t spare = -1; /* the new element takes the place of the first plain neighbour kept */
    for (int32_t k = elements; k < length; k++) {
        const int32_t j = list[k];
        if (q->weight[j] <= 0) continue; /* gone, or in the new element anyway */
        outside += q->weight[j];
        sum += (uint32_t)j;
        if (spare < 0) { spare = j; kept++; continue; }
        list[kept++] = j;
    }
    /* list[living] is the hole left for the new element; at least one entry (the pivot
       or an absorbed element) was dropped, so there is room for the spare at the end. */
    if (spare >= 0) list[kept++] = spare;
    else kept = living + 1;
    list[living] = pivot;
    q->elements[i] = living + 1;
    q->length[i] = kept;
    *hash = sum + (uint32_t)pivot;
    return outside;
}

/* Merge members of the new element whose lists are the same set. */
static void merge_twins(Quotient *q, int32_t pivot, const uint32_t *hash, int32_t *chain,
                        int32_t *heads, int32_t *stamp, int32_t *clock) {
    const int64_t begin = q->at[pivot];
    const int32_t count = q->length[pivot], size = count;
    for (int32_t t = 0; t < count; t++) heads[t] = -1;
    for (int32_t t = 0; t < count; t++) {
        const int32_t i = q->lists[begin + t];
        if (i >= q->inner || q->weight[i] == 0) continue;
        int32_t *head = heads + hash[i] % (uint32_t)size;
        int merged = 0, stamped = 0;
        for (int32_t j = *head; j >= 0 && !merged; j = chain[j]) {
            if (hash[j] != hash[i] || q->length[j] != q->length[i]
                || q->elements[j] != q->elements[i]) continue;
            if (!stamped) {
                ++*clock;
                for (int32_t k = 0; k < q->length[i]; k++) stamp[q->lists[q->at[i] + k]] = *clock;
                stamped = 1;
            }
            int same = 1;
            for (int32_t k = 0; k < q->length[j] && same; k++)
                same = stamp[q->lists[q->at[j] + k]] == *clock;
            if (!same) continue;
            q->weight[j] += q->weight[i]; /* both negative here */
            merge(q, j, i);
            merged = 1;
        }
        if (!merged) {
            chain[i] = *head;
            *head = i;
        }
    }
}

static int32_t eliminate(Quotient *q, int32_t pivot, uint32_t *hash, int32_t *scratch,
                         int32_t *clock) {
    delist(q, pivot);
    int32_t pivots = q->weight[pivot];
    q->weight[pivot] = -pivots; /* so that it does not count as its own neighbour */
    q->left -= pivots;
    int32_t total = gather(q, pivot);
    q->weight[pivot] = 0;
    if (total > q->largest) q->largest = total;
    q->seen[pivot] = 1;
    measure(q, pivot);
    const int64_t begin = q->at[pivot];
    for (int32_t t = 0; t < q->length[pivot]; t++) {
        const int32_t i = q->lists[begin + t], weight = -q->weight[i];
        const int32_t outside = rewrite(q, pivot, i, hash + i);
        if (outside == 0 && i < q->inner) { /* nothing beyond this element: goes with the pivot */
            merge(q, pivot, i);
            total -= weight;
            pivots += weight;
            q->left -= weight;
        } else if (outside < q->degree[i]) {
            q->degree[i] = outside;
        }
    }
    q->mark += q->largest + 1;
    int32_t *chain = scratch, *heads = scratch + q->n, *stamp = scratch + 2 * (int64_t)q->n;
    merge_twins(q, pivot, hash, chain, heads, stamp, clock);
    int64_t to = begin;
    for (int32_t t = 0; t < q->length[pivot]; t++) {
        const int32_t i = q->lists[begin + t];
        if (q->weight[i] == 0) continue;
        const int32_t weight = q->weight[i] = -q->weight[i];
        q->lists[to++] = i;
        if (i >= q->inner) continue;
        int64_t degree = (int64_t)q->degree[i] + total - weight;
        if (degree > q->left - weight) degree = q->left - weight;
        enlist(q, i, degree < 0 ? 0 : (int32_t)degree);
    }
    q->length[pivot] = (int32_t)(to - begin);
    q->free = to;
    q->degree[pivot] = total;
    if (q->length[pivot] == 0) q->seen[pivot] = 0;
    return pivots;
}

static int run(Quotient *q, const int32_t *start, const int32_t *next, int32_t *order,
               Budget *budget, uint32_t *hash, int32_t *scratch) {
    int32_t placed = 0, clock = 0;
    int64_t alarm = budget->most < 1e300 && q->inner == q->n ? WORK * (int64_t)start[q->n] : INT64_MAX;
    while (placed < q->inner) {
        while (q->bucket[q->least] < 0) q->least++;
        const int32_t pivot = q->bucket[q->least];
        if (q->work > alarm) {
            const int verdict = hopeless(q->n, start, next, budget);
            if (verdict) return verdict;
            alarm = INT64_MAX;
        }
        const double ahead = q->least;
        /* A graph whose smallest degree is d ends in a clique of more than d nodes. */
        if (budget->spent + ahead * ahead * ahead / 6 > budget->most) {
            budget->spent += ahead * ahead * ahead / 6;
            return TOO_COSTLY;
        }
        const int32_t pivots = eliminate(q, pivot, hash, scratch, &clock);
        budget->spent += elimination_cost(pivots, q->degree[pivot]);
        for (int32_t i = pivot; i >= 0; i = q->twin[i]) order[placed++] = i;
        if (budget->spent > budget->most) return TOO_COSTLY;
        if (q->mark > INT32_MAX - 2 * q->n) {
            for (int32_t i = 0; i < q->n; i++)
                if (q->seen[i] != 0) q->seen[i] = 1;
            q->mark = 2;
        }
    }
    return 0;
}

int minimum_degree(int32_t n, int32_t inner, const int32_t *start, const int32_t *next,
                   int32_t *order, Budget *budget) {
    if (inner == 0) return 0;
    const int64_t size = n, entries = start[n];
    Quotient q = {.n = n, .inner = inner, .mark = 2, .least = 0, .left = n};
    q.room = entries + entries / 5 + 2 * size + 16;
    q.lists = scratch_memory((size_t)q.room * sizeof *q.lists);
    q.at = scratch_memory((size_t)size * sizeof *q.at);
    int32_t *block = scratch_memory((size_t)(14 * size + 1) * sizeof *block);
    int result = NO_MEMORY;
    if (q.lists && q.at && block) {
        int32_t **parts[] = {&q.elements, &q.length, &q.weight, &q.degree, &q.seen, &q.after,
                             &q.before,   &q.twin,   &q.last};
        for (int k = 0; k < 9; k++) *parts[k] = block + k * size;
        int32_t *scratch = block + 9 * size;
        uint32_t *hash = (uint32_t *)(block + 12 * size);
        q.bucket = block + 13 * size; /* n + 1 degrees */
        memcpy(q.lists, next, (size_t)entries * sizeof *next);
        q.free = entries;
        for (int64_t i = 0; i <= size; i++) q.bucket[i] = -1;
        for (int64_t i = 0; i < size; i++) scratch[2 * size + i] = 0;
        for (int32_t i = n - 1; i >= 0; i--) {
            q.at[i] = start[i];
            q.length[i] = start[i + 1] - start[i];
            q.elements[i] = 0;
            q.weight[i] = 1;
            q.seen[i] = 1;
            q.twin[i] = -1;
            q.last[i] = i;
            if (i < inner) enlist(&q, i, q.length[i]);
            else q.degree[i] = q.length[i];
        }
        result = run(&q, start, next, order, budget, hash, scratch);
    }
    free(q.lists);
    free(q.at);
    free(block);
    return result;
}
