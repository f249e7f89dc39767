import { expect } from 'chai';
import { createLogBook } from '../../../src/core/log/log.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

describe('the client of an exchange that falls silent', () => {
  let rest: Rest;
  let timers: HandTimers;
  let session: string;
  const logBook = createLogBook({ write: () => undefined });
  beforeEach(async () => {
    timers = new HandTimers(new HandWall());
    rest = await Rest.open(testPlant({ types: ['PV', 'PV'] }), { later: timers.later, logBook });
  });
  afterEach(() => rest.api.stop());

  const attach = async (body: object) => {
    const reply = await rest.post('/exchange', { owner: 'lab', ...body }, 201);
    session = reply.session;
    await rest.post('/exchange/step', { session, dt_s: 1, va_pu: 1.04, angle_deg: 5, frequency_hz: 60.1 });
    return reply;
  };
  const silences = async () =>
    Number(/^derbench_exchange_silence_total (\d+)$/m.exec((await rest.call('/metrics')).text)?.[1]);

  it('may be silent for ever by default', async () => {
    expect(await attach({})).to.include({ idle_timeout_s: 0, on_silence: 'detach' });
    timers.pass(1e9);
    expect(await rest.get('/exchange')).to.include({ attached: true });
  });

  it('is detached after its time, with a line in log and timeline', async () => {
    expect(await attach({ idle_timeout_s: 5 })).to.include({ idle_timeout_s: 5 });
    timers.pass(4999);
    await rest.post('/exchange/values', { session });
    timers.pass(4999);
    await rest.get('/exchange/values');
    expect(await rest.get('/exchange')).to.include({ attached: true });
    timers.pass(1);
    expect(await rest.get('/exchange')).to.include({ attached: false, idle_timeout_s: null });
    expect(rest.plant.grid(0).voltageAPu).to.equal(1);
    const text = '"lab" has sent no values for 5 s: its devices return to the grid of the simulator';
    const { logs } = await rest.get('/logs?levels=warning');
    expect(logs.map(({ message }: { readonly message: string }) => message)).to.deep.equal([`exchange: ${text}`]);
    const { entries } = await rest.get('/timeline?kinds=grid');
    expect(entries.map((entry: { readonly title: string }) => entry.title)).to.include('Exchange is silent');
    expect(await silences()).to.equal(1);
    expect(timers.waiting, 'nothing is left to watch').to.equal(0);
  });

  for (const [action, grid] of [
    ['keep', { voltageAPu: 1.04, frequencyHz: 60.1, outage: false }],
    ['outage', { voltageAPu: 0, frequencyHz: 0, outage: true }],
    ['nominal', { voltageAPu: 1, voltageCPu: 1, frequencyHz: 60, phaseAngleDeg: 0, outage: false }],
  ] as const)
    it(`stays attached with \`${action}\`, and may come back`, async () => {
      await attach({ idle_timeout_s: 1, on_silence: action });
      timers.pass(5000);
      expect(rest.plant.grid(1)).to.include(grid);
      expect(await silences(), 'one for each silence').to.equal(1);
      await rest.post('/exchange/step', { session, dt_s: 1, va_pu: 1.02, outage: false });
      expect(rest.plant.grid(1).voltageAPu).to.equal(1.02);
      timers.pass(1000);
      expect(await silences()).to.equal(2);
    });

  it('is not watched when the simulator stops', async () => {
    await attach({ idle_timeout_s: 1 });
    await rest.api.stop();
    timers.pass(1000);
    expect(rest.plant.exchange.now).to.include({ owner: 'lab' });
  });

  it('is not watched while a step runs, however long', async () => {
    await attach({ idle_timeout_s: 1 });
    let openGate = (): void => undefined;
    void rest.plant.betweenTicks(() => new Promise<void>((resolve) => (openGate = resolve)));
    const slow = rest.call('/exchange/step', { body: { session, dt_s: 1 } });
    await rest.get('/exchange');
    timers.pass(60_000);
    openGate();
    expect((await slow).status).to.equal(200);
    expect(await rest.get('/exchange')).to.include({ attached: true });
    timers.pass(1000);
    expect(await rest.get('/exchange')).to.include({ attached: false });
  });
});
