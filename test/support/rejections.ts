/** Loaded by each process of mocha: a rejection that nobody awaits fails the test that runs, as an exception does. */

/** Mocha takes the listener away after each file, so a hook sets it before each. */
export function refuseRejections(): void {
  process.on('unhandledRejection', (reason) => {
    throw reason;
  });
}

/** Root hooks; in a worker `beforeAll` runs once for each file. */
export const mochaHooks = { beforeAll: refuseRejections };
