/** Carries out the faults of OCPP charge points: decides what happens to each frame and reading. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultSource } from '../../core/faults/registry.ts';
import {
  callErrorFault,
  clockSkewFault,
  delayFault,
  dropSocketFault,
  duplicateFault,
  flappingFault,
  ignoreCallFault,
  malformedFault,
  meterJumpFault,
  missingMemberFault,
  noPongFault,
  noResponseFault,
  wrongMessageIdFault,
} from '../../fault-kinds/ocpp.ts';
import { targetOf } from '../../fault-kinds/rows.ts';
import { isObject } from '../rpc/frames.ts';
import type { DisturbableFrame, FrameDisturbance, FrameDisturber, MeterDistortion, Payload } from '../rpc/model.ts';

// Answers of all versions that accept a call, for `ignore_call`.

/** Calls for a change whose answer has the status Accepted. */
const withStatus: ReadonlySet<string> = new Set([
  'CancelReservation',
  'ChangeAvailability',
  'ChangeConfiguration',
  'ClearCache',
  'ClearChargingProfile',
  'ClearDERControl',
  'RemoteStartTransaction',
  'RemoteStopTransaction',
  'RequestStartTransaction',
  'RequestStopTransaction',
  'ReserveNow',
  'Reset',
  'SendLocalList',
  'SetChargingProfile',
  'SetDERControl',
  'SetNetworkProfile',
  'TriggerMessage',
]);

/** The positive answer to SetVariables, with a status for each variable. */
function variablesAccepted({ setVariableData: requested }: Payload): Payload {
  const data: readonly unknown[] = Array.isArray(requested) ? requested : [];
  return {
    setVariableResult: data.filter(isObject).map(({ component, variable, attributeType }) => ({
      attributeStatus: 'Accepted',
      component,
      variable,
      ...(attributeType !== undefined && { attributeType }),
    })),
  };
}

/** @returns null: the call has no answer that accepts */
function acceptanceOf(action: string, payload: Payload): Payload | null {
  if (action === 'SetVariables') return variablesAccepted(payload);
  return withStatus.has(action) ? { status: 'Accepted' } : null;
}

// Text and payload of a message after faults.

type MalformedMode = 'truncated' | 'not_array' | 'wrong_type' | 'missing_payload' | 'null_members' | 'empty';

/** A message type that no version has. */
const unknownType = 9;

function nulls(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null) return payload;
  return Object.fromEntries(Object.keys(payload).map((name) => [name, null]));
}

/** @param text a frame of OCPP-J, perhaps already changed by another fault */
function malformed(text: string, mode: MalformedMode): string {
  if (mode === 'truncated') return text.slice(0, Math.ceil(text.length / 2));
  if (mode === 'empty') return '';
  const frame = arrayOf(text);
  if (frame === null) return text;
  if (mode === 'not_array') return JSON.stringify({ frame });
  if (mode === 'wrong_type') return JSON.stringify([unknownType, ...frame.slice(1)]);
  if (mode === 'missing_payload') return JSON.stringify(frame.slice(0, -1));
  return JSON.stringify([...frame.slice(0, -1), nulls(frame.at(-1))]);
}

function arrayOf(text: string): readonly unknown[] | null {
  try {
    const frame: unknown = JSON.parse(text);
    return Array.isArray(frame) ? frame : null;
  } catch {
    return null;
  }
}

function without(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((entry) => without(entry, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !names.includes(name))
      .map(([name, member]) => [name, without(member, names)]),
  );
}

/** The payload without members of these names at any depth; null: it has none of them. */
function withoutMembers(payload: Payload, names: readonly string[]): Payload | null {
  const rest = without(payload, names) as Payload;
  return JSON.stringify(rest) === JSON.stringify(payload) ? null : rest;
}

