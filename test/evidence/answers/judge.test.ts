import { faultKinds } from '../../../src/fault-kinds/protocols.ts';
import { expect } from 'chai';
import { judged, falseAnswerKinds } from '../../../src/evidence/answers/judge.ts';
import type { JudgeContext } from '../../../src/evidence/answers/judge.ts';
import { ocppActions, unverifiableCommands } from '../../../src/evidence/answers/ocpp.ts';
import type { Answered, Claim, Exchange, ActualValue } from '../../../src/evidence/answers/model.ts';
import type { Provenance } from '../../../src/core/origin.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { directions as directions16 } from '../../../src/ocpp/v16/stack.ts';
import { directions as directions2 } from '../../../src/ocpp/v201/stack.ts';

const noon = Date.parse('2026-06-21T12:00:00Z');
const context: JudgeContext = {
  deviceIndex: 0,
  faults: { active: [], ended: [] },
  dateMs: (at) => noon + at,
  hindrance: null,
};
const peer = '127.0.0.1:40312';

const writer = (source: Provenance['source'], wallMs: number, by?: string): Provenance => ({
  source,
  wallMs,
  at: wallMs as SimTime,
  ...(by !== undefined && { peer: by }),
});

/** A write over Modbus at so many ms after noon, and the register now. */
function written(
  value: Claim['value'],
  actual: Partial<ActualValue> | null,
  more: Partial<Claim> = {},
  { wallMs = 5000, ...exchange }: Partial<Exchange> = {},
): Answered {
  const place = '704.WMaxLimPct';
  return {
    exchange: {
      protocol: 'modbus',
      messageId: 1,
      answerId: 2,
      peer,
      peerName: `Modbus master ${peer}`,
      command: 'write single register',
      answer: 'success',
      wallMs,
      answeredWallMs: wallMs,
      at: wallMs as SimTime,
      ...exchange,
    },
    claim: {
      name: place,
      value,
      unit: 'Pct',
      did: `wrote ${place} = ${String(value)}`,
      subject: place,
      actual: actual === null ? null : { place, holder: 'the register', value: 100, writer: null, ...actual },
      ...more,
    },
  };
}

const one = (answered: Answered, more: Partial<JudgeContext> = {}) => {
  const [verdict] = judged([answered], { ...context, ...more });
  return [verdict?.done, verdict?.cause, verdict?.explanation];
};
const told = 'Modbus master 127.0.0.1:40312 wrote 704.WMaxLimPct = 50 at 12:00:05 UTC and was answered with success';

describe('judge of answered commands', () => {
  it('finds what is there, to the digit or to a step', () => {
    expect(one(written(50, { value: 50 }))).to.deep.equal([true, 'done', null]);
    expect(one(written(0.3, { value: 0.1 + 0.2 }))).to.deep.equal([true, 'done', null]);
    expect(one(written(50, { value: 50.04 }, { resolution: 0.1 }))).to.deep.equal([
      ...[true, 'rounding', `${told}; the register has 50.04 in steps of 0.1: rounding.`],
    ]);
    expect(one(written('Auto', { value: 'auto' }, { holds: true }))[1]).to.equal('done');
  });

  it('misses what is not there, and says what keeps the device from it', () => {
    expect(one(written(50, {}))).to.deep.equal([
      ...[false, 'not_done', `${told}; the register has 100, and nothing explains it.`],
    ]);
    expect(one(written(50, {}), { hindrance: 'the device is off' })[2]).to.equal(
      `${told}; the register has 100: the device is off.`,
    );
    expect(one(written(50, { value: 50, followed: 100 }))).to.deep.equal([
      ...[false, 'not_done', `${told}; the register has 50, but the device acts by 100, and nothing explains it.`],
    ]);
    expect(one(written(50, { value: 50, followed: 50 }))[1]).to.equal('done');
    expect(one(written(50, { value: 50.06 }, { resolution: 0.1 }))[1]).to.equal('not_done');
  });

  it('lets writers after the command change it, not those before it, nor the command itself', () => {
    expect(one(written(50, { writer: writer('rest', 6000) }))).to.deep.equal([
      ...[null, 'superseded', `${told}; the register has 100: rest wrote it at 12:00:06 UTC.`],
    ]);
    expect(one(written(50, { writer: writer('rest', 4999) }))[1]).to.equal('not_done');
    expect(one(written(50, { writer: writer('modbus', 5000, peer) }))[1]).to.equal('not_done');
    expect(one(written(50, { writer: writer('modbus', 6000, peer) }))[1]).to.equal('superseded');
    expect(one(written(50, { writer: writer('modbus', 6000, '127.0.0.1:5') }))[2]).to.include('modbus (127.0.0.1:5)');
    expect(one(written(50, { writer: writer('fault', 6000) }))[1]).to.equal('not_done');
    expect(one(written(50, { writer: writer('reversion', 9000) }))).to.deep.equal([
      ...[null, 'expired', `${told}; the register has 100: it reverted at 12:00:09 UTC.`],
    ]);
    const event = { protocol: 'csip', writerPeer: 'ABC' } as const;
    expect(one(written(50, { writer: writer('csip', 5000, 'ABC') }, {}, event))[1]).to.equal('not_done');
  });

  it('lets the last command of a subject count, and a wide one take over from several', () => {
    const late = { wallMs: 7000 };
    const verdicts = judged([written(50, { value: 60 }), written(60, { value: 60 }, {}, late)], context);
    expect(verdicts.map(({ cause }) => cause)).to.deep.equal(['superseded', 'done']);
    expect(verdicts[0]?.explanation).to.equal(
      `${told}; the register has 60: Modbus master ${peer} wrote 704.WMaxLimPct = 60 at 12:00:07 UTC.`,
    );
    const wide = written(0, { value: 0 }, { subject: 'all', takesOver: (subject) => subject.startsWith('704') }, late);
    expect(judged([written(50, {}), wide], context).map(({ cause }) => cause)).to.deep.equal(['superseded', 'done']);
    // a later command that is lost as well owes the value in its place
    const lost = judged([written(50, {}), written(60, {}, {}, late)], context);
    expect(lost.map(({ done }) => done)).to.deep.equal([null, false]);
  });

  it('does not judge what is over or what nothing shows', () => {
    expect(one(written(50, {}, { ended: 'the event is completed' }))).to.deep.equal([
      ...[null, 'expired', `${told}; the register has 100: the event is completed.`],
    ]);
    expect(one(written(50, null, { reason: 'the point keeps nothing' }))).to.deep.equal([
      ...[null, 'unknown', `${told}; the point keeps nothing.`],
    ]);
  });
});

describe('tables of answered commands', () => {
  it('name calls that a central system sends, each once', () => {
    const names = [...Object.keys(ocppActions), ...unverifiableCommands];
    expect(new Set(names).size).to.equal(names.length);
    const known: Readonly<Record<string, string>> = { ...directions16, ...directions2 };
    for (const name of names) expect(known[name], name).to.be.oneOf(['central', 'both']);
  });

  it('name faults that there are', () => {
    const known = faultKinds.map(({ protocol, kind }) => `${protocol} ${kind}`);
    for (const kinds of Object.values(falseAnswerKinds))
      for (const { protocol, kind } of kinds) expect(known).to.include(`${protocol} ${kind}`);
  });
});
