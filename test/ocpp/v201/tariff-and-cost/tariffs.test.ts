/** OCPP 2.1, I07 to I12: tariffs of a station, and the cost that it calculates by them. */
import { expect } from 'chai';
import { CallError } from '../../../../src/ocpp/rpc/model.ts';
import { decide } from '../../../../src/ocpp/v201/authorization/authorization.ts';
import type { DecisionDeps } from '../../../../src/ocpp/v201/authorization/authorization.ts';
import type { IdToken, Tariff } from '../../../../src/ocpp/v201/messages.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { station } from './station.ts';

const kwh = (tariffId: string, priceKwh: number, more: Partial<Tariff> = {}): Tariff => ({
  tariffId,
  currency: 'EUR',
  energy: { prices: [{ priceKwh }] },
  ...more,
});

const token: IdToken = { idToken: 'ABC', type: 'ISO14443' };
const accepted = { idTokenInfo: { status: 'Accepted' } } as const;

async function ready(...of: Parameters<typeof station>) {
  const made = await station(...of);
  const { rig, tariffs } = made;
  const setDefault = async (evseId: number, tariff: Tariff) =>
    (await rig.ask(tariffs, 'SetDefaultTariff', { evseId, tariff })).status;
  const assigned = async (evseId = 0) => {
    const { status, tariffAssignments = [] } = await rig.ask(tariffs, 'GetTariffs', { evseId });
    return tariffAssignments.length === 0
      ? status
      : tariffAssignments.map(({ tariffId, tariffKind, evseIds = [] }) => [tariffId, tariffKind, ...evseIds]);
  };
  const clear = async (request: Requests['ClearTariffs'] = {}) =>
    (await rig.ask(tariffs, 'ClearTariffs', request)).clearTariffsResult.map(({ tariffId = null, status }) => [
      tariffId,
      status,
    ]);
  const change = async (transactionId: string, tariff: Tariff) =>
    (await rig.ask(tariffs, 'ChangeTransactionTariff', { transactionId, tariff })).status;
  const costNow = (transactionId: string) => tariffs.costOf({ transactionId })?.totalCost.total.inclTax ?? null;
  return { ...made, setDefault, assigned, clear, change, costNow };
}

async function refusal(of: Promise<unknown>): Promise<unknown> {
  try {
    return await of;
  } catch (error) {
    return error instanceof CallError ? error.code : error;
  }
}

describe('OCPP 2.1 I07: default tariffs', () => {
  it('are installed at an EVSE or at each of them, and have ids of their own', async () => {
    const { setDefault, assigned } = await ready();
    expect(await setDefault(0, kwh('A', 1))).to.equal('Accepted');
    expect(await setDefault(2, kwh('B', 1))).to.equal('Accepted');
    expect(await setDefault(1, kwh('A', 2))).to.equal('DuplicateTariffId');
    expect(await assigned()).to.deep.equal([
      ['A', 'DefaultTariff', 1],
      ['B', 'DefaultTariff', 2],
    ]);
    expect(await assigned(2)).to.deep.equal([['B', 'DefaultTariff', 2]]);
  });

  it('wait for the instant from which they are valid', async () => {
    const { rig, setDefault, assigned, start, tariffs, pass } = await ready();
    const in60s = new Date(rig.wall.nowMs() + 60_000).toISOString();
    await setDefault(1, kwh('later', 2, { validFrom: in60s }));
    await setDefault(1, kwh('now', 1));
    expect(tariffs.extras(start('T1'), 'Started').tariffId).to.equal('now');
    expect(await assigned()).to.deep.equal([
      ['later', 'DefaultTariff', 1],
      ['now', 'DefaultTariff', 1],
    ]);
    await pass(60);
    expect(tariffs.extras(start('T2'), 'Started').tariffId).to.equal('later');
  });

  it('survive a restart', async () => {
    const { rig, setDefault, make } = await ready();
    await setDefault(1, kwh('A', 1));
    const again = await make();
    expect((await rig.ask(again, 'GetTariffs', { evseId: 1 })).status).to.equal('Accepted');
  });

  const many = { prices: Array.from({ length: 21 }, () => ({ priceKwh: 1 })) };
  const hours = (startTimeOfDay: string) => ({ prices: [{ priceKwh: 1, conditions: { startTimeOfDay } }] });
  const bad: readonly (readonly [title: string, evseId: number, tariff: Tariff, status: string])[] = [
    ['an EVSE that is not there', 9, kwh('A', 1), 'Rejected'],
    ['too many price elements', 1, kwh('A', 1, { energy: many }), 'TooManyElements'],
    ['a time of day that is none', 1, kwh('A', 1, { energy: hours('24:00') }), 'Rejected'],
    ['a currency that is none', 1, kwh('A', 1, { currency: 'eu' }), 'Rejected'],
    ['a price whose sums have no number', 1, kwh('A', 1e308), 'Rejected'],
    [
      'a tax beyond all numbers',
      1,
      kwh('A', 1, { energy: { prices: [{ priceKwh: 1 }], taxRates: [{ type: 'vat', tax: 1e300 }] } }),
      'Rejected',
    ],
    ['a bound beyond all numbers', 1, kwh('A', 1, { maxCost: { inclTax: 1e300 } }), 'Rejected'],
    ['a minimum above the maximum', 1, kwh('A', 1, { minCost: { exclTax: 2 }, maxCost: { exclTax: 1 } }), 'Rejected'],
  ]; // prettier-ignore

  for (const [title, evseId, tariff, status] of bad)
    it(`are refused for ${title}, and nothing is installed`, async () => {
      const { setDefault, assigned } = await ready();
      expect(await setDefault(evseId, tariff)).to.equal(status);
      expect(await assigned()).to.equal('NoTariff');
    });

  it('are not supported while tariffs are disabled', async () => {
    const { rig, setDefault, assigned, clear, change } = await ready();
    rig.variables.override('TariffCostCtrlr', 'Enabled[Tariff]', 'false');
    for (const call of [setDefault(1, kwh('A', 1)), assigned(), clear(), change('T1', kwh('A', 1))])
      expect(await refusal(call)).to.equal('NotSupported');
  });
});

