/** The displays of a station: messages of the central system and texts of the station (block O). */
import type { OcppShownText } from '../../contract/ocpp.ts';
import { instant, place, readEach, recordOf } from '../../core/slot-values.ts';
import type { JsonValue } from '../../core/store.ts';
import { errorCode } from '../rpc/frames.ts';
import { CallError } from '../rpc/model.ts';
import { createSaver, instantOf } from '../station/stack.ts';
import type {
  MessageContent,
  MessageInfo,
  MessageStateEnum,
  DisplayMessageStatusEnum,
  MessageFormatEnum,
  MessagePriorityEnum,
  StatusInfo,
} from './messages.ts';
import type { Handler, Part, Requests, StationParts, Transactions } from './parts.ts';
import { clauseOf } from './provisioning/registration.ts';
import { messageInfoIn } from './stored.ts';
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import type { Version2 } from '../station/stack.ts';

/** maximum messages of a station: `maxLimit` of DisplayMessages */
export const maxMessages = 50;

/** supported languages in 2.1, as tags of RFC 5646; the first one is the default */
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
interface StoredMessage {
  readonly info: MessageInfo;
  /** EVSE of the transaction or display that the message names; 0: every display */
  readonly evseId: number;
  /** ms since the epoch; null: at once */
  readonly fromMs: number | null;
  /** ms since the epoch, when the message is removed; null: never */
  readonly untilMs: number | null;
}

/**
 * The state of an EVSE in the terms of display messages. 2.0.1 has neither Suspended nor Discharging: a suspended
 * session does not charge, so it counts as Idle, and discharging counts as Charging.
 */
