/** Messages of a station in the wire log, their list for REST, and the findings about its central system. */
import type { OcppMessage, OcppMessageFilter, OcppFinding, OcppFindingKind } from '../../contract/ocpp.ts';
import type { WireChannel, WireEntry, WireLog } from '../../core/wire/wire-log.ts';
import { isObject, isTooDeep } from './frames.ts';
import type { FrameFacts } from './outlet.ts';

// Redaction removes secrets from frames before they are kept: passwords of basic authentication, credentials and
// queries of URLs, private keys. Names are compared without case, as keys of 1.6 are.

const hidden = '(hidden)';
const maxDepth = 64;

/** keys of 1.6 and variables of 2.x whose value is a secret */
const secretName = /authorization_?key|basic_?auth_?password/i;
/** members of any payload that are secrets: SetNetworkProfile, and what vendors send */
const secretMember = /authorization_?key|password|passwd|secret|private_?key|sim_?pin/i;
/** a run of characters that may be a URL */
const word = /[^\s"<>]+/g;
const privateKey = /PRIVATE KEY/i;
/** A frame without a match has no secret; a backslash matches, since escapes could hide a secret. */
const suspicious = /authorization|passw|secret|private|sim_?pin|"vpn"|:\/\/|\\|@/i;
/** A text that is not JSON is kept only without a match: then it cannot be about a secret. */
const suspiciousText =
  /auth|passw|secret|key|:\/\/|\\|@|ChangeConfiguration|SetVariables|SetNetworkProfile|DataTransfer/i;

/** Members of an entry about a secret that are not secret themselves. */
const harmless = new Set(['key', 'readonly', 'status', 'attributeStatus', 'attributeType', 'component', 'variable']);

/** True if a value is the name of a secret, directly or as `{name}` or a list of names. */
const mentions = (value: unknown): boolean => {
  if (typeof value === 'string') return secretName.test(value);
  if (Array.isArray(value)) return value.some((each) => typeof each === 'string' && mentions(each));
  return isObject(value) && typeof value.name === 'string' && secretName.test(value.name);
};

function hideAll(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) return hidden;
  if (typeof value === 'string' || typeof value === 'number') return hidden;
  if (Array.isArray(value)) return value.map((each) => hideAll(each, depth + 1));
  if (!isObject(value)) return value;
  return mapMembers(value, (_, each) => hideAll(each, depth + 1));
}

function mapMembers(value: object, change: (name: string, member: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(name, member)]));
}

/**
 * Hides credentials before the host of a URL, also where the password has slashes or at signs, and query and fragment,
 * which may hold a token. By hand: an expression that looks for the last at sign from each scheme takes minutes for a
 * hostile text.
 */
