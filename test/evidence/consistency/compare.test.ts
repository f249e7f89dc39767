import { expect } from 'chai';
import { compared } from '../../../src/evidence/consistency/compare.ts';
import type { Presented } from '../../../src/evidence/consistency/model.ts';
import { quantityTable } from '../../../src/evidence/consistency/quantities.ts';
import { quantityNames } from '../../../src/evidence/consistency/names.ts';

const of = (more: Partial<Presented>): Presented => ({
  presenter: 'registers',
  place: '701.W',
  value: 3990,
  missing: null,
  resolution: 10,
  atMs: 0,
  shown: [],
  ...more,
});
const register = of({});
const dnp3 = (value: number | null, more: Partial<Presented> = {}) =>
  of({ presenter: 'dnp3', place: 'AI537', value, resolution: 100, ...more });

describe('presentations compared with a register', () => {
  const verdict = (one: Presented, reference = register) => {
    const { cause, agrees, difference, explanation } = compared(one, reference, 'W', []);
    return { cause, agrees, difference, explanation };
  };

  it('are equal, or explained by the steps of either encoding', () => {
    expect(verdict(dnp3(3990))).to.deep.equal({ cause: 'equal', agrees: true, difference: 0, explanation: null });
    expect(verdict(dnp3(4000))).to.deep.equal({
      cause: 'rounding',
      agrees: true,
      difference: 10,
      explanation: 'DNP3 shows 4000 W in steps of 100 W; the register has 3990 W: rounding.',
    });
    const fine = of({ presenter: 'ocpp', place: 'Power.Active.Export', value: 3993.4, resolution: 0.1 });
    expect(verdict(fine).explanation).to.equal(
      'OCPP shows 3993.4 W; the register has 3990 W in steps of 10 W: rounding.',
    );
    expect(verdict(dnp3(3900)).cause).to.equal('unexplained');
    expect(verdict(dnp3(3900, { floors: true })).cause).to.equal('rounding');
    expect(verdict(dnp3(3990), of({ value: -3990 })).cause).to.equal('unexplained');
    expect(verdict(dnp3(3990, { isMagnitude: true }), of({ value: -3990 })).cause).to.equal('equal');
  });

  it('differ without a reason, or because they are older', () => {
    expect(verdict(dnp3(4120))).to.deep.equal({
      cause: 'unexplained',
      agrees: false,
      difference: 130,
      explanation:
        'DNP3 shows 4120 W and the register has 3990 W, a difference of 130 W, more than rounding of 55 W explains.',
    });
    const sentAtMs = Date.parse('2026-06-21T12:00:00Z');
    const document = of({ presenter: 'csip', place: 'availability.statWAvail', value: 4500, sentAtMs });
    expect(verdict(document)).to.deep.include({ cause: 'earlier', agrees: false });
    expect(verdict(document).explanation).to.match(/: it was sent last at 12:00:00 UTC\.$/);
    const mean = of({ ...document, interval: { startMs: sentAtMs, endMs: sentAtMs + 300_000 } });
    expect(verdict(mean).explanation).to.match(
      /: it is the mean from 12:00:00 to 12:05:00 UTC by the time of its server \(a period of 300 s\)\.$/,
    );
  });

  it('may mean nothing', () => {
    const noise = compared(dnp3(4120), register, 'W', [], false);
    expect([noise.cause, noise.agrees]).to.deep.equal(['rounding', true]);
    expect(noise.explanation).to.match(/: hardly any power flows, so that it means nothing\.$/);
  });

  it('have states in words, and may have nothing', () => {
    const state = of({ value: 'running', resolution: null });
    expect(compared({ ...state, presenter: 'rest' }, state, 'word', []).cause).to.equal('equal');
    const off = compared({ ...state, presenter: 'rest', value: 'off' }, state, 'word', []);
    expect([off.difference, off.explanation]).to.deep.equal([null, 'REST shows off and the register has running.']);
    expect(verdict(dnp3(null, { missing: 'the point is not online' }))).to.deep.equal({
      cause: 'no_value',
      agrees: null,
      difference: null,
      explanation: 'DNP3 shows nothing: the point is not online.',
    });
    expect(verdict(dnp3(1), of({ value: null, missing: 'x' })).agrees).to.equal(null);
  });

  it('are of a table with one row for each name', () => {
    expect(quantityTable.map(([name]) => name)).to.deep.equal(quantityNames);
    expect(new Set(quantityNames).size).to.equal(quantityNames.length);
    for (const [name, { about }] of quantityTable) expect(about, name).to.match(/\.$/);
  });

  it('differ by rounding up to half a step of both encodings, and by no more', () => {
    // half of 10 W and half of 100 W
    expect([3935, 4045].map((value) => verdict(dnp3(value)).cause)).to.deep.equal(['rounding', 'rounding']);
    expect([3934, 4046].map((value) => verdict(dnp3(value)).cause)).to.deep.equal(['unexplained', 'unexplained']);
  });
});
