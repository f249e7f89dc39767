/** Stepped on the simulated clock with one seed and one script of the central system, two runs agree to the byte. */
import { expect } from 'chai';
import { id, Site } from './site.ts';

interface Run {
  /** every register of both stations, at several instants */
  readonly dumps: readonly string[];
  /** every call of the stations, without message ids */
  readonly calls: readonly string[];
}

const schedule = (unit: string, ...limits: readonly number[]) => ({
  chargingRateUnit: unit,
  chargingSchedulePeriod: limits.map((limit, n) => ({ startPeriod: n * 20, limit })),
});

async function run(): Promise<Run> {
  const site = await Site.open({
    types: ['EVSE', 'EVSE'],
    flags: ['--seed', '7'],
    central: {
      answers: { Authorize: ({ idTag }) => ({ idTagInfo: { status: idTag === 'B' ? 'Blocked' : 'Accepted' } }) },
    },
  }); // prettier-ignore
  try {
    const { plant } = site.app;
    const dumps: string[] = [];
    const dump = () => {
      for (const { bank } of plant.devices) dumps.push(bank.read(bank.layout.base, bank.layout.size).toString('hex'));
    };
    await site.until('both are connected', () => site.peers === 2);
    await site.call('ChangeConfiguration', { key: 'MeterValueSampleInterval', value: '7' });
    await site.call('ChangeConfiguration', { key: 'ClockAlignedDataInterval', value: '30' });
    for (const device of [0, 1]) {
      site.do({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 30 } }, device);
      site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'A' }, device);
    }
    await site.advance(33.3);
    dump();
    const common = { stackLevel: 1, chargingProfileKind: 'Relative' };
    const tx = { ...common, chargingProfileId: 1, chargingProfilePurpose: 'TxDefaultProfile' };
    await site.call('SetChargingProfile', {
      connectorId: 0,
      csChargingProfiles: { ...tx, chargingSchedule: schedule('A', 16, 10, 6.5, 12) },
    });
    await site.advance(40, 0.7);
    dump();
    site.station.cut();
    site.do({ kind: 'evse.stop', connectorId: 1 });
    await site.advance(25);
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'B' });
    await site.call('RemoteStartTransaction', { connectorId: 1, idTag: 'C' });
    await site.advance(15);
    dump();
    await site.call('Reset', { type: 'Hard' });
    await site.advance(20);
    await site.post('evse/session-generator', { seed: 3, rate_per_hour: 60 });
    await site.advance(60, 5);
    dump();
    const calls = [id, `${id}-1`].flatMap((name) =>
      site.central.station(name).calls.map(({ action, payload }) => `${name} ${action} ${JSON.stringify(payload)}`),
    );
    return { dumps, calls };
  } finally {
    await site.close();
  }
}

describe('charge points at a central system: determinism', () => {
  it('registers and calls of two stepped runs are identical', async () => {
    const [one, other] = [await run(), await run()];
    expect(one.calls.length).to.be.greaterThan(40);
    expect(new Set(one.dumps).size).to.equal(one.dumps.length);
    expect(other.dumps).to.deep.equal(one.dumps);
    expect(other.calls).to.deep.equal(one.calls);
  }).timeout(60_000);
});
