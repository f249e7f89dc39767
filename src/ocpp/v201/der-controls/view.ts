/** DER controls as REST shows them. */
import type { OcppDerControlEntry } from '../../../contract/ocpp.ts';
import type { OnDevice } from './device.ts';
import type { DerControl } from './model.ts';

/** @param state on the device; null: it is not in force */
export function entryOf(control: DerControl, state: OnDevice | null, overwritten: boolean): OcppDerControlEntry {
  const { id, type, isDefault, superseded, started, priority, startMs, endMs, body } = control;
  return {
    controlId: id,
    controlType: type,
    isDefault,
    isSuperseded: superseded,
    startMs: isDefault ? null : startMs,
    durationS: endMs === null ? null : (endMs - startMs) / 1000,
    priority,
    active: state === 'applied',
    state: state ?? (superseded ? 'superseded' : isDefault || started ? 'standby' : 'scheduled'),
    overwritten,
    values: body.value,
  };
}
