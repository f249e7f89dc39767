/** Messages of the central system for the displays of a station (block O). */
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import type {
  MessageContent,
  MessageFormatEnum,
  MessageInfo,
  MessagePriorityEnum,
  MessageStateEnum,
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

/** Whether two language tags name the same language, whatever the region. */
export function sameLanguage(a: string, b: string): boolean {
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
    const found = contents.find(({ language }) => language !== undefined && sameLanguage(language, tag));
    if (found !== undefined) return found;
  }
  return contents[0];
}
