/** `wait` and `watch`. */
import type { Client } from '../library/client.ts';
import { DerbenchError } from '../library/error.ts';
import type { WaitOptions } from '../library/options.ts';
import type { RegisterModel, Time } from '../library/replies.ts';
import { numberOf, optionOf, secondsOf, UsageError, valueOf } from './call.ts';
import type { Call, ClientCommand } from './call.ts';
import { pointsByModel, valueText } from './points.ts';

type Compare = (value: number, bound: number) => boolean;

const comparisons: Readonly<Record<string, Compare>> = {
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

interface Condition {
  readonly name: string;
  readonly operator: string;
  readonly bound: number | string;
}

/** @throws UsageError */
export function conditionOf(words: readonly string[]): Condition {
  const text = words.join(' ');
  const [, name = '', operator = '', bound = ''] = /^(\S+?)\s*(<=|>=|==|!=|=|<|>)\s*(\S+)$/.exec(text) ?? [];
  if (name === '')
    throw new UsageError(
      `${JSON.stringify(text)} is no condition. Usage: derbench wait "701.W <= 5000"; operators are = != < <= > >=.`,
    );
  const value = valueOf(bound);
  if (operator in comparisons && typeof value === 'string')
    throw new UsageError(`${operator} compares with a number, not with ${bound}.`);
  return { name, operator: operator === '==' ? '=' : operator, bound: value };
}

const isEqual = (bound: number | string, value: number, word: string) => value === bound || word === String(bound);

export function passes({ operator, bound }: Condition, value: number, word: string): boolean {
  const compare = comparisons[operator];
  if (compare !== undefined) return compare(value, Number(bound));
  return isEqual(bound, value, word) === (operator === '=');
}

/**
 * Waits until the value passes.
 * @returns the value as text, of an enumeration its name
 * @throws DerbenchError `timeout`
 */
export async function waitFor(client: Client, condition: Condition, options: WaitOptions): Promise<string> {
  const { name, operator, bound } = condition;
  let text = '';
  const test = (value: number, word: string) => {
    text = word;
    return passes(condition, value, word);
  };
  try {
    await client.until(name, test, options);
    return text;
  } catch (error) {
    if (!(error instanceof DerbenchError) || error.code !== 'timeout') throw error;
    // the client does not know what the function tests
    const detail = error.detail.replace('what the test waits for', `${operator} ${bound}`);
    throw new DerbenchError({ code: error.code, detail, cause: error });
  }
}

export const wait: ClientCommand = async ({ client, device, ...given }) => {
  const condition = conditionOf(given.words);
  const timeoutS = secondsOf(given, '--timeout') ?? 60;
  const text = await waitFor(client, condition, { timeoutS, ...device });
  return { document: { name: condition.name, value: valueOf(text) }, lines: [`${condition.name} is ${text}`] };
};

const minPollMs = 20;

/** The time of the next tick, or of the one after `everyS` simulated seconds. */
async function nextTime({ client }: Call, last: Time, everyS: number): Promise<Time> {
  for (;;) {
    const time = await client.time();
    const elapsedS = (Date.parse(time.sim_time) - Date.parse(last.sim_time)) / 1000;
    if (time.tick !== last.tick && elapsedS >= everyS) return time;
    await new Promise((resolve) => {
      setTimeout(resolve, Math.max(minPollMs, time.tick_interval_s * 500));
    });
  }
}

async function read({ client, words, device }: Call): Promise<readonly RegisterModel[]> {
  const answers: RegisterModel[] = [];
  for (const [model, points] of pointsByModel(words))
    answers.push(await client.registers(model, { points, ...device }));
  return answers;
}

/** Prints the points once, and after each tick. */
export const watch: ClientCommand = async (call) => {
  if (call.words.length === 0) throw new UsageError('a point is missing. Usage: derbench watch POINT [POINT ...].');
  const countText = optionOf(call, '-n');
  const count = countText === null ? Infinity : numberOf(countText, '-n', 1);
  const everyS = secondsOf(call, '--every') ?? 0;
  let time = await call.client.time();
  for (let line = 1; ; line += 1) {
    const points = (await read(call)).flatMap(({ id, points: all }) =>
      all.map((point) => ({ ...point, name: `${id}.${point.name}` })),
    );
    const texts = points.map((point) => `${point.name} ${valueText(point)}`);
    const values = Object.fromEntries(points.map(({ name, value, symbol }) => [name, symbol ?? value]));
    call.print(`${time.sim_time}  ${texts.join('  ')}`, { tick: time.tick, sim_time: time.sim_time, points: values });
    if (line >= count) return { document: undefined, lines: [] };
    time = await nextTime(call, time, everyS);
  }
};
