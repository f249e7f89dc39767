/** Judges masters of a device whose registers have moved: whether they look for the models again. */
import type { JudgedMap } from './map-bridge.ts';
import type { JudgeContext, MasterAtDevice, ServedRequest } from './request.ts';

/** Registers at which masters look for the marker. */
const markers: readonly number[] = [0, 39_999, 40_000, 49_999, 50_000, 50_001];
const patienceMs = 60_000;
const minRequests = 3;

export class MoveJudge {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  /** Takes a request while the registers lie elsewhere. */
  moved(request: ServedRequest): void {
    const { device, unit, nowMs, peer, address, count } = request;
    const { map } = device;
    if (map === null || !device.hasFoundModels || unit.realPlaces === undefined) return;
    const move = (device.move ??= { sinceMs: nowMs, requests: 0, hasLooked: false });
    if (move.hasLooked) return;
    const rule = this.#context.rules.stale_map;
    const places = unit.realPlaces(address, count);
    const hasHead = places.some((place) => map.hasHead(place.address, place.count));
    if (request.isRead && (hasHead || markers.some((at) => at >= address && at < request.end))) {
      move.hasLooked = true;
      rule.exercised(peer);
      return;
    }
    const [place] = places;
    const isKept = place?.address === address && place.count === count;
    if (isKept || nowMs - move.sinceMs < patienceMs) return;
    move.requests += 1;
    if (move.requests < minRequests) return;
    move.requests = 0;
    rule.broken(peer, request.deviceIndex, () => ({
      text: `asked for ${request.registers} as if the models had not moved, and has not looked for them since`,
      facts: { registers: request.registers, since_s: Math.round((nowMs - move.sinceMs) / 1000) },
      ...request.evidence(),
    }));
  }
}

/** Takes the map that a request of the master meets: places that it found in another one are no mistakes. */
export function meetMap(device: MasterAtDevice, map: JudgedMap): void {
  const hasChanged = device.map !== map;
  // a master that has not looked for the moved models still knows the places of this map
  const hasMovedBack = device.move?.hasLooked === true;
  if (device.hasFoundModels && (hasChanged || hasMovedBack)) device.isLost = true;
  if (hasChanged) device.scales = null;
  device.map = map;
  device.move = null;
}