describe('OCPP 2.1 I10: clearing tariffs', () => {
  it('takes those that fit, and tells each', async () => {
    const { setDefault, assigned, clear } = await ready();
    for (const [evseId, id] of [
      [0, 'A'],
      [1, 'B'],
      [2, 'C'],
    ] as const)
      await setDefault(evseId, kwh(id, 1, { validFrom: `2027-01-0${evseId + 1}T00:00:00Z` })); // prettier-ignore
    expect(await clear({ evseId: 2, tariffIds: ['A'] })).to.deep.equal([['A', 'Accepted']]);
    expect(await assigned(2)).to.deep.equal([['C', 'DefaultTariff', 2]]);
    expect(await clear({ tariffIds: ['B', 'X'] })).to.deep.equal([
      ['B', 'Accepted'],
      ['X', 'NoTariff'],
    ]);
    expect(await clear()).to.deep.equal([
      ['A', 'Accepted'],
      ['C', 'Accepted'],
    ]);
    expect(await clear()).to.deep.equal([[null, 'NoTariff']]);
    expect(await clear({ evseId: 9 })).to.deep.equal([[null, 'Rejected']]);
  });

  it('leaves a tariff in use to its transaction (I10.FR.07)', async () => {
    const { setDefault, assigned, clear, start, charge, pass, costNow, end } = await ready();
    await setDefault(0, kwh('A', 2));
    start('T1');
    charge(3600);
    expect(await clear()).to.deep.equal([['A', 'Accepted']]);
    expect(await assigned()).to.deep.equal([['A', 'DefaultTariff', 1]]);
    await pass(500);
    expect(costNow('T1')).to.be.closeTo(1, 1e-6);
    end('T1');
    expect(await assigned()).to.equal('NoTariff');
  });
});

