/** The store of protocols in a folder: what they keep survives the end of the process, also one without warning. */
import { SimError } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { createListStore } from '../core/store.ts';
import type { ListStore, StoreLimits } from '../core/store.ts';
import type { Later } from '../core/time/timers.ts';
import { copyDamaged } from './folder-work.ts';
import type { Folder } from './files.ts';
import { defaultJournalLimits, Journal, journalFile } from './journal.ts';
import type { JournalLimits, JournalReport } from './journal.ts';
import { migrated } from './migrations.ts';
import { formatVersion, replay } from './record.ts';

export interface FileStore extends ListStore {
  readonly report: JournalReport;
  /** Continues the journal. @throws an error of the file system */
  open(): Promise<void>;
  /** Looks for what others have done to folder and journal; `settled` resolves when that is mended. */
  check(): void;
  /** Resolves when no write is under way, also none after a failure. */
  settled(): Promise<void>;
  /** Writes what waits. Later changes are not written. */
  close(): Promise<void>;
}

interface FileStoreOptions {
  readonly folder: Folder;
  readonly log: Pick<Logger, 'error' | 'info' | 'warning'>;
  readonly later: Later;
  /** ms since the epoch, for the name of a damaged file */
  readonly nowMs: () => number;
  readonly onFailure?: (reason: string | null) => void;
  /** the other process that has the folder by now, in words; null: this one has it */
  readonly otherHolder?: () => Promise<string | null>;
  readonly limits?: Partial<StoreLimits & JournalLimits>;
}

/** Keeps a copy of a damaged journal, and says what is left of it. */
async function setAside({ folder, log, nowMs }: FileStoreOptions, records: number, lostBytes: number): Promise<void> {
  // a copy: the journal stays until the new one is whole
  const aside = await copyDamaged(folder, nowMs());
  log.warning(
    `the journal in ${folder.path} is damaged: the state of its first ${records} records is used, ` +
      `${lostBytes} octets after them are not; the file is kept as ${aside}`,
  );
}

/**
 * The store of a folder, with what an earlier process kept in it. Changes are durable once `open` has ended.
 * @throws SimError CONFIG_INVALID for a journal of a newer version; an error of the file system
 */
export function createFileStore(options: FileStoreOptions): FileStore {
  const { folder, log, later, onFailure = () => undefined, otherHolder, limits = {} } = options;
  const file = folder.read(journalFile);
  const data = file ?? Buffer.alloc(0);
  const { slots, version: form, last, goodBytes, damage } = replay(data);
  if (form > formatVersion)
    throw new SimError(
      'CONFIG_INVALID',
      `state_dir: ${folder.path} was written by a newer derbench (form ${form}; this one reads up to ${formatVersion})`,
    );
  const journal = new Journal({
    folder,
    log,
    later,
    limits: { ...defaultJournalLimits, ...limits },
    contents: () => store.contents(),
    onFailure,
    ...(otherHolder && { otherHolder }),
  });
  const store: ListStore = createListStore(journal, limits, migrated(slots, form));
  return {
    slot: (name) => store.slot(name),
    values: (name) => store.values(name),
    write(name, text) {
      store.write(name, text);
    },
    forget(isGone) {
      store.forget(isGone);
    },
    durable: () => store.durable(),
    contents: () => store.contents(),
    get report() {
      return journal.report;
    },
    async open() {
      const lostBytes = data.length - goodBytes;
      // each version writes at least a head
      if (file?.length === 0) log.warning(`the journal in ${folder.path} is empty: no state is there`);
      if (damage === 'damaged') await setAside(options, last + 1, lostBytes);
      if (damage === 'torn')
        log.warning(
          `the last change of the journal in ${folder.path} was not written whole: its ${lostBytes} octets are cut off`,
        );
      const isOlder = form < formatVersion;
      // records of two forms in one file could not be told apart
      const isNew = data.length === 0 || damage === 'damaged' || isOlder;
      await journal.open(isNew ? null : { last, bytes: goodBytes });
      if (isOlder) log.info(`the state in ${folder.path} is brought from form ${form} to form ${formatVersion}`);
    },
    check() {
      journal.check();
    },
    settled: () => journal.settled(),
    close: () => journal.close(),
  };
}
