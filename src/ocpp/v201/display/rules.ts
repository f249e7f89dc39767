/** What SetDisplayMessage has to keep to (O01, O02, O06). */
import { instantOf } from '../../station/instants.ts';
import type {
  DisplayMessageStatusEnum,
  MessageContent,
  MessageFormatEnum,
  MessageInfo,
  MessagePriorityEnum,
  MessageStateEnum,
  StatusInfo,
} from '../messages.ts';
import { sameLanguage } from './model.ts';
import type { StoredMessage } from './model.ts';

export interface DisplayFacts {
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
