import { expect } from 'chai';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { Owner } from '../../support/holds.ts';
import type { Values } from '../../support/holds.ts';
import { byModbus, codeOf, createTestBank, errorOf, named } from '../../support/map.ts';
import type { TestBank } from '../../support/map.ts';

const limit = (pct: number): Values => ({ '704.WMaxLimPct': pct, '704.WMaxLimPctEna': 'ENABLED' });
const curve = (points: readonly (readonly [number, number])[]): Values => ({
  '705.Ena': 'ENABLED',
  '705.Crv[0].ActPt': points.length,
  ...Object.fromEntries(
    points.flatMap(([v, q], i): [string, AnyPointValue][] => [
      [`705.Crv[0].Pt[${i}].V`, v],
      [`705.Crv[0].Pt[${i}].Var`, q],
    ]),
  ),
});

describe('holds: timed controls of one owner', () => {
  let test: TestBank;
  let csip: Owner;
  let rest: Owner;

  beforeEach(() => {
    test = createTestBank();
    csip = new Owner(test.bank, 'csip');
    rest = new Owner(test.bank, 'rest');
  });

  const values = (...names: readonly string[]) => names.map((name) => test.value(name));
  const writer = (name: string) => test.bank.provenance(named(test.layout, name));

  describe('begin and end', () => {
    it('the end restores values and writers, in one commit each', () => {
      test.set({ '704.WMaxLimPct': 80 }, byModbus);
      const [before, master] = [test.dump(), writer('704.WMaxLimPct')];
      expect(csip.begin('A', limit(50))).to.deep.equal([]);
      expect(values('704.WMaxLimPct', '704.WMaxLimPctEna')).to.deep.equal([50, 'ENABLED']);
      expect(writer('704.WMaxLimPct')).to.deep.include({ source: 'csip', peer: 'A' });
      expect(csip.end('A')).to.deep.equal([
        {
          id: 'A',
          restored: ['704.WMaxLimPct', '704.WMaxLimPctEna', '704.WMaxLimPctRvrtTms'],
          left: [],
          handedOver: [],
        },
      ]);
      expect(test.dump().equals(before)).to.equal(true);
      expect(writer('704.WMaxLimPct')).to.equal(master);
      expect(writer('704.WMaxLimPctEna')).to.equal(undefined);
      expect(test.changes.map(({ by }) => by)).to.deep.equal([
        byModbus,
        { source: 'csip', peer: 'A' },
        { source: 'reversion', peer: 'csip A' },
      ]);
      expect(csip.holds.ids).to.deep.equal([]);
    });

    it('a refused begin changes nothing, also not the holds that were to end with it', () => {
      csip.begin('A', limit(50));
      const before = test.dump();
      expect(codeOf(() => csip.begin('B', { '704.WMaxLimPct': 101 }, ['A']))).to.equal('MAP_BAD_VALUE');
      expect(test.dump().equals(before)).to.equal(true);
      expect(csip.holds.ids).to.deep.equal(['A']);
      expect(csip.overwritten('A')).to.deep.equal([]);
      expect(test.changes).to.have.lengthOf(1);
    });

    it('ids: one in use, one that is unknown, one that begins anew', () => {
      csip.begin('A', limit(50));
      expect(codeOf(() => csip.begin('A', limit(40)))).to.equal('COMMAND_CONFLICT');
      expect(codeOf(() => csip.end('B'))).to.equal('UNKNOWN_RESOURCE');
      expect(codeOf(() => csip.holds.points('B'))).to.equal('UNKNOWN_RESOURCE');
      rest.begin('A', { '704.WRmp': 20 });
      csip.begin('A', limit(40), ['A']);
      csip.end('A');
      rest.end('A');
      expect(values('704.WMaxLimPct', '704.WMaxLimPctEna', '704.WRmp')).to.deep.equal([100, 'DISABLED', 100]);
    });

    it('commands and surroundings cannot be held', () => {
      const bank = createTestBank({ simModels: true });
      const owner = new Owner(bank.bank, 'rest');
      for (const [name, value] of [
        ['715.AlarmReset', 1],
        ['705.AdptCrvReq', 2],
        ['64414.GridFrequency', 61],
      ] as const) {
        const error = errorOf(() => owner.begin('A', { '704.WRmp': 20, [name]: value }));
        expect(error.code, name).to.equal('MAP_BAD_VALUE');
        expect(error.issues[0]?.name).to.equal(name);
      }
      expect(codeOf(() => owner.begin('A', { '701.W': 1 }))).to.equal('MAP_READ_ONLY');
      expect(bank.changes).to.have.lengthOf(0);
    });

    it('a base that its range would refuse by now is restored all the same', () => {
      test.set({ '704.WSet': -60_000 }, byModbus);
      csip.begin('A', { '704.WSet': 0 });
      test.set({ '702.WChaRteMax': 30_000 }, byModbus);
      csip.end('A');
      expect(test.value('704.WSet')).to.equal(-60_000);
    });

    it('check: the same refusals, and nothing written', () => {
      csip.begin('A', limit(50));
      const before = test.dump();
      csip.check('B', limit(40), ['A']);
      expect(codeOf(() => csip.check('B', limit(101)))).to.equal('MAP_BAD_VALUE');
      expect(codeOf(() => csip.check('A', limit(40)))).to.equal('COMMAND_CONFLICT');
      expect(
        codeOf(() =>
          csip.check(
            'B',
            curve([
              [110, 0],
              [100, 0],
            ]),
          ),
        ),
      ).to.equal('MAP_BAD_VALUE');
      expect(test.dump().equals(before)).to.equal(true);
      expect(csip.holds.ids).to.deep.equal(['A']);
      expect(test.changes).to.have.lengthOf(1);
    });
  });

  describe('points that somebody else writes', () => {
    it('are left alone at the end, and named', () => {
      csip.begin('A', limit(30));
      test.set({ '704.WMaxLimPct': 50 }, byModbus);
      expect(csip.overwritten('A')).to.deep.equal(['704.WMaxLimPct']);
      const [ended] = csip.end('A');
      expect(ended?.left).to.deep.equal(['704.WMaxLimPct']);
      expect(ended?.restored).to.deep.equal(['704.WMaxLimPctEna', '704.WMaxLimPctRvrtTms']);
      expect(test.value('704.WMaxLimPct')).to.equal(50);
    });

    it('also when they were written with the same value', () => {
      csip.begin('A', limit(30));
      test.set({ '704.WMaxLimPct': 30 }, byModbus);
      expect(csip.end('A')[0]?.left).to.deep.equal(['704.WMaxLimPct']);
      expect(test.value('704.WMaxLimPct')).to.equal(30);
    });

    it('are the base of a hold that begins over them', () => {
      csip.begin('A', limit(30));
      test.set({ '704.WMaxLimPct': 50 }, byModbus);
      expect(csip.begin('B', { '704.WMaxLimPct': 40 }, ['A'])[0]).to.deep.include({
        left: ['704.WMaxLimPct'],
        restored: ['704.WMaxLimPctEna'],
        handedOver: ['704.WMaxLimPctRvrtTms'],
      });
      csip.end('B');
      expect(values('704.WMaxLimPct', '704.WMaxLimPctEna')).to.deep.equal([50, 'DISABLED']);
    });

    it('a set adopted by a master stays as a whole', () => {
      csip.begin(
        'A',
        curve([
          [90, 40],
          [110, -40],
        ]),
      );
      test.set({ '705.Crv[1].Pt[0].V': 96 }, byModbus);
      test.set({ '705.AdptCrvReq': 2 }, byModbus);
      const [ended] = csip.end('A');
      expect(ended?.left).to.have.members([
        '705.Crv[0].ActPt',
        ...[0, 1].flatMap((i) => [`705.Crv[0].Pt[${i}].V`, `705.Crv[0].Pt[${i}].Var`]),
      ]);
      expect(values('705.Crv[0].Pt[0].V', '705.Ena')).to.deep.equal([96, 'DISABLED']);
    });

    it('a curve of two writers that could not be in force with the base of one is left whole', () => {
      csip.begin(
        'A',
        curve([
          [90, 40],
          [110, -40],
        ]),
      );
      test.bank.adopt(byModbus, (tx) => {
        tx.m705.Crv[0]!.Pt[1]!.V = 94;
      });
      csip.begin('B', limit(40));
      const ended = csip.end('A', 'B');
      expect(ended[0]?.left).to.have.lengthOf(5);
      expect(ended[0]?.restored).to.include('705.Ena');
      expect(ended[1]?.restored).to.include('704.WMaxLimPct');
      expect(values('705.Crv[0].Pt[0].V', '705.Crv[0].Pt[1].V', '704.WMaxLimPct')).to.deep.equal([90, 94, 100]);
    });
  });

  describe('handover', () => {
    it('a hold that takes over, at the end of another or over it, restores the first base', () => {
      test.set({ '704.WMaxLimPct': 80 }, byModbus);
      csip.begin('A', limit(50));
      expect(csip.begin('B', limit(30), ['A'])[0]?.handedOver).to.have.lengthOf(3);
      csip.begin('C', { '704.WMaxLimPct': 20 });
      expect(csip.overwritten('B')).to.deep.equal(['704.WMaxLimPct', '704.WMaxLimPctRvrtTms']);
      const [b] = csip.end('B');
      expect(b).to.deep.include({
        left: [],
        restored: ['704.WMaxLimPctEna'],
        handedOver: ['704.WMaxLimPct', '704.WMaxLimPctRvrtTms'],
      });
      expect(values('704.WMaxLimPct', '704.WMaxLimPctEna')).to.deep.equal([20, 'DISABLED']);
      csip.end('C');
      expect(test.value('704.WMaxLimPct')).to.equal(80);
    });

    it('the end of the later hold never restores the earlier one', () => {
      csip.begin('A', limit(50));
      csip.begin('B', limit(30));
      csip.end('B');
      expect(values('704.WMaxLimPct', '704.WMaxLimPctEna')).to.deep.equal([100, 'DISABLED']);
      csip.end('A');
      expect(values('704.WMaxLimPct', '704.WMaxLimPctEna')).to.deep.equal([100, 'DISABLED']);
    });

    it('a point that was not in use is not in use again', () => {
      const before = test.dump();
      csip.begin(
        'A',
        curve([
          [90, 40],
          [95, 20],
          [110, -40],
        ]),
      );
      csip.begin(
        'B',
        curve([
          [91, 40],
          [110, -40],
        ]),
        ['A'],
      );
      expect(values('705.Crv[0].Pt[2].V', '705.Crv[0].Pt[2].Var')).to.deep.equal([null, null]);
      csip.end('B');
      expect(test.dump().equals(before)).to.equal(true);
      expect(values('705.AdptCrvReq', '705.AdptCrvRslt')).to.deep.equal([1, 'COMPLETED']);
    });
  });

  describe('two owners', () => {
    const start = () => values('704.WMaxLimPct', '704.WMaxLimPctEna', '704.WMaxLimPctRvrtTms');

    it('the lower hold is in force again, and not overwritten any more, when the upper one ends', () => {
      csip.begin('A', limit(50));
      rest.begin('H', limit(30));
      expect(csip.overwritten('A')).to.have.lengthOf(3);
      rest.end('H');
      expect(test.value('704.WMaxLimPct')).to.equal(50);
      expect(csip.overwritten('A')).to.deep.equal([]);
      expect(csip.end('A')[0]?.left).to.deep.equal([]);
      expect(start()).to.deep.equal([100, 'DISABLED', 0]);
    });

    it('when the lower one ends first, the end of the upper one does not bring it back', () => {
      csip.begin('A', limit(50));
      rest.begin('H', limit(30));
      expect(csip.end('A')[0]?.left).to.have.lengthOf(3);
      expect(test.value('704.WMaxLimPct')).to.equal(30);
      rest.end('H');
      expect(start()).to.deep.equal([100, 'DISABLED', 0]);
    });

    it('nor when another hold of the lower owner has come on top', () => {
      for (const order of [
        ['B', 'H', 'A'],
        ['A', 'H', 'B'],
        ['H', 'B', 'A'],
      ]) {
        csip.begin('A', limit(50));
        rest.begin('H', limit(30));
        csip.begin('B', limit(20));
        for (const id of order) (id === 'H' ? rest : csip).end(id);
        expect(start(), order.join()).to.deep.equal([100, 'DISABLED', 0]);
      }
    });

    it('an owner that is closed leaves everything as it is', () => {
      csip.begin('A', limit(50));
      csip.holds.close();
      expect(test.value('704.WMaxLimPct')).to.equal(50);
      expect(csip.holds.ids).to.deep.equal([]);
    });
  });

  describe('timers of reversion (rule 2)', () => {
    const master: Values = { '704.WMaxLimPct': 50, '704.WMaxLimPctEna': 'ENABLED', '704.WMaxLimPctRvrtTms': 60 };

    it('the timer of a master does not end a hold, and starts again in full at its end', () => {
      test.set(master, byModbus);
      test.pass(50);
      csip.begin('A', limit(30));
      expect(values('704.WMaxLimPctRvrtTms', '704.WMaxLimPctRvrtRem')).to.deep.equal([0, 0]);
      test.pass(100);
      expect(test.value('704.WMaxLimPct')).to.equal(30);
      csip.end('A');
      expect(values('704.WMaxLimPct', '704.WMaxLimPctRvrtTms')).to.deep.equal([50, 60]);
      test.pass(59);
      expect(test.value('704.WMaxLimPct')).to.equal(50);
      test.pass(2);
      expect(test.value('704.WMaxLimPct')).to.equal(100);
    });

    it('a hold may set the time itself', () => {
      csip.begin('A', { ...limit(30), '704.WMaxLimPctRvrtTms': 20 });
      test.pass(21);
      expect(test.value('704.WMaxLimPct')).to.equal(100);
      expect(csip.end('A')[0]?.left).to.have.members(['704.WMaxLimPct', '704.WMaxLimPctEna']);
      expect(test.value('704.WMaxLimPctRvrtTms')).to.equal(0);
    });

    it('a curve alone touches the timer of its model', () => {
      test.set({ '705.RvrtCrv': 2, '705.Ena': 'ENABLED', '705.RvrtTms': 60 }, byModbus);
      csip.begin('A', { '705.Crv[0].RspTms': 3 });
      test.pass(100);
      expect(test.value('705.Crv[0].RspTms')).to.equal(3);
      csip.end('A');
      expect(values('705.Crv[0].RspTms', '705.RvrtTms')).to.deep.equal([5, 60]);
    });

    it('stays at 0 for an earlier hold of the owner that goes on', () => {
      test.set(master, byModbus);
      csip.begin('A', limit(30));
      csip.begin('B', { '704.WMaxLimPct': 20 });
      expect(csip.end('B')[0]).to.deep.include({
        restored: ['704.WMaxLimPct'],
        handedOver: ['704.WMaxLimPctRvrtTms'],
      });
      expect(test.value('704.WMaxLimPctRvrtTms')).to.equal(0);
      test.pass(100);
      expect(test.value('704.WMaxLimPctEna')).to.equal('ENABLED');
      csip.end('A');
      expect(values('704.WMaxLimPct', '704.WMaxLimPctRvrtTms')).to.deep.equal([50, 60]);
    });

    it('stays at 0 for a hold of the owner that lasts under one of another', () => {
      test.set({ '711.RvrtTms': 60 }, byModbus);
      const before = test.dump();
      csip.begin('A', { '711.Ena': 'ENABLED' });
      rest.begin('B', { '711.Ena': 'ENABLED' });
      csip.begin('C', { '711.Ctl[0].RspTms': 5 });
      expect(csip.end('C')[0]).to.deep.include({ restored: ['711.Ctl[0].RspTms'], handedOver: ['711.RvrtTms'] });
      rest.end('B');
      expect(values('711.Ena', '711.RvrtTms')).to.deep.equal(['ENABLED', 0]);
      test.pass(100);
      expect(values('711.Ena')).to.deep.equal(['ENABLED']);
      csip.end('A');
      expect(test.dump().equals(before)).to.equal(true);
    });

    it('comes back if a master has taken the point from the hold that lasts', () => {
      test.set({ '711.RvrtTms': 60 }, byModbus);
      csip.begin('A', { '711.Ena': 'ENABLED' });
      test.set({ '711.Ena': 'ENABLED' }, byModbus);
      csip.begin('C', { '711.Ctl[0].RspTms': 5 });
      csip.end('C');
      expect(values('711.Ena', '711.RvrtTms')).to.deep.equal(['ENABLED', 60]);
    });
  });

  describe('functions of reactive power (rule 3)', () => {
    const enables = ['704.PFWInjEna', '704.PFWAbsEna', '704.VarSetEna', '705.Ena', '712.Ena'] as const;

    it('a hold that enables one holds the enables of all five', () => {
      test.set({ '705.Ena': 'ENABLED', '712.Ena': 'ENABLED', '705.RvrtTms': 60 }, byModbus);
      csip.begin('A', { '704.VarSetEna': 'ENABLED', '704.VarSetPct': 20 });
      expect(values(...enables)).to.deep.equal(['DISABLED', 'DISABLED', 'ENABLED', 'DISABLED', 'DISABLED']);
      expect(test.value('705.RvrtTms')).to.equal(0);
      expect(
        csip.holds
          .points('A')
          .filter(({ added }) => added)
          .map(({ slot }) => `${slot.modelId}.${slot.path}`),
      ).to.have.members([
        ...enables.filter((name) => name !== '704.VarSetEna'),
        ...['704.VarSetRvrtTms', '704.PFWInjRvrtTms', '704.PFWAbsRvrtTms', '705.RvrtTms', '712.RvrtTms'],
      ]);
      csip.end('A');
      expect(values(...enables)).to.deep.equal(['DISABLED', 'DISABLED', 'DISABLED', 'ENABLED', 'ENABLED']);
    });

    it('one that enables two, by name or number, holds the other three; one that enables none holds none', () => {
      csip.begin('A', { '704.PFWInjEna': 1, '704.PFWAbsEna': 'ENABLED' });
      expect(values(...enables)).to.deep.equal(['ENABLED', 'ENABLED', 'DISABLED', 'DISABLED', 'DISABLED']);
      rest.begin('H', { '704.VarSetEna': 'DISABLED', '704.VarSetPct': 10 });
      expect(values(...enables).slice(0, 2)).to.deep.equal(['ENABLED', 'ENABLED']);
      expect(rest.holds.points('H').map(({ slot }) => slot.path)).to.deep.equal([
        'VarSetEna',
        'VarSetPct',
        'VarSetRvrtTms',
      ]);
    });
  });

  describe('a reset of the device', () => {
    it('ends all holds without a write and tells their owners', () => {
      const told: (readonly string[])[] = [];
      csip.holds.onReset((ids) => told.push(ids));
      csip.begin('A', limit(50));
      csip.begin('B', { '704.WRmp': 20 });
      rest.begin('H', limit(30));
      const start = createTestBank().dump();
      test.bank.reload(start, { source: 'rest' });
      expect(told).to.deep.equal([['A', 'B']]);
      expect(rest.holds.ids).to.deep.equal([]);
      expect(test.dump().equals(start)).to.equal(true);
      expect(test.changes).to.have.lengthOf(4);
      test.bank.reload(start, { source: 'rest' });
      expect(told).to.have.lengthOf(1);
    });
  });

  it('a listener of the commit sees the hold, and can end it at once', () => {
    const seen: unknown[] = [];
    const stop = test.bank.onChange(() => {
      stop();
      seen.push(csip.overwritten('A'), csip.end('A')[0]?.left);
    });
    csip.begin('A', limit(50));
    expect(seen).to.deep.equal([[], []]);
    expect(test.value('704.WMaxLimPct')).to.equal(100);
  });
});
