import { expect } from 'chai';
import { Site, id } from '../whole/site.ts';

const at = `evse/${id}/connectors/1`;

describe('a station that leaves in a transaction (OCPP 1.6 3.7, 4.10)', () => {
  let site: Site;
  beforeEach(async () => {
    site = await Site.open();
    await site.post(`${at}/plug`, { ev: { soc_pct: 20 } });
    await site.post(`${at}/start`, { id_token: 'TAG-1' });
    await site.advance(120, 20);
  });
  afterEach(() => site.close());
  const stops = () => site.station.callsOf('StopTransaction').map(({ payload }) => payload);

  it('removed at run time it ends it first, with its energy and the reason Other', async () => {
    const sent = async () => {
      const { text } = await site.rest('metrics');
      return Number(/^derbench_ocpp_messages_total\{direction="out",type="call"\} (\d+)$/m.exec(text)?.[1]);
    };
    const before = await sent();
    const { energy_wh: energyWh } = await site.get(at);
    const { closed } = site.station.connection;
    expect((await site.rest('devices/0', undefined, 'DELETE')).status).to.equal(200);
    expect(stops()).to.have.lengthOf(1);
    expect(stops()[0]).to.include({ transactionId: 1, reason: 'Other', meterStop: Math.round(energyWh) });
    expect(energyWh).to.be.greaterThan(200);
    expect((await closed).code).to.equal(1001);
    expect(await site.get('ocpp')).to.deep.equal({ enabled: true, charge_points: [] });
    expect(before).to.be.greaterThan(3);
    expect(await sent(), 'counters never fall').to.be.greaterThan(before);
  });

  it('removed while the central system says nothing it leaves after 3 s', async () => {
    site.station.silent = true;
    const { closed } = site.station.connection;
    const removal = site.rest('devices/0', undefined, 'DELETE');
    await site.settle();
    expect(site.station.connected).to.equal(true);
    site.timers.pass(3000);
    expect((await removal).status).to.equal(200);
    expect((await closed).code).to.equal(1001);
  });

  it('while it leaves it begins nothing that the central system asks for, and answers nothing', async () => {
    site.station.silent = true;
    const removal = site.rest('devices/0', undefined, 'DELETE');
    await site.settle();
    site.station.sendText('[2,"start","RemoteStartTransaction",{"connectorId":1,"idTag":"TAG-2"}]');
    site.station.sendText('[2,"bad","Reset",{}]');
    await site.settle();
    expect(site.station.connected).to.equal(true);
    site.timers.pass(3000);
    expect((await removal).status).to.equal(200);
    const answers = site.station.frames.filter(({ text }) => /^\[[34],"(start|bad)"/.test(text));
    expect(answers).to.deep.equal([]);
    expect(site.station.callsOf('StartTransaction')).to.have.lengthOf(1);
  });

  it('the end of the process does not wait for it', async () => {
    site.station.silent = true;
    const removal = site.rest('devices/0', undefined, 'DELETE');
    await site.settle();
    await site.stop();
    expect((await removal).status).to.equal(200);
    expect(site.station.connected).to.equal(false);
  });

  it('with the process it keeps it: the next start tells a loss of power', async () => {
    await site.stop();
    expect(stops()).to.deep.equal([]);
    await site.start();
    await site.until('the stop', () => stops().length > 0);
    expect(stops()[0]).to.include({ transactionId: 1, reason: 'PowerLoss' });
  });
});
