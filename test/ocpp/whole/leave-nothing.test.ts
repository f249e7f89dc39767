/** What a central system sets at a station leaves nothing in its registers once it is taken away again. */
import { expect } from 'chai';
import { pick as byDepth } from '../../support/depth.ts';
import type { Json } from '../../support/http.ts';
import { casesOf } from '../../support/random.ts';
import type { CentralStation } from '../central/station.ts';
import { id, Site } from './site.ts';

const sequences = byDepth({ quick: 30, ci: 100 });
const connectors = [1, 2];
/** of two connectors, beside the one of the start */
const device = 1;

describe('a central system of OCPP 1.6 leaves nothing behind', () => {
  let site: Site;
  let station: CentralStation;
  before(async () => {
    site = await Site.open();
    await site.post('devices', { device_type: 'EVSE', evse_profile: 'EVSE-AC-7.4kW-2port' });
    station = site.central.station(`${id}-1`);
    await site.until('both are connected', () => site.peers === 2);
  });
  after(() => site.close());

  /** Points that differ from the start, with their writers. */
  const changes = async (): Promise<Json> => (await site.get(`registers/changes?device=${device}`)).changes;

  it(`after random sequences of profiles, limits, reservations and sessions`, async () => {
    const random = casesOf('sequences');
    const upTo = (n: number) => Math.floor(random.next() * n);
    const pick = <T>(list: readonly [T, ...T[]]): T => list[upTo(list.length)] ?? list[0];
    const connector = () => 1 + upTo(2);
    const inS = (seconds: number) => new Date(site.nowMs() + seconds * 1000).toISOString();
    const isRunning = (connectorId: number) => site.connector(connectorId, device).session?.endedAtS === null;
    let reservations = 0;
    /** what was answered, to show that the script has done something */
    const said = new Map<string, number>();
    const call = async (action: string, payload: Json): Promise<Json> => {
      const reply = await site.call(action, payload, station);
      const word = `${action} ${String(reply.status)}`;
      said.set(word, (said.get(word) ?? 0) + 1);
      return reply;
    };
    const profile = () => {
      const purpose = pick(['ChargePointMaxProfile', 'TxDefaultProfile', 'TxProfile']);
      const isMax = purpose === 'ChargePointMaxProfile';
      const kind = isMax ? 'Absolute' : pick(['Absolute', 'Relative', 'Recurring']);
      const connectorId = isMax ? 0 : purpose === 'TxProfile' ? connector() : upTo(3);
      const csChargingProfiles = {
        chargingProfileId: 1 + upTo(6),
        stackLevel: upTo(3),
        chargingProfilePurpose: purpose,
        chargingProfileKind: kind,
        ...(kind === 'Recurring' && { recurrencyKind: pick(['Daily', 'Weekly']) }),
        chargingSchedule: {
          chargingRateUnit: pick(['W', 'A']),
          ...(kind !== 'Relative' && { startSchedule: inS(-upTo(3600)) }),
          ...(random.next() < 0.3 && { duration: 1 + upTo(100) }),
          chargingSchedulePeriod: [
            { startPeriod: 0, limit: upTo(32) },
            { startPeriod: 1 + upTo(20), limit: upTo(8000), numberPhases: 1 },
          ],
        },
      };
      return call('SetChargingProfile', { connectorId, csChargingProfiles });
    };
    const steps: readonly [() => Promise<unknown>, ...(() => Promise<unknown>)[]] = [
      profile,
      profile,
      () => call('ClearChargingProfile', { id: 1 + upTo(6) }),
      () => call('RemoteStartTransaction', { connectorId: connector(), idTag: 'A' }),
      () => call('RemoteStopTransaction', { transactionId: station.callsOf('StartTransaction').length }),
      () => {
        const reservationId = (reservations += 1);
        return call('ReserveNow', { connectorId: upTo(3), expiryDate: inS(1 + upTo(60)), idTag: 'A', reservationId });
      },
      () => call('ChangeAvailability', { connectorId: upTo(3), type: pick(['Operative', 'Inoperative']) }),
      () => call('UnlockConnector', { connectorId: connector() }),
      () => call('ChangeConfiguration', { key: 'ConnectionTimeOut', value: String(1 + upTo(90)) }),
      () => {
        site.do({ kind: 'evse.limit', connectorId: connector(), powerW: upTo(7000) }, device);
        return Promise.resolve();
      },
    ];
    const start = await changes();
    for (let n = 0; n < sequences; n += 1) {
      const ev = { socPct: 20, batteryCapacityWh: 200_000 };
      for (const connectorId of connectors)
        if (random.next() < 0.6) site.do({ kind: 'evse.plug', connectorId, ev }, device);
      for (let step = 0; step < 4; step += 1) await pick(steps)();
      await site.advance(0.5 + 2 * random.next(), 4);
      // everything is taken away again
      for (const transactionId of station
        .callsOf('StartTransaction')
        .map((_, at) => at + 1)
        .slice(-2))
        await call('RemoteStopTransaction', { transactionId });
      await call('ClearChargingProfile', {});
      for (let reservationId = Math.max(1, reservations - 4); reservationId <= reservations; reservationId += 1)
        await site.call('CancelReservation', { reservationId }, station);
      await call('ChangeAvailability', { connectorId: 0, type: 'Operative' });
      for (const connectorId of connectors) {
        await site.call('ChangeAvailability', { connectorId, type: 'Operative' }, station);
        site.do({ kind: 'evse.limit', connectorId, powerW: null }, device);
        const { phase, cable } = site.connector(connectorId, device);
        if (phase === 'authorised' || isRunning(connectorId)) site.do({ kind: 'evse.stop', connectorId }, device);
        if (cable.evPlugged) site.do({ kind: 'evse.unplug', connectorId }, device);
      }
      await site.advance(1);
      expect(await changes(), `sequence ${n}`).to.deep.equal(start);
    }
    const { connectors: left } = await site.get(`evse/${id}-1`);
    for (const { status, limit_source: source, reservation } of left as Json[])
      expect([status, source, reservation]).to.deep.equal(['available', 'none', null]);
    for (const word of ['SetChargingProfile', 'RemoteStartTransaction', 'RemoteStopTransaction', 'ReserveNow'])
      if (sequences >= 100) expect(said.get(`${word} Accepted`), word).to.be.greaterThan(0);
    expect(station.callsOf('StopTransaction').length).to.equal(station.callsOf('StartTransaction').length);
  }).timeout(60_000);
});
