import { expect } from 'chai';
import type { Case } from '../../src/core/findings/rule.ts';
import { WireLog } from '../../src/core/wire/wire-log.ts';
import type { Recorder, RecorderPatch } from '../../src/contract/recorder.ts';
import { channelFindings } from '../../src/recorder/findings.ts';
import { createRecorder } from '../../src/recorder/recorder.ts';
import { FaultBench } from '../support/faults.ts';
import { FindingsRig, plainRule } from '../support/findings.ts';
import type { Json } from '../support/http.ts';
import { dropFault } from '../../src/fault-kinds/modbus-transport.ts';

const by = { source: 'rest' } as const;

describe('findings in a recording', () => {
  let rig: FindingsRig;
  let wireLog: WireLog;
  let recorder: Recorder;
  let rules: ReturnType<typeof rulesOf>;

  const rulesOf = ({ registry }: FindingsRig) => registry.rules('modbus', { bad: plainRule });

  beforeEach(() => {
    rig = new FindingsRig();
    const { wall, sim } = rig.options;
    wireLog = new WireLog({ clock: wall, sim, log: { error: () => undefined } });
    rules = rulesOf(rig);
    channelFindings(wireLog, rig.registry);
    recorder = createRecorder({
      wireLog,
      clock: wall,
      sim,
      dateMs: (at) => at / 1000,
      process: () => ({
        version: '1.2.3',
        buildId: 'abc',
        startedAtMs: 0,
        clock: { mode: 'wall_clock', rate: 1, timezone: 'UTC' },
        devices: [],
      }),
    });
  });

  const on = (patch: Partial<RecorderPatch> = {}) => {
    recorder.set({ enabled: true, ...patch }, by);
  };
  /** Another case, a minute and a half after the one before. */
  const broken = (more: Partial<Case> = {}) => {
    rig.wall.advance(90_000);
    rules.bad.broken(rig.peer('10.0.0.21'), 3, () => ({ text: 'It did.', ...more }));
  };
  const rows = async (): Promise<Json[]> => [...(await recorder.lines())].slice(1).map((line) => JSON.parse(line));
  const details = async () => (await rows()).map(({ details: members }) => members);

  it('have rule, peer, state and the message that proves them', async () => {
    on();
    const sinceMs = rig.wall.nowMs();
    broken({ message: { channel: 'modbus', id: 7 }, facts: { register: 40_001 }, excerpt: 'secret', sinceMs });
    const [row] = await rows();
    expect(row).to.deep.include({
      protocol: 'findings',
      kind: 'finding',
      direction: 'in',
      peer: '10.0.0.21',
      device_index: 3,
      summary: 'It did.',
      cut: false,
      encoding: 'utf8',
      raw: '',
      wall_time: '2026-06-21T08:01:30.000Z',
    });
    expect(row?.['details']).to.deep.equal({
      case_id: 1,
      rule: 'modbus.bad',
      severity: 'violation',
      peer_id: rig.peer('10.0.0.21').id,
      state: 'broken',
      reason: null,
      channel: 'modbus',
      message_id: 7,
      since: '2026-06-21T08:00:00.000Z',
      facts: { register: 40_001 },
      faults: [],
    });
  });

  it('stand between the messages, and are new cases alone', async () => {
    const channel = wireLog.channel<null, null, string>({
      protocol: 'modbus',
      key: '',
      entries: 1,
      bytes: 100,
      decode: () => null,
    });
    const say = () =>
      channel.push({ direction: 'in', peer: '', deviceIndex: 3, kind: 'word', summary: '', facts: null, raw: 'a' });
    on();
    say();
    broken();
    rules.bad.broken(rig.peer('10.0.0.21'), 3, () => ({ text: 'It did it again.' }));
    say();
    expect((await rows()).map(({ protocol }) => protocol)).to.deep.equal(['modbus', 'findings', 'modbus']);
    expect((await details())[1]).to.include({ channel: null, message_id: null, since: null });
  });

  it('are excused or waived with the reason', async () => {
    on();
    rig.active = [new FaultBench().inject(dropFault)];
    broken();
    rig.active = [];
    rig.registry.waivers.add({ rule: 'modbus.bad', peer: '10.0.0.21', reason: 'agreed', untilMs: null });
    broken();
    const [excused, waived] = await details();
    expect(excused)
      .to.include({ state: 'excused' })
      .and.deep.include({ faults: ['modbus.drop'] });
    expect(excused?.['reason']).to.contain('drop');
    expect(waived).to.include({ state: 'waived', reason: 'agreed' });
  });

  it('are left out by the choice of protocols, and while nothing is recorded', async () => {
    broken();
    on({ protocols: ['modbus'] });
    broken();
    on({ protocols: ['findings'] });
    broken();
    recorder.set({ enabled: false }, by);
    broken();
    expect((await details()).map(({ case_id: id }) => id)).to.deep.equal([3]);
    expect((await rows()).map(({ message_id: id }) => id)).to.deep.equal([1]);
    expect([...recorder.state.byProtocol.keys()]).to.deep.equal(['findings']);
  });
});
