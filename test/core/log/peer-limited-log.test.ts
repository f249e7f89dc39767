import { expect } from 'chai';
import { createLogBook } from '../../../src/core/log/log.ts';
import { PeerLimitedLog } from '../../../src/core/log/limited-log.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

describe('Lines that peers cause', () => {
  it('ten of each peer, fifty of all, and no text beyond them', () => {
    const wall = new HandWall();
    const { later } = new HandTimers(wall);
    const book = createLogBook({ clock: wall, later, write: () => undefined });
    const log = new PeerLimitedLog(book.logger('Modbus'), wall, 'refused writes', later);
    let made = 0;
    for (let peer = 0; peer < 8; peer += 1)
      for (let i = 0; i < 12; i += 1)
        log.info(`P${peer}`, () => {
          made += 1;
          return `P${peer} ${i}`;
        });
    expect(made).to.equal(50);
    log.flush();
    const said = book.entries().map(({ message }) => message);
    const ofPeer = (peer: number) => Array.from({ length: 10 }, (_, i) => `P${peer} ${i}`);
    // the lines of three peers and the counts of all eight are left out
    expect(said).to.deep.equal([
      ...[0, 1, 2, 3, 4].flatMap(ofPeer),
      '38 more lines about refused writes were left out',
    ]);
  });

  it('the count names the peer', () => {
    const wall = new HandWall();
    const { later } = new HandTimers(wall);
    const book = createLogBook({ clock: wall, later, write: () => undefined });
    const log = new PeerLimitedLog(book.logger('Modbus'), wall, 'refused writes', later);
    for (let i = 0; i < 12; i += 1) log.info('P0', () => `P0 ${i}`);
    log.flush();
    expect(book.entries().at(-1)?.message).to.equal('P0: 2 more lines about refused writes were left out');
  });
});
