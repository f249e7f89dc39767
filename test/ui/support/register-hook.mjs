import * as module from 'node:module';
import { load } from './no-styles.mjs';

// older versions of Node.js have the hook on a thread of its own only
if (module.registerHooks) module.registerHooks({ load });
else module.register('./no-styles.mjs', import.meta.url);
