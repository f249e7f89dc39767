/** PV with volt-var under more sun than they can use, whose time passes by a framework of co-simulation alone. */
import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startSimulator } from '../../support/process.ts';
import type { RunningSimulator } from '../../support/process.ts';

/** What a grid has seen at one instant, by device. */
export interface Row {
  /** per unit */
  readonly v: readonly number[];
  /** W */
  readonly p: readonly number[];
  /** var */
  readonly q: readonly number[];
}
export type Powers = Pick<Row, 'p' | 'q'>;

/** After these the devices are at rest again. */
const settleTicks = 300;

/** Maximum difference, W or var. */
export function maxDifference(some: readonly Powers[], others: readonly Powers[]): number {
  expect(some).to.have.length(others.length);
  const flat = (powers: readonly Powers[]) => powers.flatMap(({ p, q }) => [...p, ...q]);
  const other = flat(others);
  return Math.max(...flat(some).map((value, at) => Math.abs(value - (other[at] ?? NaN))));
}

export const powersOf = ({ p, q }: Powers): Powers => ({ p, q });

export class CosimRig {
  readonly simulator: RunningSimulator;
  readonly url: string;

  private constructor(simulator: RunningSimulator) {
    this.simulator = simulator;
    this.url = `http://127.0.0.1:${simulator.httpPort}`;
  }

  static async open(deviceCount: number): Promise<CosimRig> {
    const rig = new CosimRig(await startSimulator(['-N', String(deviceCount), '--start_paused', 'yes']));
    await rig.post('controls/environment', { irradiance_w_m2: 1300 });
    for (let device = 0; device < deviceCount; device += 1)
      await rig.post(`registers/705?device=${device}`, { points: { Ena: 'ENABLED' } });
    return rig;
  }

  async post(path: string, body: Json): Promise<Json> {
    const { status, text, json } = await ask(this.simulator.httpPort, `/api/sim/${path}`, { body });
    expect(status, text).to.be.within(200, 201);
    return json;
  }

  settle(): Promise<unknown> {
    return this.post('controls/time/step', { ticks: settleTicks });
  }

  async isAttached(): Promise<boolean> {
    return (await ask(this.simulator.httpPort, '/api/sim/exchange')).json.attached;
  }

  /** Powers at the end of steps with voltages, from rest on and without a framework. */
  async replay(voltages: readonly (readonly number[])[], dt_s = 1): Promise<Powers[]> {
    await this.settle();
    const { session } = await this.post('exchange', { owner: 'replay' });
    await this.post('exchange/values', { session, va_pu: 1 });
    const powers: Powers[] = [];
    for (const va_pu of voltages) {
      const { p_w: p, q_var: q } = await this.post('exchange/step', { session, dt_s, va_pu });
      powers.push({ p, q });
    }
    await this.post('exchange/end', { session });
    return powers;
  }
}
