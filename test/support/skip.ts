import { appendFileSync } from 'node:fs';

/** The test, or the suite of the hook, that a context is of. */
function titleOf({ currentTest, test }: Mocha.Context): string {
  const runnable = currentTest ?? (test as Mocha.Test | Mocha.Hook | undefined);
  const ofHook = runnable?.type === 'hook' ? runnable.parent?.fullTitle() : runnable?.fullTitle();
  return ofHook ?? '';
}

/**
 * Skips a test, or all tests of a hook's suite, with a notice of the reason. The file that `TEST_SKIPPED` names gets
 * title and reason as a line of JSON.
 */
export function skip(context: Mocha.Context, reason: string): never {
  process.stderr.write(`    skipped: ${reason}\n`);
  const file = process.env['TEST_SKIPPED'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ title: titleOf(context), reason })}\n`);
  context.skip();
}
