/** Counts the handles that could leak: listeners, sockets, timers. */
export function openHandles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) {
    if (/TCP|Timeout/.test(name)) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Waits some turns of the event loop: handles close only after their `close` callback. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 10; i += 1)
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
}

/** Waits until the open handles are these, for a limited number of turns: sockets of earlier tests may still close. */
export async function settledTo(expected: Record<string, number>): Promise<void> {
  const text = JSON.stringify(expected);
  for (let round = 0; round < 50 && JSON.stringify(openHandles()) !== text; round += 1) await settled();
}
