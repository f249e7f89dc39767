/** Judges whether new events fit what the server knows of the devices: their powers, modes and curves. */
import { scaledOf } from '../control/model.ts';
import type { ModeName, ResolvedControl } from '../control/model.ts';
import { curveLinkOf, curveTable, modesIn } from '../control/modes.ts';
import type { CurveMode } from '../control/modes.ts';
import type { ListedControl } from '../events/model.ts';
import type { TakenCapability } from './capabilities.ts';
import type { JudgeParts } from './model.ts';

const targetModes = ['opModTargetW', 'opModStorageTargetW'] as const;
const limitModes = ['opModExpLimW', 'opModGenLimW', 'opModMaxLimWInject'] as const;
/** Shares of the rating beyond which a target, or below which a limit, is off scale. */
const [maxTarget, minLimit] = [10, 0.001];

/** Counts of new events of one EndDevice, in a row. */
export interface FitnessMemory {
  /** with a power that is off scale */
  offScale: number;
  /** the last of these powers, W; null: none */
  offScaleW: number | null;
  /** without a mode that the devices support */
  unsupported: number;
}

interface Power {
  readonly mode: ModeName;
  /** magnitude */
  readonly watts: number;
}

function powersIn(base: ResolvedControl['base'], modes: typeof targetModes | typeof limitModes): readonly Power[] {
  return modes.flatMap((mode) => {
    const value = base[mode];
    const isAbsent = value === undefined || ('disabled' in value && value.disabled === true);
    const watts = isAbsent ? null : scaledOf(value.value, value.multiplier ?? 0);
    return watts === null ? [] : [{ mode, watts: Math.abs(watts) }];
  });
}

export class FitnessJudge {
  readonly #parts: JudgeParts;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  /** Judges an event that was created after the server has learnt the capability. */
  created(
    control: ListedControl,
    capability: TakenCapability,
    deviceIndex: number | null,
    memory: FitnessMemory,
  ): void {
    this.#scale(control, capability, deviceIndex, memory);
    this.#modes(control, capability, deviceIndex, memory);
  }

  /** Judges the curves that a control links to, as far as they can be read. @param name of the control, for sentences */
  curves({ base, curves }: ResolvedControl, name: string, deviceIndex: number | null): void {
    const { rules, peer } = this.#parts;
    for (const mode of modesIn(base)) {
      const href = curveLinkOf(base, mode)?.href;
      const curveType = href === undefined ? undefined : curves.get(href)?.curveType;
      if (curveType === undefined) continue;
      const { type } = curveTable[mode as CurveMode];
      if (curveType === type) rules.curve_link.exercised(peer);
      else
        rules.curve_link.broken(
          peer,
          deviceIndex,
          () => ({
            text: `${mode} of ${name} links to a curve of the type ${curveType}; its type is ${type}`,
            facts: { mode, curveType, type, href: href ?? null },
          }),
          `${mode} ${href}`,
        );
    }
  }

  #scale(
    { mrid, control: { base } }: ListedControl,
    { ratedW }: TakenCapability,
    device: number | null,
    memory: FitnessMemory,
  ) {
    const { rules, peer } = this.#parts;
    const rule = rules.value_scale;
    const [targets, limits] = [powersIn(base, targetModes), powersIn(base, limitModes)];
    if (ratedW <= 0 || targets.length + limits.length === 0) return;
    const odd =
      targets.find(({ watts }) => watts > ratedW * maxTarget) ??
      limits.find(({ watts }) => watts > 0 && watts < ratedW * minLimit);
    // one number again and again may stand for no power, or for all
    if (odd !== undefined && odd.watts === memory.offScaleW) {
      rule.undecided(peer);
      return;
    }
    memory.offScale = odd === undefined ? 0 : memory.offScale + 1;
    memory.offScaleW = odd?.watts ?? null;
    const events = memory.offScale;
    if (odd === undefined) rule.exercised(peer);
    else if (events >= rule.param('events'))
      rule.broken(
        peer,
        device,
        () => ({
          text: `${events} events in a row are far from the rating of ${ratedW} W, the last one with ${odd.watts} W`,
          facts: { mRID: mrid, mode: odd.mode, watts: odd.watts, ratedW, events },
        }),
        odd.mode,
      );
  }

  #modes(
    { mrid, control: { base } }: ListedControl,
    { supports }: TakenCapability,
    device: number | null,
    memory: FitnessMemory,
  ) {
    const { rules, peer } = this.#parts;
    const rule = rules.mode_unsupported;
    const modes = modesIn(base);
    if (modes.length === 0) return;
    const isServed = modes.some(supports);
    memory.unsupported = isServed ? 0 : memory.unsupported + 1;
    const events = memory.unsupported;
    if (isServed) rule.exercised(peer);
    else if (events >= rule.param('events'))
      rule.broken(peer, device, () => ({
        text: `${events} new events in a row have no mode that the device supports, the last one ${modes.join(', ')}`,
        facts: { mRID: mrid, modes: modes.join(' '), events },
      }));
  }
}
