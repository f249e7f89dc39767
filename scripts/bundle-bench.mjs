/** Bundles what the workers of the benchmarks run in their own process. */
import { fileURLToPath } from 'node:url';
import { bundle, withoutDescription } from './bundle.mjs';

const folder = fileURLToPath(new URL('../bench/built', import.meta.url));
await bundle({ parts: 'bench/parts.ts' }, folder, withoutDescription);
