let running: Mocha.Test | undefined;

/** mocha-setup.ts calls this before each test. */
export function beginTest(test: Mocha.Test | undefined): void {
  running = test;
}

/** The test that mocha runs at the moment. */
export function runningTest(): Mocha.Test {
  if (running === undefined) throw new Error('no test runs, or the suite lacks test/support/mocha-setup.ts');
  return running;
}
