/** The controls in force on the device: applied, and retried while the device takes none. */
import type { DerPort } from '../../station/der-port.ts';
import type { StationParts } from '../parts.ts';
import { compose } from './compose.ts';
import type { Composition } from './compose.ts';
import { isRefusal } from './model.ts';
import type { DERControlEnum, DerControl } from './model.ts';
import { translate } from './translate.ts';

/** `waiting`: the device takes no control at present; `refused`: it does not take this control. */
export type OnDevice = 'applied' | 'waiting' | 'refused' | 'outweighed';

export interface DeviceControls {
  /** Makes exactly these controls be in force. */
  follow(inForce: readonly DerControl[]): void;
  /** Outcome of a control in force; null: no longer in force. */
  stateOf(id: string): OnDevice | null;
  /** types that act on the device now, through a control that no other writer has overwritten */
  readonly running: ReadonlySet<DERControlEnum>;
  stop(): void;
}

export interface DeviceControlsOptions {
  readonly parts: Pick<StationParts, 'later' | 'log' | 'device'>;
  readonly port: DerPort;
}

const retryMs = 1000;

export function createDeviceControls({ parts, port }: DeviceControlsOptions): DeviceControls {
  let inForce: readonly DerControl[] = [];
  let states = new Map<string, OnDevice>();
  let endWait: (() => void) | null = null;
  let isStopped = false;

  const contributions = () =>
    inForce.flatMap((control) => {
      const settings = translate(control.type, control.body, port);
      return isRefusal(settings) ? [] : [{ control, settings }];
    });
  const note = (id: string, state: OnDevice, detail: string) => {
    const { log, device } = parts;
    if (state === 'refused' && states.get(id) !== 'refused')
      log.warning(`DER control ${id} has no effect: ${detail}`, device.deviceIndex);
    states.set(id, state);
  };
  const apply = () => {
    endWait?.();
    endWait = null;
    const { wanted, outweighed }: Composition = compose(contributions());
    const results = port.follow(wanted);
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
      const acts = ({ id }: DerControl) => states.get(id) === 'applied' && !port.isOverwritten(id);
      return new Set(inForce.filter(acts).map(({ type }) => type));
    },
    stop() {
      isStopped = true;
      endWait?.();
      endRestarts();
      port.close();
    },
  };
}
