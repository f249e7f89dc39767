/** Loaded by each process of mocha before the tests (.mocharc.json). */
import { configureGlobal } from 'fast-check';

// The same cases in each run; FC_SEED tries others, and repeats a failure that they showed.
configureGlobal({ seed: Number(process.env['FC_SEED'] ?? 20_260_621) });

// Mocha gives a worker one second to end, then sends SIGTERM; on a busy machine it still writes its coverage data then, and half a
// file counts as none. It ends by itself once it has written.
if (process.env['MOCHA_WORKER_ID'] !== undefined) process.on('SIGTERM', () => undefined);
