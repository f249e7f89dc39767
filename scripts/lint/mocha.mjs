/** Calls of mocha in test files. */
const suites = new Set(['describe', 'context', 'suite']);
const tests = new Set(['it', 'specify', 'test']);

/** `describe` of `describe(...)`, `describe.skip(...)` and `describe.only(...)`. */
function calleeName({ callee }) {
  if (callee.type === 'Identifier') return callee.name;
  const isVariant = callee.type === 'MemberExpression' && callee.object.type === 'Identifier' && !callee.computed;
  return isVariant && ['skip', 'only'].includes(callee.property.name) ? callee.object.name : null;
}

const hasTitle = (call) => call.arguments.length > 0 && call.arguments[0].type !== 'SpreadElement';

export const isSuite = (node) => node.type === 'CallExpression' && hasTitle(node) && suites.has(calleeName(node));
export const isTest = (node) => node.type === 'CallExpression' && hasTitle(node) && tests.has(calleeName(node));

/** The text of a title without parts that change; null: it has such parts. */
export function fixedTitle(call) {
  const [title] = call.arguments;
  if (title.type === 'Literal' && typeof title.value === 'string') return title.value;
  if (title.type === 'TemplateLiteral' && title.expressions.length === 0) return title.quasis[0].value.cooked;
  return null;
}
