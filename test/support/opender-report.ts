/** Prints how far each OpenDER scenario is off: `npx tsx test/support/opender-report.ts [part of an id...]`. */
import { failuresOf, findingsOf, scenarios } from './opender.ts';

const parts = process.argv.slice(2);
const shown = parts.length === 0 ? 2 : 12;

for (const scenario of scenarios.filter(({ id }) => parts.length === 0 || parts.some((part) => id.startsWith(part)))) {
  const begin = performance.now();
  const findings = await findingsOf(scenario).catch((error: unknown) => [{ off: Infinity, what: String(error) }]);
  const failures = failuresOf(findings);
  const worst = Math.max(0, ...findings.map(({ off }) => off));
  const verdict = failures.length === 0 ? 'ok  ' : 'FAIL';
  const took = Math.round(performance.now() - begin);
  process.stdout.write(
    `${verdict} ${scenario.id.padEnd(18)} ${scenario.basis.padEnd(12)} worst ${worst.toFixed(2)} of the tolerance,` +
      ` ${failures.length}/${findings.length} beyond, ${took} ms\n`,
  );
  for (const { what, off } of failures.slice(0, shown)) process.stdout.write(`       ${off.toFixed(1)} x: ${what}\n`);
}
