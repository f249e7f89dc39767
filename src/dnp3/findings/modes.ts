/** Judges the set-points of modes, by the function that all protocols share. */
import { SetpointJudge } from '../../core/findings/setpoints.ts';
import type { SetpointGroup } from '../../core/findings/setpoints.ts';
import { functionCodes } from '../stack/application/types.ts';
import { controlStatus } from '../stack/outstation/types.ts';
import type { Control, ControlStatus } from '../stack/outstation/types.ts';
import type { Dialogue, DialogueOptions, Incoming, OutstationFacts, TopicJudge } from './dialogue.ts';

interface Mode {
  /** indexes of its set-points, AO */
  readonly setpoints: readonly number[];
  /** index of the output that enables it, BO */
  readonly enable: number;
  /** index of the output with its reversion time, AO, s */
  readonly reversion: number;
  /** wire value of a set-point that demands nothing */
  readonly neutral: number;
}

/** In AN2018 and IEEE 1815.2: limit, active power, reactive power, power factors. */
const modes: readonly Mode[] = [
  { setpoints: [87, 88], enable: 17, reversion: 85, neutral: 1000 },
  { setpoints: [93], enable: 18, reversion: 92, neutral: 0 },
  { setpoints: [203], enable: 27, reversion: 202, neutral: 0 },
  { setpoints: [210, 211], enable: 28, reversion: 209, neutral: 100 },
];

function groupOf({ setpoints, enable, reversion, neutral }: Mode, { outputOf }: OutstationFacts): SetpointGroup {
  const present = () => setpoints.filter((index) => outputOf('analog', index) !== undefined);
  const values = () => present().map((index) => outputOf('analog', index));
  return {
    get name() {
      return present()
        .map((index) => `AO${index}`)
        .join(' and ');
    },
    enable: `BO${enable}`,
    get timer() {
      return outputOf('analog', reversion) === undefined ? null : `AO${reversion}`;
    },
    isEnabled: () => outputOf('binary', enable) === 1,
    reversionS: () => outputOf('analog', reversion) ?? 0,
    isNeutral: () => values().every((value) => value === neutral),
    values: () => values().join(' '),
  };
}

/** The modes of one outstation, which all of its masters share. */
export class OutstationModes {
  readonly judge: SetpointJudge;
  readonly #groups: readonly SetpointGroup[];

  constructor({ findings, rules, clock, facts }: Omit<DialogueOptions, 'message'>) {
    const { deviceIndex } = facts;
    this.judge = new SetpointJudge({ findings, rules, deviceIndex, monotonicMs: () => clock.monotonicMs() });
    this.#groups = modes.map((mode) => groupOf(mode, facts));
    facts.onModeChange?.((enable, how) => {
      const group = this.#groups[modes.findIndex((mode) => mode.enable === enable)];
      if (group !== undefined) this.judge.changed(group, how);
    });
  }

  /** The mode of an output that enables it or is a set-point or reversion time of it; undefined: there is none. */
  of({ kind, index }: Control): SetpointGroup | undefined {
    const isOf = ({ setpoints, enable, reversion }: Mode) =>
      kind === 'binary' ? enable === index : reversion === index || setpoints.includes(index);
    return this.#groups[modes.findIndex(isOf)];
  }

  /** True if the output is a set-point. */
  isSetpoint({ kind, index }: Control): boolean {
    return kind === 'analog' && modes.some(({ setpoints }) => setpoints.includes(index));
  }

  /** The outstation has started anew. */
  restarted(): void {
    for (const group of this.#groups) this.judge.changedByOthers(group);
  }
}

export class ModesJudge implements TopicJudge {
  readonly #dialogue: Dialogue;
  readonly #modes: OutstationModes;
  #isOperation = false;

  constructor(dialogue: Dialogue, outstation: OutstationModes) {
    this.#dialogue = dialogue;
    this.#modes = outstation;
  }

  requested({ functionCode, isRetry }: Incoming): void {
    this.#isOperation = functionCode !== functionCodes.select && !isRetry;
    this.#modes.judge.follow();
  }

  controlled(control: Control, status: ControlStatus): void {
    const { peer, facts, message } = this.#dialogue;
    if (!this.#isOperation || !facts.hasBuiltInMap) return;
    const group = this.#modes.of(control);
    if (group === undefined) return;
    const setsValue = this.#modes.isSetpoint(control);
    if (status !== controlStatus.success) this.#modes.judge.refused(peer, group);
    else
      this.#modes.judge.wrote(peer, { group, setsValue, setsEnable: control.kind === 'binary', evidence: { message } });
  }

  restarted(): void {
    this.#modes.restarted();
  }
}
