/* SPDX-License-Identifier: ISC */
/*
 * A schema that applies itself to the same value, such as {"$ref": "#"}, never
 * terminates.  This depth-first search, without recursion, follows all
 * operations that apply a schema to the same value.
 */
#include "lib/schema/schema_internal.h"

struct visit {
	struct schema_node *node;
	uint32_t op, child;	/* to visit next */
};

/* The next schema that a node applies to its own value, or NULL. */
static struct schema_node *
next(struct visit *v)
{
	const struct schema_op *op;

	for (; v->op < v->node->nops; v->op++, v->child = 0) {
		op = &v->node->ops[v->op];
		switch (op->kind) {
		case SCHEMA_REF:
		case SCHEMA_NOT:
			if (v->child++ == 0)
				return op->u.node;
			break;
		case SCHEMA_ALL_OF:
		case SCHEMA_ANY_OF:
		case SCHEMA_ONE_OF:
			if (v->child < op->n)
				return op->u.nodes[v->child++];
			break;
		case SCHEMA_IF:
			if (v->child++ == 0)
				return op->u.nodes[0];
			break;
		default:	/* applies to parts of the value, or nothing */
			break;
		}
	}
	return NULL;
}

static void
search(struct schema_build *b, struct visit *stack, struct schema_node *from)
{
	struct schema_node *n;
	size_t k = 0;

	stack[k++] = (struct visit){ from, 0, 0 };
	from->in_cycle = true;
	while (k > 0) {
		n = next(&stack[k - 1]);
		if (n == NULL) {
			k--;
			stack[k].node->in_cycle = false;
			stack[k].node->done = true;
		} else if (n->in_cycle) {
			n = stack[k - 1].node;
			schema_fail(b, n, n->ops[stack[k - 1].op].src,
			    "refers to itself without end");
			return;
		} else if (!n->done) {
			n->in_cycle = true;
			stack[k++] = (struct visit){ n, 0, 0 };
		}
	}
}

void
schema_find_cycle(struct schema_build *b)
{
	struct visit *stack = NEW_N(b->arena, struct visit, b->n);
	size_t i;

	for (i = 0; i < b->n && !b->failed; i++)
		if (!b->list[i]->done)
			search(b, stack, b->list[i]);
}
