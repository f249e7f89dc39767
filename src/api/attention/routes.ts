/** The attention list: operation, and members of its reply. */
import { count, list, member, members, text, time } from '../common/members.ts';
import { missingMember, shardMember } from '../fleet/members.ts';
import type { RouteContext } from '../http/context.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceMember, devicesMember, levelSchema, refSchema } from '../timeline/members.ts';
import { deviceTroubles, localControls } from './device-rules.ts';
import { maxItems, sorted } from './items.ts';
import type { AttentionItem, AttentionRule } from './items.ts';
import { brokenRules, refusedWrites, silentPeers, undoneAnswers } from './peer-rules.ts';
import { exceededLimits, failedScenarios, faultsInForce, holdsInForce, lateTime } from './simulator-rules.ts';

const rules: readonly AttentionRule[] = [
  deviceTroubles,
  lateTime,
  brokenRules,
  undoneAnswers,
  refusedWrites,
  silentPeers,
  faultsInForce,
  localControls,
  holdsInForce,
  exceededLimits,
  failedScenarios,
];

const item = members<AttentionItem>()('AttentionItem', () => ({
  id: text(
    'Stays while the condition stays, so that a page can mark it as seen; a further refusal, violation or failed run has ' +
      'another one.',
  ),
  level: member(levelSchema)(),
  device_index: member(() => deviceMember)(({ devices }) => (devices.length === 1 ? (devices[0] ?? null) : null)),
  devices: member(() => devicesMember)(({ devices }) => [...devices]),
  title: text('A few words.'),
  text: text('What is wrong, in a sentence. May quote data from peers: show it as text.'),
  since: time.orNull('Wall time of the begin, or of the last case; null: unknown.', ({ sinceMs }) => sinceMs),
  ref: member(() => refSchema().nullable())('The place that shows the cause; null: none.'),
  shard: shardMember(),
}));

interface Answer {
  readonly tick: number;
  readonly simMs: number;
  readonly items: readonly AttentionItem[];
}

const attention = members<Answer>()('Attention', () => ({
  tick: count(),
  sim_time: time('Simulated time of the answer.', ({ simMs }) => simMs),
  items: list(item)(`Worst first, then newest; at most ${maxItems}.`, ({ items }) => items.slice(0, maxItems)),
  count: count('All items, those that are left out among them.', ({ items }) => items.length),
  missing: missingMember(),
}));

/** All items, worst first. */
export function attentionItems(ctx: RouteContext): readonly AttentionItem[] {
  return sorted(rules.flatMap((rule) => rule(ctx)));
}

export const attentionRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/attention',
    tag: 'Core',
    operationId: 'get_attention',
    summary: 'What needs attention now',
    description:
      '`bad`: trips, alarms of severity error, time that falls behind its rate or stood still in the last minute, broken rules ' +
      'of peers, commands that were answered and not done. `warn`: refused writes and calls, silent peers and lost connections, ' +
      'faults in force, local control, holds, exceeded limits of the site. `info`: failed scenarios. Equal conditions of several ' +
      'devices are one item. Items of broken rules, answers, refusals and scenarios stay until a client marks them as seen, ' +
      'which is a matter of the client; the others go with their condition.',
    reply: attention.schema,
    handle(ctx) {
      const { plant } = ctx;
      return attention.reply({ tick: plant.latest.tick, simMs: plant.dateMs(plant.now), items: attentionItems(ctx) });
    },
  }),
];
