/** A test waits for an event or moves a clock by hand: a wait for a fixed time is too short on a busy machine, and too long on others. */

const isFunction = (node) => /Function/.test(node?.type ?? '');

/** Whether a callback does nothing but call `resolve`. */
function resolves(callback, resolve) {
  if (callback.type === 'Identifier') return callback.name === resolve;
  if (!isFunction(callback)) return false;
  const { body } = callback;
  const [first, ...rest] =
    body.type === 'BlockStatement' ? body.body : [{ type: 'ExpressionStatement', expression: body }];
  const call = first?.type === 'ExpressionStatement' && rest.length === 0 ? first.expression : null;
  return call?.type === 'CallExpression' && call.callee.type === 'Identifier' && call.callee.name === resolve;
}

/** The `setTimeout` call that an executor of a promise consists of; null: it does more. */
function onlyTimer({ body }) {
  const statements = body.type === 'BlockStatement' ? body.body : [{ type: 'ExpressionStatement', expression: body }];
  if (statements.length !== 1 || statements[0].type !== 'ExpressionStatement') return null;
  const { expression } = statements[0];
  const { callee, type } = expression;
  return type === 'CallExpression' && callee.type === 'Identifier' && callee.name === 'setTimeout' ? expression : null;
}

// 0 ms wait for nothing: they let other events run first
const isZero = (delay) => delay === undefined || (delay.type === 'Literal' && delay.value === 0);

export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: { wait: 'A wait for a fixed time: await an event, or move a clock by hand.' },
  },
  create(context) {
    return {
      NewExpression({ callee, arguments: [executor] }) {
        if (callee.type !== 'Identifier' || callee.name !== 'Promise' || !isFunction(executor)) return;
        const timer = onlyTimer(executor);
        const [resolve] = executor.params;
        if (timer === null || resolve?.type !== 'Identifier') return;
        const [callback, delay] = timer.arguments;
        if (resolves(callback, resolve.name) && !isZero(delay)) context.report({ node: timer, messageId: 'wait' });
      },
      'ImportDeclaration[source.value=/^(node:)?timers.promises$/]'(node) {
        const waits = node.specifiers.filter(
          ({ imported }) => imported === undefined || ['setTimeout', 'scheduler'].includes(imported.name),
        );
        for (const specifier of waits) context.report({ node: specifier, messageId: 'wait' });
      },
    };
  },
};