/** The connector that a payload is about: `connectorId` of 1.6, the EVSE of 2.x; null: none. */
function connectorOf({ connectorId, evseId, evse }: Payload): number | null {
  const ofEvse = typeof evse === 'object' && evse !== null ? (evse as Payload)['id'] : undefined;
  const id = evseId ?? ofEvse ?? connectorId;
  return typeof id === 'number' ? id : null;
}

/** A disturbance to which faults add members. */
type Draft = { -readonly [Name in keyof FrameDisturbance]: FrameDisturbance[Name] };
type Strikes = (fault: ActiveFault) => boolean;

const isAnswer = ({ type }: DisturbableFrame) => type === 'result' || type === 'error';

/**
 * The decisions about a frame, in this order; a fault counts the occasion only when its decision is reached:
 * 1. the first `drop_socket` or `no_response` that strikes decides alone;
 * 2. of a call of the central system the first `call_error` or `ignore_call` decides;
 * 3. a frame to be sent is changed by each other fault in order of injection: all delays add up, the payload is changed
 *    before the text.
 */
export function createOcppDisturber(options: FaultSource): FrameDisturber {
  return new StationDisturber(options);
}

class StationDisturber implements FrameDisturber {
  readonly #options: FaultSource;
  readonly #listeners = new Set<() => void>();
  #faults: readonly ActiveFault[] = [];

