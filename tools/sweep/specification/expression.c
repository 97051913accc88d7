#include "tools/sweep/specification/expression.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 64, NODES_MOST = 1024, NAME_BYTES = 256 };

enum type { NUMBER, TEXT, TRUTH };

enum operation {
    CONSTANT,
    LITERAL,
    KEY,
    NEGATE,
    NOT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    ADD,
    SUBTRACT,
    EQUAL,
    UNEQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    AND,
    OR
};

struct node {
    enum operation operation;
    enum type type;
    size_t left, right; /* indices of operands */
    double number;      /* CONSTANT */
    char *text;         /* LITERAL, KEY; owned */
};

struct pim_expression {
    char *text;
    struct node *nodes;
    size_t count, root;
};

struct parser {
    struct pim_expression *expression;
    const char *at;
    unsigned depth;
    pim_expression_known *known;
    void *context;
    struct pim_error *error;
};

static enum pim_status refuse(const struct parser *parser, const char *reason)
{
    const char *text = parser->expression->text;
    return pim_fail(parser->error, PIM_BAD_INPUT, "constraint \"%.200s\", at character %zu: %s", text,
                    (size_t)(parser->at - text) + 1, reason);
}

static void skip_blanks(struct parser *parser)
{
    while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n')
        parser->at++;
}

/* Takes the word when it stands next. */
static bool accept(struct parser *parser, const char *word)
{
    skip_blanks(parser);
    if (strncmp(parser->at, word, strlen(word)) != 0)
        return false;
    parser->at += strlen(word);
    return true;
}

static enum pim_status add_node(struct parser *parser, struct node node, size_t *index)
{
    struct pim_expression *expression = parser->expression;
    if (expression->count >= NODES_MOST) {
        free(node.text);
        return refuse(parser, "too long");
    }
    *index = expression->count++;
    expression->nodes[*index] = node;
    return PIM_OK;
}

static enum type type_of(const struct parser *parser, size_t index)
{
    return parser->expression->nodes[index].type;
}

static enum pim_status parse_or(struct parser *parser, size_t *index);

static enum pim_status parse_number(struct parser *parser, size_t *index)
{
    char *end = NULL;
    double number = strtod(parser->at, &end);
    if (end == parser->at || !isfinite(number))
        return refuse(parser, "not a number");
    parser->at = end;
    return add_node(parser, (struct node){.operation = CONSTANT, .type = NUMBER, .number = number}, index);
}

static enum pim_status parse_literal(struct parser *parser, size_t *index)
{
    const char *end = strchr(parser->at + 1, '"');
    if (!end)
        return refuse(parser, "this text has no end: a quote is missing");
    char *text = strndup(parser->at + 1, (size_t)(end - parser->at - 1));
    if (!text)
        return pim_fail(parser->error, PIM_NO_MEMORY, "out of memory for a constraint");
    parser->at = end + 1;
    return add_node(parser, (struct node){.operation = LITERAL, .type = TEXT, .text = text}, index);
}

static enum pim_status parse_key(struct parser *parser, size_t *index)
{
    size_t length = 0;
    bool is_text = false;
    while (isalnum((unsigned char)parser->at[length]) || parser->at[length] == '_' ||
           parser->at[length] == '.')
        length++;
    if (length == 0 || length >= NAME_BYTES)
        return refuse(parser, *parser->at ? "a number, a \"text\", a key or ( is expected"
                                          : "it ends where a number, a \"text\", a key or ( is expected");
    char *name = strndup(parser->at, length);
    if (!name)
        return pim_fail(parser->error, PIM_NO_MEMORY, "out of memory for a constraint");
    if (parser->known(parser->context, name, &is_text, parser->error) != PIM_OK) {
        free(name);
        return pim_fail_in(parser->error, "constraint \"%.200s\"", parser->expression->text);
    }
    parser->at += length;
    return add_node(parser, (struct node){.operation = KEY, .type = is_text ? TEXT : NUMBER, .text = name},
                    index);
}

