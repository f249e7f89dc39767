/** For `expectContinuation`: restoring overwrites whatever has happened to the restored thing before. */

/** `make` whose second thing has been driven in another way. */
export function disturbedSecond<T>(make: () => T, disturb: (thing: T) => void): () => T {
  let count = 0;
  return () => {
    const thing = make();
    count += 1;
    if (count > 1) disturb(thing);
    return thing;
  };
}
