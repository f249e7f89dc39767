/** A simulator whose time passes by steps alone, under more sun than it can use. */
import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startSimulator } from '../../support/process.ts';
import type { RunningSimulator } from '../../support/process.ts';
import { brokenRules } from './findings.ts';
import type { Shape } from './map-chains.ts';

export interface StagedShape extends Shape {
  readonly device: string;
}
export type Values = Readonly<Record<string, number | string | null>>;

/** 30 s: more than ramps and responses take, and less than the reversion times of clients in the field. */
const settledTicks = 20;
const startTicks = 80;

export const titleOf = ({ device, layout, float }: StagedShape) =>
  `${device}, ${layout}${float === true ? ' with floats' : ''}`;

export class Stage {
  readonly simulator: RunningSimulator;

  private constructor(simulator: RunningSimulator) {
    this.simulator = simulator;
  }

  /** @param flags of the simulator, beyond those of its ports */
  static async open(flags: readonly string[]): Promise<Stage> {
    const stage = new Stage(await startSimulator(flags));
    await stage.post('time', { mode: 'paused' });
    await stage.post('environment', { irradiance_w_m2: 1100 });
    await stage.settle(startTicks);
    return stage;
  }

  static async ofShape({ device, layout, float, storage }: StagedShape): Promise<Stage> {
    const floats = float === true ? ['--map_float', 'yes'] : [];
    const stage = await Stage.open(['-d', device, '--map_layout', layout, ...floats]);
    if (storage === true) await stage.discharge();
    return stage;
  }

  /** Delivers some energy: a counter of 0 reads as "not implemented". */
  async discharge(): Promise<void> {
    for (const WSetEna of ['ENABLED', 'DISABLED']) {
      const points = { WSetMod: 'WATTS', WSet: 5000, WSetEna };
      const { status, text } = await ask(this.simulator.httpPort, '/api/sim/registers/704', { body: { points } });
      expect(status, text).to.equal(200);
      await this.settle();
    }
  }

  async post(path: string, body: Json): Promise<void> {
    const { status, text } = await ask(this.simulator.httpPort, `/api/sim/controls/${path}`, { body });
    expect(status, text).to.equal(200);
  }

  settle(ticks = settledTicks): Promise<void> {
    return this.post('time/step', { ticks });
  }

  /** All points of a model as the REST interface shows them. */
  async shown(model: number): Promise<Values> {
    const { json } = await ask(this.simulator.httpPort, `/api/sim/registers/${model}`);
    return Object.fromEntries(json.points.map((point: Json) => [point.name, point.value === '' ? null : point.value]));
  }

  async number(model: number, name: string): Promise<number> {
    const value = (await this.shown(model))[name];
    if (typeof value !== 'number') throw new Error(`${model}.${name} shows ${String(value)}`);
    return value;
  }

  /** @param broken rules that the client is known to break */
  async close(broken: readonly string[] = []): Promise<void> {
    const rules = await brokenRules(this.simulator.httpPort);
    expect(await this.simulator.stop()).to.equal(0);
    expect(rules).to.deep.equal(broken);
  }
}
