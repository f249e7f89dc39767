/** Counts the handles that could leak: listeners, sockets, timers. */
export function openHandles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) {
    if (/TCP|Timeout/.test(name)) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** All that a file could leave open, by name and number: also processes, datagram sockets and watchers of files. */
export function openResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  // pipes lead to the parent process; a histogram of the event loop is one until it is collected
  const names = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap' && name !== 'IntervalHistogram');
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
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
