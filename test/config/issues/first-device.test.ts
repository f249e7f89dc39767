import { expect } from 'chai';
import { errorOf, run } from '../support.ts';

/** Whether a configuration is refused, and by which setting. */
function refusedBy(argv: readonly string[]): readonly string[] {
  try {
    run(argv);
  } catch {
    return errorOf(argv).issues.map(({ name }) => name);
  }
  return [];
}

/** Of these numbers those with which the setting is refused. */
function refusedNumbers(flag: string, numbers: readonly number[], argv: readonly string[]): readonly number[] {
  return numbers.filter((n) => refusedBy([...argv, flag, `${n}`]).includes(flag));
}

describe('conflicts of a fleet that is split into several processes (first_device)', () => {
  // the second process of a fleet: devices 10, 11 and 12
  const fleet = ['-N', '3', '--first_device', '10'];
  const csip = [...fleet, '--csip_client_enable', 'yes', '--csip_identity', 'aggregator'];
  const dnp3 = [...fleet, '-d3', 'yes'];
  const around = (first: number) => [first - 10, first - 8, first - 1, first, first + 1, first + 2, first + 3];

  it('ports of IEEE 2030.5 meet the Modbus ports from that of the first device to that of the last', () => {
    const flag = '--csip_website_port';
    expect(refusedNumbers(flag, around(8512), csip)).to.deep.equal([8512, 8513, 8514]);
    expect(refusedNumbers(flag, around(8512), [...csip, '--mb_shared_port', 'yes'])).to.deep.equal([8502]);
  });

  it('ports of outstations meet other listeners from that of the first device to that of the last', () => {
    const met = (websitePort: number) => refusedBy([...dnp3, '-wp', `${websitePort}`, '--dnp3_port', '21000']);
    const isMet = (websitePort: number) => met(websitePort).includes('--dnp3_port');
    expect(around(21_010).filter(isMet)).to.deep.equal([21_010, 21_011, 21_012]);
  });

  it('masters may not have the address of an outstation, from that of the first device to that of the last', () => {
    const shared = [...dnp3, '--dnp3_shared_port', 'yes', '--dnp3_outstation_addr', '100'];
    expect(refusedNumbers('--dnp3_remote_addr', around(110), shared)).to.deep.equal([110, 111, 112]);
  });

  it('the meter has another port and another unit id than the devices', () => {
    expect(refusedNumbers('--meter_port', around(8512), fleet)).to.deep.equal([8512, 8513, 8514]);
    const shared = [...fleet, '--mb_shared_port', 'yes'];
    expect(refusedNumbers('--meter_unit', around(11), shared)).to.deep.equal([11, 12, 13]);
  });

  it('the last device may have the highest port', () => {
    const numbers = [65_522, 65_523, 65_524, 65_525];
    expect(refusedNumbers('--mb_port', numbers, fleet)).to.deep.equal([65_524, 65_525]);
    expect(refusedNumbers('--dnp3_port', numbers, dnp3)).to.deep.equal([65_524, 65_525]);
  });
});

describe('ports of a shard (port_base, shard_ordinal)', () => {
  const fleet = ['--fleet', 'nats://127.0.0.1:4222', '-N', '3', '--first_device', '60000'];

  it('count from its own first device in a fleet, and from index 0 without one', () => {
    const countsFrom = (...words: string[]) => {
      const { modbus, dnp3 } = run([...words, '-d3', 'yes']);
      return [modbus.countsFrom, dnp3?.countsFrom];
    };
    expect(countsFrom(...fleet)).to.deep.equal([60_000, 60_000]);
    expect(countsFrom('--first_device', '10')).to.deep.equal([0, 0]);
    expect(countsFrom('--first_device', '10', '--port_base', 'shard')).to.deep.equal([10, 10]);
    expect(countsFrom(...fleet.slice(0, 4), '--port_base', 'fleet')).to.deep.equal([0, 0]);
  });

  it('above the highest one are refused, with the ways out', () => {
    const { issues } = errorOf([...fleet, '--port_base', 'fleet', '-p', '8502']);
    expect(issues.map(({ detail }) => detail)).to.deep.equal([
      'given 8502, so that the last device would be on port 68504; ' +
        'allowed: a last port up to 65535, 0, or mb_shared_port, or port_base shard',
    ]);
  });

  it('of a shared port have unit ids and link addresses from the first on', () => {
    const shared = [...fleet, '--mb_shared_port', 'yes', '-d3', 'yes', '--dnp3_shared_port', 'yes'];
    expect(refusedBy(shared)).to.deep.equal([]);
    const addresses = [...shared, '--dnp3_outstation_addr', '65517'];
    expect(refusedBy(addresses)).to.deep.equal([]);
    expect(refusedBy([...addresses.slice(0, -1), '65518'])).to.deep.equal(['--dnp3_outstation_addr']);
  });

  it('follow the ordinal of the shard, by the room or by the number of devices', () => {
    const first = (...words: string[]) => run([...fleet.slice(0, 4), '--shard_ordinal', '4', ...words]).firstDevice;
    expect([first(), first('--fleet_room', '1000')]).to.deep.equal([12, 4000]);
    expect(refusedBy([...fleet, '--shard_ordinal', '4'])).to.deep.equal(['--shard_ordinal']);
    expect(refusedBy([...fleet.slice(0, 4), '--shard_ordinal', '400000'])).to.deep.equal(['--shard_ordinal']);
  });
});
