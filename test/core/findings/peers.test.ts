import { expect } from 'chai';
import { maxPeerNames } from '../../../src/core/findings/peers.ts';
import { reportOn } from '../../../src/core/findings/report.ts';
import { FindingsRig, plainRule as row } from '../../support/findings.ts';

describe('findings: peers, names and waivers', () => {
  let rig: FindingsRig;

  beforeEach(() => {
    rig = new FindingsRig();
  });

  it('have ids that are the same in each process, and differ by protocol, address and certificate', () => {
    const ids = [
      rig.peer('127.0.0.2'),
      rig.peer('127.0.0.3'),
      rig.peer('127.0.0.2', 'dnp3'),
      rig.peer('127.0.0.2', 'modbus', 'ab'),
    ].map(({ id }) => id);
    expect(new Set(ids).size).to.equal(4);
    expect(ids[0]).to.equal('5585754e4416');
    expect(new FindingsRig().peer('127.0.0.2').id).to.equal(ids[0]);
  });

  it('keep one identity over connections', () => {
    expect(rig.registry.peer({ protocol: 'modbus', address: 'a' })).to.equal(
      rig.registry.peer({ protocol: 'modbus', address: 'a' }),
    );
  });

  it('count strangers apart', () => {
    rig.registry.peer({ protocol: 'modbus', address: 'scanner' });
    rig.peer('127.0.0.2');
    expect(rig.registry.peers.strangers).to.equal(1);
    expect(rig.registry.peers.groups().map(({ name }) => name)).to.deep.equal(['127.0.0.2']);
  });

  it('have one report under a name that joins them, over protocols', () => {
    const { a } = rig.registry.rules('modbus', { a: row, quiet: row });
    const { b } = rig.registry.rules('dnp3', { b: row });
    const [master, outstation] = [rig.peer('127.0.0.2'), rig.peer('1@127.0.0.2', 'dnp3')];
    rig.peer('127.0.0.9');
    a.broken(master, 0, () => ({ text: 'wrong' }));
    b.exercised(outstation);
    const { peers } = rig.registry;
    peers.setName({
      name: 'Head-end A',
      match: [
        { protocol: 'modbus', address: '127.0.0.2' },
        { protocol: 'dnp3', address: '1@127.0.0.2' },
      ],
    });
    expect(peers.groups().map(({ name, isNamed }) => [name, isNamed])).to.deep.equal([
      ['Head-end A', true],
      ['127.0.0.9', false],
    ]);
    const group = peers.group('Head-end A')!;
    expect([peers.group(group.id)?.name, peers.group(outstation.id)?.name]).to.deep.equal(['Head-end A', 'Head-end A']);
    const report = reportOn(rig.registry, group);
    expect(report.rows.map(({ rule, state }) => [rule.id, state])).to.deep.equal([
      ['modbus.a', 'broken'],
      ['modbus.quiet', 'not_exercised'],
      ['dnp3.b', 'held'],
    ]);
    expect(report.coverage).to.deep.equal({ exercised: 2, observable: 3, coreMissing: [] });
  });

  it('answer to their address while no other peer has it', () => {
    const { peers } = rig.registry;
    const one = rig.peer('127.0.0.9');
    expect(peers.group('127.0.0.9')?.peers).to.deep.equal([one]);
    rig.peer('127.0.0.9', 'modbus', 'ab');
    expect(peers.group('127.0.0.9')).to.equal(undefined);
    peers.setName({ name: '127.0.0.9', match: [{ protocol: 'modbus', address: 'other' }] });
    const named = rig.peer('other');
    expect(peers.group('127.0.0.9')?.peers).to.deep.equal([named]);
  });

  it('fit a name by their certificate only where it names one', () => {
    const [plain, secure] = [rig.peer('127.0.0.2'), rig.peer('127.0.0.2', 'modbus', 'ab')];
    const { peers } = rig.registry;
    peers.setName({ name: 'A', match: [{ protocol: 'modbus', address: '127.0.0.2', certificate: 'ab' }] });
    expect([peers.nameOf(plain), peers.nameOf(secure)]).to.deep.equal([null, 'A']);
    peers.setName({ name: 'A', match: [{ protocol: 'modbus', address: '127.0.0.2' }] });
    expect([peers.nameOf(plain), peers.nameOf(secure)]).to.deep.equal(['A', 'A']);
  });

  it('have one name at most, which ends without matches', () => {
    const { peers } = rig.registry;
    const match = [{ protocol: 'modbus', address: '127.0.0.2' }] as const;
    peers.setName({ name: 'A', match });
    expect(() => peers.setName({ name: 'B', match })).to.throw('has the name "A" already');
    peers.setName({ name: 'A', match: [] });
    peers.setName({ name: 'B', match });
    expect(peers.names.map(({ name }) => name)).to.deep.equal(['B']);
  });

  it('fit a name by protocol, and names without peers have no report', () => {
    const { peers } = rig.registry;
    peers.setName({ name: 'A', match: [{ protocol: 'modbus', address: '127.0.0.2' }] });
    rig.peer('127.0.0.2', 'dnp3');
    expect(peers.groups().map(({ name }) => name)).to.deep.equal(['127.0.0.2']);
    const peer = rig.peer('127.0.0.2');
    peers.setName({ name: 'B', match: [{ protocol: 'modbus', address: '127.0.0.3' }] });
    const other = rig.peer('127.0.0.3');
    const ids = ['A', 'B'].map((name) => peers.group(name)?.id ?? '');
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{12}$/);
    const called = [peer, other].map((one) => [...ids, 'A', 'B', '127.0.0.2'].map((name) => peers.isCalled(one, name)));
    expect(called).to.deep.equal([
      [true, false, true, false, false],
      [false, true, false, true, false],
    ]);
  });

  it('have two names only where protocol, address or certificate differ', () => {
    const { peers } = rig.registry;
    const [plain, ab, cd] = [undefined, 'ab', 'cd'].map((certificate) => ({
      protocol: 'modbus' as const,
      address: '127.0.0.2',
      ...(certificate !== undefined && { certificate }),
    }));
    const far = { protocol: 'modbus', address: '127.0.0.9' } as const;
    peers.setName({ name: 'A', match: [far, ab!] });
    for (const match of [[plain!], [ab!], [far], [cd!, ab!]])
      expect(() => peers.setName({ name: 'B', match }), JSON.stringify(match)).to.throw('has the name "A" already');
    peers.setName({ name: 'B', match: [cd!] });
    peers.setName({ name: 'C', match: [{ protocol: 'dnp3', address: '127.0.0.2' }] });
    expect(() => peers.setName({ name: 'D', match: [plain!] })).to.throw('has the name "A" already');
    expect(peers.names.map(({ name }) => name)).to.deep.equal(['A', 'B', 'C']);
  });

  it('have 100 names at most, of which one can still end', () => {
    const { peers } = rig.registry;
    for (let i = 0; i < maxPeerNames; i += 1)
      peers.setName({ name: `n${i}`, match: [{ protocol: 'modbus', address: String(i) }] });
    const one = { name: 'more', match: [{ protocol: 'modbus', address: 'more' }] } as const;
    expect(() => peers.setName(one)).to.throw('there are 100 names of peers; remove one first');
    peers.setName({ name: 'none', match: [] });
    peers.setName({ name: 'n5', match: [] });
    peers.setName(one);
    expect(peers.names).to.have.length(100);
  });

  it('show cases of those that broke the rule as evidence, not the excused ones of others', () => {
    const { a } = rig.registry.rules('modbus', { a: { ...row, isTimed: true } });
    const [one, other] = [rig.peer('127.0.0.2'), rig.peer('127.0.0.3')];
    rig.hasStalled = true;
    a.broken(one, 1, () => ({ text: 'excused' }));
    rig.hasStalled = false;
    rig.timers.pass(1000);
    a.broken(other, 2, () => ({ text: 'wrong' }));
    const group = { id: 'x', name: 'x', isNamed: true, peers: [one, other] };
    const [result] = reportOn(rig.registry, group).rows;
    expect(result).to.include({ state: 'broken', broken: 1, excused: 1 });
    expect(result?.cases.map(({ text }) => text)).to.deep.equal(['wrong']);
    expect(result?.deviceIndexes).to.deep.equal([2]);
    expect(result?.first).to.deep.equal(result?.last);
  });

  describe('with waivers', () => {
    const broken = (address = '127.0.0.2') => {
      const { a } = rig.registry.rules('modbus', { a: row });
      const peer = rig.peer(address);
      a.broken(peer, 0, () => ({ text: 'wrong' }));
      return peer;
    };
    const waiver = { rule: 'modbus.a', peer: null, reason: 'agreed', untilMs: null };

    it('are not accused of a waived rule, and the report says why', () => {
      const peer = broken();
      const { id } = rig.registry.waivers.add(waiver);
      expect(rig.row(peer, 'modbus.a')).to.include({ state: 'waived', reason: 'agreed', broken: 1 });
      expect(rig.ids(peer)).to.deep.equal([]);
      expect(rig.registry.waivers.remove(id)).to.equal(true);
      expect(rig.row(peer, 'modbus.a').state).to.equal('broken');
      expect(rig.registry.waivers.remove(id)).to.equal(false);
    });

    it('are accused again from the end of a waiver on', () => {
      const peer = broken();
      rig.registry.waivers.add({ ...waiver, untilMs: rig.wall.nowMs() + 1000 });
      rig.wall.advance(999);
      expect(rig.row(peer, 'modbus.a').state).to.equal('waived');
      rig.wall.advance(1);
      expect(rig.row(peer, 'modbus.a').state).to.equal('broken');
    });

    it('are waived by id or by name, each for itself', () => {
      const [one, other] = [broken(), broken('127.0.0.3')];
      rig.registry.waivers.add({ ...waiver, peer: one.id });
      expect([one, other].map((peer) => rig.row(peer, 'modbus.a').state)).to.deep.equal(['waived', 'broken']);
      rig.registry.peers.setName({ name: 'B', match: [{ protocol: 'modbus', address: '127.0.0.3' }] });
      rig.registry.waivers.add({ ...waiver, peer: 'B' });
      expect(rig.row(other, 'modbus.a').state).to.equal('waived');
      const [third, fourth] = [broken('127.0.0.4'), broken('127.0.0.5')];
      rig.registry.waivers.add({ ...waiver, peer: '127.0.0.4' });
      expect([third, fourth].map((peer) => rig.row(peer, 'modbus.a').state)).to.deep.equal(['waived', 'broken']);
      rig.registry.peers.setName({ name: 'C', match: [{ protocol: 'modbus', address: '127.0.0.5' }] });
      rig.registry.waivers.add({ ...waiver, peer: rig.registry.peers.group('C')!.id });
      expect(rig.row(fourth, 'modbus.a').state).to.equal('waived');
      rig.registry.waivers.add({ ...waiver, rule: 'modbus.other' });
    });

    it('are accused together while one of them has no waiver', () => {
      const [one, other] = [broken(), broken('127.0.0.3')];
      const group = { id: 'x', name: 'x', isNamed: true, peers: [one, other] };
      rig.registry.waivers.add({ ...waiver, peer: one.id });
      expect(reportOn(rig.registry, group).rows[0]?.state).to.equal('broken');
      rig.registry.waivers.add({ ...waiver, peer: other.id });
      expect(reportOn(rig.registry, group).rows[0]?.state).to.equal('waived');
    });

    it('need the waiver of the very rule', () => {
      const peer = broken();
      rig.registry.waivers.add({ ...waiver, rule: 'modbus.b' });
      expect(rig.row(peer, 'modbus.a').state).to.equal('broken');
    });
  });
});
