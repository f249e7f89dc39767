/** Frames that broke a schema while a test ran. `test/support/mocha-setup.ts` fails the test for them. */
const violations: string[] = [];

export function violated(text: string): void {
  violations.push(text);
}

/** An error that names what has come together since the last call. */
export function takeViolations(): Error | undefined {
  const texts = violations.splice(0);
  return texts.length > 0 ? new Error(texts.join('\n')) : undefined;
}
