/** DER controls in force on the device: composed, applied, and retried while the device accepts no control. */
import { randomUUID } from 'node:crypto';
import { SimError } from '../../../core/errors.ts';
import type { DerPort, DerSettings, DerHold } from '../../station/port.ts';
import type { StationParts } from '../parts.ts';
import { isRefusal } from './model.ts';
import type { DERControlEnum, DerControl } from './model.ts';
import { translate } from './translate.ts';
import type { PointValue } from '../../../sunspec/map/grid-support/wish.ts';

/** A control in force, with its settings. */
interface Contribution {
  readonly control: DerControl;
  readonly settings: DerSettings;
}

interface Composition {
  /** holds in order of precedence */
  readonly holds: readonly DerHold[];
  /** controls that do not run, with the id of the control that runs instead */
  readonly outweighed: ReadonlyMap<string, string>;
}

function precedence({ control: a }: Contribution, { control: b }: Contribution): number {
  if (a.isDefault !== b.isDefault) return a.isDefault ? 1 : -1;
  return a.priority - b.priority || b.order - a.order;
}

const isPowerFactor = ({ control: { type } }: Contribution) => type === 'FixedPFInject' || type === 'FixedPFAbsorb';
const nameOf = ({ model, path }: PointValue) => `${model}.${path}`;

/** Types of control whose functions exclude each other. */
const reactiveTypes: readonly DERControlEnum[] = ['FixedPFAbsorb', 'FixedPFInject', 'FixedVar', 'VoltVar', 'WattVar'];
const isReactive = (type: DERControlEnum): boolean => reactiveTypes.includes(type);

/** The enable points of the power factors; one hold writes both. */
const powerFactorEnables: readonly string[] = ['704.PFWInjEna', '704.PFWAbsEna'];

/**
 * Composes controls in force at the same time: the points that each control writes.
 *
 * - Functions of reactive power exclude each other, so one control runs: a scheduled control before a default, then the
 *   lower priority number, then the newer control. The two power factors apply to different directions and run together.
 * - If two controls set the same point, the first in this order writes it.
 */
function compose(contributions: readonly Contribution[]): Composition {
  const ordered = [...contributions].sort(precedence);
  const reactive = ordered.filter(({ control }) => isReactive(control.type));
  const [winner] = reactive;
  const runs = (each: Contribution) =>
    !reactive.includes(each) ||
    each === winner ||
    (winner !== undefined && isPowerFactor(winner) && isPowerFactor(each));
  const outweighed = new Map(
    reactive.flatMap((each) => (winner === undefined || runs(each) ? [] : [[each.control.id, winner.control.id]])),
  );
  const running = ordered.filter(runs);
  // a hold that enables one function of reactive power disables the others, so one hold gets both enable points
  const enables = running.filter(isPowerFactor).flatMap(({ settings }) => settings.points.filter(isPowerFactorEnable));
  const assigned = new Set<string>();
  let hasSlope = false;
  const holds = running.map(({ control, settings }): DerHold => {
    const candidates = control === winner?.control ? [...settings.points, ...enables] : settings.points;
    const points = candidates.filter((point) => {
      const isFree = !assigned.has(nameOf(point));
      assigned.add(nameOf(point));
      return isFree;
    });
    const { slopeWPctPerS } = settings;
    const slope = slopeWPctPerS !== undefined && !hasSlope ? { slopeWPctPerS } : {};
    if (slopeWPctPerS !== undefined) hasSlope = true;
    return { id: control.id, settings: { points, ...slope } };
  });
  return { holds, outweighed };
}

function isPowerFactorEnable(point: PointValue): boolean {
  return powerFactorEnables.includes(nameOf(point));
}

/** `waiting`: the device accepts no control at present; `refused`: it does not accept this control. */
export type ControlOutcome = 'applied' | 'waiting' | 'refused' | 'outweighed';

export interface DeviceControls {
  /** Replaces the controls in force. */
  follow(inForce: readonly DerControl[]): void;
  /** Outcome of a control in force; null: not in force. */
  stateOf(id: string): ControlOutcome | null;
  /** types of control in effect on the device: applied, and not overwritten by another writer */
  readonly running: ReadonlySet<DERControlEnum>;
  /** `close` or `release` follows. */
  stop(): void;
  /** Leaves the controls in force as they are. */
  close(): void;
  /** Ends the controls in force, as soon as the device accepts that. */
  release(): void;
}

interface DeviceControlsOptions {
  readonly parts: Pick<StationParts, 'later' | 'log' | 'device' | 'releases'>;
  readonly port: DerPort;
}

const retryMs = 1000;

export function createDeviceControls({ parts, port }: DeviceControlsOptions): DeviceControls {
  let inForce: readonly DerControl[] = [];
  let states = new Map<string, ControlOutcome>();
  let endWait: (() => void) | null = null;
  let isStopped = false;

  const contributions = () =>
    inForce.flatMap((control) => {
      const settings = translate(control.type, control.body, port);
      return isRefusal(settings) ? [] : [{ control, settings }];
    });
  const note = (id: string, state: ControlOutcome, detail: string) => {
    const { log, device } = parts;
    if (state === 'refused' && states.get(id) !== 'refused')
      log.warning(`DER control ${id} has no effect: ${detail}`, device.deviceIndex);
    states.set(id, state);
  };
  const apply = () => {
    endWait?.();
    endWait = null;
    const { holds, outweighed }: Composition = compose(contributions());
    const results = port.follow(holds);
    const ids = new Set(inForce.map(({ id }) => id));
    states = new Map([...states].filter(([id]) => ids.has(id)));
    for (const { id } of inForce) {
      const result = results.get(id);
      if (outweighed.has(id)) note(id, 'outweighed', '');
      else if (result === undefined) note(id, 'refused', 'the station cannot carry it out');
      else if (typeof result === 'object') note(id, 'refused', result.detail);
      else note(id, result === 'done' ? 'applied' : 'waiting', '');
    }
    if (isStopped || port.isSettled) return;
    endWait = parts.later(retryMs, apply);
  };
  const endRestarts = port.onRestart(apply);
  return {
    follow(controls) {
      inForce = controls;
      apply();
    },
    stateOf: (id) => states.get(id) ?? null,
    get running() {
      const isInEffect = ({ id }: DerControl) => states.get(id) === 'applied' && !port.isOverwritten(id);
      return new Set(inForce.filter(isInEffect).map(({ type }) => type));
    },
    stop() {
      isStopped = true;
      endWait?.();
      endRestarts();
    },
    close() {
      port.close();
    },
    release() {
      // a key of its own: the same version may give way again before the device accepts the end
      parts.releases.insist(randomUUID(), 'DER controls stay in force', () => {
        port.follow([]);
        if (!port.isSettled) throw new SimError('COMMAND_CONFLICT', 'the device does not accept their end');
        port.close();
      });
    },
  };
}
