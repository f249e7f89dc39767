/** One identity for several devices. */
import { expect } from 'chai';
import type { Control, Program } from '../head-end/model.ts';
import { sfdiOf } from '../../../src/contract/csip-identity.ts';
import { Site } from './site.ts';

const limit = (percent: number) => ({ opModMaxLimW: percent * 100 });
const reactive = (percent: number) => ({ opModFixedVar: { refType: 2, value: percent * 100 } });

describe('an aggregator at a head-end', () => {
  let site: Site;
  let system: Program;
  let transformer: Program;
  let managed: readonly string[];

  beforeEach(async () => {
    site = await Site.open({
      types: ['PV-3Phase', 'PV-3Phase'],
      aggregator: true,
      flags: ['--csip_register', 'yes'],
      prepare(headEnd, [own = '']) {
        headEnd.register(own);
        headEnd.program({ fsa: headEnd.fsa('system'), primacy: 20 });
        headEnd.program({ fsa: headEnd.fsa('transformer'), primacy: 5, endDevices: [2] });
      },
    });
    [system, transformer] = site.headEnd.programs as [Program, Program];
    await site.until('two devices', 90, () => (site.headEnd.endDevices.length === 3 ? true : undefined));
    await site.advance(75);
    managed = site.headEnd.endDevices.slice(1).map(({ lfdi }) => lfdi);
  });
  afterEach(() => site.close());

  const limits = async () =>
    Promise.all(
      [0, 1].map(async (device) => {
        const { WMaxLimPctEna, WMaxLimPct } = await site.points(704, device);
        return WMaxLimPctEna === 1 ? WMaxLimPct : null;
      }),
    );
  const statuses = ({ mRID }: Control) => managed.map((lfdi) => site.headEnd.statuses(mRID, lfdi));
  const answered = (control: Control, status: number, count: number) =>
    site.until(`${count} responses ${status}`, 400, () => {
      const { length } = statuses(control).filter((known) => known.includes(status));
      return length >= count ? true : undefined;
    });

  it('UTIL-001, UTIL-002, UTIL-003, UTIL-004, AGG-001: one connection, an EndDevice, groups and documents for each device', () => {
    const { headEnd, lfdis } = site;
    expect(new Set(headEnd.requests.map(({ lfdi }) => lfdi))).to.deep.equal(new Set(lfdis));
    expect(new Set(managed).size).to.equal(2);
    for (const { id, lfdi } of headEnd.endDevices.slice(1)) {
      expect(lfdi).to.match(/^[0-9A-F]{32}00040732$/);
      expect(headEnd.sent('GET', `/edev/${id}/fsa`).length).to.be.greaterThan(0);
      for (const name of ['dercap', 'derg', 'ders']) {
        expect(headEnd.sent('PUT', `/edev/${id}/der/1/${name}`).length, name).to.be.greaterThan(0);
      }
      expect(headEnd.mirrors.filter(({ deviceLfdi }) => deviceLfdi === lfdi)).to.have.length(1);
    }
  });

  it('AGG-003, AGG-004, AGG-005: a default, an event, and an event over a default, for both devices or one', async () => {
    site.headEnd.setDefault(system, limit(80));
    site.headEnd.setDefault(transformer, limit(70));
    await site.advance(130);
    expect(await limits()).to.deep.equal([70, 80]);
    const control = site.headEnd.control(system, { modes: limit(40), inS: 30, durationS: 60 });
    await answered(control, 2, 2);
    expect(await limits()).to.deep.equal([40, 40]);
    await answered(control, 3, 2);
    expect(await limits()).to.deep.equal([70, 80]);
    expect(statuses(control)).to.deep.equal([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  it('AGG-006, AGG-007, P-01: events one after another, with the LFDI of the managed device in each response', async () => {
    const first = site.headEnd.control(system, { modes: limit(60), inS: 30, durationS: 60 });
    const second = site.headEnd.control(transformer, { modes: limit(30), inS: 90, durationS: 60 });
    await answered(second, 3, 1);
    await answered(first, 3, 2);
    expect(statuses(first)).to.deep.equal([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    expect(statuses(second)).to.deep.equal([[1, 2, 3], []]);
  });

  it('AGG-008, AGG-009, AGG-010: overlapping events of one mode: the transformer wins for its device only', async () => {
    const lower = site.headEnd.control(system, { modes: limit(60), inS: 30, durationS: 300 });
    await answered(lower, 2, 2);
    const higher = site.headEnd.control(transformer, { modes: limit(30), inS: 30, durationS: 60 });
    await answered(higher, 2, 1);
    expect(await limits()).to.deep.equal([30, 60]);
    await answered(higher, 3, 1);
    expect(await limits()).to.deep.equal([null, 60]);
    await answered(lower, 3, 1);
    expect(statuses(lower)).to.deep.equal([
      [1, 2, 7],
      [1, 2, 3],
    ]);
  });

  it('AGG-011, AGG-012: overlapping events of independent modes both run', async () => {
    const lower = site.headEnd.control(system, { modes: limit(60), inS: 30, durationS: 200 });
    const higher = site.headEnd.control(transformer, { modes: reactive(-20), inS: 60, durationS: 60 });
    await answered(higher, 2, 1);
    expect(await limits()).to.deep.equal([60, 60]);
    expect((await site.points(704, 0)).VarSetPct).to.equal(-20);
    expect((await site.points(704, 1)).VarSetEna).to.equal(0);
    await answered(lower, 3, 2);
    expect(statuses(higher)).to.deep.equal([[1, 2, 3], []]);
  });
});

describe('an aggregator whose devices are registered out of band', () => {
  let site: Site;
  const given = 'AB'.repeat(16) + '00040732';
  const other = 'CD'.repeat(16) + '00040732';
  beforeEach(async () => {
    site = await Site.open({
      types: ['PV-3Phase', 'PV-3Phase'],
      aggregator: true,
      flags: ['--csip_lfdi', given.toLowerCase()],
      prepare: (headEnd) => headEnd.program({ fsa: headEnd.fsa('system'), primacy: 20 }),
    });
  });
  afterEach(() => site.close());

  const identities = async () => {
    const { end_devices: all } = await site.get('csip/certificates');
    const shown = await Promise.all([0, 1].map((device) => site.get(`csip-client?device=${device}`)));
    expect(all).to.deep.equal(
      shown.map(({ lfdi, sfdi }, device) => {
        return { device_indices: [device], lfdi, sfdi };
      }),
    );
    return shown.map(({ lfdi, sfdi }) => {
      expect(sfdi).to.equal(String(sfdiOf(String(lfdi))));
      return String(lfdi);
    });
  };

  it('shows the identities of its devices before the server has them, also in its lines at the start', async () => {
    const [own = ''] = site.lfdis;
    const [first, second = ''] = await identities();
    expect(first).to.equal(given);
    expect(second).to.match(/^[0-9A-F]{32}00040732$/);
    expect(second).not.to.equal(own);
    expect((await site.get('csip/certificates')).lfdi).to.equal(own);
    const lines = site.app.adapters.flatMap((adapter) => adapter.startLines?.() ?? []);
    expect(lines).to.include.members([
      `CSIP      device 0: LFDI ${given}, SFDI ${sfdiOf(given)}`,
      `CSIP      device 1: LFDI ${second}, SFDI ${sfdiOf(second)}`,
    ]);
    for (const lfdi of [first ?? '', second]) site.headEnd.register(lfdi, { owner: own });
    await site.until('both devices', 1000, async () => {
      const { end_devices: all } = await site.get('csip/end-devices');
      return (all as { device_indices: number[] }[]).filter((each) => each.device_indices.length > 0)[1];
    });
  });

  it('takes an LFDI over REST, for one device, and back; none that is taken', async () => {
    const before = await identities();
    expect((await site.post('csip/config?device=1', { lfdi: other.toLowerCase() })).lfdi).to.equal(other);
    expect(await identities()).to.deep.equal([given, other]);
    for (const taken of [given, site.lfdis[0]]) {
      const refused = await site.post('csip/config?device=1', { lfdi: taken }).catch(String);
      expect(refused).to.contain('/lfdi').and.to.contain('is that of the aggregator or of another device');
    }
    await site.post('csip/config?device=1', { lfdi: null });
    expect(await identities()).to.deep.equal(before);
  });
});
