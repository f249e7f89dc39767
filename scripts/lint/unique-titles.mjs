/** The full title of a test names it in reports and in `--grep`: two tests of a file never share one. */
import { fixedTitle, isSuite, isTest } from './mocha.mjs';

const loops = new Set(['ForStatement', 'ForOfStatement', 'ForInStatement', 'WhileStatement', 'DoWhileStatement']);
const repeatingMethods = new Set(['forEach', 'map', 'flatMap']);

const isFunction = (node) => /Function/.test(node.type);

/** Whether a node runs once for each element of something. */
function isRepeated(node) {
  if (loops.has(node.parent?.type) && node.parent.body === node) return true;
  const { parent: call } = node;
  return (
    isFunction(node) &&
    call?.type === 'CallExpression' &&
    call.arguments[0] === node &&
    call.callee.type === 'MemberExpression' &&
    repeatingMethods.has(call.callee.property.name)
  );
}

// a function that is not the callback of a suite may be called several times, each time in another suite
const isHelper = (node) =>
  isFunction(node) && !isRepeated(node) && !(node.parent.type === 'CallExpression' && isSuite(node.parent));

/** Titles from the outermost suite to the test; null: one of them changes, or they are made in a helper. */
function fullTitle(test) {
  const titles = [];
  let repeats = false;
  for (let node = test; node !== null; node = node.parent) {
    if (isSuite(node) || isTest(node)) {
      const title = fixedTitle(node);
      if (title === null) return null;
      titles.unshift(title);
    } else if (isRepeated(node)) repeats = true;
    else if (isHelper(node)) return null;
  }
  return { text: titles.join(' '), repeats };
}

export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      doubled: 'Another test of this file has the title "{{ title }}" (line {{ line }}).',
      repeated: 'Each round of the loop makes a test with the title "{{ title }}".',
    },
  },
  create(context) {
    const lines = new Map();
    return {
      CallExpression(node) {
        const full = isTest(node) ? fullTitle(node) : null;
        if (full === null) return;
        const { text: title, repeats } = full;
        const line = lines.get(title);
        if (line !== undefined) context.report({ node, messageId: 'doubled', data: { title, line } });
        else if (repeats) context.report({ node, messageId: 'repeated', data: { title } });
        else lines.set(title, node.loc.start.line);
      },
    };
  },
};
