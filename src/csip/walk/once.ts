/** Messages that are remembered. */
const maxKnown = 1000;

/** Passes each message on once, although each reading may repeat its cause. */
export function onceEach(tell: (message: string) => void): (message: string) => void {
  const seen = new Set<string>();
  return (message) => {
    if (seen.has(message) || seen.size >= maxKnown) return;
    seen.add(message);
    tell(message);
  };
}
