/** How V8 sizes its heap for new objects while the program starts. */
import { setFlagsFromString } from 'node:v8';

/** V8's default semi-space growth factor. */
const defaultGrowthFactor = 2;

/**
 * Keeps the heap for new objects at its first size until the returned function is called. Nearly all objects that a
 * start allocates survive, so V8 would enlarge that heap, by 15 MB that an idle process keeps. Afterwards the heap
 * grows with the load as usual.
 */
export function keepYoungHeapSmall(): () => void {
  setFlagsFromString('--semi-space-growth-factor=1');
  return () => {
    setFlagsFromString(`--semi-space-growth-factor=${defaultGrowthFactor}`);
  };
}
