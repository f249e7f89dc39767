/** DER controls of OCPP 2.1: the state of each, and the registers that it has written. */
import type { Device } from '../../contract/device.ts';
import type { OcppDerControlEntry, OcppDerControlState, OcppStation } from '../../contract/ocpp.ts';
import type { Claim, Found } from './model.ts';
import { memberOf, nowOf, numberOf, place, textOf } from './ocpp-call.ts';
import type { OcppCall } from './ocpp-call.ts';
import { registerPlace } from './places.ts';

/** States as a central system must expect them. */
const states: Readonly<Record<OcppDerControlState, 'holds' | 'later' | 'gone' | 'broken'>> = {
  applied: 'holds',
  scheduled: 'later',
  standby: 'later',
  superseded: 'gone',
  outweighed: 'gone',
  waiting: 'broken',
  refused: 'broken',
};

const subjectOf = (controlId: string, type: string) => `DER control ${controlId} of ${type}`;

/** A register that the control has written and by which the device does not act; null: it acts by all of them. */
function withheld(device: Device, controlId: string): Found | null {
  const { bank } = device;
  const slot = bank.layout.slots.find((each) => {
    const writer = bank.provenance(each);
    return writer?.source === 'ocpp' && writer.peer === controlId && device.heldValue(each) !== undefined;
  });
  return slot === undefined ? null : registerPlace(device, slot);
}

/** Why a control that is gone is owed nothing more: its values have a duration, and mostly a start. */
function endOf(request: unknown, station: OcppStation): Pick<Claim, 'ended' | 'reason'> {
  const members = typeof request === 'object' && request !== null ? Object.values(request) : [];
  const values: unknown = members.find((each) => numberOf(memberOf(each, 'duration')) !== null);
  const durationS = numberOf(memberOf(values, 'duration'));
  const startMs = Date.parse(textOf(memberOf(values, 'startTime')) ?? '');
  if (durationS === null) return {};
  if (Number.isNaN(startMs)) return { reason: 'the control had a duration and no start, so that it may be over' };
  return startMs + 1000 * durationS <= nowOf(station) ? { ended: 'its duration is over' } : {};
}

function stateClaim(device: Device, entry: OcppDerControlEntry, name: string) {
  const state = place(name, entry.state);
  if (entry.overwritten) return { found: state, holds: false, ended: 'another writer has changed its points' };
  switch (states[entry.state]) {
    case 'later':
      return { found: null, reason: `the control is ${entry.state}` };
    case 'gone':
      return { found: state, holds: false, ended: 'another control comes before it' };
    case 'broken':
      return { found: state, holds: false };
    case 'holds': {
      const kept = withheld(device, entry.controlId);
      return kept === null ? { found: state, holds: true } : { found: kept, value: kept.value };
    }
  }
}

export function derClaims({ device, station, request }: OcppCall): readonly Claim[] {
  const controlId = textOf(memberOf(request, 'controlId'));
  if (controlId === null) return [];
  const type = textOf(memberOf(request, 'controlType')) ?? 'control';
  const name = `${type} ${controlId}`;
  const entry = station.functions.derControls().find((each) => each.controlId === controlId);
  return [
    {
      name,
      value: 'applied',
      unit: null,
      did: `set the DER control ${name}`,
      subject: subjectOf(controlId, type),
      ...(entry === undefined
        ? { found: place(name, null), holds: false, ...endOf(request, station) }
        : stateClaim(device, entry, name)),
    },
  ];
}

/** A control that was named must be gone, or all of a type. */
export function clearedDerControls({ station, request }: OcppCall): readonly Claim[] {
  const id = textOf(memberOf(request, 'controlId'));
  const type = textOf(memberOf(request, 'controlType'));
  const isDefault = memberOf(request, 'isDefault') === true;
  const left = station.functions
    .derControls()
    .filter((each) =>
      id === null
        ? each.isDefault === isDefault && (type === null || each.controlType === type)
        : each.controlId === id,
    );
  const name = id === null ? `DER controls${type === null ? '' : ` of ${type}`}` : `DER control ${id}`;
  const takesOver = (subject: string) => {
    const [, ofId, ofType] = /^DER control (.*) of (\S+)$/.exec(subject) ?? [];
    return ofId !== undefined && (id === null ? type === null || ofType === type : ofId === id);
  };
  const common = { name, value: false, unit: null, did: `cleared ${name}`, subject: `${name} cleared`, takesOver };
  const again = 'they are there, perhaps set again since';
  return [
    left.length === 0 || id !== null
      ? { ...common, found: place(name, left.length > 0) }
      : { ...common, found: null, reason: again },
  ];
}
