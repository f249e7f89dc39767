/** `time`: the simulated clock. */
import type { Time } from '../library/replies.ts';
import { durationOf, noWords, numberOf, UsageError } from './call.ts';
import type { Call, ClientCommand } from './call.ts';

const form = 'time [pause|run|xRATE|step [TICKS|TIME]]';

function lineOf({ mode, rate, sim_time: simTime, tick }: Time): string {
  const words = { paused: 'paused', wall_clock: 'with the wall clock', accelerated: `running at x${rate}` };
  return `${simTime}, tick ${tick}, ${words[mode]}`;
}

async function step({ client, device }: Call, [span, ...more]: readonly string[]): Promise<Time> {
  noWords(more, form);
  if (span === undefined) return (await client.step({ ...device })).time;
  const isTime = /[a-z]$/i.test(span);
  const amount = isTime ? { seconds: durationOf(span, 'the step') } : { ticks: numberOf(span, 'the step', 0) };
  const { time } = await client.step({ ...amount, ...device });
  return time;
}

function timeOf(call: Call): Promise<Time> {
  const { client, words } = call;
  const [word, ...more] = words;
  if (word === 'step') return step(call, more);
  noWords(more, form);
  if (word === undefined) return client.time();
  if (word === 'pause') return client.pause();
  if (word === 'run') return client.rate(1);
  const [, rate] = /^x(.+)$/.exec(word) ?? [];
  if (rate === undefined) throw new UsageError(`${JSON.stringify(word)} is no time. Usage: derbench ${form}.`);
  return client.rate(numberOf(rate, 'the rate'));
}

export const time: ClientCommand = async (call) => {
  const document = await timeOf(call);
  return { document, lines: [lineOf(document)] };
};
