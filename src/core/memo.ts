/** A value that is made at its first use and kept; a failure is not kept, so that the next use tries again. */
export function memo<T>(make: () => T): () => T {
  let memoized: { readonly value: T } | undefined;
  return () => (memoized ??= { value: make() }).value;
}
