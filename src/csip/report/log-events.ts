/** LogEvents of one EndDevice: starts and ends of alarms, and events that a user asks for. Sent in order. */
import type { CsipLogEvent, CsipLogEventRequest } from '../../contract/csip-reports.ts';
import { BackOff, fullJitter } from '../../core/net/back-off.ts';
import { Turns } from '../../core/turns.ts';
import type { LogEvent } from '../xml/documents.ts';
import type { AlarmBit } from './model.ts';
import { retryWaits } from '../transport/exchange.ts';
import { passesLater } from './sheet.ts';
import type { Sending } from './sheet.ts';
import type { LogEventIds } from './log-event-ids.ts';

/** functionSet of DER */
const derFunctionSet = 11;
/** profileID of the codes of the standard */
const standardProfile = 2;
/** enterprise number of the codes of the standard */
const standardPen = 40_732;

/** Maximum number of waiting events; beyond it the oldest is dropped. */
const maxWaiting = 500;
/** Maximum number of events kept for REST. */
const maxKept = 200;
/** Maximum length of LogEvent.details, characters. */
const maxDetails = 32;

const alarmTexts: Readonly<Record<AlarmBit, string>> = {
  0: 'over current',
  1: 'over voltage',
  2: 'under voltage',
  3: 'over frequency',
  4: 'under frequency',
  5: 'voltage imbalance',
  6: 'current imbalance',
  7: 'emergency local',
  8: 'emergency remote',
  9: 'low power input',
  10: 'phase rotation',
};

interface Entry {
  readonly event: LogEvent;
  readonly deviceIndex: number;
  result: CsipLogEvent['result'];
}

export interface LogEventOptions extends Sending {
  readonly logEventIds: Pick<LogEventIds, 'next'> & Partial<Pick<LogEventIds, 'alarms' | 'takeWaiting' | 'keep'>>;
}

export class LogEvents {
  readonly #options: LogEventOptions;
  readonly #backOff: BackOff;
  /** oldest first */
  #entries: Entry[] = [];
  readonly #waiting: Entry[] = [];
  readonly #turns = new Turns();
  readonly #alarms = new Map<number, ReadonlySet<AlarmBit>>();
  #href: string | null = null;
  #cancelRetry: (() => void) | null = null;
  /** the last answer was 404 */
  #lost = false;
  #stopped = false;
  /** resolves when the events so far are stored: they are sent only then */
  #stored: Promise<void> | undefined;
  /** true if alarms are sent */
  enabled = true;

  constructor(options: LogEventOptions) {
    this.#options = options;
    const { logEventIds } = options;
    for (const [deviceIndex, bits] of logEventIds.alarms ?? []) this.#alarms.set(deviceIndex, new Set(bits));
    for (const waiting of logEventIds.takeWaiting?.() ?? []) this.#queue({ ...waiting, result: 'queued' });
    this.#backOff = new BackOff(fullJitter(retryWaits, options.jitter));
  }

  get href(): string | null {
    return this.#href;
  }

  /** newest first */
  get events(): readonly CsipLogEvent[] {
    return this.#entries
      .map(({ event, deviceIndex, result }) => ({
        createdServerMs: event.createdDateTime * 1000,
        functionSet: event.functionSet,
        code: event.logEventCode,
        eventId: event.logEventID,
        pen: event.logEventPEN,
        profileId: event.profileID,
        details: event.details ?? null,
        deviceIndex,
        result,
      }))
      .reverse();
  }

  follow(href: string | null): void {
    this.#href = href;
    if (href !== null) void this.#send();
  }

  /** Queues, if `enabled`, an event for each alarm of a device that has started or ended since the last call. */
  updateAlarms(deviceIndex: number, alarms: ReadonlySet<AlarmBit>, nowS: number): void {
    const before = this.#alarms.get(deviceIndex);
    this.#alarms.set(deviceIndex, alarms);
    const begun = [...alarms].filter((bit) => before?.has(bit) !== true);
    const ended = [...(before ?? [])].filter((bit) => !alarms.has(bit));
    if (begun.length === 0 && ended.length === 0) return;
    if (!this.enabled) {
      this.#keep();
      return;
    }
    for (const bit of begun) this.#add(deviceIndex, nowS, alarmEvent(bit, true));
    for (const bit of ended) this.#add(deviceIndex, nowS, alarmEvent(bit, false));
  }

  /** Queues an event of a user and sends the queue. @returns a promise that resolves after the attempt */
  request(deviceIndex: number, nowS: number, request: CsipLogEventRequest): Promise<void> {
    this.#add(deviceIndex, nowS, request);
    return this.#send();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelRetry?.();
  }

  #add(deviceIndex: number, nowS: number, { code, functionSet = derFunctionSet, details }: CsipLogEventRequest): void {
    const event: LogEvent = {
      createdDateTime: nowS,
      ...(details !== undefined && { details: details.slice(0, maxDetails) }),
      functionSet,
      logEventCode: code,
      logEventID: this.#options.logEventIds.next(),
      logEventPEN: standardPen,
      profileID: standardProfile,
    };
    this.#queue({ event, deviceIndex, result: 'queued' });
    if (this.#waiting.length > maxWaiting) this.#settle('dropped');
    else this.#keep();
    void this.#send();
  }

  #queue(entry: Entry): void {
    this.#entries = [...this.#entries, entry].slice(-maxKept);
    this.#waiting.push(entry);
  }

  /** Stores the alarms and the events that wait; a reporter that has taken over stores its own. */
  #keep(): void {
    if (this.#stopped) return;
    const waiting = this.#waiting.map(({ event, deviceIndex }) => ({ event, deviceIndex }));
    const alarms = Array.from(this.#alarms, ([deviceIndex, bits]) => [deviceIndex, [...bits]] as const);
    this.#stored = this.#options.logEventIds.keep?.(alarms, waiting);
  }

  #settle(result: CsipLogEvent['result']): void {
    const entry = this.#waiting.shift();
    if (entry !== undefined) entry.result = result;
    this.#keep();
  }

  #send(): Promise<void> {
    return this.#turns.take(() => this.#run());
  }

  async #run(): Promise<void> {
    this.#cancelRetry?.();
    while (this.#href !== null && !this.#stopped) {
      const [entry] = this.#waiting;
      if (entry === undefined) return;
      if (this.#stored !== undefined) await this.#stored;
      const status = await this.#post(this.#href, entry);
      // the full queue may have dropped the entry meanwhile
      if (entry.result !== 'queued') continue;
      if (status === null || passesLater(status)) {
        this.#retry();
        return;
      }
      this.#backOff.reset();
      this.#settle(status < 400 ? 'sent' : 'refused');
    }
  }

  #retry(): void {
    if (this.#stopped) return;
    this.#cancelRetry = this.#options.later(this.#backOff.nextMs(), () => void this.#send());
  }

  /** @returns the status; null: no answer */
  async #post(href: string, { event, deviceIndex }: Entry): Promise<number | null> {
    const { exchange, onLost } = this.#options;
    try {
      const body = { name: 'LogEvent', value: event } as const;
      const { status } = await exchange.request({ method: 'POST', href, resource: 'LogEvent', body, deviceIndex });
      if (status === 404 && !this.#lost) onLost('LogEvent');
      this.#lost = status === 404;
      return status;
    } catch {
      return null;
    }
  }
}

function alarmEvent(bit: AlarmBit, begins: boolean): CsipLogEventRequest {
  return { code: begins ? 2 * bit : 2 * bit + 1, details: `${alarmTexts[bit]}${begins ? '' : ', normal again'}` };
}
