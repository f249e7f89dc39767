/** The operation that brings about what rules need: a scenario on one device, while its peers go on with their work. */
import { SimError } from '../../core/errors.ts';
import { findingProtocols } from '../../core/findings/identity.ts';
import type { FindingProtocol } from '../../core/findings/identity.ts';
import type { Rule } from '../../core/findings/registry.ts';
import { lazily, memo } from '../../core/lazy.ts';
import { deviceIndex } from '../common/schemas.ts';
import { list, members, text } from '../common/members.ts';
import { z } from '../description/zod.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import type { RouteContext } from '../http/context.ts';
import type { Exercise, ExercisePlace } from '../../finding-rules/exercises.ts';
import { allRules, checkEnabled } from './catalogue.ts';

const maxRules = 200;

const exerciseBody = memo(() =>
  z
    .strictObject({
      protocol: z.enum(findingProtocols).optional().openapi({ description: 'Only rules of this protocol.' }),
      rules: z
        .array(z.string().min(1).max(64))
        .min(1)
        .max(maxRules)
        .optional()
        .openapi({ description: 'Ids of rules, also of those that have come up; default: all that have not.' }),
      device: deviceIndex.optional().openapi({ description: 'Device that the steps act on; default 0.' }),
    })
    .openapi('FindingExerciseRequest'),
);

/** Rules that were asked for, and the exercises that bring them about. */
interface Chosen {
  readonly scenarioId: string;
  readonly exercises: readonly Exercise[];
  readonly others: readonly Rule[];
}

const exercise = members<Exercise>()('FindingExercise', () => ({
  name: text('The exercise, which is also the name of its first step.'),
  rules: list(text())('Rules that it brings about.'),
}));

const remainder = members<Rule>()('FindingRuleToProvoke', () => ({
  rule: text('Id of the rule.', ({ id }) => id),
  situation: text('Circumstances in which it comes up: the peer has to bring them about.', ({ row }) => row.situation),
}));

const chosenReply = members<Chosen>()('FindingExercises', () => ({
  scenario_id: text('The scenario that runs: `scenarios/{id}` follows it, and `scenarios/{id}/stop` ends it.'),
  exercises: list(exercise)('In the order of the steps.'),
  others: list(remainder)('Rules that no exercise brings about.'),
}));

/** Loaded at its first request. */
const table = lazily(() => import('../../finding-rules/exercises.ts'));

const hasComeUp = ({ findings }: RouteContext, { number }: Rule) =>
  findings.peers.valid.some(({ cells }) => (cells[number]?.exercised ?? 0) > 0);

function placeOf({ ocpp, plant }: RouteContext, device: number): ExercisePlace {
  const { index } = plant.device(device);
  return { device: index, station: ocpp.list.find(({ status }) => status.deviceIndex === index)?.status.id ?? null };
}

/** True if the simulator speaks the protocol at present. */
const speaks = ({ adapters }: RouteContext, protocol: FindingProtocol) =>
  adapters.some((adapter) => adapter.comm.startsWith(protocol) && adapter.status().enabled);

/** Rules that are to come up. @throws SimError UNKNOWN_RESOURCE for an id that there is not */
async function wishedRules(
  ctx: RouteContext,
  protocol: FindingProtocol | undefined,
  ids: readonly string[] | undefined,
): Promise<readonly Rule[]> {
  const all = await allRules(ctx);
  const unknown = ids?.find((id) => !all.some((rule) => rule.id === id));
  if (unknown !== undefined) throw new SimError('UNKNOWN_RESOURCE', `there is no rule ${JSON.stringify(unknown)}`);
  return all.filter(
    (rule) =>
      (protocol === undefined || rule.protocol === protocol) &&
      (ids === undefined ? !hasComeUp(ctx, rule) : ids.includes(rule.id)),
  );
}

export const exerciseRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/findings/exercise',
    tag: 'Core',
    operationId: 'exercise_findings',
    summary: 'Brings about situations in which rules come up, on one device',
    description:
      'Runs a scenario at the pace of the clock, while the peers go on with their work: a device under local control, one that refuses ' +
      'writes or restarts, a vehicle that charges. Its faults end by themselves. `conflict` while another scenario runs, while the clock ' +
      'is paused, because peers act in real time, and if no exercise brings about a rule that is asked for, of a protocol that is ' +
      'switched on.',
    body: exerciseBody,
    reply: chosenReply.schema,
    status: 201,
    problems: ['unknown-device', 'unknown-resource', 'conflict', 'disabled', 'shortage', 'too-many-requests'],
    async handle(ctx, { body: { protocol, rules: ids, device = 0 }, by }) {
      checkEnabled(ctx);
      const { exercises, exerciseScenario } = await table();
      const wished = await wishedRules(ctx, protocol, ids);
      const place = placeOf(ctx, device);
      const chosen = exercises.filter(
        ({ rules, needsStation, protocol: spoken }) =>
          wished.some(({ id }) => rules.includes(id)) &&
          speaks(ctx, spoken) &&
          (!needsStation || place.station !== null),
      );
      if (chosen.length === 0)
        throw new SimError('COMMAND_CONFLICT', `no exercise brings about one of these rules at device ${device}`);
      if (ctx.plant.time.mode === 'paused')
        throw new SimError('COMMAND_CONFLICT', 'the clock is paused, and peers act in real time: run it first');
      const { id } = await ctx.scenarios.add({ content: exerciseScenario(chosen, place) }, by);
      try {
        await ctx.scenarios.start(id, { pace: 'real' }, by);
      } catch (error) {
        await ctx.scenarios.remove(id);
        throw error;
      }
      const others = wished.filter((rule) => !chosen.some(({ rules }) => rules.includes(rule.id)));
      return chosenReply.reply({ scenarioId: id, exercises: chosen, others });
    },
  }),
];
