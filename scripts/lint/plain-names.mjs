/** The name of a value says what it is, not how the code came by it. A name that destructuring takes over is another's. */

const refused = new Set(['found', 'known', 'own', 'made', 'told', 'now']);

const isFunction = (node) => /Function/.test(node?.type ?? '');

/** The identifiers to which a pattern gives names of its own. */
function named(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern];
    case 'ArrayPattern':
      return pattern.elements.flatMap(named);
    case 'AssignmentPattern':
      return named(pattern.left);
    default:
      return [];
  }
}

export default {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { name: '"{{name}}" says how the value came about: name the value itself.' },
  },
  create(context) {
    const check = (pattern) => {
      for (const identifier of named(pattern).filter(({ name }) => refused.has(name)))
        context.report({ node: identifier, messageId: 'name', data: { name: identifier.name } });
    };
    return {
      VariableDeclarator({ id, init }) {
        if (!isFunction(init)) check(id);
      },
      ':function'({ params }) {
        params.forEach(check);
      },
    };
  },
};
