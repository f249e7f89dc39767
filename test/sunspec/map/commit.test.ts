import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import type { Origin } from '../../../src/core/origin.ts';
import { RegisterBank } from '../../../src/sunspec/map/register-bank.ts';
import type { AdoptionOutcome, Commit, CommitParticipant } from '../../../src/sunspec/map/commit.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { byModbus, byRest, codeOf, HandClock, mapLayout, named } from '../../support/map.ts';
import { startImage } from '../../support/map-start.ts';

const layout = mapLayout();
const ramp = named(layout, '704.WRmp');
const heartbeat = named(layout, '715.DERHb');
const request = named(layout, '705.AdptCrvReq');
const result = named(layout, '705.AdptCrvRslt');

function joined(...participants: readonly CommitParticipant[]) {
  const errors: string[] = [];
  const bank = new RegisterBank(layout, startImage(layout), new HandClock(), {
    onError: (message) => errors.push(message),
  });
  bank.join(participants);
  const write = (name: string, value: number | string, by: Origin = byRest) => {
    bank.assign(by, [{ slot: named(layout, name), value }]);
  };
  return { bank, errors, write };
}

describe('commit: participants', () => {
  it('are called phase by phase, each phase in their order, and listeners after them', () => {
    const calls: string[] = [];
    const seen = (what: string) => calls.push(`${what} ${String(bank.value(ramp))}`);
    const participant = (name: string): CommitParticipant => ({
      admit: () => seen(`admit ${name}`),
      prepare: () => {
        seen(`prepare ${name}`);
        return () => seen(`follow ${name}`);
      },
    });
    const { bank, write } = joined(participant('a'), participant('b'));
    bank.onChange(() => seen('listener'));
    write('704.WRmp', 7);
    expect(calls).to.deep.equal([
      'admit a 100',
      'admit b 100',
      'prepare a 100',
      'prepare b 100',
      'follow a 7',
      'follow b 7',
      'listener 7',
    ]);
  });

  it('one that does not admit the writer ends it before any check', () => {
    const calls: string[] = [];
    const { bank, write } = joined(
      {
        admit: ({ source }) => {
          if (source === 'modbus') throw new SimError('MAP_LOCAL_CONTROL', 'not from afar');
        },
      },
      {
        prepare: () => {
          calls.push('prepare');
          return null;
        },
      },
    );
    const tried = (name: string, value: number, by?: Origin) =>
      codeOf(() => {
        write(name, value, by);
      });
    expect(tried('704.WMaxLimPct', 500, byModbus)).to.equal('MAP_LOCAL_CONTROL');
    expect(tried('704.WMaxLimPct', 500)).to.equal('MAP_BAD_VALUE');
    expect(calls).to.deep.equal([]);
    expect(tried('704.WMaxLimPct', 50)).to.equal(null);
    expect(bank.value(named(layout, '704.WMaxLimPct'))).to.equal(50);
  });

  it('see the change and set points of the candidate', () => {
    const { bank, write } = joined({
      prepare: (commit) => {
        commit.set(heartbeat, Number(commit.value(ramp)) + 1);
        return null;
      },
    });
    write('704.WRmp', 7);
    expect(bank.value(heartbeat)).to.equal(8);
  });

  it('a follow-up that fails is reported, and stops neither the commit nor the others', () => {
    const calls: string[] = [];
    const { bank, errors, write } = joined(
      {
        prepare: () => () => {
          throw new Error('no such thing');
        },
      },
      { prepare: () => () => calls.push('second') },
    );
    bank.onChange(() => calls.push('listener'));
    write('704.WRmp', 7);
    expect(errors).to.deep.equal(['no such thing']);
    expect(calls).to.deep.equal(['second', 'listener']);
    expect(bank.value(ramp)).to.equal(7);
  });

  it('a follow-up may write, with participants and listeners of its own', () => {
    const points: string[] = [];
    const { bank, write } = joined({
      prepare: ({ by }) =>
        by.source === 'rest'
          ? () => {
              write('704.VarRmp', 3, { source: 'scenario' });
            }
          : null,
    });
    bank.onChange((change) => points.push(...change.points.map(pointName)));
    write('704.WRmp', 7);
    expect(points).to.deep.equal(['704.VarRmp', '704.WRmp']);
  });

  it('withheld points are written, and later participants do not act on them', () => {
    const effective: string[][] = [];
    const look: CommitParticipant = {
      prepare: (commit) => {
        effective.push(commit.effective.map(pointName));
        return null;
      },
    };
    const withhold: CommitParticipant = {
      prepare: (commit) => {
        commit.withhold(new Set([ramp]));
        return null;
      },
    };
    const { bank } = joined(look, withhold, look);
    bank.transact(byRest, (tx) => {
      tx.m704.WRmp = 7;
      tx.m704.VarRmp = 8;
    });
    expect(effective).to.deep.equal([['704.WRmp', '704.VarRmp'], ['704.VarRmp']]);
    expect(bank.value(ramp)).to.equal(7);
  });

  it('the candidate is good for the commit only', () => {
    let kept: Commit | null = null;
    const { write } = joined({
      prepare: (commit) => {
        kept = commit;
        return null;
      },
    });
    write('704.WRmp', 7);
    expect(codeOf(() => kept?.value(ramp))).to.equal('INTERNAL');
    expect(
      codeOf(() => {
        kept?.set(ramp, 8);
      }),
    ).to.equal('INTERNAL');
  });

  it('after a reload learn which settings differed', () => {
    const seen: unknown[] = [];
    const { bank, write } = joined({
      reloaded: (points, by) => seen.push(points.map(pointName), by, bank.value(ramp)),
    });
    write('704.WRmp', 7);
    bank.reload(startImage(layout), byModbus);
    expect(seen).to.deep.equal([['704.WRmp'], byModbus, 100]);
  });
});

describe('commit: adoption requests', () => {
  const settling = (outcome: AdoptionOutcome) =>
    joined({
      prepare: (commit) => {
        for (const slot of commit.adoptions) {
          commit.settle(slot, outcome);
          // once only
          commit.settle(slot, 'ADOPT');
        }
        return null;
      },
    });

  it('are carried out where no participant settles them', () => {
    const { bank, write } = joined();
    write('705.Crv[1].RspTms', 9);
    write('705.AdptCrvReq', 2);
    expect([bank.value(named(layout, '705.Crv[0].RspTms')), bank.value(result)]).to.deep.equal([9, 'COMPLETED']);
  });

  for (const outcome of ['IN_PROGRESS', 'COMPLETED', 'FAILED'] as const) {
    it(`${outcome}: the result reads so, and nothing is adopted`, () => {
      const { bank, write } = settling(outcome);
      write('705.Crv[1].RspTms', 9);
      write('705.AdptCrvReq', 2, byModbus);
      expect([bank.value(named(layout, '705.Crv[0].RspTms')), bank.value(result)]).to.deep.equal([5, outcome]);
      expect([request, result].map((slot) => bank.provenance(slot)?.source)).to.deep.equal(['modbus', 'modbus']);
    });
  }

  it('of what is adopted in place there are none', () => {
    const requests: number[] = [];
    const { bank } = joined({
      prepare: ({ points, adoptions }) => {
        requests.push(points.filter((slot) => slot === request).length, adoptions.length);
        return null;
      },
    });
    bank.adopt(byRest, (tx) => {
      tx.m705.Crv[0]!.RspTms = 4;
    });
    expect(requests).to.deep.equal([1, 0]);
  });
});