static enum pim_status parse_factor(struct parser *parser, size_t *index)
{
    if (++parser->depth > DEPTH_MOST)
        return refuse(parser, "nested too deeply");
    enum pim_status status;
    if (accept(parser, "(")) {
        status = parse_or(parser, index);
        if (status == PIM_OK && !accept(parser, ")"))
            status = refuse(parser, ") is missing");
    } else if (accept(parser, "-")) {
        size_t operand = 0;
        status = parse_factor(parser, &operand);
        if (status == PIM_OK && type_of(parser, operand) != NUMBER)
            status = refuse(parser, "- stands before what is no number");
        if (status == PIM_OK)
            status =
                add_node(parser, (struct node){.operation = NEGATE, .type = NUMBER, .left = operand}, index);
    } else if (*parser->at >= '0' && *parser->at <= '9') {
        status = parse_number(parser, index);
    } else if (*parser->at == '"') {
        status = parse_literal(parser, index);
    } else {
        status = parse_key(parser, index);
    }
    parser->depth--;
    return status;
}

struct operator
{
    const char *word;
    enum operation operation;
};

/* Takes one of the operators; a list ends with an empty word. */
static bool accept_operator(struct parser *parser, const struct operator* operators,
                            enum operation *operation)
{
    for (; operators->word; operators++)
        if (accept(parser, operators->word)) {
            *operation = operators->operation;
            return true;
        }
    return false;
}

/* operand { operator operand }, of operands of one type. */
static enum pim_status parse_chain(struct parser *parser, const struct operator* operators, enum type type,
                                   enum pim_status (*operand)(struct parser *, size_t *), size_t *index)
{
    enum operation operation;
    if (operand(parser, index) != PIM_OK)
        return parser->error->status;
    while (accept_operator(parser, operators, &operation)) {
        struct node node = {.operation = operation, .type = type, .left = *index};
        if (operand(parser, &node.right) != PIM_OK)
            return parser->error->status;
        if (type_of(parser, node.left) != type || type_of(parser, node.right) != type)
            return refuse(parser, type == NUMBER ? "+ - * / % take numbers" : "&& and || take conditions");
        if (add_node(parser, node, index) != PIM_OK)
            return parser->error->status;
    }
    return PIM_OK;
}

static enum pim_status parse_product(struct parser *parser, size_t *index)
{
    static const struct operator operators[] = {
        {"*", MULTIPLY}, {"/", DIVIDE}, {"%", REMAINDER}, {NULL, ADD}};
    return parse_chain(parser, operators, NUMBER, parse_factor, index);
}

static enum pim_status parse_sum(struct parser *parser, size_t *index)
{
    static const struct operator operators[] = {{"+", ADD}, {"-", SUBTRACT}, {NULL, ADD}};
    return parse_chain(parser, operators, NUMBER, parse_product, index);
}

static enum pim_status parse_compare(struct parser *parser, size_t *index)
{
    static const struct operator operators[] = {{"==", EQUAL},         {"!=", UNEQUAL}, {"<=", LESS_EQUAL},
                                                {">=", GREATER_EQUAL}, {"<", LESS},     {">", GREATER},
                                                {NULL, EQUAL}};
    struct node node = {.type = TRUTH};
    if (parse_sum(parser, index) != PIM_OK)
        return parser->error->status;
    if (!accept_operator(parser, operators, &node.operation))
        return PIM_OK;
    node.left = *index;
    if (parse_sum(parser, &node.right) != PIM_OK)
        return parser->error->status;
    enum type left = type_of(parser, node.left), right = type_of(parser, node.right);
    bool equality = node.operation == EQUAL || node.operation == UNEQUAL;
    if (left != right || left == TRUTH || (left == TEXT && !equality))
        return refuse(parser, "two numbers are compared, or two texts by == or !=");
    return add_node(parser, node, index);
}

static enum pim_status parse_not(struct parser *parser, size_t *index)
{
    skip_blanks(parser);
    if (parser->at[0] != '!' || parser->at[1] == '=')
        return parse_compare(parser, index);
    parser->at++;
    struct node node = {.operation = NOT, .type = TRUTH};
    if (++parser->depth > DEPTH_MOST)
        return refuse(parser, "nested too deeply");
    if (parse_not(parser, &node.left) != PIM_OK)
        return parser->error->status;
    parser->depth--;
    if (type_of(parser, node.left) != TRUTH)
        return refuse(parser, "! stands before what is no condition");
    return add_node(parser, node, index);
}

static enum pim_status parse_and(struct parser *parser, size_t *index)
{
    static const struct operator operators[] = {{"&&", AND}, {NULL, AND}};
    return parse_chain(parser, operators, TRUTH, parse_not, index);
}

