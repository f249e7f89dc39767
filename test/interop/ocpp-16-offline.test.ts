import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { PythonCentral } from './support/ocpp-central.ts';
import type { StationAtCentral } from './support/ocpp-central.ts';
import { describeWith } from './support/peers.ts';

const openLimitMs = 60_000;

/** A transaction as the central system has written it down. */
interface Book {
  readonly transactionId: number;
  readonly start: { readonly id_tag: string; readonly meter_start: number; readonly timestamp: string };
  readonly values: readonly Json[];
  readonly stop: { readonly meter_stop: number; readonly timestamp: string; readonly reason?: string } | null;
}

describeWith(['ocpp'], 'lost connections of OCPP 1.6 at the package ocpp', () => {
  let central: PythonCentral;
  let station: StationAtCentral;

  before(async function () {
    this.timeout(openLimitMs);
    central = await PythonCentral.open('CP-1');
    ({ station } = central);
    await station.status('Available');
    await station.registered();
    await station.configure('MeterValueSampleInterval', '1');
    await station.configure('TransactionMessageRetryInterval', '1');
    await station.configure('LocalAuthorizeOffline', 'true');
  });
  after(() => central.close());

  const books = (): Promise<readonly Book[]> => central.peer.ask('books');
  const queued = async () => (await station.get('ocpp/CP-1')).queue.transaction_messages as number;
  const meterWh = async () => (await station.get('evse/CP-1/connectors/1')).energy_wh as number;
  const present = () => station.connector('authorize', { id_token: 'TAG-1' });

  /** The last transaction once everything of it has arrived. Its energy is that of the meter. */
  async function lastBook(count: number): Promise<Book & { readonly stop: NonNullable<Book['stop']> }> {
    return station.until('complete books', async () => {
      const all = await books();
      const last = all.at(-1);
      if (all.length < count || last === undefined || last.stop === null || (await queued()) > 0) return undefined;
      expect(all).to.have.lengthOf(count);
      return { ...last, stop: last.stop };
    });
  }
  async function expectComplete(count: number, startWh: number): Promise<Book> {
    const { start, stop, values, ...more } = await lastBook(count);
    expect(start.id_tag).to.equal('TAG-1');
    expect(start.meter_start).to.be.closeTo(startWh, 1);
    expect(stop.meter_stop).to.be.closeTo(await meterWh(), 1);
    expect(stop.meter_stop).to.be.greaterThan(start.meter_start);
    const times = [start, ...values, stop].map(({ timestamp }) => Date.parse(timestamp));
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
    return { start, stop, values, ...more };
  }
  /** Energy since, so that one transaction differs from another. */
  const charged = (fromWh: number) =>
    station.until('some energy', async () => ((await meterWh()) > fromWh + 20 ? true : undefined));

  it('a transaction goes on over a cut and stops after it', async () => {
    const startWh = await meterWh();
    await station.start('TAG-1');
    await station.next('MeterValues');
    await central.cut();
    const heldWh = await meterWh();
    await charged(heldWh);
    await central.reopen();
    await present();
    const { values } = await expectComplete(1, startWh);
    expect(values.length).to.be.greaterThan(1);
    await station.connector('unplug');
  });

  it('a transaction that stops offline is told with the time and the meter of then', async () => {
    const startWh = await meterWh();
    await station.start('TAG-1');
    await charged(startWh);
    await central.cut();
    const beforeMs = Date.now();
    await present();
    await station.connector('unplug');
    const afterMs = Date.now();
    expect(await queued()).to.be.greaterThan(0);
    await central.reopen();
    const { stop } = await expectComplete(2, startWh);
    expect(Date.parse(stop?.timestamp ?? '')).to.be.within(beforeMs - 1000, afterMs + 1000);
    expect(stop?.reason).to.equal('Local');
  });

  it('a transaction that is offline from start to end gets its id afterwards', async () => {
    await central.cut();
    const startWh = await meterWh();
    await station.connector('plug', { ev: { soc_pct: 20 } });
    expect((await present()).status, 'the cache knows the tag').to.equal('Accepted');
    await charged(startWh);
    const [{ transaction_id: id }] = (await station.get('ocpp/CP-1/transactions')).transactions;
    expect(id).to.equal(null);
    await present();
    await station.connector('unplug');
    await central.reopen();
    const { transactionId } = await expectComplete(3, startWh);
    const stopped = await station.next('StopTransaction');
    expect(stopped.payload.transactionId).to.equal(transactionId);
    const [{ transaction_id: told }] = (await station.get('ocpp/CP-1/transactions')).transactions;
    expect(Number(told)).to.equal(transactionId);
  });

  let count = 3;
  for (const action of ['StartTransaction', 'StopTransaction'])
    for (const lost of ['request', 'answer'])
      it(`a ${action} whose ${lost} is lost with the connection is sent again`, async () => {
        await central.rule({ lose: { [action]: lost } });
        const startWh = await meterWh();
        await station.connector('plug', { ev: { soc_pct: 20 } });
        await present();
        await charged(startWh);
        await present();
        await station.connector('unplug');
        count += 1;
        await expectComplete(count, startWh);
      });

  it('no message was refused, and a connection that comes back is no new start', async () => {
    expect(await central.requests('BootNotification')).to.have.lengthOf(1);
    const ids = (await central.requests('StopTransaction')).map(({ payload }) => payload.transactionId as number);
    expect(new Set(ids).size).to.equal(count);
    expect(Math.min(...ids)).to.equal(1);
  });
});