describe('OCPP 2.1 I08: tariffs of drivers', () => {
  it('go before that of the EVSE, are told once, and leave with the transaction', async () => {
    const { tariffs, setDefault, assigned, start, end } = await ready();
    await setDefault(0, kwh('A', 1));
    expect(tariffs.authorized(1, token, { ...accepted, tariff: kwh('D', 2) })).to.equal(true);
    const transaction = start('T1', { idToken: token });
    expect(tariffs.extras(transaction, 'Started')).to.deep.equal({ tariffId: 'D' });
    expect(tariffs.extras(transaction, 'Updated')).to.deep.equal({});
    expect(await assigned(1)).to.deep.equal([
      ['A', 'DefaultTariff', 1],
      ['D', 'DriverTariff', 1],
    ]);
    end('T1');
    expect(await assigned(1)).to.deep.equal([['A', 'DefaultTariff', 1]]);
  });

  it('price a transaction from its start where the driver comes after the cable', async () => {
    const { tariffs, setDefault, start, patch, pass, costNow } = await ready();
    await setDefault(
      0,
      kwh('A', 1, { idleTime: { prices: [{ priceMinute: 1 }] }, fixedFee: { prices: [{ priceFixed: 9 }] } }),
    );
    tariffs.extras(start('T1'), 'Started');
    await pass(60);
    expect(costNow('T1')).to.be.closeTo(10, 1e-6);
    tariffs.authorized(1, token, {
      ...accepted,
      tariff: kwh('D', 2, { idleTime: { prices: [{ priceMinute: 5 }] }, fixedFee: { prices: [{ priceFixed: 3 }] } }),
    });
    expect(tariffs.extras(patch('T1', { idToken: token }), 'Updated')).to.deep.equal({ tariffId: 'D' });
    expect(costNow('T1')).to.be.closeTo(8, 1e-6);
  });

  const failed = kwh('D', 1, { currency: 'no' });

  for (const [strategy, may, tariffId] of [
    ['Deauthorize', false, 'A'],
    ['UseDefaultTariff', true, 'A'],
    ['CentralCost', true, undefined],
  ] as const)
    it(`that cannot be used lead to ${strategy}`, async () => {
      const { rig, tariffs, setDefault, start } = await ready();
      await setDefault(0, kwh('A', 1));
      rig.variables.override('TariffCostCtrlr', 'HandleFailedTariff[Tariff]', strategy);
      expect(tariffs.authorized(1, token, { ...accepted, tariff: failed })).to.equal(may);
      expect(rig.variables.text('TariffCostCtrlr', 'Problem')).to.equal('true');
      expect(tariffs.extras(start('T1', { idToken: token }), 'Started').tariffId).to.equal(tariffId);
      expect(tariffs.authorized(1, token, { ...accepted, tariff: kwh('E', 1) })).to.equal(true);
      expect(rig.variables.text('TariffCostCtrlr', 'Problem')).to.equal('false');
    });

  it('that cannot be used keep their token from charging, now and from the cache', async () => {
    const { rig, tariffs } = await ready();
    rig.variables.override('TariffCostCtrlr', 'HandleFailedTariff[Tariff]', 'Deauthorize');
    for (const name of ['Enabled', 'DisableRemoteAuthorization'])
      rig.variables.override('AuthCtrlr', name, String(name === 'Enabled'));
    const learned: IdToken[] = [];
    const tokens = { find: () => null, used: () => undefined, learn: (of: IdToken) => learned.push(of) };
    const decided = async (tariff: Tariff) => {
      rig.line.answers.set('Authorize', () => ({ kind: 'result', payload: { ...accepted, tariff }, durationMs: 0 }));
      const mayCharge: DecisionDeps['mayCharge'] = ({ evseId, idToken, reply }) =>
        tariffs.authorized(evseId, idToken, reply);
      const deps = { tokens, answered: () => undefined, mayCharge };
      return (await decide(rig.parts, deps, token, 1)).info.status;
    };
    expect(await decided(failed)).to.equal('Invalid');
    expect(learned).to.deep.equal([]);
    expect(await decided(kwh('E', 1))).to.equal('Accepted');
    expect(learned).to.deep.equal([token]);
  });

  it('are told and forgotten with their customer (N09, N10)', async () => {
    const { tariffs } = await ready();
    tariffs.authorized(1, token, { ...accepted, tariff: kwh('D', 1) });
    const isCustomer = ({ idToken }: { readonly idToken: string }) => idToken === 'ABC';
    expect(tariffs.records.about(isCustomer)).to.deep.equal(['tariff of the driver: D']);
    expect(tariffs.records.clear?.(isCustomer)).to.deep.equal(['tariff of the driver: 1 removed']);
    expect(tariffs.records.about(isCustomer)).to.deep.equal([]);
  });

  it('have no instant from which they are valid (I08.FR.09)', async () => {
    const { rig, tariffs, start } = await ready();
    tariffs.authorized(1, token, { ...accepted, tariff: kwh('D', 1, { validFrom: '2030-01-01T00:00:00Z' }) });
    expect(rig.findings.map(([clause]) => clause)).to.deep.equal(['OCPP 2.1 I08.FR.09']);
    expect(tariffs.extras(start('T1', { idToken: token }), 'Started').tariffId).to.equal('D');
  });

  it('stay with a token that is cached', async () => {
    const { tariffs, start, end } = await ready('ocpp2.1', { isCached: () => true });
    tariffs.authorized(1, token, { ...accepted, tariff: kwh('D', 1) });
    start('T1', { idToken: token });
    end('T1');
    expect(tariffs.extras(start('T2', { idToken: token }), 'Started').tariffId).to.equal('D');
  });
});

