/** Occasions that the judge counts, evidence that it keeps of a frame, and the peers that it judges. */
import { expect } from 'chai';
import { addressOf } from '../../../src/ocpp/findings/judge.ts';
import type { OcppRule } from '../../../src/finding-rules/ocpp.ts';
import { JudgeRig, url } from './rig.ts';
import { times } from './trial.ts';

const exercised = (rig: JudgeRig, rule: OcppRule) => rig.row(rule).exercised;

describe('OCPP findings: the judge', () => {
  it('knows a central system by origin and path, without slashes at the end', () => {
    expect(addressOf('wss://a.example/ocpp//')).to.equal('wss://a.example/ocpp');
    expect(addressOf('ws://a.example')).to.equal('ws://a.example');
  });

  it('shows station, version, profile and server of a peer, without secrets', () => {
    const rig = new JudgeRig();
    rig.judge.opened({ subprotocol: 'ocpp2.1', url, securityProfile: 2, server: 'my secret/1' });
    const facets = () => Object.fromEntries([...rig.peer.facets].map(([name, values]) => [name, [...values]]));
    expect(facets()).to.deep.equal({
      station: ['CP-1'],
      version: ['2.1'],
      'security profile': ['2'],
      server: ['my (hidden)/1'],
    });
    const other = new JudgeRig();
    other.judge.opened({ subprotocol: 'ocpp1.6', url, securityProfile: 0, server: null });
    expect([...other.peer.facets.keys()]).not.to.include('server');
  });

  it('counts valid frames as requests, and calls that change something as writes', () => {
    const rig = new JudgeRig().open();
    rig.hear('no frame');
    expect([rig.peer.requests, rig.peer.hasWritten]).to.deep.equal([0, false]);
    for (const action of ['GetConfiguration', 'TriggerMessage', 'ExtendedTriggerMessage', 'DataTransfer'])
      rig.call(action);
    rig.answered('Heartbeat', {});
    expect([rig.peer.requests, rig.peer.hasWritten]).to.deep.equal([5, false]);
    rig.call('ReserveNow');
    expect(rig.peer.hasWritten).to.equal(true);
    const other = new JudgeRig().open();
    other.call('ForgetAll');
    expect(other.peer.hasWritten).to.equal(true);
  });

  it('counts each call for its rules, and those about a second call from the second one of a connection on', () => {
    const rig = new JudgeRig().open();
    rig.call('ClearCache');
    expect([exercised(rig, 'schema'), exercised(rig, 'id_reused')]).to.deep.equal([1, 0]);
    times(2, () => {
      rig.call('ClearCache');
    });
    expect([exercised(rig, 'schema'), exercised(rig, 'id_reused')]).to.deep.equal([3, 2]);
    rig.judge.closed();
    rig.open();
    rig.call('ClearCache');
    expect(exercised(rig, 'id_reused')).to.equal(2);
    rig.answered('Heartbeat', {});
    rig.refused('DataTransfer', 'GenericError');
    expect([exercised(rig, 'schema'), exercised(rig, 'error_code'), exercised(rig, 'answer_unknown')]).to.deep.equal([
      5, 1, 2,
    ]);
  });

  it('counts a rule that a frame has broken once, as broken, and the next frame anew', () => {
    const rig = new JudgeRig().open();
    rig.call('Dance', {}, 'action_unknown');
    expect(rig.row('action_unknown')).to.include({ broken: 1, exercised: 1 });
    rig.call('ClearCache');
    expect(rig.row('action_unknown')).to.include({ broken: 1, exercised: 2 });
  });

  it('judges the contents of a call only if its handler has it', () => {
    const short = { key: 'AuthorizationKey', value: 'x' };
    const broken = (act: (rig: JudgeRig) => void) => {
      const rig = new JudgeRig().open();
      act(rig);
      return rig.row('password_short').broken;
    };
    const text = JSON.stringify([2, 'a', 'ChangeConfiguration', short]);
    expect(broken((rig) => rig.call('ChangeConfiguration', short))).to.equal(1);
    for (const rule of ['schema', 'time_zoneless', 'action_unknown'] as const)
      expect(
        broken((rig) => rig.call('ChangeConfiguration', short, rule)),
        rule,
      ).to.equal(0);
    expect(broken((rig) => rig.call('ChangeConfiguration', short, 'id_long'))).to.equal(1);
    expect(broken((rig) => rig.hear(text, undefined, false))).to.equal(0);
    expect(
      broken((rig) => {
        rig.isRegistered = false;
        rig.hear(text);
      }),
    ).to.equal(0);
  });

  it('finds the last frame for what comes after it, with a text of at most 2048 characters', () => {
    const caseAfter = (text: string, id: string) => {
      const rig = new JudgeRig().open();
      rig.hear(text);
      rig.finds('request_rule', 'CustomerInformation', id);
      return rig.row('request_rule').cases[0];
    };
    const frame = (length: number) => `[2,"a","DataTransfer",{"x":"${'y'.repeat(length - 31)}"}]`;
    const message = { channel: 'ocpp/CP-1', id: 1 };
    expect(frame(2048)).to.have.length(2048);
    expect(caseAfter(frame(2048), 'a')?.excerpt).to.match(/^\[2,"a"/);
    expect(caseAfter(frame(2049), 'a')).to.deep.include({ excerpt: null, message });
    expect(caseAfter(frame(100), 'a')).to.deep.include({ excerpt: frame(100), message });
    expect(caseAfter(frame(100), 'b')).to.deep.include({ excerpt: null, message: null });
  });

  it('forgets the last frame with its connection', () => {
    const rig = new JudgeRig().open();
    rig.hear('[2,"a","Reset",{}]');
    rig.judge.closed();
    rig.open();
    rig.finds('request_rule', 'CustomerInformation', 'a');
    expect(rig.row('request_rule').cases[0]).to.deep.include({ excerpt: null, message: null });
  });

  it('keeps the text of a frame while it is judged, however long, and no message without a wire log', () => {
    const rig = new JudgeRig().open();
    const text = `[2,"a","DataTransfer",{"data":"${'x'.repeat(4000)}"}]`;
    rig.judge.begin({
      frame: { kind: 'call', id: 'a', action: 'DataTransfer', payload: {} },
      action: 'DataTransfer',
      text,
      wireId: null,
      isServed: true,
    });
    rig.finds('schema', 'DataTransfer', 'a');
    const [first] = rig.row('schema').cases;
    expect(first?.message).to.equal(null);
    expect(first?.excerpt).to.match(/^\[2,"a","DataTransfer"/);
  });

  it('cuts action and id in the facts, and names the clause of the case alone', () => {
    const rig = new JudgeRig().open();
    const long = 'x'.repeat(100);
    rig.hear(JSON.stringify([2, long, long, {}]), () => {
      rig.finds('action_unknown', long, long);
    });
    const [first] = rig.row('action_unknown').cases;
    expect(first?.facts).to.deep.equal({
      station: 'CP-1',
      action: 'x'.repeat(64),
      message_id: 'x'.repeat(64),
      clause: 'OCPP 1',
    });
    rig.hear('nonsense');
    expect(rig.row('frame').cases[0]?.facts).to.deep.equal({ station: 'CP-1', clause: 'OCPP 1' });
    rig.replied('ChangeConfiguration', { key: 'SecurityProfile', value: '0' }, { status: 'Rejected' });
    expect(Object.keys(rig.row('security_downgrade').cases[0]?.facts ?? {})).to.deep.equal([
      'station',
      'action',
      'message_id',
    ]);
  });

  it('takes cases of one rule about different actions or clauses apart', () => {
    const rig = new JudgeRig().open();
    rig.call('Dance', {}, 'action_unknown');
    rig.call('Dance', {}, 'action_unknown');
    rig.call('Sing', {}, 'action_unknown');
    rig.hear('[2,"other","Dance",{}]', () => {
      rig.judge.foundByStation({
        rule: 'action_unknown',
        clause: 'OCPP 2',
        text: 'why',
        action: 'Dance',
        messageId: 'other',
      });
    });
    expect(rig.row('action_unknown')).to.include({ broken: 3, repeats: 1 });
  });

  it('finds nothing while there is no connection, or while findings are off', () => {
    const rig = new JudgeRig().open();
    rig.findings.isOn = false;
    rig.call('Dance', {}, 'action_unknown');
    rig.findings.isOn = true;
    expect(rig.row('action_unknown').state).to.equal('not_exercised');
    rig.judge.closed();
    rig.finds('action_unknown', 'Dance', 'a');
    rig.judge.violated({ code: 'X', description: 'why', details: {} }, 'Dance', 'a');
    rig.call('Dance');
    rig.judge.closed();
    expect(rig.row('action_unknown').state).to.equal('not_exercised');
  });

  it('reports an error of its own, and goes no further', () => {
    const rig = new JudgeRig({
      isServed: () => {
        throw new Error('inside');
      },
    }).open();
    rig.call('Reset');
    expect(rig.row('schema')).to.include({ state: 'not_observable' });
    expect(rig.findings.lines.join()).to.include('inside');
  });

  it('tells an answer to no call from one of an earlier connection, and from a refusal of what nobody could read', () => {
    const row = (version: 'ocpp1.6' | 'ocpp2.0.1', text: string, afterMs: number) => {
      const rig = new JudgeRig().open(version);
      rig.pass(afterMs);
      rig.hear(text, () => {
        rig.finds('answer_unknown', null, JSON.parse(text)[1] as string);
      });
      const { broken, undecided, exercised: occasions } = rig.row('answer_unknown');
      return [broken, undecided, occasions];
    };
    const error = (id: string) => `[4,"${id}","GenericError","",{}]`;
    expect(row('ocpp1.6', '[3,"a",{}]', 60_000)).to.deep.equal([1, 0, 1]);
    expect(row('ocpp1.6', '[3,"a",{}]', 59_999)).to.deep.equal([0, 1, 0]);
    expect(row('ocpp2.0.1', error('-1'), 60_000)).to.deep.equal([0, 0, 0]);
    expect(row('ocpp2.0.1', error('a'), 60_000)).to.deep.equal([1, 0, 1]);
    expect(row('ocpp2.0.1', '[3,"-1",{}]', 60_000)).to.deep.equal([1, 0, 1]);
    expect(row('ocpp1.6', error('-1'), 60_000)).to.deep.equal([1, 0, 1]);
  });

  it('takes the other spelling of an error code in errors alone', () => {
    const rig = new JudgeRig().open();
    rig.hear('[4,"a","OccurrenceConstraintViolation","",{}]', () => {
      rig.finds('error_code', null, 'a');
    });
    expect(rig.row('error_code').broken).to.equal(0);
    rig.finds('error_code', null, 'a');
    expect(rig.row('error_code').broken).to.equal(1);
  });

  it('finds the time without zone in lists too, and other values are against the schema', () => {
    const ruleOf = (payload: unknown, description: string) => {
      const rig = new JudgeRig().open();
      rig.hear(JSON.stringify([2, 'a', 'X', payload]), () => {
        rig.judge.violated({ code: 'X', description, details: {} }, 'X', 'a');
      });
      return [rig.row('time_zoneless').broken, rig.row('schema').broken];
    };
    const must = 'must be a date and time with zone';
    expect(ruleOf({ a: [{ at: '2026-06-21 08:00' }] }, `/a/0/at ${must}`)).to.deep.equal([1, 0]);
    expect(ruleOf({ at: 5 }, `/at ${must}`)).to.deep.equal([0, 1]);
    expect(ruleOf({ at: '2026-06-21T08:00:00.5' }, `/at ${must}`)).to.deep.equal([1, 0]);
    expect(ruleOf({ at: '2026-06-21T08:00:00' }, `of /at ${must}`)).to.deep.equal([0, 1]);
    expect(ruleOf({ at: null }, `/at/x/y ${must}`)).to.deep.equal([0, 1]);
    expect(ruleOf({ n: 12 }, 'the number 12 is odd')).to.deep.equal([0, 1]);
    expect(ruleOf({ n: JSON.parse('1') }, '/n must be text')).to.deep.equal([0, 1]);
  });

  it('a message against its schema outside of a frame is found as well', () => {
    const rig = new JudgeRig().open();
    rig.judge.violated({ code: 'X', description: 'the number 1 is odd', details: {} }, null, null);
    expect(rig.row('schema').cases[0]?.text).to.equal('a message: the number 1 is odd');
  });

  it('an excused finding of the station is undecided, and no occasion', () => {
    const rig = new JudgeRig().open();
    rig.call('SendLocalList', {}, 'local_list');
    expect(rig.row('local_list')).to.include({ undecided: 2, exercised: 0, broken: 0 });
  });

  it('a ping without answer is decided only on a line that brings frames', () => {
    const row = (pingMs: number, frameMs: number, isDisturbed = false) => {
      const rig = new JudgeRig().open();
      rig.pass(pingMs);
      const pingedMs = rig.findings.wall.monotonicMs();
      if (isDisturbed) rig.judge.disturbed();
      rig.pass(frameMs);
      rig.call('GetConfiguration');
      rig.judge.unponged(pingedMs);
      const { broken, undecided } = rig.row('ping_unanswered');
      return [broken, undecided];
    };
    expect(row(0, 10_000)).to.deep.equal([1, 0]);
    expect(row(0, 9999)).to.deep.equal([0, 1]);
    expect(row(0, 20_000, true)).to.deep.equal([0, 1]);
  });
});
