/** The reply of `answers`; loaded with its first request. */
import type { Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { writerReply } from '../common/writer-replies.ts';
import type { RouteContext } from '../http/context.ts';
import { eachLater, replyInPieces } from '../http/pieces.ts';
import { answersOf } from './gather.ts';
import type { AnswersWanted } from './gather.ts';
import type { Judged } from './judge.ts';
import type { Found } from './model.ts';
import type { AnswersReply } from './schemas.ts';

type AnswerReply = AnswersReply['answers'][number];

function foundReply(plant: Plant, { place, value, followed, writer }: Found): AnswerReply['found'] {
  return {
    place,
    value,
    ...(followed !== undefined && { acts_by: followed }),
    changed_by: writerReply(plant, writer),
  };
}

function answerReply(plant: Plant, { exchange, claim, done, cause, explanation, lies }: Judged): AnswerReply {
  const { protocol, peer, messageId, answerId, answeredWallMs, at, command, answer } = exchange;
  const { name, value, unit, found } = claim;
  return {
    protocol,
    peer,
    message_id: messageId,
    answer_id: answerId,
    wall_time: new Date(answeredWallMs).toISOString(),
    sim_time: new Date(plant.dateMs(at)).toISOString(),
    command,
    answer,
    told: { name, value, unit },
    found: found === null ? null : foundReply(plant, found),
    done,
    cause,
    faults: lies.map(({ fault: { facts }, isOn }) => ({ id: facts.id, kind: facts.kind.kind, active: isOn })),
    explanation,
  };
}

export function answersReply(
  ctx: RouteContext,
  device: Device,
  wanted: AnswersWanted & { readonly done: boolean | null },
) {
  const { judged, protocols, counts } = answersOf(ctx, device, wanted);
  const listed = wanted.done === null ? judged : judged.filter(({ done }) => done === wanted.done);
  return replyInPieces<AnswersReply>({
    device_index: device.index,
    done: counts.not_done === 0,
    count: judged.length,
    causes: counts,
    protocols: protocols.map((each) => ({ ...each })),
    answers: eachLater(listed, (each) => answerReply(ctx.plant, each)),
  });
}
