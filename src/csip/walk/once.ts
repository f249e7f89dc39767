/** Messages that are kept to be known again. */
const maxKnown = 1000;

/** Tells each message once, whose cause may be met at every reading. */
export function onceEach(tell: (message: string) => void): (message: string) => void {
  const known = new Set<string>();
  return (message) => {
    if (known.has(message) || known.size >= maxKnown) return;
    known.add(message);
    tell(message);
  };
}
