/** Responses that a client of IEEE 2030.5 has sent to events, and what they promise of the registers. */
import type { CsipControl } from '../../contract/csip-client.ts';
import type { CsipMessage } from '../../contract/csip-reports.ts';
import type { Device } from '../../contract/device.ts';
import type { RouteContext } from '../http/context.ts';
import { csipModes, noModes, sharedModes } from './csip-modes.ts';
import type { Answered, Claim, Exchange, Value } from './model.ts';
import { registerPlace, slotNamed, stepOf } from './places.ts';

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

interface Response {
  readonly mrid: string;
  readonly status: number;
  readonly message: CsipMessage;
}

function elementOf(xml: string, name: string): string | null {
  return new RegExp(`<(?:[\\w.-]+:)?${name}\\b[^>]*>\\s*([^<]*?)\\s*<`).exec(xml)?.[1] ?? null;
}

/** A Response that the server has taken; null: another message. */
function responseOf(message: CsipMessage): Response | null {
  const { direction, method, status: http, requestBody: body } = message;
  if (direction !== 'out' || method !== 'POST' || http === null || http >= 400) return null;
  if (body?.includes('DERControlResponse') !== true) return null;
  const [mrid, status] = [elementOf(body, 'subject'), elementOf(body, 'status')];
  return mrid === null || status === null ? null : { mrid: mrid.toUpperCase(), status: Number(status), message };
}

/** The last Response of each event that the server has taken. */
function lastResponses(messages: readonly CsipMessage[]): readonly Response[] {
  const last = new Map<string, Response>();
  for (const message of messages) {
    const response = responseOf(message);
    // that an event was received promises nothing, and takes nothing back
    if (response !== null && response.status !== 1) last.set(response.mrid, response);
  }
  return [...last.values()];
}

/** @param sinceMs only responses that were sent at this wall time or later */
export function csipAnswers({ csipClient }: RouteContext, device: Device, sinceMs: number): readonly Answered[] {
  const messages = csipClient.messages.list({ method: 'POST' });
  const controls = csipClient.controls(device.index);
  const ofDevice = messages.filter(({ deviceIndex }) => deviceIndex === null || deviceIndex === device.index);
  return lastResponses(ofDevice).flatMap(({ mrid, status, message }) => {
    const promise = statuses[status];
    const control = controls.find((each) => each.mrid === mrid && each.deviceIndices.includes(device.index));
    if (promise === undefined || message.atMs < sinceMs) return [];
    const exchange = exchangeOf(mrid, status, promise, message);
    if (control === undefined) return message.deviceIndex === null ? [] : [{ exchange, claim: ofUnknown(mrid) }];
    return claimsOf(device, control, promise).map((claim) => ({ exchange, claim }));
  });
}

function exchangeOf(mrid: string, status: number, { word }: Status, message: CsipMessage): Exchange {
  return {
    protocol: 'csip',
    messageId: null,
    answerId: message.id,
    peer: message.peer,
    writerPeer: mrid,
    peerName: `IEEE 2030.5 server ${message.peer}`,
    command: `event ${mrid}`,
    answer: `Response ${status} (${word})`,
    wallMs: message.atMs,
    answeredWallMs: message.atMs,
    at: message.at,
  };
}

function ofUnknown(mrid: string): Claim {
  const reason = 'the client knows no such event';
  return { name: mrid, value: null, unit: null, did: `sent event ${mrid}`, found: null, subject: mrid, reason };
}

function claimsOf(device: Device, control: CsipControl, { promise }: Status): readonly Claim[] {
  const modes = Object.entries(control.modes).filter(([mode]) => !noModes.has(mode));
  return modes.flatMap(([mode, value]) => {
    const points = pointsOf(device, control, mode, value);
    if (typeof points === 'string') return [unseen(control, mode, points)];
    const names = Object.entries(points).filter(([, wanted]) => wanted !== null);
    return names.map(([point, wanted]) =>
      promise === 'holds' ? held(device, control, mode, point, wanted) : released(device, control, mode, point),
    );
  });
}

/** Values by register; a text: why there are none. */
function pointsOf(device: Device, control: CsipControl, mode: string, value: unknown) {
  const out = control.leftOut.find((each) => each.mode === camelOf(mode) || each.mode === mode);
  if (out !== undefined && out.reason !== 'outweighed') return `the device has left the mode out (${out.reason})`;
  const row = Object.hasOwn(csipModes, mode) ? csipModes[mode] : undefined;
  if (row === undefined) return 'no register has the mode';
  if (control.deviceIndices.length > 1 && sharedModes.has(mode)) return 'several devices share the value';
  return row(value, device) ?? 'the value of the mode cannot be read';
}

/** `op_mod_target_w` of REST as the standard writes it. */
const camelOf = (mode: string) => mode.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const didFor = ({ mrid }: CsipControl, what: string) => `asked for ${what} by event ${mrid}`;

function unseen(control: CsipControl, mode: string, reason: string): Claim {
  const subject = `${control.mrid} ${mode}`;
  return { name: mode, value: null, unit: null, did: didFor(control, mode), subject, found: null, reason };
}

function held(device: Device, control: CsipControl, mode: string, point: string, value: Value): Claim {
  const slot = slotNamed(device, point);
  if (slot === undefined) return unseen(control, mode, `the device has no point ${point}`);
  const step = stepOf(slot);
  const ended = endOf(control, mode);
  return {
    name: mode,
    value,
    unit: slot.def.units ?? null,
    subject: `${control.mrid} ${point}`,
    did: didFor(control, `${mode}, which is ${point} = ${String(value)},`),
    found: registerPlace(device, slot),
    ...(step !== undefined && { resolution: step }),
    ...(ended !== null && { ended }),
  };
}

/** Why an event that has begun is owed nothing any more; null: it is still owed. */
function endOf(control: CsipControl, mode: string): string | null {
  const { state, leftOut, optedOut } = control;
  if (state === 'completed' || state === 'cancelled' || state === 'superseded') return `the event is ${state}`;
  if (optedOut) return 'the user takes no part in it';
  const isOutweighed = leftOut.some(
    (each) => each.reason === 'outweighed' && (each.mode === mode || each.mode === camelOf(mode)),
  );
  return isOutweighed ? 'another control of this mode comes before it' : null;
}

/** The event is over: its writes must not stand any more. */
function released(device: Device, control: CsipControl, mode: string, point: string): Claim {
  const slot = slotNamed(device, point);
  if (slot === undefined) return unseen(control, mode, `the device has no point ${point}`);
  const found = registerPlace(device, slot);
  const { writer } = found;
  const isOwn = writer?.source === 'csip' && writer.peer === control.mrid;
  return {
    name: mode,
    value: 'released',
    unit: null,
    subject: `${control.mrid} end of ${point}`,
    did: didFor(control, `${mode} until its end, after which ${point} must be given back,`),
    found: isOwn ? found : { ...found, value: 'released' },
    holds: !isOwn,
  };
}
