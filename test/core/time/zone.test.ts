import { expect } from 'chai';
import { isTimeZone, zoneOffsetMs } from '../../../src/core/time/zone.ts';

const hour = 3_600_000;

describe('time zones', () => {
  it('are known by IANA names only, not by offsets', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Etc/GMT+1'])
      expect(isTimeZone(zone), zone).to.equal(true);
    for (const zone of ['', '+01:00', '-05', '01:00', 'Mars/Olympus', ' UTC', '../etc/passwd'])
      expect(isTimeZone(zone), zone).to.equal(false);
  });

  it('have an offset that follows summer time, minutes included', () => {
    const summer = Date.UTC(2026, 6, 1, 12);
    const winter = Date.UTC(2026, 0, 1, 12);
    expect(zoneOffsetMs('Europe/Berlin', summer)).to.equal(2 * hour);
    expect(zoneOffsetMs('Europe/Berlin', winter)).to.equal(hour);
    expect(zoneOffsetMs('America/New_York', winter)).to.equal(-5 * hour);
    expect(zoneOffsetMs('Asia/Kathmandu', winter)).to.equal(5.75 * hour);
    expect(zoneOffsetMs('UTC', summer)).to.equal(0);
    expect(() => zoneOffsetMs('Mars/Olympus', winter)).to.throw(RangeError);
  });
});
