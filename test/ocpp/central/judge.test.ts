/** The central system of the tests notices what breaks the published schemas, whichever side has sent it. */
import { expect } from 'chai';
import { FrameJudge, packagedSchemas } from './judge.ts';
import type { CentralVersion } from './judge.ts';

const rows: readonly (readonly [
  title: string,
  frames: readonly (readonly ['in' | 'out', unknown])[],
  issue: RegExp,
])[] = [
  ['no list', [['in', null]], /no JSON list/],
  ['an id that is too long', [['in', [2, 'x'.repeat(37), 'Heartbeat', {}]]], /36 characters/],
  ['an unknown action', [['in', [2, '1', 'Hartbeat', {}]]], /no Hartbeat/],
  ['an extra member', [['in', [2, '1', 'Heartbeat', { more: 1 }]]], /additional/],
  ['a member that is missing', [['out', [2, '1', 'Reset', {}]]], /required property 'type'/],
  ['null in place of a member', [['in', [2, '1', 'Authorize', { idTag: null }]]], /idTag must be string/],
  ['a time without zone', [['in', [2, '1', 'StartTransaction', start('2026-06-21T08:00:00')]]], /timestamp/],
  ['the payload of another answer', answered([3, '1', { status: 'Accepted' }]), /currentTime/],
  ['an answer to no call', [['out', [3, '2', {}]]], /no call/],
  [
    'an answer to a call of its own side',
    [
      ['in', [2, '1', 'Heartbeat', {}]],
      ['in', [3, '1', {}]],
    ],
    /no call/,
  ],
  ['an error code of 2.x', answered([4, '1', 'FormatViolation', '', {}]), /no error code/],
  ['an error without details', answered([4, '1', 'GenericError', '']), /five members/],
  ['a type of 2.1', [['out', [6, '1', 'NotifyPeriodicEventStream', {}]]], /type 6/],
]; // prettier-ignore

function start(timestamp: string) {
  return { connectorId: 1, idTag: 'A', meterStart: 0, timestamp };
}

function answered(frame: readonly unknown[]) {
  const call = [2, '1', 'Heartbeat', {}];
  return [['in', call] as const, ['out', frame] as const];
}

describe('the judge of frames of OCPP-J 1.6', () => {
  for (const [title, frames, issue] of rows)
    it(`refuses ${title}`, () => {
      const judge = new FrameJudge();
      const issues = frames.map(([direction, frame]) => judge.issue(direction, frame as readonly unknown[] | null));
      expect(issues.at(-1)).to.match(issue);
    });

  it('has nothing against calls and answers of either side', () => {
    const judge = new FrameJudge();
    const frames = [
      ['in', [2, '1', 'StartTransaction', start('2026-06-21T08:00:00.123Z')]],
      ['out', [2, '1', 'Reset', { type: 'Soft' }]],
      ['out', [3, '1', { transactionId: 7, idTagInfo: { status: 'Accepted' } }]],
      ['in', [4, '1', 'OccurenceConstraintViolation', '', {}]],
    ] as const;
    expect(frames.map(([direction, frame]) => judge.issue(direction, frame))).to.deep.equal([null, null, null, null]);
  });

  it('knows every message of 1.6 and of the security white paper', () => {
    expect(packagedSchemas().size).to.equal(78);
  });
});

const started = {
  eventType: 'Started',
  timestamp: '2026-06-21T08:00:00.123Z',
  triggerReason: 'CablePluggedIn',
  seqNo: 0,
  transactionInfo: { transactionId: 'T1' },
};
const costDetails = {
  totalCost: { currency: 'EUR', typeOfCost: 'NormalCost', total: {} },
  totalUsage: { energy: 0, chargingTime: 0, idleTime: 0 },
};
const stream = { id: 1, pending: 0, basetime: '2026-06-21T08:00:00Z', data: [{ t: 0, v: '1' }] };

const rows2: readonly (readonly [
  title: string,
  version: CentralVersion,
  frames: (typeof rows)[0][1],
  issue: RegExp | null,
])[] = [
  ['an event of a transaction', 'ocpp2.0.1', [['in', [2, '1', 'TransactionEvent', started]]], null],
  [
    'a member of 2.1 in 2.0.1',
    'ocpp2.0.1',
    [['in', [2, '1', 'TransactionEvent', { ...started, costDetails }]]],
    /additional/,
  ],
  ['that member in 2.1', 'ocpp2.1', [['in', [2, '1', 'TransactionEvent', { ...started, costDetails }]]], null],
  ['an action of 2.1 in 2.0.1', 'ocpp2.0.1', [['out', [2, '1', 'GetTariffs', { evseId: 0 }]]], /no GetTariffs/],
  [
    'that action in 2.1',
    'ocpp2.1',
    [
      ['out', [2, '1', 'GetTariffs', { evseId: 0 }]],
      ['in', [3, '1', { status: 'NoTariff' }]],
    ],
    null,
  ],
  [
    'an action of 1.6',
    'ocpp2.0.1',
    [['in', [2, '1', 'StartTransaction', start('2026-06-21T08:00:00Z')]]],
    /no StartTransaction/,
  ],
  ['an error code of 1.6', 'ocpp2.0.1', answered([4, '1', 'FormationViolation', '', {}]), /no error code of 2.0.1/],
  ['an error code of 2.x', 'ocpp2.0.1', answered([4, '1', 'OccurrenceConstraintViolation', '', {}]), null],
  ['a long description', 'ocpp2.1', answered([4, '1', 'GenericError', 'x'.repeat(256), {}]), /too long/],
  ['an error about an unreadable id', 'ocpp2.0.1', [['in', [4, '-1', 'RpcFrameworkError', '', {}]]], null],
  ['a SEND in 2.0.1', 'ocpp2.0.1', [['in', [6, '1', 'NotifyPeriodicEventStream', stream]]], /type 6/],
  ['a SEND in 2.1', 'ocpp2.1', [['in', [6, '1', 'NotifyPeriodicEventStream', stream]]], null],
  ['a SEND of another action', 'ocpp2.1', [['in', [6, '1', 'Heartbeat', {}]]], /no SEND/],
  ['a SEND of the central system', 'ocpp2.1', [['out', [6, '1', 'NotifyPeriodicEventStream', stream]]], /sends none/],
  [
    'an answer that is refused',
    'ocpp2.1',
    [...answered([3, '1', { currentTime: '2026-06-21T08:00:00Z' }]), ['in', [5, '1', 'GenericError', '', {}]]],
    null,
  ],
  ['a refusal of no answer', 'ocpp2.1', [['in', [5, '1', 'GenericError', '', {}]]], /refuses no answer/],
]; // prettier-ignore

describe('the judge of frames of OCPP-J 2.x', () => {
  for (const [title, version, frames, issue] of rows2)
    it(`${issue === null ? 'takes' : 'refuses'} ${title} (${version.slice(4)})`, () => {
      const judge = new FrameJudge(version);
      const issues = frames.map(([direction, frame]) => judge.issue(direction, frame as readonly unknown[] | null));
      if (issue === null) expect(issues.filter((each) => each !== null)).to.deep.equal([]);
      else expect(issues.at(-1)).to.match(issue);
    });

  it('knows every message of 2.0.1 and of 2.1', () => {
    expect(packagedSchemas('ocpp2.0.1').size).to.equal(128);
    expect(packagedSchemas('ocpp2.1').size).to.equal(181);
  });
});
