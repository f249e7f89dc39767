/** Drives the scheduler of one EndDevice by hand: readings, time, and a device that applies what it is told. */
import { createSchedule, knownControls, nextStep } from '../../../src/csip/events/schedule.ts';
import type { ControlInForce, ControlOutcome, ModeName, ResolvedControl } from '../../../src/csip/control/model.ts';
import type {
  ListedControl,
  ListedDefault,
  ListedProgram,
  ScheduleInput,
  ScheduleOptions,
} from '../../../src/csip/events/model.ts';
import type { ScheduleState } from '../../../src/csip/events/state.ts';

export const applied: ControlOutcome = { state: 'applied', leftOut: [], overwritten: false };

export const resolved = (modes: readonly ModeName[]): ResolvedControl => ({
  base: Object.fromEntries(modes.map((mode) => [mode, 5_000])),
  curves: new Map(),
});

export const maxLim: readonly ModeName[] = ['opModMaxLimW'];

/** A control of opModMaxLimW from 100 to 200 that asks for every response. */
export function control(mrid: string, over: Partial<ListedControl> = {}): ListedControl {
  const modes = over.modes ?? maxLim;
  const { startS = 100, creationS = 0, aheadS = 0 } = over;
  return {
    written: { startS: startS + aheadS, creationS: creationS + aheadS },
    mrid,
    href: `/derc/${mrid}`,
    description: null,
    version: null,
    creationS: 0,
    aheadS: 0,
    startS: 100,
    durationS: 100,
    randomizeStartS: 0,
    randomizeDurationS: 0,
    status: 'scheduled',
    statusS: null,
    potentiallySuperseded: false,
    deviceCategory: null,
    responseRequired: 7,
    replyTo: 'https://server/rsp',
    modes,
    control: resolved(modes),
    ...over,
  };
}

export const defaults = (key: string, modes: readonly ModeName[]): ListedDefault => ({
  mrid: `D${key}`,
  href: `/dderc/${key}`,
  description: null,
  modes,
  control: resolved(modes),
});

export const program = (
  key: string,
  primacy: number,
  controls: readonly ListedControl[] | undefined,
  over: Partial<ListedProgram> = {},
): ListedProgram => ({
  key,
  href: `https://server/derp/${key}`,
  description: null,
  primacy,
  defaultControl: null,
  controls,
  ...over,
});

export class Scene {
  readonly options: ScheduleOptions;
  state: ScheduleState = createSchedule();
  inForce: readonly ControlInForce[] = [];
  nextS: number | null = null;
  nowS = 0;
  /** `instant mRID status` */
  readonly responses: string[] = [];
  /** what becomes of a control in force */
  outcomeOf: (id: string) => ControlOutcome = () => applied;

  constructor(over: Partial<ScheduleOptions> = {}) {
    this.options = {
      deviceCategory: 1 << 21,
      pick: () => 0.5,
      supersededResponse: 'at_start',
      revision: '2018',
      check: () => applied,
      ...over,
    };
  }

  #step(nowS: number, input: ScheduleInput): void {
    const step = nextStep(this.state, input, nowS, this.options);
    this.nowS = nowS;
    this.state = step.state;
    this.inForce = step.inForce;
    this.nextS = step.nextS;
    this.responses.push(...step.responses.map(({ mrid, status, createdS }) => `${createdS} ${mrid} ${status}`));
  }

  /** A step, and then the outcomes of what is in force after it. */
  tell(nowS: number, input: ScheduleInput): this {
    this.#step(nowS, input);
    const outcomes = new Map(this.inForce.map(({ id }) => [id, this.outcomeOf(id)]));
    this.#step(nowS, { kind: 'outcomes', outcomes });
    return this;
  }

  read(nowS: number, ...programs: readonly ListedProgram[]): this {
    return this.tell(nowS, { kind: 'programs', programs });
  }

  time(...instants: readonly number[]): this {
    for (const nowS of instants) this.tell(nowS, { kind: 'time' });
    return this;
  }

  /** Runs from instant to instant as `nextS` asks, until `endS` at most. */
  runTo(endS: number): this {
    while (this.nextS !== null && this.nextS <= endS) this.time(this.nextS);
    return this.time(endS);
  }

  opt(nowS: number, mrid: string, takesPart: boolean): this {
    return this.tell(nowS, { kind: 'opt', mrid, in: takesPart });
  }

  /** `id: modes` of what is in force, without the prefix of modes. */
  get now(): readonly string[] {
    return this.inForce.map(({ id, modes }) => `${id}: ${modes.map((mode) => mode.slice(5)).join(' ')}`);
  }

  stateOf(mrid: string): string | undefined {
    return knownControls(this.state).find(({ listed }) => listed.mrid === mrid)?.state;
  }

  /** Responses of one control, by status. */
  of(mrid: string): readonly number[] {
    return this.responses.flatMap((line) => {
      const [, of, status] = line.split(' ');
      return of === mrid ? [Number(status)] : [];
    });
  }
}

/** One program with one control, seen at 0. */
export const one = (over: Partial<ListedControl> = {}, scene = new Scene()): Scene =>
  scene.read(0, program('P', 1, [control('A', over)]));

export const watt: ModeName = 'opModMaxLimW';
export const pf: ModeName = 'opModFixedPFInjectW';

export const outcome = (state: ControlOutcome['state'], mode?: ModeName): ControlOutcome => ({
  state,
  leftOut: mode === undefined ? [] : [{ mode, reason: 'unsupported', detail: 'no physics' }],
  overwritten: false,
});