static enum pim_status parse_or(struct parser *parser, size_t *index)
{
    static const struct operator operators[] = {{"||", OR}, {NULL, OR}};
    return parse_chain(parser, operators, TRUTH, parse_and, index);
}

enum pim_status pim_expression_create(const char *text, pim_expression_known *known, void *context,
                                      struct pim_expression **expression, struct pim_error *error)
{
    *expression = NULL;
    struct pim_expression *made = calloc(1, sizeof *made);
    if (made) {
        made->text = strdup(text);
        made->nodes = calloc(NODES_MOST, sizeof *made->nodes);
    }
    if (!made || !made->text || !made->nodes) {
        pim_expression_destroy(made);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a constraint");
    }
    struct parser parser = {
        .expression = made, .at = made->text, .known = known, .context = context, .error = error};
    enum pim_status status = parse_or(&parser, &made->root);
    skip_blanks(&parser);
    if (status == PIM_OK && *parser.at != '\0')
        status = refuse(&parser, "an operator is expected");
    if (status == PIM_OK && type_of(&parser, made->root) != TRUTH)
        status = refuse(&parser, "the whole is no condition: a comparison is expected");
    if (status != PIM_OK) {
        pim_expression_destroy(made);
        return status;
    }
    *expression = made;
    return PIM_OK;
}

void pim_expression_destroy(struct pim_expression *expression)
{
    if (!expression)
        return;
    for (size_t i = 0; expression->nodes && i < expression->count; i++)
        free(expression->nodes[i].text);
    free(expression->nodes);
    free(expression->text);
    free(expression);
}

const char *pim_expression_text(const struct pim_expression *expression)
{
    return expression->text;
}

static bool compare(enum operation operation, const struct pim_expression_value *left,
                    const struct pim_expression_value *right)
{
    double order = left->text ? (double)strcmp(left->text, right->text)
                              : (double)((left->number > right->number) - (left->number < right->number));
    return operation == EQUAL        ? order == 0
           : operation == UNEQUAL    ? order != 0
           : operation == LESS       ? order < 0
           : operation == LESS_EQUAL ? order <= 0
           : operation == GREATER    ? order > 0
                                     : order >= 0;
}

static double calculate(enum operation operation, double left, double right)
{
    return operation == MULTIPLY    ? left * right
           : operation == DIVIDE    ? left / right
           : operation == REMAINDER ? fmod(left, right)
           : operation == ADD       ? left + right
                                    : left - right;
}

enum pim_status pim_expression_evaluate(const struct pim_expression *expression,
                                        pim_expression_lookup *lookup, void *context, bool *result,
                                        struct pim_error *error)
{
    struct pim_expression_value values[NODES_MOST]; /* operands stand before their operator */
    for (size_t i = 0; i < expression->count; i++) {
        const struct node *node = &expression->nodes[i];
        const struct pim_expression_value *left = &values[node->left], *right = &values[node->right];
        struct pim_expression_value value = {NULL, 0};
        switch (node->operation) {
        case CONSTANT:
            value.number = node->number;
            break;
        case LITERAL:
            value.text = node->text;
            break;
        case KEY:
            value = lookup(context, node->text);
            break;
        case NEGATE:
            value.number = -left->number;
            break;
        case NOT:
            value.number = left->number == 0;
            break;
        case AND:
            value.number = left->number != 0 && right->number != 0;
            break;
        case OR:
            value.number = left->number != 0 || right->number != 0;
            break;
        case DIVIDE:
        case REMAINDER:
            if (right->number == 0)
                return pim_fail(error, PIM_BAD_INPUT, "constraint \"%.200s\": division by 0",
                                expression->text);
            value.number = calculate(node->operation, left->number, right->number);
            break;
        case MULTIPLY:
        case ADD:
        case SUBTRACT:
            value.number = calculate(node->operation, left->number, right->number);
            break;
        case EQUAL:
        case UNEQUAL:
        case LESS:
        case LESS_EQUAL:
        case GREATER:
        case GREATER_EQUAL:
            value.number = compare(node->operation, left, right);
            break;
        }
        values[i] = value;
    }
    *result = values[expression->root].number != 0;
    return PIM_OK;
}
