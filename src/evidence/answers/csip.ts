/** Responses that a client of IEEE 2030.5 has sent to events, and the register values that they promise. */
import type { CsipControl } from '../../contract/csip-client.ts';
import type { CsipSentResponse } from '../../contract/csip-reports.ts';
import type { Device } from '../../contract/device.ts';
import type { HoldValue } from '../../sunspec/map/holds.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { pointName } from '../../sunspec/map/view.ts';
import type { AnswerSources } from '../sources.ts';
import type { Answered, Claim, Exchange } from './model.ts';
import { registerPlace, stepOf } from './model.ts';

interface Status {
  readonly word: string;
  /** `holds`: the values of the event are in force; `ended`: they are no longer */
  readonly promise: 'holds' | 'ended';
}

/** Response status codes that promise something: IEEE 2030.5-2018 table 27. */
const statuses: Readonly<Record<number, Status>> = {
  2: { word: 'started', promise: 'holds' },
  3: { word: 'completed', promise: 'ended' },
  6: { word: 'cancelled', promise: 'ended' },
  7: { word: 'superseded', promise: 'ended' },
};

/** Members of a control beside its modes. */
const noModes: ReadonlySet<string> = new Set(['ramp_time_s']);

/** The last response to each event of a device. A response `received` neither makes nor withdraws a promise. */
function lastResponses(responses: readonly CsipSentResponse[], device: Device): readonly CsipSentResponse[] {
  const last = new Map<string, CsipSentResponse>();
  for (const response of responses) {
    const isOther = response.deviceIndex !== null && response.deviceIndex !== device.index;
    if (!isOther && response.status !== 1) last.set(response.mrid, response);
  }
  return [...last.values()];
}

/** @param sinceMs only responses that were sent at this wall time or later */
export function csipAnswers(from: AnswerSources, device: Device, sinceMs: number): readonly Answered[] {
  const { csipClient } = from;
  const controls = csipClient.controls(device.index);
  return lastResponses(csipClient.messages.responses(), device).flatMap((response) => {
    const promise = statuses[response.status];
    const control = controls.find(
      ({ mrid, deviceIndices }) => mrid === response.mrid && deviceIndices.includes(device.index),
    );
    if (promise === undefined || response.atMs < sinceMs) return [];
    const exchange = exchangeOf(response, promise);
    if (control === undefined)
      return response.deviceIndex === null ? [] : [{ exchange, claim: ofUnknown(response.mrid) }];
    return claimsOf(from, device, control, promise).map((claim) => ({ exchange, claim }));
  });
}

function exchangeOf({ mrid, status, id, peer, atMs, at }: CsipSentResponse, { word }: Status): Exchange {
  return {
    protocol: 'csip',
    messageId: null,
    answerId: id,
    peer,
    writerPeer: mrid,
    peerName: `IEEE 2030.5 server ${peer}`,
    command: `event ${mrid}`,
    answer: `Response ${status} (${word})`,
    wallMs: atMs,
    answeredWallMs: atMs,
    at,
  };
}

function ofUnknown(mrid: string): Claim {
  const reason = 'the client knows no such event';
  return { name: mrid, value: null, unit: null, did: `sent event ${mrid}`, actual: null, subject: mrid, reason };
}

/** The claims of each mode, by the registers that the client has written for it. */
function claimsOf(
  { csipClient }: AnswerSources,
  device: Device,
  control: CsipControl,
  { promise }: Status,
): readonly Claim[] {
  const claims = csipClient.claims(control.mrid, device.index);
  return Object.keys(control.modes)
    .filter((mode) => !noModes.has(mode))
    .flatMap((mode) => {
      const omission = control.leftOut.find((each) => each.mode === mode);
      if (omission !== undefined && omission.reason !== 'outweighed')
        return [unseen(control, mode, `the device has left the mode out (${omission.reason})`)];
      const claim = claims.find((each) => each.mode === mode);
      if (claim === undefined) return [unseen(control, mode, 'no register has the mode')];
      return claim.values.map((value) =>
        promise === 'holds' ? held(device, control, mode, value) : released(device, control, mode, value.slot),
      );
    });
}

const didFor = ({ mrid }: CsipControl, what: string) => `requested ${what} by event ${mrid}`;

function unseen(control: CsipControl, mode: string, reason: string): Claim {
  const subject = `${control.mrid} ${mode}`;
  return { name: mode, value: null, unit: null, did: didFor(control, mode), subject, actual: null, reason };
}

function held(device: Device, control: CsipControl, mode: string, { slot, value }: HoldValue): Claim {
  const point = pointName(slot);
  const step = stepOf(slot);
  const ended = endOf(control, mode);
  return {
    name: mode,
    value,
    unit: slot.def.units ?? null,
    subject: `${control.mrid} ${point}`,
    did: didFor(control, `${mode}, which is ${point} = ${String(value)},`),
    actual: registerPlace(device, slot),
    ...(step !== undefined && { resolution: step }),
    ...(ended !== null && { ended }),
  };
}

/** Reason why the values of a mode need no longer be in force; null: they must be. */
function endOf(control: CsipControl, mode: string): string | null {
  const { state, leftOut, optedOut } = control;
  if (state === 'completed' || state === 'cancelled' || state === 'superseded') return `the event is ${state}`;
  if (optedOut) return 'the user has opted out of it';
  const isOutweighed = leftOut.some((each) => each.reason === 'outweighed' && each.mode === mode);
  return isOutweighed ? 'another control of this mode has priority' : null;
}

/** The claim after the end of an event: its writes are no longer in force. */
function released(device: Device, control: CsipControl, mode: string, slot: PointSlot): Claim {
  const point = pointName(slot);
  const register = registerPlace(device, slot);
  const { writer } = register;
  const isOwn = writer?.source === 'csip' && writer.peer === control.mrid;
  return {
    name: mode,
    value: 'released',
    unit: null,
    subject: `${control.mrid} end of ${point}`,
    did: didFor(control, `${mode} until its end, after which ${point} must be released,`),
    actual: isOwn ? register : { ...register, value: 'released' },
    holds: !isOwn,
  };
}