function messageState(
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
 * The content in the first preferred language that a content has; else the first content.
 * @param contents at least one
 */
function contentFor(
  contents: readonly [MessageContent, ...MessageContent[]],
  preferred: readonly string[],
): MessageContent {
  for (const tag of preferred) {
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
  /** null: the version has no list, and any language is accepted */
  readonly languages: readonly string[] | null;
  readonly evseIds: readonly number[];
  /** time of the central system, ms since the epoch */
  readonly nowMs: number;
  /** EVSE of a running transaction; null: none runs with this id */
  readonly evseOf: (transactionId: string) => number | null;
}

interface Refusal {
  readonly status: Exclude<DisplayMessageStatusEnum, 'Accepted'>;
  readonly statusInfo?: StatusInfo;
}

const rejected = (reasonCode: string, additionalInfo: string): Refusal => ({
  status: 'Rejected',
  statusInfo: { reasonCode, additionalInfo },
});

const printable = /^[\t\n\r\x20-\x7e]*$/;

/** The refusal of a content that is not of its format; null: none. */
function contentIssue({ format, content }: MessageContent): Refusal | null {
  if (format === 'ASCII' && !printable.test(content)) return rejected('InvalidValue', 'the content is not ASCII');
  if (format === 'URI' && !URL.canParse(content)) return rejected('InvalidURL', 'the content is not a URI');
  return null;
}

function contentsIssue(info: MessageInfo, { formats, languages }: DisplayFacts): Refusal | null {
  const contents = [info.message, ...(info.messageExtra ?? [])];
  if (contents.some(({ format }) => !formats.includes(format))) return { status: 'NotSupportedMessageFormat' };
  const isSupported = (tag: string) => languages === null || languages.some((each) => sameLanguage(each, tag));
  if (contents.some(({ language }) => language !== undefined && !isSupported(language)))
    return { status: 'LanguageNotSupported' };
  return contents.map(contentIssue).find((issue) => issue !== null) ?? null;
}

/** The EVSE on whose display a message is shown, 0 for all, or the refusal of the message. */
function placeOf({ display, transactionId }: MessageInfo, { evseIds, evseOf }: DisplayFacts): number | Refusal {
  const displayEvse = display?.evse?.id ?? 0;
  if (display !== undefined) {
    if (display.name.toLowerCase() !== 'display') return rejected('NotFound', 'there is no such display');
    if (displayEvse !== 0 && !evseIds.includes(displayEvse)) return rejected('UnknownEvse', 'there is no such EVSE');
  }
  if (transactionId === undefined) return displayEvse;
  const transactionEvse = evseOf(transactionId);
  if (transactionEvse === null) return { status: 'UnknownTransaction' };
  if (displayEvse !== 0 && displayEvse !== transactionEvse)
    return rejected('InvalidValue', 'the transaction runs at another EVSE than that of the display');
  return transactionEvse;
}

/** A valid message to be stored, or its refusal. */
function checkedMessage(info: MessageInfo, facts: DisplayFacts): StoredMessage | Refusal {
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

/** True if a new message replaces an old one: both have one id, or both are AlwaysFront on one display. */
function isReplaced(old: StoredMessage, by: StoredMessage): boolean {
  if (old.info.id === by.info.id) return true;
  return old.info.priority === 'AlwaysFront' && by.info.priority === 'AlwaysFront' && old.evseId === by.evseId;
}

// Content of a display at one instant, as a function of the messages and of the state of its EVSE.

interface Screen {
  /** 0: the display of the station, which shows what belongs to no EVSE */
  readonly evseId: number;
  /** state of the EVSE; for the display of the station, states of all EVSEs */
  readonly states: readonly MessageStateEnum[];
  /** time of the central system, ms since the epoch */
  readonly nowMs: number;
  /** preferred languages, best first */
  readonly languages: readonly string[];
}

/** True if a message applies to a display now, regardless of other messages. */
function applies(
  { info, evseId, fromMs, untilMs }: StoredMessage,
  { evseId: screenEvse, states, nowMs }: Screen,
): boolean {
  if (evseId !== 0 && evseId !== screenEvse) return false;
  if (fromMs !== null && nowMs < fromMs) return false;
  if (untilMs !== null && nowMs >= untilMs) return false;
  return info.state === undefined || states.includes(info.state);
}

function shownText({ id, priority, message, messageExtra = [] }: StoredMessage['info'], preferred: readonly string[]) {
  const { content, format, language = null } = contentFor([message, ...messageExtra], preferred);
  return { messageId: id, priority, format, language, text: content };
}

function stationText(
  contents: readonly [MessageContent, ...MessageContent[]],
  preferred: readonly string[],
): OcppShownText {
  const { content, format, language = null } = contentFor(contents, preferred);
  return { messageId: null, priority: 'NormalCycle', format, language, text: content };
}

/**
 * The texts through which a display cycles now. An AlwaysFront message is shown alone; InFront messages hide the normal
 * cycle, which includes the texts of the station itself.
 * @param messages in the order of their arrival
 * @param ofDisplay texts of the station, each in one or more languages
 */
function shownTexts(
  messages: readonly StoredMessage[],
  ofDisplay: readonly (readonly [MessageContent, ...MessageContent[]])[],
  screen: Screen,
): readonly OcppShownText[] {
  const applicable = messages.filter((message) => applies(message, screen));
  const withPriority = (priority: MessagePriorityEnum) => applicable.filter(({ info }) => info.priority === priority);
  const text = ({ info }: StoredMessage) => shownText(info, screen.languages);
  const alwaysFront = withPriority('AlwaysFront').at(-1);
  if (alwaysFront !== undefined) return [text(alwaysFront)];
  const inFront = withPriority('InFront');
  if (inFront.length > 0) return inFront.map(text);
  return [
    ...ofDisplay.map((contents) => stationText(contents, screen.languages)),
    ...withPriority('NormalCycle').map(text),
  ];
}

export interface DisplayDeps {
  readonly transactions: Pick<Transactions, 'byId' | 'onEnded'>;
  /** Texts of the station for the display of an EVSE, each in one or more languages; default none. */
  readonly ownTexts?: (evseId: number) => readonly (readonly [MessageContent, ...MessageContent[]])[];
  /** Languages of the driver at an EVSE, best first; default none. */
  readonly languagesAt?: (evseId: number) => readonly string[];
}

interface Display extends Part {
  /** The texts through which a display cycles now. @param evseId 0: the display of the station */
  shown(evseId: number): readonly OcppShownText[];
  /** stored messages, in the order of their arrival */
  readonly messages: readonly MessageInfo[];
}

/** messages in one NotifyDisplayMessages */
const perReport = 5;

/** The messages of a station, kept over a restart; each is removed at its end. */
function createMessageStore({ clock, store, log, version }: StationParts) {
  let storedMessages: readonly StoredMessage[] = [];
  let cancelEnds: readonly (() => void)[] = [];
  const saver = createSaver(store('display'), () => storedMessages as unknown as readonly JsonValue[], log);

  function plan(): void {
    for (const cancel of cancelEnds) cancel();
    cancelEnds = storedMessages.flatMap(({ untilMs }) =>
      untilMs === null
        ? []
        : [
            clock.at(untilMs, () => {
              // the clock may call a moment early
              sweep(Math.max(untilMs, clock.nowMs()));
            }),
          ],
    );
  }
  function put(messages: readonly StoredMessage[]): void {
    storedMessages = messages;
    plan();
    saver.save();
  }
  function removeWhere(matches: (message: StoredMessage) => boolean): boolean {
    const remaining = storedMessages.filter((message) => !matches(message));
    if (remaining.length === storedMessages.length) return false;
    put(remaining);
    return true;
  }
  function sweep(nowMs = clock.nowMs()): void {
    removeWhere(({ untilMs }) => untilMs !== null && untilMs <= nowMs);
  }
  return {
    get all() {
      return storedMessages;
    },
    put,
    removeWhere,
    sweep,
    async load(): Promise<void> {
      const form = recordOf<StoredMessage>({
        info: messageInfoIn(version),
        evseId: place,
        fromMs: instant.nullable(),
        untilMs: instant.nullable(),
      });
      storedMessages = await readEach(store('display'), form, log);
      plan();
    },
    stop(): void {
      for (const cancel of cancelEnds) cancel();
      cancelEnds = [];
    },
  };
}

type MessageStore = ReturnType<typeof createMessageStore>;

/** True if GetDisplayMessages selects a message. */
function isSelected({ info }: StoredMessage, { id, priority, state }: Requests['GetDisplayMessages']): boolean {
  if (id !== undefined && !id.includes(info.id)) return false;
  if (priority !== undefined && info.priority !== priority) return false;
  return state === undefined || info.state === state;
}

/** Sends NotifyDisplayMessages in parts, one after the other; a part that is not answered ends the report. */
async function report({ calls }: StationParts, requestId: number, messages: readonly MessageInfo[]): Promise<void> {
  for (let at = 0; at < messages.length; at += perReport) {
    const tbc = at + perReport < messages.length;
    const messageInfo = messages.slice(at, at + perReport);
    const { kind } = await calls.send('NotifyDisplayMessages', { requestId, messageInfo, tbc }, { triggered: true });
    if (kind !== 'result' && kind !== 'error') return;
  }
}

function setMessage(
  parts: StationParts,
  deps: DisplayDeps,
  messageStore: MessageStore,
  info: MessageInfo,
): Refusal | { readonly status: 'Accepted' } {
  const { version, device, clock, variables } = parts;
  if (!variables.boolean('DisplayMessageCtrlr', 'Enabled'))
    return { status: 'Rejected', statusInfo: { reasonCode: 'NotEnabled', additionalInfo: 'displays are disabled' } };
  const message = checkedMessage(info, {
    formats: formats[version],
    priorities,
    states: states[version],
    languages: version === 'ocpp2.1' ? languages : null,
    evseIds: device.connectorIds,
    nowMs: clock.nowMs(),
    evseOf: (transactionId) => deps.transactions.byId(transactionId)?.evseId ?? null,
  });
  if ('status' in message) return message;
  const remaining = messageStore.all.filter((old) => !isReplaced(old, message));
  if (remaining.length >= maxMessages) {
    const additionalInfo = `the station keeps ${maxMessages} messages`;
    return { status: 'Rejected', statusInfo: { reasonCode: 'TooManyElements', additionalInfo } };
  }
  messageStore.put([...remaining, message]);
  return { status: 'Accepted' };
}

function getMessages(parts: StationParts, messageStore: MessageStore): Handler<'GetDisplayMessages'> {
  const { version, finding } = parts;
  return (request, after) => {
    if (request.id !== undefined && request.id.length > maxMessages) {
      const text = `${request.id.length} ids; the station keeps at most ${maxMessages} messages`;
      finding(clauseOf(version, 'O04'), text, 'GetDisplayMessages', null);
      throw new CallError(errorCode(version, 'occurrence'), text);
    }
    messageStore.sweep();
    const messages = messageStore.all.filter((message) => isSelected(message, request)).map(({ info }) => info);
    if (messages.length === 0) return { status: 'Unknown' };
    after(() => void report(parts, request.requestId, messages));
    return { status: 'Accepted' };
  };
}

function provideCount({ variables }: StationParts, messageStore: MessageStore): void {
  variables.provide('DisplayMessageCtrlr', 'DisplayMessages', () => String(messageStore.all.length));
}

/** Load the part after the transactions, because `load` removes the messages of transactions that have ended. */
export function createDisplay(parts: StationParts, deps: DisplayDeps): Display {
  const { version, device, clock, variables } = parts;
  const messageStore = createMessageStore(parts);
  const stops: (() => void)[] = [];
  provideCount(parts, messageStore);
  const statesAt = (evseId: number) =>
    (evseId === 0 ? device.detail.connectors : [device.connector(evseId)]).map((each) => messageState(each, version));
  return {
    get messages() {
      return messageStore.all.map(({ info }) => info);
    },
    shown(evseId) {
      if (!variables.boolean('DisplayMessageCtrlr', 'Enabled')) return [];
      const preferred = version === 'ocpp2.1' ? [variables.text('DisplayMessageCtrlr', 'Language')] : [];
      return shownTexts(messageStore.all, deps.ownTexts?.(evseId) ?? [], {
        evseId,
        states: statesAt(evseId),
        nowMs: clock.nowMs(),
        languages: [...(deps.languagesAt?.(evseId) ?? []), ...preferred],
      });
    },
    handlers: {
      SetDisplayMessage: ({ message }) => {
        messageStore.sweep();
        return setMessage(parts, deps, messageStore, message);
      },
      GetDisplayMessages: getMessages(parts, messageStore),
      ClearDisplayMessage: ({ id }) => ({
        status: messageStore.removeWhere(({ info }) => info.id === id) ? 'Accepted' : 'Unknown',
      }),
    },
    async load() {
      await messageStore.load();
      messageStore.removeWhere(
        ({ info }) => info.transactionId !== undefined && deps.transactions.byId(info.transactionId) === null,
      );
      stops.push(
        deps.transactions.onEnded(({ transactionId }) => {
          messageStore.removeWhere(({ info }) => info.transactionId === transactionId);
        }),
      );
    },
    stop() {
      messageStore.stop();
      for (const end of stops.splice(0)) end();
    },
  };
}
