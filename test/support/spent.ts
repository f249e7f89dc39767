/** Limits that a busy machine does not break: time in which other processes run is not counted. */

/** CPU time of this process so far, ms. For work that computes. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Time that this process has computed, or waited for timers and sockets, so far, ms. For work that waits. */
export function spentMs(): number {
  return cpuMs() + performance.eventLoopUtilization().idle;
}
