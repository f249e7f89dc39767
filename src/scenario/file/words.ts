/** Signals, comparisons and messages in words, for reports and errors. */
import type {
  Comparison,
  Condition,
  CsipEventTest,
  MessageTest,
  Signal,
  SignalValue,
  Subject,
  ValueTest,
  Window,
  WriteTest,
} from '../model.ts';

/** `701.W of device 0` */
export function signalText(signal: Signal): string {
  switch (signal.kind) {
    case 'point':
      return `${signal.point} of device ${signal.device}`;
    case 'snapshot':
      return `${signal.member} of device ${signal.device}`;
    case 'answer':
      return `${signal.pointer === '' ? '' : `${signal.pointer} of `}GET ${signal.request.path}`;
  }
}

/** A value as printed in reports. */
export function valueText(value: unknown): string {
  if (typeof value === 'number') return String(Number(value.toPrecision(9)));
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

/** `above 3000 and below 4000 (tolerance 5)` */
export function comparisonText(c: Comparison): string {
  const bound = (word: string, value: SignalValue | undefined) =>
    value === undefined ? [] : [`${word} ${valueText(value)}`];
  const bounds = [
    ...bound('equal to', c.equals),
    ...bound('not', c.not),
    ...bound('above', c.above),
    ...bound('below', c.below),
    ...bound('at least', c.atLeast),
    ...bound('at most', c.atMost),
    ...(c.between ? [`between ${valueText(c.between[0])} and ${valueText(c.between[1])}`] : []),
  ];
  const tolerance = c.tolerance === undefined ? '' : ` (tolerance ${valueText(c.tolerance)})`;
  return bounds.join(' and ') + tolerance;
}

/** ` since noon` */
export const sinceText = ({ since }: ValueTest) => (since === null ? '' : ` since ${since}`);

/** `701.W of device 0 above 3000` */
export function testText(test: ValueTest): string {
  return `${signalText(test.signal)}${sinceText(test)} ${comparisonText(test.comparison)}`;
}

/** `ocpp message with {"action":"BootNotification"}` */
export function messageText({ protocol, station, match }: MessageTest): string {
  const of = station === null ? '' : ` of ${station}`;
  return `${protocol} message${of} with ${valueText(match)}`;
}

export function writeText({ device, model, point, source }: WriteTest): string {
  const where = point === null ? `model ${model}` : `${model}.${point}`;
  return `write to ${where}${device === null ? '' : ` of device ${device}`}${source === null ? '' : ` by ${source}`}`;
}

/** `CSIP event started of device 0` */
export function csipEventText({ state, mrid, device, lfdi, program }: CsipEventTest): string {
  const name = mrid === null ? '' : ` ${mrid}`;
  const owner = lfdi === null ? '' : ` of EndDevice ${lfdi}`;
  const list = program === null ? '' : ` of program ${program}`;
  return `CSIP event${name} ${state}${list}${owner}${device === null ? '' : ` of device ${device}`}`;
}

export function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case 'value':
      return testText(condition.test) + (condition.forS > 0 ? ` for ${condition.forS} s` : '');
    case 'message':
      return messageText(condition.test);
    case 'write':
      return writeText(condition.test);
    case 'csip_event':
      return csipEventText(condition.test);
    case 'all':
      return condition.conditions.map(conditionText).join(' and ');
    case 'any':
      return condition.conditions.map(conditionText).join(' or ');
  }
}

export function windowText(window: Window): string {
  if (window.kind === 'now') return '';
  if (window.kind === 'within') return ` within ${window.s} s`;
  const after = window.afterS > 0 ? ` from ${window.afterS} s on` : '';
  return window.s === Infinity ? (after === '' ? ' throughout' : after) : ` for ${window.s} s${after}`;
}

const ofDevice = (device: number | null) => (device === null ? '' : ` of device ${device}`);
const butFor = (except: readonly string[]) => (except.length === 0 ? '' : ` but ${except.join(', ')}`);

export function subjectText(subject: Subject): string {
  switch (subject.kind) {
    case 'value':
      return testText(subject.test);
    case 'messages': {
      const { tests, count } = subject;
      if (count === null) return `in this order: ${tests.map(messageText).join(', ')}`;
      const { atLeast, atMost } = count;
      const number =
        atMost === Infinity
          ? `at least ${atLeast}`
          : atLeast === atMost
            ? `exactly ${atLeast}`
            : `${atLeast} to ${atMost}`;
      return `${number} x ${tests.map(messageText).join(', ')}`;
    }
    case 'no_alarm':
      return `no alarm${ofDevice(subject.device)}${butFor(subject.except)}`;
    case 'nothing_left':
      return `no register differs from the start${ofDevice(subject.device)}${butFor(subject.except)}`;
    case 'consistent':
      return `all protocols agree${ofDevice(subject.device)}`;
    case 'answered': {
      const over = subject.protocol === null ? '' : ` over ${subject.protocol}`;
      return `what was answered positively is done${over}${ofDevice(subject.device)}${butFor(subject.except)}`;
    }
    case 'no_findings': {
      const { severity, protocol, except } = subject;
      return `no ${severity} by a peer${protocol === null ? '' : ` over ${protocol}`}${butFor(except)}`;
    }
    case 'finding':
      return `a peer breaks ${subject.rule}${subject.atLeast === 1 ? '' : ` ${subject.atLeast} times`}`;
    case 'exercised':
      return `checks come up: ${subject.rules.join(', ')}`;
  }
}
