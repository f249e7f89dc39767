/** OCPP 2.1, blocks I, O and N: tariffs, costs and messages of a station in the whole simulator. */
import { expect } from 'chai';
import { id, Site } from './site.ts';

const token = 'A1B2C3D4';

const tariff = {
  tariffId: 'night',
  currency: 'EUR',
  energy: { prices: [{ priceKwh: 0.5 }], taxRates: [{ type: 'VAT', tax: 20 }] },
  idleTime: { prices: [{ priceMinute: 0.6 }] },
  fixedFee: { prices: [{ priceFixed: 1 }] },
};

/** The amount of money that energy, idle time and the fee of `tariff` come to, without tax. */
function expected({ energy, idleTime }: { readonly energy: number; readonly idleTime: number }): number {
  return 1 + (energy / 1000) * 0.5 + (idleTime / 60) * 0.6;
}

describe('OCPP 2.1 in the whole simulator: tariffs and costs', () => {
  let site: Site;

  beforeEach(async () => {
    site = await Site.open({ flags: ['--ocpp_version', 'ocpp2.1'], central: { subprotocols: ['ocpp2.1'] } });
    await site.until('the station is available', () => site.station.callsOf('StatusNotification').length > 0);
  });

  afterEach(async () => {
    await site.close();
  });

  it('the station calculates what a session costs, tells it while it runs and at the end', async () => {
    expect(await site.call('SetDefaultTariff', { evseId: 0, tariff })).to.deep.equal({ status: 'Accepted' });
    const component = { name: 'TariffCostCtrlr' };
    const set = [
      { component, variable: { name: 'Enabled', instance: 'RunningCost' }, attributeValue: 'true' },
      { component, variable: { name: 'Interval', instance: 'Cost' }, attributeValue: '20' },
    ];
    const { setVariableResult } = await site.call('SetVariables', { setVariableData: set });
    expect(setVariableResult.map(({ attributeStatus }: { attributeStatus: string }) => attributeStatus)).to.deep.equal([
      'Accepted',
      'Accepted',
    ]);
    site.do({ kind: 'evse.plug', connectorId: 1 });
    await site.advance(5);
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: token });
    await site.until('it charges', () => site.connector().powerW > 1000);
    await site.advance(60);
    site.do({ kind: 'evse.stop', connectorId: 1, reason: 'Local' });
    site.do({ kind: 'evse.unplug', connectorId: 1 });
    await site.until('it has ended', () => site.station.books.transactions.at(-1)?.ended === true);
    const events = site.station.callsOf('TransactionEvent').map(({ payload }) => payload);
    expect(events[0].transactionInfo.tariffId).to.equal('night');
    const running = events.filter(({ triggerReason }) => triggerReason === 'RunningCost');
    expect(running.length).to.be.at.least(3);
    for (const { costDetails } of [...running, events.at(-1)])
      expect(costDetails.totalCost.total.exclTax).to.be.closeTo(expected(costDetails.totalUsage), 0.02);
    const { costDetails } = events.at(-1);
    expect(costDetails.totalUsage.energy).to.be.above(100);
    expect(costDetails.totalCost.energy.inclTax).to.be.closeTo((costDetails.totalUsage.energy / 1000) * 0.6, 1e-4);
    expect(costDetails.chargingPeriods).to.have.length(1);
  });

  it('a message comes to the display, is reported and leaves', async () => {
    const message = { id: 1, priority: 'NormalCycle', message: { format: 'UTF8', content: 'hello' } };
    expect(await site.call('SetDisplayMessage', { message })).to.deep.equal({ status: 'Accepted' });
    expect(await site.call('GetDisplayMessages', { requestId: 3 })).to.deep.equal({ status: 'Accepted' });
    await site.settle();
    const { payload } = await site.station.next('NotifyDisplayMessages');
    expect(payload).to.deep.equal({ requestId: 3, messageInfo: [message], tbc: false });
    expect(await site.call('ClearDisplayMessage', { id: 1 })).to.deep.equal({ status: 'Accepted' });
    expect(await site.call('GetDisplayMessages', { requestId: 4 })).to.deep.equal({ status: 'Unknown' });
  });

  it('REST shows what the driver sees: price and cost of the station, then a message in front of them', async () => {
    const texts = async (connector = 1) =>
      (await site.get(`evse/${id}/connectors/${connector}/display`)).texts as Record<string, unknown>[];
    expect(await texts()).to.deep.equal([]);
    site.do({ kind: 'evse.plug', connectorId: 1 });
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: token });
    await site.until('it charges', () => site.connector().powerW > 1000);
    const { transactionId } = site.station.callsOf('TransactionEvent')[0]?.payload.transactionInfo ?? {};
    expect(await site.call('CostUpdated', { totalCost: 1.25, transactionId })).to.deep.equal({});
    expect(await texts()).to.have.length(1);
    expect((await texts())[0]).to.include({ message_id: null, priority: 'NormalCycle' });
    expect((await texts())[0]?.text).to.contain('1.25');
    const message = { id: 7, priority: 'InFront', message: { format: 'UTF8', language: 'en', content: 'hello' } };
    expect(await site.call('SetDisplayMessage', { message })).to.deep.equal({ status: 'Accepted' });
    expect(await texts()).to.deep.equal([
      { message_id: 7, priority: 'InFront', format: 'UTF8', language: 'en', text: 'hello' },
    ]);
    const unknown = await site.rest(`evse/${id}/connectors/9/display`);
    expect(unknown.status).to.equal(404);
  });

  it('a customer is known after a session, and the cache forgets its token', async () => {
    site.do({ kind: 'evse.plug', connectorId: 1 });
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: token });
    await site.until('it charges', () => site.connector().powerW > 1000);
    const customer = { customerIdentifier: token };
    const ask = async (more: object) => {
      expect(await site.call('CustomerInformation', { requestId: 1, ...customer, ...more })).to.deep.equal({
        status: 'Accepted',
      });
      await site.settle();
      return (await site.station.next('NotifyCustomerInformation')).payload.data as string;
    };
    expect(await ask({ report: true, clear: true })).to.match(
      /^authorization cache: Accepted.*\ntransaction .* running/,
    );
    expect(await ask({ report: true, clear: false })).to.match(/^transaction /);
  });
});
