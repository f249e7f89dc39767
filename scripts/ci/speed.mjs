/** How fast this machine is today: machines of one kind differ by a factor of 1.7, which no limit in seconds knows. */

/** CPU seconds of the work on the machine for which the limits are. */
export const usualS = 0.3;
const maxSlowdown = 2;
const rounds = 250;
const objectsOfRound = 1000;

/** Objects, texts and numbers, as in most tests. */
function work() {
  let sum = 0;
  for (let round = 0; round < rounds; round += 1) {
    const objects = Array.from({ length: objectsOfRound }, (_, at) => ({
      name: `device ${(at * 7919) % objectsOfRound}`,
      powerW: Math.sin(at + round) * 5000,
      phases: [at, round, at * round],
    }));
    const copies = JSON.parse(JSON.stringify(objects));
    copies.sort((a, b) => (a.name < b.name ? -1 : 1));
    const byName = new Map(copies.map((copy) => [copy.name.replace(/\d+$/, (digits) => `no. ${digits}`), copy]));
    for (const { powerW, phases } of byName.values()) sum += powerW / (1 + Math.hypot(...phases));
  }
  return sum;
}

/** The factor of limits for a machine that takes so long: a fast one has the usual limits, a very slow one is a fault. */
export const slowdownOf = (cpuS) => Math.min(maxSlowdown, Math.max(1, Math.round((100 * cpuS) / usualS) / 100));

/** The stages with the budgets of such a machine. */
export const withSlowdown = (stages, slowdown) =>
  stages.map((stage) => ({ ...stage, budgetS: Math.round(stage.budgetS * slowdown) }));

function cpuSOfWork() {
  const begin = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1e6;
}

/** Does the work three times: the least counts, since others may use the machine meanwhile. */
export const measuredSlowdown = () => slowdownOf(Math.min(cpuSOfWork(), cpuSOfWork(), cpuSOfWork()));
