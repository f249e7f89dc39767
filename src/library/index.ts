/** What the package offers to scripts: `import { createSimulator, Client } from 'derbench'`. */
export { Client } from './client.ts';
export { DerbenchError } from './error.ts';
export type { Issue } from './error.ts';
export type * from './options.ts';
export type * from './replies.ts';
export { createSimulator } from './simulator.ts';
export type { Simulator } from './simulator.ts';
export type * from './settings.ts';
