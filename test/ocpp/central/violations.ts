/** Frames that broke a schema while a test ran. Its `afterEach` (`test/support/mocha-setup.ts`) fails the test. */
const violations: string[] = [];

export function violated(text: string): void {
  violations.push(text);
}

/** @throws Error for what has come together since the last call */
export function expectNoViolations(): void {
  const found = violations.splice(0);
  if (found.length > 0) throw new Error(found.join('\n'));
}
