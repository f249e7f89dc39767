/**
 * A test expects something: in its callback, or in a function of the same file that it calls, is a call whose name says so
 * (`expect`, `expectState`, `checkFrame`, `holds`, `assertEqual`, `sameBytes`), or that the option `also` names.
 */
import { isTest } from './mocha.mjs';

const asserting = /^(?:expect|check|holds|assert|same)(?![a-z])/;

const isFunction = (node) => /Function/.test(node?.type ?? '');

/** Names of a callee from its root: `[fc, assert]`, `[page, expectText]`, `[expect]`. */
function calleeNames(callee) {
  switch (callee.type) {
    case 'Identifier':
    case 'PrivateIdentifier':
      return [callee.name];
    case 'MemberExpression':
      return [...calleeNames(callee.object), ...(callee.computed ? [] : [callee.property.name])];
    case 'CallExpression':
      return calleeNames(callee.callee);
    default:
      return [];
  }
}

/** The function that a name stands for in this file; null: it comes from elsewhere or changes. */
function functionOf(name, scope) {
  for (let at = scope; at !== null; at = at.upper) {
    const variable = at.set.get(name);
    if (variable === undefined) continue;
    const [definition] = variable.defs;
    if (definition?.type === 'FunctionName') return definition.node;
    const value = definition?.type === 'Variable' ? definition.node.init : null;
    return isFunction(value) ? value : null;
  }
  return null;
}

export default {
  meta: {
    type: 'problem',
    schema: [
      {
        type: 'object',
        properties: { also: { type: 'array', items: { type: 'string' } } },
        additionalProperties: false,
      },
    ],
    defaultOptions: [{ also: [] }],
    messages: { nothing: 'The test expects nothing: no expect, check, holds, assert or same.' },
  },
  create(context) {
    const { sourceCode } = context;
    const [{ also }] = context.options;
    const isAsserting = (name) => asserting.test(name) || also.includes(name);
    const verdicts = new Map();
    const children = (node) =>
      sourceCode.visitorKeys[node.type].flatMap((key) => node[key] ?? []).filter((child) => child !== null);

    function callAsserts(call) {
      const names = calleeNames(call.callee);
      // a function that is passed on, as in `rows.forEach(expectRow)`, is called too
      const passed = call.arguments.filter(({ type }) => type === 'Identifier').map(({ name }) => name);
      if ([...names, ...passed].some(isAsserting)) return true;
      const called = call.callee.type === 'Identifier' ? [call.callee.name, ...passed] : passed;
      return called.some((name) => functionAsserts(functionOf(name, sourceCode.getScope(call))));
    }

    function functionAsserts(node) {
      if (node === null) return false;
      if (!verdicts.has(node)) {
        // set before the body is read, which may call the function again
        verdicts.set(node, false);
        verdicts.set(node, asserts(node.body));
      }
      return verdicts.get(node);
    }

    const asserts = (node) => (node.type === 'CallExpression' && callAsserts(node)) || children(node).some(asserts);

    /** Whether the callback of a test is, or makes, a function that asserts. */
    function callbackAsserts(callback) {
      if (callback.type !== 'Identifier') return asserts(callback);
      return isAsserting(callback.name) || functionAsserts(functionOf(callback.name, sourceCode.getScope(callback)));
    }

    return {
      CallExpression(node) {
        if (!isTest(node) || node.arguments.length < 2) return;
        if (!callbackAsserts(node.arguments[1])) context.report({ node, messageId: 'nothing' });
      },
    };
  },
};
