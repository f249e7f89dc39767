/** Output of ESLint in which no error drowns: errors one a line, warnings as counts, or with LINT_WARNINGS one a line too. */
import { relative } from 'node:path';

const line = ({ file, line, column, ruleId, message }) => `${file}:${line}:${column} ${message} (${ruleId})\n`;

function countsOf(warnings) {
  const counts = new Map();
  for (const { ruleId } of warnings) counts.set(ruleId, (counts.get(ruleId) ?? 0) + 1);
  return [...counts].map(([rule, count]) => `${rule} ${count}`).join(', ');
}

export default function format(results, { cwd }) {
  const messages = results.flatMap(({ filePath, messages: ofFile }) =>
    ofFile.map((message) => ({ ...message, file: relative(cwd, filePath) })),
  );
  const errors = messages.filter(({ severity }) => severity === 2);
  const warnings = messages.filter(({ severity }) => severity === 1);
  const shown = process.env.LINT_WARNINGS ? [...errors, ...warnings] : errors;
  const counts = warnings.length === 0 ? '' : `warnings (npm run lint -- --warnings): ${countsOf(warnings)}\n`;
  return `${shown.map(line).join('')}${counts}`.trimEnd();
}
