/** Members of replies about a fleet: shards and what is missing. */
import { count, list, members, text } from '../common/members.ts';

/** States of the connection of a gateway to the server of its fleet. */
export const linkStates = ['connected', 'offline', 'closed'] as const;

/** A shard that a reply is without. */
export interface MissingShard {
  readonly shard: string;
  /** index of its first device */
  readonly first: number;
  /** devices that it had last */
  readonly count: number;
  readonly code: string;
}

export const missingShard = members<MissingShard>()('MissingShard', () => ({
  shard: text('Name of the shard.'),
  first: count('Index of its first device.'),
  count: count('Devices that it had when it was seen last.'),
  code: text('Code of the problem with which requests for its devices are refused, such as `shard-lost`.'),
}));

/** Sentence about `shard` in entries whose ids are numbers. */
export const shardText = 'Only at the gateway of a fleet: the shard that has it, in which its id counts.';

/** Member of an entry that a gateway adds. */
export const shardMember = () => text.optional(shardText, () => undefined);

/** Member of a list that a gateway adds. */
export const missingMember = () => list(missingShard).optional(missingText, () => undefined);

/** Sentence about `missing` in lists and sums. */
export const missingText = 'Only at the gateway of a fleet: shards that the reply is without.';
