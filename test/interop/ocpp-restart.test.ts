/** The real process with `--state_dir`, killed and started again, at the central system of the packages. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PythonCentral, StationAtCentral } from './support/ocpp-central.ts';
import type { Received } from './support/ocpp-central.ts';
import { describeWith } from './support/peers.ts';

const openLimitMs = 60_000;
const id = 'CP-1';

interface Version {
  readonly version: '1.6' | '2.0.1' | '2.1';
  readonly flag: string;
  /** messages of the transactions, their order and their meters checked; all transactions have ended */
  readonly check: (central: PythonCentral) => Promise<void>;
  readonly set: (station: StationAtCentral) => Promise<unknown>;
  readonly read: (station: StationAtCentral) => Promise<unknown>;
  /** the message with which a transaction begins or ends */
  readonly began: readonly [action: string, where: Readonly<Record<string, unknown>>];
  readonly ended: readonly [action: string, where: Readonly<Record<string, unknown>>];
}

/** A message whose answer was lost comes again with the same content. */
async function eventsOf(central: PythonCentral, action: string): Promise<readonly Received[]> {
  const requests = await central.requests(action);
  return [...new Map(requests.map((each) => [JSON.stringify(each.payload), each])).values()];
}

async function check16(central: PythonCentral): Promise<void> {
  const [starts, stops] = [await eventsOf(central, 'StartTransaction'), await eventsOf(central, 'StopTransaction')];
  expect(starts).to.have.length(2);
  expect(stops.map(({ payload }) => payload.reason)).to.deep.equal(['PowerLoss', 'PowerLoss']);
  const meters = starts.flatMap(({ payload }, n) => [payload.meterStart, stops[n]?.payload.meterStop]);
  expect(meters).to.deep.equal([...meters].sort((a, b) => a - b));
}

async function check2(central: PythonCentral): Promise<void> {
  const events = await eventsOf(central, 'TransactionEvent');
  const byId = new Map<string, Received[]>();
  for (const event of events) {
    const { transactionId } = event.payload.transactionInfo;
    byId.set(transactionId, [...(byId.get(transactionId) ?? []), event]);
  }
  expect(byId.size).to.equal(2);
  for (const [, list] of byId) {
    expect(list.map(({ payload }) => payload.seqNo)).to.deep.equal(list.map((_, at) => at));
    expect(list.at(-1)?.payload.transactionInfo.stoppedReason).to.equal('PowerLoss');
  }
}

const interval = { component: { name: 'SampledDataCtrlr' }, variable: { name: 'TxUpdatedInterval' } };
const ofVersion2 = {
  flag: '--ocpp_version',
  check: check2,
  set: (station: StationAtCentral) =>
    station.call('SetVariables', { setVariableData: [{ ...interval, attributeValue: '11' }] }),
  read: async (station: StationAtCentral) => {
    const { getVariableResult } = await station.call('GetVariables', { getVariableData: [interval] });
    return getVariableResult[0].attributeValue;
  },
  began: ['TransactionEvent', { eventType: 'Started' }],
  ended: ['TransactionEvent', { eventType: 'Ended' }],
} as const;

const versions: readonly Version[] = [
  {
    version: '1.6',
    flag: 'ocpp1.6j',
    check: check16,
    set: (station) => station.configure('MeterValueSampleInterval', '11'),
    read: async (station) => {
      const { configurationKey } = await station.call('GetConfiguration', { key: ['MeterValueSampleInterval'] });
      return configurationKey[0].value;
    },
    began: ['StartTransaction', {}],
    ended: ['StopTransaction', {}],
  },
  { ...ofVersion2, version: '2.0.1', flag: 'ocpp2.0.1j' },
  { ...ofVersion2, version: '2.1', flag: 'ocpp2.1' },
];

for (const { version, flag, check, set, read, began, ended } of versions)
  describeWith(['ocpp'], `a process that speaks ${version} and is killed, at the packages ocpp and websockets`, () => {
    let directory: string;
    let central: PythonCentral;
    let station: StationAtCentral;
    const flags = () => ['--ocpp_version', flag, '--state_dir', directory];

    before(async function () {
      this.timeout(openLimitMs);
      directory = mkdtempSync(join(tmpdir(), 'derbench-ocpp-restart-'));
      central = await PythonCentral.open(id, { options: { version }, flags: ['--state_dir', directory] });
      ({ station } = central);
      await station.registered();
    });
    after(async () => {
      await station.close();
      await central.peer.stop();
      rmSync(directory, { recursive: true, force: true });
    });

    /** kill -9, and the same flags again. */
    async function killed(): Promise<void> {
      process.kill(station.simulator.pid, 'SIGKILL');
      await station.close();
      station = await StationAtCentral.open(id, central.peer, central.url, flags());
      await station.registered();
    }

    it('ends a transaction once, and has what it has accepted', async function () {
      this.timeout(openLimitMs);
      await set(station);
      // before energy flows, and after
      for (const charges of [false, true]) {
        const { length: before } = await eventsOf(central, ended[0]);
        await station.connector('plug', { ev: { soc_pct: 20 } });
        await station.connector('authorize', { id_token: 'CARD' });
        await central.station.next(...began);
        if (charges)
          await station.until('it charges', async () => {
            const { power_kw: power } = await station.get(`evse/${id}/connectors/1`);
            return power > 1 || undefined;
          });
        await killed();
        expect(await read(station)).to.equal('11');
        await station.until('the end of the transaction', async () => {
          const { queue } = await station.get(`ocpp/${id}`);
          return (queue.transaction_messages === 0 && (await eventsOf(central, ended[0])).length > before) || undefined;
        });
        await station.connector('unplug');
      }
      await check(central);
      expect(await central.peer.ask('refused')).to.deep.equal([]);
    });
  });