describe('OCPP 2.1 I11: another tariff during a transaction', () => {
  it('prices what comes from then on, and is told', async () => {
    const { tariffs, setDefault, change, start, charge, pass, costNow, updates, assigned } = await ready();
    await setDefault(0, kwh('A', 1));
    const transaction = start('T1');
    tariffs.extras(transaction, 'Started');
    charge(3600);
    await pass(100);
    expect(await change('T1', kwh('B', 5))).to.equal('Accepted');
    expect(updates).to.deep.equal([[1, 'TariffChanged', undefined]]);
    expect(tariffs.extras(transaction, 'Updated')).to.deep.equal({ tariffId: 'B' });
    await pass(100);
    expect(costNow('T1')).to.be.closeTo(0.1 + 0.5, 1e-6);
    expect(await assigned(1)).to.deep.equal([
      ['A', 'DefaultTariff', 1],
      ['B', 'DriverTariff', 1],
    ]);
  });

  it('is refused for an unknown transaction, in another currency, and with too many elements', async () => {
    const { setDefault, change, start, updates } = await ready();
    await setDefault(0, kwh('A', 1));
    expect(await change('T1', kwh('B', 1))).to.equal('TxNotFound');
    start('T1');
    expect(await change('T1', kwh('B', 1, { currency: 'USD' }))).to.equal('NoCurrencyChange');
    const prices = Array.from({ length: 21 }, () => ({ priceKwh: 1 }));
    expect(await change('T1', kwh('B', 1, { energy: { prices } }))).to.equal('TooManyElements');
    expect(updates).to.deep.equal([]);
  });

  it('prices a transaction that had none, without fees for what is past', async () => {
    const { change, start, charge, pass, costNow } = await ready();
    start('T1');
    charge(3600);
    await pass(100);
    expect(costNow('T1')).to.equal(null);
    await change('T1', kwh('B', 1, { fixedFee: { prices: [{ priceFixed: 5 }] } }));
    await pass(100);
    expect(costNow('T1')).to.be.closeTo(0.1, 1e-6);
  });
});