  constructor(options: FaultSource) {
    this.#options = options;
    const { registry } = options;
    const selectFaults = () => {
      this.#faults = registry.active.filter(({ protocol }) => protocol === 'ocpp');
    };
    registry.onChange(() => {
      const before = this.#faults;
      selectFaults();
      const isSame = before.length === this.#faults.length && before.every((fault, at) => fault === this.#faults[at]);
      if (!isSame) for (const listener of [...this.#listeners]) listener();
    });
    selectFaults();
  }

  get active(): boolean {
    return this.#faults.length > 0;
  }

  disturb(frame: DisturbableFrame): FrameDisturbance | null {
    const { deviceIndex, direction, action } = frame;
    const faultsOfFrame = this.#at(deviceIndex, action, connectorOf(frame.payload));
    if (faultsOfFrame.length === 0) return null;
    const strikes: Strikes = (fault) => fault.strikes(deviceIndex);
    for (const fault of faultsOfFrame) {
      if (fault.isOf(dropSocketFault) && strikes(fault)) return { drop: true };
      if (fault.isOf(noResponseFault) && isUnanswered(frame, fault.parameters.carried_out) && strikes(fault))
        return { suppress: true };
    }
    if (direction === 'in') return answerFor(frame, faultsOfFrame, strikes);
    const draft: Draft = {};
    for (const fault of faultsOfFrame) spoil(fault, frame, draft, strikes);
    return Object.keys(draft).length === 0 ? null : draft;
  }

  noPong(deviceIndex: number): boolean {
    return this.#at(deviceIndex).some((fault) => fault.isOf(noPongFault) && fault.strikes(deviceIndex));
  }

  dropsAfterMs(deviceIndex: number): number | null {
    for (const fault of this.#at(deviceIndex)) if (fault.isOf(flappingFault)) return fault.parameters.period_s * 1000;
    return null;
  }

  drops(deviceIndex: number): boolean {
    const flapping = this.#at(deviceIndex).find((fault) => fault.isOf(flappingFault));
    return flapping?.strikes(deviceIndex) ?? false;
  }

  skewS(deviceIndex: number): number {
    let skewS = 0;
    for (const fault of this.#at(deviceIndex))
      if (fault.isOf(clockSkewFault) && fault.strikes(deviceIndex)) skewS += fault.parameters.skew_s;
    return skewS;
  }

  readings(deviceIndex: number, connectorId: number, action: string): MeterDistortion | null {
    return distortionBy(this.#at(deviceIndex, action, connectorId), (fault) => fault.strikes(deviceIndex));
  }

  peekReadings(deviceIndex: number, connectorId: number, action: string): MeterDistortion | null {
    return distortionBy(this.#at(deviceIndex, action, connectorId), (fault) => fault.wouldStrike(deviceIndex));
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * Faults in force at a device, for a message and connector; if these are absent, only faults without such a target.
   */
  #at(deviceIndex: number, action?: string, connectorId: number | null = null): readonly ActiveFault[] {
    return this.#faults.filter((fault) => {
      if (fault.isOver || !fault.concerns(deviceIndex)) return false;
      const { actions, connectors } = targetOf(fault.facts.target);
      if (actions !== undefined && (action === undefined || !actions.includes(action))) return false;
      if (connectors !== undefined && (connectorId === null || !connectors.includes(connectorId))) return false;
      return this.#options.holds(fault, deviceIndex);
    });
  }
}

/** The combined faults of a meter; null: the meter is correct. */
function distortionBy(faults: readonly ActiveFault[], strikes: Strikes): MeterDistortion | null {
  let distortion: MeterDistortion | null = null;
  for (const fault of faults) {
    if (!fault.isOf(meterJumpFault) || !strikes(fault)) continue;
    const { factor, offset_wh: offsetWh } = fault.parameters;
    const before: MeterDistortion = distortion ?? { factor: 1, offsetWh: 0 };
    distortion = { factor: before.factor * factor, offsetWh: before.offsetWh * factor + offsetWh };
  }
  return distortion;
}

/** True if `no_response` acts on this frame: on the call, or on the answer of a call that is carried out. */
function isUnanswered(frame: DisturbableFrame, isCarriedOut: boolean): boolean {
  return isCarriedOut
    ? frame.direction === 'out' && isAnswer(frame)
    : frame.direction === 'in' && frame.type === 'call';
}

function answerFor(
  { type, action, payload }: DisturbableFrame,
  faults: readonly ActiveFault[],
  strikes: Strikes,
): FrameDisturbance | null {
  if (type !== 'call') return null;
  for (const fault of faults) {
    if (fault.isOf(callErrorFault) && strikes(fault)) {
      const { code, description } = fault.parameters;
      return { callError: { code, description } };
    }
    if (!fault.isOf(ignoreCallFault)) continue;
    // a call without a change is not an occasion
    const pretence = acceptanceOf(action, payload);
    if (pretence !== null && strikes(fault)) return { pretence };
  }
  return null;
}

/** Faults of frames that are sent. */
function spoil(fault: ActiveFault, frame: DisturbableFrame, draft: Draft, strikes: Strikes): void {
  if (fault.isOf(delayFault)) {
    if (!strikes(fault)) return;
    const { delay_ms: delayMs, jitter_ms: jitterMs } = fault.parameters;
    draft.delayMs = (draft.delayMs ?? 0) + delayMs + fault.random.next() * jitterMs;
  } else if (fault.isOf(duplicateFault)) {
    if (strikes(fault)) draft.twice = true;
  } else if (fault.isOf(wrongMessageIdFault)) {
    if (isAnswer(frame) && strikes(fault)) draft.messageId = fault.parameters.message_id ?? unusedId(fault);
  } else if (fault.isOf(malformedFault)) {
    if (!strikes(fault)) return;
    const { rewrite: before = (text: string) => text } = draft;
    draft.rewrite = (text) => malformed(before(text), fault.parameters.mode);
  } else if (fault.isOf(missingMemberFault)) {
    // a payload without these members is not an occasion
    const rest = withoutMembers(draft.payload ?? frame.payload, fault.parameters.members);
    if (rest !== null && strikes(fault)) draft.payload = rest;
  }
}

/** An id that no call has: 36 characters, the last ones random. */
function unusedId({ random }: ActiveFault): string {
  const digits = Array.from({ length: 12 }, () => Math.floor(random.next() * 16).toString(16)).join('');
  return `ffffffff-ffff-4fff-bfff-${digits}`;
}
