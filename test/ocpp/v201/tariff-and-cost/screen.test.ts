/** OCPP 2.0.1 and 2.1, I01 to I06: tariffs and costs on the display. */
import { expect } from 'chai';
import { CallError } from '../../../../src/ocpp/rpc/model.ts';
import type { IdToken, MessageContent } from '../../../../src/ocpp/v201/messages.ts';
import { station } from './station.ts';

const token: IdToken = { idToken: 'ABC', type: 'ISO14443' };
const text = (content: string): MessageContent => ({ format: 'UTF8', content });
const greeting = {
  idTokenInfo: { status: 'Accepted', personalMessage: text('0.30 per kWh'), language1: 'de' },
} as const;

describe('OCPP 2.x block I: tariffs and costs on the display', () => {
  it('shows the tariff of the driver from the token on, until the transaction ends (I01)', async () => {
    const { tariffs, start, texts, end } = await station();
    tariffs.authorized(1, token, greeting);
    expect(texts()).to.deep.equal(['0.30 per kWh']);
    expect(tariffs.languages(1)).to.deep.equal(['de']);
    start('T1', { idToken: token });
    expect([texts(1), texts(2)]).to.deep.equal([['0.30 per kWh'], []]);
    end('T1');
    expect(texts()).to.deep.equal([]);
  });

  it('shows running and final costs of the central system (I02, I03)', async () => {
    const { rig, tariffs, start, texts, answer, end, pass } = await station('ocpp2.0.1');
    start('T1');
    await rig.ask(tariffs, 'CostUpdated', { transactionId: 'T1', totalCost: 1.234 });
    expect(texts()).to.deep.equal(['Cost: 1.23 EUR']);
    answer('T1', { totalCost: 2 });
    expect(texts()).to.deep.equal(['Cost: 2.00 EUR']);
    end('T1');
    answer('T1', { totalCost: 0 });
    expect(texts()).to.deep.equal(['Total cost: 0.00 EUR']);
    await pass(120);
    expect(texts()).to.deep.equal([]);
  });

  it('takes no cost of a transaction that it does not know', async () => {
    const { rig, tariffs } = await station();
    let error: unknown = null;
    await rig.ask(tariffs, 'CostUpdated', { transactionId: 'X', totalCost: 1 }).catch((e: unknown) => (error = e));
    expect(error).to.be.instanceOf(CallError).with.property('code', 'PropertyConstraintViolation');
  });

  it('takes no cost while costs are disabled', async () => {
    const { rig, tariffs, start } = await station();
    start('T1');
    rig.variables.override('TariffCostCtrlr', 'Enabled[Cost]', 'false');
    let error: unknown = null;
    await rig.ask(tariffs, 'CostUpdated', { transactionId: 'T1', totalCost: 1 }).catch((e: unknown) => (error = e));
    expect(error).to.be.instanceOf(CallError).with.property('code', 'NotSupported');
  });

  it('shows the fallback where nothing tells a tariff, and another one offline (I04)', async () => {
    const { rig, start, texts, answer } = await station();
    rig.variables.override('TariffCostCtrlr', 'TariffFallbackMessage', 'see the sticker');
    expect(texts()).to.deep.equal([]);
    start('T1');
    expect(texts()).to.deep.equal(['see the sticker']);
    rig.variables.override('TariffCostCtrlr', 'OfflineTariffFallbackMessage', 'offline price');
    rig.registration.end();
    expect(texts()).to.deep.equal(['offline price']);
    answer('T1', { updatedPersonalMessage: text('new price') });
    expect(texts()).to.deep.equal(['new price']);
  });

  it('shows the fallback where nothing tells the final cost (I05)', async () => {
    const { rig, start, texts, end } = await station();
    rig.variables.override('TariffCostCtrlr', 'TotalCostFallbackMessage', 'see your invoice');
    start('T1');
    expect(texts()).to.deep.equal([]);
    end('T1');
    expect(texts()).to.deep.equal(['see your invoice']);
    start('T2');
    expect(texts()).to.deep.equal([]);
  });

  it('shows the description of the tariff, and the cost that the station calculates', async () => {
    const { rig, tariffs, start, charge, pass, texts, end } = await station();
    const tariff = {
      tariffId: 'A',
      currency: 'USD',
      energy: { prices: [{ priceKwh: 1 }] },
      description: [text('a dollar')],
    };
    await rig.ask(tariffs, 'SetDefaultTariff', { evseId: 1, tariff });
    expect(texts()).to.deep.equal(['a dollar']);
    start('T1');
    charge(3600);
    await pass(1000);
    expect(texts()).to.deep.equal(['a dollar', 'Cost: 1.00 USD']);
    end('T1');
    expect(texts()).to.deep.equal(['a dollar', 'Total cost: 1.00 USD']);
  });
});
