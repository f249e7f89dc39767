/** Judges whether a master reads the scale factors of the values that it reads. */
import type { JudgedMap } from './map-bridge.ts';
import type { JudgeContext, ServedRequest } from './request.ts';

export class ScaleJudge {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  /** Takes a read that was answered, of a master that has looked for the models. */
  read(request: ServedRequest, map: JudgedMap): void {
    const { device, master, peer, deviceIndex } = request;
    const rule = this.#context.rules.scale_factor_unread;
    const { scaleCount } = map;
    const { scales, scaled } = map.scalesIn(request.address, request.count);
    const state = (device.scales ??= { read: new Uint8Array(scaleCount), uses: new Uint8Array(scaleCount) });
    for (const scale of scales) state.read[scale] = 1;
    if (!device.hasFoundModels || !master.remembersAll) return;
    const limit = rule.param('reads');
    for (const [scale, point] of scaled) {
      if (state.read[scale] === 1) {
        rule.exercised(peer);
        continue;
      }
      const uses = (state.uses[scale] ?? 0) + 1;
      state.uses[scale] = uses % limit;
      if (uses < limit) continue;
      rule.broken(
        peer,
        deviceIndex,
        () => ({
          text: `read ${point} ${limit} times and has not read ${map.scaleName(scale)}, which is ${map.scaleValue(scale)}`,
          facts: { point, scale_factor: map.scaleName(scale), value: map.scaleValue(scale), reads: limit },
          ...request.evidence(),
        }),
        map.scaleName(scale),
      );
    }
  }
}
