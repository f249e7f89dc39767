/**
 * Rules that need types: those of `strictTypeChecked` with the options of this project. ESLint has all of them; oxlint knows
 * all but the absent ones and is some five times as fast, since its type program is compiled code.
 */
import tseslint from 'typescript-eslint';

const prefix = '@typescript-eslint/';

export const options = {
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
};

/** Answers that tests parse, and scripts read, are `any`. */
export const offOutsideSources = {
  '@typescript-eslint/no-unsafe-assignment': 'off',
  '@typescript-eslint/no-unsafe-member-access': 'off',
  '@typescript-eslint/no-unsafe-argument': 'off',
  '@typescript-eslint/no-unsafe-call': 'off',
  '@typescript-eslint/no-unsafe-return': 'off',
};

const absentInOxlint = ['no-unsafe-class-instance-assignment'];

const needsTypes = (name) => tseslint.plugin.rules[name]?.meta.docs.requiresTypeChecking === true;

/** Rules with types by their names in oxlint. */
function inOxlint(rules) {
  const entries = Object.entries(rules)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, setting]) => [name.slice(prefix.length), setting])
    .filter(([name]) => needsTypes(name) && !absentInOxlint.includes(name));
  return Object.fromEntries(entries.map(([name, setting]) => [`typescript/${name}`, setting]));
}

/** The configuration of oxlint: exactly the rules with types. */
export function oxlintConfig() {
  const strict = Object.assign({}, ...tseslint.configs.strictTypeChecked.map(({ rules }) => rules));
  return {
    plugins: ['typescript'],
    categories: { correctness: 'off' },
    rules: inOxlint({ ...strict, ...options }),
    overrides: [{ files: ['**/{test,bench,soak,scripts}/**'], rules: inOxlint(offOutsideSources) }],
  };
}
