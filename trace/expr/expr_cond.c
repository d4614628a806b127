/* Conditions of tests: see expr_cond.h. */
#include "expr_cond.h"
#include <trace/errno.h>
#include <trace/platform.h>

#define NO_TOKEN UINT32_MAX

enum expr_token_kind {
	EXPR_TOKEN_TEST,
	EXPR_TOKEN_OPEN,
	EXPR_TOKEN_CLOSE,
	EXPR_TOKEN_AND,
	EXPR_TOKEN_OR,
	EXPR_TOKEN_END,
};

struct expr_token {
	uint8_t kind;
	bool is_negated; /* TEST: there is a ! before it; OPEN and CLOSE: before the parenthesis */
	uint32_t link;	 /* until they are linked: the OPEN around an OPEN; then: see there */
	uint32_t insns;	 /* TEST: number of its instructions */
	/*
	 * TEST: its first instruction; OPEN: that of the first comparison inside. Others: the next
	 * instructions if the operand to the left is false, and if it is true.
	 */
	struct expr_insn *first;
	const struct expr_insn *next[2];
};

int trace_expr_cond_create(struct expr_cond *cond, struct expr_build *build, uint32_t max_tokens)
{
	*cond = (struct expr_cond){
		.build = build,
		.max = max_tokens + 1, /* with the end */
		.open = NO_TOKEN,
		.tokens = trace_plat_alloc((max_tokens + 1) * sizeof(struct expr_token)),
	};
	return cond->tokens ? 0 : -ENOMEM;
}

void trace_expr_cond_free(struct expr_cond *cond)
{
	if (cond->tokens)
		trace_plat_free(cond->tokens, cond->max * sizeof(struct expr_token));
}

static struct expr_token *expr_add_token(struct expr_cond *cond, enum expr_token_kind kind)
{
	struct expr_token *token = &cond->tokens[cond->nr++];

	token->kind = (uint8_t)kind;
	return token;
}

void trace_expr_cond_open(struct expr_cond *cond, bool is_negated)
{
	struct expr_token *token = expr_add_token(cond, EXPR_TOKEN_OPEN);

	token->is_negated = is_negated;
	token->link = cond->open;
	cond->open = cond->nr - 1;
}

void trace_expr_cond_close(struct expr_cond *cond)
{
	const struct expr_token *open = &cond->tokens[cond->open];

	expr_add_token(cond, EXPR_TOKEN_CLOSE)->is_negated = open->is_negated;
	cond->open = open->link;
}

void trace_expr_cond_test(struct expr_cond *cond, uint32_t first, bool is_negated)
{
	struct expr_program *program = cond->build->program;
	struct expr_token *token = expr_add_token(cond, EXPR_TOKEN_TEST);

	token->is_negated = is_negated;
	token->first = &program->insns[first];
	token->insns = program->nr - first;
	cond->nr_tests++;
}

void trace_expr_cond_operator(struct expr_cond *cond, bool is_or)
{
	(void)expr_add_token(cond, is_or ? EXPR_TOKEN_OR : EXPR_TOKEN_AND);
}

bool trace_expr_cond_wants_operand(const struct expr_cond *cond)
{
	uint8_t last = cond->tokens[cond->nr - 1].kind;

	return last == EXPR_TOKEN_AND || last == EXPR_TOKEN_OR;
}

/* ---- Linking ---- */

/* Link the comparison `token` to the instructions of `after`, the token behind it. */
static void expr_link_test(struct expr_token *token, const struct expr_token *after)
{
	for (uint32_t i = 0; i < token->insns; i++) {
		struct expr_insn *insn = &token->first[i];

		for (int k = 0; expr_is_test(insn->op) && k < 2; k++) {
			if (expr_has_ended(insn->next[k]))
				insn->next[k] = after->next[(insn->next[k] == EXPR_PASS) ^
							    token->is_negated];
		}
	}
}

/* The token behind the operand that begins with token `index`. */
static const struct expr_token *expr_behind_operand(const struct expr_token *tokens, uint32_t index)
{
	if (tokens[index].kind == EXPR_TOKEN_OPEN)
		index = tokens[index].link;
	return &tokens[index + 1];
}

/*
 * Go through the tokens from right to left. `close` is the token that ends the innermost
 * parentheses around this one, or the whole: an || that is true goes on there. While parentheses
 * are passed through, the link of their CLOSE is that of the parentheses around them; afterwards
 * the link of their OPEN is their CLOSE.
 */
void trace_expr_cond_link(struct expr_cond *cond)
{
	struct expr_token *tokens = cond->tokens;
	uint32_t close = cond->nr;

	expr_add_token(cond, EXPR_TOKEN_END)->next[true] = EXPR_PASS;
	for (uint32_t i = close; i-- > 0;) {
		struct expr_token *token = &tokens[i];
		const struct expr_token *after = token + 1;

		switch ((enum expr_token_kind)token->kind) {
		case EXPR_TOKEN_TEST:
			expr_link_test(token, after);
			break;
		case EXPR_TOKEN_CLOSE:
			token->next[false] = after->next[token->is_negated];
			token->next[true] = after->next[!token->is_negated];
			token->link = close;
			close = i;
			break;
		case EXPR_TOKEN_OPEN:
			token->first = after->first;
			token->link = close;
			close = tokens[close].link;
			break;
		case EXPR_TOKEN_AND:
			token->next[false] = expr_behind_operand(tokens, i + 1)->next[false];
			token->next[true] = after->first;
			break;
		case EXPR_TOKEN_OR:
			token->next[false] = after->first;
			token->next[true] = tokens[close].next[true];
			break;
		case EXPR_TOKEN_END:
			break;
		}
	}
}
