import { expect } from 'chai';
import { carriesUserData, LinkSession, isBroadcast, isStationAddress } from '../../../src/dnp3/stack/link.ts';
import { hex, toHex } from '../rig/frames.ts';

function session() {
  const sent: string[] = [];
  const link = new LinkSession({ outstation: 1, master: 4, send: (frame) => sent.push(toHex(frame)) });
  const take = (control: number, data = '') => {
    sent.length = 0;
    const segment = link.take({ control, destination: 1, source: 4, data: hex(data) });
    return { segment: segment === null ? null : toHex(segment), answer: sent.join() };
  };
  return take;
}
const ack = '05 64 05 00 04 00 01 00 d2 1c';
const linkStatus = '05 64 05 0b 04 00 01 00 91 2c';

describe('the link of one master', () => {
  it('6.1 acknowledges a reset', () => {
    expect(session()(0xc0)).to.deep.equal({ segment: null, answer: ack });
  });

  it('6.3 tells its status', () => {
    expect(session()(0xc9)).to.deep.equal({ segment: null, answer: linkStatus });
  });

  it('delivers unconfirmed user data without an answer', () => {
    expect(session()(0xc4, 'c0 c0 01')).to.deep.equal({ segment: 'c0 c0 01', answer: '' });
  });

  it('6.5 delivers confirmed user data once, by its frame count bit', () => {
    const take = session();
    expect(take(0xf3, 'c0')).to.deep.equal({ segment: null, answer: '' });
    take(0xc0);
    expect(take(0xf3, 'c0')).to.deep.equal({ segment: 'c0', answer: ack });
    expect(take(0xf3, 'c0')).to.deep.equal({ segment: null, answer: ack });
    expect(take(0xd3, 'c1')).to.deep.equal({ segment: 'c1', answer: ack });
    // without FCV it is no confirmed user data
    expect(take(0xe3, 'c2')).to.deep.equal({ segment: null, answer: '' });
  });

  it('6.6.2 drops frames whose FCV is not that of their function, and delivers none of them', () => {
    const take = session();
    take(0xc0);
    // reset, status and unconfirmed data with FCV; test and confirmed data without
    for (const control of [0xd0, 0xf0, 0xd9, 0xf9, 0xd4, 0xf4, 0xc2, 0xe2, 0xc3, 0xe3])
      expect(
        take(control, (control & 0xf) === 3 || (control & 0xf) === 4 ? 'c0' : ''),
        control.toString(16),
      ).to.deep.equal({
        segment: null,
        answer: '',
      });
    // a reset that is dropped leaves the expected bit as it was
    expect(take(0xf3, 'c0')).to.deep.equal({ segment: 'c0', answer: ack });
    take(0xd0);
    expect(take(0xd3, 'c1')).to.deep.equal({ segment: 'c1', answer: ack });
  });

  it('6.6.2 looks at FCB only where FCV is 1', () => {
    expect(session()(0xe0)).to.deep.equal({ segment: null, answer: ack });
    expect(session()(0xe9)).to.deep.equal({ segment: null, answer: linkStatus });
    expect(session()(0xe4, 'c0')).to.deep.equal({ segment: 'c0', answer: '' });
  });

  it('6.6.2 a broadcast carries user data by the same rule', () => {
    const carries = (control: number) => carriesUserData({ control, destination: 0xfffd, source: 4, data: hex('c0') });
    expect([0xc4, 0xf3, 0xd3].map(carries)).to.deep.equal([true, true, true]);
    expect([0xd4, 0xf4, 0xc3, 0xe3, 0xc9, 0x84].map(carries)).to.deep.equal(Array(6).fill(false));
  });

  it('6.5 repeats the answer to a test with the same bit', () => {
    const take = session();
    expect(take(0xf2).answer).to.equal('');
    take(0xc0);
    expect(take(0xf2).answer).to.equal(ack);
    expect(take(0xf2).answer).to.equal(ack);
    expect(take(0xd2).answer).to.equal(ack);
  });

  it('6.6.2 answers every control octet with a frame of its own at most', () => {
    for (let control = 0; control < 256; control += 1) {
      const { answer } = session()(control, 'c0');
      expect(answer.split(',').length, control.toString(16)).to.equal(1);
    }
    expect(session()(0xc1).answer).to.match(/^05 64 05 0f /);
  });

  it('6.7 knows which addresses are those of stations', () => {
    expect([0, 0xffef, 0xfff0, 0xfffc].map(isStationAddress)).to.deep.equal([true, true, false, false]);
    expect([0xfffc, 0xfffd, 0xfffe, 0xffff].map(isBroadcast)).to.deep.equal([false, true, true, true]);
  });
});
