/**
 * The fence of requests. A process that stood still may have lost its name without knowing; until it knows, it serves
 * the same subjects as the process that has the name. A request says the epoch of the one that it is for.
 */
import type { FleetMessage } from './link.ts';

/** Header of requests to a shard: epoch of the process that has the name. */
export const epochHeader = 'Derbench-Epoch';

/**
 * Leaves requests that are for a later process to it. A gateway that does not see a new process yet asks under an
 * earlier epoch, and gets its answer.
 *
 * @param epoch that of this process
 */
export const fenced =
  (epoch: () => number, answer: (request: FleetMessage) => Promise<FleetMessage>) =>
  (request: FleetMessage): Promise<FleetMessage | null> =>
    Number(request.headers[epochHeader] ?? 0) > epoch() ? Promise.resolve(null) : answer(request);
