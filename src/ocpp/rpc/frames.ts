/** Frames of OCPP-J (section 4.2 of 1.6, 4.2 of 2.x): reading with the fault named, and the text of what is sent. */
import { frameTypes } from './model.ts';
import type { OcppSubprotocol, Payload } from './model.ts';

/**
 * What is wrong with a frame. `unreadable`: no JSON array, or no id; `number`: its type is none of the standard;
 * `broken`: an action that is no text, or a payload that is no object.
 */
export type FrameProblem = 'unreadable' | 'number' | 'broken';

export type Frame =
  | { readonly kind: 'call' | 'send'; readonly id: string; readonly action: string; readonly payload: Payload }
  | { readonly kind: 'result'; readonly id: string; readonly payload: Payload }
  | {
      readonly kind: 'error' | 'result_error';
      readonly id: string;
      readonly code: string;
      readonly description: string;
      readonly details: unknown;
    }
  | {
      readonly kind: 'invalid';
      readonly problem: FrameProblem;
      /** null: it cannot be read */
      readonly id: string | null;
      /** null: no number */
      readonly number: number | null;
    };

/** J 4.1.4; longer ones of a peer are tolerated up to `maxForeignId`, beyond which an answer would repeat anything. */
export const maxIdLength = 36;
const maxForeignId = 255;
const maxDescription = 255;

export function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const kinds: Readonly<Record<number, Exclude<Frame['kind'], 'invalid'>>> = {
  [frameTypes.call]: 'call',
  [frameTypes.result]: 'result',
  [frameTypes.error]: 'error',
  [frameTypes.resultError]: 'result_error',
  [frameTypes.send]: 'send',
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Reads a parsed frame. Never throws. */
export function readFrame(value: unknown): Frame {
  const [number, id, ...rest] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const invalid = (problem: FrameProblem): Frame => ({
    kind: 'invalid',
    problem,
    id: typeof id === 'string' && id.length <= maxForeignId ? id : null,
    number: typeof number === 'number' ? number : null,
  });
  if (typeof number !== 'number') return invalid('unreadable');
  const kind = kinds[number];
  if (kind === undefined) return invalid('number');
  if (typeof id !== 'string' || id.length > maxForeignId) return invalid('unreadable');
  if (kind === 'error' || kind === 'result_error') {
    const [code, description, details = {}] = rest;
    if (typeof code !== 'string') return invalid('broken');
    return { kind, id, code, description: text(description), details };
  }
  if (kind === 'result') {
    const [payload] = rest;
    return isObject(payload) ? { kind, id, payload } : invalid('broken');
  }
  const [action, payload] = rest;
  if (typeof action !== 'string' || !isObject(payload)) return invalid('broken');
  return { kind, id, action, payload };
}

/** Reads the text of a frame. Never throws. */
export function parseFrame(json: string): Frame {
  try {
    return readFrame(JSON.parse(json));
  } catch {
    return readFrame(null);
  }
}

/** A frame to be sent. */
export type OutFrame =
  | { readonly kind: 'call' | 'send'; readonly id: string; readonly action: string; readonly payload: Payload }
  | { readonly kind: 'result'; readonly id: string; readonly payload: Payload }
  | {
      readonly kind: 'error' | 'result_error';
      readonly id: string;
      readonly code: string;
      readonly description: string;
      readonly details: Payload;
    };

export function frameText(frame: OutFrame): string {
  switch (frame.kind) {
    case 'call':
      return JSON.stringify([frameTypes.call, frame.id, frame.action, frame.payload]);
    case 'send':
      return JSON.stringify([frameTypes.send, frame.id, frame.action, frame.payload]);
    case 'result':
      return JSON.stringify([frameTypes.result, frame.id, frame.payload]);
    case 'error':
    case 'result_error': {
      const number = frame.kind === 'error' ? frameTypes.error : frameTypes.resultError;
      return JSON.stringify([number, frame.id, frame.code, frame.description.slice(0, maxDescription), frame.details]);
    }
  }
}

/** The code for a payload that is missing or no object, or a frame whose parts are (1.6 table 7, 2.x table 8). */
export function brokenCode(version: OcppSubprotocol): string {
  return version === 'ocpp1.6' ? 'FormationViolation' : 'FormatViolation';
}

/**
 * The CALLERROR that answers an invalid frame; null: none is allowed. Answers are never answered. An unreadable id is
 * `-1` in 2.x, and 1.6 has no word for it; unknown types are refused in 2.0.1 only, since 2.1 tells to ignore them
 * (J 4.1.3).
 */
export function answerToInvalid(
  version: OcppSubprotocol,
  frame: Extract<Frame, { readonly kind: 'invalid' }>,
): OutFrame | null {
  const error = (id: string, code: string, description: string): OutFrame => {
    return { kind: 'error', id, code, description, details: {} };
  };
  if (frame.problem === 'number') {
    if (version !== 'ocpp2.0.1' || frame.id === null) return null;
    return error(frame.id, 'MessageTypeNotSupported', 'this message type is not known');
  }
  if (frame.number !== null && frame.number !== frameTypes.call) return null;
  if (frame.problem === 'unreadable')
    return version === 'ocpp1.6' ? null : error('-1', 'RpcFrameworkError', 'the frame or its id cannot be read');
  if (frame.id === null) return null;
  return error(frame.id, brokenCode(version), 'the action must be text and the payload an object');
}
