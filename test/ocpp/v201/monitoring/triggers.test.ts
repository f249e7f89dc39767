import { expect } from 'chai';
import fc from 'fast-check';
import { freshState, judge, numberOf } from '../../../../src/ocpp/v201/monitoring/watch.ts';
import type { JudgedMonitor, MonitorState } from '../../../../src/ocpp/v201/monitoring/watch.ts';
import { holds } from '../../../support/property.ts';

/** What a monitor tells of one value after another: `+` triggered, `-` cleared, `.` nothing. */
function told(monitor: Partial<JudgedMonitor>, values: readonly (string | number)[], target: number | null = null) {
  let state: MonitorState = freshState;
  return values
    .map((value) => {
      const judgement = judge(
        { type: 'UpperThreshold', value: 100, numeric: true, ...monitor },
        { value: String(value), target },
        state,
        5,
      );
      state = judgement.state;
      if (judgement.event === null) return '.';
      return judgement.event.cleared === true ? '-' : '+';
    })
    .join('');
}

describe('OCPP 2.x: when monitors trigger (N07)', () => {
  it('N07.FR.16: an upper threshold triggers above it, not at it, once', () => {
    expect(told({}, [99, 100, 100.1, 200, 101])).to.equal('..+..');
  });

  it('N07.FR.17: a lower threshold triggers below it', () => {
    expect(told({ type: 'LowerThreshold' }, [101, 100, 99.9, 50])).to.equal('..+.');
  });

  it('N07.FR.02: a threshold clears behind a band, so that a value around it is told once', () => {
    expect(told({}, [101, 99, 101, 96, 101, 95, 94, 101])).to.equal('+....-.+');
    expect(told({ type: 'LowerThreshold' }, [99, 101, 99, 104, 105])).to.equal('+...-');
    expect(told({ value: -100 }, [-99, -100, -105])).to.equal('+.-');
    expect(told({ value: 0 }, [1, 0])).to.equal('+-');
  });

  it('N07.FR.18: a difference counts from the value told last, in both directions', () => {
    expect(told({ type: 'Delta', value: 10 }, [50, 60, 60.5, 70.5, 71, 60.5])).to.equal('..+.++');
    expect(told({ type: 'Delta', value: 0.1 }, [1, 1.1, 1.3])).to.equal('..+');
    expect(told({ type: 'Delta', value: 10 }, [50, 39, 29, 28])).to.equal('.+.+');
    expect(told({ type: 'Delta', value: 0 }, [50, 50, 50.1])).to.equal('..+');
  });

  it('N07.FR.19: without numbers each change counts', () => {
    const delta = { type: 'Delta', value: 1000, numeric: false } as const;
    expect(told(delta, ['false', 'false', 'true', 'true', 'false'])).to.equal('..+.+');
    expect(told(delta, ['Available', 'Occupied', 'Available'])).to.equal('.++');
  });

  it('a difference from a target counts from the target, then from the one told last', () => {
    expect(told({ type: 'TargetDelta', value: 100 }, [1000, 900, 899, 850, 798], 1000)).to.equal('..+.+');
    expect(told({ type: 'TargetDeltaRelative', value: 0.1 }, [1000, 901, 899, 1000], 1000)).to.equal('..++');
    expect(told({ type: 'TargetDelta', value: 100 }, [0, 5000])).to.equal('..');
  });

  it('a value that is no number triggers nothing', () => {
    expect(told({}, ['', 'x', 'Infinity', 101, ''])).to.equal('...+.');
    expect(told({ type: 'Delta', value: 1 }, ['', 5, '', 9])).to.equal('...+');
    expect(numberOf(' ')).to.equal(null);
  });

  const walk = fc.array(fc.integer({ min: -300, max: 300 }), { maxLength: 60 });

  it('thresholds of any walk trigger and clear in turn', () => {
    holds(
      'thresholds trigger and clear in turn',
      [walk, fc.integer({ min: -200, max: 200 }), fc.constantFrom('UpperThreshold', 'LowerThreshold')],
      (values, value, type) => {
        const story = told({ type, value }, values).replaceAll('.', '');
        expect(story).to.match(/^(\+-)*\+?$/);
      },
    );
  });

  it('a difference of any walk is told exactly where a plain count tells it', () => {
    holds('differences as a plain count', [walk, fc.integer({ min: 0, max: 100 })], (values, by) => {
      let last = values[0] ?? 0;
      const wanted = values.map((value) => {
        if (Math.abs(value - last) <= by) return '.';
        last = value;
        return '+';
      });
      expect(told({ type: 'Delta', value: by }, values)).to.equal(wanted.join(''));
    });
  });
});
