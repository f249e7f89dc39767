/** Tick messages of a shard, with the least that a snapshot has. */
import { encodeTick } from '../../../src/fleet/messages.ts';
import type { TickDevice, TickStampHead } from '../../../src/fleet/messages.ts';

const stamp: TickStampHead = {
  session: 's1',
  epoch: 1,
  tick: 1,
  simUs: 0,
  wallMs: 0,
  first: false,
  tookMs: 1,
  lateSlots: 0,
  unused: 0,
  rateEffective: 1,
};

/** The text of a snapshot in these messages. */
export const snapshotText = (index: number, tick: number) =>
  JSON.stringify({ metrics: { power_kw: index + tick / 1000 }, device_index: index, tick });

/**
 * @param limit bytes of a part; 1: each device has a part of its own
 * @param all members of every device
 */
export function ticksOf(
  over: Partial<TickStampHead>,
  indexes: readonly number[],
  limit?: number,
  all: Partial<TickDevice> = {},
): Buffer[] {
  const head = { ...stamp, ...over };
  const devices = indexes.map((index) => ({
    index,
    powerW: index,
    reactiveVar: 0,
    absorbW: 0,
    injectW: 0,
    soc: NaN,
    inverterState: 0,
    alarmSeverity: 0,
    json: Buffer.from(snapshotText(index, head.tick)),
    ...all,
  }));
  return encodeTick(head, devices, limit);
}
