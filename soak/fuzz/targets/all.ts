import type { Target } from '../target.ts';
import { fileTargets } from './files.ts';
import { listenerTargets } from './listeners.ts';
import { wireTargets } from './wire.ts';

/** All that is fuzzed. */
export const targets: readonly Target[] = [...wireTargets, ...listenerTargets, ...fileTargets];
