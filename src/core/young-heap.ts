/** How V8 sizes its heap for new objects while the program loads. */
import { setFlagsFromString } from 'node:v8';

/** V8's default semi-space growth factor. */
const usualFactor = 2;

/**
 * Lets the heap for new objects keep its first size until the function that it returns is called. Nearly all that a
 * start allocates stays, from which V8 would conclude that a process needs a large heap for new objects: 15 MB that an
 * idle process keeps. Afterwards the heap grows with the load as usual.
 */
export function keepYoungHeapSmall(): () => void {
  setFlagsFromString('--semi-space-growth-factor=1');
  return () => {
    setFlagsFromString(`--semi-space-growth-factor=${usualFactor}`);
  };
}
