import { expect } from 'chai';
import { Stack, spec } from '../rig/stack.ts';

const crob = (index: string, code = '03', status = '00') => `${index} ${code} 01 64 00 00 00 64 00 00 00 ${status}`;
const one = (index = '11 00', code = '03', status = '00') => `0c 01 28 01 00 ${crob(index, code, status)}`;

function rig(more: Partial<ConstructorParameters<typeof Stack>[0]> = {}): Stack {
  return new Stack({
    specs: [
      ...[17, 18].map((index) => spec('binaryOutput', index)),
      ...[87, 88].map((index) => spec('analogOutput', index)),
      ...[0, 1].map((index) => spec('counter', index)),
    ],
    masters: [4, 5],
    ...more,
  });
}
/** Status octets of an answer with one object. */
const statusOf = (answers: readonly string[]) => parseInt(answers[0]?.slice(-2) ?? '', 16);

describe('controls of DNP3', () => {
  it('8.2.2 takes either width of the qualifier, and wants that of the SELECT in OPERATE', () => {
    const wide = one();
    const narrow = `0c 01 17 01 ${crob('11')}`;
    for (const [select, operate, status] of [
      [wide, wide, 0],
      [narrow, narrow, 0],
      [wide, narrow, 2],
      [narrow, wide, 2],
    ] as const) {
      const stack = rig();
      expect(statusOf(stack.ask(`c1 03 ${select}`))).to.equal(0);
      expect(statusOf(stack.ask(`c2 04 ${operate}`)), `${select}, ${operate}`).to.equal(status);
      expect(stack.done).to.have.length(status === 0 ? 1 : 0);
    }
  });

  it('8.2.4 times out after 5 s with status 1', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`);
    stack.clock.pass(5001);
    expect(statusOf(stack.ask(`c2 04 ${one()}`))).to.equal(1);
    expect(stack.done).to.deep.equal([]);
  });

  it('8.2.5 refuses an OPERATE that differs, with status 2, and uses the select up', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`);
    expect(statusOf(stack.ask(`c2 04 ${one('11 00', '04')}`))).to.equal(2);
    expect(statusOf(stack.ask(`c3 04 ${one()}`))).to.equal(2);
    expect(stack.done).to.deep.equal([]);
  });

  it('8.2.6 does not carry out a request whose own status is not 0', () => {
    const stack = rig();
    expect(statusOf(stack.ask(`c1 05 ${one('11 00', '03', '01')}`))).to.equal(3);
    expect(stack.done).to.deep.equal([]);
  });

  it('8.2.7 wants the next sequence number', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`);
    expect(statusOf(stack.ask(`c3 04 ${one()}`))).to.equal(2);
  });

  it('8.2.8 takes a repeated SELECT and OPERATE as the same', () => {
    const stack = rig();
    const select = stack.ask(`c1 03 ${one()}`);
    stack.clock.pass(3000);
    expect(stack.ask(`c1 03 ${one()}`)).to.deep.equal(select);
    const operate = stack.ask(`c2 04 ${one()}`);
    expect(stack.ask(`c2 04 ${one()}`)).to.deep.equal(operate);
    expect(stack.done).to.have.length(1);
  });

  it('8.2.8 does not restart the timer with a repeated SELECT', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`);
    stack.clock.pass(3000);
    stack.ask(`c1 03 ${one()}`);
    stack.clock.pass(3000);
    expect(statusOf(stack.ask(`c2 04 ${one()}`))).to.equal(1);
  });

  it('8.2.8 makes a select that is over again when its request is repeated', () => {
    const stack = rig();
    const select = stack.ask(`c1 03 ${one()}`);
    stack.clock.pass(5500);
    expect(stack.ask(`c1 03 ${one()}`)).to.deep.equal(select);
    expect(statusOf(stack.ask(`c2 04 ${one()}`))).to.equal(0);
  });

  it('8.2.9 ends a select with any other request but CONFIRM', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`);
    stack.ask('c1 00');
    expect(statusOf(stack.ask(`c2 04 ${one()}`))).to.equal(0);
    stack.ask(`c3 03 ${one()}`);
    stack.ask('c4 17');
    expect(statusOf(stack.ask(`c5 04 ${one()}`))).to.equal(2);
  });

  it('8.6.4 arms no select by a broadcast, and ends the one that is there', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`, 4, 'broadcast-no-confirm');
    expect(stack.outstation.association(4)?.selectPending).to.equal(false);
    expect(statusOf(stack.ask(`c2 04 ${one()}`))).to.equal(2);
    stack.ask(`c3 03 ${one()}`);
    stack.ask(`c3 03 ${one()}`, 4, 'broadcast-no-confirm');
    expect(statusOf(stack.ask(`c4 04 ${one()}`))).to.equal(2);
    expect(stack.done).to.deep.equal([]);
  });

  it('8.2.10 drops a select with the connection', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`);
    stack.disconnect();
    stack.connect();
    expect(statusOf(stack.ask(`c2 04 ${one()}`))).to.equal(2);
  });

  it('8.4.1 judges several objects, each by itself', () => {
    const stack = rig({ judge: (control) => (control.index === 88 ? 12 : 0) });
    const values = '29 01 28 02 00 57 00 f4 01 00 00 00 58 00 f4 01 00 00 00';
    expect(stack.ask(`c1 05 ${values} ${one()}`)).to.deep.equal([
      `c1 81 90 00 29 01 28 02 00 57 00 f4 01 00 00 00 58 00 f4 01 00 00 0c ${one()}`,
    ]);
    expect(stack.done.map(({ index }) => index)).to.deep.equal([87, 17]);
  });

  it('8.4.2 leaves an object that failed its SELECT out of the OPERATE', () => {
    let status: 0 | 12 = 12;
    const stack = rig({ judge: (control) => (control.index === 88 ? status : 0) });
    const values = '29 01 28 02 00 57 00 f4 01 00 00 00 58 00 f4 01 00 00 00';
    stack.ask(`c1 03 ${values}`);
    status = 0;
    expect(stack.ask(`c2 04 ${values}`)[0]).to.match(/00 58 00 f4 01 00 00 02$/);
    expect(stack.done.map(({ index }) => index)).to.deep.equal([87]);
  });

  it('8.4.3 takes the codes of closing and tripping, and refuses the others with status 4', () => {
    const state = (code: string) => {
      const stack = rig();
      const status = statusOf(stack.ask(`c1 05 ${one('11 00', code)}`));
      const [done] = stack.done;
      return status === 0 && done?.kind === 'binary' ? done.state : status;
    };
    expect(['03', '04', '01', '02', '41', '81'].map(state)).to.deep.equal([1, 0, 1, 0, 1, 0]);
    expect(['00', '05', '0f', '13', '23', 'c1', '84'].map(state)).to.deep.equal([4, 4, 4, 4, 4, 4, 0]);
  });

  it('takes g41v1 to v4, and answers NaN octet for octet with status 12', () => {
    const stack = rig();
    stack.ask('c1 05 29 01 17 01 57 f4 01 00 00 00');
    stack.ask('c2 05 29 02 17 01 57 0c fe 00');
    stack.ask('c3 05 29 03 17 01 57 00 00 20 41 00');
    stack.ask('c4 05 29 04 17 01 57 00 00 00 00 00 00 24 40 00');
    expect(stack.done.map((each) => each.kind === 'analog' && each.value)).to.deep.equal([500, -500, 10, 10]);
    expect(stack.ask('c5 05 29 03 17 01 57 01 00 c0 7f 00')).to.deep.equal([
      'c5 81 90 00 29 03 17 01 57 01 00 c0 7f 0c',
    ]);
    expect(stack.ask('c6 05 29 03 17 01 57 00 00 80 7f 00')[0]).to.match(/0c$/);
  });

  it('refuses ranges, other objects and cut ones with IIN2, and executes nothing', () => {
    const stack = rig();
    expect(stack.ask(`c1 05 0c 01 00 11 11 03 01 64 00 00 00 64 00 00 00 00`)).to.deep.equal(['c1 81 90 04']);
    expect(stack.ask('c2 05 0c 02 28 01 00 11 00 00')).to.deep.equal(['c2 81 90 02']);
    expect(stack.ask(`c3 05 ${one().slice(0, -3)}`)).to.deep.equal(['c3 81 90 04']);
    expect(stack.ask('c4 05')).to.deep.equal(['c4 81 90 04']);
    expect(stack.done).to.deep.equal([]);
  });

  it('answers status 8 beyond 64 objects, and carries those out that come before', () => {
    const stack = rig();
    const objects = Array.from({ length: 66 }, () => '57 00 f4 01 00 00 00').join(' ');
    const [answer = ''] = stack.ask(`c1 05 29 01 28 42 00 ${objects}`);
    expect(stack.done).to.have.length(64);
    expect(answer.endsWith('08 57 00 f4 01 00 00 08')).to.equal(true);
  });

  it('8.2.7 counts on from 15 to 0', () => {
    const stack = rig();
    stack.ask(`cf 03 ${one()}`);
    expect(statusOf(stack.ask(`c0 04 ${one()}`))).to.equal(0);
    expect(stack.done).to.have.length(1);
  });

  it('8.2.4 takes an OPERATE in the last instant of 5 s', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`);
    stack.clock.pass(5000);
    expect(statusOf(stack.ask(`c2 04 ${one()}`))).to.equal(0);
  });

  it('refuses an OPERATE of ranges and of other objects with IIN2, and uses the select up', () => {
    for (const [objects, iin2] of [
      ['0c 01 00 11 11 03 01 64 00 00 00 64 00 00 00 00', '04'],
      ['0a 02 28 01 00 11 00 01', '02'],
    ] as const) {
      const stack = rig();
      stack.ask(`c1 03 ${one()}`);
      expect(stack.ask(`c2 04 ${objects}`), objects).to.deep.equal([`c2 81 90 ${iin2}`]);
      expect(statusOf(stack.ask(`c3 04 ${one()}`)), objects).to.equal(2);
      expect(stack.done, objects).to.deep.equal([]);
    }
  });

  it('8.4.3 refuses a control relay output block with a count of 0, with status 4', () => {
    const stack = rig();
    expect(statusOf(stack.ask('c1 05 0c 01 28 01 00 11 00 03 00 64 00 00 00 64 00 00 00 00'))).to.equal(4);
    expect(stack.done).to.deep.equal([]);
  });

  it('answers status 17 while another master has selected the output', () => {
    const stack = rig();
    stack.ask(`c1 03 ${one()}`, 5);
    expect(statusOf(stack.ask(`c1 05 ${one()}`, 4))).to.equal(17);
    expect(statusOf(stack.ask(`c2 05 ${one('12 00')}`, 4))).to.equal(0);
    expect(statusOf(stack.ask(`c2 04 ${one()}`, 5))).to.equal(0);
  });
});

