/** The state folder of a running simulator as REST sees it. */
import { join } from 'node:path';
import { noState } from '../contract/state.ts';
import type { StateControl, StateReport } from '../contract/state.ts';
import { SimError } from '../core/errors.ts';
import { memo } from '../core/lazy.ts';
import type { Logger } from '../core/log/log.ts';
import type { WallClock } from '../core/time/clock.ts';
import { copyOf } from '../state/contents.ts';
import { writtenAtMs } from '../state/files.ts';
import { journalFile } from '../state/journal.ts';
import { formatVersion } from '../state/record.ts';
import { snapshotFolder, Snapshots } from '../state/snapshots.ts';
import type { SlotOwners } from './slot-owners.ts';
import type { AppOptions } from './start-stop.ts';
import type { StateTrouble } from './state-alarm.ts';
import type { State, StateFiles } from './state.ts';

interface StateControlOptions {
  readonly state: Pick<State, 'files' | 'words'>;
  readonly owners: Pick<SlotOwners, 'save'>;
  readonly wall: Pick<WallClock, 'nowMs'>;
  readonly log: Pick<Logger, 'info'>;
  /** reasons for which changes are not on disk; default: failures of the disk alone */
  readonly trouble?: Pick<StateTrouble, 'reason'>;
  /** version of this simulator */
  readonly version: string;
  /** undefined: this simulator cannot be built anew */
  readonly onRestart: AppOptions['onRestartRequest'];
  /** Puts what has changed of all devices into the store; absent: it is there. */
  readonly commit?: () => Promise<void> | null;
  /** Does work while nothing is put into the store in parts; absent: at once. */
  readonly betweenTicks?: <T>(work: () => Promise<T>) => Promise<T>;
}

function reportOf({ path, store }: StateFiles): Omit<StateReport, 'words' | 'failure' | 'canRestore'> {
  const { bytes, records } = store.report;
  return {
    folder: path,
    format: formatVersion,
    octets: bytes,
    records,
    lastSaveMs: writtenAtMs(join(path, journalFile)),
  };
}

/** The control of a simulator; without a folder one that refuses everything. */
export function createStateControl(options: StateControlOptions): StateControl {
  const { state, owners, wall, log, version, onRestart, commit, betweenTicks } = options;
  const { files, words } = state;
  if (files === null) return { ...noState, report: { ...noState.report, words } };
  const snapshots = memo(
    () =>
      new Snapshots({ folder: files.openFolder(join(files.path, snapshotFolder)), version, nowMs: () => wall.nowMs() }),
  );
  const failure = () => (options.trouble ? options.trouble.reason : files.store.report.failure);
  /** @throws SimError COMMAND_CONFLICT */
  const checkOurs = () => {
    if (files.store.report.isLost)
      throw new SimError('COMMAND_CONFLICT', `the state folder is lost: ${failure() ?? ''}`);
  };
  return {
    get report() {
      return { ...reportOf(files), words, failure: failure(), canRestore: onRestart !== undefined };
    },
    get failure() {
      return failure();
    },
    durable: () => files.store.durable(),
    snapshots: async () => snapshots().list(),
    async take(name, overwrite) {
      checkOurs();
      await commit?.();
      owners.save();
      const copy = () => Promise.resolve(copyOf(files.store.contents()));
      const contents = await (betweenTicks ? betweenTicks(copy) : copy());
      const info = await snapshots().take(name, contents, overwrite);
      log.info(`snapshot ${name} taken: ${info.octets} octets`);
      return info;
    },
    async remove(name) {
      checkOurs();
      const info = await snapshots().remove(name);
      log.info(`snapshot ${name} deleted`);
      return info;
    },
    async prepare(name) {
      if (onRestart === undefined)
        throw new SimError(
          'COMMAND_CONFLICT',
          'only a simulator of the command line can be built anew from a snapshot; this one runs in a script or for a scenario',
        );
      checkOurs();
      const contents = await snapshots().read(name);
      return {
        name,
        begin: (reason) => {
          log.info(`restarting with the snapshot ${name}: ${reason}`);
          onRestart({ reason, contents, former: copyOf(files.store.contents()) });
        },
      };
    },
  };
}
