import { expect } from 'chai';
import { duration, timeOfDay } from '../../src/scenario/file/schema.ts';

const secondsOf = (given: string | number) => duration.safeParse(given).data ?? null;
const yearS = 366 * 86_400;

describe('durations and times of day of scenarios', () => {
  it('are seconds, or a number with its unit', () => {
    expect(['250 ms', '90 s', '1.5 h', '2min', '1 d'].map(secondsOf)).to.deep.equal([0.25, 90, 5400, 120, 86_400]);
    expect(['', 's', '90', '1 w', '-1 s', '.5 s'].map(secondsOf)).to.deep.equal([null, null, null, null, null, null]);
  });

  it('reach from 0 to 366 d, in either form', () => {
    expect([0, '0 s', yearS, '366 d', `${yearS} s`].map(secondsOf)).to.deep.equal([0, 0, yearS, yearS, yearS]);
    expect([-1, yearS + 1, '367 d', `${yearS + 1} s`].map(secondsOf)).to.deep.equal([null, null, null, null]);
  });

  it('of day reach from 00:00 to 23:59:59', () => {
    const ofDay = (text: string) => timeOfDay.safeParse(text).data ?? null;
    expect(['00:00', '23:59', '23:59:59', '07:05:09'].map(ofDay)).to.deep.equal([0, 86_340, 86_399, 25_509]);
    expect(['24:00', '12:60', '12:00:60', '7:05', '12'].map(ofDay)).to.deep.equal([null, null, null, null, null]);
  });
});
