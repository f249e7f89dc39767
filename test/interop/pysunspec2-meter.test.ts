import { expect } from 'chai';
import { ask } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

interface DescribedPoint {
  readonly path: string;
  readonly mandatory: boolean;
  readonly implemented: boolean;
}
type Values = Readonly<Record<string, number | null>>;

/** What an accumulator that has not counted yet reads as. */
const notCounted = /^Tot/;

describeWith(['pysunspec2'], 'meter of the connection point', () => {
  let simulator: RunningSimulator;
  let master: PythonPeer;

  before(async () => {
    simulator = await startSimulator(['-d', 'PV-3Phase', '--meter_unit', '240', '--start_paused', 'yes']);
    master = new PythonPeer('sunspec_master', '127.0.0.1', `${simulator.modbusPort}/240`);
  });
  after(async () => {
    await master.stop();
    expect(await simulator.stop()).to.equal(0);
  });

  async function rest(path: string, body?: unknown) {
    const answer = await ask(simulator.httpPort, `/api/sim/${path}`, body === undefined ? {} : { body });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  }

  const read = (): Promise<Values> => master.ask('read', { model: 203 });

  it('is found at its unit id, with every point that the definition demands', async () => {
    const { base, models } = await master.ask('scan');
    expect(base).to.equal(40_000);
    expect(models.map(({ id, error }: { id: number; error: string }) => [id, error])).to.deep.equal([
      [1, ''],
      [203, ''],
    ]);
    const points: readonly DescribedPoint[] = await master.ask('describe', { model: 203 });
    const absent = points.filter(({ mandatory, implemented }) => mandatory && !implemented).map(({ path }) => path);
    expect(absent.filter((path) => !notCounted.test(path))).to.deep.equal([]);
  });

  it('shows the power of the site, positive when drawn, and counts its energy', async () => {
    await rest('controls/environment', { load_kw: 1 });
    await rest('controls/time/step', { ticks: 20 });
    const before = await read();
    const { net_power_kw: netKw } = await rest('site');
    expect(before['W']).to.be.closeTo(-1000 * netKw, 1);
    const sum = ['A', 'B', 'C'].reduce((total, phase) => total + Number(before[`Wph${phase}`]), 0);
    expect(sum).to.be.closeTo(Number(before['W']), 2);
    await rest('controls/time/step', { ticks: 240 });
    const after = await read();
    expect(Number(after['TotWhExp']) - Number(before['TotWhExp'])).to.be.closeTo(100 * netKw, 10);
    // the load alone
    await rest('controls/environment', { irradiance_w_m2: 0 });
    await rest('controls/time/step', { ticks: 240 });
    const night = await read();
    const { net_power_kw: drawnKw } = await rest('site');
    expect(night['W']).to.be.closeTo(-1000 * drawnKw, 1);
    expect(Number(night['TotWhImp'])).to.be.greaterThan(60);
    expect(night['Hz']).to.be.closeTo(60, 0.01);
  });
});
