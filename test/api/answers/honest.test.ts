import { expect } from 'chai';
import { addSeconds } from '../../../src/core/time/clock.ts';
import type { PointSlot } from '../../../src/sunspec/map/layout.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { WritingMaster } from './peers.ts';

/** Of the points of curves the first one: the others differ in nothing but their place. */
const isNeeded = ({ writable, modelId, path }: PointSlot) =>
  writable && modelId !== 64414 && !/Pt\[[1-9]/.test(path) && !/(Crv|Ctl)\[[2-9]/.test(path);

describe('answers of a device whatever point a master writes', () => {
  let running: RunningApp;
  let master: WritingMaster;

  before(async () => {
    running = await startApp(['HybridDC-3Phase'], [], { deviceFlags: ['--map_layout', 'both'] });
    await call('modbus/messages', { enabled: true, entries: 10_000 });
    await pass(running, 2);
    master = await WritingMaster.open(running.app, 0);
  });
  after(async () => {
    master.close();
    await running.app.stop();
  });

  async function call(path: string, body?: Json): Promise<Json> {
    const options = body === undefined ? {} : { method: 'POST', body };
    return (await ask(running.port, `/api/sim/${path}`, options)).json;
  }
  const pass = ({ app: { plant } }: RunningApp, seconds: number): Promise<unknown> =>
    plant.runTo(addSeconds(plant.time.sim, seconds));

  /** Writes each point as it is, and then another value. @returns answers to the writes that were not refused */
  async function writeAll(): Promise<readonly Json[]> {
    const { bank } = running.app.plant.device(0);
    for (const slot of bank.layout.slots.filter(isNeeded)) {
      const words = bank.raw(slot);
      const other = [...words.slice(0, -1), ((words.at(-1) ?? 0) + 7) & 0xffff];
      await master.write(pointName(slot), ...words);
      await master.write(pointName(slot), ...other);
    }
    return (await call('answers')).answers as Json[];
  }

  it('are all true while it is honest, at once and when timers have ended', async () => {
    const at = async () => ((await call('answers')).answers as Json[]).filter(({ done }) => done === false);
    expect((await writeAll()).length).to.be.greaterThan(250);
    expect((await at()).map(({ explanation }) => explanation)).to.deep.equal([]);
    await pass(running, 60);
    expect((await at()).map(({ explanation }) => explanation)).to.deep.equal([]);
  });

  it('are all found untrue while it ignores writes', async () => {
    await call('modbus/messages', { enabled: true, clear: true });
    await call('faults', { inject: [{ kind: 'ignore_write' }] });
    const judged = (await writeAll()).filter(({ cause }) => cause !== 'unknown');
    const untrue = judged.filter(({ told, found }) => told.value !== found?.value && !/Adpt/.test(told.name as string));
    expect(untrue.length).to.be.greaterThan(80);
    expect(untrue.filter(({ done }) => done !== false)).to.deep.equal([]);
    for (const { explanation } of untrue) expect(explanation).to.match(/fault 'ignore_write' \(1\) is on\.$/);
  });
});
