/** The message of all devices in columns, for clients that show a whole plant. */
import { conditionOf, kindStates } from '../contract/condition.ts';
import { limitKeys } from '../contract/limit-chain.ts';
import { positionOf } from '../contract/snapshot.ts';
import type { ColumnSource, StreamTick } from './source.ts';

/** Words behind the codes of the columns: a code is a position in its list. */
const fleetCodes = { state: kindStates, limited_by: limitKeys };

const stateCodes = new Map(kindStates.map((word, code) => [word, code]));
const limitCodes = new Map(limitKeys.map((key, code) => [key, code]));

interface FleetMessage {
  readonly tick: number;
  readonly sim_time: string;
  /** device indexes; the other columns have one value for each of them, in the same order */
  readonly index: readonly number[];
  readonly p_kw: readonly number[];
  readonly q_kvar: readonly number[];
  readonly v_pct: readonly number[];
  readonly soc_pct: readonly (number | null)[];
  readonly state: readonly number[];
  readonly limited_by: readonly (number | null)[];
}

const hundredths = (value: number) => Math.round(value * 100) / 100;

function fleetMessage(event: StreamTick, plant: ColumnSource): FleetMessage {
  const { tick, published } = event;
  const columns = {
    index: [] as number[],
    p_kw: [] as number[],
    q_kvar: [] as number[],
    v_pct: [] as number[],
    soc_pct: [] as (number | null)[],
    state: [] as number[],
    limited_by: [] as (number | null)[],
  };
  for (const device of plant.devices) {
    const metrics = published[positionOf(published, device.index)]?.snapshot.metrics;
    if (!metrics) continue;
    const { state, limitedBy } = conditionOf(device);
    columns.index.push(device.index);
    columns.p_kw.push(metrics.power_kw);
    columns.q_kvar.push(metrics.reactive_power_kvar);
    columns.v_pct.push(hundredths(device.trace.voltagePct));
    columns.soc_pct.push(metrics.state_of_charge_pct);
    columns.state.push(stateCodes.get(state) ?? 0);
    columns.limited_by.push(limitedBy === null ? null : (limitCodes.get(limitedBy) ?? null));
  }
  const timestamp = published[0]?.snapshot.metrics.timestamp;
  return { tick, sim_time: timestamp ?? new Date(plant.dateMs(plant.latest.sim)).toISOString(), ...columns };
}

/** The text of a tick, and that of the first message of a client, which also names the codes. */
export class FleetText {
  readonly plain: Buffer;

  constructor(event: StreamTick, plant: ColumnSource) {
    this.plain = Buffer.from(JSON.stringify(fleetMessage(event, plant)));
  }

  get withCodes(): Buffer {
    return Buffer.concat([this.plain.subarray(0, -1), Buffer.from(`,"codes":${JSON.stringify(fleetCodes)}}`)]);
  }
}
