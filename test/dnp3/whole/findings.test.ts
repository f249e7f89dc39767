import { expect } from 'chai';
import { createLogBook } from '../../../src/core/log/log.ts';
import { hex, linkFrame } from '../rig/frames.ts';
import { Site } from './site.ts';

const integrity = hex('3c 02 06 3c 03 06 3c 04 06 3c 01 06');
const class1 = hex('3c 02 06');
const latch = hex('0c 01 28 01 00 11 00 03 01 00 00 00 00 00 00 00 00 00');

describe('findings about the master of an outstation', () => {
  let site: Site;
  let lines: string[];

  beforeEach(async () => {
    lines = [];
    site = await Site.open(['PV-3Phase'], [], { logBook: createLogBook({ write: (line) => lines.push(line) }) });
  });
  afterEach(() => site.close());

  /** Rules that the log names as broken, each with its peer. */
  const rules = () => lines.flatMap((line) => /dnp3\.(\w+ \(\w+\) by [^:]+):/.exec(line)?.[1] ?? []);

  it('come from its frames, fragments and controls', async () => {
    const master = await site.master();
    await master.request(1, integrity);
    expect(rules()).to.deep.equal([]);
    await master.ask(1, class1, 9);
    await master.ask(4, latch);
    await master.ask(5, hex('0c 01 28 01 00 e7 03 03 01 00 00 00 00 00 00 00 00 00'));
    await master.ask(5, hex('29 01 28 01 00 58 00 e9 03 00 00 00'));
    const bad = linkFrame(0xc4, 1, 4, hex('c0 c1 01 3c 02 06'));
    bad.writeUInt8((bad.at(-1) ?? 0) ^ 0xff, bad.length - 1);
    master.sendRaw(bad);
    master.sendLink(0xf3, hex('c0 cd 17'));
    await master.quiet();
    expect(rules()).to.have.members([
      'link_bad (risk) by 4@127.0.0.1',
      'sequence (violation) by 4@127.0.0.1',
      'operate_without_select (violation) by 4@127.0.0.1',
      'control_unknown (risk) by 4@127.0.0.1',
      'control_value (risk) by 4@127.0.0.1',
      'link_confirmed (remark) by 4@127.0.0.1',
    ]);
  });

  it('take no output of the profile that the device lacks for an unknown one', async () => {
    const master = await site.master();
    // dynamic reactive current, which no device has
    const { octets } = await master.ask(5, hex('0c 01 28 01 00 0e 00 03 01 00 00 00 00 00 00 00 00 00'));
    expect(octets.at(-1)).to.equal(4);
    expect(rules()).to.deep.equal([]);
  });

  it('do not count while a fault of the outstation is active, and not for strangers', async () => {
    await site.post('dnp3/fault', { kind: 'delay', delay_ms: 1 });
    const master = await site.master();
    await master.ask(23);
    await master.ask(23, undefined, 9);
    const stranger = await site.master(0, 9);
    stranger.send(23, undefined, 3);
    stranger.send(23, undefined, 7);
    await master.ask(23);
    expect(rules()).to.deep.equal([]);
  });

  it('take a request for lost whose segments make no fragment', async () => {
    const master = await site.master();
    await master.ask(23);
    for (const [seq, octets] of [
      [1, '80 c1 17'],
      [8, '40 c8 17'],
    ] as const) {
      master.sendLink(0xc4, hex(octets));
      await master.ask(23, undefined, seq + 7);
    }
    expect(rules()).to.deep.equal([]);
    await master.ask(23, undefined, 6);
    expect(rules()).to.deep.equal(['sequence (violation) by 4@127.0.0.1']);
  });

  it('count ten connections of one request, which the master ends', async () => {
    for (let n = 0; n < 10; n += 1) {
      const master = await site.master();
      await master.ask(23);
      await master.close();
    }
    while (rules().length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(rules()).to.deep.equal(['connection_churn (risk) by 4@127.0.0.1']);
  });
});
