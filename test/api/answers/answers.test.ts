import { expect } from 'chai';
import { spread } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import type { Json } from '../../support/http.ts';
import { MixedSite, pv, station } from '../consistency/site.ts';
import { accepted, OperatingMaster, WritingMaster } from './peers.ts';

const [limit, enable] = ['704.WMaxLimPct', '704.WMaxLimPctEna'];

describe('GET answers', () => {
  let mixed: MixedSite;
  let modbus: WritingMaster;
  let since = '';

  before(async () => {
    mixed = await MixedSite.open();
    for (const protocol of ['modbus', 'dnp3', 'csip']) await mixed.post(`${protocol}/messages`, { enabled: true });
    modbus = await WritingMaster.open(mixed.site.app, pv);
  });
  after(async () => {
    modbus.close();
    await mixed.close();
  });
  beforeEach(async () => {
    // commands of one instant cannot be told from those of the test before
    await mixed.site.advance(1);
    since = new Date(mixed.site.wall.nowMs()).toISOString();
  });
  afterEach(async () => {
    await mixed.post('faults', { clear: true });
    await mixed.site.advance(1);
  });

  const answers = (device: number, protocol: string): Promise<Json> =>
    mixed.site.get(`answers?device=${device}&protocol=${protocol}&since=${since}`);
  const rows = async (device: number, protocol: string): Promise<readonly Json[]> =>
    (await answers(device, protocol)).answers as Json[];
  const verdicts = async (device: number, protocol: string) =>
    (await rows(device, protocol)).map(({ told: { name, value }, found, done, cause }) => [
      ...[name, value, found?.value, done, cause],
    ]);
  const sentences = async (device: number, protocol: string) =>
    (await rows(device, protocol)).map(({ explanation }) => explanation as string | null);
  const inject = (...faults: readonly Json[]) => mixed.post('faults', { inject: faults });

  describe('of Modbus', () => {
    it('finds values where they were written, and says nothing of what was refused', async () => {
      expect(await modbus.write(limit, 500)).to.match(/^10/);
      expect(await modbus.write(limit, 20_000)).to.equal('9003');
      const [row, ...others] = await rows(pv, 'modbus');
      expect(others).to.deep.equal([]);
      expect(row).to.deep.include({ command: 'write multiple registers', answer: 'success', explanation: null });
      expect(row).to.deep.include({ done: true, cause: 'done', told: { name: limit, value: 5, unit: 'Pct' } });
      expect(row?.found).to.deep.include({ place: limit, value: 5 });
      expect(row?.found.changed_by).to.deep.include({ source: 'modbus', source_detail: row?.peer });
      expect(await answers(pv, 'modbus')).to.deep.include({ done: true, count: 1, device_index: pv });
    });

    const lies: readonly (readonly [Json, number, string])[] = [
      [{ kind: 'ignore_write', points: [limit] }, 5, "the register has 5: fault 'ignore_write'"],
      [{ kind: 'alter_write', points: [limit], value: 70 }, 70, "the register has 70: fault 'alter_write'"],
      [{ kind: 'late_write', points: [limit], delay_s: 30 }, 70, "the register has 70: fault 'late_write'"],
    ];
    for (const [fault, value, words] of lies)
      it(`catches ${String(fault.kind)}`, async () => {
        await inject(fault);
        expect(await modbus.write(limit, 3000)).to.match(/^10/);
        expect(await verdicts(pv, 'modbus')).to.deep.equal([[limit, 30, value, false, 'not_done']]);
        expect((await sentences(pv, 'modbus'))[0]).to.match(
          /^Modbus master 127\.0\.0\.1:\d+ wrote 704\.WMaxLimPct = 30 at \d\d:\d\d:\d\d UTC and was answered with success; /,
        );
        expect((await sentences(pv, 'modbus'))[0]).to.include(words);
        expect((await rows(pv, 'modbus'))[0]?.faults).to.have.length(1);
      });

    it('names a fault that has ended since', async () => {
      await modbus.write(limit, 1000);
      await mixed.site.advance(31);
      since = new Date(mixed.site.wall.nowMs()).toISOString();
      await inject({ kind: 'ignore_write', points: [limit], count: 1 });
      await modbus.write(limit, 4000);
      const [row] = await rows(pv, 'modbus');
      expect([row?.done, row?.faults[0].active]).to.deep.equal([false, false]);
      expect(row?.explanation).to.match(/fault 'ignore_write' \(\d+\) was on\.$/);
    });

    it('catches a device that keeps the value and does not act by it', async () => {
      await modbus.write(limit, 10000);
      await inject({ protocol: 'device', kind: 'ignore_effect', points: ['704'] });
      await modbus.write(limit, 4000);
      const [, row] = await rows(pv, 'modbus');
      expect(row?.found).to.deep.include({ value: 40, acts_by: 100 });
      expect([row?.done, row?.cause]).to.deep.equal([false, 'not_done']);
      expect(row?.explanation).to.match(
        /the register has 40, but the device acts by 100: fault 'ignore_effect' \(\d+\) is on\.$/,
      );
    });

    it('lets a later command, another writer and a reversion change what was written', async () => {
      await modbus.write(limit, 5000);
      await modbus.write(limit, 6000);
      expect(await verdicts(pv, 'modbus')).to.deep.equal([
        [limit, 50, 60, null, 'superseded'],
        [limit, 60, 60, true, 'done'],
      ]);
      await mixed.site.advance(1);
      await mixed.post('registers/704', { points: { WMaxLimPct: 70 } });
      expect((await verdicts(pv, 'modbus')).at(-1)).to.deep.equal([limit, 60, 70, null, 'superseded']);
      expect((await sentences(pv, 'modbus')).at(-1)).to.match(
        /the register has 70: rest \(127\.0\.0\.1:\d+\) wrote it at /,
      );
      // WMaxLimPctEna, WMaxLimPct, WMaxLimPctRvrt, WMaxLimPctEnaRvrt, WMaxLimPctRvrtTms
      await modbus.write(enable, 1, 2500, 10000, 0, 0, 5);
      await mixed.site.advance(6);
      const reverted = (await rows(pv, 'modbus')).filter(({ told }) => [limit, enable].includes(told.name as string));
      expect(reverted.slice(-2).map(({ told, done, cause }) => [told.value, done, cause])).to.deep.equal([
        ['ENABLED', null, 'expired'],
        [25, null, 'expired'],
      ]);
      expect(reverted.at(-1)?.explanation).to.match(/the register has 100: it reverted at \d\d:\d\d:\d\d UTC\.$/);
    });

    it('compares an adopted curve with the stored one', async () => {
      await modbus.write('705.AdptCrvReq', 2);
      expect(await verdicts(pv, 'modbus')).to.deep.equal([['705.AdptCrvReq', 2, 'COMPLETED', true, 'done']]);
      await mixed.site.advance(1);
      since = new Date(mixed.site.wall.nowMs()).toISOString();
      await inject({ protocol: 'device', kind: 'adoption', result: 'lies' });
      await modbus.write('705.Crv[2].Pt[0].V', 9100);
      await modbus.write('705.AdptCrvReq', 3);
      const [stored, row] = await rows(pv, 'modbus');
      expect(stored?.done).to.equal(true);
      expect([row?.done, row?.cause]).to.deep.equal([false, 'not_done']);
      expect(row?.explanation).to.match(
        /the register has COMPLETED, but 705\.Crv\[0\]\.\S+ is .* and not .*: fault 'adoption'/,
      );
    });

    it('does not judge what keeps nothing', async () => {
      await modbus.write('715.AlarmReset', 1);
      expect(await verdicts(pv, 'modbus')).to.deep.equal([['715.AlarmReset', 1, undefined, null, 'unknown']]);
    });
  });

  describe('of DNP3', () => {
    let dnp3: OperatingMaster;

    beforeEach(async () => (dnp3 = await OperatingMaster.open(mixed.site.app, pv)));
    afterEach(() => dnp3.close());

    it('finds outputs in their registers, and catches a device that does not act by them', async () => {
      expect([await dnp3.analog(88, 555), await dnp3.binary(17, true)]).to.deep.equal([0, 0]);
      expect(await verdicts(pv, 'dnp3')).to.deep.equal([
        ['AO88', 55.5, 55.5, true, 'done'],
        ['BO17', true, true, true, 'done'],
      ]);
      await inject({ protocol: 'device', kind: 'ignore_effect', points: ['704'] });
      expect([await dnp3.analog(88, 444), await dnp3.binary(17, false)]).to.deep.equal([0, 0]);
      expect((await verdicts(pv, 'dnp3')).slice(2)).to.deep.equal([
        ['AO88', 44.4, 44.4, false, 'not_done'],
        ['BO17', false, false, false, 'not_done'],
      ]);
      expect((await sentences(pv, 'dnp3'))[2]).to.match(
        /^DNP3 master 4@127\.0\.0\.1:\d+ operated AO88, bound to 704\.WMaxLimPct, = 44\.4 at .* and was answered with SUCCESS; the register has 44\.4, but the device acts by 55\.5: fault 'ignore_effect'/,
      );
    });

    it('lists neither what was refused nor what another master was told', async () => {
      expect(await dnp3.analog(88, 20_000)).to.equal(12);
      expect(await rows(pv, 'dnp3')).to.deep.equal([]);
      expect((await answers(pv, 'dnp3')).protocols).to.deep.equal([{ protocol: 'dnp3', recorded: true, reason: null }]);
    });

    it('lets every output of one bit show what it was told', async () => {
      const { points } = await mixed.site.get('dnp3/points?device=0&type=BO&coverage=served');
      const some = <T>(all: readonly T[]): readonly T[] => pick({ quick: spread(all, 30), ci: all });
      for (const { index } of some<Json>(points))
        for (const on of [true, false]) await dnp3.binary(index as number, on);
      const { points: analog } = await mixed.site.get('dnp3/points?device=0&type=AO&coverage=served');
      for (const { index, value } of some<Json>(analog))
        if (Math.abs(value as number) < 30_000) await dnp3.analog(index as number, Math.round(value as number));
      expect((await rows(pv, 'dnp3')).length).to.be.greaterThan(pick({ quick: 60, ci: 200 }));
      const wrong = (await rows(pv, 'dnp3')).filter(({ done }) => done === false);
      expect(wrong.map(({ explanation }) => explanation)).to.deep.equal([]);
    });
  });

  describe('of OCPP', () => {
    const profile = (id: number, limitW: number): Json => ({
      chargingProfileId: id,
      stackLevel: 1,
      chargingProfilePurpose: 'TxDefaultProfile',
      chargingProfileKind: 'Absolute',
      chargingSchedule: {
        chargingRateUnit: 'W',
        startSchedule: '2020-01-01T00:00:00Z',
        chargingSchedulePeriod: [{ startPeriod: 0, limit: limitW }],
      },
    });
    const install = (id: number, limitW: number) =>
      mixed.charger.call('SetChargingProfile', { connectorId: 1, csChargingProfiles: profile(id, limitW) });

    it('finds keys, availability, limits and reservations as they were accepted', async () => {
      accepted(await mixed.charger.call('ChangeConfiguration', { key: 'HeartbeatInterval', value: '77' }));
      accepted(await mixed.charger.call('ChangeAvailability', { connectorId: 1, type: 'Inoperative' }));
      accepted(await mixed.charger.call('ChangeAvailability', { connectorId: 1, type: 'Operative' }));
      accepted(await install(1, 3000));
      const reservation = { connectorId: 1, expiryDate: '2099-01-01T00:00:00Z', idTag: 'TAG', reservationId: 5 };
      accepted(await mixed.charger.call('ReserveNow', reservation));
      accepted(await mixed.charger.call('CancelReservation', { reservationId: 5 }));
      accepted(await mixed.charger.call('ClearCache', {}));
      expect(await verdicts(station, 'ocpp')).to.deep.equal([
        ['HeartbeatInterval', '77', '77', true, 'done'],
        ['availability of connector 1', 'Inoperative', 'Operative', null, 'superseded'],
        ['availability of connector 1', 'Operative', 'Operative', true, 'done'],
        ['charging profile 1', true, true, true, 'done'],
        ['limit of connector 1', 3000, 3000, true, 'done'],
        ['reservation 5', true, false, null, 'superseded'],
        ['reservation 5', false, false, true, 'done'],
        ['ClearCache', null, undefined, null, 'unknown'],
      ]);
      accepted(await mixed.charger.call('ClearChargingProfile', { chargingProfilePurpose: 'TxDefaultProfile' }));
      const all = await rows(station, 'ocpp');
      expect(all.find(({ told }) => told.name === 'charging profile 1')?.cause).to.equal('superseded');
      expect(all.filter(({ done }) => done === false)).to.deep.equal([]);
    });

    it('finds every key as it was accepted', async () => {
      const { keys } = await mixed.site.get('ocpp/CP-1/configuration');
      const open = (keys as Json[]).filter(({ readonly: isFixed, value }) => isFixed === false && value !== null);
      for (const { key, value } of open) await mixed.charger.call('ChangeConfiguration', { key, value });
      const found = await rows(station, 'ocpp');
      expect(found.length).to.be.greaterThan(20);
      expect(found.filter(({ done }) => done !== true).map(({ explanation }) => explanation)).to.deep.equal([]);
    });

    it('catches a limit that is accepted and not followed', async () => {
      await mixed.site.post(`controls/local?device=${station}`, { local: true });
      accepted(await install(2, 2000));
      const [, row] = await rows(station, 'ocpp');
      expect([row?.told.name, row?.done, row?.cause]).to.deep.equal(['limit of connector 1', false, 'not_done']);
      expect(row?.explanation).to.match(
        /^OCPP central system of CP-1 set charging profile 2, by which the limit of connector 1 is 2000 W now, at .* and was answered with Accepted; the limit in force of connector 1 has \d+: the device is under local control \(715\.LocRemCtl\) and refuses remote commands\.$/,
      );
      await mixed.site.post(`controls/local?device=${station}`, { local: false });
      await mixed.site.advance(2);
      expect((await verdicts(station, 'ocpp')).map((each) => each.slice(3))).to.deep.equal([
        [true, 'done'],
        [true, 'done'],
      ]);
    });

    it('catches calls that are accepted and ignored', async () => {
      await inject({ protocol: 'ocpp', kind: 'ignore_call', device: station });
      accepted(await mixed.charger.call('ChangeConfiguration', { key: 'HeartbeatInterval', value: '99' }));
      accepted(await mixed.charger.call('ChangeAvailability', { connectorId: 1, type: 'Inoperative' }));
      accepted(await install(9, 1000));
      accepted(await mixed.charger.call('RemoteStartTransaction', { connectorId: 1, idTag: 'NOBODY' }));
      const found = await rows(station, 'ocpp');
      expect(found.map(({ told, done, cause }) => [told.name, done, cause])).to.deep.equal([
        ['HeartbeatInterval', false, 'not_done'],
        ['availability of connector 1', false, 'not_done'],
        ['charging profile 9', false, 'not_done'],
        ['session of NOBODY', false, 'not_done'],
      ]);
      expect(found[0]?.explanation).to.match(
        /^OCPP central system of CP-1 set HeartbeatInterval = 99 at .* and was answered with Accepted; the station has 77: fault 'ignore_call' \(\d+\) is on\.$/,
      );
    });

    it('follows sessions that are started and stopped from afar', async () => {
      accepted(await mixed.charger.call('RemoteStartTransaction', { connectorId: 1, idTag: 'TAG' }));
      await mixed.site.advance(2);
      expect((await verdicts(station, 'ocpp'))[0]).to.deep.equal(['session of TAG', true, true, true, 'done']);
    });
  });

  describe('of IEEE 2030.5', () => {
    it('finds the values of an event in force while the server was told so, and given back afterwards', async () => {
      const { headEnd, lfdis } = mixed.site;
      const [program] = headEnd.programs;
      if (program === undefined) throw new Error('no program');
      const control = headEnd.control(program, { modes: { opModMaxLimW: 4000 }, inS: 5, durationS: 200 });
      const told = (status: number) =>
        mixed.site.until(`response ${status}`, 400, () =>
          headEnd.statuses(control.mRID, lfdis[pv]).includes(status) ? true : undefined,
        );
      await told(2);
      expect(await verdicts(pv, 'csip')).to.deep.equal([
        ['op_mod_max_lim_w_pct', 'ENABLED', 'ENABLED', true, 'done'],
        ['op_mod_max_lim_w_pct', 40, 40, true, 'done'],
      ]);
      await told(3);
      await mixed.site.settle();
      expect(await verdicts(pv, 'csip')).to.deep.equal([
        ['op_mod_max_lim_w_pct', 'released', 'released', true, 'done'],
        ['op_mod_max_lim_w_pct', 'released', 'released', true, 'done'],
      ]);
    });

    it('catches a response that says too early that an event has begun', async () => {
      const { headEnd, lfdis } = mixed.site;
      const [program] = headEnd.programs;
      if (program === undefined) throw new Error('no program');
      await inject({ protocol: 'csip', kind: 'wrong_status', status: 2, resource: 'DERControlResponse' });
      const control = headEnd.control(program, { modes: { opModMaxLimW: 3300 }, inS: 3000, durationS: 200 });
      await mixed.site.until('a response', 400, () =>
        headEnd.statuses(control.mRID, lfdis[pv]).length > 0 ? true : undefined,
      );
      const found = await rows(pv, 'csip');
      const row = found.find(({ told }) => told.value === 33);
      expect([row?.done, row?.cause]).to.deep.equal([false, 'not_done']);
      expect(row?.explanation).to.match(
        /^IEEE 2030\.5 server https:\S+ requested op_mod_max_lim_w_pct, which is 704\.WMaxLimPct = 33, by event \w+ at .* and was answered with Response 2 \(started\); the register has \d+(\.\d+)?: fault 'wrong_status' \(\d+\) is on\.$/,
      );
    });
  });

  it('says of each protocol why it has no commands', async () => {
    await mixed.post('modbus/messages', { enabled: false });
    const { protocols } = await mixed.site.get(`answers?device=${pv}`);
    const reasons = Object.fromEntries((protocols as Json[]).map(({ protocol, reason }) => [protocol, reason]));
    expect(reasons).to.deep.equal({
      modbus: 'its messages are not recorded: POST modbus/messages {"enabled": true}',
      csip: null,
      ocpp: 'the device is no charging station',
      dnp3: null,
    });
    await mixed.post('modbus/messages', { enabled: true });
  });
});
