/** Loaded before the tests of the dashboard (.mocharc.ui.cjs): gives the process a window. */
import { GlobalRegistrator } from '@happy-dom/global-registrator';
// makes the description before there is a window
import './description.ts';
import { stubCanvas } from './canvas.ts';
import { installClock } from './clock.ts';
import { holdEffects } from './settle.ts';

// the signal of a time limit must not keep the process
const { AbortController, AbortSignal, Response } = globalThis;

// The whole window takes the place of the globals of Node.js: an `Event` or `navigator` of another realm is refused.
GlobalRegistrator.register({ url: 'http://127.0.0.1:8111/', width: 1280, height: 800 });
Object.assign(globalThis, { AbortController, AbortSignal, Response });
stubCanvas();
installClock();
holdEffects();
