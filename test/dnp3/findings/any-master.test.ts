import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { pick } from '../../support/depth.ts';
import { casesOf } from '../../support/random.ts';
import { hex } from '../rig/frames.ts';
import { class0, class1, clearRestart, integrity, JudgeRig, latch, setPoint } from './rig.ts';

const requests = [
  `c0 ${integrity}`,
  'c1 01 1e 01 00 00 20',
  `c2 ${clearRestart}`,
  'c2 02 32 01 07 01 00 68 e5 cf 8b 01',
  'c2 02 32 03 07 01 00 68 e5 cf 8b 01',
  `c3 03 ${latch}`,
  `c4 04 ${latch}`,
  `c5 05 ${setPoint}`,
  'c8 14 3c 02 06 3c 03 06',
  'c8 15 3c 02 06',
  'c9 17',
  'c9 18',
  'ca 0d',
  'cc 00',
  'dc 00',
].map(hex);

describe('findings about any DNP3 master', () => {
  it('come without a failure of a judge, whatever octets it sends', () => {
    const rig = new JudgeRig({ unsolicited: true });
    const random = casesOf('masters under judges');
    const drawn = (below: number) => Math.floor(random.next() * below);
    for (let n = 0; n < pick({ quick: 4000, ci: 40_000 }); n += 1) {
      const request = Buffer.from(requests[drawn(requests.length)] ?? requests[0]!);
      for (let k = drawn(4); k > 0; k -= 1) request[drawn(request.length)] = drawn(256);
      const cut = drawn(5) === 0 ? request.subarray(0, drawn(request.length)) : request;
      rig.stack.outstation.association(4)?.receive(cut, drawn(50) === 0 ? 'broadcast-confirm' : 'unicast');
      if (drawn(10) === 0) rig.event(drawn(3));
      if (drawn(10) === 0) rig.pass(drawn(20_000));
      if (drawn(100) === 0) rig.link.received(1, 0);
      if (drawn(200) === 0) rig.reconnect();
    }
    expect(rig.rules()).to.include.members(['sequence', 'confirm_unasked', 'operate_without_select']);
    expect(rig.findings.lines.filter((line) => line.includes('the judge of'))).to.deep.equal([]);
  });

  it('are none for masters that do right, in whatever order', () => {
    for (const isUnsolicited of [false, true]) {
      const random = casesOf('right masters', String(isUnsolicited));
      const drawn = (below: number) => Math.floor(random.next() * below);
      const rig = new JudgeRig({ unsolicited: isUnsolicited });
      /** Confirms all that asks for it. */
      const answer = () => {
        for (const text of rig.stack.sent()) {
          const [control = 0] = hex(text);
          if ((control & 0x20) !== 0) rig.confirm(control & 0x0f, (control & 0x10) !== 0);
        }
      };
      const send = (objects: string) => {
        const answers = rig.next(objects);
        for (const text of answers) {
          const [control = 0] = hex(text);
          if ((control & 0x20) !== 0) rig.confirm(control & 0x0f, (control & 0x10) !== 0);
        }
      };
      const begin = () => {
        send(integrity);
        send(clearRestart);
        rig.writeTime();
        if (isUnsolicited) send('14 3c 02 06 3c 03 06 3c 04 06');
      };
      const acts: readonly (() => void)[] = [
        () => send('01 3c 02 06 3c 03 06 3c 04 06'),
        // one that reads class 0 again and again, and events never alone, is no right master
        () => {
          send(class0);
          send(class1);
        },
        () => send(class1),
        () => rig.event(drawn(3)),
        () => {
          send(`03 ${latch}`);
          send(`04 ${latch}`);
        },
        () => send(`05 ${setPoint}`),
        () => {
          rig.stack.outstation.restart();
          send(class1);
          begin();
        },
        () => {
          rig.reconnect();
          send('01 3c 02 06 3c 03 06 3c 04 06');
        },
      ];
      begin();
      for (let n = 0; n < pick({ quick: 1500, ci: 15_000 }); n += 1) {
        // restarts and connections are rare
        acts[drawn(drawn(40) === 0 ? acts.length : acts.length - 2)]?.();
        rig.pass(1 + drawn(drawn(20) === 0 ? 90_000 : 4000));
        answer();
      }
      expect(rig.rules(), `unsolicited ${isUnsolicited}`).to.deep.equal([]);
    }
  });
});
