/** Dynamic profiles with doubles of line and clock. */
import { expect } from 'chai';
import { createDynamicSchedules } from '../../../../src/ocpp/v201/charging/handlers.ts';
import type { DynamicDeps } from '../../../../src/ocpp/v201/charging/handlers.ts';
import { noonMs } from '../../charging/arbitrary.ts';
import { fakeControl } from '../../charging/fake-control.ts';
import { settled } from '../../v16/fakes.ts';
import { entry } from './doubles.ts';
import { watts } from './rig.ts';

const three = { type: 'ac', phases: 3, modes: ['ChargingOnly'] } as const;
const anyFacts = {
  version: 'ocpp2.1',
  maxStackLevel: 9,
  maxPeriods: 9,
  maxExternalId: -1,
  rateUnits: ['A', 'W'],
  evses: [three],
} as const;
const dynamic = (id: number, dynUpdateInterval?: number) =>
  entry({
    id,
    chargingProfileKind: 'Dynamic',
    schedule: watts({ limit: 6000 }),
    ...(dynUpdateInterval !== undefined && { dynUpdateInterval }),
  });

describe('OCPP 2.1 Dynamic profiles (K28, K29)', () => {
  function dynamicRig() {
    const control = fakeControl();
    const state = { accepted: true, answer: { kind: 'result', payload: { status: 'Rejected' } } as object };
    let waits: (() => void)[] = [];
    const sent: unknown[] = [];
    const findings: string[] = [];
    let planned: { readonly dueMs: number; readonly act: () => void }[] = [];
    const deps = {
      control,
      parts: {
        version: 'ocpp2.1',
        finding: (clause: string, text: string) => findings.push(`${clause} ${text}`),
        registration: {
          get isReady() {
            return state.accepted;
          },
        },
        calls: {
          send: async (_action: string, payload: object) => {
            sent.push(payload);
            await new Promise<void>((resolve) => waits.push(resolve));
            return state.answer;
          },
        },
        clock: {
          at: (dueMs: number, act: () => void) => {
            const plan = { dueMs, act };
            planned.push(plan);
            return () => {
              planned = planned.filter((each) => each !== plan);
            };
          },
        },
      },
      facts: () => anyFacts,
      received: () => ({ random: { next: () => 0 }, localOffsetMs: 0 }),
    };
    const schedules = createDynamicSchedules(deps as unknown as DynamicDeps);
    const install = control.install.bind(control);
    // as the real one, it plans anew with each change
    control.install = (...all) => {
      install(...all);
      schedules.plan();
    };
    return {
      control,
      state,
      sent,
      findings,
      schedules,
      /** Seconds after noon of the planned pulls. */
      dueS: () => planned.map(({ dueMs }) => (dueMs - noonMs) / 1000),
      to: async (s: number) => {
        control.nowMs = noonMs + s * 1000;
        const due = planned.filter(({ dueMs }) => dueMs <= control.nowMs);
        planned = planned.filter((each) => !due.includes(each));
        for (const { act } of due) act();
        await settled();
      },
      answered: async () => {
        for (const resolve of waits) resolve();
        waits = [];
        await settled();
      },
      update: async (chargingProfileId: number, scheduleUpdate: object) => {
        const reply = await schedules.handlers.UpdateDynamicSchedule?.(
          { chargingProfileId, scheduleUpdate },
          () => undefined,
        );
        return [reply?.status, reply?.statusInfo?.reasonCode];
      },
      limits: () =>
        control.profiles.map(({ profile: { profileId, schedule } }) => [profileId, schedule.periods[0]?.limit]),
    };
  }
  const newLimit = (limit: number) => ({
    kind: 'result',
    payload: { status: 'Accepted', scheduleUpdate: { limit } },
  });

  it('an update replaces members of its profile alone, from now on', async () => {
    const { control, update, limits } = dynamicRig();
    control.profiles = [dynamic(1), dynamic(2), entry({ id: 3 })];
    control.nowMs = noonMs + 7000;
    expect(await update(1, { limit: 5000 })).to.deep.equal(['Accepted', undefined]);
    expect(limits()).to.deep.equal([
      [2, 6000],
      [3, 10],
      [1, 5000],
    ]);
    const { profile: made, sent } = control.profiles[2] ?? expect.fail('no profile');
    expect(made).to.include({ connectorId: 1, receivedMs: noonMs, kind: 'dynamic' });
    expect(made.schedule).to.include({ startMs: noonMs + 7000, unit: 'W' });
    expect(sent).to.include({ dynUpdateTime: new Date(noonMs + 7000).toISOString() });
    expect(await update(1, {})).to.deep.equal(['Accepted', undefined]);
    expect(limits().at(-1)).to.deep.equal([1, 5000]);
  });

  it('an update of no profile, of one that is not Dynamic, or against a rule changes nothing', async () => {
    const { control, update, limits, findings } = dynamicRig();
    control.profiles = [dynamic(1), entry({ id: 3 })];
    expect(await update(2, { limit: 1 })).to.deep.equal(['Rejected', 'InvalidProfile']);
    expect(await update(3, { limit: 1 })).to.deep.equal(['Rejected', 'InvalidProfile']);
    expect(await update(1, { limit: -1 })).to.deep.equal(['Rejected', 'InvalidSchedule']);
    expect(limits()).to.deep.equal([
      [1, 6000],
      [3, 10],
    ]);
    expect(findings.map((text) => text.split(': ')[0])).to.deep.equal([
      'OCPP 2.1 K28 profile 2',
      'OCPP 2.1 K28 profile 3',
      'OCPP 2.1 K01 profile 1',
    ]);
  });

  it('pulls are planned for Dynamic profiles with an interval, and dropped with them', () => {
    const { control, schedules, dueS } = dynamicRig();
    control.profiles = [
      dynamic(1, 30),
      dynamic(2, 0),
      dynamic(3),
      dynamic(4, 40),
      entry({ id: 5, dynUpdateInterval: 9 }),
    ];
    schedules.plan();
    control.nowMs = noonMs + 5000;
    schedules.plan();
    expect(dueS()).to.deep.equal([30, 40]);
    control.nowMs = noonMs;
    control.profiles = control.profiles.slice(1);
    schedules.plan();
    expect(dueS()).to.deep.equal([40]);
    control.nowMs += 1000;
    control.profiles = [dynamic(4, 50)];
    schedules.plan();
    expect(dueS()).to.deep.equal([51]);
    schedules.stop();
    expect(dueS()).to.deep.equal([]);
    schedules.plan();
    expect(dueS()).to.deep.equal([]);
  });

  it('a pull follows the one before by the interval, whatever the answer takes', async () => {
    const { control, schedules, dueS, to, answered, sent, limits } = dynamicRig();
    control.profiles = [dynamic(1, 30)];
    schedules.plan();
    await to(30);
    expect(sent).to.deep.equal([{ chargingProfileId: 1 }]);
    expect(dueS()).to.deep.equal([]);
    control.nowMs += 5000;
    await answered();
    expect([dueS(), limits()]).to.deep.equal([[60], [[1, 6000]]]);
  });

  it('an answer with new values acts, and the next pull counts from it', async () => {
    const { control, schedules, dueS, to, answered, state, limits } = dynamicRig();
    control.profiles = [dynamic(1, 30)];
    schedules.plan();
    state.answer = newLimit(7000);
    await to(30);
    control.nowMs += 5000;
    await answered();
    expect(limits()).to.deep.equal([[1, 7000]]);
    expect(control.profiles[0]?.profile.schedule.startMs).to.equal(noonMs + 35_000);
    expect(dueS()).to.deep.equal([65]);
    await to(65);
    // the simulated time of an answer may be before that of its call
    control.nowMs = noonMs + 64_000;
    await answered();
    expect(control.profiles[0]?.profile.schedule.startMs).to.equal(noonMs + 65_000);
    expect(dueS()).to.deep.equal([95]);
  });

  it('an answer against a rule is a finding, and one that is no answer is nothing', async () => {
    const { control, schedules, dueS, to, answered, state, limits, findings } = dynamicRig();
    control.profiles = [dynamic(1, 30)];
    schedules.plan();
    state.answer = newLimit(-1);
    await to(30);
    await answered();
    expect(findings).to.have.length(1);
    expect(findings[0]).to.match(/^OCPP 2\.1 K01 profile 1: /);
    const silent = [
      { kind: 'lost', payload: newLimit(1).payload },
      { kind: 'result', payload: { status: 'Rejected', scheduleUpdate: { limit: 1 } } },
      { kind: 'result', payload: { status: 'Accepted' } },
    ];
    for (const [i, answer] of silent.entries()) {
      state.answer = answer;
      await to(60 + i * 30);
      await answered();
    }
    expect([limits(), dueS(), findings.length]).to.deep.equal([[[1, 6000]], [150], 1]);
  });

  it('offline nothing is pulled, and the interval goes on', async () => {
    const { control, schedules, dueS, to, sent, state } = dynamicRig();
    control.profiles = [dynamic(1, 30)];
    schedules.plan();
    state.accepted = false;
    await to(30);
    expect([sent, dueS()]).to.deep.equal([[], [60]]);
  });

  it('an update, a removal or the end meanwhile is newer than the answer', async () => {
    const meanwhile = async (act: (rig: ReturnType<typeof dynamicRig>) => unknown) => {
      const rig = dynamicRig();
      rig.control.profiles = [dynamic(1, 30)];
      rig.schedules.plan();
      rig.state.answer = newLimit(7000);
      await rig.to(30);
      await act(rig);
      await rig.answered();
      return [rig.limits(), rig.dueS()];
    };
    expect(await meanwhile(({ update }) => update(1, { limit: 5000 }))).to.deep.equal([[[1, 5000]], [60]]);
    expect(
      await meanwhile(({ control, schedules }) => {
        control.profiles = [];
        schedules.plan();
      }),
    ).to.deep.equal([[], []]);
    expect(
      await meanwhile(({ schedules }) => {
        schedules.stop();
      }),
    ).to.deep.equal([[[1, 6000]], []]);
  });
});
