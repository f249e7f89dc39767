import { expect } from 'chai';
import type { RemoteMetrics, RemoteSample } from '../../src/contract/sunspec-client.ts';
import type { SunSpecClientAdapter } from '../../src/sunspec/client/client.ts';
import { connected, failureOf, pointsOf } from '../support/client.ts';
import { Dertwin, ratedW } from './support/dertwin.ts';
import { describeWith } from './support/peers.ts';

describeWith(['dertwin', 'pymodbus'], 'an inverter of another simulator, with the SunSpec client', () => {
  let device: Dertwin;
  let client: SunSpecClientAdapter;

  before(async () => {
    device = await Dertwin.start();
    ({ client } = await connected(device.port, { timeoutMs: 3000 }));
    client.poll({ enabled: true, intervalMs: 200, models: null });
  });
  after(async () => {
    await client.stop();
    await device.stop();
  });

  /** The first round of polling from now on that shows something. */
  function seen(what: (metrics: RemoteMetrics) => boolean): Promise<RemoteMetrics> {
    return new Promise((resolve) => {
      client.onSample(({ metrics }: RemoteSample) => {
        if (what(metrics)) resolve(metrics);
      });
    });
  }

  it('is found and read', async () => {
    const { discovery, identity } = client.view();
    expect(discovery).to.deep.include({ baseAddress: 40_000, end: 'end_model', notes: [] });
    expect(discovery!.models.map(({ id }) => id)).to.deep.equal([1, 103, 120, 123]);
    expect(identity).to.deep.equal({
      manufacturer: 'dertwin',
      model: 'inverter',
      version: '0.1.12',
      serialNumber: 'T-1',
    });
    expect(pointsOf(await client.readModel(120, 0, true)).get('WRtg')).to.deep.include({
      value: ratedW,
      scaleFactor: 1,
      raw: [ratedW / 10],
    });
    // its first step fills the registers
    await seen(({ voltage_ln_v: volts }) => volts !== null && volts > 0);
    const ac = pointsOf(await client.readModel(103, 0, true));
    expect(ac.get('PhVphB')!.value).to.be.closeTo(230.9, 0.1);
    expect(ac.get('A')).to.deep.include({ value: null, implemented: false });
  });

  it('is polled while its power rises, and follows a limit that is written', async () => {
    const full = await seen(({ power_kw: kw }) => kw === ratedW / 1000);
    expect(full).to.deep.include({ frequency_hz: 50, reactive_power_kvar: null });
    expect(full.dc_power_kw).to.be.within(ratedW / 1000, (2 * ratedW) / 1000);
    const limited = seen(({ power_kw: kw }) => kw === ratedW / 2000);
    const outcome = await client.writePoints(123, 0, { WMaxLimPct: 50, WMaxLim_Ena: 'ENABLED' });
    expect(outcome.match).to.equal(true);
    expect(outcome.points.map(({ name, readBack }) => [name, readBack.value])).to.deep.equal([
      ['WMaxLimPct', 50],
      ['WMaxLim_Ena', 1],
    ]);
    await limited;
    expect(client.view().poll).to.include({ failedRounds: 0 });
  });

  it('is switched off, and on again', async () => {
    const off = seen(({ power_kw: kw }) => kw === 0);
    expect((await client.writePoints(123, 0, { Conn: 'DISCONNECT' })).match).to.equal(true);
    await off;
    const on = seen(({ power_kw: kw }) => kw !== null && kw > 0);
    expect((await client.writePoints(123, 0, { Conn: 'CONNECT' })).match).to.equal(true);
    await on;
  });

  it('refuses nothing, so that the client must: range and access are checked before', async () => {
    expect((await failureOf(client.writePoints(123, 0, { WMaxLimPct: 70_000 }))).code).to.equal('COMMAND_BAD_VALUE');
    expect((await failureOf(client.writePoints(103, 0, { W: 1 }))).code).to.equal('COMMAND_BAD_VALUE');
    expect((await client.writeRegisters(50_000, [1, 2])).match).to.equal(true);
    expect(await client.readRegisters(50_000, 3)).to.deep.equal([1, 2, 0]);
  });
});
