/** Invariants of every device in every sub-step under any settings (IEEE 1547-2018 4.7, 5.2 and common sense). */
import type { GridTraceRow } from '../../src/contract/grid-trace.ts';
import type { MapView } from '../../src/sunspec/map/view.ts';
import { storePower } from './interaction-plan.ts';
import type { InteractionRig } from './interaction-rig.ts';

const kept = 20_000;
/** phases in which power may flow */
const energized = ['in_service', 'ramping', 'shutting_down'];
/** own consumption of PV without sun, of rated */
const nightShare = 2e-4;
/** droop counts as back at its target within this share of WMax */
const droopEnd = 1e-4;

const counterPoints = ['TotWhInj', 'TotWhAbs', 'TotVarhInj', 'TotVarhAbs'] as const;
const counters = ({ m701, m714, m715 }: MapView) => [
  ...counterPoints.map((name) => Number(m701[name])),
  m714.DCWhInj!,
  m714.DCWhAbs!,
  m715.DERHb!,
];

/** Records the sub-steps of a rig and checks each; a message contains the values of the sub-step that fails. */
export class Watch {
  readonly rig: InteractionRig;
  #counters: readonly number[];
  #last: GridTraceRow;

  constructor(rig: InteractionRig) {
    this.rig = rig;
    this.#counters = counters(rig.map);
    this.#last = rig.device.trace.now;
    rig.device.trace.record(kept);
  }

  /** The sub-steps since the last check, preceded by the one before. Settings must not have changed in between. */
  look(): readonly GridTraceRow[] {
    const rows = [this.#last, ...this.rig.device.trace.rows];
    if (rows.length > kept) throw new Error('more sub-steps than are recorded');
    this.rig.device.trace.record(kept);
    this.#last = rows.at(-1)!;
    for (const [i, row] of rows.entries()) if (i > 0) this.#row(row, rows[i - 1]!);
    this.#registers(this.#last);
    return rows;
  }

  #row(row: GridTraceRow, before: GridTraceRow): void {
    const { m702, m704 } = this.rig.map;
    const { ratedW } = this.rig;
    const { activePowerW: p, reactivePowerVar: q, availableW } = row;
    const slack = 1e-6 * ratedW;
    const fail = (what: string): never => {
      throw new Error(`${what}: ${JSON.stringify(row)} after ${JSON.stringify(before)}`);
    };
    const numbers = [
      p,
      q,
      availableW,
      row.voltagePct,
      ...Object.values(row.functions).flatMap((step) => Object.values(step) as (number | null)[]),
    ];
    if (numbers.some((x) => x !== null && !Number.isFinite(x))) fail('a value is no number');
    if (!energized.includes(row.service) && (p !== 0 || q !== 0)) fail('power out of service');
    const current = (((Math.max(0, row.voltagePct) / 100) * m702.VNom!) / Math.sqrt(3)) * m702.AMax!;
    if (Math.hypot(p, q) > Math.min(m702.VAMax!, current) + slack) fail('outside the circle');
    if (q > m702.VarMaxInj! + slack || q < -m702.VarMaxAbs! - slack) fail('outside the reactive capability');
    if (p > Math.min(availableW, m702.WMax!) + slack) fail('more than source or WMax');
    const take = this.rig.kind === 'store' ? Math.min(m702.WChaRteMax!, storePower * ratedW) : nightShare * ratedW;
    if (p < -take - slack) fail('takes more than it may');
    if (m704.WMaxLimPctEna !== 'ENABLED' || raisedByDroop(row, before)) return;
    const ramp = ((m704.WRmp! / 100) * m702.WMax! * (row.at - before.at)) / 1e6;
    const falling = Math.max(
      before.activePowerW - (m704.WRmpRef === 'W_MAX' ? ramp : 0),
      (m704.WMaxLimPct! / 100) * m702.WMax!,
    );
    if (p > falling + slack + droopEnd * m702.WMax!) fail('above the active power limit');
  }

  #registers(row: GridTraceRow): void {
    const {
      map,
      ratedW,
      device: { bank },
    } = this.rig;
    const fail = (what: string): never => {
      throw new Error(`${what}: ${JSON.stringify(map.m701)}`);
    };
    for (const slot of bank.layout.slots) {
      const value = bank.value(slot);
      if (typeof value === 'number' && !Number.isFinite(value)) fail(`${slot.modelId}.${slot.path} is ${value}`);
    }
    const { W, Var, A, ConnSt } = map.m701;
    if (Math.abs(W! - row.activePowerW) > 1e-4 * ratedW || Math.abs(Var! - row.reactivePowerVar) > 1e-4 * ratedW)
      fail('the registers say otherwise');
    if (ConnSt === 'DISCONNECTED' && (W !== 0 || Var !== 0 || A !== 0)) fail('power while disconnected');
    const now = counters(map);
    now.forEach((value, i) => {
      if (value < this.#counters[i]!) fail(`counter ${i} falls`);
    });
    this.#counters = now;
  }
}

/** Droop acts, or is on its way back, in low frequency: it may exceed the limit (IEEE 1547.1-2020 5.16). */
function raisedByDroop({ functions: { freq_droop: droop } }: GridTraceRow, before: GridTraceRow): boolean {
  return droop.input !== null || before.functions.freq_droop.input !== null;
}
