/** Loaded by each process of mocha before the tests (.mocharc.json). */
import { configureGlobal } from 'fast-check';
import { expectNoViolations } from '../ocpp/central/violations.ts';

// The same cases in each run; FC_SEED tries others, and repeats a failure that they showed.
configureGlobal({ seed: Number(process.env['FC_SEED'] ?? 20_260_621) });

// Mocha sends SIGTERM to a worker that has not ended after one second. On a busy machine it is still writing its coverage
// data then, and c8 drops an incomplete file. The worker ends by itself after the write.
if (process.env['MOCHA_WORKER_ID'] !== undefined) process.on('SIGTERM', () => undefined);

/** Root hooks, in the workers too. */
export const mochaHooks = { afterEach: expectNoViolations };
