/** Choices among the cases of an exhaustive test, for `pick` of depth.ts. */

/**
 * The members of a list that fall to one of several hands: every hand has others, and all hands together have the list.
 * @param hand any whole number; after `hands` of them it is the turn of the first again
 */
export function dealt<T>(list: readonly T[], hands: number, hand: number): T[] {
  return list.filter((_, i) => (i - hand) % hands === 0);
}

/** `count` members evenly spread over a list, the first and the last among them; a shorter list whole. */
export function spread<T>(list: readonly T[], count: number): readonly T[] {
  if (list.length <= count) return list;
  const step = count === 1 ? 0 : (list.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, i) => list[Math.round(i * step)] as T);
}
