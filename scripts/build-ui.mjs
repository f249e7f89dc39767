/** Builds the dashboard alone, for tests and daemons that run from the sources: `dist/ui/`. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildUi } from './ui.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
await buildUi(join(root, 'dist', 'ui'), root);
