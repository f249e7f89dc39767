import tseslint from 'typescript-eslint';

// Layer rules of docs/ARCHITECTURE.md: who may import whom. A folder lists what it must not reach.
const forbid = (files, groups, message) => ({
  files,
  rules: {
    'no-restricted-imports': ['error', { patterns: [{ group: groups, message }] }],
  },
});

const upper = ['**/api/**', '**/ws/**', '**/app.ts', '**/config/**'];
const adapters = ['**/sunspec/modbus/**', '**/sunspec/client/**', '**/csip/**', '**/ocpp/**', '**/dnp3/**'];

export default tseslint.config(
  { ignores: ['dist/**', 'coverage/**', 'node_modules/**', '.venv/**', 'src/api/pages/**'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      'max-lines': ['error', { max: 400 }],
    },
  },
  forbid(['src/core/**/*.ts'], ['../*', '!./*'], 'core knows nothing of ours'),
  forbid(['src/sunspec/models/**/*.ts'], ['../../**', '../modbus/**'], 'models are tables: types of sunspec/map only'),
  forbid(['src/sunspec/map/**/*.ts'], [...upper, ...adapters, '**/der/**'], 'the map knows core and models only'),
  forbid(['src/der/**/*.ts'], [...upper, ...adapters], 'physics knows core, map and models only'),
  forbid(['src/sunspec/modbus/**/*.ts'], [...upper, '**/der/**', '**/sunspec/client/**', '**/csip/**', '**/ocpp/**', '**/dnp3/**'], 'an adapter knows core, map and models only'),
  forbid(['src/api/**/*.ts'], [...adapters, '**/der/**', '**/ws/**', '**/app.ts', '**/config/**'], 'the facade knows core and map only'),
  forbid(['src/ws/**/*.ts'], [...adapters, '**/der/**', '**/api/**', '**/app.ts', '**/config/**'], 'the stream knows core and map only'),
  forbid(['src/config/**/*.ts'], [...adapters, '**/der/**', '**/api/**', '**/ws/**', '**/app.ts'], 'configuration knows core and map only'),
  { files: ['src/sunspec/models/**/*.ts'], rules: { 'max-lines': 'off' } },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
