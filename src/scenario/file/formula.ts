/** Formulas in `${...}`: arithmetic on numbers and parameters. */
import jsep from 'jsep';

const maxLength = 500;
/** Significant digits of results: 0.1 * 3 gives 0.3. */
const digits = 12;

const operators: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

const functions: Readonly<Record<string, (...values: number[]) => number>> = {
  min: Math.min,
  max: Math.max,
  round: (value = 0) => Math.round(value),
};

/** @throws Error in words for the user */
function refuse(words: string): never {
  throw new Error(words);
}

/** @param nameValue value of a name; throws if it is unknown or no number */
function valueOf(node: jsep.Expression, nameValue: (name: string) => number): number {
  const inner = (each: unknown) => valueOf(each as jsep.Expression, nameValue);
  switch (node.type) {
    case 'Literal': {
      const { value, raw } = node as jsep.Literal;
      return typeof value === 'number' ? value : refuse(`${raw} is no number`);
    }
    case 'Identifier':
      return nameValue((node as jsep.Identifier).name);
    case 'UnaryExpression': {
      const { operator, argument } = node as jsep.UnaryExpression;
      if (operator !== '-' && operator !== '+') refuse(`operator ${operator} is not known`);
      return operator === '-' ? -inner(argument) : inner(argument);
    }
    case 'BinaryExpression': {
      const { operator, left, right } = node as jsep.BinaryExpression;
      const apply = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
      return apply ? apply(inner(left), inner(right)) : refuse(`operator ${operator} is not known; known: + - * / %`);
    }
    case 'CallExpression': {
      const { callee, arguments: values } = node as jsep.CallExpression;
      const name = callee.type === 'Identifier' ? (callee as jsep.Identifier).name : '';
      const apply = Object.hasOwn(functions, name) ? functions[name] : undefined;
      if (values.length === 0) refuse(`${name}() needs a number`);
      return apply ? apply(...values.map(inner)) : refuse('such a function is not known; known: min, max, round');
    }
    default:
      return refuse('is not arithmetic: numbers, parameters, + - * / %, parentheses, min, max, round');
  }
}

/**
 * The value of a formula such as `limit_pct / 100 * 5000`.
 * @throws Error in words for the user: invalid, or without a finite value
 */
export function formulaValue(text: string, nameValue: (name: string) => number): number {
  if (text.length > maxLength) refuse(`is longer than ${maxLength} characters`);
  const value = valueOf(jsep(text), nameValue);
  return Number.isFinite(value) ? Number(value.toPrecision(digits)) : refuse('has no finite value');
}
