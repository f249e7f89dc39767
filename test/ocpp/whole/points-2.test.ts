/** Transactions of 2.0.1 and 2.1 by any start and stop points, over lines that break: no energy flows outside of them (E01). */
import { expect } from 'chai';
import type { EvseCommand } from '../../../src/contract/kinds/evse-commands.ts';
import { txPoints } from '../../../src/ocpp/v201/transactions/reasons.ts';
import { pick as byDepth } from '../../support/depth.ts';
import type { Json } from '../../support/http.ts';
import { casesOf } from '../../support/random.ts';
import type { BookedTransaction } from '../central/books.ts';
import { Site } from './site.ts';

const combinations = byDepth({ quick: 5, ci: 16 });
const steps = 22;
const register = 'Energy.Active.Import.Register';

/** Readings of the import register, Wh. */
const readings = ({ events }: BookedTransaction): readonly number[] =>
  events.flatMap(({ meterValue = [] }) =>
    meterValue.flatMap(({ sampledValue }) =>
      sampledValue.filter(({ measurand = register }) => measurand === register).map(({ value }) => value),
    ),
  );

for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
  describe(`a charging station of ${version} with any start and stop points`, () => {
    let site: Site;
    const random = casesOf('points', version);
    const upTo = (n: number) => Math.floor(random.next() * n);
    const pick = <T>(list: readonly T[]): T => list[upTo(list.length)] as T;

    before(async () => {
      const flag = version === 'ocpp2.1' ? version : 'ocpp2.0.1j';
      site = await Site.open({ flags: ['--ocpp_version', flag], central: { subprotocols: [version] } });
      await site.until('it is available', () => site.station.callsOf('StatusNotification').length > 0);
    });
    after(() => site.close());

    const set = async (values: Readonly<Record<string, string>>) => {
      const setVariableData = Object.entries(values).map(([name, attributeValue]) => {
        const [component = '', variable = ''] = name.split('.');
        return { component: { name: component }, variable: { name: variable }, attributeValue };
      });
      const { setVariableResult } = await site.call('SetVariables', { setVariableData });
      for (const each of setVariableResult as Json[])
        expect(each.attributeStatus, JSON.stringify(each)).to.equal('Accepted');
    };
    /** What a person does; refused where the connector is not in that state. */
    const person = (command: EvseCommand) => {
      try {
        site.do(command);
      } catch {
        // another state
      }
    };
    const ask = async (action: string, payload: Json) => {
      if (site.station.connected) await site.call(action, payload);
    };
    const ev = { batteryCapacityWh: 500_000, socPct: 10 };
    const acts: readonly (() => unknown)[] = [
      () => person({ kind: 'evse.plug', connectorId: 1, ev }),
      () => person({ kind: 'evse.plug', connectorId: 1, ev }),
      () => person({ kind: 'evse.unplug', connectorId: 1 }),
      () => person({ kind: 'evse.authorize', connectorId: 1, idToken: pick(['A', 'B']) }),
      () => person({ kind: 'evse.authorize', connectorId: 1, idToken: 'A' }),
      () => person({ kind: 'evse.authorize', connectorId: 1, idToken: 'A' }),
      () => person({ kind: 'evse.suspend', connectorId: 1, by: pick(['ev', 'evse']) }),
      () => person({ kind: 'evse.resume', connectorId: 1, by: pick(['ev', 'evse']) }),
      () => person({ kind: 'evse.stop', connectorId: 1 }),
      () => random.next() < 0.5 && person({ kind: 'evse.fault', connectorId: 1, errorCode: 'GroundFailure' }),
      () => person({ kind: 'evse.clear_fault', connectorId: 1 }),
      () => person({ kind: 'evse.availability', connectorId: 1, operative: random.next() < 0.9 }),
      () =>
        ask('RequestStartTransaction', {
          evseId: 1,
          idToken: { idToken: pick(['A', 'B']), type: 'Central' },
          remoteStartId: upTo(100),
        }),
      () => {
        const running = site.station.books.transactions.find(({ ended }) => !ended);
        return running && ask('RequestStopTransaction', { transactionId: running.transactionId });
      },
      () =>
        ask('ChangeAvailability', {
          evse: { id: 1 },
          operationalStatus: random.next() < 0.8 ? 'Operative' : 'Inoperative',
        }),
      () => random.next() < 0.1 && ask('Reset', { type: pick(['Immediate', 'OnIdle']) }),
      () => ask('UnlockConnector', { evseId: 1, connectorId: 1 }),
      () => {
        if (site.station.connected) site.station.cut();
      },
      () => {
        if (site.station.connected) site.station.cut();
      },
    ];

    async function ended(): Promise<void> {
      person({ kind: 'evse.clear_fault', connectorId: 1 });
      person({ kind: 'evse.stop', connectorId: 1 });
      person({ kind: 'evse.unplug', connectorId: 1 });
      await site.advance(1);
      await site.until(
        'the queue is empty',
        async () => {
          const { connection_state, queue } = await site.get('ocpp/CP-1');
          return connection_state === 'connected' && queue.transaction_messages === 0;
        },
        300,
      );
      await site.call('ChangeAvailability', { evse: { id: 1 }, operationalStatus: 'Operative' });
      // an authorisation waits for its vehicle
      await site.advance(12);
    }

    it('tells all the energy of the device in transactions that start and end once', async () => {
      await set({
        'AuthCtrlr.OfflineTxForUnknownIdEnabled': 'true',
        'SampledDataCtrlr.TxUpdatedInterval': '5',
        'TxCtrlr.EVConnectionTimeOut': '10',
      });
      let seen = 0;
      let withEnergy = 0;
      for (let n = 0; n < combinations; n += 1) {
        const some = () => txPoints.filter(() => random.next() < 0.35).join(',');
        const [start, stop] = [some() || pick(txPoints), some() || pick(txPoints)];
        await set({ 'TxCtrlr.TxStartPoint': start, 'TxCtrlr.TxStopPoint': stop });
        const about = `combination ${n}: ${start} to ${stop}`;
        /** of the device, which begins anew with a reset */
        let resets = site.station.callsOf('BootNotification').length;
        const startWh = site.connector().energyWh;
        for (let step = 0; step < steps; step += 1) {
          await pick(acts)();
          await site.advance(0.2 + 9 * random.next(), 5);
        }
        await ended();
        const made = site.station.books.transactions.slice(seen);
        seen += made.length;
        for (const each of made) expect(each.ended, `${about}, ${JSON.stringify(each.events)}`).to.equal(true);
        resets = site.station.callsOf('BootNotification').length - resets;
        const told = made.map((each) => readings(each)).filter(({ length }) => length > 0);
        if (resets > 0) continue;
        // no energy has flowed before, between or after them
        let lastWh = Math.round(startWh);
        for (const all of told) {
          expect(all[0], `${about}: energy before a transaction`).to.equal(lastWh);
          lastWh = all.at(-1) ?? NaN;
          if (lastWh > (all[0] ?? NaN)) withEnergy += 1;
        }
        expect(Math.round(site.connector().energyWh), `${about}: energy after the transactions`).to.equal(lastWh);
      }
      expect(seen).to.be.greaterThan(combinations / 2);
      if (combinations > 10) expect(withEnergy).to.be.greaterThan(0);
    }).timeout(60_000);
  });
