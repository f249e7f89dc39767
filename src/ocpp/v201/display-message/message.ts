/** Messages of the central system for the displays of a station (block O). */
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import { instantOf } from '../../station/stack.ts';
import type {
  DisplayMessageStatusEnum,
  MessageContent,
  MessageFormatEnum,
  MessageInfo,
  MessagePriorityEnum,
  MessageStateEnum,
  StatusInfo,
} from '../messages.ts';
import type { Version2 } from '../version.ts';

/** messages that a station keeps: `maxLimit` of DisplayMessages */
export const maxMessages = 50;

/** languages for which 2.1 lists support, by the tag of RFC 5646; the first one is the default */
export const languages = ['en', 'de', 'fr', 'nl', 'es', 'it', 'pt', 'da', 'sv', 'nb', 'fi', 'pl', 'cs'] as const;

export const formats: Readonly<Record<Version2, readonly MessageFormatEnum[]>> = {
  'ocpp2.0.1': ['ASCII', 'HTML', 'URI', 'UTF8'],
  'ocpp2.1': ['ASCII', 'HTML', 'URI', 'UTF8', 'QRCODE'],
};

export const priorities: readonly MessagePriorityEnum[] = ['AlwaysFront', 'InFront', 'NormalCycle'];

export const states: Readonly<Record<Version2, readonly MessageStateEnum[]>> = {
  'ocpp2.0.1': ['Charging', 'Faulted', 'Idle', 'Unavailable'],
  'ocpp2.1': ['Charging', 'Faulted', 'Idle', 'Unavailable', 'Suspended', 'Discharging'],
};

/** A message as the station keeps it. */
export interface StoredMessage {
  readonly info: MessageInfo;
  /** the EVSE on whose display it stands: that of its transaction or of its display; 0: every display */
  readonly evseId: number;
  /** ms since the epoch; null: at once */
  readonly fromMs: number | null;
  /** ms since the epoch, from which it is not shown and not kept any more; null: it stays */
  readonly untilMs: number | null;
}

/** A text on a display. */
export interface ShownText {
  /** null: a text of the station itself, for example the cost of a transaction */
  readonly messageId: number | null;
  readonly priority: MessagePriorityEnum;
  readonly format: MessageFormatEnum;
  /** null: the message names none */
  readonly language: string | null;
  readonly text: string;
}

/**
 * The state of an EVSE as messages name it. 2.0.1 has no word for a suspended session and for discharging: the first
 * does not charge, so it is idle, and the second moves energy as charging does.
 */
export function messageState(
  { status, powerW }: Pick<EvseConnectorDetail, 'status' | 'powerW'>,
  version: Version2,
): MessageStateEnum {
  switch (status) {
    case 'faulted':
      return 'Faulted';
    case 'unavailable':
      return 'Unavailable';
    case 'charging':
      return version === 'ocpp2.1' && powerW < 0 ? 'Discharging' : 'Charging';
    case 'suspended_ev':
    case 'suspended_evse':
      return version === 'ocpp2.1' ? 'Suspended' : 'Idle';
    default:
      return 'Idle';
  }
}

const primary = (tag: string) => tag.toLowerCase().split('-')[0];

/** True if two language tags name the same language, whatever the region. */
function sameLanguage(a: string, b: string): boolean {
  return primary(a) === primary(b);
}

/**
 * The content in the first wanted language that there is; else the first content.
 * @param contents at least one
 */
export function contentFor(
  contents: readonly [MessageContent, ...MessageContent[]],
  wanted: readonly string[],
): MessageContent {
  for (const tag of wanted) {
    const content = contents.find(({ language }) => language !== undefined && sameLanguage(language, tag));
    if (content !== undefined) return content;
  }
  return contents[0];
}

// Rules of SetDisplayMessage (O01, O02, O06).

