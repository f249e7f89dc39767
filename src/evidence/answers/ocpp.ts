/** Calls of a central system that were answered positively. */
import type { Device } from '../../contract/device.ts';
import type { OcppMessage, OcppStation } from '../../contract/ocpp.ts';
import type { AnswerSources } from '../sources.ts';
import type { Answered, Exchange } from './model.ts';
import { ocppActions, otherCommands } from './ocpp-actions.ts';
import { memberOf, textOf } from './ocpp-call.ts';
import type { OcppCall } from './ocpp-call.ts';

/** Status words of answers that promise something. */
const promises: ReadonlySet<string> = new Set([
  'Accepted',
  'RebootRequired',
  'Scheduled',
  'Unlocked',
  'AcceptedCanceled',
]);

/** The status of an answer; of SetVariables each result has one of its own. */
function statusOf(payload: unknown): string | null {
  const status = textOf(memberOf(payload, 'status'));
  if (status !== null) return status;
  const results = memberOf(payload, 'setVariableResult');
  const isAnyDone =
    Array.isArray(results) && results.some((each) => promises.has(textOf(memberOf(each, 'attributeStatus')) ?? ''));
  return isAnyDone ? 'Accepted' : null;
}

/** @param sinceMs only commands that came at this wall time or later */
export function ocppAnswers({ ocpp }: AnswerSources, device: Device, sinceMs: number): readonly Answered[] {
  const station = ocpp.ofDevice(device.index);
  if (station === null) return [];
  const calls = new Map<string, OcppMessage>();
  return station.messages({}).flatMap((message): readonly Answered[] => {
    const { direction, type, messageId } = message;
    if (messageId === null) return [];
    if (direction === 'in' && type === 'call') calls.set(messageId, message);
    const call = calls.get(messageId);
    if (direction !== 'out' || type !== 'result' || call === undefined) return [];
    calls.delete(messageId);
    const status = statusOf(message.payload);
    if (call.atMs < sinceMs || status === null || !promises.has(status)) return [];
    const exchange = exchangeOf(station, call, message, status);
    const answered = { device, station, request: call.payload, answer: message.payload, exchange };
    return claimsOf(answered).map((claim) => ({ exchange, claim }));
  });
}

function claimsOf(call: OcppCall) {
  const { command } = call.exchange;
  if (Object.hasOwn(ocppActions, command)) return ocppActions[command]?.(call) ?? [];
  if (!otherCommands.has(command)) return [];
  const subject = `${command} ${call.exchange.messageId ?? ''}`;
  const reason = 'nothing in registers or state shows it';
  return [{ name: command, value: null, unit: null, did: `sent ${command}`, found: null, subject, reason }];
}

function exchangeOf({ status: { id } }: OcppStation, call: OcppMessage, answer: OcppMessage, status: string): Exchange {
  return {
    protocol: 'ocpp',
    messageId: call.id,
    answerId: answer.id,
    peer: id,
    peerName: `OCPP central system of ${id}`,
    command: call.action ?? '',
    answer: status,
    wallMs: call.atMs,
    answeredWallMs: answer.atMs,
    at: answer.at,
  };
}
