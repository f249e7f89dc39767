/** Refusals by Modbus servers and outstations for the timeline, from the lines that they log. */
import type { LogBook, LogEntry } from '../../core/log/log.ts';
import type { TimelineSink } from '../../core/timeline/timeline.ts';
import { messageRef, requestAtHand } from './messages.ts';
import type { Messages } from './messages.ts';

interface Refusal {
  readonly peer: string;
  readonly title: string;
  readonly text: string;
}

/** `<peer>, unit 1: function 16 (...) of register 40123 (704.WMaxLimPct) refused with exception 3 (...): why` */
const modbusForm = /^(\S+?)(?: \([^)]*\))?, unit \d+: (function .*) refused with (exception \d+)[^:]*: (.*)$/s;
/** The registers of a request, and their points where the map has some. */
const registersForm = / of (registers? [^(]*[^( ])(?: \((.*)\))?$/s;
/** `operate W = 5 by master 127.0.0.1:1 (...): refused with status 4 (...)` */
const dnp3Form = /^((?:select|operate) .*) by master (.+?): refused with (status .*)$/s;

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function modbusRefusal(message: string): Refusal | null {
  const [, peer, request = '', exception, why = ''] = modbusForm.exec(message) ?? [];
  if (peer === undefined) return null;
  const [, registers, points] = registersForm.exec(request) ?? [];
  const place = points ?? registers ?? request;
  const reason = why.startsWith(place) ? why : `${place}: ${why}`;
  return { peer, title: 'Write refused', text: `${capitalized(reason)} (${exception}).` };
}

function dnp3Refusal(message: string): Refusal | null {
  const [, control = '', peer, status] = dnp3Form.exec(message) ?? [];
  if (peer === undefined) return null;
  return { peer, title: 'Control refused', text: `${capitalized(control)}: ${status}.` };
}

/** The refusal in a line of the log; null: the line tells of none. */
export function refusalIn({ module, message }: Pick<LogEntry, 'module' | 'message'>): Refusal | null {
  if (module === 'Modbus') return modbusRefusal(message);
  return module === 'DNP3' ? dnp3Refusal(message) : null;
}

/** @returns function that ends it */
export function tellRefusals(
  logBook: Pick<LogBook, 'onEntry'>,
  messages: Messages,
  timeline: TimelineSink,
): () => void {
  return logBook.onEntry((entry) => {
    if (!entry.message.includes(' refused with ')) return;
    const refusal = refusalIn(entry);
    if (refusal === null) return;
    const { peer, title, text } = refusal;
    const source = entry.module === 'DNP3' ? 'dnp3' : 'modbus';
    const message = requestAtHand(messages, source, peer);
    timeline.add({
      kind: 'refusal',
      level: 'warn',
      title,
      text,
      deviceIndex: entry.deviceIndex ?? undefined,
      by: { source, peer },
      ref: messageRef(message),
      message,
    });
  });
}