describe('OCPP 2.1 I12: the cost that the station calculates', () => {
  const mixed = kwh('A', 1, {
    chargingTime: { prices: [{ priceMinute: 0.6 }] },
    idleTime: { prices: [{ priceMinute: 6, conditions: { minIdleTime: 30 } }] },
  });

  it('follows energy, charging and idle time to the second, whatever the interval', async () => {
    const { tariffs, setDefault, start, charge, pass, end } = await ready();
    await setDefault(0, mixed);
    const transaction = start('T1');
    await pass(5);
    charge(7200);
    await pass(97);
    charge(0);
    await pass(40);
    const { costDetails } = tariffs.extras(transaction, 'Ended');
    // 45 s of idle time, of which 15 s are beyond the first 30 s; 97 s of charging at 2 Wh/s
    expect(costDetails?.totalCost.energy?.exclTax).to.be.closeTo(0.194, 1e-6);
    expect(costDetails?.totalCost.chargingTime?.exclTax).to.be.closeTo(0.97, 1e-6);
    expect(costDetails?.totalCost.idleTime?.exclTax).to.be.closeTo(1.5, 1e-6);
    expect(costDetails?.totalUsage).to.deep.equal({ energy: 194, chargingTime: 97, idleTime: 45 });
    expect(costDetails?.chargingPeriods).to.have.length(2);
    end('T1');
  });

  it('takes the power of the meter for its conditions', async () => {
    const { setDefault, start, charge, pass, costNow } = await ready();
    const prices = [{ priceKwh: 10, conditions: { minPower: 5000, minCurrent: 20 } }, { priceKwh: 1 }];
    await setDefault(0, kwh('A', 1, { energy: { prices } }));
    start('T1');
    charge(3600);
    await pass(100);
    charge(7200);
    await pass(100);
    expect(costNow('T1')).to.be.closeTo(0.1 + 2, 1e-5);
  });

  it('is told as a running cost, without periods (I12.FR.02)', async () => {
    const { rig, tariffs, setDefault, start, charge, pass, updates } = await ready();
    rig.variables.override('TariffCostCtrlr', 'Enabled[RunningCost]', 'true');
    rig.variables.override('TariffCostCtrlr', 'Interval[Cost]', '30');
    await setDefault(0, kwh('A', 1));
    const transaction = start('T1');
    expect(tariffs.extras(transaction, 'Started')).to.have.keys('tariffId', 'costDetails');
    charge(3600);
    await pass(95);
    expect(updates.map(([evseId, trigger]) => [evseId, trigger])).to.deep.equal([
      [1, 'RunningCost'],
      [1, 'RunningCost'],
      [1, 'RunningCost'],
    ]);
    expect(updates.map(([, , extras]) => extras?.costDetails?.totalUsage.energy)).to.deep.equal([30, 60, 90]);
    expect(updates[0]?.[2]?.costDetails).not.to.have.property('chargingPeriods');
  });

  it('goes on over a restart', async () => {
    const { rig, setDefault, start, charge, pass, make, tariffs } = await ready();
    await setDefault(0, kwh('A', 1));
    const transaction = start('T1');
    charge(3600);
    await pass(100);
    tariffs.stop?.();
    const again = await make();
    await pass(100);
    expect(again.costOf(transaction)?.totalCost.total.exclTax).to.be.closeTo(0.2, 1e-6);
    expect(rig.findings).to.deep.equal([]);
  });

  it('is told by a transaction that a restart has ended, and forgotten with one that is gone', async () => {
    const { rig, setDefault, start, charge, pass, make, tariffs, end } = await ready();
    await setDefault(0, kwh('A', 1));
    const transaction = start('T1');
    charge(3600);
    await pass(100);
    tariffs.stop?.();
    const again = await make();
    expect(again.extras(transaction, 'Ended').costDetails?.totalUsage.energy).to.equal(100);
    end('T1');
    expect(again.extras(transaction, 'Ended')).to.deep.equal({});
    start('T2');
    again.stop?.();
    end('T2');
    const last = await make();
    await pass(10);
    expect(last.costOf({ transactionId: 'T2' })).to.equal(null);
    expect(rig.findings).to.deep.equal([]);
  });

  it('is none of a default tariff that comes while the transaction runs', async () => {
    const { tariffs, setDefault, start } = await ready();
    const transaction = start('T1');
    expect(tariffs.extras(transaction, 'Started')).to.deep.equal({});
    await setDefault(0, kwh('A', 1));
    expect(tariffs.extras(transaction, 'Updated')).to.deep.equal({});
  });

  it('is none without a tariff, with costs disabled, and for 2.0.1', async () => {
    for (const version of ['ocpp2.1', 'ocpp2.0.1'] as const) {
      const { tariffs, start } = await ready(version);
      expect(tariffs.extras(start('T1'), 'Ended')).to.deep.equal({});
    }
    const { rig, tariffs, setDefault, start, costNow } = await ready();
    await setDefault(0, kwh('A', 1));
    rig.variables.override('TariffCostCtrlr', 'Enabled[Cost]', 'false');
    expect(tariffs.extras(start('T1'), 'Ended')).to.deep.equal({});
    expect(costNow('T1')).to.equal(null);
  });

  it('is told to the limits of the transaction as it grows (E16)', async () => {
    const { rig, tariffs, setDefault, start, charge, pass, spent, answer } = await ready();
    await setDefault(0, kwh('A', 1));
    start('T1');
    charge(3600);
    await pass(100);
    expect(spent.get('T1')).to.be.closeTo(0.1, 1e-6);
    await rig.ask(tariffs, 'CostUpdated', { transactionId: 'T1', totalCost: 7 });
    expect(spent.get('T1')).to.equal(7);
    answer('T1', { totalCost: 8 });
    expect(spent.get('T1')).to.equal(8);
  });
});