describe('other functions of DNP3', () => {
  it('8.6.3 writes IIN1.7 = 0 only', () => {
    const stack = rig();
    for (const octets of ['50 01 00 07 07 01', '50 01 00 04 04 00', '50 01 00 06 07 00'])
      expect(stack.ask(`c1 02 ${octets}`), octets).to.deep.equal(['c1 81 90 04']);
    expect(stack.ask('c2 02 01 01 00 00 00 00')).to.deep.equal(['c2 81 90 02']);
  });

  it('8.7.2 sets the time by RECORD_CURRENT_TIME and g50v3, once', () => {
    const stack = rig();
    expect(stack.ask('c1 02 32 03 07 01 00 68 e5 cf 8b 01')).to.deep.equal(['c1 81 90 04']);
    expect(stack.ask('c2 18')).to.deep.equal(['c2 81 90 00']);
    stack.clock.pass(250);
    expect(stack.ask('c3 02 32 03 07 01 00 68 e5 cf 8b 01')).to.deep.equal(['c3 81 80 00']);
    expect(stack.ask('c4 01 32 01 07 01')).to.deep.equal(['c4 81 80 00 32 01 07 01 fa 68 e5 cf 8b 01']);
    expect(stack.ask('c5 02 32 03 07 01 00 68 e5 cf 8b 01')).to.deep.equal(['c5 81 80 04']);
  });

  it('8.7.2 takes the instant of a repeated RECORD_CURRENT_TIME', () => {
    const stack = rig();
    expect(stack.ask('c2 18')).to.deep.equal(['c2 81 90 00']);
    stack.clock.pass(3000);
    expect(stack.ask('c2 18')).to.deep.equal(['c2 81 90 00']);
    stack.clock.pass(250);
    stack.ask('c3 02 32 03 07 01 00 68 e5 cf 8b 01');
    expect(stack.ask('c4 01 32 01 07 01')).to.deep.equal(['c4 81 80 00 32 01 07 01 fa 68 e5 cf 8b 01']);
  });

  it('8.8 restarts once for a request that comes twice, and again for the next', () => {
    const stack = rig();
    for (const [code, seqs] of [
      ['0d', '23'],
      ['0e', '45'],
    ] as const) {
      const [first, second] = seqs;
      stack.ask('c1 02 50 01 00 07 07 00');
      const answer = stack.ask(`c${first} ${code}`);
      expect(answer[0]).to.match(/ 34 02 07 01 00 00$/);
      stack.outstation.association(4)?.time.sync(0, 0);
      expect(stack.ask(`c${first} ${code}`)).to.deep.equal(answer);
      // a second restart would ask for the time again
      expect(stack.outstation.association(4)?.time.needsTime).to.equal(false);
      stack.ask(`c${second} ${code}`);
      expect(stack.outstation.association(4)?.time.needsTime).to.equal(true);
    }
  });

  it('8.7.3 refuses two times and a range', () => {
    const stack = rig();
    expect(stack.ask('c1 02 32 01 07 02 00 68 e5 cf 8b 01 00 68 e5 cf 8b 01')).to.deep.equal(['c1 81 90 04']);
    expect(stack.ask('c2 02 32 01 00 00 00 00 68 e5 cf 8b 01')).to.deep.equal(['c2 81 90 04']);
  });

  it('8.17 freezes counters without an answer, and refuses other groups', () => {
    const stack = rig();
    expect(stack.ask('c1 08 14 00 06')).to.deep.equal([]);
    expect(stack.ask('c2 07 1e 00 06')).to.deep.equal(['c2 81 90 02']);
    expect(stack.ask('c3 07 14 00 00 05 06')).to.deep.equal(['c3 81 90 04']);
  });

  it('8.26 refuses classes for points that are not there', () => {
    const stack = rig();
    expect(stack.ask('c1 16 3c 02 06 14 00 00 05 05')).to.deep.equal(['c1 81 90 04']);
    expect(stack.ask('c2 16 14 00 06')).to.deep.equal(['c2 81 90 04']);
    expect(stack.ask('c3 16 3c 02 06 1e 00 06')).to.deep.equal(['c3 81 90 02']);
  });

  it('reads and lists device attributes', () => {
    const stack = rig();
    expect(stack.ask('c1 01 00 fc 00 00 00')).to.deep.equal([
      'c1 81 90 00 00 fc 00 00 00 01 08 64 65 72 62 65 6e 63 68',
    ]);
    expect(stack.ask('c2 01 00 ff 06')).to.deep.equal(['c2 81 90 00 00 ff 00 00 00 fe 04 fa 00 fc 00']);
    expect(stack.ask('c3 01 00 01 00 00 00')).to.deep.equal(['c3 81 90 02']);
  });
});