function withoutUrlSecrets(text: string): string {
  return text.replace(word, (each) => {
    const scheme = each.indexOf('://');
    if (scheme < 0) return each;
    const start = scheme + 3;
    const at = each.lastIndexOf('@');
    const query = each.slice(start).search(/[?#]/) + start;
    // an at sign after a question mark may belong to a password or to a query
    if (query >= start && query < at) return `${each.slice(0, start)}${hidden}`;
    const end = query < start ? each.length : query + 1;
    const host = at < start ? each.slice(0, end) : `${each.slice(0, start)}${hidden}${each.slice(at, end)}`;
    return end < each.length ? `${host}${hidden}` : host;
  });
}

function cleanText(text: string, secretTexts: readonly string[]): string {
  if (privateKey.test(text)) return hidden;
  // text inside text, for example JSON in the data of a DataTransfer
  if (secretMember.test(text) && text.length > 40) return hidden;
  return withoutSecretTexts(withoutUrlSecrets(text), secretTexts);
}

/** Hides the present secrets of the station in a text that is no frame. */
export function withoutSecretTexts(text: string, secretTexts: readonly string[]): string {
  return secretTexts.reduce((clean, secret) => clean.replaceAll(secret, hidden), text);
}

function cleaned(value: unknown, secretTexts: readonly string[], inside: string, depth: number): unknown {
  if (depth > maxDepth) return hidden;
  if (typeof value === 'string') return cleanText(value, secretTexts);
  if (Array.isArray(value)) return value.map((each) => cleaned(each, secretTexts, inside, depth + 1));
  if (!isObject(value)) return value;
  const aboutSecret = Object.entries(value).some(([name, member]) => name !== 'unknownKey' && mentions(member));
  const redacted = mapMembers(value, (name, member) => {
    if (secretMember.test(name) || (inside === 'vpn' && name === 'key')) return hideAll(member);
    if (aboutSecret && !harmless.has(name)) return hideAll(member);
    return cleaned(member, secretTexts, name, depth + 1);
  });
  // a name can be a secret too, by mistake of a peer or of a negative test
  return Object.fromEntries(
    Object.entries(redacted).map(([name, member]) => [withoutSecretTexts(name, secretTexts), member]),
  );
}

/**
 * The text of a frame without secrets.
 * @param secretTexts present secrets of the station, in every form in which a text may contain them
 */
export function redacted(text: string, secretTexts: readonly string[] = []): string {
  if (!suspicious.test(text) && !secretTexts.some((secret) => text.includes(secret))) return text;
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return suspiciousText.test(text) || secretTexts.some((secret) => text.includes(secret)) ? hidden : text;
  }
  return JSON.stringify(cleaned(frame, secretTexts, '', 0));
}

type OcppFacts = Omit<FrameFacts, 'direction'>;
export type OcppChannel = WireChannel<OcppFacts, unknown, string>;

const maxEntries = 1000;
const maxBytes = 1024 * 1024;
const maxMessageBytes = 64 * 1024;

/** @param secrets reads the present secrets of the station */
export function ocppChannel(wireLog: WireLog, stationId: string, secrets: () => readonly string[]): OcppChannel {
  const channel: OcppChannel = wireLog.channel<OcppFacts, unknown, string>({
    protocol: 'ocpp',
    key: stationId,
    entries: maxEntries,
    bytes: maxBytes,
    messageBytes: maxMessageBytes,
    text: true,
    report: ({ facts: { messageId, action, durationMs } }) => ({
      message_id: messageId,
      action,
      duration_ms: durationMs,
    }),
    redact(message) {
      const secretTexts = secrets();
      const clean = redacted(message.raw, secretTexts);
      const { messageId, action } = message.facts;
      // the text of an answer does not contain its action
      const cleanAction = action === null ? null : redacted(action, secretTexts);
      if (clean === message.raw && cleanAction === action) return message;
      return {
        ...message,
        summary: cleanAction ?? '',
        raw: clean,
        facts: {
          ...message.facts,
          messageId: messageId === null ? null : redacted(messageId, secretTexts),
          action: cleanAction,
        },
      };
    },
    decode({ raw }) {
      return JSON.parse(raw.toString()) as unknown;
    },
  });
  // from the first message on: users ask for messages after something has gone wrong
  channel.record(true, { source: 'default' });
  return channel;
}

/** Records a frame; to be called only while the channel is `active`. @returns its id in the wire log */
export function recordFrame(
  channel: OcppChannel,
  { direction, type, messageId, action, durationMs }: FrameFacts,
  text: string,
  { peer, deviceIndex }: { readonly peer: string; readonly deviceIndex: number },
): number {
  // member by member: this runs for every frame, and a spread costs several times as much
  const facts = { type, messageId, action, durationMs };
  return channel.push({ direction, peer, deviceIndex, kind: type, summary: action ?? '', raw: text, facts });
}

/** The payload for REST; the text of a frame that is incomplete or has too many levels. */
function payloadOf(channel: OcppChannel, entry: WireEntry<OcppFacts>): unknown {
  const asText = () => entry.raw.toString();
  if (isTooDeep(asText())) return asText();
  const frame = channel.decode(entry);
  if (!Array.isArray(frame)) return asText();
  const [, , first, second, third] = frame as readonly unknown[];
  switch (entry.facts.type) {
    case 'call':
    case 'send':
      return second ?? null;
    case 'result':
      return first ?? null;
    case 'error':
    case 'result_error':
      return { code: first ?? null, description: second ?? null, details: isObject(third) ? third : {} };
    case 'invalid':
      return asText();
  }
}

export interface OcppMessageBook {
  /** oldest first */
  list(filter: OcppMessageFilter): readonly OcppMessage[];
}

export function messageBook(channel: OcppChannel): OcppMessageBook {
  return {
    list({ afterId, toId, action, direction, limit }) {
      const entries = channel.list({
        ...(afterId !== undefined && { afterId }),
        ...(toId !== undefined && { toId }),
        ...(limit !== undefined && { limit }),
        where: (entry) =>
          (action === undefined || entry.facts.action === action) &&
          (direction === undefined || entry.direction === direction),
      });
      return entries.map((entry) => {
        const { type, messageId, action: entryAction, durationMs } = entry.facts;
        return {
          id: entry.id,
          atMs: entry.wallMs,
          at: entry.sim,
          direction: entry.direction,
          type,
          messageId,
          action: entryAction,
          payload: payloadOf(channel, entry),
          durationMs,
          truncated: entry.rawLength > entry.raw.length,
        };
      });
    },
  };
}

/** Maximum of findings kept for a station. */
const maxFindings = 200;

const maxTextLength = 500;
/** Maximum characters of an action or message id, whose length the peer determines. */
const maxNameLength = 64;

type NewFinding = Omit<OcppFinding, 'id' | 'atMs'>;

/** Errors of the central system of a station, of two kinds: against a schema and against a rule. */
interface Findings {
  /** newest first */
  readonly list: readonly OcppFinding[];
  /** findings since the start, also those no longer in the list */
  readonly counts: Readonly<Record<OcppFindingKind, number>>;
  add(finding: NewFinding): void;
  /** Empties the list; counts and ids continue. */
  clear(): void;
}

const cut = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length)}...`);

/**
 * @param nowMs ms since the epoch
 * @param hideSecrets removes secrets of the station from words: a central system may have them as an action or id
 */
export function createFindings(nowMs: () => number, hideSecrets: (text: string) => string = (text) => text): Findings {
  const nameOf = (name: string | null) => (name === null ? null : cut(hideSecrets(name), maxNameLength));
  let newestFirst: OcppFinding[] = [];
  let lastId = 0;
  const counts = { schema: 0, rule: 0 };
  return {
    get list() {
      return [...newestFirst];
    },
    get counts() {
      return { ...counts };
    },
    add({ kind, action, messageId, clause, text }) {
      lastId += 1;
      counts[kind] += 1;
      newestFirst.unshift({
        id: lastId,
        atMs: nowMs(),
        kind,
        action: nameOf(action),
        messageId: nameOf(messageId),
        clause,
        text: cut(hideSecrets(text), maxTextLength),
      });
      if (newestFirst.length > maxFindings) newestFirst.length = maxFindings;
    },
    clear() {
      newestFirst = [];
    },
  };
}
