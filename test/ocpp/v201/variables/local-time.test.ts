import { expect } from 'chai';
import { localOffsetMs, offsetMinutes } from '../../../../src/ocpp/v201/variables/handlers.ts';
import { rig } from '../rig.ts';

describe('OCPP 2.x ClockCtrlr.TimeOffset', () => {
  const rows: readonly (readonly [text: string, minutes: number | null])[] = [
    ['+00:00', 0],
    ['+01:00', 60],
    ['-03:30', -210],
    ['+14:00', 840],
    ['-12:00', -720],
    ['+14:01', null],
    ['-12:30', null],
    ['+01:60', null],
    ['01:00', null],
    ['+1:00', null],
    ['Z', null],
    ['', null],
  ];
  for (const [text, minutes] of rows)
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(offsetMinutes(text)).to.equal(minutes);
    });

  it('is the local time of the station', () => {
    const { variables } = rig();
    expect(localOffsetMs(variables)).to.equal(0);
    variables.override('ClockCtrlr', 'TimeOffset', '-03:30');
    expect(localOffsetMs(variables)).to.equal(-12_600_000);
  });
});