interface DisplayFacts {
  readonly formats: readonly MessageFormatEnum[];
  readonly priorities: readonly MessagePriorityEnum[];
  readonly states: readonly MessageStateEnum[];
  /** null: the version asks for none */
  readonly languages: readonly string[] | null;
  readonly evseIds: readonly number[];
  /** remote time, ms since the epoch */
  readonly nowMs: number;
  /** EVSE of a running transaction; null: none runs with this id */
  readonly evseOf: (transactionId: string) => number | null;
}

export interface Refusal {
  readonly status: Exclude<DisplayMessageStatusEnum, 'Accepted'>;
  readonly statusInfo?: StatusInfo;
}

const rejected = (reasonCode: string, additionalInfo: string): Refusal => ({
  status: 'Rejected',
  statusInfo: { reasonCode, additionalInfo },
});

const printable = /^[\t\n\r\x20-\x7e]*$/;

/** Null: the content is what its format says. */
function contentIssue({ format, content }: MessageContent): Refusal | null {
  if (format === 'ASCII' && !printable.test(content)) return rejected('InvalidValue', 'the content is not ASCII');
  if (format === 'URI' && !URL.canParse(content)) return rejected('InvalidURL', 'the content is no URI');
  return null;
}

function contentsIssue(info: MessageInfo, { formats, languages }: DisplayFacts): Refusal | null {
  const contents = [info.message, ...(info.messageExtra ?? [])];
  if (contents.some(({ format }) => !formats.includes(format))) return { status: 'NotSupportedMessageFormat' };
  const spoken = (tag: string) => languages === null || languages.some((each) => sameLanguage(each, tag));
  if (contents.some(({ language }) => language !== undefined && !spoken(language)))
    return { status: 'LanguageNotSupported' };
  return contents.map(contentIssue).find((issue) => issue !== null) ?? null;
}

/** @returns the EVSE on whose display the message stands, 0 for all, or why there is none */
function placeOf({ display, transactionId }: MessageInfo, { evseIds, evseOf }: DisplayFacts): number | Refusal {
  const displayEvse = display?.evse?.id ?? 0;
  if (display !== undefined) {
    if (display.name.toLowerCase() !== 'display') return rejected('NotFound', 'there is no such display');
    if (displayEvse !== 0 && !evseIds.includes(displayEvse)) return rejected('UnknownEvse', 'there is no such EVSE');
  }
  if (transactionId === undefined) return displayEvse;
  const at = evseOf(transactionId);
  if (at === null) return { status: 'UnknownTransaction' };
  if (displayEvse !== 0 && displayEvse !== at)
    return rejected('InvalidValue', 'the transaction runs at another EVSE than that of the display');
  return at;
}

/** A message ready to be kept, or why it is refused. */
export function checkedMessage(info: MessageInfo, facts: DisplayFacts): StoredMessage | Refusal {
  if (!facts.priorities.includes(info.priority)) return { status: 'NotSupportedPriority' };
  if (info.state !== undefined && !facts.states.includes(info.state)) return { status: 'NotSupportedState' };
  const issue = contentsIssue(info, facts);
  if (issue !== null) return issue;
  const evseId = placeOf(info, facts);
  if (typeof evseId !== 'number') return evseId;
  const fromMs = info.startDateTime === undefined ? null : instantOf(info.startDateTime);
  const untilMs = info.endDateTime === undefined ? null : instantOf(info.endDateTime);
  if (untilMs !== null && untilMs <= Math.max(facts.nowMs, fromMs ?? 0))
    return rejected('InvalidValue', 'the message ends before it could be shown');
  return { info, evseId, fromMs, untilMs };
}

/** Messages that a new one replaces: that with its id, and one that stands always in front of the same display. */
export function isReplaced(old: StoredMessage, by: StoredMessage): boolean {
  if (old.info.id === by.info.id) return true;
  return old.info.priority === 'AlwaysFront' && by.info.priority === 'AlwaysFront' && old.evseId === by.evseId;
}
