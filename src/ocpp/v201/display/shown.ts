/** What a display shows at one instant, as a function of the messages and of the state of its EVSE. */
import type { MessageContent, MessageStateEnum } from '../messages.ts';
import { contentFor } from './model.ts';
import type { ShownText, StoredMessage } from './model.ts';

export interface Screen {
  /** 0: the display of the station, which shows what belongs to no EVSE */
  readonly evseId: number;
  /** of the EVSE; of the station: those of all its EVSEs */
  readonly states: readonly MessageStateEnum[];
  /** remote time, ms since the epoch */
  readonly nowMs: number;
  /** wanted ones, best first */
  readonly languages: readonly string[];
}

/** Whether a message stands on a display now, whatever else does. */
function applies({ info, evseId, fromMs, untilMs }: StoredMessage, { evseId: here, states, nowMs }: Screen): boolean {
  if (evseId !== 0 && evseId !== here) return false;
  if (fromMs !== null && nowMs < fromMs) return false;
  if (untilMs !== null && nowMs >= untilMs) return false;
  return info.state === undefined || states.includes(info.state);
}

function shownText({ id, priority, message, messageExtra = [] }: StoredMessage['info'], wanted: readonly string[]) {
  const { content, format, language = null } = contentFor([message, ...messageExtra], wanted);
  return { messageId: id, priority, format, language, text: content };
}

function ownText(contents: readonly [MessageContent, ...MessageContent[]], wanted: readonly string[]): ShownText {
  const { content, format, language = null } = contentFor(contents, wanted);
  return { messageId: null, priority: 'NormalCycle', format, language, text: content };
}

/**
 * The texts between which a display changes now. A message that stands always in front stands alone; messages in front
 * keep the normal cycle from the display, to which the texts of the station itself belong.
 * @param messages in the order of their arrival
 * @param own texts of the station, each in one or more languages
 */
export function shownTexts(
  messages: readonly StoredMessage[],
  own: readonly (readonly [MessageContent, ...MessageContent[]])[],
  screen: Screen,
): readonly ShownText[] {
  const here = messages.filter((message) => applies(message, screen));
  const of = (wanted: StoredMessage['info']['priority']) => here.filter(({ info }) => info.priority === wanted);
  const text = ({ info }: StoredMessage) => shownText(info, screen.languages);
  const always = of('AlwaysFront').at(-1);
  if (always !== undefined) return [text(always)];
  const front = of('InFront');
  if (front.length > 0) return front.map(text);
  return [...own.map((contents) => ownText(contents, screen.languages)), ...of('NormalCycle').map(text)];
}
