/** The state folder: what it holds, and named snapshots of the whole simulator. */
import { maxSnapshotBytes, maxSnapshots, snapshotNamePattern } from '../contract/state.ts';
import type { SnapshotInfo, StateControl, StateReport } from '../contract/state.ts';
import { memo } from '../core/lazy.ts';
import { count, flag, integer, list, member, members, text, time } from './common/members.ts';
import { beginRestart, checkNoScenario } from './common/restart.ts';
import { z } from './description/zod.ts';
import { HttpProblem } from './http/errors.ts';
import { Answer, apiPrefix, route } from './http/route.ts';
import type { Route } from './http/route.ts';
import type { RouteContext } from './http/context.ts';

const path = '/state';
const tag = 'Core';
const maxMiB = maxSnapshotBytes / 1024 / 1024;

const snapshotName = () =>
  z.string().regex(snapshotNamePattern, {
    error: 'must have 1 to 64 letters, digits, "-", "_" and ".", the first one a letter, a digit or "_"',
  });

const snapshot = members<SnapshotInfo>()('StateSnapshot', () => ({
  name: member(snapshotName)('Name of the snapshot.'),
  taken_at: time.orNull('Wall time at which it was taken; null: the file is damaged.', ({ takenAtMs }) => takenAtMs),
  octets: count('Size of its file.'),
  version: text.orNull('Version of the simulator that took it; null: the file is damaged.'),
  damage: text.orNull('Why it cannot be restored; null: it can.'),
}));

const snapshotList = members<readonly SnapshotInfo[]>()('StateSnapshots', () => ({
  max_snapshots: integer('Maximum number of snapshots.', () => maxSnapshots),
  max_octets: integer('Maximum size of all snapshots together.', () => maxSnapshotBytes),
  snapshots: list(snapshot)('By name.', (all) => all),
}));

interface Shown extends StateReport {
  readonly snapshots: readonly SnapshotInfo[];
}

const state = members<Shown>()('State', () => ({
  configured: flag('True: the simulator has a state folder (`--state_dir`).', ({ folder }) => folder !== null),
  folder: text.orNull('The folder; null: everything ends with the process.'),
  words: text('The same in words, as printed at the start.'),
  format: count.orNull('Version of the form of the files; null: no folder.'),
  octets: count.orNull('Size of the journal; it shrinks when outdated records are removed. null: no folder.'),
  records: count.orNull('Records of the journal; null: no folder.'),
  last_save: time.orNull('Wall time of the last write; null: none.', ({ lastSaveMs }) => lastSaveMs),
  failure: text.orNull(
    'Why changes are not on disk: the disk refuses them, or the store a part that is too large; null: they are, or there is no folder.',
  ),
  can_restore: flag('True: `state/restore` is possible in this process.', ({ canRestore }) => canRestore),
  snapshots: list(snapshot)('By name.', (of) => of.snapshots),
}));

/** Reply to a request to restore. */
const restoring = members<string>()('StateRestoring', () => ({
  state: member(() => z.literal('restarting'))(() => 'restarting' as const),
  name: text('Name of the snapshot.', (name: string) => name),
}));

const snapshotBodySchema = memo(() =>
  z
    .strictObject({
      name: snapshotName().openapi({ description: 'Name of the snapshot: 1 to 64 letters, digits, `-`, `_` and `.`.' }),
      overwrite: z
        .boolean()
        .optional()
        .openapi({ description: 'True: replaces a snapshot of this name. Default false.' }),
    })
    .openapi('StateSnapshotRequest'),
);

const restoreBodySchema = memo(() =>
  z
    .strictObject({ name: snapshotName().openapi({ description: 'Name of the snapshot.' }) })
    .openapi('StateRestoreRequest'),
);

const snapshotParams = z.object({
  name: z.string().max(64).openapi({ description: 'Name of the snapshot, as in `state/snapshots`.' }),
});

/** @throws HttpProblem `disabled` */
function withFolder({ state: control }: RouteContext): StateControl {
  if (control.report.folder !== null) return control;
  throw new HttpProblem('disabled', 'The simulator has no state folder; --state_dir DIR gives it one.');
}

export const stateRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    tag,
    operationId: 'get_state',
    summary: 'The state folder: its size, the last write, a failure, its snapshots',
    description: 'Without a state folder `configured` is false, and the other members are null.',
    reply: state.schema,
    async handle({ state: control }) {
      const { report } = control;
      return state.reply({ ...report, snapshots: report.folder === null ? [] : await control.snapshots() });
    },
  }),
  route({
    method: 'get',
    path: `${path}/snapshots`,
    tag,
    operationId: 'list_state_snapshots',
    summary: 'Snapshots of the whole simulator',
    reply: snapshotList.schema,
    problems: ['disabled'],
    handle: async (ctx) => snapshotList.reply(await withFolder(ctx).snapshots()),
  }),
  route({
    method: 'post',
    path: `${path}/snapshot`,
    tag,
    operationId: 'take_state_snapshot',
    summary: 'Takes a snapshot of the whole simulator',
    description:
      'A file in the state folder, with the passwords and keys that stations keep. The answer is sent when the file is on disk. ' +
      '`conflict` for a name in use without `overwrite`, for more than ' +
      `${maxSnapshots} snapshots or ${maxMiB} MiB of them, and for a disk that refuses the file.`,
    body: snapshotBodySchema,
    reply: snapshot.schema,
    status: 201,
    problems: ['disabled', 'conflict'],
    replyHeaders: {
      Location: { description: 'Address for DELETE.', example: `${apiPrefix}/state/snapshots/before-test` },
    },
    async handle(ctx, { body: { name, overwrite = false } }) {
      const taken = await withFolder(ctx).take(name, overwrite);
      return new Answer(snapshot.reply(taken), { headers: { Location: `${apiPrefix}/state/snapshots/${name}` } });
    },
  }),
  route({
    method: 'post',
    path: `${path}/restore`,
    tag,
    operationId: 'restore_state',
    summary: 'Restarts the simulator with the state of a snapshot',
    description:
      'The snapshot is checked, then the answer is sent, then the simulator stops and begins anew in the same process, on the ' +
      'same HTTP port: for its peers like a loss of power. The present state is lost unless a snapshot has it. Until the new one ' +
      'runs, requests are answered with 503 or not at all. `conflict` while a scenario runs, for a damaged snapshot, ' +
      'and in a simulator that a script or `derbench run` has started.',
    isSetup: true,
    body: restoreBodySchema,
    reply: restoring.schema,
    status: 202,
    problems: ['disabled', 'conflict', 'unknown-resource'],
    async handle(ctx, { body: { name }, by }) {
      const control = withFolder(ctx);
      checkNoScenario(ctx);
      const prepared = await control.prepare(name);
      // a scenario or a stop may have begun meanwhile
      beginRestart(ctx);
      return new Answer(restoring.reply(name), {
        afterwards() {
          prepared.begin(`${by.source} request`);
        },
      });
    },
  }),
  route({
    method: 'delete',
    path: `${path}/snapshots/{name}`,
    tag,
    operationId: 'delete_state_snapshot',
    summary: 'Deletes a snapshot',
    params: snapshotParams,
    reply: snapshot.schema,
    problems: ['disabled', 'conflict', 'unknown-resource'],
    handle: async (ctx, { params }) => snapshot.reply(await withFolder(ctx).remove(params.name)),
  }),
];
